"""Controlled edits: from real evidence, claims that are true of it or wrong in one recorded place.

`make_rows` makes training rows, `planted` pairs for evaluation. Each edit is a pure function of the claim, its
document, a bank of phrases of other documents and a random generator.
"""

from train.edits.generate import EDITABLE, EDITS, Made, generate, make_rows, planted
from train.edits.kinds import Edit, is_single

__all__ = ["EDITABLE", "EDITS", "Edit", "Made", "generate", "is_single", "make_rows", "planted"]
