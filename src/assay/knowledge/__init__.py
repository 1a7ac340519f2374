"""Who else knows: sources of knowledge by authority, asked about claims that the given evidence does not settle.

A file for each kind behind one Protocol: `files`, `sql`, `http`, `sparql`, `search`, `mcp`. See docs/knowledge.md.
"""

from assay.knowledge.asking import Knowledge, KnowledgeBase, Recorded, Session
from assay.knowledge.formulating import formulate
from assay.knowledge.interface import Inquiry, Passage, Profile, Source
from assay.knowledge.outcome import Outcome

__all__ = [
    "Inquiry", "Knowledge", "KnowledgeBase", "Outcome", "Passage", "Profile", "Recorded", "Session", "Source",
    "formulate",
]  # fmt: skip
