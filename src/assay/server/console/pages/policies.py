"""`/console/policies`: the policies that made decisions, changes between versions, and trials of other thresholds."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from assay.policy import PRESETS
from assay.policy.calibration import standing_of
from assay.reporting import Markup, foreign, group, tag
from assay.schema import Permission
from assay.server.console.charts import split_bar, trade_off_curve
from assay.server.console.errors import page_router
from assay.server.console.layout import HEADERS, allowed, render
from assay.server.console.pages.policy_trials import decision_count, draw_trial, what_if_page
from assay.server.console.parts import (
    ACTION_ORDER,
    ACTION_TONES,
    Column,
    badge,
    button,
    details,
    digest,
    empty_state,
    field,
    joined,
    link_button,
    moment,
    panel,
    select,
    shorten,
    stat,
    stats,
    table,
)
from assay.server.services import Services
from assay.store.insights import (
    PolicyVersion,
    WhatIf,
    find_policy,
    latest_actions,
    policy_history,
    setting_changes,
)

LATEST: Final = 500
"""The latest decisions of each policy whose actions the list counts."""
_MOST_CHANGES: Final = 3
"""Changed settings that a row of the list names."""
_WITHOUT_EFFECT: Final = ("name", "description")
"""Settings that do not influence decisions."""
_PARENT: Final = ("Policies", "/console/policies")


def make_policy_pages(services: Services) -> APIRouter:
    """The pages of policies."""
    router = page_router()
    trials = WhatIf(services.store)

    @router.get("/console/policies")
    def policies(request: Request) -> Response:
        caller = allowed(request, Permission.READ)
        return _list(request, policy_history(services.store, caller.tenant), services, caller.tenant)

    @router.get("/console/policies/{name}")
    def policy(request: Request, name: str) -> Response:
        caller = allowed(request, Permission.READ)
        version = _policy_or_404(services, caller.tenant, name)
        others = [one for one in policy_history(services.store, caller.tenant, most=0) if one.digest != version.digest]
        return _version(request, version, others, services)

    @router.get("/console/policies/{name}/what-if")
    def what_if(request: Request, name: str) -> Response:
        caller = allowed(request, Permission.READ)
        version = _policy_or_404(services, caller.tenant, name)
        if not request.query_params:
            # The page itself is quick: decisions are read only when its script, or its form without one, asks for them.
            return what_if_page(request, version, tag("p", "Move a threshold, then try it.", data_ask=True))
        result = draw_trial(request, trials, caller.tenant, version)
        if request.query_params.get("part") == "result":
            return HTMLResponse(result.html, headers=HEADERS)
        return what_if_page(request, version, result)

    return router


def _policy_or_404(services: Services, tenant: str, name: str) -> PolicyVersion:
    version = find_policy(services.store, tenant, name[:64])
    if version is None:
        raise HTTPException(404, "no policy with this digest has decided anything here")
    return version


# The list


def _list(request: Request, versions: list[PolicyVersion], services: Services, tenant: str) -> Response:
    columns = (
        Column("Policy"),
        Column("What changed", "main"),
        Column("First decided", "less"),
        Column("Last decided", "less"),
        Column("Decisions", "num"),
        Column(f"Its latest {LATEST}", "shares"),
        Column("Other thresholds", hidden=True),
    )
    now = services.store.now()
    with services.store.reading(tenant) as connection:
        latest = {one.digest: latest_actions(connection, tenant, one.digest, LATEST) for one in versions}
    rows = [
        (
            tag(
                "div",
                tag("a", foreign(one.name[:80]), href=f"/console/policies/{one.digest}"),
                tag("small", digest(one.digest), class_="below"),
                class_="named",
            ),
            _changed_settings(one, versions),
            moment(one.created, now),
            moment(one.last, now) if one.last else "–",
            decision_count(one.decisions),
            _action_bar(latest[one.digest]),
            tag("a", "What if…", href=f"/console/policies/{one.digest}/what-if"),
        )
        for one in versions
    ]
    empty = ("No policy yet", "A policy is listed here once it has decided on an output.")
    swatches = ((tag("span", class_=f"swatch {ACTION_TONES[one]}", aria_hidden="true"), one) for one in ACTION_ORDER)
    legend_ = tag("ul", (tag("li", swatch, one.value) for swatch, one in swatches), class_="legend")
    return render(
        request,
        "Policies",
        table("Policies that decided", columns, rows, empty=empty, style="policies"),
        legend_ if rows else None,
        current="policies",
        about="Every policy that decided, the one that decided last first. A changed setting is another version.",
    )


def _before(version: PolicyVersion, versions: Sequence[PolicyVersion]) -> PolicyVersion | None:
    """The latest earlier version of the same policy whose settings are known."""
    earlier = [
        one
        for one in versions
        if one.name == version.name and one.created < version.created and one.settings is not None
    ]
    return max(earlier, key=lambda one: one.created, default=None)


def _changed_settings(version: PolicyVersion, versions: Sequence[PolicyVersion]) -> Markup:
    """The settings that differ from the version before it, on one line."""
    earlier = _before(version, versions)
    if earlier is None or version.settings is None:
        return tag("span", "first version" if version.settings is not None else "settings not kept", class_="soft")
    changes = [
        one for one in setting_changes(earlier.settings or {}, version.settings) if one.name not in _WITHOUT_EFFECT
    ]
    shown = (
        tag(
            "span",
            tag("code", one.name),
            " ",
            foreign(_value(one.before)),
            " → ",
            foreign(_value(one.after)),
            class_="change",
        )
        for one in changes[:_MOST_CHANGES]
    )
    rest = len(changes) - _MOST_CHANGES
    return group(joined(shown, ", "), tag("span", f" and {rest} more", class_="soft") if rest > 0 else None)


def _action_bar(actions: Mapping[str, int]) -> Markup:
    """The actions of the latest decisions as one bar."""
    parts = [(one.value, float(actions.get(one.value, 0)), ACTION_TONES[one]) for one in ACTION_ORDER]
    counted = ", ".join(f"{name} {n:g}" for name, n, _ in parts if n)
    return split_bar(parts, counted or "no decisions")


# One policy


def _version(request: Request, version: PolicyVersion, others: list[PolicyVersion], services: Services) -> Response:
    now = services.store.now()
    body = group(
        stats(
            stat("First decided", moment(version.created, now)),
            stat("Last decided", moment(version.last, now) if version.last else "–"),
            stat("Decisions kept", decision_count(version.decisions)),
        ),
        tag("p", "Digest: ", tag("code", version.digest), class_="soft under"),
    )
    if version.settings is None:
        nothing = empty_state("Only its digest was kept", "The settings of this policy were not recorded.")
        return render(
            request,
            version.name[:80],
            body,
            nothing,
            current="policies",
            parent=_PARENT,
            heading=foreign(version.name[:80]),
        )
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
    """Both rates of a preset on labelled answers, and their trade-off at other thresholds; `None` if unknown."""
    standing = standing_of(version.digest)
    if standing is None:
        return None
    points = [(honest, wrong) for _, honest, wrong in standing.curve]
    own = (standing.emitted / standing.honest, standing.stopped / standing.wrong)
    names = ("honest answers emitted", "wrong ones stopped")
    return panel(
        "Where it stands",
        tag(
            "p",
            f"This preset {standing.words}: answers that people labelled and that nothing was fitted on, judged by "
            f"{standing.verifier}. The curve is what other values of emit_threshold would do; on your own answers "
            "assay eval tells it.",
        ),
        trade_off_curve(
            points, own, names, f"{own[0]:.0%} of honest answers emitted, {own[1]:.0%} of wrong ones stopped"
        ),
    )


def _difference(request: Request, version: PolicyVersion, others: list[PolicyVersion]) -> Markup | None:
    """The settings that differ from another policy: the one in the query, or the one before it by default."""
    comparable = {one.digest: (one.name, one.settings) for one in others if one.settings is not None}
    comparable |= {
        f"preset:{name}": (f"preset {name}", preset.model_dump(mode="json")) for name, preset in PRESETS.items()
    }
    against = request.query_params.get("against", "")
    earlier = sorted(
        (one for one in others if one.settings is not None and one.created <= version.created),
        key=lambda one: (one.name == version.name, one.created),
    )
    chosen = against if against in comparable else earlier[-1].digest if earlier else next(iter(comparable), "")
    if not chosen or version.settings is None:
        return None
    changes = [
        one for one in setting_changes(comparable[chosen][1] or {}, version.settings) if one.name not in _WITHOUT_EFFECT
    ]
    columns = (Column("Setting"), Column(shorten(comparable[chosen][0], 40)), Column("This version"))
    rows = (
        (
            tag("code", one.name),
            tag("del", tag("code", foreign(_value(one.before)))),
            tag("ins", tag("code", foreign(_value(one.after)))),
        )
        for one in changes
    )
    options = [
        (key, f"{name[:60]} {key[:8] if ':' not in key else ''}".strip()) for key, (name, _) in comparable.items()
    ]
    choose = tag(
        "form",
        field("Compare with", select("against", options, chosen)),
        button("Compare"),
        class_="inline",
        data_auto=True,
        method="get",
    )
    empty = ("No difference", "The two decide alike.")
    shown = table("Settings that differ", columns, rows, empty=empty, style="settings")
    return panel("What differs", shown, actions=choose)


def _versions(version: PolicyVersion, others: Sequence[PolicyVersion], now: datetime) -> Markup | None:
    """The versions of a policy, the latest first, and what each changed; `None` if there is only one."""
    versions = sorted((one for one in (version, *others) if one.name == version.name), key=lambda one: one.created)
    if len(versions) < 2:
        return None
    columns = (Column("Version", "named"), Column("What changed", "main"), Column("First decided", "num less"))
    rows = (
        (
            group(
                tag("a", digest(one.digest), href=f"/console/policies/{one.digest}"),
                " ",
                badge("this", "accent") if one.digest == version.digest else None,
            ),
            _changed_settings(one, versions),
            moment(one.created, now),
        )
        for one in reversed(versions[-_MOST_VERSIONS:])
    )
    return panel("History", table("Versions of this policy, the latest first", columns, rows, style="policies"))


_MOST_VERSIONS: Final = 50
"""The most versions that a history lists."""


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
