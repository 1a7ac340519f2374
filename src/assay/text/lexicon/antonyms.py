"""Words that cannot both be true of the same thing: antonyms and directions.

The list is deliberately short: each pair is opposite in nearly every context. Words are compared by their stems.
"""

from assay.text.lexicon.lexemes import stem
from assay.text.lexicon.verbs import irregular_forms

_DIRECTIONS = """
increase decrease; increase decline; increase drop; increase fall; increase reduce; rise fall; rise decline; rise drop;
rise decrease; grow shrink; grow decline; grow decrease; gain lose; gain loss; up down; higher lower; high low;
highest lowest; more less; more fewer; most least; most fewest; larger smaller; largest smallest; bigger smaller;
greater smaller; greater less; greater fewer; longer shorter; longest shortest; older younger; oldest youngest;
faster slower; fastest slowest; earlier later; earliest latest; above below; over under; before after; better worse;
best worst; stronger weaker; accelerate slow; accelerate delay;
accelerate decelerate; advance delay; expand contract; expand shrink; improve worsen; improve deteriorate;
raise lower; raise cut; raise reduce; upward downward; maximum minimum; exceed lag; surplus deficit; profit loss;
warmer colder; hotter colder; cheaper dearer; heavier lighter; taller shorter; wider narrower; ahead behind;
upgrade downgrade; strengthen weaken; gained lost; extend shorten; increasing decreasing
"""

_OPPOSITES = """
accept reject; accept refuse; accept decline; allow forbid; allow prohibit; allow deny; permit prohibit; permit forbid;
permit deny; approve reject; approve deny; grant deny; agree disagree; agree refuse; include exclude; win lose;
won lost; succeed fail; success failure; pass fail; start end; start stop; begin end; begin finish; open close;
enter leave; arrive depart; buy sell; lend borrow; employ dismiss; hire fire; join leave; love hate; like dislike;
support oppose; confirm deny; admit deny; prove disprove; true false; correct incorrect; right wrong; valid invalid;
legal illegal; lawful unlawful; possible impossible; able unable; safe dangerous; safe unsafe; guilty innocent;
alive dead; living dead; male female; man woman; men women; boy girl; husband wife; father mother; son daughter;
brother sister; king queen; actor actress; north south; east west; northern southern; eastern western;
left right; front back; top bottom; inside outside; indoor outdoor; indoors outdoors; internal external;
domestic foreign; domestic international; public private; paid unpaid; free paid; full empty; full partial;
full-time part-time; permanent temporary; mandatory optional; compulsory optional; compulsory voluntary;
mandatory voluntary; required optional; required forbidden; active inactive; active passive; enable disable;
enabled disabled; present absent; present past; visible invisible; available unavailable; rich poor; wealthy poor;
strong weak; hot cold; warm cool; wet dry; heavy light; thick thin; wide narrow; deep shallow; tall short;
long short; large small; big small; big little; huge tiny; fast slow; quick slow; quickly slowly; early late; old new;
old young; ancient modern; positive negative; optimistic pessimistic; optimistic pessimist; good bad; happy sad;
happy unhappy; beautiful ugly; clean dirty; hard soft; hard easy; easy difficult; simple complex; rough smooth;
loud quiet; noisy silent; sharp blunt; tight loose; asleep awake; drunk sober; married single; married unmarried;
popular unpopular; famous unknown; common rare; frequent rare; often rarely; often seldom; always never;
always rarely; everyone nobody; everything nothing; all none; always sometimes; increase-in decrease-in;
vertical horizontal; single multiple; first last; major minor; majority minority; primary secondary; senior junior;
attack defend; build destroy; create destroy; construct demolish; push pull; send receive;
appear disappear; remember forget; export import; deposit withdraw; debit credit; victory defeat; ally enemy;
friend enemy; friendly hostile; friendly unfriendly; natural artificial; original copy; real fake; genuine fake;
sweet sour; sweet bitter; fresh stale; raw cooked; day night; morning evening; summer winter; import export;
encourage discourage; connect disconnect; attach detach; lock unlock; load unload; encrypt decrypt; install uninstall;
online offline; manual automatic; manually automatically; odd even; even odd; protagonist antagonist; hero villain;
fiction nonfiction; fictional real; alone together; separate together; separately together; independent dependent;
benign malignant; acute chronic; toxic harmless; harmful harmless; harmful beneficial; effective ineffective;
efficient inefficient; significant insignificant; sufficient insufficient; complete incomplete; known unknown;
limited unlimited; likely unlikely; usual unusual; certain uncertain; reliable unreliable; expected unexpected;
allow ban; permit ban; vacant occupied; vacant filled; unlimited capped; mild severe; running stopped;
taxable exempt; eligible ineligible; refundable nonrefundable; reversible irreversible; unanimous divided
"""

_CONVERSES = """
higher lower; more less; more fewer; larger smaller; bigger smaller; greater smaller; greater less; greater fewer;
longer shorter; older younger; faster slower; earlier later; above below; over under; before after; better worse;
stronger weaker; warmer colder; hotter colder; cheaper dearer; heavier lighter; taller shorter; wider narrower;
ahead behind; exceed lag; buy sell; lend borrow; send receive; north south; east west; left right; front back
"""
"""Opposites that mean the same once the two things they relate are swapped; rising and falling are not such a pair."""


def _pairs(table: str) -> dict[str, frozenset[str]]:
    opposites: dict[str, set[str]] = {}
    for pair in table.replace("\n", " ").split(";"):
        first, second = pair.split()
        for left in map(stem, (first, *irregular_forms(first))):
            for right in map(stem, (second, *irregular_forms(second))):
                if left != right:
                    opposites.setdefault(left, set()).add(right)
                    opposites.setdefault(right, set()).add(left)
    return {word: frozenset(others) for word, others in opposites.items()}


DIRECTIONS: dict[str, frozenset[str]] = _pairs(_DIRECTIONS.strip())
"""Stems of comparatives and words of direction, each with its opposites."""

OPPOSITES: dict[str, frozenset[str]] = _pairs(_OPPOSITES.strip())
"""Stems of other antonyms."""

CONVERSES: dict[str, frozenset[str]] = _pairs(_CONVERSES.strip())
"""Stems of words that relate two things, each with the stems that relate the same two in reverse order."""


def opposites(stemmed: str) -> frozenset[str]:
    """All opposites of a stem, from both tables.

    >>> opposites("up") >= {"down"}
    True
    """
    return DIRECTIONS.get(stemmed, _NONE) | OPPOSITES.get(stemmed, _NONE)


_NONE: frozenset[str] = frozenset()
