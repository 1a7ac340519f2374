"""Units of measurement: for each spelling its dimension, its size in the dimension's base unit and a canonical name.

Sizes are the exact definitions of the SI and of the international yard and pound agreement; US customary volumes are
the US ones. Calendar months and years have their mean Gregorian length, so comparing them with weeks needs tolerance.
"""

import re
from decimal import Decimal
from typing import Final, NamedTuple

from assay.text.lexicon.lexemes import word_set


class Unit(NamedTuple):
    """A unit: `base = size * value + offset`."""

    dimension: str
    """What it measures, such as `length`, `time` or `money:EUR`."""
    size: Decimal
    name: str
    offset: Decimal = Decimal(0)


_SPELLED = """
length m 1: metre metres meter meters
length cm 0.01: centimetre centimetres centimeter centimeters
length mm 0.001: millimetre millimetres millimeter millimeters
length µm 0.000001: micrometre micrometres micrometer micrometers micron microns
length nm 0.000000001: nanometre nanometres nanometer nanometers
length km 1000: kilometre kilometres kilometer kilometers kms
length mi 1609.344: mile miles
length yd 0.9144: yard yards yds
length ft 0.3048: foot feet
length in 0.0254: inch inches
length nmi 1852: nautical-mile nautical-miles
length ly 9460730472580800: light-year light-years lightyear lightyears
mass kg 1000: kilogram kilograms kilogramme kilogrammes kilo kilos kgs
mass g 1: gram grams gramme grammes
mass mg 0.001: milligram milligrams milligramme milligrammes
mass µg 0.000001: microgram micrograms mcg
mass t 1000000: tonne tonnes metric-ton metric-tons
mass ton 907184.74: ton tons
mass lb 453.59237: pound pounds lbs
mass oz 28.349523125: ounce ounces
mass st 6350.29318: stones
volume l 1: litre litres liter liters
volume ml 0.001: millilitre millilitres milliliter milliliters
volume cl 0.01: centilitre centilitres centiliter centiliters
volume gal 3.785411784: gallon gallons
volume qt 0.946352946: quart quarts
volume pt 0.473176473: pint pints
volume bbl 158.987294928: barrel barrels
volume m³ 1000: cubic-metre cubic-metres cubic-meter cubic-meters
volume ft³ 28.316846592: cubic-foot cubic-feet
area m² 1: square-metre square-metres square-meter square-meters sqm
area km² 1000000: square-kilometre square-kilometres square-kilometer square-kilometers
area mi² 2589988.110336: square-mile square-miles
area ft² 0.09290304: square-foot square-feet sqft
area ha 10000: hectare hectares
area ac 4046.8564224: acre acres
time s 1: second seconds sec secs
time ms 0.001: millisecond milliseconds msec
time µs 0.000001: microsecond microseconds
time ns 0.000000001: nanosecond nanoseconds
time min 60: minute minutes mins
time h 3600: hour hours hr hrs
time d 86400: day days
time wk 604800: week weeks wks
time fortnight 1209600: fortnight fortnights
time mo 2629746: month months mos
time quarter 7889238: quarters
time yr 31556952: year years yrs
time decade 315569520: decade decades
time century 3155695200: century centuries
data B 1: byte bytes
data bit 0.125: bit bits
data kB 1000: kilobyte kilobytes
data MB 1000000: megabyte megabytes
data GB 1000000000: gigabyte gigabytes
data TB 1000000000000: terabyte terabytes
data PB 1000000000000000: petabyte petabytes
energy J 1: joule joules
energy kJ 1000: kilojoule kilojoules
energy cal 4.184: calorie calories
energy kcal 4184: kilocalorie kilocalories
energy kWh 3600000: kilowatt-hour kilowatt-hours
energy MWh 3600000000: megawatt-hour megawatt-hours
energy GWh 3600000000000: gigawatt-hour gigawatt-hours
power W 1: watt watts
power kW 1000: kilowatt kilowatts
power MW 1000000: megawatt megawatts
power GW 1000000000: gigawatt gigawatts
power hp 745.69987158227022: horsepower
frequency Hz 1: hertz
frequency kHz 1000: kilohertz
frequency MHz 1000000: megahertz
frequency GHz 1000000000: gigahertz
pressure Pa 1: pascal pascals
pressure bar 100000: bars
voltage V 1: volt volts
current A 1: ampere amperes amp amps
angle deg 1: degree degrees
text token 1: token tokens
share % 0.01: percent percents per-cent pct
share ‰ 0.001: per-mille permille
points pp 1: percentage-point percentage-points percent-points
points bp 0.01: basis-point basis-points bps
factor x 1: times fold
"""

