"""The pages of the red team in a real browser: harmless, readable at every width and in both themes, by keyboard."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.browser.attacked import attack, attack_hostile
from tests.browser.conftest import Running, Watched, serving
from tests.browser.demo import HOSTILE, open_store
from tests.browser.test_console_pages import (
    FOREIGN,
    assert_accessible,
    draw,
    first_link,
    tab_through,
)

from assay.store.redteam import list_proposals
from assay.testing import FakeScorer

WIDTHS = (390, 820, 1280)
THEMES = ("light", "dark")
DRAWN = ((1280, "light"), (820, "light"), (390, "dark"))
PLACES = ("redteam", "redteam-run", "redteam-proposals", "redteam-proposal", "redteam-decided")


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    store, clock = open_store(tmp_path_factory.mktemp("attacked"))
    clock.at = None
    with store:
        attack(store, datetime.now(UTC))
        with serving(store, FakeScorer()) as url:
            yield Running(url, store)


@pytest.fixture(scope="module")
def besieged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    store, clock = open_store(tmp_path_factory.mktemp("besieged"))
    clock.at = None
    with store:
        attack_hostile(store, HOSTILE)
        with serving(store, FakeScorer()) as url:
            yield Running(url, store)


def address_of(page: Any, name: str) -> str:
    match name:
        case "redteam-run":
            return first_link(page, "/console/redteam", r"/console/redteam/runs/[0-9a-f]{32}$")
        case "redteam-proposals":
            return "/console/redteam/proposals"
        case "redteam-proposal":
            return first_link(page, "/console/redteam/proposals", r"/proposals/rt-[0-9a-f]{16}$")
        case "redteam-decided":
            return first_link(page, "/console/redteam/proposals?state=approved", r"/proposals/rt-[0-9a-f]{16}$")
        case _:
            return "/console/redteam"


def visit(watched: Watched, name: str) -> None:
    answer = watched.page.goto(address_of(watched.page, name))
    assert answer.status == 200, watched.page.content()[:2_000]
    watched.page.wait_for_load_state("networkidle")


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PLACES)
def test_a_page_fits_its_window_and_axe_finds_nothing(
    attacked: Running, opened: Any, axe: str, name: str, width: int, theme: str
) -> None:
    watched = opened(attacked, theme=theme, width=width)
    visit(watched, name)
    page = watched.page
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width, f"{name} is {wide} px wide at {width} px"
    if (width, theme) in DRAWN:
        draw(page, name, width)
    page.evaluate("document.querySelectorAll('main details').forEach(one => one.open = true)")
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width, f"{name} is {wide} px wide at {width} px with all of it open"
    assert_accessible(page, axe)
    assert watched.faults == []


@pytest.mark.parametrize("name", PLACES[:4])
def test_hostile_names_and_texts_are_harmless(besieged: Running, opened: Any, name: str) -> None:
    watched = opened(besieged)
    page = watched.page
    places = [address_of(page, name)]
    if name == "redteam":
        places = [f"/console/redteam?of={at}" for at in range(len(HOSTILE))]
    for place in places:
        assert page.goto(place).status == 200, page.content()[:2_000]
        page.evaluate("document.querySelectorAll('main details').forEach(one => one.open = true)")
        page.wait_for_timeout(50)
        assert page.title() != "pwned"
        assert page.eval_on_selector_all(FOREIGN, "all => all.length") == 0
        resolved = "all => all.map(one => new URL(one.getAttribute('href'), document.baseURI).href)"
        outside = page.eval_on_selector_all("a[href]", resolved)
        assert [link for link in outside if not link.startswith(besieged.url)] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 1440
    assert watched.faults == []


def test_an_empty_page_says_what_to_do(empty: Running, opened: Any) -> None:
    watched = opened(empty)
    watched.page.goto("/console/redteam")
    assert "assay redteam run" in watched.page.inner_text("main")
    watched.page.goto("/console/redteam/proposals")
    assert watched.page.locator("main .empty").is_visible()
    assert watched.faults == []


def test_a_reviewer_goes_from_the_trend_to_a_decision_by_keyboard_alone(attacked: Running, opened: Any) -> None:
    watched = opened(attacked, "rosa", width=1280)
    page = watched.page
    page.goto("/console")
    page.wait_for_load_state("networkidle")
    page.keyboard.press("g")
    page.keyboard.press("t")
    page.wait_for_url("**/console/redteam")
    page.wait_for_load_state("networkidle")
    stops = tab_through(page, 120)
    assert not [stop for stop in stops if stop["svg"]]
    assert all(stop["outlined"] for stop in stops), [stop for stop in stops if not stop["outlined"]]
    page.locator("main .head a", has_text="Proposals").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/console/redteam/proposals")
    page.wait_for_load_state("networkidle")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.className") == "row"
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/proposals/rt-[0-9a-f]{16}$"))
    id_ = page.url.rsplit("/", 1)[-1]
    page.locator("textarea[name=reason]").first.focus()
    page.keyboard.type("It happened to a customer.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/proposals?done=proposal.approve")
    assert "it is in the suite" in page.inner_text("[role=status]")
    with attacked.store.reading("default") as connection:
        (row,) = [one for one in list_proposals(connection, "default") if one.id == id_]
    assert (row.state, row.decider, row.reason) == ("approved", "rosa", "It happened to a customer.")
    assert watched.faults == []


def test_a_case_is_edited_before_it_goes_in(attacked: Running, opened: Any) -> None:
    watched = opened(attacked, "olaf", width=1280)
    page = watched.page
    place = address_of(page, "redteam-proposal")
    page.goto(place)
    page.locator("summary", has_text="Edit it first").click()
    page.fill("textarea[name=prompt]", "By when do I hand in my receipts?")
    page.locator("#decide details textarea[name=reason]").fill("Said as people say it.")
    page.locator("button", has_text="Approve as edited").click()
    page.wait_for_url("**/proposals?done=proposal.edit")
    page.goto(place)
    assert "It was edited" in page.inner_text("main")
    page.locator("summary", has_text="As approved").click()
    assert "hand in my receipts" in page.inner_text("main")
    assert watched.faults == []


def test_what_is_wrong_in_an_answer_is_marked_where_it_stands(attacked: Running, opened: Any) -> None:
    watched = opened(attacked, width=1280)
    page = watched.page
    visit(watched, "redteam-run")
    card = page.locator("article.card").first
    assert card.locator(".answer .piece.contradicted").inner_text() == "Receipts are handed in within 60 days."
    assert "Stated without reservation" in card.inner_text()
    assert watched.faults == []


def test_a_mark_of_a_change_stands_in_the_trend_and_the_category_can_be_chosen(attacked: Running, opened: Any) -> None:
    watched = opened(attacked, width=1280)
    page = watched.page
    page.goto("/console/redteam")
    assert page.locator("#trend svg.wide line.mark").count() == 3
    page.select_option("select[name=category]", "scale_stress")
    page.wait_for_url("**category=scale_stress**")
    assert "ARS of scale stress" in page.inner_html("#trend")
    assert watched.faults == []
