"""Sentence frames of our own: converse relations, words of which one holds, turns of two negations, "only"."""

from __future__ import annotations

from dataclasses import dataclass

from train.rows import Label


@dataclass(frozen=True)
class Relation:
    """Frames that all say the same of an ordered pair; with the names exchanged each says something wrong.

    A core in brackets is the word that turns around: two frames that are alike outside of it, and name the pair in
    opposite orders, have opposite cores.
    """

    sorts: tuple[str, ...]
    """Classes of names that may stand in it: those of the bank, or of `THINGS`."""
    frames: tuple[str, ...]
    label: Label = "contradicted"


THINGS: dict[str, list[str]] = {
    "building": [
        "the mill",
        "the chapel",
        "the station",
        "the library",
        "the school",
        "the harbour office",
        "the town hall",
        "the bakery",
        "the old brewery",
        "the museum",
        "the clinic",
        "the fire station",
    ],
    "product": [
        "the Corvo 200",
        "the Lumen X",
        "the Tarn 5",
        "the Basil Pro",
        "the Mistral S",
        "the Orin 40",
        "the standard plan",
        "the team plan",
        "the basic kit",
        "the travel edition",
        "the Halden lamp",
    ],
    "event": [
        "the audit",
        "the launch",
        "the strike",
        "the flood",
        "the merger",
        "the election",
        "the concert",
        "the trial",
        "the board meeting",
        "the recall",
        "the inspection",
        "the first test",
        "the handover",
    ],
    "group": [
        "the night shift",
        "the Oslo team",
        "the sales department",
        "the second cohort",
        "the choir",
        "the evening class",
        "the rowing club",
        "the placebo group",
        "the treated group",
        "the northern branch",
    ],
    "person_role": [
        "the plumber",
        "the treasurer",
        "the new tenant",
        "the surgeon",
        "the headmaster",
        "the baker",
        "the site manager",
        "the intern",
        "the curator",
        "the pilot",
        "the landlady",
        "the referee",
    ],
}
_PEOPLE = ("person", "person_role")


def _compared(sorts: tuple[str, ...], more: str, less: str, verb: str = "is") -> Relation:
    be = "were" if verb == "were" else verb
    return Relation(
        sorts,
        (
            f"{{a}} {be} [{more}] than {{b}}",
            f"{{b}} {be} [{less}] than {{a}}",
            f"of the two, {{a}} {be} the [{more}] one, {{b}} the other",
            f"{{b}} {be} not as [{_positive(more)}] as {{a}}",
            f"compared with {{b}}, {{a}} {be} [{more}]",
            f"compared with {{a}}, {{b}} {be} [{less}]",
        ),
    )


_POSITIVE = {
    "older": "old",
    "taller": "tall",
    "larger": "large",
    "heavier": "heavy",
    "faster": "fast",
    "richer": "rich",
    "more expensive": "expensive",
    "longer": "long",
    "wider": "wide",
    "busier": "busy",
    "louder": "loud",
    "stronger": "strong",
    "higher": "high",
    "warmer": "warm",
    "brighter": "bright",
    "more crowded": "crowded",
}


def _positive(more: str) -> str:
    return _POSITIVE[more]


def _sentences(*frames: str) -> tuple[str, ...]:
    return tuple(f"{frame}." for frame in frames)


def _stopped(relation: Relation) -> Relation:
    return Relation(relation.sorts, _sentences(*relation.frames), relation.label)


_DIRECTED = tuple(
    Relation(
        ("place", "building"),
        (
            f"{{a}} lies [{way}] of {{b}}",
            f"{{b}} lies [{back}] of {{a}}",
            f"{{a}} is to the [{way}] of {{b}}",
            f"{{b}} is to the [{back}] of {{a}}",
            f"{{a}} stands a few miles [{way}] of {{b}}",
            f"{{b}} stands a few miles [{back}] of {{a}}",
            f"going [{way}] from {{b}}, one comes to {{a}}",
            f"going [{back}] from {{a}}, one comes to {{b}}",
        ),
    )
    for way, back in (("north", "south"), ("east", "west"), ("north-east", "south-west"), ("south-east", "north-west"))
)

