"""Reports of a run: text, Markdown, JUnit, and a page."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.redteam.reports.page import html_report as html_report
    from assay.redteam.reports.texts import junit as junit
    from assay.redteam.reports.texts import markdown as markdown
    from assay.redteam.reports.texts import text_report as text_report
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__, {".page": ("html_report",), ".texts": ("junit", "markdown", "text_report")}
    )