_SYMBOLS = """
length m 1: m
length cm 0.01: cm
length mm 0.001: mm
length µm 0.000001: µm μm um
length nm 0.000000001: nm
length km 1000: km
length mi 1609.344: mi
length yd 0.9144: yd
length ft 0.3048: ft
mass kg 1000: kg Kg KG
mass g 1: g
mass mg 0.001: mg
mass µg 0.000001: µg μg ug
mass lb 453.59237: lb
mass oz 28.349523125: oz
volume l 1: l L
volume ml 0.001: ml mL
volume cl 0.01: cl
volume m³ 1000: m³ m3
area m² 1: m² m2
area km² 1000000: km² km2
area ft² 0.09290304: ft² ft2
area ha 10000: ha
time s 1: s
time ms 0.001: ms
time µs 0.000001: µs μs us
time ns 0.000000001: ns
time min 60: min
time h 3600: h
time d 86400: d
time yr 31556952: yr
time wk 604800: wk
data B 1: B
data kB 1000: kB KB
data MB 1000000: MB
data GB 1000000000: GB
data TB 1000000000000: TB
data PB 1000000000000000: PB
data KiB 1024: KiB
data MiB 1048576: MiB
data GiB 1073741824: GiB
data TiB 1099511627776: TiB
data kbit 125: kbit
data Mbit 125000: Mbit
data Gbit 125000000: Gbit
data/time Mbps 125000: Mbps
data/time Gbps 125000000: Gbps
data/time kbps 125: kbps
energy J 1: J
energy kJ 1000: kJ
energy kcal 4184: kcal
energy kWh 3600000: kWh
energy MWh 3600000000: MWh
energy GWh 3600000000000: GWh
energy TWh 3600000000000000: TWh
power W 1: W
power kW 1000: kW
power MW 1000000: MW
power GW 1000000000: GW
power hp 745.69987158227022: hp
frequency Hz 1: Hz
frequency kHz 1000: kHz
frequency MHz 1000000: MHz
frequency GHz 1000000000: GHz
pressure Pa 1: Pa
pressure kPa 1000: kPa
pressure hPa 100: hPa
pressure bar 100000: bar
voltage V 1: V
voltage mV 0.001: mV
voltage kV 1000: kV
current A 1: A
current mA 0.001: mA
length/time mph 0.44704: mph
length/time km/h 0.277777777777777777777777778: kph kmh
angle deg 1: °
share % 0.01: % ％ ٪
share ‰ 0.001: ‰
points pp 1: pp
points bp 0.01: bp
factor x 1: x × X
"""

_OTHER_LANGUAGES = """
time s 1: sekunde sekunden seconde secondes segundo segundos secondo secondi
time min 60: minuten minuto minutos minuti
time h 3600: stunde stunden heure heures hora horas
time d 86400: tage tagen jour jours día días dias giorno giorni
time wk 604800: woche wochen semaine semaines semana semanas settimana settimane
time mo 2629746: monat monate monaten mois meses mês mese mesi
time yr 31556952: jahr jahre jahren année années año años anno anni ano anos
length m 1: mètre mètres metro metros metri
length km 1000: kilomètre kilomètres kilómetro kilómetros chilometro chilometri quilômetro quilômetros
area m² 1: quadratmeter mètre-carré mètres-carrés metro-cuadrado metros-cuadrados metro-quadrato metri-quadrati
area m² 1: metri-quadri metro-quadrado metros-quadrados
volume m³ 1000: kubikmeter mètre-cube mètres-cubes metro-cúbico metros-cúbicos metro-cubo metri-cubi
area km² 1000000: quadratkilometer kilomètres-carrés kilómetros-cuadrados chilometri-quadrati quilômetros-quadrados
mass kg 1000: kilogramm kilogrammes kilogramos chilogrammi quilogramas
share % 0.01: prozent pourcent por-ciento per-cento por-cento pour-cent
"""
"""German, French, Spanish, Italian and Portuguese names that are not English words ("ore" and "ans" are left out)."""


