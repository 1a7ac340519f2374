"""A quantity as a value, and how a claim's quantity relates to one of the evidence."""

from dataclasses import dataclass, replace
from decimal import Context, Decimal
from enum import Enum
from typing import Literal

from assay.text.quantities.units import UNIT_WORDS, Unit

Bound = Literal["exact", "about", "more", "at_least", "less", "at_most", "range"]


@dataclass(frozen=True, slots=True)
class Quantity:
    """One quantity with its place in the text."""

    start: int
    """First character of the whole expression, bound and currency sign included."""
    end: int
    """Index after its last character, unit included."""
    number_start: int
    number_end: int
    """The number alone, as written."""
    value: Decimal
    """The number with its scale, in the unit as written; the lower end of a range."""
    low: Decimal | None
    """Lower end in the base unit; none if unbounded."""
    high: Decimal | None
    step: Decimal
    """Half a unit of the last written place, in the base unit: what rounding may have hidden."""
    dimension: str
    """`count`, `ordinal`, `share`, `points`, `factor`, `money:EUR`, `length`, `time`, `length/time`, ..."""
    unit: str
    nouns: tuple[str, ...]
    """Stems of the words right after it: what it counts."""
    bound: Bound
    rounded: bool
    """Whether its form allows rounding: decimals, a scale word, or a percentage."""
    weak: bool
    """A small number word that is often no count at all, such as "one"."""
    quiet: bool = False
    """A number in words of a language other than English. The evidence may state it in a form that is not read here, so
    it is compared with what is read but never reported as missing."""
    per: Unit | None = None
    """What an amount of money with its sign in front is for, as in "$29/mo"; the other fields are the amount's."""

    @property
    def exact(self) -> bool:
        """Whether it names one value."""
        return self.low is not None and (self.low is self.high or self.low == self.high)


def as_sterling(pounds: Quantity) -> Quantity:
    """A number of pounds read as money and not as a mass."""
    size = UNIT_WORDS["pounds"].size

    def amount(value: Decimal | None) -> Decimal | None:
        return None if value is None else value / size

    return replace(
        pounds,
        low=amount(pounds.low),
        high=amount(pounds.high),
        step=pounds.step / size,
        dimension="money:GBP",
        unit="GBP",
    )


class Relation(Enum):
    """How a claim's quantity relates to one of the evidence."""

    SAME = "same"
    """Equal in value, or the claim's bound follows from the evidence."""
    COMPATIBLE = "compatible"
    """Both may be true, but the evidence does not state the claim's."""
    DIFFERENT = "different"
    """They cannot both be the value of one thing."""
    INCOMPARABLE = "incomparable"
    """Different dimensions."""


_TOLERANCES = {"time": Decimal("0.012"), "data": Decimal("0.08"), "temperature": Decimal("0.002")}
_LOWEST, _HIGHEST = Decimal("-Infinity"), Decimal("Infinity")
_UNIT_TOLERANCE = Decimal("0.005")
_MAX_ROUNDING_SHARE = Decimal("0.2")
"""The share by which "about" a rounded number may differ from the exact value."""

_ABOUT_TOLERANCE = Decimal("0.05")
_PERIOD_TOLERANCE = Decimal("0.1")
"""By how much a number of periods may differ from a longer one: four weeks are a month."""

_MAX_PRICE_RATIO = 5
"""How many times as large as a price for something an amount may be that is taken for the same price."""

_SIZES = {(unit.dimension, unit.name): unit.size for unit in UNIT_WORDS.values()}
_UNDIVIDED = Context(prec=20)
"""Takes back the rounding of a division by the size of a unit."""

_COMPARED = Context(prec=24)
"""Leaves out the digits in which rates differ, and keeps more than `_UNDIVIDED` rounds to."""

_LIMITS = frozenset({"at_least", "at_most"})
"""Bounds that state a rule rather than an estimate: two rules with different limits are different rules."""

_MONTH_UNITS = frozenset({"mo", "yr", "quarter", "decade", "century"})


def relate(claim: Quantity, evidence: Quantity) -> Relation:
    """How a claim's quantity relates to one of the evidence, both read in the same way.

    A claim that rounds the evidence ("3.5 million" of 3,512,000) is the same, within a tolerance where units were
    converted; a claim that is more precise than the evidence is merely compatible.

    >>> from assay.text.quantities.detection import find_quantities
    >>> relate(*(find_quantities(t)[0] for t in ("50 languages", "over 100 languages")))
    <Relation.DIFFERENT: 'different'>
    """
    if claim.per is not None or evidence.per is not None:
        return _relate_prices(claim, evidence)
    if claim.dimension != evidence.dimension:
        return _relate_dimensions(claim, evidence)
    if claim.exact and evidence.exact:
        return _relate_values(claim, evidence)
    return _relate_intervals(claim, evidence)


