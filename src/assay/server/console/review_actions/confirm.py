"""The second step of a decision: what is going to happen, the claims and evidence behind it, and the reason for it."""

from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from assay.reporting import Child, Markup, foreign, group, tag
from assay.rewrite.revise import changes_between
from assay.schema import Action, HallucinationReport, Verdict
from assay.schema.escalation import EscalationPackage, ReviewItem
from assay.server.console.layout import form, hidden_input, render
from assay.server.console.parts import (
    action_badge,
    button,
    details,
    field,
    link_button,
    note,
    panel,
    select,
    text_area,
)
from assay.server.console.views.report import answer_view
from assay.server.console.views.report_sections import evidence_view
from assay.server.console.views.revisions import diff

PATH: Final = "/console/review"
MOST_LABELS: Final = 30
"""The most claims that a reviewer can label with a decision."""
ACTS: Final = {
    "approve": ("a", "Approve", "The output is released as it is."),
    "edit": ("e", "Edit", "Your text is checked again and released instead."),
    "reject": ("r", "Reject", "The output stays withheld. A fallback response is returned instead."),
    "ask": ("q", "Ask for evidence", "The caller is asked for evidence. The output waits, and its deadline stays."),
}
"""The acts by name: the key on the keyboard, the label of the button, and what the act does."""


def confirm_page(
    request: Request,
    item: ReviewItem,
    package: EscalationPackage | None,
    act: str,
    checked: HallucinationReport | None = None,
) -> Response:
    """The page of the second step: what is going to happen, the field for the reason, and the claims and evidence.

    Args:
        request: the request that the page answers.
        item: the item.
        package: its content; `None` if it was erased.
        act: a key of `ACTS`.
        checked: for an edit, the report on the edited text.
    """
    _, label, meaning = ACTS[act]
    hidden_fields: list[Child] = [
        hidden_input("act", act),
        hidden_input("version", item.version),
    ]
    body: list[Child] = [tag("p", meaning, class_="meaning")]
    inputs: list[Child] = [
        field("Why", text_area("reason", rows=4, required=True, maxlength=10_000, autofocus=True), _REASON_HINTS[act])
    ]
    may_submit = True
    if checked is not None and package is not None:
        may_submit = checked.action is not Action.BLOCK
        body += _edited(package, checked)
        hidden_fields.append(hidden_input("output", checked.output))
        if may_submit and checked.action is not Action.EMIT:
            inputs.append(_ACCEPT)
    if act == "reject" and package is not None:
        refusal = next((one.text for one in package.alternatives if one.kind == "refusal"), "")
        inputs.append(field("What is said in its place", text_area("response", refusal, rows=3, maxlength=20_000)))
    if act != "ask" and package is not None and package.flagged_claims:
        inputs.append(_label_fields(package))
    if may_submit:
        buttons = group(
            button(label, "danger" if act == "reject" else "primary", data_confirm=True),
            link_button("Back", f"{PATH}/{item.id}"),
            tag("small", tag("kbd", "Ctrl"), " ", tag("kbd", "Enter")),
        )
        body.append(
            form(
                request,
                f"{PATH}/{item.id}/decide",
                hidden_fields,
                inputs,
                tag("div", buttons, class_="actions"),
                class_="stack confirm",
            )
        )
    else:
        body.append(tag("p", link_button("Back", f"{PATH}/{item.id}"), class_="actions"))
    if package is not None:
        body += _grounds(package, checked)
    return render(
        request,
        f"{label}?",
        *body,
        current="review",
        parent=("The item", f"{PATH}/{item.id}"),
        scripts=("run.js", "review.js"),
        about="A decision is final, and an entry of the audit log." if act != "ask" else None,
    )


def _grounds(package: EscalationPackage, checked: HallucinationReport | None) -> list[Child]:
    """The claims of the edited text, or of the withheld output, and the evidence."""
    report = package.verification_report if checked is None else checked
    texts = {one.id: one for one in package.evidence_used}
    return [
        answer_view(report, texts, {}),
        evidence_view([(one.id, "", one) for one in package.evidence_used]),
    ]


def _edited(package: EscalationPackage, checked: HallucinationReport) -> list[Child]:
    """The changes that an edit makes, and the gate's decision on the edited text."""
    parts: list[Child] = []
    if checked.output == package.output:
        parts.append(note("doubt", "Nothing is changed: this would be the same as to approve it."))
    else:
        parts.append(panel("What you change", diff(package.output, changes_between(package.output, checked.output))))
    reasons = tag("ul", (tag("li", foreign(one)) for one in checked.decision.reasons[:8]), class_="reasons")
    tone = {Action.EMIT: "good", Action.BLOCK: "bad"}.get(checked.action, "doubt")
    parts.append(
        panel(
            "Your text was checked", note(tone, action_badge(checked.action), " ", _GATE_SAYS[checked.action]), reasons
        )
    )
    return parts


_GATE_SAYS: Final = {
    Action.EMIT: "The gate lets it out.",
    Action.REVISE: "The gate would send it back. You may accept the findings and let it out.",
    Action.ESCALATE: "The gate would ask a person, which is you. You may accept the findings and let it out.",
    Action.BLOCK: "The gate blocks it: nobody can let it out. Go back and change it, or reject the output.",
}
_ACCEPT: Final = tag(
    "label",
    tag("input", type_="checkbox", name_="accept", required=True),
    tag("span", "I accept these findings, and let my text out all the same."),
    class_="accept",
)


_REASON_HINTS: Final = {
    "approve": "It goes into the record: what you looked at, and why it may go out.",
    "edit": "It goes into the record: what was wrong, and where the right words are from.",
    "reject": "It goes into the record: what is wrong with it.",
    "ask": "The caller reads it: which evidence do you need?",
}


def _label_fields(package: EscalationPackage) -> Markup:
    options = (
        ("", "no label"),
        (Verdict.SUPPORTED.value, "is right"),
        (Verdict.UNSUPPORTED.value, "has no support"),
        (Verdict.CONTRADICTED.value, "is wrong"),
    )
    rows = (
        tag(
            "div",
            foreign(one.text[:400], "p"),
            field(f"Claim {one.claim + 1}", select(f"claim.{one.claim}", options)),
            class_="labelled",
        )
        for one in package.flagged_claims[:MOST_LABELS]
    )
    return details("Say what is true of each claim (it teaches the verifier)", rows)