def _parse_units(table: str) -> dict[str, Unit]:
    units: dict[str, Unit] = {}
    for line in table.strip().splitlines():
        head, spellings = line.split(":", 1)
        dimension, name, size = head.split()
        unit = Unit(dimension, Decimal(size), name)
        for spelling in spellings.split():
            units[spelling.replace("-", " ")] = unit
    return units


_CELSIUS = Unit("temperature", Decimal(1), "°C", Decimal("273.15"))
_FAHRENHEIT = Unit("temperature", Decimal(5) / Decimal(9), "°F", Decimal("459.67") * Decimal(5) / Decimal(9))
_KELVIN = Unit("temperature", Decimal(1), "K")

OTHER_UNIT_WORDS: dict[str, Unit] = _parse_units(_OTHER_LANGUAGES)
"""Units by their names in other languages, in lower case."""

UNIT_WORDS: dict[str, Unit] = (_parse_units(_SPELLED) | OTHER_UNIT_WORDS) | {
    "degrees celsius": _CELSIUS,
    "degree celsius": _CELSIUS,
    "celsius": _CELSIUS,
    "degrees c": _CELSIUS,
    "degrees fahrenheit": _FAHRENHEIT,
    "degree fahrenheit": _FAHRENHEIT,
    "fahrenheit": _FAHRENHEIT,
    "degrees f": _FAHRENHEIT,
    "kelvin": _KELVIN,
    "kelvins": _KELVIN,
}
"""Units by spelled name, in lower case, of one or two words."""

UNIT_SYMBOLS: dict[str, Unit] = _parse_units(_SYMBOLS) | {
    "°C": _CELSIUS,
    "℃": _CELSIUS,
    "°F": _FAHRENHEIT,
    "℉": _FAHRENHEIT,
    "K": _KELVIN,
}
"""Units by symbol; case matters."""

ENGLISH_HOMOGRAPHS = frozenset({"metro", "metros", "hora", "anno", "ano", "mes", "dias", "minuto"})
"""Units of other languages that are also English words with another meaning ("3 metro lines")."""

OTHER_SCALES = {
    **dict.fromkeys(("millionen", "millón", "millones", "milione", "milioni", "milhão", "milhões"), Decimal(10) ** 6),
    **dict.fromkeys(("milliarde", "milliarden", "milliard", "milliards", "miliardo", "miliardi"), Decimal(10) ** 9),
}
"""Words of other languages that multiply the number before them; "Billion" and "bilhão" are ambiguous and left out."""

KEY_UNITS: dict[str, Unit] = {
    spelling: UNIT_SYMBOLS[symbol]
    for spelling, symbol in {
        "mb": "MB",
        "gb": "GB",
        "kb": "kB",
        "tb": "TB",
        "pct": "%",
        "percent": "%",
        "percentage": "%",
        "sec": "s",
        "secs": "s",
        "min": "min",
        "mins": "min",
        "hr": "h",
        "hrs": "h",
        "ml": "ml",
        "kwh": "kWh",
        "mbps": "Mbps",
    }.items()
}
"""Units by the abbreviation with which field names end, in lower case: `memory_mb`."""

TWO_WORD_HEADS = frozenset(spelling.split()[0] for spelling in UNIT_WORDS if " " in spelling)
"""The words that may begin a unit of two words."""