RELATIONS: tuple[Relation, ...] = tuple(
    _stopped(relation)
    for relation in (
        *_DIRECTED,
        *_DIRECTED[:2],
        _compared(_PEOPLE, "older", "younger"),
        _compared(_PEOPLE, "taller", "shorter"),
        _compared(_PEOPLE, "richer", "poorer"),
        _compared(("building",), "older", "newer"),
        _compared(("building",), "larger", "smaller"),
        _compared(("building",), "higher", "lower"),
        _compared(("place",), "larger", "smaller"),
        _compared(("place",), "warmer", "colder"),
        _compared(("place",), "busier", "quieter"),
        _compared(("product",), "more expensive", "cheaper"),
        _compared(("product",), "heavier", "lighter"),
        _compared(("product",), "faster", "slower"),
        _compared(("product",), "wider", "narrower"),
        _compared(("product",), "brighter", "dimmer"),
        _compared(("organisation",), "larger", "smaller"),
        _compared(("organisation",), "older", "younger"),
        _compared(("event",), "longer", "shorter", "was"),
        _compared(("event",), "more crowded", "emptier", "was"),
        _compared(("group",), "stronger", "weaker", "was"),
        _compared(("group",), "louder", "quieter", "was"),
        Relation(
            ("event",),
            (
                "{a} took place [before] {b}",
                "{b} took place [after] {a}",
                "{a} [preceded] {b}",
                "{b} [followed] {a}",
                "{b} came [later] than {a}",
                "{a} came [earlier] than {b}",
                "first came {a}, then {b}",
                "{a} was over when {b} began",
                "{b} did not begin until {a} was over",
            ),
        ),
        Relation(
            ("event",),
            (
                "{a} led to {b}",
                "{b} was caused by {a}",
                "{b} resulted from {a}",
                "{a} was the reason for {b}",
                "{b} was a consequence of {a}",
                "{a} brought about {b}",
            ),
        ),
        Relation(
            ("building",),
            (
                "{a} is [above] {b} on the hill",
                "{b} is [below] {a} on the hill",
                "{a} stands [higher] up the hill than {b}",
                "{b} stands [lower] down the hill than {a}",
                "one climbs from {b} to {a}",
                "one walks down from {a} to {b}",
            ),
        ),
        Relation(
            ("building",),
            (
                "{a} is to the [left] of {b}",
                "{b} is to the [right] of {a}",
                "seen from the street, {a} is [left] of {b}",
                "seen from the street, {b} is [right] of {a}",
            ),
        ),
        Relation(
            ("building",),
            (
                "{a} stands [in front of] {b}",
                "{b} stands [behind] {a}",
                "{a} is [in front of] {b}",
                "{b} is [behind] {a}",
            ),
        ),
        Relation(
            ("person",),
            (
                "{a} is a [parent] of {b}",
                "{b} is a [child] of {a}",
                "{b} is one of the children of {a}",
                "{a} has a child, {b}",
                "{b} was raised by a parent, {a}",
            ),
        ),
        Relation(
            _PEOPLE,
            (
                "{a} taught {b} to drive",
                "{b} was taught to drive by {a}",
                "{b} learned driving from {a}",
                "it was from {a} that {b} learned to drive",
                "{a} gave driving lessons to {b}",
            ),
        ),
        Relation(
            _PEOPLE,
            (
                "{a} sold the house to {b}",
                "{b} bought the house from {a}",
                "the house was sold by {a} to {b}",
                "{b} is the buyer of the house that {a} owned",
                "the house passed from {a} to {b}",
                "{b} paid {a} for the house",
            ),
        ),
        Relation(
            ("organisation",),
            (
                "{a} sold its shares to {b}",
                "{b} bought shares from {a}",
                "{b} acquired the shares that {a} had held",
                "the shares went from {a} to {b}",
                "{a} was the seller and {b} the buyer of the shares",
            ),
        ),
        Relation(
            ("organisation",),
            (
                "{a} acquired {b}",
                "{b} was acquired by {a}",
                "{b} was bought by {a}",
                "{a} is the new owner of {b}",
                "{b} now belongs to {a}",
                "{b} became part of {a}",
                "{a} took over {b}",
            ),
        ),
        Relation(
            ("organisation",),
            (
                "{a} owns {b}",
                "{b} is owned by {a}",
                "{b} belongs to {a}",
                "{b} is a subsidiary of {a}",
                "{a} is the parent company of {b}",
            ),
        ),
        Relation(
            _PEOPLE,
            (
                "{a} lent {b} some money",
                "{b} borrowed some money from {a}",
                "{b} owes {a} money",
                "{b} is in debt to {a}",
                "{a} made {b} a loan",
            ),
        ),
        Relation(
            ("person",),
            (
                "{a} works for {b}",
                "{b} employs {a}",
                "{a} is an employee of {b}",
                "{b} is the employer of {a}",
                "{a} is employed by {b}",
            ),
        ),
        Relation(
            ("person", "group"),
            (
                "{a} beat {b}",
                "{b} lost to {a}",
                "{b} was beaten by {a}",
                "{a} won against {b}",
                "{a} defeated {b}",
                "{b} was defeated by {a}",
                "{b} suffered a defeat by {a}",
            ),
        ),
        Relation(
            ("person",),
            (
                "{a} [succeeded] {b} as director",
                "{b} [preceded] {a} as director",
                "{b} was director before {a}",
                "{a} was director after {b}",
                "{b} handed the post of director to {a}",
                "{a} followed {b} as director",
            ),
        ),
        Relation(
            _PEOPLE,
            (
                "{a} told {b} about the plan",
                "{b} was told about the plan by {a}",
                "{b} heard about the plan from {a}",
                "{b} learned of the plan from {a}",
                "it was {a} who told {b} about the plan",
            ),
        ),
        Relation(
            _PEOPLE,
            ("{a} hired {b}", "{b} was hired by {a}", "{b} got the job from {a}", "{a} gave {b} the job"),
        ),
        Relation(
            _PEOPLE,
            (
                "{a} sent {b} the letter",
                "{b} received the letter from {a}",
                "the letter came to {b} from {a}",
                "{b} got a letter that {a} had sent",
                "the letter was sent to {b} by {a}",
            ),
        ),
        Relation(
            ("person", "group"),
            (
                "{a} sold [more] tickets than {b}",
                "{b} sold [fewer] tickets than {a}",
                "{b} did not sell as many tickets as {a}",
                "{a} was ahead of {b} in tickets sold",
                "{b} was behind {a} in tickets sold",
            ),
        ),
        Relation(
            ("person", "group"),
            (
                "{a} scored [higher] than {b}",
                "{b} scored [lower] than {a}",
                "{a} finished [ahead of] {b}",
                "{b} finished [behind] {a}",
                "{b} was outscored by {a}",
                "{a} did [better] than {b}",
                "{b} did [worse] than {a}",
            ),
        ),
        Relation(
            ("place", "organisation"),
            (
                "{a} spends [more] on energy than {b}",
                "{b} spends [less] on energy than {a}",
                "energy costs {a} [more] than it costs {b}",
                "energy costs {b} [less] than it costs {a}",
                "the energy bill of {a} exceeds that of {b}",
                "{b} does not spend as much on energy as {a}",
            ),
        ),
        Relation(
            ("event",),
            (
                "{a} cost [more] than {b}",
                "{b} cost [less] than {a}",
                "{b} did not cost as much as {a}",
                "{a} was the dearer of the two, {b} the cheaper",
                "the cost of {a} exceeded that of {b}",
            ),
        ),
    )
)


