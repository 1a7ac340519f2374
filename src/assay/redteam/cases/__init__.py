"""Cases and suites: the form of an attack, and reading, linting and deduplicating suites of them."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.redteam.cases.duplicates import near_duplicates as near_duplicates
    from assay.redteam.cases.duplicates import without_duplicates as without_duplicates
    from assay.redteam.cases.linter import LEAST_PLAUSIBLE as LEAST_PLAUSIBLE
    from assay.redteam.cases.linter import Problem as Problem
    from assay.redteam.cases.linter import lint as lint
    from assay.redteam.cases.suites import digest_of_ids as digest_of_ids
    from assay.redteam.cases.suites import first_fault as first_fault
    from assay.redteam.cases.suites import parse_case as parse_case
    from assay.redteam.cases.suites import read_suite as read_suite
    from assay.redteam.cases.suites import suite_digest as suite_digest
    from assay.redteam.cases.suites import suite_text as suite_text
    from assay.redteam.cases.values import ANSWERABLE as ANSWERABLE
    from assay.redteam.cases.values import Behavior as Behavior
    from assay.redteam.cases.values import Case as Case
    from assay.redteam.cases.values import Category as Category
    from assay.redteam.cases.values import Lineage as Lineage
    from assay.redteam.cases.values import Passage as Passage
    from assay.redteam.cases.values import Turn as Turn
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".duplicates": ("near_duplicates", "without_duplicates"),
            ".linter": ("LEAST_PLAUSIBLE", "Problem", "lint"),
            ".suites": ("digest_of_ids", "first_fault", "parse_case", "read_suite", "suite_digest", "suite_text"),
            ".values": ("ANSWERABLE", "Behavior", "Case", "Category", "Lineage", "Passage", "Turn"),
        },
    )
