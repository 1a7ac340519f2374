"""The errors that assay raises on purpose.

    AssayError
    ├── InputError        what was given to be checked cannot be read as what it should be
    ├── PolicyError       a policy or a setting contradicts itself or names what does not exist
    ├── VerifierError     a verifier could not be loaded or could not answer
    │   └── ModelError    a model file is broken, altered, or of a shape that cannot judge claims
    ├── ReceiptError      a receipt or a key cannot be made, read or used
    │   └── CommitError   an output may not be committed, and was not
    └── RefusedError      the gate let something not pass
        ├── WithheldError      an answer was withheld
        └── CallRejectedError  a tool call was not executed

Each message says what was expected, what came and what to do.
"""

from collections.abc import Iterable


class AssayError(Exception):
    """The root of every error that assay raises on purpose."""


class InputError(AssayError, ValueError):
    """What was given to be checked cannot be read as what it should be."""


class PolicyError(AssayError, ValueError):
    """A policy or a setting contradicts itself or names what does not exist."""


class VerifierError(AssayError, RuntimeError):
    """A verifier could not be loaded or could not answer."""


class ModelError(VerifierError):
    """A model file is broken, altered, or of a shape that cannot judge claims."""


class ReceiptError(AssayError, ValueError):
    """A receipt or a key cannot be made, read or used."""


class CommitError(ReceiptError):
    """An output may not be committed, and was not: no sink was called."""

    def __init__(self, message: str, codes: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.codes = frozenset(codes)
        """What does not match, by the codes of `assay.receipt.ProblemCode` and `assay.guard.receipts`."""


class RefusedError(AssayError):
    """The gate let something not pass."""


class WithheldError(RefusedError):
    """An answer was withheld; the message is what may be shown in its place."""

    def __init__(self, message: str, report: object) -> None:
        super().__init__(message)
        self.report = report
        """The `HallucinationReport` that says why."""


class CallRejectedError(RefusedError):
    """A tool call was not executed; the message is for the model."""

    def __init__(self, message: str, decision: object) -> None:
        super().__init__(message)
        self.decision = decision
        """The `assay.guard.running.CallDecision` that says why."""
