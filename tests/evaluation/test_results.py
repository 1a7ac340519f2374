"""The results on disk: found again, mended at the end, refused when they are of something else."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.evaluation.rows.results import Result, ResultLog, read_results

WHO = {"verifier": "v", "verifier_digest": "d"}


def result(digest: str) -> Result:
    return Result(digest, "contradicted", 0.25, 0.75, spans=((1, 4),), signals={"entail_max": 0.5})


def filled(path: Path, count: int = 3) -> bytes:
    with ResultLog(path, WHO) as log:
        log.add(result(str(index)) for index in range(count))
    return path.read_bytes()


def test_results_are_found_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "results.jsonl"
    filled(path)
    with ResultLog(path, WHO) as log:
        assert log.results == {str(index): result(str(index)) for index in range(3)}


def test_without_a_path_nothing_is_written_and_all_is_remembered() -> None:
    with ResultLog(None, WHO) as log:
        log.add([result("a")])
        assert log.results == {"a": result("a")}


@settings(deadline=None)
@given(cut=st.integers(min_value=0))
def test_a_file_cut_anywhere_is_mended_and_goes_on(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    path = tmp_path_factory.mktemp("cut") / "results.jsonl"
    data = filled(path)
    cut %= len(data) + 1
    path.write_bytes(data[:cut])
    with ResultLog(path, WHO) as log:
        kept = max(data[:cut].count(b"\n") - 1, 0)
        assert len(log.results) == kept
        log.add(result(str(index)) for index in range(kept, 3))
    assert path.read_bytes() == data


@pytest.mark.parametrize("change", [b"{}\n", b"junk\n", b'{"digest": "x", "verdict": "supported", "score": "high"}\n'])
def test_a_damaged_line_before_the_end_is_an_error(tmp_path: Path, change: bytes) -> None:
    path = tmp_path / "results.jsonl"
    lines = filled(path).splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], change, *lines[1:]]))
    with pytest.raises(InputError, match="line 2: not a result"), ResultLog(path, WHO):
        pass


def test_results_of_another_verifier_are_never_mixed_in(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    before = filled(path)
    with pytest.raises(InputError, match="another verifier"), ResultLog(path, {**WHO, "verifier_digest": "e"}):
        pass
    assert path.read_bytes() == before


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="cannot be written"), ResultLog(tmp_path / "file" / "results.jsonl", WHO):
        pass


def test_the_results_of_a_finished_run_are_read_whoever_judged(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    filled(path)
    assert read_results(path) == {str(index): result(str(index)) for index in range(3)}


def test_results_that_are_missing_or_cut_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with pytest.raises(InputError, match="cannot be read"):
        read_results(path)
    path.write_bytes(filled(path)[:-20])
    with pytest.raises(InputError, match="not the results of a finished run"):
        read_results(path)


@pytest.mark.parametrize("kept", [slice(1, None), slice(0, 0)])
def test_results_without_their_header_are_refused(tmp_path: Path, kept: slice) -> None:
    path = tmp_path / "results.jsonl"
    with ResultLog(path, {"verifier": "a"}) as log:
        log.add([Result("d1", "supported", 1.0, 0.0), Result("d2", "supported", 1.0, 0.0)])
    assert set(read_results(path)) == {"d1", "d2"}
    path.write_text("".join(path.read_text().splitlines(keepends=True)[kept]))
    with pytest.raises(InputError, match="not the header"):
        read_results(path)
