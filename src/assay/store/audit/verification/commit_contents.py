"""Holding commits against each other: the log tells of each receipt once that it was used."""

from collections.abc import Mapping
from typing import Any

from assay.store.audit.entries import COMMIT
from assay.store.audit.verification.log import FindingCode, Findings


class CommitCheck:
    """Compares the entries of commits as they are read."""

    def __init__(self, findings: Findings) -> None:
        """Before the first entry."""
        self._findings = findings
        self._seen: dict[tuple[str, str], int] = {}

    def add(self, index: int, data: Mapping[str, Any]) -> None:
        """The next entry of the log."""
        if data["kind"] != COMMIT:
            return
        name = str(data.get("key")), str(data.get("receipt"))
        first = self._seen.setdefault(name, index)
        if first != index:
            self._findings.add(
                FindingCode.USED_TWICE,
                f"entry {index}: the receipt {name[1]} was committed, and it had been already by entry {first}",
            )
