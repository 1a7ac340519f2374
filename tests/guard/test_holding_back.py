"""Texts of a stream as they grow: where their sentences end, in time that grows with their length."""

import pytest

from assay.guard.streams.holdback import Holdback, Job, StreamDelta


class Plain:
    """Reads events that are pieces of one text."""

    def read(self, event: str, data: object) -> StreamDelta:
        return StreamDelta(texts=[("text", event)])

    def end(self) -> StreamDelta:
        return StreamDelta()

    def sent(self, data: object) -> None:
        """Nothing is to be noted."""


def grown(text: str, size: int) -> tuple[Holdback[str], list[str]]:
    """A text that came in pieces of a size, and its complete sentences as far as they were seen."""
    queue = Holdback(Plain())
    seen: list[str] = []
    for at in range(0, len(text), size):
        queue.take(text[at : at + size], None)
        job = queue.job()
        if job is not None:
            [part] = job.texts
            seen.append(part.text)
            queue.settle(job)
    return queue, seen


@pytest.mark.parametrize("size", [1, 3, 7, 40])
def test_sentences_end_at_the_same_places_however_the_text_is_cut(size: int) -> None:
    text = "It opens at 9.30 in May. Dr. Ruiz leads it [1]. Who asks?\n\nNobody does. And so on"
    _, seen = grown(text, size)
    assert seen[-1] == "It opens at 9.30 in May. Dr. Ruiz leads it [1]. Who asks?\n\nNobody does. "


def test_a_sentence_ends_though_its_end_came_long_before_the_next_one_began() -> None:
    queue, seen = grown("The fee is 40 euros.", 4)
    assert seen == []
    for piece in (" ", " ", "[1", "]", " ", "It", " is", " due"):
        queue.take(piece, None)
    job = queue.job()
    assert isinstance(job, Job)
    assert job.texts[0].text == "The fee is 40 euros.  [1] "


def test_a_text_without_an_end_is_not_searched_anew_with_every_piece() -> None:
    # Searching all that came before with each of the pieces would take many minutes.
    queue = Holdback(Plain())
    for _ in range(300_000):
        queue.take("word ", None)
    assert queue.job() is None
    queue.take("ends. And", None)
    job = queue.job()
    assert job is not None
    assert job.texts[0].end == 300_000 * 5 + len("ends. ")


@pytest.mark.parametrize("piece", ["[a ", "[", "[a"])
def test_marks_that_are_never_closed_are_read_once(piece: str) -> None:
    # Trying every way to divide them into marks would take longer than anybody lives.
    queue = Holdback(Plain())
    queue.take(f"The fee is 40 euros.\n\n{piece * 200}is] due", None)
    job = queue.job()
    assert job is not None
    assert job.texts[0].text == "The fee is 40 euros.\n\n"


@pytest.mark.parametrize(("follows", "open_"), [("[1", True), ("[1] [", True), ("¹ ² ", True), ("[1] x", False)])
def test_a_sentence_waits_while_a_mark_may_still_belong_to_it(follows: str, open_: bool) -> None:
    queue = Holdback(Plain())
    queue.take(f"The fee is 40 euros. {follows}", None)
    assert (queue.job() is None) is open_
