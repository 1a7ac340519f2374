"""Receipts: signed statements that a particular output passed a policy, and the keys that sign them.

keys = KeyStore("keys")                 # made with `assay receipt create-key --keys keys`
receipt = sign(report, keys.signer(), issued_at=now, receipt_id=new_receipt_id())
verify(output, receipt, keys.ring()).valid
"""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.receipt.canonical_json import canonical as canonical
    from assay.receipt.canonical_json import read_json as read_json
    from assay.receipt.ed25519 import SigningKey as SigningKey
    from assay.receipt.ed25519 import fits as fits
    from assay.receipt.instants import instant as instant
    from assay.receipt.instants import moment_of as moment_of
    from assay.receipt.interface import Claim as Claim
    from assay.receipt.interface import FixedKeys as FixedKeys
    from assay.receipt.interface import Keys as Keys
    from assay.receipt.interface import Outcome as Outcome
    from assay.receipt.interface import Use as Use
    from assay.receipt.interface import Uses as Uses
    from assay.receipt.issue import disclosed as disclosed
    from assay.receipt.issue import refusal as refusal
    from assay.receipt.issue import sign as sign
    from assay.receipt.model import LONGEST_RECEIPT as LONGEST_RECEIPT
    from assay.receipt.model import Receipt as Receipt
    from assay.receipt.model import Statement as Statement
    from assay.receipt.model import faults as faults
    from assay.receipt.model import output_digest as output_digest
    from assay.receipt.model import report_digest as report_digest
    from assay.receipt.ring import KeyRing as KeyRing
    from assay.receipt.ring import KeyState as KeyState
    from assay.receipt.ring import PublicKey as PublicKey
    from assay.receipt.ring import Revocation as Revocation
    from assay.receipt.store import KeyStore as KeyStore
    from assay.receipt.store import RingFile as RingFile
    from assay.receipt.store import new_receipt_id as new_receipt_id
    from assay.receipt.store import open_keys as open_keys
    from assay.receipt.store import read_ring as read_ring
    from assay.receipt.uses import FORGOTTEN_AFTER as FORGOTTEN_AFTER
    from assay.receipt.uses import UsesInMemory as UsesInMemory
    from assay.receipt.verification import Problem as Problem
    from assay.receipt.verification import ProblemCode as ProblemCode
    from assay.receipt.verification import ReceiptLike as ReceiptLike
    from assay.receipt.verification import Verification as Verification
    from assay.receipt.verification import verify as verify
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".canonical_json": ("canonical", "read_json"),
            ".ed25519": ("SigningKey", "fits"),
            ".instants": ("instant", "moment_of"),
            ".interface": ("Claim", "FixedKeys", "Keys", "Outcome", "Use", "Uses"),
            ".issue": ("disclosed", "refusal", "sign"),
            ".model": ("LONGEST_RECEIPT", "Receipt", "Statement", "faults", "output_digest", "report_digest"),
            ".ring": ("KeyRing", "KeyState", "PublicKey", "Revocation"),
            ".store": ("KeyStore", "RingFile", "new_receipt_id", "open_keys", "read_ring"),
            ".uses": ("FORGOTTEN_AFTER", "UsesInMemory"),
            ".verification": ("Problem", "ProblemCode", "ReceiptLike", "Verification", "verify"),
        },
    )
