"""Numbers written in digits, with the group and decimal separators of many locales."""

import re
from collections.abc import Sequence
from decimal import Decimal

from assay.text.lexicon.lexemes import word_set

_COMMA_DECIMAL = word_set("""de fr es it pt nl ru pl cs sk da nb no fi sv tr el ro hu bg uk hr sl sr id vi""")
FRACTIONS = {
    "½": Decimal("0.5"),
    "⅓": Decimal(1) / 3,
    "⅔": Decimal(2) / 3,
    "¼": Decimal("0.25"),
    "¾": Decimal("0.75"),
    "⅕": Decimal("0.2"),
    "⅖": Decimal("0.4"),
    "⅗": Decimal("0.6"),
    "⅘": Decimal("0.8"),
    "⅙": Decimal(1) / 6,
    "⅚": Decimal(5) / 6,
    "⅛": Decimal("0.125"),
    "⅜": Decimal("0.375"),
    "⅝": Decimal("0.625"),
    "⅞": Decimal("0.875"),
}
"""Characters that are fractions."""

_LONGEST_NUMBER = 40
"""Characters; anything longer is an identifier, not a number."""


def decode_number(raw: str, locale: str = "en") -> tuple[Decimal, int] | None:
    """The value of digits with separators, and its number of decimals; none where it is not a number, such as 4.2.1.

    A form with two kinds of separators, or with one kind repeated in groups of three, is unambiguous; one separator
    before three digits is grouping or decimal as the locale says.

    >>> decode_number("1,200.00") == decode_number("1.200,00") == (Decimal("1200.00"), 2)
    True
    >>> decode_number("1.200", "de")[0], decode_number("1.200", "en")[0]
    (Decimal('1200'), Decimal('1.200'))
    """
    if raw in FRACTIONS:
        return FRACTIONS[raw], 2
    separators = [c for c in raw if not c.isdigit()]
    if len(raw) > _LONGEST_NUMBER:
        return None
    if not separators:
        return Decimal(raw), 0
    parts = re.split(r"[^\d]", raw)
    last = separators[-1]
    uniform = len(set(separators)) == 1
    decimal_mark = "," if locale[:2].lower() in _COMMA_DECIMAL else "."
    if len(separators) == 1:
        grouping = last != decimal_mark and len(parts[1]) == 3 and len(parts[0]) <= 3 and parts[0] != "0"
        is_decimal = last in ".," and not grouping
        if is_decimal and last != decimal_mark and parts[0] != "0" and len(parts[1]) > 3:
            return None
    else:
        is_decimal = not uniform and last in ".,"
    grouped, decimals = (parts[:-1], parts[-1]) if is_decimal else (parts, "")
    if not is_decimal and not uniform:
        return None
    if is_decimal and len(set(separators[:-1])) > 1:
        return None
    if len(grouped) > 1 and not _well_grouped(grouped):
        return None
    whole = "".join(grouped)
    return Decimal(f"{whole}.{decimals}" if decimals else whole), len(decimals)


def _well_grouped(parts: Sequence[str]) -> bool:
    if not 1 <= len(parts[0]) <= 3 or len(parts[-1]) != 3:
        return False
    middle = {len(part) for part in parts[1:-1]}
    return middle <= {3} or (middle <= {2} and len(parts[0]) <= 2)