def _relate_dimensions(claim: Quantity, evidence: Quantity) -> Relation:
    """Relates money to a bare number that is large enough to be an amount, and an amount to the same one per time."""
    for one, other in ((claim, evidence), (evidence, claim)):
        if one.dimension == "count" and other.dimension.startswith("money:") and "/" not in other.dimension:
            if one.nouns or one.weak or not (_is_large(one) or one.value != one.value.to_integral_value()):
                return Relation.INCOMPARABLE
            relation = _relate_values(claim, evidence) if claim.exact and evidence.exact else Relation.COMPATIBLE
            return Relation.COMPATIBLE if relation is Relation.SAME else relation
        if other.dimension.startswith(one.dimension + "/"):
            if one.dimension.startswith("money:"):
                return _relate_to_rate(one, other, claim is other)
            same = one.value == other.value and other.unit.split("/")[0] == one.unit
            return Relation.COMPATIBLE if same else Relation.INCOMPARABLE
    return Relation.INCOMPARABLE


def _relate_prices(claim: Quantity, evidence: Quantity) -> Relation:
    """Relates two amounts of money of which one has its sign in front and is for something: "$29/mo"."""
    if claim.per == evidence.per:
        return relate(replace(claim, per=None), replace(evidence, per=None))
    if claim.per is None and claim.dimension == evidence.dimension and evidence.per is not None:
        relation = relate(claim, replace(evidence, per=None))
        lasting = evidence.per.dimension == "time" and relation is Relation.DIFFERENT
        return Relation.INCOMPARABLE if lasting and _is_for_longer(claim, evidence, evidence.per.size) else relation
    return relate(_undivided(_as_rate(claim)), _undivided(_as_rate(evidence)))


def _as_rate(price: Quantity) -> Quantity:
    """An amount of money with what it is for as a part of its unit, as "29 dollars per month" is read."""
    below = price.per
    if below is None:
        return price
    return replace(
        price,
        low=None if price.low is None else price.low / below.size,
        high=None if price.high is None else price.high / below.size,
        step=price.step / below.size,
        dimension=f"{price.dimension}/{below.dimension}",
        unit=f"{price.unit}/{below.name}",
        per=None,
    )


def _undivided(rate: Quantity) -> Quantity:
    """A rate without the last digits, in which "$35 an hour" and "35 dollars per hour" differ as they are divided."""
    return replace(
        rate,
        low=None if rate.low is None else _COMPARED.plus(rate.low),
        high=None if rate.high is None else _COMPARED.plus(rate.high),
        step=_COMPARED.plus(rate.step),
    )


def _relate_to_rate(amount: Quantity, rate: Quantity, rate_is_claim: bool) -> Relation:
    """Relates an amount of money to one per something: "50 euros" and "50 euros per month" may be the same price.

    An amount for as many periods as make a longer one may be the price for that one, so it is not another price. Nor is
    one of another size.
    """
    measure = rate.dimension.removeprefix(f"{amount.dimension}/")
    size = _SIZES.get((measure, rate.unit.rpartition("/")[2]))
    if size is None:
        return Relation.INCOMPARABLE

    def once(value: Decimal | None) -> Decimal | None:
        return None if value is None else _UNDIVIDED.plus(value * size)

    price = replace(
        rate,
        low=once(rate.low),
        high=once(rate.high),
        step=rate.step * size,
        dimension=amount.dimension,
        unit=amount.unit,
    )
    relation = relate(price, amount) if rate_is_claim else relate(amount, price)
    if relation is Relation.SAME:
        return Relation.COMPATIBLE
    if amount.low is None or price.low is None:
        return Relation.INCOMPARABLE
    near = abs(price.low) <= _MAX_PRICE_RATIO * abs(amount.low) and abs(amount.low) <= _MAX_PRICE_RATIO * abs(price.low)
    return (
        relation if near and not (measure == "time" and _is_for_longer(amount, price, size)) else Relation.INCOMPARABLE
    )


def _is_for_longer(amount: Quantity, price: Quantity, size: Decimal) -> bool:
    """Whether an amount is the price for a period of a size, for as many of them as another period has."""
    if not amount.low or not price.low:
        return False
    ratio = amount.low / price.low
    times = max(abs(amount.low), abs(price.low)) / min(abs(amount.low), abs(price.low))
    return times == times.to_integral_value() and any(
        measure == "time" and other != size and abs(size * ratio - other) <= other * _PERIOD_TOLERANCE
        for (measure, _), other in _SIZES.items()
    )


