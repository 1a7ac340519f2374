"""Wrong words: negation, quantifiers, modality, comparison, order, cause and opposites."""

from __future__ import annotations

import random
import re

from assay.text import verbs
from train.edits.context import Context
from train.edits.document import parse
from train.edits.kinds import Edit, match_case, replace
from train.rows import Label

C: Label = "contradicted"
N: Label = "not_supported"

# Each rule: what is matched (case ignored at the start alone), what stands in its place, and the label. Lookarounds
# keep a rule to the uses in which the result reads well and is truly another statement.
_Rule = tuple[str, str, Label]
QUANTIFIERS: tuple[_Rule, ...] = (
    (r"all of(?= (?:the|these|those|its|his|her|their))", "none of", C), (r"(?<!at )(?<!after )(?<!of )(?<!above )all(?= (?!of |the |about |but |over |in |along |that |time |a )[a-z]+s\b)", "no", C),
    (r"every(?= (?!one|thing|day|year|week|month|other|few|time)[a-z])", "no", C), (r"each(?= of )", "none", C),
    (r"(?<!the )(?<!s )most(?= (?:[a-z]+s|people|of)\b)(?! [a-z]+ous\b)", "few", C), (r"(?<!as )(?<!how )(?<!so )(?<!too )(?<!great )(?<!good )many(?= (?:[a-z]+s|people|of)\b)", "few", C),
    (r"some(?= (?:of the|of these|[a-z]{3,}s\b(?! \d)))", "all", N), (r"(?<!a )(?<!the )(?<!very )few(?= (?:[a-z]+s|people|of)\b)", "many", C),
    (r"always", "never", C), (r"(?<!n't )never", "always", C), (r"(?<!more )(?<!most )often", "rarely", C), (r"usually", "rarely", C),
    (r"frequently", "rarely", C), (r"sometimes", "always", N), (r"rarely", "often", C), (r"seldom", "often", C),
    (r"half of", "a quarter of", C), (r"a third of", "half of", C), (r"a quarter of", "half of", C),
    (r"two-thirds of", "a third of", C), (r"the majority of", "a minority of", C), (r"at least(?= [$£€]?\d)", "at most", C),
    (r"at most(?= [$£€]?\d)", "at least", C), (r"more than(?= [$£€]?(?:\d|one|two|three|four|five|half|a dozen))", "less than", C),
    (r"(?:less|fewer) than(?= [$£€]?\d)", "more than", C), (r"over(?= [$£€]?\d[\d,.]*(?! years|-year))", "under", C),
    (r"under(?= [$£€]?\d[\d,.]* (?:million|billion|people|per))", "over", C), (r"up to(?= [$£€]?\d)", "at least", C),
    (r"none of", "all of", C), (r"no one", "everyone", C), (r"everyone", "no one", C), (r"nobody", "everybody", C),
    (r"entirely", "partly", C), (r"completely", "partly", C), (r"partly", "entirely", C), (r"mostly", "rarely", C),
)  # fmt: skip
MODALITY: tuple[_Rule, ...] = (
    (r"may(?= (?:also )?(?:be|have|[a-z]{3,})\b)(?! not)", "will", N), (r"may(?= (?:be|[a-z]{3,})\b)(?! not| be )", "must", N),
    (r"might(?! not)(?= [a-z])", "will", N), (r"could(?! not)(?= (?:be|have|[a-z]{3,}))(?! have)", "will", N),
    (r"should(?= (?:be|[a-z]{3,})\b)(?! not| have)", "need not", C), (r"must(?= (?:be|[a-z]{3,})\b)(?! not| have)", "need not", C),
    (r"must not", "may", C), (r"may not(?= [a-z])", "may", C), (r"cannot", "can", C), (r"can(?= (?:be|[a-z]{3,})\b)(?! not)", "must", N),
    (r"optional", "mandatory", C), (r"mandatory", "optional", C), (r"compulsory", "voluntary", C), (r"voluntary", "compulsory", C),
    (r"allowed to", "forbidden to", C), (r"permitted to", "forbidden to", C), (r"prohibited from", "free to engage in", C),
    (r"(?<=is |re )required to", "free not to", C), (r"(?<=is )likely to", "certain to", N), (r"(?<=are )likely to", "certain to", N),
    (r"(?<=is )unlikely to", "likely to", C), (r"(?<=are )unlikely to", "likely to", C), (r"probably", "certainly", N), (r"possibly", "certainly", N), (r"reportedly", "admittedly", N),
    (r"alleged(?= [a-z])(?! to)", "proven", N), (r"(?<=is )expected to", "certain to", N), (r"(?<=is )eligible for", "barred from", C), (r"(?<=are )eligible for", "barred from", C),
    (r"recommends", "requires", N), (r"recommended", "required", N), (r"suggests that", "proves that", N), (r"suggested that", "proved that", N),
    (r"(?<=is )planning to", "refusing to", C), (r"(?<=are )planning to", "refusing to", C), (r"hopes to", "refuses to", C), (r"plans to", "refuses to", C),
)  # fmt: skip
_COMPARED = (
    ("higher", "lower"), ("larger", "smaller"), ("greater", "smaller"), ("bigger", "smaller"), ("highest", "lowest"), ("largest", "smallest"),
    ("biggest", "smallest"), ("oldest", "youngest"), ("older", "younger"), ("longer", "shorter"), ("longest", "shortest"), ("faster", "slower"), ("fastest", "slowest"),
    ("better", "worse"), ("best", "worst"), ("stronger", "weaker"), ("strongest", "weakest"), ("earlier", "later"), ("cheaper", "more expensive"), ("richest", "poorest"),
    ("increased", "decreased"), ("increasing", "decreasing"), ("rising", "falling"), ("increase", "decrease"), ("increases", "decreases"),
    ("gained", "lost"), ("improved", "worsened"), ("improve", "worsen"), ("improves", "worsens"), ("growth", "decline"), ("wider", "narrower"), ("deeper", "shallower"),
    ("taller", "shorter"), ("warmer", "colder"), ("superior", "inferior"), ("above", "below"), ("exceeded", "fell short of"),
)  # fmt: skip
COMPARATIVES: tuple[_Rule, ...] = (
    *((rf"(?<!no )(?<!any ){a}(?! known)(?! than ever)", b, C) for a, b in _COMPARED if a not in ("best", "better", "above", "improve")),
    *((rf"(?<!no )(?<!any ){b}(?! short)", a, C) for a, b in _COMPARED if b not in ("lost", "below", "later", "fell", "shrank", "decline", "inferior", "lower", "smaller", "shorter")),
    (r"(?<=[a-z] )lower(?= (?:than|[a-z]+s?\b))(?! (?:house|court|level|back))", "higher", C), (r"(?<=[a-z] )smaller(?= [a-z])", "larger", C),
    (r"best(?!-| known| of| man| friend| to)(?= [a-z])", "worst", C), (r"better(?= than)", "worse", C), (r"above(?= (?:average|the|\d))", "below", C), (r"below(?= (?:average|the|\d))", "above", C),
    (r"(?<!any )(?<!once )(?<!no )(?<!and )(?<!the )(?<!even )(?<!one )(?<!\d )more(?= (?!than|and|or)[a-z]+(?:ly|ive|ous|ful|ent|ant|ing|ic|al|ed)\b)(?! (?:spending|funding|training|talent|parent|student))", "less", C),
    (r"less(?= (?!than)[a-z]+(?:ly|ive|ous|ful|ent|ant|ing|ic|al|ed)\b)", "more", C), (r"(?<!the )fewer(?= [a-z])(?! than)", "more", C),
    (r"most(?= (?:popular|successful|important|expensive|common|famous|significant|powerful|recent|influential|populous|widely|notable|valuable|prominent|prolific)\b)", "least", C),
    (r"(?:rose|grew)(?= (?:to|by|from|sharply|steadily|significantly|slightly) )", "fell", C), (r"fell(?= (?:to|by|from|sharply|slightly) (?:[$£€]?\d|\d|an?\b|about|around))", "rose", C),
    (r"least(?= (?:popular|successful|important|expensive|common|likely)\b)", "most", C),
)  # fmt: skip
ORDERS: tuple[_Rule, ...] = (
    (r"(?<!day )(?<!week )(?<!never )(?<!years )before(?! long)(?= )", "after", C), (r"(?<!soon )(?<!shortly )(?<!named )(?<!look )(?<!looked )(?<!looking )(?<!look[s] )(?<!called )(?<!day )after(?! all| school|-)(?= )", "before", C), (r"(?<=[Tt]he )first(?= [a-z]+)(?! (?:half|name|lady|class|world|time))", "last", C),
    (r"(?<=[Tt]he )last(?= [a-z]+)(?! (?:name|year|week|month|decade|century|two|three|few|several))", "first", C), (r"began(?= (?:in|on|at|when|with) )", "ended", C), (r"started(?= (?:in|on|at) )", "ended", C), (r"ended(?= (?:in|on|at) )(?! in (?:a|the) )", "began", C),
    (r"was born(?= (?:in|on|at) )(?!.{3,60}\b(?:raised|grew|educated|to)\b)", "died", C), (r"died(?= (?:in|on) )", "was born", C), (r"opened(?= (?:in|on|at) )", "closed", C), (r"closed(?= (?:in|on|at) )", "opened", C),
    (r"former(?= [a-z])", "current", C), (r"current(?= (?:president|manager|owner|captain|chairman|coach|leader|mayor|director|head|champion|members?)\b)", "former", C), (r"previous(?= [a-z])", "next", C), (r"predecessor", "successor", C), (r"successor", "predecessor", C),
    (r"preceded by", "followed by", C), (r"followed by", "preceded by", C), (r"founded(?= (?:in|on) )", "dissolved", C), (r"established(?= in )", "abolished", C), (r"arrived(?= (?:in|at|on) )", "departed", C), (r"joined(?= (?:the|[A-Z]))", "left", C), (r"prior to", "following", C), (r"earliest", "latest", C), (r"built(?= in \d)", "demolished", C),
    (r"entered(?= the)", "left", C), (r"resigned(?= (?:in|as|from|on) )", "was appointed", C), (r"early(?= (?:\d{4}|the|in|(?:January|February|March|April|May|June|July|August|September|October|November|December)))(?! in the)", "late", C), (r"late(?= (?:\d{4}|[A-Z][a-z]+ \d))", "early", C), (r"beginning of", "end of", C), (r"end of(?= (?:the|\d|[A-Z]))", "beginning of", C),
)  # fmt: skip
CAUSES: tuple[_Rule, ...] = (
    (r"(?<!just )(?<!simply )because of", "despite", C), (r"due to(?= )(?<!is due to)(?<!was due to)", "despite", C), (r"thanks to", "despite", C), (r"as a result of", "in spite of", C), (r"despite", "because of", C), (r"in spite of", "because of", C),
    (r"because(?! of)", "although", C), (r"although", "because", C), (r"(?<!even )though(?= [a-z]+ [a-z])", "because", C), (r"led to", "prevented", C), (r"leads to", "prevents", C), (r"leading to", "preventing", C), (r"lead to", "prevent", C), (r"caused by", "unaffected by", C), (r"caused(?! by)", "prevented", C), (r"causes(?= (?:the|a|an|damage|people|more|severe)\b)", "prevents", C), (r"causing", "preventing", C),
    (r"resulted in", "resulted from", C), (r"results in", "results from", C), (r"resulting in", "resulting from", C), (r"resulted from", "resulted in", C), (r"allowed(?= (?:him|her|them|it|the|[A-Z]))", "prevented", C) , (r"contributed to", "hindered", C), (r"in response to", "regardless of", C), (r"inspired by", "unrelated to", C), (r"triggered", "prevented", C), (r"helped(?= (?:to )?[a-z])(?! by)", "failed to help", C), (r"prevented(?! from)", "caused", C), (r"reduced the", "increased the", C), (r"increases the", "reduces the", C), (r"reduces the", "increases the", C), (r"increased the", "reduced the", C),
)  # fmt: skip
_OPPOSED = (
    ("north", "south"), ("east", "west"), ("northern", "southern"), ("eastern", "western"), ("male", "female"), ("father", "mother"), ("daughter", "son"),
    ("brother", "sister"), ("husband", "wife"), ("positive", "negative"), ("public", "private"), ("accepted", "rejected"), ("includes", "excludes"), ("won", "lost"),
    ("agreed to", "refused to"), ("bought", "sold"), ("supported", "opposed"), ("supports", "opposes"), ("success", "failure"), ("successful", "unsuccessful"), ("successfully", "unsuccessfully"),
    ("approved", "rejected"), ("guilty of", "innocent of"), ("legal", "illegal"), ("domestic", "foreign"), ("urban", "rural"), ("rich", "poor"), ("ancient", "modern"), ("permanent", "temporary"),
    ("popular", "unpopular"), ("common", "rare"), ("victory", "defeat"), ("winner", "loser"), ("allies", "enemies"), ("strong", "weak"), ("professional", "amateur"), ("fictional", "real-life"),
    ("praised", "criticised"), ("confirmed", "denied"), ("accept", "reject"), ("approve", "reject"), ("active", "inactive"), ("safe", "dangerous"), ("married", "divorced"), ("failed to", "managed to"),
    ("significant", "insignificant"), ("similar to", "different from"), ("independent", "dependent"), ("present", "absent"), ("major", "minor"), ("dead", "alive"), ("effective", "ineffective"), ("available", "unavailable"),
    ("associated with", "unrelated to"), ("located in", "located outside"), ("inside", "outside"), ("upper", "lower"), ("indoor", "outdoor"), ("open", "closed"), ("hot", "cold"), ("dry", "wet"), ("free", "paid"),
)  # fmt: skip
_ONE_WAY = frozenset(
    {
        "present",
        "open",
        "free",
        "married",
        "common",
        "paid",
        "closed",
        "real-life",
        "poor",
        "different from",
        "dead",
        "alive",
        "absent",
        "dependent",
        "inside",
        "located outside",
        "upper",
        "lower",
        "defeat",
    }
)
ANTONYMS: tuple[_Rule, ...] = (
    *((rf"{a}(?!-)", b, C) for a, b in _OPPOSED if a not in _ONE_WAY),
    *((rf"{b}(?!-)", a, C) for a, b in _OPPOSED if b not in _ONE_WAY | {"foreign", "lost", "sold", "weak", "west", "south", "minor"}),
    (r"(?<=[a-z] )south(?= of)", "north", C), (r"(?<=[a-z] )west(?= of)", "east", C), (r"married(?= (?:to|[A-Z]|in))", "divorced", C),
)  # fmt: skip


