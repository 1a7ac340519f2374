"""The shop that the agents of these tests work for, and what a model says there."""

from assay.guard import Guard
from assay.testing import FakeScorer

SYSTEM = "You help customers of a shop."
ASKED = "Where is my order W-17?"
FOUND = "Order W-17 is in Hamburg. Order W-17 arrives on 3 May 2026."
TRUE = "Order W-17 is in Hamburg."
FALSE = "Order W-17 arrives on 9 May 2026."
WITHHELD = "This answer was withheld."

guard = Guard("general", scorer=FakeScorer())


class Shop:
    """Executes the tool, and remembers for which orders."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def get_order(self, order_id: str) -> str:
        """Gets an order."""
        self.asked.append(order_id)
        return FOUND
