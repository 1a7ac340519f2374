"""How strictly an answer is held to what the gate says of it."""

from enum import StrEnum


class Mode(StrEnum):
    """What is done with an answer that was checked."""

    ENFORCE = "enforce"
    """Nothing passes that the gate does not emit; streams are held back sentence by sentence."""
    ANNOTATE = "annotate"
    """Everything passes, and what was found goes with it; in a stream a correction follows what was wrong."""
    SHADOW = "shadow"
    """Everything passes at once; it is checked afterwards and only the log says so."""
    OFF = "off"
    """Nothing is checked, and every answer is marked as unchecked."""
