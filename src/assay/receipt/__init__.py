"""Receipts: signed statements that an exact output passed a policy, and the keys that sign them.

keys = KeyStore("keys")                 # made with `assay receipt create-key --keys keys`
receipt = sign(report, keys.signer(), issued_at=now, receipt_id=new_receipt_id())
verify(output, receipt, keys.ring()).valid
"""

from assay.receipt.ed25519 import SigningKey
from assay.receipt.interface import Claim, FixedKeys, Keys, Outcome, Use, Uses
from assay.receipt.issue import disclosed, refusal, sign
from assay.receipt.model import Receipt, Statement, output_digest, report_digest
from assay.receipt.ring import KeyRing, KeyState, PublicKey, Revocation
from assay.receipt.store import KeyStore, RingFile, new_receipt_id, open_keys, read_ring
from assay.receipt.uses import UsesInMemory
from assay.receipt.verification import Problem, ProblemCode, ReceiptLike, Verification, verify

__all__ = [
    "Claim", "FixedKeys", "KeyRing", "KeyState", "KeyStore", "Keys", "Outcome", "Problem", "ProblemCode", "PublicKey",
    "Receipt", "ReceiptLike", "Revocation", "RingFile", "SigningKey", "Statement", "Use", "Uses", "UsesInMemory",
    "Verification", "disclosed", "new_receipt_id", "open_keys", "output_digest", "read_ring", "refusal",
    "report_digest", "sign", "verify",
]  # fmt: skip
