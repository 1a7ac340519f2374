"""`assay check --receipt FILE`: the answer that is emitted gets its receipt, signed by the process that checked it."""

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


class Reported(Protocol):
    """Something with a report."""

    @property
    def report(self) -> "HallucinationReport":
        """The report."""


Item = TypeVar("Item", bound=Reported)


def with_receipt(checked: Iterator[Item], file: Path, keys: Path | None) -> Iterator[Item]:
    """The same items; before each that is emitted is passed on, its receipt is written.

    The key is read and the place made ready at once, so that nothing is checked in vain. A receipt that is there
    from an earlier run is removed: a receipt in that file is always one of this run.

    Raises:
        InputError: no keys are named, or something other than a receipt is in the file.
        ReceiptError: there is no key to sign with.
    """
    signer = open_store(keys).signer()
    _clear(file)
    return _passed_on(checked, file, signer)


def _passed_on(checked: Iterator[Item], file: Path, signer: "SigningKey") -> Iterator[Item]:
    from assay.receipt import new_receipt_id, refusal, sign

    for item in checked:
        why = refusal(item.report)
        if why is None:
            receipt = sign(item.report, signer, issued_at=datetime.now(UTC), receipt_id=new_receipt_id())
            write_file(file, f"{receipt.to_text()}\n")
        else:
            write_text(f"assay: no receipt: {clean(why)}\n", sys.stderr)
        yield item


def _clear(file: Path) -> None:
    from assay.receipt import LONGEST_RECEIPT, Receipt

    try:
        with file.open("rb") as stream:
            found = stream.read(LONGEST_RECEIPT + 2)
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(f"{file}: cannot be written: {error.strerror or error}") from error
    try:
        Receipt.from_text(found)
    except ReceiptError as error:
        raise InputError(f"{file}: exists and is no receipt; name another file") from error
    try:
        file.unlink()
    except OSError as error:
        raise InputError(f"{file}: cannot be replaced: {error.strerror or error}") from error
