"""`assay check --receipt FILE`: an emitted answer gets a receipt, signed by the process that checked it."""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from assay.cli.receipts.receipt import open_store
from assay.cli.terminal import clean, write_text
from assay.errors import InputError, ReceiptError
from assay.evaluation.rows import write_file

if TYPE_CHECKING:
    from assay.receipt import SigningKey
    from assay.schema import HallucinationReport


class HasReport(Protocol):
    """Something with a report."""

    @property
    def report(self) -> "HallucinationReport":
        """The report."""


Item = TypeVar("Item", bound=HasReport)


def with_receipt(items: Iterator[Item], file: Path, keys: Path | None) -> Iterator[Item]:
    """Passes the items on; before an emitted one is passed on, its receipt is written.

    The key is read and the file is prepared first, so that nothing is checked in vain. The receipt of an earlier run is
    removed: a receipt in the file is always one of this run.

    Raises:
        InputError: no keys are named, or the file exists and is not a receipt.
        ReceiptError: there is no key to sign with.
    """
    signer = open_store(keys).signer()
    _remove_old_receipt(file)
    return _signing(items, file, signer)


def _signing(items: Iterator[Item], file: Path, signer: "SigningKey") -> Iterator[Item]:
    from assay.receipt import new_receipt_id, refusal, sign

    for item in items:
        refusal_reason = refusal(item.report)
        if refusal_reason is None:
            receipt = sign(item.report, signer, issued_at=datetime.now(UTC), receipt_id=new_receipt_id())
            write_file(file, f"{receipt.to_text()}\n")
        else:
            write_text(f"assay: no receipt: {clean(refusal_reason)}\n", sys.stderr)
        yield item


def _remove_old_receipt(file: Path) -> None:
    from assay.receipt import LONGEST_RECEIPT, Receipt

    try:
        with file.open("rb") as stream:
            data = stream.read(LONGEST_RECEIPT + 2)
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(f"{file}: cannot be written: {error.strerror or error}") from error
    try:
        Receipt.from_text(data)
    except ReceiptError as error:
        raise InputError(f"{file}: exists and is no receipt; name another file") from error
    try:
        file.unlink()
    except OSError as error:
        raise InputError(f"{file}: cannot be replaced: {error.strerror or error}") from error
