"""Trials of other thresholds for a policy: the form, and what the latest decisions would have been."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response

from assay.policy import Policy
from assay.reporting import Child, Markup, foreign, group, tag
from assay.server.console.charts import split_bar
from assay.server.console.layout import render
from assay.server.console.parts import (
    ACTION_ORDER,
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
"""The thresholds that the form can change, and what each does."""
RATES: Final[Mapping[str, str]] = {
    "warn_rate": "Not passed from a share without support of",
    "fail_rate": "Withheld from a share without support of",
}
"""The thresholds of a policy that decides by the share of unsupported claims."""
SWITCHES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "aggregation": ("Claims become one score by", ("joint", "minimum", "weighted_mean", "unsupported_rate")),
    "critical_action": ("A contradicted critical claim leads to", ("revise", "block")),
    "weak_action": ("A weak claim leads to", ("revise", "escalate")),
    "unchecked_action": ("What was not checked leads to", ("revise", "escalate")),
}
"""The switches that the form can set: the label and the options of each."""

PARTIAL_AFTER_S: Final = 0.08
"""Seconds after which a trial shows its result so far; the script of the page then asks for the rest."""


def decision_count(number_: int) -> str:
    """A number of decisions; `10,000+` and the like beyond the number up to which they are counted."""
    return f"{MOST_DECISIONS:,}+" if number_ > MOST_DECISIONS else f"{number_:,}"


def what_if_page(request: Request, version: PolicyVersion, result: Markup) -> Response:
    """The page of a trial.

    Args:
        request: the request, whose query has the thresholds to try.
        version: the policy.
        result: the drawn result of the trial.
    """
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
    shown = tag("div", result, id="result", aria_live="polite", data_result=True)
    return render(
        request,
        "What if",
        tag("div", controls, shown, class_="what-if"),
        current="policies",
        about=about,
        heading=group("What if ", foreign(version.name[:60]), " had other thresholds"),
        scripts=("whatif.js",),
        parent=(shorten(version.name, 40), f"/console/policies/{version.digest}"),
    )


def _controls(request: Request, version: PolicyVersion, policy: Policy) -> Markup:
    settings = policy.model_dump(mode="json")
    sliders = {**SLIDERS, **(RATES if policy.aggregation == "unsupported_rate" else {})}
    ranges = (_slider(request, name, words, _setting(settings, name)) for name, words in sliders.items())
    switches = (
        field(words, _switch(request, name, options, str(settings[name])))
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


def _switch(request: Request, name: str, options: Sequence[str], present: str) -> Markup:
    choices = ((one, one.replace("_", " ")) for one in options)
    return select(_field(name), choices, request.query_params.get(_field(name), present))


def _slider(request: Request, name: str, words: str, present: float) -> Markup:
    value = _read_number(request.query_params.get(_field(name)), present)
    output = tag("output", f"{value:.2f}", for_=_field(name), data_was=f"{present:.2f}")
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
    was = tag("small", f"now {present:.2f}", id=f"{_field(name)}-was")
    return tag(
        "div",
        tag("label", words, for_=_field(name)),
        output,
        control,
        was,
        class_="slider changed" if abs(value - present) > _STEP / 2 else "slider",
    )


_STEP: Final = 0.01
"""The step of a slider."""


def _field(name: str) -> str:
    return name.replace(".", "-")


def _setting(settings: Mapping[str, Any], name: str) -> Any:
    value: Any = settings
    for part in name.split("."):
        value = value[part]
    return value


def _read_number(text: str | None, default: float) -> float:
    try:
        value = float(text) if text else default
    except ValueError:
        return default
    return value if 0 <= value <= 1 else default


def _policy_of_form(request: Request, policy: Policy) -> Policy | str:
    """The policy that the form describes, or the reason why it is invalid."""
    settings = policy.model_dump(mode="json")
    query = request.query_params
    for name in (*SLIDERS, *RATES):
        parts = name.split(".")
        inner = settings
        for part in parts[:-1]:
            inner = inner[part]
        value = _read_number(query.get(_field(name)), inner[parts[-1]])
        # A slider has two decimals: a threshold that was not moved must not be rounded to them.
        inner[parts[-1]] = value if abs(value - inner[parts[-1]]) > _STEP / 2 else inner[parts[-1]]
    for name, (_, options) in SWITCHES.items():
        if query.get(name) in options:
            settings[name] = query[name]
    try:
        return Policy.model_validate(settings)
    except ValidationError as error:
        return "; ".join(one["msg"] for one in error.errors())


def draw_trial(request: Request, trials: WhatIf, tenant: str, version: PolicyVersion) -> Markup:
    """The result of a trial of the policy that the form describes, or why it cannot be tried."""
    policy = version.policy
    if policy is None:
        return note("doubt", "This policy cannot be tried: its settings were not kept.")
    after = _policy_of_form(request, policy)
    if isinstance(after, str):
        return note("doubt", "Such a policy is not valid: ", after)
    return draw_result(trials.ask(tenant, version, policy, after, PARTIAL_AFTER_S), same=after == policy)


def draw_result(tried: TrialResult, *, same: bool = False) -> Markup:
    """The result of a trial: the actions before and after, the moves between actions, and the changed decisions.

    Args:
        tried: the result.
        same: whether the tried policy is the present one.
    """
    if not tried.decided and not tried.left:
        return empty_state("Nothing to decide again", _left_out(tried) or "This policy has not decided anything yet.")
    changed = f"{tried.different:,} of {tried.decided:,} decisions would change"
    return group(
        tag("p", tag("strong", "As it is: move a threshold" if same else changed), class_="verdict"),
        _remaining(tried),
        _actions_table(tried),
        tag("p", _left_out(tried), class_="soft") if _left_out(tried) else None,
        _moves(tried),
        _changed(tried),
    )


def _remaining(tried: TrialResult) -> Markup | None:
    if not tried.left:
        return None
    # Without a script the reader reloads the page, which continues the trial.
    return tag(
        "p",
        f"The latest decisions so far; {tried.left:,} more to come. ",
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


def _actions_table(tried: TrialResult) -> Markup:
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