@dataclass(frozen=True)
class Complement:
    """Two words of which exactly one holds of a subject."""

    yes: str
    no: str
    subjects: tuple[str, ...]


COMPLEMENTS: tuple[Complement, ...] = (
    Complement("open", "closed", ("the bridge", "the north gate", "the pool", "the road to the pass", "the shops")),
    Complement("locked", "unlocked", ("the cabinet", "the back door", "the account", "the side doors")),
    Complement("legal", "illegal", ("the practice", "street trading", "fishing in the lake", "the clause")),
    Complement("occupied", "vacant", ("the flat", "the corner office", "room 12", "the post of treasurer")),
    Complement("mandatory", "optional", ("the second dose", "the course", "registration", "the safety briefing")),
    Complement("permanent", "temporary", ("the contract", "the exhibition", "the repair", "the new rule")),
    Complement("alive", "dead", ("the old oak", "the patient", "the queen bee", "the founder")),
    Complement("valid", "invalid", ("the ticket", "the licence", "the signature", "the coupons")),
    Complement("available", "unavailable", ("the service", "the larger size", "the report", "the updates")),
    Complement("complete", "incomplete", ("the file", "the application", "the set", "the records")),
    Complement("known", "unknown", ("the cause of the fire", "the author", "the side effects", "the sum")),
    Complement("paid", "unpaid", ("the invoice", "the internship", "the fine", "the bills")),
    Complement("awake", "asleep", ("the guard", "the baby", "the crew member on watch")),
    Complement("insured", "uninsured", ("the boat", "the cargo", "the paintings", "the second driver")),
    Complement("visible", "hidden", ("the button", "the menu", "the crack", "the wires")),
    Complement("solved", "unsolved", ("the case", "the puzzle", "the problem of the leak")),
    Complement("married", "unmarried", ("the applicant", "the older sister", "the captain")),
    Complement("present", "absent", ("the chairman", "the witness", "the second referee", "the delegates")),
    Complement("safe", "unsafe", ("the tap water", "the ladder", "the old lift", "the toys")),
    Complement("public", "private", ("the beach", "the hearing", "the archive", "the gardens")),
    Complement("possible", "impossible", ("an appeal", "the repair", "entry without a card", "a refund")),
    Complement("taxable", "tax-free", ("the bonus", "the grant", "the allowance")),
    Complement("online", "offline", ("the server", "the printer", "the sensors")),
    Complement("guilty", "innocent", ("the driver", "the accountant", "the defendants")),
    Complement("included", "excluded", ("breakfast", "delivery", "damage by water", "the batteries")),
)


