"""What if a policy had other thresholds: the form, and what would have been decided."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response

from assay.policy import Policy
from assay.reporting import Child, Markup, foreign, group, tag
from assay.schema import Action
from assay.server.console.charts import split_bar
from assay.server.console.layout import render
from assay.server.console.parts import (
    ACTION_TONES,
    Column,
    action_badge,
    button,
    empty_state,
    field,
    moment,
    note,
    number,
    panel,
    select,
    share,
    shorten,
    table,
)
from assay.store.insights import (
    MOST_DECISIONS,
    PolicyVersion,
    TrialResult,
    WhatIf,
)

SLIDERS: Final[Mapping[str, str]] = {
    "emit_threshold": "Emitted from",
    "revise_threshold": "A claim goes back below",
    "block_threshold": "A critical claim blocks below",
    "support_threshold": "Supported from",
    "contradiction_threshold": "Contradicted from",
    "escalation.threshold": "A person decides from a risk above",
}
"""The thresholds that may be moved, and what each does."""
RATES: Final[Mapping[str, str]] = {
    "warn_rate": "Not passed from a share without support of",
    "fail_rate": "Withheld from a share without support of",
}
"""Those of a policy that goes by the share of claims without support."""
SWITCHES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "aggregation": ("Claims become one score by", ("joint", "minimum", "weighted_mean", "unsupported_rate")),
    "critical_action": ("A contradicted critical claim leads to", ("revise", "block")),
    "weak_action": ("A weak claim leads to", ("revise", "escalate")),
    "unchecked_action": ("What was not checked leads to", ("revise", "escalate")),
}
"""The switches that may be set."""

TRIED_S: Final = 0.08
"""Seconds after which a page tells what a trial has come to so far; the script of the page asks on."""
ACTION_ORDER: Final = (Action.EMIT, Action.REVISE, Action.ESCALATE, Action.BLOCK)


def decision_count(number_: int) -> str:
    """How many decisions, or that there are more than are counted."""
    return f"{MOST_DECISIONS:,}+" if number_ > MOST_DECISIONS else f"{number_:,}"


def what_if_page(request: Request, version: PolicyVersion, drawn: Markup) -> Response:
    """The page on which thresholds are moved, with what was drawn for those asked for."""
    policy = version.policy
    about = group(
        "The latest ",
        decision_count(min(version.decisions, MOST_DECISIONS)),
        " decisions, made again by the gate from what was found then. Nothing is stored and nothing is checked again.",
    )
    if policy is None:
        nothing = empty_state("This policy cannot be tried", "Its settings were not kept, or are of another version.")
        return render(request, "What if", nothing, current="policies")
    controls = _controls(request, version, policy)
    result = tag("div", drawn, id="result", aria_live="polite", data_result=True)
    return render(
        request,
        "What if",
        tag("div", controls, result, class_="what-if"),
        current="policies",
        about=about,
        heading=group("What if ", foreign(version.name[:60]), " had other thresholds"),
        scripts=("whatif.js",),
        parent=(shorten(version.name, 40), f"/console/policies/{version.digest}"),
    )


def _controls(request: Request, version: PolicyVersion, policy: Policy) -> Markup:
    now = policy.model_dump(mode="json")
    sliders = {**SLIDERS, **(RATES if policy.aggregation == "unsupported_rate" else {})}
    ranges = (_slider(request, name, words, _of(now, name)) for name, words in sliders.items())
    switches = (
        field(
            words,
            select(
                _field(name),
                ((one, one.replace("_", " ")) for one in options),
                request.query_params.get(_field(name), str(now[name])),
            ),
        )
        for name, (words, options) in SWITCHES.items()
    )
    path = f"/console/policies/{version.digest}/what-if"
    return tag(
        "form",
        tag("fieldset", tag("legend", "Thresholds"), ranges),
        tag("fieldset", tag("legend", "Switches"), switches),
        tag("div", button("Try it", "primary"), tag("a", "As it is", href=path, class_="button"), class_="actions"),
        method="get",
        action=path,
        class_="controls",
        data_what_if=True,
    )


def _slider(request: Request, name: str, words: str, now: float) -> Markup:
    value = _read_number(request.query_params.get(_field(name)), now)
    output = tag("output", f"{value:.2f}", for_=_field(name), data_was=f"{now:.2f}")
    control = tag(
        "input",
        type_="range",
        id=_field(name),
        name_=_field(name),
        min=0,
        max=1,
        step=0.01,
        value=f"{value:.2f}",
        aria_describedby=f"{_field(name)}-was",
    )
    was = tag("small", f"now {now:.2f}", id=f"{_field(name)}-was")
    return tag(
        "div",
        tag("label", words, for_=_field(name)),
        output,
        control,
        was,
        class_="slider changed" if abs(value - now) > _STEP / 2 else "slider",
    )


_STEP: Final = 0.01


def _field(name: str) -> str:
    return name.replace(".", "-")


def _of(settings: Mapping[str, Any], name: str) -> Any:
    value: Any = settings
    for part in name.split("."):
        value = value[part]
    return value


def _read_number(text: str | None, otherwise: float) -> float:
    try:
        value = float(text) if text else otherwise
    except ValueError:
        return otherwise
    return value if 0 <= value <= 1 else otherwise


def _asked_policy(request: Request, policy: Policy) -> Policy | str:
    """The policy that the form describes, or why there can be none such."""
    settings = policy.model_dump(mode="json")
    given = request.query_params
    for name in (*SLIDERS, *RATES):
        parts = name.split(".")
        inner = settings
        for part in parts[:-1]:
            inner = inner[part]
        value = _read_number(given.get(_field(name)), inner[parts[-1]])
        # A slider has two digits: one that was not moved must not round the policy.
        inner[parts[-1]] = value if abs(value - inner[parts[-1]]) > _STEP / 2 else inner[parts[-1]]
    for name, (_, options) in SWITCHES.items():
        if given.get(name) in options:
            settings[name] = given[name]
    try:
        return Policy.model_validate(settings)
    except ValidationError as error:
        return "; ".join(one["msg"] for one in error.errors())


def draw_trial(request: Request, trying: WhatIf, tenant: str, version: PolicyVersion) -> Markup:
    """What came of the policy that the form describes, or why it cannot be tried."""
    policy = version.policy
    if policy is None:
        return note("doubt", "This policy cannot be tried: its settings were not kept.")
    after = _asked_policy(request, policy)
    if isinstance(after, str):
        return note("doubt", "There can be no such policy: ", after)
    return draw_tried(trying.ask(tenant, version, policy, after, TRIED_S), same=after == policy)


def draw_tried(tried: TrialResult, *, same: bool = False) -> Markup:
    """What came of it: two bars, the moves between actions, and the decisions that change."""
    if not tried.decided and not tried.left:
        return empty_state("Nothing to decide again", _left_out(tried) or "This policy has not decided anything yet.")
    changed = f"{tried.different:,} of {tried.decided:,} decisions would change"
    return group(
        tag("p", tag("strong", "As it is: move a threshold" if same else changed), class_="verdict"),
        _to_come(tried),
        _bars(tried),
        tag("p", _left_out(tried), class_="soft") if _left_out(tried) else None,
        _moves(tried),
        _changed(tried),
    )


def _to_come(tried: TrialResult) -> Markup | None:
    if not tried.left:
        return None
    # Without its script the page is asked for again, and goes on where it was.
    return tag(
        "p",
        f"The latest ones so far; {tried.left:,} more are to come. ",
        tag("a", "Go on", href=""),
        class_="soft",
        data_more=True,
    )


def _left_out(tried: TrialResult) -> str:
    parts = []
    if tried.recheck:
        parts.append(f"{tried.recheck:,} would have to be checked again")
    if tried.unknown:
        parts.append(f"{tried.unknown:,} are left out: erased, or decided on by more than the gate")
    return "; ".join(parts) + ("." if parts else "")


def _bars(tried: TrialResult) -> Markup:
    columns = (
        Column("When", hidden=True),
        *(Column(one.value, "num") for one in ACTION_ORDER),
        Column("Shares", "main", hidden=True),
    )
    rows: list[list[Child]] = []
    for name, counts in (
        ("Was", [tried.before(one) for one in ACTION_ORDER]),
        ("Would be", [tried.after(one) for one in ACTION_ORDER]),
    ):
        parts = [(one.value, float(n), ACTION_TONES[one]) for one, n in zip(ACTION_ORDER, counts, strict=True)]
        cells = (group(f"{n:,} ", tag("small", share(n, tried.decided))) for n in counts)
        rows.append([name, *cells, split_bar(parts, f"{name}: " + ", ".join(f"{n} {v:g}" for n, v, _ in parts))])
    return table("Decisions before and after", columns, rows, style="bars-table")


def _moves(tried: TrialResult) -> Markup | None:
    moved = sorted(((n, was, would) for (was, would), n in tried.moves.items() if was is not would), reverse=True)
    if not moved:
        return None
    items = (
        tag("li", tag("b", f"{n:,}"), action_badge(was), tag("span", "→", aria_label="become"), action_badge(would))
        for n, was, would in moved
    )
    return tag("ul", items, class_="plain moves")


def _changed(tried: TrialResult) -> Markup | None:
    if not tried.changed:
        return None
    columns = (Column("Run", "main"), Column("Score", "num"), Column("Was"), Column("Would be"))
    rows = (
        (
            tag("a", moment(one.created), href=f"/console/runs/{one.run}", class_="row"),
            number(one.score),
            action_badge(one.before),
            action_badge(one.after),
        )
        for one in tried.changed
    )
    words = "The latest that would change" if tried.different > len(tried.changed) else "Those that would change"
    return panel(words, table(words, columns, rows, style="rows"))
