"""Words of events that happen once: "opened", "was opened", "the opening of"; each with its event.

Left out is what comes again by its nature (held, won, elected, met): two dates of such a thing are two things.
"""

from typing import Final

_TABLE: Final[tuple[tuple[str, str, str], ...]] = (
    ("open", "opened", "opening"), ("close", "closed", "closure closing"), ("found", "founded", "founding foundation"),
    ("establish", "established", "establishment"), ("incorporate", "incorporated", "incorporation"),
    ("create", "created", "creation"), ("form", "formed", "formation"), ("build", "built constructed", ""),
    ("complete", "completed finished", "completion"), ("inaugurate", "inaugurated", "inauguration"),
    ("launch", "launched", "launch launching"), ("release", "released", "release"),
    ("publish", "published", "publication"), ("premiere", "premiered", "premiere première"),
    ("debut", "debuted", "debut"), ("introduce", "introduced", "introduction"), ("invent", "invented", "invention"),
    ("discover", "discovered", "discovery"), ("patent", "patented", ""), ("sign", "signed", "signing signature"),
    ("ratify", "ratified", "ratification"), ("adopt", "adopted", "adoption"), ("enact", "enacted", "enactment"),
    ("repeal", "repealed", "repeal"), ("abolish", "abolished", "abolition"), ("dissolve", "dissolved", "dissolution"),
    ("disband", "disbanded", "disbandment"), ("begin", "began begun started", "beginning start"),
    ("end", "ended", "end ending"), ("break out", "broke_out", "outbreak"),
    ("come into force", "came_into_force came_into_effect took_effect entered_into_force", ""),
    ("expire", "expired", "expiry expiration"), ("bear", "born", "birth"), ("die", "died", "death"),
    ("execute", "executed", "execution"), ("assassinate", "assassinated", "assassination"),
    ("sink", "sank sunk", "sinking"), ("crash", "crashed", "crash"), ("demolish", "demolished", "demolition"),
    ("destroy", "destroyed", "destruction"), ("collapse", "collapsed", "collapse"),
    ("acquire", "acquired bought", "acquisition purchase"), ("merge", "merged", "merger"),
    ("retire", "retired", "retirement"), ("resign", "resigned", "resignation"),
    ("appoint", "appointed", "appointment"), ("hire", "hired", ""), ("dismiss", "dismissed", "dismissal"),
    ("approve", "approved", "approval"), ("terminate", "terminated", "termination"),
    ("cancel", "cancelled canceled", "cancellation"), ("ship", "shipped dispatched", "shipment dispatch"),
    ("deliver", "delivered", "delivery"), ("place", "placed", ""), ("submit", "submitted", "submission"),
    ("issue", "issued", "issuance"), ("file", "filed", "filing"), ("receive", "received", "receipt"),
    ("decommission", "decommissioned", "decommissioning"), ("unveil", "unveiled", "unveiling"),
    ("consecrate", "consecrated", "consecration"), ("commission", "commissioned", "commissioning"),
    ("take place", "took_place happened occurred", ""), ("invade", "invaded", "invasion"),
    ("install", "installed", "installation"), ("set up", "set_up", ""), ("land", "landed", "landing"),
    ("graduate", "graduated", "graduation"), ("join", "joined", ""), ("activate", "activated", "activation"),
)  # fmt: skip
"""An event, its past forms and participles, and its nouns."""

VERBS: Final = {form.replace("_", " "): event for event, forms, _ in _TABLE for form in forms.split()}
"""A past form or participle with its event."""
NOUNS: Final = {form: event for event, _, forms in _TABLE for form in forms.split()}
"""A noun with its event."""
NEEDS_PASSIVE: Final = frozenset({
    "found", "establish", "incorporate", "create", "build", "inaugurate", "publish", "introduce", "invent", "discover",
    "patent", "sign", "ratify", "adopt", "enact", "repeal", "abolish", "bear", "execute", "assassinate", "demolish",
    "destroy", "acquire", "appoint", "hire", "dismiss", "approve", "terminate", "cancel", "deliver", "place", "submit",
    "issue", "file", "receive", "decommission", "unveil", "consecrate", "commission", "complete", "release", "invade",
    "install", "activate", "set up",
})  # fmt: skip
"""Events that befall what "was" stands behind; without it the subject does them to something else."""
