"""Building blocks of reports for people: an HTML writer that escapes everything, marked claims, charts, glossary."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.reporting.claim_marks import Piece as Piece
    from assay.reporting.claim_marks import pieces as pieces
    from assay.reporting.curves import curve as curve
    from assay.reporting.curves import rates_by_threshold as rates_by_threshold
    from assay.reporting.curves import reliability as reliability
    from assay.reporting.glossary import Explanation as Explanation
    from assay.reporting.glossary import ReportWord as ReportWord
    from assay.reporting.glossary import explanation_of as explanation_of
    from assay.reporting.glossary import explanations as explanations
    from assay.reporting.glossary import report_words as report_words
    from assay.reporting.html_writer import Child as Child
    from assay.reporting.html_writer import Markup as Markup
    from assay.reporting.html_writer import direction as direction
    from assay.reporting.html_writer import foreign as foreign
    from assay.reporting.html_writer import group as group
    from assay.reporting.html_writer import page as page
    from assay.reporting.html_writer import scrolled as scrolled
    from assay.reporting.html_writer import tag as tag
    from assay.reporting.page_style import BASE as BASE
    from assay.schema.views import GRAVITY as GRAVITY
    from assay.schema.views import SIGNS as SIGNS
    from assay.schema.views import WORDS as WORDS
    from assay.schema.views import deciding_spans as deciding_spans
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".claim_marks": ("Piece", "pieces"),
            ".curves": ("curve", "rates_by_threshold", "reliability"),
            ".glossary": ("Explanation", "ReportWord", "explanation_of", "explanations", "report_words"),
            ".html_writer": ("Child", "Markup", "direction", "foreign", "group", "page", "scrolled", "tag"),
            ".page_style": ("BASE",),
            "assay.schema.views": ("GRAVITY", "SIGNS", "WORDS", "deciding_spans"),
        },
    )