def _compile(rules: tuple[_Rule, ...]) -> list[tuple[re.Pattern[str], str, Label]]:
    return [(re.compile(rf"\b(?:{pattern})\b"), new, label) for pattern, new, label in rules]


RULES = {
    "quantifier": _compile(QUANTIFIERS), "modality": _compile(MODALITY), "comparative": _compile(COMPARATIVES),
    "order": _compile(ORDERS), "cause": _compile(CAUSES), "antonym": _compile(ANTONYMS),
}  # fmt: skip


def _matches(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Matches of a lower-case rule in the text, whose first letter may be a capital."""
    lowered = text[:1].lower() + text[1:]
    return [m for m in pattern.finditer(lowered) if m.end() > m.start()] if len(lowered) == len(text) else []


def swap(text: str, kind: str, rng: random.Random) -> Edit | None:
    """Put the counterpart of one word of the kind in its place."""
    found = [(m, new, label) for pattern, new, label in RULES[kind] for m in _matches(pattern, text)]
    if not found:
        return None
    match, new, label = rng.choice(found)
    return replace(kind, text, *match.span(), match_case(text[match.start() : match.start() + 1], new), label)


def quantifier(text: str, _context: Context, rng: random.Random) -> Edit | None:
    """Change how many or how often."""
    return swap(text, "quantifier", rng)


def modality(text: str, _context: Context, rng: random.Random) -> Edit | None:
    """Change what may be into what is or must be, what is allowed into what is forbidden."""
    return swap(text, "modality", rng)


def comparative(text: str, _context: Context, rng: random.Random) -> Edit | None:
    """Turn a comparison or a direction of change around."""
    return swap(text, "comparative", rng)


def order(text: str, _context: Context, rng: random.Random) -> Edit | None:
    """Turn an order in time around."""
    return swap(text, "order", rng)


def antonym(text: str, _context: Context, rng: random.Random) -> Edit | None:
    """Put an opposite in a word's place."""
    return swap(text, "antonym", rng)


_BECAUSE = re.compile(
    r"^([A-Z][^,;:]{15,120}?),? because ((?!of\b|it\b|he\b|she\b|they\b|this\b|its\b|his\b|her\b|their\b)[^,;:]{15,120})\.$"
)


def cause(text: str, _context: Context, rng: random.Random) -> Edit | None:
    """Exchange cause and effect, or say that what brought something about did not."""
    found = _BECAUSE.match(text)
    if found and rng.random() < 0.7 and not re.search(r"\b(?:he|she|it|they|this)\b", found.group(2)):
        effect, reason = found.group(1), found.group(2)
        tokens = parse(text).tokens
        if tokens and tokens[0].tag == "DET":
            effect = effect[0].lower() + effect[1:]
        new = reason[0].upper() + reason[1:] + " because " + effect
        return Edit("cause", new + ".", (0, len(new)), "not_supported")
    return swap(text, "cause", rng)


_NEGATED = re.compile(
    r"\b(is|was|are|were|has|have|had|will|would|could|should|must|can|may|might)( not| never)\b(?! only| just| necessarily| yet)"
)
_CONTRACTED = re.compile(r"\b(is|was|are|were|has|have|had|would|could|should|does|do|did)(n't|n’t)\b")
_DID_NOT = re.compile(r"\b(did|does|do) not ([a-z]+)\b")
_FIRST_BASE = {verbs._past(b): b for b in verbs._BASE if b not in verbs._irregular_bases}  # noqa: SLF001 the tables are read here alone
_BASE_OF = _FIRST_BASE | {e[1]: e[0] for e in verbs._irregular} | {verbs._third(b): b for b in verbs._BASE}  # noqa: SLF001
_PAST_OF = {b: p for p, b in _FIRST_BASE.items()} | {e[0]: e[1] for e in verbs._irregular}  # noqa: SLF001


def base_of(verb: str) -> str | None:
    """The base form of a regular or listed verb's past or third-person form."""
    return _BASE_OF.get(verb)


def past_of(base: str) -> str | None:
    """The past form of a listed verb."""
    return _PAST_OF.get(base)


def _affirm(text: str, rng: random.Random) -> Edit | None:
    found: list[tuple[int, int, str]] = [(m.start(), m.end(), m.group(1)) for m in _NEGATED.finditer(text)]
    found += [(m.start(), m.end(), m.group(1)) for m in _CONTRACTED.finditer(text) if m.group(1)[0] != "d"]
    for match in _DID_NOT.finditer(text):
        form = past_of(match.group(2)) if match.group(1) == "did" else None
        if form:
            found.append((*match.span(), form))
    if not found:
        return None
    start, end, new = rng.choice(found)
    return replace("negation", text, start, end, new)


def negation(text: str, _context: Context, rng: random.Random) -> Edit | None:
    """Negate the main verb, or take a negation away; the span covers the verb that it changes."""
    affirmed = _affirm(text, rng)
    if affirmed is not None:
        return affirmed
    if re.search(r"\b(?:not|no|never|nor|neither|hardly|barely|without|only|cannot)\b|n't", text):
        return None  # a negation beside another one is hard to read and often means something else
    parsed = parse(text)
    if parsed.verb < 1 or parsed.verb + 1 >= len(parsed.tokens):
        return None
    token, following = parsed.tokens[parsed.verb], parsed.tokens[parsed.verb + 1]
    low = token.low
    if token.tag == "AUX":
        if (
            low in {"has", "have", "had"}
            and following.tag not in {"VN", "ADV"}
            and following.low not in {"been", "had"}
        ):
            new = f"{ {'has': 'does', 'have': 'do', 'had': 'did'}[low] } not have"
            return replace("negation", text, token.start, token.end, new)
        if low in {"does", "do", "did"} or "'" in low:
            return None
        new = f"{token.text}not" if low == "can" else f"{token.text} not"
        return replace("negation", text, token.start, token.end, new)
    base = base_of(low)
    if base is None or token.tag not in {"V", "VN"}:
        return None
    helper = "does" if low in verbs.THIRD else "did"
    new = rng.choice((f"{helper} not {base}", f"{helper} not {base}", f"never {token.text}"))
    return replace("negation", text, token.start, token.end, new)
