"""External sources of knowledge, ranked by authority, for claims that the given evidence does not settle.

Each kind is a module behind one Protocol: `kinds.files`, `kinds.sql`, `kinds.http`, `kinds.sparql`, `kinds.search`,
`kinds.mcp`. See docs/knowledge.md.
"""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.knowledge.inquiries import formulate as formulate
    from assay.knowledge.interface import Inquiry as Inquiry
    from assay.knowledge.interface import Passage as Passage
    from assay.knowledge.interface import Profile as Profile
    from assay.knowledge.interface import Source as Source
    from assay.knowledge.outcome import Outcome as Outcome
    from assay.knowledge.sessions import Knowledge as Knowledge
    from assay.knowledge.sessions import KnowledgeBase as KnowledgeBase
    from assay.knowledge.sessions import RecordedKnowledge as RecordedKnowledge
    from assay.knowledge.sessions import Session as Session
    from assay.knowledge.settings import parse_knowledge as parse_knowledge
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".sessions": ("Knowledge", "KnowledgeBase", "RecordedKnowledge", "Session"),
            ".inquiries": ("formulate",),
            ".interface": ("Inquiry", "Passage", "Profile", "Source"),
            ".outcome": ("Outcome",),
            ".settings": ("parse_knowledge",),
        },
        renamed={"Recorded": "RecordedKnowledge"},
    )
