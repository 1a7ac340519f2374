"""`/console/policies`: the policies that decided, what changed between them, and what others would have decided."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from fastapi import APIRouter
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from assay.policy import PRESETS, Policy
from assay.policy.calibration import standing_of
from assay.reporting import Child, Markup, foreign, group, tag
from assay.schema import Action, Permission
from assay.server.console.charts import split_bar, trade
from assay.server.console.errors import page_router
from assay.server.console.layout import HEADERS, allowed, render
from assay.server.console.parts import (
    ACTION_TONES,
    Column,
    action_badge,
    badge,
    button,
    details,
    digest,
    empty_state,
    field,
    joined,
    link_button,
    moment,
    note,
    number,
    panel,
    select,
    share,
    shorten,
    stat,
    stats,
    table,
)
from assay.server.services import Services
from assay.store.insights import (
    MOST_DECISIONS,
    PolicyVersion,
    Tried,
    WhatIf,
    find_policy,
    latest_actions,
    policy_history,
    setting_changes,
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
LATEST: Final = 500
"""Decisions of each policy whose actions the list shows."""
_MOST_CHANGES: Final = 3
_NAMES: Final = ("name", "description")
"""Settings that decide nothing."""
_PARENT: Final = ("Policies", "/console/policies")
_ORDER: Final = (Action.EMIT, Action.REVISE, Action.ESCALATE, Action.BLOCK)


def make_policy_pages(services: Services) -> APIRouter:
    """The pages of policies."""
    router = page_router()
    trying = WhatIf(services.store)

    @router.get("/console/policies")
    def policies(request: Request) -> Response:
        caller = allowed(request, Permission.READ)
        return _list(request, policy_history(services.store, caller.tenant), services, caller.tenant)

    @router.get("/console/policies/{name}")
    def policy(request: Request, name: str) -> Response:
        caller = allowed(request, Permission.READ)
        version = _found(services, caller.tenant, name)
        others = [one for one in policy_history(services.store, caller.tenant, most=0) if one.digest != version.digest]
        return _version(request, version, others, services)

    @router.get("/console/policies/{name}/what-if")
    def what_if(request: Request, name: str) -> Response:
        caller = allowed(request, Permission.READ)
        version = _found(services, caller.tenant, name)
        if not request.query_params:
            # The decisions are read when a script, or a person without one, asks for them: the page itself is quick.
            return _what_if_page(request, version, tag("p", "Move a threshold, then try it.", data_ask=True))
        drawn = _tried(request, trying, caller.tenant, version)
        if request.query_params.get("part") == "result":
            return HTMLResponse(drawn.html, headers=HEADERS)
        return _what_if_page(request, version, drawn)

    return router


def _found(services: Services, tenant: str, name: str) -> PolicyVersion:
    version = find_policy(services.store, tenant, name[:64])
    if version is None:
        raise HTTPException(404, "no policy with this digest has decided anything here")
    return version


# The list


def _list(request: Request, versions: list[PolicyVersion], services: Services, tenant: str) -> Response:
    columns = (
        Column("Policy"), Column("What changed", "main"), Column("First decided", "less"),
        Column("Last decided", "less"),
        Column("Decisions", "num"), Column(f"Its latest {LATEST}", "less"), Column("Other thresholds", hidden=True),
    )  # fmt: skip
    now = services.store.now()
    with services.store.reading(tenant) as connection:
        mixes = {one.digest: latest_actions(connection, tenant, one.digest, LATEST) for one in versions}
    rows = [
        (
            tag(
                "div", tag("a", foreign(one.name[:80]), href=f"/console/policies/{one.digest}"),
                tag("small", digest(one.digest), class_="below"), class_="named",
            ),
            _changed_settings(one, versions),
            moment(one.created, now),
            moment(one.last, now) if one.last else "–",
            _count(one.decisions),
            _mix(mixes[one.digest]),
            tag("a", "What if…", href=f"/console/policies/{one.digest}/what-if"),
        )
        for one in versions
    ]  # fmt: skip
    empty = ("No policy yet", "A policy is listed here once it has decided on an output.")
    legend_ = tag("ul", (
        tag("li", tag("span", class_=f"swatch {ACTION_TONES[one]}", aria_hidden="true"), one.value) for one in _ORDER
    ), class_="legend")  # fmt: skip
    return render(
        request, "Policies", table("Policies that decided", columns, rows, empty=empty, style="policies"),
        legend_ if rows else None, current="policies",
        about="Every policy that decided, the one that decided last first. A changed setting is another version.",
    )  # fmt: skip


def _before(version: PolicyVersion, versions: Sequence[PolicyVersion]) -> PolicyVersion | None:
    """The version of the same name that came before."""
    earlier = [
        one for one in versions
        if one.name == version.name and one.created < version.created and one.settings is not None
    ]  # fmt: skip
    return max(earlier, key=lambda one: one.created, default=None)


def _changed_settings(version: PolicyVersion, versions: Sequence[PolicyVersion]) -> Markup:
    """What differs from the version before it, in a line."""
    earlier = _before(version, versions)
    if earlier is None or version.settings is None:
        return tag("span", "first version" if version.settings is not None else "settings not kept", class_="soft")
    changes = [one for one in setting_changes(earlier.settings or {}, version.settings) if one.name not in _NAMES]
    shown = (
        tag("span", tag("code", one.name), " ", foreign(_value(one.before)), " → ", foreign(_value(one.after)),
            class_="change")
        for one in changes[:_MOST_CHANGES]
    )  # fmt: skip
    rest = len(changes) - _MOST_CHANGES
    return group(joined(shown, ", "), tag("span", f" and {rest} more", class_="soft") if rest > 0 else None)


def _mix(actions: Mapping[str, int]) -> Markup:
    """What the latest decisions were, as one bar."""
    parts = [(one.value, float(actions.get(one.value, 0)), ACTION_TONES[one]) for one in _ORDER]
    told = ", ".join(f"{name} {n:g}" for name, n, _ in parts if n)
    return split_bar(parts, told or "no decisions")


def _count(number_: int) -> str:
    return f"{MOST_DECISIONS:,}+" if number_ > MOST_DECISIONS else f"{number_:,}"


# One policy


def _version(request: Request, version: PolicyVersion, others: list[PolicyVersion], services: Services) -> Response:
    now = services.store.now()
    body = group(
        stats(
            stat("First decided", moment(version.created, now)),
            stat("Last decided", moment(version.last, now) if version.last else "–"),
            stat("Decisions kept", _count(version.decisions)),
        ),
        tag("p", "Digest: ", tag("code", version.digest), class_="soft under"),
    )
    if version.settings is None:
        nothing = empty_state("Only its digest was kept", "The settings of this policy were not recorded.")
        return render(
            request, version.name[:80], body, nothing, current="policies", parent=_PARENT,
            heading=foreign(version.name[:80]),
        )  # fmt: skip
    description = str(version.settings.get("description", ""))
    return render(
        request,
        version.name[:80],
        body,
        _standing(version),
        _difference(request, version, others),
        _versions(version, others, now),
        _settings(version.settings),
        current="policies",
        parent=_PARENT,
        heading=foreign(version.name[:80]),
        about=foreign(description[:300]) if description else None,
        actions=link_button("What if…", f"/console/policies/{version.digest}/what-if", "primary"),
    )


def _standing(version: PolicyVersion) -> Markup | None:
    """The two rates of a preset on labelled answers, and the curve that it stands on."""
    found = standing_of(version.digest)
    if found is None:
        return None
    points = [(honest, wrong) for _, honest, wrong in found.curve]
    own = (found.emitted / found.honest, found.stopped / found.wrong)
    names = ("honest answers emitted", "wrong ones stopped")
    return panel(
        "Where it stands",
        tag("p", f"This preset {found.words}: answers that people labelled and that nothing was fitted on, judged by "
            f"{found.verifier}. The curve is what other values of emit_threshold would do; on your own answers "
            "assay eval tells it."),
        trade(points, own, names, f"{own[0]:.0%} of honest answers emitted, {own[1]:.0%} of wrong ones stopped"),
    )  # fmt: skip


def _difference(request: Request, version: PolicyVersion, others: list[PolicyVersion]) -> Markup | None:
    """What differs from the policy before it, or from the one that is asked for."""
    comparable = {one.digest: (one.name, one.settings) for one in others if one.settings is not None}
    comparable |= {
        f"preset:{name}": (f"preset {name}", preset.model_dump(mode="json")) for name, preset in PRESETS.items()
    }
    asked = request.query_params.get("against", "")
    earlier = sorted((one for one in others if one.settings is not None and one.created <= version.created),
                     key=lambda one: (one.name == version.name, one.created))  # fmt: skip
    chosen = asked if asked in comparable else earlier[-1].digest if earlier else next(iter(comparable), "")
    if not chosen or version.settings is None:
        return None
    changes = [
        one for one in setting_changes(comparable[chosen][1] or {}, version.settings)
        if one.name not in _NAMES
    ]  # fmt: skip
    columns = (Column("Setting"), Column(shorten(comparable[chosen][0], 40)), Column("This version"))
    rows = (
        (tag("code", one.name), tag("del", tag("code", foreign(_value(one.before)))),
         tag("ins", tag("code", foreign(_value(one.after)))))
        for one in changes
    )  # fmt: skip
    options = [
        (key, f"{name[:60]} {key[:8] if ':' not in key else ''}".strip()) for key, (name, _) in comparable.items()
    ]
    choose = tag(
        "form", field("Compare with", select("against", options, chosen)), button("Compare"), class_="inline",
        data_auto=True, method="get",
    )  # fmt: skip
    empty = ("No difference", "The two decide alike.")
    shown = table("Settings that differ", columns, rows, empty=empty, style="settings")
    return panel("What differs", shown, actions=choose)


def _versions(version: PolicyVersion, others: Sequence[PolicyVersion], now: datetime) -> Markup | None:
    """The history of a policy: its versions, the latest first, and what each changed."""
    known = sorted((one for one in (version, *others) if one.name == version.name), key=lambda one: one.created)
    if len(known) < 2:
        return None
    columns = (Column("Version", "named"), Column("What changed", "main"), Column("First decided", "num less"))
    rows = (
        (group(tag("a", digest(one.digest), href=f"/console/policies/{one.digest}"), " ",
               badge("this", "accent") if one.digest == version.digest else None),
         _changed_settings(one, known), moment(one.created, now))
        for one in reversed(known[-_MOST_VERSIONS:])
    )  # fmt: skip
    return panel("History", table("Versions of this policy, the latest first", columns, rows, style="policies"))


_MOST_VERSIONS: Final = 50


def _settings(settings: Mapping[str, Any]) -> Markup:
    everything = setting_changes({}, settings)
    columns = (Column("Setting"), Column("Value"))
    rows = ((tag("code", one.name), tag("code", foreign(_value(one.after)))) for one in everything)
    return panel(
        None, details(f"All {len(everything)} settings", table("All settings", columns, rows, style="settings"))
    )


def _value(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))[:200] or "none"
    return str(value)[:200] or "–"


# What if


def _what_if_page(request: Request, version: PolicyVersion, drawn: Markup) -> Response:
    policy = version.policy
    about = group("The latest ", _count(min(version.decisions, MOST_DECISIONS)), " decisions, made again by the gate "
                  "from what was found then. Nothing is stored and nothing is checked again.")  # fmt: skip
    if policy is None:
        nothing = empty_state("This policy cannot be tried", "Its settings were not kept, or are of another version.")
        return render(request, "What if", nothing, current="policies")
    controls = _controls(request, version, policy)
    result = tag("div", drawn, id="result", aria_live="polite", data_result=True)
    return render(
        request, "What if", tag("div", controls, result, class_="what-if"), current="policies", about=about,
        heading=group("What if ", foreign(version.name[:60]), " had other thresholds"), scripts=("whatif.js",),
        parent=(shorten(version.name, 40), f"/console/policies/{version.digest}"),
    )  # fmt: skip


def _controls(request: Request, version: PolicyVersion, policy: Policy) -> Markup:
    now = policy.model_dump(mode="json")
    sliders = {**SLIDERS, **(RATES if policy.aggregation == "unsupported_rate" else {})}
    ranges = (_slider(request, name, words, _of(now, name)) for name, words in sliders.items())
    switches = (
        field(words, select(_field(name), ((one, one.replace("_", " ")) for one in options),
                            request.query_params.get(_field(name), str(now[name]))))
        for name, (words, options) in SWITCHES.items()
    )  # fmt: skip
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
    told = tag("output", f"{value:.2f}", for_=_field(name), data_was=f"{now:.2f}")
    control = tag(
        "input", type_="range", id=_field(name), name_=_field(name), min=0, max=1, step=0.01, value=f"{value:.2f}",
        aria_describedby=f"{_field(name)}-was",
    )  # fmt: skip
    was = tag("small", f"now {now:.2f}", id=f"{_field(name)}-was")
    return tag("div", tag("label", words, for_=_field(name)), told, control, was,
               class_="slider changed" if abs(value - now) > _STEP / 2 else "slider")  # fmt: skip


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


def _tried(request: Request, trying: WhatIf, tenant: str, version: PolicyVersion) -> Markup:
    policy = version.policy
    if policy is None:
        return note("doubt", "This policy cannot be tried: its settings were not kept.")
    after = _asked_policy(request, policy)
    if isinstance(after, str):
        return note("doubt", "There can be no such policy: ", after)
    return draw_tried(trying.ask(tenant, version, policy, after, TRIED_S), same=after == policy)


def draw_tried(tried: Tried, *, same: bool = False) -> Markup:
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


def _to_come(tried: Tried) -> Markup | None:
    if not tried.left:
        return None
    # Without its script the page is asked for again, and goes on where it was.
    return tag(
        "p", f"The latest ones so far; {tried.left:,} more are to come. ", tag("a", "Go on", href=""), class_="soft",
        data_more=True,
    )  # fmt: skip


def _left_out(tried: Tried) -> str:
    parts = []
    if tried.recheck:
        parts.append(f"{tried.recheck:,} would have to be checked again")
    if tried.unknown:
        parts.append(f"{tried.unknown:,} are left out: erased, or decided on by more than the gate")
    return "; ".join(parts) + ("." if parts else "")


def _bars(tried: Tried) -> Markup:
    columns = (
        Column("When", hidden=True), *(Column(one.value, "num") for one in _ORDER),
        Column("Shares", "main", hidden=True),
    )  # fmt: skip
    rows: list[list[Child]] = []
    for name, counts in (
        ("Was", [tried.before(one) for one in _ORDER]), ("Would be", [tried.after(one) for one in _ORDER]),
    ):  # fmt: skip
        parts = [(one.value, float(n), ACTION_TONES[one]) for one, n in zip(_ORDER, counts, strict=True)]
        cells = (group(f"{n:,} ", tag("small", share(n, tried.decided))) for n in counts)
        rows.append([name, *cells, split_bar(parts, f"{name}: " + ", ".join(f"{n} {v:g}" for n, v, _ in parts))])
    return table("Decisions before and after", columns, rows, style="bars-table")


def _moves(tried: Tried) -> Markup | None:
    moved = sorted(((n, was, would) for (was, would), n in tried.moves.items() if was is not would), reverse=True)
    if not moved:
        return None
    items = (
        tag("li", tag("b", f"{n:,}"), action_badge(was), tag("span", "→", aria_label="become"), action_badge(would))
        for n, was, would in moved
    )  # fmt: skip
    return tag("ul", items, class_="plain moves")


def _changed(tried: Tried) -> Markup | None:
    if not tried.changed:
        return None
    columns = (Column("Run", "main"), Column("Score", "num"), Column("Was"), Column("Would be"))
    rows = (
        (tag("a", moment(one.created), href=f"/console/runs/{one.run}", class_="row"), number(one.score),
         action_badge(one.before), action_badge(one.after))
        for one in tried.changed
    )  # fmt: skip
    words = "The latest that would change" if tried.different > len(tried.changed) else "Those that would change"
    return panel(words, table(words, columns, rows, style="rows"))
