# ruff: noqa: SIM905 word lists read better as running text
"""English words that can be the verb of a sentence, as word lists, which need no tagger.

Regular forms are derived from the base forms when the module is imported; irregular ones are listed. Forms that are as
often nouns (`plans`, `costs`) are listed separately, because only the words around them show which they are.
"""

BE = frozenset({"is", "are", "was", "were", "am", "isn't", "aren't", "wasn't", "weren't", "isn’t", "aren’t", "wasn’t"})
HAVE = frozenset({"has", "have", "had", "hasn't", "haven't", "hadn't"})
DO = frozenset({"does", "do", "did", "doesn't", "don't", "didn't", "doesn’t", "don’t", "didn’t"})
MODAL = frozenset(
    {
        "will",
        "would",
        "can",
        "could",
        "may",
        "might",
        "must",
        "shall",
        "should",
        "cannot",
        "can't",
        "won't",
        "can’t",
        "won’t",
        "mustn't",
        "shouldn't",
        "couldn't",
        "wouldn't",
    }
)
AUXILIARY = BE | HAVE | DO | MODAL

_BASE = """
accept access accommodate accompany accomplish account achieve acknowledge acquire act adapt add address adjust
administer admit adopt advance advise affect afford agree aim allocate allow alter analyze announce answer appear
apply appoint approach approve argue arrange arrive ask assert assess assign assist associate assume assure attach
attack attain attempt attend attract author award back ban base battle believe belong benefit block boast book boost
borrow broadcast call campaign cancel capture carry cause cease celebrate change charge check choose cite claim
classify clean clear close coach collaborate collapse collect combine command comment commission commit communicate
compare compete compile complete compose comprise compute concentrate concern conclude conduct confirm connect
consider consist constitute construct consult consume contact contain continue contribute control convert convince
cook coordinate cost count cover crash create criticize cross decide declare decline decrease dedicate defeat defend
define delay deliver demand demonstrate deny depart depend deploy derive describe design destroy detect determine
develop devote die differ direct disappear discover discuss display distribute divide document dominate donate double
drop earn edit educate elect eliminate embrace emerge emphasize employ enable encounter encourage end endorse engage
enhance enjoy enroll ensure enter entitle equal equip escape establish estimate evaluate evolve examine exceed exclude
execute exercise exhibit exist expand expect experience expire explain explore export express extend face facilitate
fail fall feature fight file fill finance finish fire fit fix focus follow force form found fulfill function fund
gain gather generate govern graduate grant guarantee guard guide handle happen head help hire host house identify
ignore illustrate implement imply import impose improve include incorporate increase indicate influence inform
inherit initiate inspire install instruct integrate intend interact introduce invent invest investigate invite involve
issue join judge justify kill label lack land last launch lecture license lift like limit link list live load locate
lock lose love lower maintain manage manufacture march mark marry match matter measure mention merge migrate minimize
model modify monitor move name need negotiate note notify obtain occupy occur offer open operate oppose order organize
originate outline outperform oversee own pass patent perform permit pioneer place plan plant play point portray
possess practice praise precede predict prefer prepare present preserve press prevent price print proceed process
produce prohibit promise promote propose protect prove provide publish purchase pursue push qualify question raise
range rank rate reach react realize receive recognize recommend record recover reduce refer reflect refuse regain
register regulate reject relate release relocate rely remain remember remove rename renew renovate rent repair
repeat replace reply report represent request require research reserve reside resign resolve respond restore restrict
result resume retain retire retrieve return reveal review revise reward rise rule sail sample satisfy save scale
schedule score search secure seek seem select sell send separate serve settle shape share ship show shut sign
simplify sing sit solve specialize specify sponsor stand star start state stay stem stop store strengthen stress
study submit succeed suffer suggest supervise supply support surpass surround survive suspend sustain switch target
teach tell tend terminate test threaten total tour trace track trade train transfer transform translate transmit
travel treat trigger triple turn uncover undergo understand unify unite update upgrade use utilize validate vary
abandon accuse affiliate ambush arrest assemble attribute awaken border bury captain center certify characterize
commence configure confront consecrate consolidate convict cremate credit crush damage debut demolish depict designate
desire detain devastate devise disband dismantle draft drain enlist evacuate excavate explode expose fear film fold
hail honor immigrate imprison inter interrupt jail kidnap lease market miss mobilise mount murder nickname nominate
observe ordain organise oust participate penalize persuade pick plague populate postpone power premiere proclaim prompt
recognise reclaim reconcile recruit redevelop regard render reopen rescue resemble retreat reverse revive sentence shift
showcase situate star station subdivide subject trap try voice
verify view visit vote want warn waive watch weigh welcome win withdraw witness work worry wrap write yield
""".split()

_IRREGULAR = (
    """
become became become|begin began begun|bind bound bound|break broke broken|bring brought brought|build built built
buy bought bought|catch caught caught|come came come|deal dealt dealt|do did done|draw drew drawn|drive drove driven
eat ate eaten|fall fell fallen|feel felt felt|fight fought fought|find found found|flow flowed flowed|fly flew flown
forbid forbade forbidden|get got got|give gave given|go went gone|grow grew grown|have had had|hear heard heard
hold held held|keep kept kept|know knew known|lay laid laid|lead led led|leave left left|lend lent lent|let let let
lie lay lain|lose lost lost|make made made|mean meant meant|meet met met|outgrow outgrew outgrown|pay paid paid
put put put|read read read|ride rode ridden|rise rose risen|run ran run|say said said|see saw seen|seek sought sought
sell sold sold|send sent sent|set set set|show showed shown|shut shut shut|sing sang sung|sit sat sat|speak spoke spoken
spend spent spent|stand stood stood|steal stole stolen|swim swam swum|take took taken|teach taught taught
tell told told|think thought thought|throw threw thrown|undergo underwent undergone|understand understood understood
win won won|withdraw withdrew withdrawn|write wrote written|choose chose chosen|wear wore worn|cut cut cut|hit hit hit
cost cost cost|oversee oversaw overseen|broadcast broadcast broadcast|fit fit fit|spread spread spread|bear bore born
""".replace("\n", "|")
    .strip("|")
    .split("|")
)

