"""Fifty JSON Schemas of everyday documents, written for this benchmark: every keyword that a mask can hold to."""

from typing import Any

Schema = dict[str, Any]


def record(properties: Schema, optional: tuple[str, ...] = (), **more: Any) -> Schema:
    """An object of which all fields but those named are required and no others allowed."""
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False, **more}


def listed(items: Schema, low: int = 0, high: int = 4) -> Schema:
    """A list with a smallest and a largest length."""
    return {"type": "array", "items": items, "minItems": low, "maxItems": high}


def text(high: int = 20, low: int = 0) -> Schema:
    """A text of limited length."""
    return {"type": "string", "minLength": low, "maxLength": high}


def coded(pattern: str) -> Schema:
    """A text of a pattern."""
    return {"type": "string", "pattern": pattern}


def formed(name: str) -> Schema:
    """A text of a format."""
    return {"type": "string", "format": name}


def whole(low: int, high: int) -> Schema:
    """A whole number within bounds."""
    return {"type": "integer", "minimum": low, "maximum": high}


def real(low: float, high: float) -> Schema:
    """A number within bounds."""
    return {"type": "number", "minimum": low, "maximum": high}


def one(*values: Any) -> Schema:
    """One of some values."""
    return {"enum": list(values)}


ANY: Schema = {"type": "string"}
YES: Schema = {"type": "boolean"}
MONEY = record({"amount": {"type": "number", "exclusiveMinimum": 0, "maximum": 99999}, "currency": one("EUR", "USD")})
PLACE = record({"latitude": real(-90, 90), "longitude": real(-180, 180)})

