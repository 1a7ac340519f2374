"""What a prompt shows of a piece of evidence."""

from typing import Any

from assay.schema import Evidence


def evidence_record(alias: str, evidence: Evidence, text: str) -> dict[str, Any]:
    """A piece of evidence as a record for a prompt, under an alias, since ids of evidence are foreign text.

    Args:
        alias: the id that the model sees.
        evidence: its title, version and dates are shown where it has them.
        text: the part of its text that is shown.
    """
    known = {
        "title": evidence.title,
        "version": evidence.version,
        "effective": evidence.effective_date and evidence.effective_date.isoformat(),
        "expires": evidence.expiry_date and evidence.expiry_date.isoformat(),
    }
    return {"id": alias, **{name: value for name, value in known.items() if value}, "text": text}
