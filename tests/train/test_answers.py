"""Answers put together from labelled claims."""

from itertools import count, islice

from train.answers import LEAST, MOST, WRONG_EVERY, records, told
from train.rows import Row, part_of

from assay.evaluation.rows.reading import parse_row


def _rows(part: str, documents: int = 12) -> list[Row]:
    """Documents of one side of the split, four right claims and a wrong one of each."""
    made = []
    texts = (f"The town number {n} has a mill, a bridge, a school and an inn." for n in count())
    on_side = (text for text in texts if part_of(Row("fm2", (text,), "x", "supported")) == part)
    for text in islice(on_side, documents):
        town = text.split(" has", 1)[0]
        made += [Row("fm2", (text,), f"{town} has {thing}.", "supported") for thing in ("a mill", "a bridge")]
        made += [Row("fm2", (text,), f"{town} has {thing}.", "supported") for thing in ("a school", "an inn")]
        made.append(Row("fm2", (text,), f"{town} has a harbour.", "contradicted"))
    return made


def test_an_answer_holds_supported_claims_and_at_most_one_wrong_one_at_its_span() -> None:
    answers = list(told(_rows("fit"), "fit", 20))
    assert len(answers) == 20
    assert sum(one.wrong is not None for one in answers) == 20 // WRONG_EVERY
    for one in answers:
        assert LEAST <= len(one.claims) <= MOST
        assert [n for n, claim in enumerate(one.claims) if "harbour" in claim] == [one.wrong] * (one.wrong is not None)
        if one.span is not None:
            assert one.text[slice(*one.span)].lower().endswith("has a harbour")


def test_the_evidence_of_every_claim_stands_beside_the_answer() -> None:
    for one in told(_rows("fit"), "fit", 20):
        towns = " ".join(one.evidence)
        assert all(claim.split(" has", 1)[0] + " has" in towns for claim in one.claims)


def test_an_answer_lies_on_one_side_of_the_split() -> None:
    rows = [*_rows("fit"), *_rows("test"), *_rows("train")]
    fit = {row.evidence[0] for row in rows if part_of(row) == "fit"}
    assert all(set(one.evidence) <= fit for one in told(rows, "fit", 20))


def test_the_same_rows_give_the_same_answers() -> None:
    assert list(told(_rows("fit"), "fit", 10)) == list(told(_rows("fit"), "fit", 10))


def test_what_is_written_is_what_an_evaluation_reads() -> None:
    native = Row("begin_wow", _rows("fit")[0].evidence, "It has a mill.", "supported")
    found = [parse_row(one, "here", "s") for one in records([*_rows("fit"), native], "fit", None, 5)]
    assert {row.set for row in found} == {"begin_wow", "told_fm2"}
    assert not any(row.whole for row in found)
    assert len({row.id for row in found}) == len(found)
