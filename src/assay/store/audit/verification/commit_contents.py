"""Comparing commits with each other: the log has at most one commit for each receipt."""

from collections.abc import Mapping
from typing import Any

from assay.store.audit.entries import COMMIT
from assay.store.audit.verification.log import FindingCode, Findings


class CommitCheck:
    """Finds receipts that were committed twice, as the entries are read."""

    def __init__(self, findings: Findings) -> None:
        """Create the check, before the first entry is read."""
        self._findings = findings
        self._first_uses: dict[tuple[str, str], int] = {}

    def add(self, index: int, data: Mapping[str, Any]) -> None:
        """Process the next entry of the log."""
        if data["kind"] != COMMIT:
            return
        receipt = str(data.get("key")), str(data.get("receipt"))
        first = self._first_uses.setdefault(receipt, index)
        if first != index:
            self._findings.add(
                FindingCode.USED_TWICE,
                f"entry {index}: the receipt {receipt[1]} was committed, and it had been already by entry {first}",
            )