CURRENCY_SYMBOLS = {
    "$": "USD",
    "€": "EUR",
    "£": "GBP",
    "¥": "JPY",
    "₹": "INR",
    "₩": "KRW",
    "₽": "RUB",
    "₿": "BTC",
    "₺": "TRY",
    "₴": "UAH",
    "₪": "ILS",
    "฿": "THB",
    "₫": "VND",
    "₦": "NGN",
}
"""A bare dollar sign is read as US dollars and a bare yen sign as yen."""

CURRENCY_PREFIXES = {
    "US": "USD",
    "A": "AUD",
    "AU": "AUD",
    "C": "CAD",
    "CA": "CAD",
    "HK": "HKD",
    "NZ": "NZD",
    "S": "SGD",
    "R": "BRL",
    "MX": "MXN",
}
"""Prefixes of a dollar sign, with the currency that each makes of it."""

CURRENCY_CODES = word_set(
    """USD EUR GBP JPY CNY INR KRW RUB CHF CAD AUD NZD SEK NOK DKK PLN CZK HUF BRL MXN ZAR SGD HKD TRY ILS AED SAR
    THB IDR MYR PHP VND NGN KES EGP UAH RON BGN ISK CLP COP ARS PEN TWD BTC ETH RMB"""
)
"""ISO 4217 codes in common use, and three that are used like them."""

CURRENCY_WORDS = {
    "dollar": "USD",
    "dollars": "USD",
    "us dollars": "USD",
    "us dollar": "USD",
    "euro": "EUR",
    "euros": "EUR",
    "pounds sterling": "GBP",
    "yen": "JPY",
    "yuan": "CNY",
    "renminbi": "CNY",
    "rupee": "INR",
    "rupees": "INR",
    "won": "KRW",
    "rubles": "RUB",
    "roubles": "RUB",
    "swiss francs": "CHF",
    "francs": "CHF",
    "pesos": "MXN",
    "canadian dollars": "CAD",
    "australian dollars": "AUD",
}
"""Currencies by name; `pounds` alone is a mass."""

MINOR_CURRENCY_WORDS = {"cents": "USD", "cent": "USD", "pence": "GBP"}
"""Hundredths of a currency."""


def unit_stands_alone(text: str, end: int) -> bool:
    """Whether no capitalised word follows a one-letter unit, so that "5 m wide" is read and "5 A players" is not."""
    following = text[end : end + 2].strip()
    return not following or not following[0].isupper()


_TIME_HEADS = word_set(
    "timeout duration delay ttl interval wait elapsed time age uptime runtime lifetime latency backoff cooldown eta"
)
_VOLUME_HEADS = word_set("volume capacity")
_LETTER_HEADS: Final = {
    **dict.fromkeys("shd", _TIME_HEADS),
    **dict.fromkeys("lL", _VOLUME_HEADS),
    "m": word_set("length height width distance depth altitude elevation radius diameter size"),
    "g": word_set("weight mass"),
    "W": word_set("power wattage"),
    "V": word_set("voltage"),
    "K": word_set("temperature temp"),
    "J": word_set("energy"),
}
"""The words of a name that measure what a letter is a unit of."""
_NAME_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def is_unit_letter(letter: str, head: str, text: str = "") -> bool:
    """Whether a letter at the end of a name is a unit: after a word that measures it, and not one letter of several.

    Args:
        letter: the last part of the name.
        head: the rest of the name.
        text: the text with the name, in which "size_l" shows that the letter of "size_m" is a label.

    >>> is_unit_letter("m", "distance_to_lake"), is_unit_letter("m", "revenue"), is_unit_letter("m", "maxDepth")
    (True, False, True)
    >>> is_unit_letter("m", "size", '{"size_m": 4, "size_l": 5}')
    False
    """
    measured = _LETTER_HEADS.get(letter)
    if measured is None or measured.isdisjoint(part.lower() for part in _NAME_PART.findall(head)):
        return False
    return not re.search(rf"(?<![^\W_]){re.escape(head)}_(?!{letter})[A-Za-z](?![^\W_])", text)
