"""Sentences to put around a statement, and rules with their conditions: what `governed` draws on. All of our own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Attitude = Literal["holds", "open", "denied", "false"]
"""Whether who says it grants the statement, leaves it open, reports that somebody denies it, or calls it false."""


@dataclass(frozen=True)
class Governor:
    """Ways to say one and the same about a statement."""

    attitude: Attitude
    forms: tuple[str, ...]
    """With `{s}` for the statement and `{who}` for people in the plural; each follows from each of the others."""


HOLDERS = (
    "Critics",
    "Some historians",
    "Several reviewers",
    "Many residents",
    "Two of the judges",
    "The organisers",
    "Local reporters",
    "Several former colleagues",
    "Some experts",
    "A number of observers",
    "The neighbours",
    "The auditors",
    "Some members of the panel",
    "Many readers",
    "Most visitors",
    "The investigators",
    "Several officials",
    "Some scholars",
    "The editors",
    "His relatives",
    "Her friends",
    "The students",
    "Older members of the club",
    "Both lawyers",
    "Three of the witnesses",
    "The council's advisers",
)

GOVERNORS: tuple[Governor, ...] = (
    Governor(
        "open",
        (
            "{who} doubt that {s}.",
            "{who} have expressed doubt that {s}.",
            "{who} are not convinced that {s}.",
            "{who} question whether {s}.",
        ),
    ),
    Governor(
        "open",
        (
            "{who} doubted that {s}.",
            "{who} had doubts that {s}.",
            "{who} were not convinced that {s}.",
            "{who} questioned whether {s}.",
        ),
    ),
    Governor(
        "open",
        (
            "It is not known whether {s}.",
            "It is unknown whether {s}.",
            "No one knows whether {s}.",
            "Nobody knows if {s}.",
        ),
    ),
    Governor("open", ("It is unclear whether {s}.", "It is not clear whether {s}.", "It remains unclear if {s}.")),
    Governor("open", ("There were rumours that {s}.", "It was rumoured that {s}.", "Rumour had it that {s}.")),
    Governor("open", ("{who} hoped that {s}.", "{who} were hoping that {s}.", "{who} had hopes that {s}.")),
    Governor(
        "open",
        ("It has been proposed that {s}.", "It has been suggested that {s}.", "A suggestion has been made that {s}."),
    ),
    Governor(
        "open", ("One hypothesis is that {s}.", "According to one hypothesis, {s}.", "There is a hypothesis that {s}.")
    ),
    Governor(
        "open",
        (
            "{who} asked whether {s}.",
            "{who} asked if {s}.",
            "{who} wanted to know whether {s}.",
            "{who} inquired whether {s}.",
        ),
    ),
    Governor("open", ("{who} wondered whether {s}.", "{who} wondered if {s}.", "{who} asked themselves whether {s}.")),
    Governor(
        "open", ("{who} do not think that {s}.", "{who} don't believe that {s}.", "{who} do not believe that {s}.")
    ),
    Governor(
        "open", ("{who} did not think that {s}.", "{who} did not believe that {s}.", "{who} didn't believe that {s}.")
    ),
    Governor("open", ("Nobody believes that {s}.", "No one believes that {s}.", "No one thinks that {s}.")),
    Governor(
        "open", ("Hardly anyone believes that {s}.", "Almost nobody believes that {s}.", "Very few believe that {s}.")
    ),
    Governor("open", ("{who} feared that {s}.", "{who} were afraid that {s}.", "{who} had fears that {s}.")),
    Governor("open", ("{who} suspect that {s}.", "{who} have a suspicion that {s}.")),
    Governor("open", ("{who} assumed that {s}.", "{who} took it for granted that {s}.")),
    Governor("open", ("There is no evidence that {s}.", "No evidence shows that {s}.", "Nothing shows that {s}.")),
    Governor(
        "open",
        (
            "It has yet to be shown that {s}.",
            "It has not yet been shown that {s}.",
            "It has still not been shown that {s}.",
        ),
    ),
    Governor(
        "open",
        (
            "It has not been confirmed that {s}.",
            "There is no confirmation that {s}.",
            "It remains unconfirmed that {s}.",
        ),
    ),
    Governor(
        "open",
        (
            "It has been alleged that {s}.",
            "There have been allegations that {s}.",
            "Allegations have been made that {s}.",
        ),
    ),
    Governor("open", ("It is possible that {s}.", "Possibly {s}.", "Perhaps {s}.", "There is a chance that {s}.")),
    Governor("open", ("It is unlikely that {s}.", "It is not likely that {s}.", "It is improbable that {s}.")),
    Governor("open", ("{who} would be surprised if {s}.", "It would surprise {holder} if {s}.")),
    Governor(
        "open",
        (
            "{who} disagree about whether {s}.",
            "{who} are divided over whether {s}.",
            "{who} do not agree on whether {s}.",
        ),
    ),
    Governor("open", ("It does not follow that {s}.", "That does not mean that {s}.", "This does not imply that {s}.")),
    Governor("open", ("I don't think that {s}.", "I do not believe that {s}.")),
    Governor("open", ("I doubt that {s}.", "I have my doubts that {s}.")),
    Governor("open", ("Suppose that {s}.", "Imagine for a moment that {s}.", "Let us suppose that {s}.")),
    Governor(
        "open",
        (
            "If {s}, that would explain the silence of the others.",
            "Should it be true that {s}, that would explain the silence of the others.",
        ),
    ),
    Governor(
        "open",
        (
            "If {s}, the records will have to be corrected.",
            "Should it prove true that {s}, the records will have to be corrected.",
        ),
    ),
    Governor(
        "open", ("Even if {s}, the question would remain.", "Even supposing that {s}, the question would remain.")
    ),
    Governor("open", ("Unless {s}, the entry is wrong.", "The entry is wrong unless {s}.")),
    Governor("denied", ("{who} denied that {s}.", "{who} have denied that {s}.", "{who} rejected the claim that {s}.")),
    Governor("denied", ("{who} disputed that {s}.", "{who} have disputed that {s}.")),
    Governor("denied", ("{who} pretended that {s}.", "{who} made believe that {s}.")),
    Governor("false", ("It is false that {s}.", "It is not true that {s}.", "It is untrue that {s}.")),
    Governor(
        "false", ("Contrary to reports, it is not true that {s}.", "Contrary to reports, it is not the case that {s}.")
    ),
    Governor("false", ("The claim that {s} is false.", "The claim that {s} is not true.")),
    Governor("false", ("The report that {s} was wrong.", "It was wrongly reported that {s}.")),
    Governor(
        "false",
        (
            "{who} wrongly believed that {s}.",
            "{who} were under the mistaken impression that {s}.",
            "{who} believed by mistake that {s}.",
        ),
    ),
    Governor("false", ("It is a myth that {s}.", "It is only a myth that {s}.")),
    Governor(
        "holds", ("It was confirmed that {s}.", "It has been confirmed that {s}.", "There is confirmation that {s}.")
    ),
    Governor("holds", ("The report notes that {s}.", "The report states that {s}.", "As the report notes, {s}.")),
    Governor("holds", ("{who} know that {s}.", "{who} are aware that {s}.")),
    Governor("holds", ("It is known that {s}.", "It is a known fact that {s}.")),
    Governor("holds", ("{who} realised that {s}.", "{who} became aware that {s}.", "It dawned on {holder} that {s}.")),
    Governor("holds", ("It turned out that {s}.", "It emerged that {s}.", "As it turned out, {s}.")),
    Governor("holds", ("It is clear that {s}.", "It is plain that {s}.", "Clearly, {s}.")),
    Governor(
        "holds", ("Few people know that {s}.", "Not many people know that {s}.", "Few people are aware that {s}.")
    ),
    Governor(
        "holds",
        (
            "{who} were surprised that {s}.",
            "It surprised {holder} that {s}.",
            "It came as a surprise to {holder} that {s}.",
        ),
    ),
    Governor("holds", ("{who} had forgotten that {s}.", "{who} no longer remembered that {s}.")),
    Governor(
        "holds", ("{who} did not know that {s}.", "{who} were not aware that {s}.", "{who} were unaware that {s}.")
    ),
    Governor("holds", ("{who} did not realise that {s}.", "{who} failed to realise that {s}.")),
    Governor("holds", ("Nobody noticed that {s}.", "No one noticed that {s}.", "It went unnoticed that {s}.")),
    Governor("holds", ("{who} regret that {s}.", "{who} are sorry that {s}.")),
    Governor("holds", ("There is no doubt that {s}.", "It is beyond doubt that {s}.", "Without doubt, {s}.")),
    Governor("holds", ("Nobody doubts that {s}.", "No one doubts that {s}.", "It is doubted by nobody that {s}.")),
    Governor("holds", ("It cannot be denied that {s}.", "There is no denying that {s}.", "It is undeniable that {s}.")),
    Governor(
        "holds", ("It has been shown that {s}.", "It has been demonstrated that {s}.", "It has been proved that {s}.")
    ),
    Governor("holds", ("There is proof that {s}.", "It is proven that {s}.")),
    Governor("holds", ("It is true that {s}.", "It is indeed true that {s}.", "It is indeed the case that {s}.")),
    Governor("holds", ("The claim that {s} is true.", "The claim that {s} is correct.")),
    Governor("holds", ("The report that {s} was correct.", "It was correctly reported that {s}.")),
    Governor(
        "holds",
        (
            "{who} rightly believed that {s}.",
            "{who} were right to believe that {s}.",
            "{who} correctly believed that {s}.",
        ),
    ),
    Governor("holds", ("{who} admitted that {s}.", "{who} acknowledged that {s}.", "{who} conceded that {s}.")),
    Governor("holds", ("{who} discovered that {s}.", "{who} found out that {s}.")),
    Governor("holds", ("It is not a myth that {s}.", "It is no myth that {s}.")),
    Governor("holds", ("{who} agree that {s}.", "{who} are agreed that {s}.")),
    Governor(
        "holds",
        ("Given that {s}, the question was not raised again.", "The question was not raised again, given that {s}."),
    ),
    Governor(
        "holds", ("Because {s}, the records had to be corrected.", "The records had to be corrected because {s}.")
    ),
    Governor("holds", ("Even though {s}, the question remains.", "The question remains even though {s}.")),
    Governor("holds", ("Since {s}, the entry is wrong.", "The entry is wrong, since {s}.")),
    Governor(
        "holds",
        (
            "The fact that {s} explains the silence of the others.",
            "The silence of the others is explained by the fact that {s}.",
        ),
    ),
    Governor("holds", ("I was glad that {s}.", "It made me glad that {s}.")),
    Governor("holds", ("I know that {s}.", "I am aware that {s}.")),
)

SURE_CLAIMS = (
    "It was confirmed that {s}.",
    "It is known that {s}.",
    "It turned out that {s}.",
    "It is true that {s}.",
    "It has been shown that {s}.",
    "There is no doubt that {s}.",
)
"""What is wrong to say of a statement that the evidence leaves open."""

OPEN_ANSWERS = (
    "",
    "Nobody could say.",
    "The answer is not known.",
    "Opinions differ.",
    "No answer was given.",
    "It is hard to tell.",
    "That is still being looked into.",
)
NO_ANSWERS = ("No.", "The answer is no.", "No, that is a mistake.", "That was found to be untrue.")
YES_ANSWERS = (
    "Yes.",
    "The answer is yes.",
    "Yes, that is right.",
    "Yes, without any doubt.",
    "It turned out to be so.",
)


@dataclass(frozen=True)
class Field:
    """Rules of one field with conditions of which each may restrict each rule."""

    rules: tuple[str, ...]
    conditions: tuple[str, ...]


SLOTS: dict[str, tuple[str, ...]] = {
    "days": tuple(f"{n} days" for n in (3, 5, 7, 10, 14, 21, 30, 45, 60, 90)),
    "weeks": tuple(f"{n} weeks" for n in ("two", "three", "four", "six", "eight", "ten", "twelve")),
    "months": tuple(f"{n} months" for n in ("two", "three", "six", "nine", "twelve", "18", "24")),
    "hours": tuple(f"{n} hours" for n in (2, 4, 8, 12, 24, 36, 48, 72)),
    "money": ("$15", "$40", "$75", "$120", "$250", "$600", "£20", "£90", "€35", "€150", "€1,200"),
    "share": ("5%", "10%", "15%", "20%", "25%", "40%", "60%", "80%"),
    "dose": ("5 mg", "10 mg", "25 mg", "50 mg", "100 mg", "200 mg"),
    "count": ("two", "three", "four", "five", "six", "ten", "twelve"),
    "staff": ("Employees", "Full-time staff", "Part-time staff", "Team leaders", "Apprentices", "Contractors"),
    "buyer": ("Customers", "Members", "Subscribers", "Account holders", "Online buyers"),
    "pupil": ("Students", "Candidates", "First-year students", "Visiting students", "Doctoral candidates"),
    "patient": ("Patients", "Adult patients", "Children over twelve", "Outpatients", "Older patients"),
    "tenant": ("Tenants", "Subtenants", "Residents", "Leaseholders"),
    "traveller": ("Passengers", "Travellers", "Ticket holders", "Holders of a flexible ticket"),
    "resident": ("Residents", "Landowners", "Small businesses", "Households", "Applicants"),
    "user": ("Users", "Guests", "Administrators", "Developers", "Team owners"),
}
"""What stands in the braces of rules and conditions."""

FIELDS: dict[str, Field] = {
    "work": Field(
        rules=(
            "{staff} are entitled to {days} of paid leave a year.",
            "{staff} may carry over {days} of unused leave.",
            "{staff} may work from home {count} days a month.",
            "{staff} receive a yearly bonus of {share}.",
            "{staff} get {weeks} of parental leave.",
            "{staff} can claim {money} for travel each month.",
            "Overtime is paid at a higher rate.",
            "Training fees are refunded in full.",
            "The notice period is {weeks}.",
            "Meals on business trips are paid by the company.",
            "{staff} must hand in a medical certificate after {count} days.",
        ),
        conditions=(
            "the line manager agrees in writing",
            "the probation period is over",
            "the contract was signed before January",
            "the department has enough staff",
            "the request is made {weeks} ahead",
            "the annual review was positive",
            "the receipts are handed in within {days}",
            "the works council does not object",
            "the employee has served for {months}",
            "the budget of the team allows it",
            "the position is a permanent one",
            "the personnel office has been informed",
        ),
    ),
    "shop": Field(
        rules=(
            "{buyer} can return any item within {days}.",
            "{buyer} receive a full refund.",
            "{buyer} get a discount of {share}.",
            "Delivery is free of charge.",
            "Orders are shipped within {hours}.",
            "{buyer} may exchange faulty goods at any branch.",
            "The warranty covers repairs for {months}.",
            "Gift cards can be used for sale items.",
            "Replacement parts are sent at no cost.",
            "A fee of {money} is charged for late payment.",
            "{buyer} can cancel the subscription at any time.",
        ),
        conditions=(
            "the original packaging is intact",
            "the order exceeds {money}",
            "the receipt can be shown",
            "the product was bought online",
            "the device has been registered",
            "the seal is unbroken",
            "the payment was made by card",
            "the goods are in stock",
            "the account is in good standing",
            "the damage was reported within {days}",
            "the delivery address is on the mainland",
            "the item was sold at full price",
        ),
    ),
    "study": Field(
        rules=(
            "{pupil} may repeat the examination once.",
            "{pupil} can borrow up to {count} books.",
            "{pupil} receive a grant of {money} a month.",
            "{pupil} may use a calculator in the test.",
            "{pupil} are exempt from tuition fees.",
            "{pupil} can extend the deadline by {days}.",
            "The course is taught in English.",
            "The final grade counts for {share} of the mark.",
            "{pupil} must attend {count} seminars.",
            "The laboratory is open at weekends.",
            "{pupil} are admitted to the second year.",
        ),
        conditions=(
            "the tutor has given permission",
            "the first paper was passed",
            "the fees have been paid",
            "the average grade is above the minimum",
            "the application arrives before May",
            "the faculty board approves",
            "at least {count} people enrol",
            "a supervisor is present",
            "the student is under 26",
            "the illness is confirmed by a doctor",
            "the thesis has been registered",
            "the exchange agreement is still in force",
        ),
    ),
    "medicine": Field(
        rules=(
            "{patient} can take {dose} twice a day.",
            "{patient} may leave the clinic on the same day.",
            "The dose is raised to {dose} after {weeks}.",
            "The treatment is given for {weeks}.",
            "The vaccine protects for {months}.",
            "{patient} are given a second dose after {weeks}.",
            "The drug is safe during pregnancy.",
            "The tablets may be taken with food.",
            "{patient} should have a blood test every {weeks}.",
            "The operation can be done under local anaesthesia.",
            "The insurance pays for the therapy.",
        ),
        conditions=(
            "the kidneys work normally",
            "the blood pressure is stable",
            "the fever has gone down",
            "a doctor has been consulted",
            "the first dose was well tolerated",
            "the wound is clean",
            "the liver values are normal",
            "the infection is confirmed by a test",
            "the patient has no known allergy",
            "symptoms last longer than {days}",
            "the patient weighs more than 40 kg",
            "no other painkiller is taken",
        ),
    ),
    "housing": Field(
        rules=(
            "{tenant} may keep a pet.",
            "{tenant} can sublet a room for {months}.",
            "The deposit is paid back within {days}.",
            "The rent goes up by {share} a year.",
            "{tenant} may paint the walls.",
            "The landlord pays for repairs up to {money}.",
            "{tenant} can end the lease after {months}.",
            "Heating costs are included in the rent.",
            "{tenant} have the right to a parking space.",
            "The garden may be used by all parties.",
            "The landlord may enter the flat.",
        ),
        conditions=(
            "the owner has agreed",
            "the flat is left clean",
            "the lease has run for {months}",
            "{hours} of notice is given",
            "the other parties do not object",
            "the rent is paid on time",
            "the building is listed",
            "the contract says so",
            "the damage was not caused by the tenant",
            "a new tenant has been found",
            "the local index has risen",
            "the boiler has been replaced",
        ),
    ),
    "travel": Field(
        rules=(
            "{traveller} can change the booking for free.",
            "{traveller} may take {count} bags on board.",
            "{traveller} receive {money} in compensation.",
            "{traveller} can use the lounge.",
            "Children travel free.",
            "Bicycles are allowed on the train.",
            "The ferry runs every {hours}.",
            "Refunds are paid within {days}.",
            "A visa is issued at the border.",
            "{traveller} get a refund of {share} of the fare.",
            "The night bus stops at the airport.",
        ),
        conditions=(
            "the delay is longer than {hours}",
            "the ticket was bought in advance",
            "the weather is good",
            "an adult travels with them",
            "there is enough room",
            "the passport is valid for {months}",
            "the fare was paid in full",
            "the cancellation is made {days} before departure",
            "the flight was operated by the airline itself",
            "the harbour is free of ice",
            "the journey starts outside peak hours",
            "a return ticket can be shown",
        ),
    ),
    "law": Field(
        rules=(
            "{resident} can appeal within {days}.",
            "{resident} may build a shed without a permit.",
            "{resident} pay a reduced rate of {share}.",
            "The fine is {money}.",
            "The licence is valid for {months}.",
            "The court may close the hearing to the public.",
            "{resident} must register within {weeks}.",
            "The authority has to reply within {days}.",
            "{resident} receive legal aid.",
            "Water may be taken from the river.",
            "The permit can be renewed once.",
        ),
        conditions=(
            "the decision was delivered in writing",
            "the plot lies outside the old town",
            "the yearly income is below {money}",
            "a minor is involved",
            "the fee has been paid",
            "the inspectors found no fault",
            "the public interest demands it",
            "the neighbours have been heard",
            "the application is complete",
            "the council votes in favour",
            "the offence is a first one",
            "the water level is above the mark",
        ),
    ),
    "software": Field(
        rules=(
            "{user} can export the data at any time.",
            "{user} may invite up to {count} people.",
            "Backups are kept for {days}.",
            "Deleted files can be restored for {days}.",
            "{user} get {count} free projects.",
            "Support replies within {hours}.",
            "{user} can reset the password by e-mail.",
            "The service encrypts all messages.",
            "{user} are charged {money} a month.",
            "The update is installed automatically.",
            "Logs are deleted after {days}.",
        ),
        conditions=(
            "two-factor login is turned on",
            "the workspace is on the paid plan",
            "the owner of the team allows it",
            "the address has been verified",
            "the device is online",
            "the trial period has ended",
            "the archive option is enabled",
            "the server runs the latest version",
            "the request comes on a workday",
            "the administrator has set a policy",
            "the storage limit is not reached",
            "the battery is charged",
        ),
    ),
}

CONDITIONS_FOR_ALL = (
    "the council agrees",
    "the funding is renewed",
    "the weather permits",
    "the agreement is extended",
    "the owners consent",
    "the board approves",
    "the court upholds the ruling",
    "enough volunteers come forward",
    "the contract is renewed",
    "the ministry gives permission",
    "the season allows it",
    "the committee finds no fault",
    "the necessary permits are granted",
    "demand is high enough",
    "the members vote for it",
    "the equipment works",
    "the licence is still valid",
    "the costs stay within the budget",
    "the government grants an exemption",
    "the organisers receive enough entries",
)
"""Conditions that may stand beside a sentence of any document."""

IF_CUES = ("if", "provided that", "as long as", "on condition that", "if")
"""One says what another says."""
ONLY_CUES = ("only if", "only when")
EITHER_CUES = ("whether or not", "no matter whether", "regardless of whether")
"""What follows them restricts nothing; one says what another says."""
EVEN_CUES = ("even if", "even when", *EITHER_CUES)
"""What follows them restricts nothing; beside `even if` it is still said to hold where the condition is met."""
