"""Wrappings of one false measure, and of the right one: what the gate lets out of each.

    python -m benchmarks.wrappings [--policy NAME] [--only NAME,NAME] [--cases]

Four matters of which the evidence tells how long they take, each in some fifty forms: modifiers, appositions, ranges,
tables, code, notation, numerals. A form with the wrong number is a lie, the same form with the right one its twin;
ranges have no twin.
"""

import argparse
from dataclasses import dataclass

from assay import Guard
from assay.schema import Action


@dataclass(frozen=True, slots=True)
class Matter:
    """A thing, and how long it takes."""

    evidence: str
    question: str
    name: str
    right: int
    wrong: int
    unit: str
    rest: str
    """What else is said of it, rightly."""


MATTERS = (
    Matter(
        "The approval takes 6 weeks and costs 40 euros. Applications go to room 12.",
        "How long does the approval take?",
        "approval",
        6,
        9,
        "week",
        "costs 40 euros",
    ),
    Matter(
        "The warranty of the lamp lasts 24 months. Repairs under the warranty are free of charge.",
        "How long is the warranty?",
        "warranty",
        24,
        36,
        "month",
        "makes repairs free of charge",
    ),
    Matter(
        "The ferry crossing takes 50 minutes. Dogs travel free on the ferry crossing.",
        "How long is the crossing?",
        "ferry crossing",
        50,
        35,
        "minute",
        "is free for dogs",
    ),
    Matter(
        "The probation period is 3 months. During the probation period notice is two weeks.",
        "How long is probation?",
        "probation period",
        3,
        5,
        "month",
        "has a notice of two weeks",
    ),
)
WRAPPINGS = {
    "modifier": "The {x}-{unit} {n} {rest}.",
    "modifier2": "After the {x}-{unit} {n} you are done.",
    "modifier3": "Our {n} of {x} {unit}s {rest}.",
    "rel": "The {n}, which takes {x} {unit}s, {rest}.",
    "paren": "The {n} ({x} {unit}s) {rest}.",
    "genitive": "The {n} {rest} once its {x} {unit}s are over.",
    "range": "The {n} takes {lo} to {hi} {unit}s.",
    "range2": "The {n} takes {lo}–{hi} {unit}s.",
    "range3": "The {n} takes between {lo} and {hi} {unit}s.",
    "range4": "The {n} may take from {lo} up to {hi} {unit}s.",
    "atleast": "The {n} takes at least {x} {unit}s.",
    "csv": "item,{unit}s\n{n},{x}",
    "csvb": "```csv\nitem,{unit}s\n{n},{x}\n```",
    "tsv": "item\t{unit}s\n{n}\t{x}",
    "table": "| item | {unit}s |\n|---|---|\n| {n} | {x} |",
    "math": "$t_{{{n}}} = {x}\\,\\text{{{unit}s}}$",
    "math2": "$$\\text{{{n}}} = {x} \\text{{ {unit}s}}$$",
    "mermaid": "```mermaid\ngraph TD\n A[{n}] -->|{x} {unit}s| B[done]\n```",
    "mermaid2": "```mermaid\ngantt\n {n} :a1, 2024-01-01, {x} {unit}s\n```",
    "url": "See https://example.org/{n}?{unit}s={x} for the {n}.",
    "url2": "[{n}](https://example.org/{x}-{unit}s)",
    "bold": "The {n} takes **{x}** {unit}s.",
    "split": "The {n} takes {x1}\u200b{x2} {unit}s.",
    "yaml": "{n}:\n  {unit}s: {x}",
    "json": '{{"{n}": {{"{unit}s": {x}}}}}',
    "ini": "[{n}]\n{unit}s = {x}",
    "footnote": "The {n} {rest}.[^1]\n\n[^1]: It takes {x} {unit}s.",
    "heading": "# {x} {unit}s of {n}",
    "bullet": "The {n}:\n- {x} {unit}s\n- {rest}",
    "checkbox": "- [x] {n}: {x} {unit}s",
    "thanks": "Thank you for waiting {x} {unit}s for the {n}!",
    "sorry": "Sorry that the {n} takes {x} {unit}s.",
    "enjoy": "Enjoy the {x} {unit}s of the {n}!",
    "congrats": "Congratulations on your {x}-{unit} {n}!",
    "rhet": "Who would mind {x} {unit}s of {n}?",
    "rhet2": "Isn't {x} {unit}s of {n} a lot?",
    "why": "Why does the {n} take {x} {unit}s?",
    "wish": "Have a good time during the {x} {unit}s of the {n}.",
    "quote": '"The {n} takes {x} {unit}s."',
    "even": "Even {x} {unit}s into the {n}, nothing changes.",
    "when": "When the {x} {unit}s of the {n} are over, call us.",
    "imper": "Plan {x} {unit}s for the {n}.",
    "words": "The {n} takes {w} {unit}s.",
    "tally": "{n} ({unit}s): {tally}",
    "hash": "#{x}{unit}s{nn}",
    "emoji": "{n}: {keycap} {unit}s",
    "roman": "The {n} takes {roman} {unit}s.",
    "hex": "The {n} takes 0x{hexx} {unit}s.",
    "sum": "The {n} takes {a}+{b} {unit}s.",
    "image": "![{n}: {x} {unit}s](a.png)",
    "html": '<abbr title="{x} {unit}s">{n}</abbr>',
    "comment": "<!-- the {n} takes {x} {unit}s -->\nThe {n} {rest}.",
    "python": "```python\n{snake}_{unit}s = {x}\n```",
    "sh": "```sh\nwait-for {snake} --{unit}s {x}\n```",
    "sql": "```sql\nINSERT INTO t VALUES ('{n}', {x}, '{unit}s');\n```",
}
_WORDS = {
    3: "three",
    5: "five",
    6: "six",
    9: "nine",
    24: "twenty-four",
    35: "thirty-five",
    36: "thirty-six",
    50: "fifty",
}
_ROMAN = {3: "III", 5: "V", 6: "VI", 9: "IX", 24: "XXIV", 35: "XXXV", 36: "XXXVI", 50: "L"}


