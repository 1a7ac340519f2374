"""The months by their names."""

from typing import Final

from assay.text.lexicon.lexemes import word_list

MONTH_NAMES: Final = tuple(
    word_list("january february march april may june july august september october november december")
)
"""The months in order, in lower case."""
MONTHS: Final = {form: n for n, name in enumerate(MONTH_NAMES, start=1) for form in (name, name[:3])} | {"sept": 9}
"""The number of each month by its name and its abbreviations."""
DAYS_IN_MONTH: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
"""The most days of each month, January first."""