@dataclass(frozen=True)
class Negated:
    """Sentences that say a thing in many ways, and sentences that say its opposite."""

    yes: tuple[str, ...]
    no: tuple[str, ...]
    slots: dict[str, tuple[str, ...]]
    flips: bool = True
    """Whether each of the opposites follows from each other one."""


_WHO = ("the nurse", "Ilse", "the contractor", "Tomas Rell", "the supplier", "the second team", "the landlord", "Mira")
NEGATED: tuple[Negated, ...] = (
    Negated(
        (
            "{who} did not fail to {do} {what}.",
            "{who} {did} {what}.",
            "{who} never omitted to {do} {what}.",
            "{who} did {do} {what}.",
            "{who} did not forget to {do} {what}.",
        ),
        (
            "{who} failed to {do} {what}.",
            "{who} did not {do} {what}.",
        ),
        {
            "who": _WHO,
            "do": ("check",),
            "did": ("checked",),
            "what": ("the valves", "the dosage", "the invoice", "the smoke alarms", "the list of guests"),
        },
    ),
    Negated(
        (
            "{who} did not fail to {do} {what}.",
            "{who} {did} {what}.",
            "{who} did not neglect to {do} {what}.",
            "{who} did {do} {what}.",
        ),
        ("{who} failed to {do} {what}.", "{who} did not {do} {what}."),
        {
            "who": _WHO,
            "do": ("deliver",),
            "did": ("delivered",),
            "what": ("the parcels", "the report", "the medicine", "the spare parts", "the keys"),
        },
    ),
    Negated(
        (
            "{thing} was not without {flaws}.",
            "{thing} had some {flaws}.",
            "{thing} was not free of {flaws}.",
            "there were {flaws} in {thing}.",
            "{thing} did not lack {flaws}.",
        ),
        (
            "{thing} was without {flaws}.",
            "{thing} had no {flaws}.",
            "{thing} was free of {flaws}.",
            "there were no {flaws} in {thing}.",
            "{thing} lacked {flaws}.",
        ),
        {
            "thing": ("the first trial", "the audit", "the crossing", "the new edition", "the update", "the harvest"),
            "flaws": ("problems", "mistakes", "delays", "surprises", "losses", "risks"),
        },
    ),
    Negated(
        (
            "none of the {people} was absent.",
            "all the {people} were present.",
            "no {one} was missing.",
            "not a single {one} was missing.",
            "every {one} was there.",
        ),
        (
            "some of the {people} were absent.",
            "not all the {people} were present.",
            "at least one {one} was missing.",
            "not every {one} was there.",
        ),
        {"people": ("members",), "one": ("member",)},
    ),
    Negated(
        (
            "no {one} went unpaid.",
            "every {one} was paid.",
            "there was no {one} who was not paid.",
            "not one {one} was left unpaid.",
        ),
        (
            "some {one} went unpaid.",
            "not every {one} was paid.",
            "at least one {one} was not paid.",
            "there was a {one} who was not paid.",
        ),
        {"one": ("supplier", "singer", "driver", "guide", "picker", "tutor")},
    ),
    Negated(
        (
            "it is not impossible to {do}.",
            "it is possible to {do}.",
            "one can {do}.",
            "nothing makes it impossible to {do}.",
        ),
        ("it is impossible to {do}.", "it is not possible to {do}.", "one cannot {do}."),
        {
            "do": (
                "change the date",
                "return the goods",
                "enter by the side door",
                "see the file",
                "pay in cash",
                "bring a guest",
                "cancel the order",
            )
        },
    ),
    Negated(
        ("{who} does not dislike {what}.", "{who} has nothing against {what}.", "{who} does not object to {what}."),
        ("{who} dislikes {what}.", "{who} objects to {what}.", "{who} is against {what}."),
        {"who": _WHO, "what": ("the new rules", "early shifts", "the blue logo", "working at night", "the merger")},
        flips=False,
    ),
    Negated(
        (
            "{who} did not reject {what}.",
            "it is not true that {who} rejected {what}.",
            "{what} was not rejected by {who}.",
        ),
        ("{who} rejected {what}.", "it is true that {who} rejected {what}.", "{what} was rejected by {who}."),
        {"who": _WHO, "what": ("the offer", "the third draft", "the claim for damages", "the request", "the budget")},
    ),
    Negated(
        (
            "{thing} is not the least {how} of them.",
            "at least one of them is less {how} than {thing}.",
            "{thing} is more {how} than some of them.",
        ),
        (
            "{thing} is the least {how} of them.",
            "none of them is less {how} than {thing}.",
            "all the others are more {how} than {thing}.",
        ),
        {
            "thing": ("the red route", "the second model", "the Halden lamp", "the island branch", "the older pump"),
            "how": ("popular", "costly", "reliable", "known", "useful", "noisy"),
        },
    ),
    Negated(
        (
            "{thing} never stopped {doing}.",
            "{thing} kept {doing} all the time.",
            "at no time was {thing} not {doing}.",
            "{thing} was {doing} without a break.",
        ),
        (
            "{thing} stopped {doing} for a time.",
            "at one time {thing} was not {doing}.",
            "{thing} did not keep {doing} all the time.",
        ),
        {"thing": ("the pump", "the east mill", "the server", "the ferry", "the fan"), "doing": ("running", "working")},
    ),
    Negated(
        (
            "hardly any of the {things} remained unsold.",
            "nearly all of the {things} were sold.",
            "almost none of the {things} were left.",
            "few of the {things} were not sold.",
        ),
        (
            "hardly any of the {things} were sold.",
            "nearly all of the {things} remained unsold.",
            "almost none of the {things} were sold.",
            "few of the {things} were sold.",
        ),
        {"things": ("tickets", "copies", "lots", "seats", "trees", "chairs")},
    ),
    Negated(
        (
            "no {thing} may be opened without {key}.",
            "every {thing} needs {key} to be opened.",
            "{key} is needed to open any {thing}.",
            "a {thing} cannot be opened unless there is {key}.",
        ),
        (
            "a {thing} may be opened without {key}.",
            "no {thing} needs {key} to be opened.",
            "{key} is not needed to open a {thing}.",
        ),
        {
            "thing": ("locker", "file", "vault", "crate"),
            "key": ("a second key", "written consent", "a code", "a witness"),
        },
    ),
)


