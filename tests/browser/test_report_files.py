"""HTML reports of commands in a real browser: harmless, readable with assistive technology, at every width."""

from pathlib import Path
from typing import Any

import pytest
from tests.browser.report_files import HOSTILE_WORDS, write_reports
from tests.browser.test_console_pages import LOOKS, assert_accessible, tab_through

REPORTS = ("eval", "compare", "corpus", "red-team")
WITH_SLIDER = ("eval", "compare")


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
        assert page.evaluate("document.querySelectorAll('iframe, object, embed, base, img').length") == 0
        assert page.locator("script").count() == (name in WITH_SLIDER), "ours, which the page's policy names by digest"
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.title() != "pwned"
    assert faults == []


@pytest.mark.parametrize("name", WITH_SLIDER)
def test_the_threshold_moves_by_keyboard_and_both_rates_with_it(
    reports: dict[str, Path], browser: Any, name: str
) -> None:
    faults: list[str] = []
    with browser.new_context(viewport={"width": 820, "height": 900}) as context:
        page = context.new_page()
        page.on("console", lambda said: faults.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(reports[name].as_uri())
        slider = page.get_by_role("slider", name="Threshold")

        def rates() -> list[float]:
            """Both rates of each system, as they are shown."""
            cells = page.locator("tr[data-emitted] td").evaluate_all("all => all.map(one => one.firstChild.data)")
            return [float(cell) for cell in cells]

        before = rates()
        slider.focus()
        page.keyboard.press("Home")
        assert page.locator("output").inner_text() == "0.00"
        assert rates()[:2] == [1.0, 0.0], "from 0 on everything is emitted"
        page.keyboard.press("End")
        assert min(rates()[1::2]) > 0.95, "at 1 all is stopped that is not quite sure"
        page.keyboard.press("Home")
        for _ in range(50):
            page.keyboard.press("ArrowRight")
        assert page.locator("output").inner_text() == "0.50"
        assert rates() == before, "counted here as in the page that was written"
        expected = page.locator("tr[data-emitted]").first.evaluate(
            "row => Number(row.dataset.emitted.split(' ')[50]) / Number(row.dataset.honest)"
        )
        assert rates()[0] == pytest.approx(expected, abs=0.0005)
    assert faults == []


def test_rows_say_what_they_are_at_another_threshold(reports: dict[str, Path], browser: Any) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(reports["eval"].as_uri())
        slider = page.get_by_role("slider", name="Threshold")
        slider.focus()
        page.keyboard.press("End")
        missed = page.locator("details.row[data-kind='missed'] .then").first
        assert missed.inner_text() == "right at 1.00"
        page.keyboard.press("Home")
        alarm = page.locator("details.row[data-kind='false alarm'] .then").first
        assert alarm.inner_text() == "right at 0.00"


@pytest.mark.parametrize("name", WITH_SLIDER)
def test_without_scripts_the_rates_are_a_table(reports: dict[str, Path], browser: Any, name: str) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(reports[name].as_uri())
        assert not page.locator("input[type=range]").is_visible()
        assert page.locator("tr[data-emitted] td").first.is_visible()
        page.locator("details.tenths summary").click()
        assert page.locator("details.tenths tbody tr").count() == 11