SCHEMAS: dict[str, Schema] = {
    "leave": record({"name": text(30, 1), "weeks": whole(0, 52), "kind": one("parental", "sick", "annual")}),
    "claim": record(
        {
            "claim_id": formed("uuid"),
            "statement": text(60, 1),
            "confidence": real(0, 1),
            "claim_type": one("FACTUAL", "INFERENTIAL", "PROCEDURAL", "UNCERTAIN"),
            "source_refs": listed(text(8, 1)),
            "caveats": listed(text(20)),
        },
        ("caveats",),
    ),
    "invoice": record(
        {
            "number": coded("^INV-[0-9]{6}$"),
            "date": formed("date"),
            "total": MONEY,
            "lines": listed(record({"item": text(15, 1), "count": whole(1, 999), "price": real(0, 5000)}), 1, 3),
        }
    ),
    "ticket": record({"id": coded("^[A-Z]{2,5}-[1-9][0-9]{0,5}$"), "open": YES, "labels": listed(text(10), 0, 5)}),
    "person": record({"given": text(12, 1), "family": text(12, 1), "born": formed("date"), "email": formed("email")}),
    "address": record({"street": text(20, 1), "postcode": coded("^[0-9]{5}$"), "country": coded("^[A-Z]{2}$")}),
    "weather": record({"city": text(15, 1), "celsius": whole(-60, 60), "sky": one("clear", "clouds", "rain", "snow")}),
    "flight": record(
        {
            "code": coded("^[A-Z]{2}[0-9]{1,4}$"),
            "from": coded("^[A-Z]{3}$"),
            "to": coded("^[A-Z]{3}$"),
            "departs": formed("date-time"),
            "cabin": one("basic_economy", "economy", "business"),
        }
    ),
    "booking": record({"reservation": coded("^[A-Z0-9]{6}$"), "people": listed(record({"name": text(12, 1)}), 1, 3)}),
    "event": record({"title": text(20, 1), "start": formed("date-time"), "lasts": formed("duration"), "all_day": YES}),
    "contact": record({"email": formed("email"), "site": formed("uri")}, ("site",)),
    "host": record({"name": formed("hostname"), "v4": formed("ipv4"), "v6": formed("ipv6")}, ("v6",)),
    "point": PLACE,
    "route": record({"stops": listed(PLACE, 2, 4), "kilometres": real(0, 40000)}),
    "dose": record(
        {
            "drug": text(15, 1),
            "times_a_day": whole(1, 6),
            "milligrams": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 5000},
        }
    ),
    "reading": record({"sensor": coded("^[a-f0-9]{8}$"), "value": {"type": "number"}, "unit": one("kPa", "K", "mol")}),
    "series": record({"name": text(10, 1), "values": listed({"type": "number"}, 1, 6)}),
    "matrix": record({"rows": listed(listed(whole(-9, 9), 2, 2), 2, 2)}),
    "verdict": record({"verdict": one("PASS", "FAIL", "UNCERTAIN"), "justification": text(60, 1)}),
    "answer": record({"answer": {"anyOf": [text(30, 1), {"type": "null"}]}, "from": listed(coded("^e[1-9][0-9]?$"))}),
    "union": record({"value": {"anyOf": [{"type": "integer"}, YES, text(8)]}}),
    "types": record({"value": {"type": ["string", "null"], "maxLength": 10}}),
    "nullable": record({"end": {"anyOf": [formed("date"), {"type": "null"}]}}),
    "constant": record({"version": {"const": "1.0"}, "kind": {"const": "report"}, "ok": YES}),
    "shape": {
        "anyOf": [
            record({"kind": {"const": "circle"}, "radius": real(0, 100)}),
            record({"kind": {"const": "square"}, "side": real(0, 100)}),
        ]
    },
    "tree": {
        "$ref": "#/$defs/node",
        "$defs": {
            "node": record(
                {"label": text(6, 1), "sons": {"type": "array", "items": {"$ref": "#/$defs/node"}, "maxItems": 2}}
            )
        },
    },
    "chain": {
        "$ref": "#/$defs/link",
        "$defs": {
            "link": record({"value": whole(0, 9), "next": {"anyOf": [{"$ref": "#/$defs/link"}, {"type": "null"}]}})
        },
    },
    "list of texts": listed(text(12), 1, 5),
    "list of numbers": listed({"type": "number"}, 0, 6),
    "pair": {"type": "array", "prefixItems": [text(5), whole(0, 9)], "items": False, "minItems": 2},
    "any text": ANY,
    "any number": {"type": "number"},
    "any integer": {"type": "integer"},
    "yes or no": YES,
    "choice": one("red", "green", 3, None, True),
    "loose map": {"type": "object", "additionalProperties": whole(0, 99)},
    "patterned map": {
        "type": "object",
        "patternProperties": {"^k_[a-z]{1,3}$": text(5)},
        "additionalProperties": False,
    },
    "open record": {"type": "object", "properties": {"id": whole(1, 9)}, "required": ["id"]},
    "merged": {
        "allOf": [
            {"type": "object", "properties": {"a": whole(0, 5)}, "required": ["a"]},
            {"type": "object", "properties": {"b": text(5)}, "required": ["b"]},
        ]
    },
    "escapes": record({'quote"d': text(6), "back\\slash": text(6), "snow\u2603": text(6)}),
    "deep": record({"a": record({"b": record({"c": record({"d": record({"e": whole(0, 1)})})})})}),
    "version": coded("^[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}$"),
    "phone": coded("^\\+[1-9][0-9]{6,14}$"),
    "colour": coded("^#[0-9a-f]{6}$"),
    "time": formed("time"),
    "quarters": record({"q": {"type": "number", "multipleOf": 0.25, "minimum": 0, "maximum": 10}}),
    "tens": record({"n": {"type": "integer", "multipleOf": 10, "minimum": 0, "maximum": 990}}),
    "tool call": record({"name": one("search", "refund"), "arguments": record({"order": coded("^#W[0-9]{7}$")})}),
    "order": record(
        {
            "id": coded("^#W[0-9]{7}$"),
            "status": one("pending", "delivered"),
            "total": MONEY,
            "gift": YES,
            "note": text(30),
        },
        ("note", "gift"),
    ),
    "policy": record(
        {
            "id": text(8, 1),
            "holds_from": formed("date"),
            "limits": {"type": "object", "additionalProperties": real(0, 1)},
            "rules": listed({"anyOf": [record({"deny": text(8, 1)}), record({"allow": text(8, 1)})]}, 0, 3),
        }
    ),
}
"""By name."""
