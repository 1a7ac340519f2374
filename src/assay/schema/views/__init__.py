"""A report for people: in a few lines, in a notebook, as a table, and what is wrong with it one thing at a time."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.schema.views.lines import report_lines as report_lines
    from assay.schema.views.lines import report_reasons as report_reasons
    from assay.schema.views.lines import report_sentence as report_sentence
    from assay.schema.views.marks import GRAVITY as GRAVITY
    from assay.schema.views.marks import SIGNS as SIGNS
    from assay.schema.views.marks import WORDS as WORDS
    from assay.schema.views.marks import deciding_spans as deciding_spans
    from assay.schema.views.notebook import notebook_html as notebook_html
    from assay.schema.views.problems import Problem as Problem
    from assay.schema.views.problems import problems_of as problems_of
    from assay.schema.views.tables import claim_frame as claim_frame
    from assay.schema.views.tables import claim_rows as claim_rows
    from assay.schema.views.tables import frame_of as frame_of
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".lines": ("report_lines", "report_reasons", "report_sentence"),
            ".marks": ("GRAVITY", "SIGNS", "WORDS", "deciding_spans"),
            ".notebook": ("notebook_html",),
            ".problems": ("Problem", "problems_of"),
            ".tables": ("claim_frame", "claim_rows", "frame_of"),
        },
    )