@dataclass(frozen=True)
class Only:
    """Sorts that exclude one another, where one alone is let in, and claims of what that means."""

    sorts: tuple[str, ...]
    places: tuple[str, ...]
    said: tuple[str, ...]
    claims: tuple[str, ...]


ONLY: tuple[Only, ...] = (
    Only(
        ("live recordings", "studio recordings", "radio recordings"),
        ("on the first disc", "in the box", "in the archive"),
        ("{x} only {where}.", "{where} there are only {x}.", "{where} there is nothing but {x}."),
        (
            "there are no [{y}|{x}] {where}.",
            "{where} there are [no|some] {y}.",
            "{where} one finds [{x}|{y}].",
            "[{x}|{y}] are found {where}.",
            "{y} are [missing|included] {where}.",
        ),
    ),
    Only(
        ("members", "visitors", "residents", "students", "employees"),
        ("in the garden", "in the pool", "at the evening session", "in the car park", "at the archive"),
        (
            "only {x} are admitted {where}.",
            "{x} only {where}.",
            "nobody but {x} is admitted {where}.",
            "no others than {x} are admitted {where}.",
        ),
        (
            "[{x}|{y}] are admitted {where}.",
            "[{y}|{x}] are not admitted {where}.",
            "those who are not {x} [cannot|can] enter {where}.",
            "{where}, people who are not {x} are [refused|let in].",
            "there is [no|free] entry {where} for people who are not {x}.",
        ),
    ),
    Only(
        ("cash", "bank transfer", "card", "cheque"),
        ("at the kiosk", "at the market", "in the museum shop", "at the ferry desk"),
        ("payment is by {x} only {where}.", "{where} one can pay by {x} only.", "nothing but {x} is accepted {where}."),
        (
            "{where}, {y} is [not accepted|accepted].",
            "one [cannot|can] pay by {y} {where}.",
            "payment by [{x}|{y}] is accepted {where}.",
            "payment by [{y}|{x}] is not accepted {where}.",
            "there is [only one|more than one] way to pay {where}.",
        ),
    ),
    Only(
        ("weekdays", "Sundays", "Saturdays"),
        ("the clinic", "the ferry desk", "the reading room", "the workshop", "the help desk"),
        (
            "{where} is open on {x} only.",
            "{where} is closed except on {x}.",
            "{where} never opens on days other than {x}.",
        ),
        (
            "{where} is [closed|open] on {y}.",
            "{where} is [open|closed] on {x}.",
            "{where} is not open on [{y}|{x}].",
            "{where} is not closed on [{x}|{y}].",
            "on {y} {where} [does not open|opens].",
        ),
    ),
    Only(
        ("digital copies", "printed copies", "large-print copies"),
        ("of the guide", "of the catalogue", "of the score", "of the annual report"),
        (
            "only {x} {where} are sold.",
            "apart from {x} {where}, nothing is sold.",
            "{x} {where} are the only ones for sale.",
        ),
        (
            "[{x}|{y}] {where} are sold.",
            "no [{y}|{x}] {where} are sold.",
            "{y} {where} are [not sold|sold].",
            "there are [no|some] {y} {where} for sale.",
        ),
    ),
)