_NOUNS_TOO = frozenset(
    """access accounts acts addresses advances aims answers approaches attacks attempts awards backs bans bases
    battles benefits blocks books boosts broadcasts calls campaigns causes changes charges checks claims coaches
    collects commands comments commissions comments concerns conducts contacts contracts controls costs counts covers
    crashes crosses declines decreases delays demands designs displays documents doubles drops ends exercises exhibits
    experiences exports faces falls features fights files fills fires fits focuses forces forms functions funds gains
    grants guards guides heads helps hosts houses imports increases influences issues judges labels lacks lands lasts
    launches lectures licenses lifts likes limits links lists lives loads locks loves marches marks matches matters
    measures mentions models monitors moves names needs notes offers opens orders outlines passes patents permits
    places plans plants plays points practices presents presses prices prints processes produces promises purchases
    pushes questions ranges ranks rates records releases rents repairs reports requests research reserves results
    returns reviews rewards rises rules runs samples scales schedules scores searches sets shapes shares ships shows
    signs sponsors stands stars starts states stays stems stops stores stresses studies supplies supports surrounds
    switches targets tests totals tours traces tracks trades trains transfers travels triggers triples turns updates
    upgrades uses views visits votes wants watches welcomes wins witnesses works worries wraps yields cuts hits reads
    leads leaves finds spends deals draws drives keeps lies makes rides
    borders captains centers credits crushes damages debuts desires drafts drains fears films folds honors jails leases
    markets mounts murders nicknames picks plagues powers prompts recruits rescues retreats reverses sentences shifts
    stars stations subjects traps voices""".split()
)


def _third(base: str) -> str:
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return base + "es"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ies"
    return base + "s"


_DOUBLED = frozenset(
    "ban control inter star trap commit fit occur permit plan refer ship stem stop submit transfer transmit wrap "
    "drop".split()
)


def _past(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ied"
    return base + base[-1] + "ed" if base in _DOUBLED else base + "ed"


_irregular = [tuple(entry.split()) for entry in _IRREGULAR if entry.strip()]
_irregular_bases = frozenset(entry[0] for entry in _irregular)

BASE = frozenset(_BASE) | _irregular_bases
"""Base forms: send, book, include."""
THIRD = frozenset(_third(b) for b in BASE if b not in {"do", "have"}) | {"undergoes", "goes"}
"""Third person singular, present tense: sends, books, includes."""
AMBIGUOUS = THIRD & _NOUNS_TOO
"""Third-person forms that are as often plural nouns."""
PARTICIPLE = frozenset(e[2] for e in _irregular) | frozenset(_past(b) for b in BASE if b not in _irregular_bases)
"""Past participles: sent, booked, included."""
PAST = frozenset(e[1] for e in _irregular) | frozenset(_past(b) for b in BASE if b not in _irregular_bases)
"""Past tense: sent, booked, included; for most verbs the same word as the participle."""
ONLY_PAST = PAST - PARTICIPLE
"""Words that can be nothing but a finite past: became, wrote, took."""
SAYING = frozenset(
    """say says said claim claims claimed state states stated report reports reported believe believes believed
    argue argues argued think thinks thought suggest suggests suggested announce announces announced deny denies
    denied estimate estimates estimated allege alleges alleged assume assumes assumed hope hopes hoped wonder wondered
    expect expects expected""".split()
)
"""Verbs after which a clause is what someone says, not what is the case."""


_OTHER_WORDS_TOO = frozenset(
    {"left", "rose", "saw", "lay", "bore", "found", "felt", "read", "lie", "shot", "ground", "born"}
)
"""Verb forms that are as often other words."""


def irregular_forms(base: str) -> tuple[str, ...]:
    """The irregular past tense and participle of a verb, without forms that are as often other words.

    >>> irregular_forms("forbid"), irregular_forms("leave"), irregular_forms("open")
    (('forbade', 'forbidden'), (), ())
    """
    return _IRREGULAR_FORMS.get(base, ())


def base_of(form: str) -> str | None:
    """The base form of a finite verb; none where it is not a form of a known verb.

    >>> base_of("carries"), base_of("wrote"), base_of("enter"), base_of("garden")
    ('carry', 'write', 'enter', None)
    """
    if form in BASE:
        return form
    return _BASE_OF.get(form)


_BASE_OF = {
    **{_past(base): base for base in sorted(BASE - _irregular_bases)},
    **{entry[1]: entry[0] for entry in _irregular},
    **{_third(base): base for base in sorted(BASE - {"do", "have"})},
    "has": "have",
    "had": "have",
    "does": "do",
    "did": "do",
}
_IRREGULAR_FORMS = {
    base: tuple(dict.fromkeys(form for form in (past, participle) if form not in _OTHER_WORDS_TOO | {base}))
    for base, past, participle in (row.split() for row in _IRREGULAR)
}