def _is_large(quantity: Quantity) -> bool:
    """Whether a number is so large that it is likely to be an amount of money."""
    return abs(quantity.value) >= 1000


def _relate_values(claim: Quantity, evidence: Quantity) -> Relation:
    ours, theirs = claim.low, evidence.low
    assert ours is not None  # noqa: S101 an exact quantity has both ends
    assert theirs is not None  # noqa: S101
    unrounded = not (claim.rounded or evidence.rounded) and "about" not in (claim.bound, evidence.bound)
    if unrounded and claim.unit == evidence.unit:
        return Relation.SAME if ours == theirs else Relation.DIFFERENT
    difference = abs(ours - theirs)
    if difference == 0:
        return Relation.SAME
    size = max(abs(ours), abs(theirs))
    if claim.unit != evidence.unit and difference <= size * _conversion_tolerance(claim, evidence):
        return Relation.SAME
    if (claim.rounded or claim.unit != evidence.unit) and claim.step >= evidence.step and difference <= claim.step:
        return Relation.SAME
    if (evidence.rounded or claim.unit != evidence.unit) and evidence.step > claim.step and difference <= evidence.step:
        return Relation.COMPATIBLE
    if "about" in {claim.bound, evidence.bound}:
        rounding = max(q.step * roundness(_in_last_place_units(q)) for q in (claim, evidence) if q.bound == "about")
        rounded = difference <= rounding and difference <= size * _MAX_ROUNDING_SHARE
        if rounded or (difference <= size * _ABOUT_TOLERANCE and difference <= rounding * 10):
            return Relation.SAME if claim.bound == "about" else Relation.COMPATIBLE
    mixed = (claim.unit in _MONTH_UNITS) != (evidence.unit in _MONTH_UNITS)
    if claim.dimension == "time" and mixed and difference <= size * Decimal("0.1"):
        return Relation.COMPATIBLE
    return Relation.DIFFERENT


def _conversion_tolerance(claim: Quantity, evidence: Quantity) -> Decimal:
    if claim.dimension == "time" and not {claim.unit, evidence.unit} & _MONTH_UNITS:
        return Decimal(0)
    if claim.dimension == "time" and {claim.unit, evidence.unit} <= _MONTH_UNITS:
        return Decimal(0)
    return _TOLERANCES.get(claim.dimension, _UNIT_TOLERANCE)


def _in_last_place_units(quantity: Quantity) -> Decimal:
    """The value in units of its last written place: 21 for 2.1 million."""
    if quantity.low is None or not quantity.step:
        return quantity.value
    return quantity.low / (2 * quantity.step)


def roundness(value: Decimal) -> int:
    """How round a whole number is: ten to the power of its trailing zeros, at most a million; 1 for a fraction."""
    if value == 0 or value != value.to_integral_value():
        return 1
    power = 1
    whole = int(value) if abs(value) < Decimal(10) ** 28 else 1
    while whole % 10 == 0 and power < 10**6:
        whole //= 10
        power *= 10
    return power


def _relate_intervals(claim: Quantity, evidence: Quantity) -> Relation:
    c_low = claim.low if claim.low is not None else _LOWEST
    c_high = claim.high if claim.high is not None else _HIGHEST
    e_low = evidence.low if evidence.low is not None else _LOWEST
    e_high = evidence.high if evidence.high is not None else _HIGHEST
    slack = Decimal(0)
    if claim.unit != evidence.unit:
        finite = [abs(v) for v in (c_low, c_high, e_low, e_high) if v.is_finite()]
        slack = max(finite) * _conversion_tolerance(claim, evidence)
    if claim.bound == evidence.bound and claim.bound in _LIMITS:
        ours, theirs = (c_high, e_high) if claim.bound == "at_most" else (c_low, e_low)
        return Relation.SAME if abs(ours - theirs) <= slack + claim.step * claim.rounded else Relation.DIFFERENT
    if c_low - slack <= e_low and e_high <= c_high + slack:
        strict = (claim.bound == "more" and evidence.exact and e_low == c_low) or (
            claim.bound == "less" and evidence.exact and e_high == c_high
        )
        return Relation.COMPATIBLE if strict else Relation.SAME
    if c_low > e_high + slack or e_low > c_high + slack:
        return Relation.DIFFERENT
    if "range" in {claim.bound, evidence.bound} and claim.bound == evidence.bound:
        return Relation.DIFFERENT
    touching = c_low == e_high or e_low == c_high
    if touching and not claim.exact and not evidence.exact:
        return Relation.DIFFERENT
    return Relation.COMPATIBLE
