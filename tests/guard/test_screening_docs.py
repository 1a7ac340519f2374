"""The first example of docs/screen.md runs and prints what the page says; its policy is one."""

import contextlib
import io
import re
from pathlib import Path

from assay.policy import parse_policy

PAGE = (Path(__file__).parents[2] / "docs" / "screen.md").read_text(encoding="utf-8")


def test_the_first_example_prints_what_the_page_says() -> None:
    example = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0]
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(example, "docs/screen.md", "exec"), {"__name__": "example"})  # noqa: S102 the project's own
    assert f"It prints `{said.getvalue().strip()}`." in PAGE


def test_the_policy_of_the_page_is_one() -> None:
    found = parse_policy(re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[0], "docs/screen.md")
    assert found.screen is not None
    assert found.screen.minimum_relevance == 0.1


def test_every_reason_and_signal_stands_on_the_page() -> None:
    from assay.schema.screening import DropReason, ScreenReason, Signal

    for name in (*DropReason, *ScreenReason, *Signal):
        assert f"`{name.value}`" in PAGE, name
