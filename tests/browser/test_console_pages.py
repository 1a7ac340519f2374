"""Every page in a real browser: harmless with hostile content, readable with assistive technology, at every width."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.browser.conftest import Running, Watched
from tests.browser.demo import PHARMACY, WAITING, ask

from assay.config import Guard
from assay.testing import FakeScorer

SHOTS = Path(__file__).parents[2] / "docs" / "screenshots"
LOOKS = ((1440, "light"), (1440, "dark"), (820, "light"), (820, "dark"), (390, "light"), (390, "dark"))
"""Windows and themes that each page is held against."""
DRAWN = ((1440, "light"), (820, "light"), (390, "dark"))
"""Those that pictures are kept of."""
LOWEST, HIGHEST = 900, 1_800
"""How high a picture is, in pixels."""
PLACES = {
    "overview": "/console",
    "runs": "/console/runs",
    "run": "run",
    "agent-run": "agent",
    "playground": "/console/playground",
    "review": "/console/review",
    "review-item": "item",
    "gaps": "/console/gaps",
    "policies": "/console/policies",
    "policy": "policy",
    "what-if": "what-if",
    "audit": "/console/audit",
    "audit-entry": "/console/audit/entries/0",
    "monitor": "/console/monitor",
    "alerts": "/console/monitor/alerts",
    "alert": "alert",
    "knowledge": "knowledge",
    "users": "/console/users",
    "keys": "/console/users/keys",
    "sessions": "/console/users/sessions",
    "api": "/console/api",
    "datasets": "/console/datasets",
    "dataset": "dataset",
    "label": "label",
    "experiment": "experiment",
    "rendered": "rendered",
    "trace": "trace",
}
"""Every page; those that need an id by how it is found."""


FOREIGN = "iframe, object, embed, base, style, script:not([src])"
"""Elements that no page has."""


def first_link(page: Any, path: str, pattern: str) -> str:
    """The first link of a page that fits a pattern."""
    page.goto(path)
    links = page.eval_on_selector_all("a[href]", "all => all.map(one => one.getAttribute('href'))")
    return str(next(link for link in links if re.search(pattern, link)))


def run_of(page: Any, path: str) -> str:
    """The first run of a list; of one that lists none, the newest run there is."""
    page.goto(path)
    listed = page.locator("a.row").count() > 0
    return first_link(page, path if listed else "/console/runs", r"/console/runs/[0-9a-f]{32}")


def address_of(page: Any, name: str) -> str:
    """The address of a page of `PLACES`."""
    match PLACES[name]:
        case "run":
            return run_of(page, "/console/runs?q=adoptions")
        case "agent":
            return run_of(page, "/console/runs?q=cancel")
        case "knowledge":
            return run_of(page, "/console/runs?q=loudspeakers")
        case "alert":
            return first_link(page, "/console/monitor/alerts", r"/console/monitor/alerts/[0-9a-f]{32}")
        case "item":
            return first_link(page, "/console/review", r"/console/review/[0-9a-f]{32}")
        case "policy":
            return first_link(page, "/console/policies", r"/console/policies/[0-9a-f]{64}$")
        case "dataset":
            return first_link(page, "/console/datasets", r"/console/datasets/[0-9a-f]{32}$")
        case "label":
            return first_link(page, address_of(page, "dataset"), r"/rows/[0-9a-f]{32}$")
        case "experiment":
            return first_link(page, address_of(page, "dataset"), r"/console/experiments/[0-9a-f]{32}$")
        case "rendered":
            return run_of(page, "/console/runs?caller=markdown")
        case "trace":
            return run_of(page, "/console/runs?caller=traced")
        case "what-if":
            return first_link(page, "/console/policies", r"/what-if$")
        case path:
            return path


def visit(watched: Watched, name: str) -> None:
    """Opens a page of `PLACES`, which answers."""
    answer = watched.page.goto(address_of(watched.page, name))
    assert answer.status == 200, watched.page.content()[:2_000]
    watched.page.wait_for_load_state("networkidle")


@pytest.mark.parametrize("name", PLACES)
def test_hostile_content_is_harmless(hostile: Running, opened: Any, name: str) -> None:
    watched = opened(hostile)
    visit(watched, name)
    page = watched.page
    for summary in page.query_selector_all("main details > summary")[:20]:
        if summary.is_visible():
            summary.click()
    page.wait_for_timeout(150)
    assert watched.faults == []
    assert page.title() != "pwned"  # a hostile name is the page's title, as text
    assert page.eval_on_selector_all(FOREIGN, "all => all.length") == 0
    resolved = "all => all.map(one => new URL(one.getAttribute('href'), document.baseURI).href)"
    outside = page.eval_on_selector_all("a[href]", resolved)
    assert [link for link in outside if not link.startswith(hostile.url)] == []


def test_each_sort_of_hostile_run_is_harmless(hostile: Running, opened: Any) -> None:
    """Calls of tools, repairs, a megabyte in every field: what the newest run of the list has not."""
    watched = opened(hostile)
    page = watched.page
    for words in ("agent", "repaired", "megabyte"):
        page.goto(f"/console/runs?caller={words}")
        links = page.eval_on_selector_all("a.row", "all => all.map(one => one.getAttribute('href'))")
        assert links, words
        page.goto(links[0])
        page.wait_for_load_state("networkidle")
        assert (
            page.eval_on_selector_all("iframe, object, embed, base, style, script:not([src])", "all => all.length") == 0
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= 1440, words
        assert len(page.content()) < 1_500_000, words
    assert watched.faults == []


@pytest.mark.parametrize(("width", "theme"), LOOKS)
@pytest.mark.parametrize("name", PLACES)
def test_a_page_fits_its_window_and_axe_finds_nothing(
    demo: Running, opened: Any, axe: str, name: str, width: int, theme: str
) -> None:
    watched = opened(demo, theme=theme, width=width)
    visit(watched, name)
    page = watched.page
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width, f"{name} is {wide} px wide at {width} px"
    if (width, theme) in DRAWN:
        draw(page, name, width)
    for summary in page.query_selector_all("main details > summary")[:3]:
        if summary.is_visible():
            summary.click()
    assert_accessible(page, axe)
    page.evaluate("document.querySelectorAll('main details').forEach(one => one.open = true)")
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width, f"{name} is {wide} px wide at {width} px with all of it open"
    assert watched.faults == []


def assert_accessible(page: Any, axe: str) -> None:
    """Axe finds nothing that is more than minor."""
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    told = [
        {"id": one["id"], "impact": one["impact"], "nodes": [node["html"][:200] for node in one["nodes"][:3]]}
        for one in found["violations"]
    ]
    assert [one for one in told if one["impact"] in ("serious", "critical", "moderate")] == [], json.dumps(
        told, indent=1
    )


def draw(page: Any, name: str, width: int) -> None:
    """Keeps a picture of a page, as long as a reader would scroll."""
    high = page.evaluate("document.documentElement.scrollHeight") if width < 1440 else LOWEST
    clip = {"x": 0, "y": 0, "width": width, "height": min(max(high, LOWEST), HIGHEST)}
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}-{width}.png", full_page=True, clip=clip)


@pytest.mark.parametrize(
    "name", ["overview", "runs", "review", "monitor", "alerts", "gaps", "policies", "audit", "users", "datasets"]
)
def test_an_empty_console_says_what_to_do(empty: Running, opened: Any, name: str) -> None:
    watched = opened(empty)
    watched.page.goto(PLACES[name])
    assert watched.page.locator("main h1").is_visible()
    assert watched.faults == []


def test_runs_are_chosen_and_saved_by_keyboard(demo: Running, opened: Any) -> None:
    """From the list of runs into a dataset and to a label, without a mouse."""
    watched = opened(demo)
    page = watched.page
    page.goto("/console/runs")
    page.wait_for_load_state("networkidle")
    for _ in range(2):
        page.keyboard.press("j")
        page.keyboard.press("x")
    assert page.locator("[data-chosen]").inner_text() == "With the 2 chosen"
    page.focus("input[name=name]")
    page.keyboard.type("By keyboard")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/console/datasets/[0-9a-f]{32}"))
    page.wait_for_load_state("networkidle")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/rows/[0-9a-f]{32}"))
    page.focus("input[name=label][value=none]")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"done=dataset.labelled"))
    assert watched.faults == []


def test_all_of_it_works_by_keyboard(demo: Running, opened: Any) -> None:
    watched = opened(demo)
    page = watched.page
    page.goto("/console")
    page.wait_for_load_state("networkidle")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("g")
    page.keyboard.press("v")
    page.wait_for_url("**/console/review")
    page.wait_for_load_state("networkidle")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.className") == "row"
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/console/review/[0-9a-f]{32}"))
    page.wait_for_load_state("networkidle")
    page.keyboard.press("r")
    page.wait_for_url("**/confirm")
    page.wait_for_load_state("networkidle")
    assert page.evaluate("document.activeElement.name") == "reason"
    page.keyboard.press("Escape")
    page.wait_for_url(re.compile(r"/console/review/[0-9a-f]{32}$"))
    page.wait_for_load_state("networkidle")
    page.keyboard.press("e")
    assert page.evaluate("document.activeElement.name") == "output"
    page.keyboard.type("Ask a doctor. ")
    page.wait_for_selector("[data-diff] ins")
    assert watched.faults == []


def test_the_monitor_and_its_alerts_work_by_keyboard(demo: Running, opened: Any) -> None:
    watched = opened(demo)
    page = watched.page
    page.goto("/console/monitor")
    page.wait_for_load_state("networkidle")
    # Points of a chart are for a pointer: what they lead to is in the table below, and is reached there.
    stops = tab_through(page, 120)
    assert not [stop for stop in stops if stop["svg"]]
    assert all(stop["outlined"] for stop in stops), [stop for stop in stops if not stop["outlined"]]
    page.focus("#panel-trend summary")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert "/console/runs?hour=" in page.evaluate("document.activeElement.getAttribute('href')")
    page.goto("/console/monitor/alerts")
    page.locator("main table a", has_text="wrong claims of one agent").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/console/monitor/alerts/[0-9a-f]{32}"))
    page.locator("select[name=hours]").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/*done=alert.silenced")
    assert "silenced" in page.inner_text("main .head")
    assert watched.faults == []


def tab_through(page: Any, most: int) -> list[dict[str, Any]]:
    """What has the focus at each press of Tab within the main part, and whether that can be seen."""
    page.focus("main")
    found = []
    for _ in range(most):
        page.keyboard.press("Tab")
        stop = page.evaluate(
            "() => {const one = document.activeElement; const style = getComputedStyle(one);"
            "return {main: !!one.closest('main'), svg: !!one.closest('svg'), html: one.outerHTML.slice(0, 160),"
            "outlined: style.outlineStyle !== 'none' && style.outlineWidth !== '0px'}}"
        )
        if not stop["main"]:
            break
        found.append(stop)
    return found


def test_the_queue_follows_and_counts_down(empty: Running, opened: Any) -> None:
    watched = opened(empty, "rosa")
    page = watched.page
    page.goto("/console/review")
    page.wait_for_load_state("networkidle")
    assert page.locator("a.row").count() == 0
    guard = Guard(PHARMACY, scorer=FakeScorer(), environ={})
    ask(empty.store, guard, *WAITING[0])
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.wait_for_selector("a.row")
    page.wait_for_function(r"() => /^in \d+:\d\d$/.test(document.querySelector('time[data-due] .badge').textContent)")
    before = page.inner_text("time[data-due] .badge")
    page.wait_for_function(
        "before => document.querySelector('time[data-due] .badge').textContent !== before", arg=before
    )
    # What has the focus keeps it when the list is drawn again.
    page.focus("a.row")
    ask(empty.store, guard, *WAITING[1])
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.wait_for_function("() => document.querySelectorAll('a.row').length === 2")
    assert page.evaluate("document.activeElement.className") == "row"
    assert "1 more in the list" in page.inner_text("main > [role=status]")
    assert watched.faults == []


def test_pointing_at_a_claim_shows_what_decides_about_it(demo: Running, opened: Any) -> None:
    watched = opened(demo)
    page = watched.page
    page.goto(first_link(page, "/console/runs?q=adoptions", r"/console/runs/[0-9a-f]{32}"))
    page.wait_for_load_state("networkidle")
    assert page.evaluate("document.fonts.check('14px Inter')")
    for number, decides in (("2", "8 weeks"), ("5", "not paid")):
        page.hover(f".answer a[data-claims='{number}']")
        shown = page.locator(".card:not([hidden])")
        assert shown.count() == 1
        assert shown.get_attribute("id") == f"claim-{number}"
        assert decides in page.inner_text(f"#claim-{number} mark.exact")
        assert page.locator(f".claim-list a[data-claims='{number}'].on").count() == 1
    # The list beside the output leads to a card as the marks do, by keyboard too.
    page.focus(".claim-list a[data-claims='8']")
    assert page.locator(".card:not([hidden])").get_attribute("id") == "claim-8"
    assert watched.faults == []


def test_a_slider_tells_what_it_would_change(demo: Running, opened: Any) -> None:
    watched = opened(demo)
    visit(watched, "what-if")
    before = watched.page.inner_text("[data-result]")
    slider = watched.page.locator("input[name=emit_threshold]")
    slider.focus()
    for _ in range(10):
        watched.page.keyboard.press("ArrowRight")
    watched.page.wait_for_function("before => document.querySelector('[data-result]').innerText !== before", arg=before)
    assert re.search(r"emit_threshold=(0\.9|1\b)", watched.page.url)
    assert watched.faults == []