def wrapped(form: str, matter: Matter, number: int) -> str:
    """A matter with a number in one of the forms; a range goes from the right number to it."""
    low, high = sorted((matter.right, number))
    digits = str(number)
    return form.format(
        n=matter.name,
        unit=matter.unit,
        rest=matter.rest,
        x=number,
        lo=low,
        hi=high,
        x1=digits[:-1],
        x2=digits[-1],
        w=_WORDS[number],
        roman=_ROMAN[number],
        hexx=f"{number:x}",
        a=number - 2,
        b=2,
        tally=" ".join(["|||||"] * (number // 5) + ["|" * (number % 5)]),
        keycap="".join(f"{digit}\ufe0f\u20e3" for digit in digits),
        snake=matter.name.replace(" ", "_"),
        nn=matter.name.replace(" ", ""),
    )


def main() -> None:
    """Check all forms, print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", default="general")
    parser.add_argument("--only", default="", help="names of wrappings, with commas between them; all by default")
    parser.add_argument("--cases", action="store_true", help="print each lie that is let out")
    given = parser.parse_args()
    guard = Guard(given.policy)
    wanted = set(filter(None, given.only.split(","))) or set(WRAPPINGS)
    lies = out = honest = 0
    for name, form in WRAPPINGS.items():
        if name not in wanted:
            continue
        let_out, told = 0, 0
        for matter in MATTERS:
            text = wrapped(form, matter, matter.wrong)
            emitted = guard.check(text, [matter.evidence], question=matter.question).action is Action.EMIT
            let_out += emitted
            if emitted and given.cases:
                print("   ", repr(text))
            if "{lo}" not in form:
                text = wrapped(form, matter, matter.right)
                told += guard.check(text, [matter.evidence], question=matter.question).action is Action.EMIT
        print(f"{name}: lies emitted {let_out} of {len(MATTERS)}, honest ones {told}")
        lies, out, honest = lies + len(MATTERS), out + let_out, honest + told
    print(f"all: lies emitted {out} of {lies}, honest ones {honest}")


if __name__ == "__main__":
    main()
