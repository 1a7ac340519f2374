"""The script of a review item applies a suggested correction at the place that it is meant for, whatever the output."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from assay.schema import Span
from assay.schema.escalation import Suggestion
from assay.server.console import router
from assay.server.console.pages.review_item import _suggestions

SCRIPT = Path(router.__file__).with_name("static") / "review.js"
PAGE = """
{
const {output, start, before, after} = JSON.parse(process.argv[2]);
const area = {
  // As a browser does: a line in a text area ends in \\n.
  value: output.replace(/\\r\\n/g, "\\n"), defaultValue: output.replace(/\\r\\n/g, "\\n"),
  addEventListener() {}, focus() {}, setSelectionRange() {},
};
const button = {dataset: {start, before, after}, addEventListener(_, act) { globalThis.click = act; }};
const found = {"[data-edit]": area, "[data-diff-box]": {}, "[data-diff]": {replaceChildren() {}}};
globalThis.document = {
  addEventListener() {}, querySelector: (name) => found[name] ?? null, querySelectorAll: () => [button],
  createTextNode: (text) => text, createElement: () => ({}),
};
globalThis.shownText = () => area.value;
}
"""


def applied(tmp_path: Path, output: str, start: int, before: str, after: str) -> str:
    """The text of the form after a click on the button of a suggestion."""
    if shutil.which("node") is None:
        pytest.skip("needs Node")
    script = tmp_path / "page.cjs"
    script.write_text(f"{PAGE}{SCRIPT.read_text()}\nclick();\nconsole.log(JSON.stringify(shownText()));")
    given = json.dumps({"output": output, "start": start, "before": before, "after": after})
    done = subprocess.run(["node", script, given], capture_output=True, text=True, timeout=20, check=True)
    text: str = json.loads(done.stdout)
    return text


def test_a_suggestion_is_applied_to_the_words_at_its_own_place(tmp_path: Path) -> None:
    assert applied(tmp_path, "5 mg, then 5 mg.", 11, "5", "7") == "5 mg, then 7 mg."


def test_lines_that_end_in_a_carriage_return_do_not_move_a_suggestion(tmp_path: Path) -> None:
    """Its offset counts both characters of such an end; the text area has one of them."""
    output = "\r\n" * 40 + "5 mg."
    assert applied(tmp_path, output, output.index("5"), "5", "7") == "\n" * 40 + "7 mg."


def test_a_suggestion_without_words_changes_nothing_and_ends(tmp_path: Path) -> None:
    assert applied(tmp_path, "5 mg.", 5, "", " a day") == "5 mg."


def test_the_button_of_a_suggestion_holds_the_words_that_it_replaces() -> None:
    suggestion = Suggestion(
        span=Span(start=0, end=3), before='"5"', after="7", source="evidence", reason="The evidence has 7."
    )
    assert 'data-before="&quot;5&quot;"' in str(_suggestions([suggestion]))
