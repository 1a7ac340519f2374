"""Claims held against JSON, "key: value" lines and tables: what is stated, what differs, what is left alone."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.config import Guard
from assay.guard.check.verdicts import bounded_by_exact
from assay.schema import Evidence, Verdict
from assay.testing import FakeScorer
from assay.text.quantities.detection import Quantity, find_quantities
from assay.verify.exact import ExactResult, check_exact, index_evidence
from assay.verify.exact.compare_records import value_relation
from assay.verify.exact.records import MOST_CHARACTERS, RecordReader
from assay.verify.exact.records.cell_values import whole_number
from assay.verify.exact.records.field_names import split_name
from assay.verify.exact.records.shape import guess_shape
from assay.verify.network.combination import Judgement

BOOKING = json.dumps(
    {
        "bookingId": "QX71BD",
        "guest_id": "ada_4711",
        "room": "double",
        "breakfast": "yes",
        "parking": False,
        "total_price": 312.5,
        "checked_in_at": "2026-03-14T15:00:00",
        "notes": None,
        "city": "Bergen",
        "nights": [
            {"date": "2026-03-14", "rate": 150, "room_number": "B12"},
            {"date": "2026-03-15", "rate": 162.5, "room_number": "B14"},
        ],
        "languages": ["Norwegian", "English"],
    }
)
SHEET = """Ola Brekke
Born: 4 May 1931, Voss
Occupation: Carpenter, poet
Children: 3
Publisher: Lyng Press
Awards: Salt Prize, Harbour Medal and River Prize"""
TABLE = """Pumps of the northern works
| Pump | Maker | Flow (m3) | Serviced | Site |
|---|---|---|---|---|
| P-1 | Brandt | 1,200 | 3 May 2024 | Arn |
| P-2 | Sulver | 950 | 9 June 2024 | Voss |
| P-3 | Brandt | 700 | 1 July 2024 | Arn |"""


def found(claim: str, *evidence: str) -> ExactResult:
    return check_exact(claim, index_evidence([Evidence(id=f"e{n}", text=text) for n, text in enumerate(evidence)]))


def against(result: ExactResult) -> list[str]:
    """The words of the claim that records speak against."""
    return [f.code for f in result.findings if f.code.startswith("record.")]


STATED = [
    (BOOKING, "The room is double."),
    (BOOKING, "The total price is 312.50."),
    (BOOKING, "The total price of booking QX71BD is $312.50."),
    (BOOKING, "Your booking was checked in on 14 March 2026."),
    (BOOKING, "The booking has breakfast."),
    (BOOKING, "The booking does not have parking."),
    (BOOKING, "There are 2 nights."),
    (BOOKING, "The rate of room B14 is 162.50."),
    (BOOKING, "The languages are Norwegian and English."),
    (SHEET, "Ola Brekke was born on May 4, 1931."),
    (SHEET, "Ola Brekke was born in Voss."),
    (SHEET, "Ola Brekke has 3 children."),
    (SHEET, "The publisher of Ola Brekke is Lyng Press."),
    (TABLE, "The maker of P-2 is Sulver."),
    (TABLE, "P-1 has a flow of 1200."),
    (TABLE, "P-2 was serviced on 9 June 2024."),
    (TABLE.replace("|---|---|---|---|---|\n", "").replace("| P", "P"), "For P-3, the table lists Arn under Site."),
]
DIFFERENT = [
    (BOOKING, "The total price is 321.50.", "321.50"),
    (BOOKING, "The total price of booking QX71BD is $99.", "99"),
    (BOOKING, "Your booking was checked in on 15 March 2026.", "15 March 2026"),
    (BOOKING, "The booking does not have breakfast.", "breakfast"),
    (BOOKING, "The booking has parking.", "parking"),
    (BOOKING, "There are 3 nights.", "3"),
    (BOOKING, "The rate of room B14 is 150.", "150"),
    (SHEET, "Ola Brekke has 5 children.", "5"),
    (TABLE, "The maker of P-2 is Brandt.", "Brandt"),
    (TABLE, "P-1 has a flow of 700.", "700"),
    (TABLE, "P-2 was serviced on 3 May 2024.", "3 May 2024"),
    (TABLE, "The maker of P-2 is not Sulver.", "not Sulver"),
]
LEFT_ALONE = [
    (BOOKING, "The deposit is 50."),
    (BOOKING, "The room is larger than the one before."),
    (BOOKING, "The rate is 150."),
    (BOOKING, "If it rains, the total price is 99."),
    (BOOKING, "The total price was hardly more than it had been in Oslo."),
    (SHEET, "Mia Lund has 5 children."),
    (SHEET, "Ola Brekke has five children and a boat."),
    (TABLE, "The maker of P-9 is Brandt."),
    (TABLE, "Brandt is at Voss or Arn."),
    (TABLE, "P-1 or P-2 has a flow of 4."),
    (TABLE, "No pump has a flow of 4."),
]


@pytest.mark.parametrize(("record", "claim"), STATED)
def test_a_claim_whose_subject_field_and_value_stand_in_a_record_is_stated_by_it(record: str, claim: str) -> None:
    result = found(claim, record)
    assert result.signals["supports_record"] >= 0.8
    assert result.supporting
    assert not [f for f in result.findings if f.effect == "contradicts"]


@pytest.mark.parametrize(("record", "claim", "words"), DIFFERENT)
def test_another_value_of_the_field_is_marked_with_the_place_in_the_record(record: str, claim: str, words: str) -> None:
    result = found(claim, record)
    assert result.signals["supports_record"] == 0
    (finding,) = [f for f in result.findings if f.code.startswith("record.")]
    assert claim[finding.claim_start : finding.claim_end] == words
    assert finding.effect == "contradicts"
    assert finding.evidence is not None
    assert record[finding.evidence.start : finding.evidence.end] == finding.evidence.text
    assert result.signals["contradicts_record"] == finding.confidence


@pytest.mark.parametrize(("record", "claim"), LEFT_ALONE)
def test_what_a_record_does_not_settle_is_left_alone(record: str, claim: str) -> None:
    result = found(claim, record)
    assert not against(result)
    assert result.signals["supports_record"] == 0


def test_two_records_that_differ_say_nothing() -> None:
    older = BOOKING.replace("312.5,", "280,")
    result = found("The total price of booking QX71BD is 280.", BOOKING, older)
    assert not against(result)
    assert result.signals["supports_record"] == 0


def test_two_records_that_agree_speak_as_one() -> None:
    other = json.dumps({"bookingId": "QX71BD", "total_price": 312.5})
    assert found("The total price of booking QX71BD is 312.5.", BOOKING, other).signals["supports_record"] >= 0.8


def test_rows_with_the_same_name_contradict_only_together() -> None:
    table = "Race | Winner | Year\nArn loop | Tone | 2001\nArn loop | Berit | 2002\nVoss mile | Siri | 2003"
    assert found("The winner of Arn loop is Berit.", table).signals["supports_record"] > 0
    assert against(found("The winner of Arn loop is Siri.", table))


def test_prose_has_no_records() -> None:
    text = "The mill: a history. It burned down in 1900; nobody knows why.\nIt was built again, larger, in 1904."
    assert guess_shape(text) is None
    assert not index_evidence([Evidence(id="e", text=text)]).records


def test_a_dialogue_is_no_record() -> None:
    text = (
        "Ann: I have sold the boat to my brother.\nBob: You must be joking, surely you are.\nCai: She is not, I saw it."
    )
    assert not index_evidence([Evidence(id="e", text=text)]).records


@pytest.mark.parametrize(
    "text",
    [
        '{"price": 4, "price": 5}',
        '{"price": NaN}',
        '{"price": 1e999}',
        '{"price": 4',
        "[" * 100_000,
        '{"a":' * 5_000 + "1" + "}" * 5_000,
        "Price: 4\nPrice: 5",
        "a | b\n1 | 2 | 3",
    ],
)
def test_records_that_cannot_be_read_safely_are_not_read(text: str) -> None:
    assert not index_evidence([Evidence(id="e", text=text)]).records
    assert not against(found("The price is 5.", text))


def test_a_megabyte_of_records_is_not_read() -> None:
    text = json.dumps([{"name": f"n{n}", "price": n, "city": f"c{n % 7}"} for n in range(30_000)])
    assert len(text) > MOST_CHARACTERS
    reader = RecordReader()
    reader.add(0, text)
    assert not reader.build()


@pytest.mark.parametrize(
    "inside",
    [
        ", ".join(f'"k{n}": {n}' for n in range(9_000)),
        ", ".join(f'"k{n}": [{{"a": 1}}]' for n in range(5_900)),
        ", ".join(f'"k{n}": {{"a{n}": 1}}' for n in range(5_900)),
    ],
    ids=["values", "arrays", "objects"],
)
def test_long_names_around_many_cells_are_not_read(inside: str) -> None:
    around = [f'{{"{" ".join(f"w{level}x{n}" for n in range(8))}": ' for level in range(180)]
    text = "".join(around) + "{" + inside + "}" * 181
    assert len(text) < MOST_CHARACTERS
    reader = RecordReader()
    reader.add(0, text)
    assert not reader.build()


def test_a_long_value_is_read_once_for_all_that_is_said_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    long = "12 km 3 May 2020, " * 300
    read: list[str] = []

    def counted(text: str) -> Sequence[Quantity]:
        read.extend(["long"] * (len(text) > len(long)))
        return find_quantities(text)

    monkeypatch.setattr(value_relation, "find_quantities", counted)
    rows = [{"v": n} for n in range(12)]
    text = json.dumps({"k": long, "rows": rows})
    found("The k is 5 km and v is 3 and 4 and 6 kg and 7 km and 12 m on 9 June 2021.", text)
    assert read == ["long"]


def test_a_row_of_a_large_table_is_found() -> None:
    rows = "\n".join(f"n{n} | {n} | yes | same" for n in range(2_500))
    index = index_evidence([Evidence(id="e", text=f"name | price | open | kind\n{rows}")])
    assert index.records
    result = check_exact("The price of n1700 is 1701.", index)
    assert against(result) == ["record.mismatch"]


def test_support_of_a_record_bounds_the_score_unless_something_sure_speaks_against_it() -> None:
    stated = found("The room is double.", BOOKING)
    bounded = bounded_by_exact(Judgement(0.1, 0.7), stated)
    assert bounded.support >= 0.8
    assert bounded.contradiction <= 0.2
    assert bounded_by_exact(Judgement(0.1, 0.7), stated, disputed=True) == Judgement(0.1, 0.7)
    wrong = found("The total price is 321.50.", BOOKING)
    assert bounded_by_exact(Judgement(0.9, 0.1), wrong).support <= 0.2


class Denying(FakeScorer):
    """Finds the claim contradicted in prose that says "instead", and nothing in records."""

    def _judge(self, premise: str, claim: str) -> tuple[float, float, float]:
        return (0.02, 0.02, 0.96) if "instead" in premise else (0.02, 0.96, 0.02)


def test_a_record_does_not_outvote_another_source_that_denies_the_claim() -> None:
    guard = Guard("general", scorer=Denying())
    record = Evidence(id="a", text=json.dumps({"name": "Pump P-1", "owner": "Ada Lund", "city": "Bergen"}))
    other = Evidence(id="b", text="Pump P-1 and its owner moved; Ola Brekke has Pump P-1 instead.")
    claim = "The owner of Pump P-1 is Ada Lund."
    (alone,) = guard.judge_claims([(claim, [record], None)])
    (both,) = guard.judge_claims([(claim, [record, other], None)])
    assert alone.verdict is Verdict.SUPPORTED
    assert alone.score is not None
    assert both.score is not None
    assert both.score < alone.score
    assert (both.contradiction or 0) > (alone.contradiction or 0)


NAMES = st.sampled_from(["flow", "maker", "release_date", "totalPrice", "zip code", "height"])
WORDS = st.text(alphabet="abcdefghij", min_size=4, max_size=9)
VALUES = st.one_of(
    WORDS, st.integers(-10_000, 10_000), st.booleans(), st.none(), st.decimals(0, 999, places=2).map(float)
)
JSON = st.recursive(
    VALUES | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@settings(deadline=None, max_examples=40)
@given(JSON, st.text(max_size=60))
def test_whatever_json_holds_its_cells_stand_where_they_say(value: object, claim: str) -> None:
    text = json.dumps({"k": value, "n": 1})
    index = index_evidence([Evidence(id="e", text=text)])
    for record in index.records.records:
        for cell in record.cells:
            assert 0 <= cell.start <= cell.end <= len(text)
            if cell.kind == "number":
                assert whole_number(text[cell.start : cell.end], "en") == cell.number
    result = check_exact(claim, index)
    assert set(result.signals) >= {"supports_record", "contradicts_record"}
    assert all(0 <= f.claim_start < f.claim_end <= len(claim) for f in result.findings if f.code.startswith("record"))


@settings(deadline=None, max_examples=40)
@given(st.text(alphabet='ab1 |:,\t\n-{}[]".', max_size=120), st.text(alphabet="ab1 :.", max_size=40))
def test_no_text_of_marks_breaks_the_reader_or_the_comparer(text: str, claim: str) -> None:
    result = found(claim, text)
    assert 0 <= result.signals["supports_record"] <= 1


@settings(deadline=None, max_examples=25)
@given(
    st.dictionaries(WORDS, st.integers(10, 9_999), min_size=2, max_size=6),
    st.integers(10, 9_999),
    st.data(),
    st.sampled_from(["json", "pipes", "tabs"]),
)
def test_a_number_of_a_row_is_stated_and_any_other_is_not(
    rows: dict[str, int], other: int, data: st.DataObject, form: str
) -> None:
    name = data.draw(st.sampled_from(sorted(rows)))
    if form == "json":
        text = json.dumps([{"pump": pump, "flow": flow} for pump, flow in rows.items()])
    else:
        mark = " | " if form == "pipes" else "\t"
        text = "\n".join([f"pump{mark}flow", *(f"{pump}{mark}{flow}" for pump, flow in rows.items())])
    right, wrong = found(f"The flow of {name} is {rows[name]}.", text), found(f"The flow of {name} is {other}.", text)
    assert right.signals["supports_record"] >= 0.8
    assert not against(right)
    if other != rows[name]:
        assert wrong.signals["supports_record"] == 0
        assert against(wrong) == ["record.mismatch"]


@given(st.lists(st.sampled_from(["zip", "code", "price", "date", "total"]), min_size=1, max_size=4))
def test_names_of_fields_are_split_alike_however_they_are_written(words: list[str]) -> None:
    camel = words[0] + "".join(word.capitalize() for word in words[1:])
    assert split_name(camel).lower() == split_name("_".join(words)).lower() == " ".join(words)
