"""The texts of messages. They name a review or an alert and its state, and never contain the checked texts."""

import hashlib
import hmac
import json
from email.message import EmailMessage
from typing import Any, Final

from assay.server.notify.settings import Target
from assay.store.reviews import Message

SIGNATURE: Final = "x-assay-signature"
"""The header of the signature: `t=SECONDS,v1=HEX`, an HMAC-SHA256 over the seconds, a full stop and the body."""

_SENTENCES: Final = {
    "review.opened": "An output waits for review",
    "review.escalated": "A review was not done in time and went up a tier",
    "review.overdue": "A review was not done in time and still waits",
    "review.evidence": "A reviewer asks for evidence",
    "review.supplied": "The evidence that was asked for is there",
    "review.decided": "A review is done",
}


def payload(message: Message, console: str = "") -> dict[str, Any]:
    """The body for programs, as a JSON value.

    Args:
        message: the message.
        console: the address of the console, for a link; empty for none.
    """
    content = {"id": message.key, "event": message.event, "tenant": message.tenant, **message.body}
    return {**content, "url": link(message, console)} if console else content


def link(message: Message, console: str) -> str:
    """The page of the review or the alert in the console."""
    if is_alert(message):
        return f"{console.rstrip('/')}/console/monitor/alerts/{message.run}"
    return f"{console.rstrip('/')}/console/review/{message.run}"


def is_alert(message: Message) -> bool:
    """Whether the message is about an alert rather than a review."""
    return message.event.startswith("alert.")


def sentence(message: Message) -> str:
    """The message in one line."""
    body = message.body
    if is_alert(message):
        text = " ".join(str(body.get("summary", "")).split())
        return f"Over: {text}" if message.event == "alert.closed" else f"{str(body.get('urgency', '')).upper()}: {text}"
    text = f"{_SENTENCES.get(message.event, message.event)}: {body.get('tier', '')} tier"
    if message.event == "review.decided":
        return f"{text}, {body.get('state', '')}."
    deadline = body.get("deadline")
    return f"{text}, to be decided by {deadline}." if deadline else f"{text}."


def slack_body(message: Message, console: str = "") -> bytes:
    """The body for Slack and services that accept the same (Mattermost, Rocket.Chat, Discord behind `/slack`)."""
    lines = [f"*{_plain(sentence(message))}*"]
    risk = message.body.get("risk")
    kind = "alert" if is_alert(message) else "review"
    facts = [f"{kind} `{_plain(message.run)}`", f"tenant {_plain(message.tenant)}"]
    facts += [f"runbook {_plain(str(message.body['runbook']))}"] if "runbook" in message.body else []
    facts += [] if not isinstance(risk, int) else [f"risk {risk / 1_000_000:.2f}"]
    lines.append(", ".join(facts))
    lines += [f"<{link(message, console)}|Open the {kind}>"] if console else []
    text = "\n".join(lines)
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": text}}]
    return json.dumps({"text": _plain(sentence(message)), "blocks": blocks}, ensure_ascii=False).encode()


def _plain(text: str) -> str:
    """A text with the characters escaped that Slack reads as markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def signed(body: bytes, secret: str, seconds: int) -> str:
    """The signature of a body, as the value of its header.

    To verify it, a recipient takes the seconds from the header, refuses signatures that are too old, and computes the
    same HMAC over `SECONDS.BODY` with the secret.

    >>> signed(b"{}", "0123456789abcdef", 1_767_225_600)[:26]
    't=1767225600,v1=99902517b3'
    """
    mac = hmac.digest(secret.encode(), f"{seconds}.".encode() + body, hashlib.sha256).hex()
    return f"t={seconds},v1={mac}"


def verified(body: bytes, secret: str, header: str, now: int, tolerance_s: int = 300) -> bool:
    """Whether a signature is valid: what a recipient checks, for tests and for recipients in Python."""
    parts = dict(part.split("=", 1) for part in header.split(",") if "=" in part)
    seconds = parts.get("t", "")
    if not seconds.isdigit() or len(seconds) > 12 or abs(now - int(seconds)) > tolerance_s:
        return False
    return hmac.compare_digest(signed(body, secret, int(seconds)), header)


def mail(message: Message, target: Target, console: str = "") -> EmailMessage:
    """The message as an e-mail. Its Message-ID is the same at every attempt, so that mail programs show it once."""
    email = EmailMessage()
    email["Subject"] = f"[assay] {sentence(message)}"
    email["From"] = target.sender
    email["To"] = ", ".join(target.to)
    email["Date"] = message.created.strftime("%a, %d %b %Y %H:%M:%S +0000")
    email["Message-ID"] = f"<{message.key}@{target.sender.rsplit('@', 1)[-1].strip('<> ')}>"
    email["Auto-Submitted"] = "auto-generated"
    kind = "Alert" if is_alert(message) else "Review"
    lines = [sentence(message), "", f"{kind}: {message.run}", f"Tenant: {message.tenant}"]
    lines += [f"{name.capitalize()}: {_one_line(value)}" for name, value in message.body.items() if name in _MAILED]
    lines += [f"{name}: {_one_line(value)}" for name, value in (message.body.get("facts") or {}).items()]
    lines += ["", link(message, console)] if console else []
    email.set_content("\n".join(lines) + "\n")
    return email


def _one_line(value: object) -> str:
    return " ".join(str(value).split())


_MAILED: Final = (
    "kind",
    "urgency",
    "key",
    "opened",
    "runbook",
    "state",
    "tier",
    "level",
    "deadline",
    "policy",
    "stakes",
)
