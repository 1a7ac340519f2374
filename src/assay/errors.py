"""The errors that assay raises on purpose.

    AssayError
    ├── InputError        what was given to be checked cannot be read as what it should be
    ├── MissingPackageError  an adapter needs a package that is not installed; also an ImportError
    ├── PolicyError       a policy or a setting contradicts itself or names what does not exist
    ├── VerifierError     a verifier could not be loaded or could not answer
    │   └── ModelError    a model file is broken, altered, or of a shape that cannot judge claims
    ├── ChatError         a chat model could not be asked, or what it said cannot be used
    │   ├── AnswerError   it answered, and not with what was asked for
    │   └── BudgetError   asking it would go beyond what may be spent
    ├── SourceError       a source of knowledge could not be asked, or what it said cannot be used
    ├── ReceiptError      a receipt or a key cannot be made, read or used
    │   └── CommitError   an output may not be committed, and was not
    ├── StoreError        something cannot be stored, found or read
    │   ├── BusyError       more waits to be stored than may wait; try again
    │   ├── ReviewError     an item of the review queue is not there, is somebody else's, or was changed or decided
    │   ├── AlertError      an alert is not there, is over, or has changed since it was seen
    │   ├── DatasetError    a change of a dataset, an experiment or a saved view was refused
    │   └── AuditError      an audit log, a checkpoint or a proof is malformed or does not hold
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


class MissingPackageError(AssayError, ImportError):
    """An adapter needs a package that is not installed."""


class PolicyError(AssayError, ValueError):
    """A policy or a setting contradicts itself or names what does not exist."""


class VerifierError(AssayError, RuntimeError):
    """A verifier could not be loaded or could not answer."""


class ModelError(VerifierError):
    """A model file is broken, altered, or of a shape that cannot judge claims."""


class ChatError(AssayError, RuntimeError):
    """A chat model could not be asked, or what it said cannot be used."""

    def __init__(self, message: str, *, retryable: bool = False, wait: float | None = None, calls: int = 0) -> None:
        super().__init__(message)
        self.retryable = retryable
        """Whether asking once more may help: a limit of rate, an overloaded or an unreachable endpoint."""
        self.wait = wait
        """Seconds that the endpoint asks to wait before that."""
        self.calls = calls
        """Requests over the network that were spent on it."""


class AnswerError(ChatError):
    """A chat model answered, and not with what was asked for: declined, cut off, or of another form."""


class BudgetError(ChatError):
    """Asking a chat model would go beyond what may be spent."""


class SourceError(AssayError, RuntimeError):
    """A source of knowledge could not be asked, or what it said cannot be used; the message goes into reports."""


class ReceiptError(AssayError, ValueError):
    """A receipt or a key cannot be made, read or used."""


class CommitError(ReceiptError):
    """An output may not be committed, and was not: no sink was called."""

    def __init__(self, message: str, codes: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.codes = frozenset(codes)
        """What does not match, by the codes of `assay.receipt.ProblemCode` and `assay.guard.commit.receipts`."""


class StoreError(AssayError, RuntimeError):
    """Something cannot be stored, found or read."""


class BusyError(StoreError):
    """More waits to be stored than may wait; nothing of it was stored, and trying again may help."""


class ReviewError(StoreError):
    """An act on an item of the review queue was refused, and nothing was changed."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code
        """`missing`: the tenant has no such item. `stale`: somebody changed it since it was read. `held`: somebody else
        has it. `decided`: it was decided already. `refused`: this person may not, or not this way."""


class AlertError(StoreError):
    """An act on an alert was refused, and nothing was changed."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code
        """`missing`: the tenant has no such alert. `stale`: it has changed since it was read. `closed`: it is over.
        `refused`: not this way."""


class ProposalError(StoreError):
    """A decision on a proposal of the red team was refused, and nothing was changed."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code
        """`missing`: the tenant has no such proposal. `stale`: it has changed since it was read. `decided`: somebody
        has decided on it. `refused`: not this way."""


class DatasetError(StoreError):
    """A change of a dataset, an experiment or a saved view was refused, and nothing was changed."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code
        """`missing`: the tenant has none such. `taken`: the name is in use. `refused`: not this way."""


class AuditError(StoreError):
    """An audit log, a checkpoint or a proof is malformed or does not hold."""


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
        """The `assay.guard.runs.checking.CallDecision` that says why."""
