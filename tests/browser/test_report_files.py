"""HTML reports of commands in a real browser: harmless, readable with assistive technology, at every width."""

from pathlib import Path
from typing import Any

import pytest
from tests.browser.report_files import HOSTILE_WORDS, write_reports
from tests.browser.test_console_pages import LOOKS, assert_accessible, tab_through

REPORTS = ("eval", "corpus", "red-team")


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_reports(tmp_path_factory.mktemp("reports"))


@pytest.fixture(scope="module")
def hostile_reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_reports(tmp_path_factory.mktemp("hostile"), HOSTILE_WORDS)


@pytest.mark.parametrize(("width", "theme"), LOOKS)
@pytest.mark.parametrize("name", REPORTS)
def test_a_report_fits_its_window_and_axe_finds_nothing(
    reports: dict[str, Path], browser: Any, axe: str, name: str, width: int, theme: str
) -> None:
    # Scripts run because axe is one; the page's own policy lets none of its own run.
    with browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme, bypass_csp=True) as context:
        page = context.new_page()
        page.goto(reports[name].as_uri())
        for _ in range(2):
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{name} is {wide} px wide at {width} px"
            page.evaluate("[...document.querySelectorAll('details')].slice(0, 20).forEach(one => one.open = true)")
        assert_accessible(page, axe)


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_works_by_keyboard(reports: dict[str, Path], browser: Any, name: str) -> None:
    with browser.new_context(viewport={"width": 390, "height": 900}) as context:
        page = context.new_page()
        page.goto(reports[name].as_uri())
        page.evaluate("document.querySelector('main').tabIndex = -1")
        stops = tab_through(page, 40)
        assert stops
        assert all(stop["outlined"] for stop in stops), stops
        summary = page.locator("main summary").first
        if summary.count():
            summary.focus()
            page.keyboard.press("Enter")
            assert page.locator("main details").first.get_attribute("open") is not None


@pytest.mark.parametrize("name", REPORTS)
def test_hostile_content_of_a_report_is_harmless(hostile_reports: dict[str, Path], browser: Any, name: str) -> None:
    faults: list[str] = []

    def dismiss(shown: Any) -> None:
        faults.append(shown.message)
        shown.dismiss()

    with browser.new_context(viewport={"width": 390, "height": 900}) as context:
        page = context.new_page()
        page.on("dialog", dismiss)
        page.on("request", lambda asked: faults.append(asked.url) if not asked.url.startswith("file:") else None)
        page.on("console", lambda said: faults.append(said.text) if said.type in ("error", "warning") else None)
        page.goto(hostile_reports[name].as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        page.wait_for_timeout(150)
        assert page.evaluate("document.querySelectorAll('script, iframe, object, embed, base, img').length") == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.title() != "pwned"
    assert faults == []
