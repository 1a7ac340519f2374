"""The rows that nothing was fitted on, as `assay eval` reads them."""

from pathlib import Path

import pytest
from train.held_out import REPOSITORY, chosen, records, write
from train.rows import Row, part_of

from assay.evaluation.rows.reading import read_rows


def rows(count: int = 400, source: str = "s", claims: int = 2) -> list[Row]:
    return [
        Row(source, (f"Document number {n} of {source}.",), f"Claim {k} on {n}.", "supported" if k else "contradicted")
        for n in range(count)
        for k in range(claims)
    ]


def test_only_one_side_of_the_split_is_written() -> None:
    found = chosen(rows(), "test")
    assert found
    assert {part_of(row) for row in found} == {"test"}
    assert not {row.document for row in found} & {row.document for row in chosen(rows(), "fit")}


def test_a_smaller_choice_is_a_part_of_a_larger_one_and_documents_stay_whole() -> None:
    few, many = chosen(rows(), "test", 7), chosen(rows(), "test", 20)
    assert few == many[: len(few)]
    assert len(few) == 8
    assert len({row.document for row in few}) == 4


def test_every_set_has_its_own_count() -> None:
    found = chosen([*rows(source="a"), *rows(source="b")], "test", 6)
    assert [row.source for row in found] == ["a"] * 6 + ["b"] * 6


def test_what_is_written_is_read_by_the_evaluation(tmp_path: Path) -> None:
    wrong = Row("marked", ("Leave is two weeks .",), "Leave is four weeks.", "not_supported", "How long?", ((9, 13),))
    right = Row("marked", ("Leave is two weeks .",), "Leave is two weeks .", "supported")
    unknown = Row("marked", ("Leave is two weeks .",), "Leave is long.", "not_supported")
    path = tmp_path / "held.jsonl.gz"
    assert write(path, records([wrong, right, unknown])) == {"marked": 3}
    first, second, third = read_rows(path)
    assert (first.text, first.spans, first.question) == ("Leave is four weeks.", ((9, 13),), "How long?")
    assert (second.text, second.spans, second.evidence[0].text) == ("Leave is two weeks.", (), "Leave is two weeks.")
    assert third.spans is None
    assert len({first.id, second.id, third.id}) == 3


def test_the_same_rows_are_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        write(tmp_path / name, records(chosen(rows(), "test", 4)))
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()


def test_text_of_the_sets_is_not_written_into_the_repository() -> None:
    with pytest.raises(ValueError, match="lies in the repository"):
        write(REPOSITORY / "held.jsonl.gz", [])
    with pytest.raises(ValueError, match=r"\.jsonl\.gz"):
        write(REPOSITORY.parent / "held.txt", [])


def test_empty_evidence_is_left_out() -> None:
    assert list(records([Row("s", (" ",), "A claim.", "supported")])) == []
