"""The modes of operation: what is done with an answer after the gate has decided on it."""

from enum import StrEnum


class Mode(StrEnum):
    """What is done with an answer after the gate has decided on it."""

    ENFORCE = "enforce"
    """Only what the gate emits passes; streams are held back sentence by sentence."""
    ANNOTATE = "annotate"
    """Everything passes together with the findings; in a stream a correction follows what was wrong."""
    SHADOW = "shadow"
    """Everything passes at once; it is checked afterwards, and the result appears only in the log."""
    OFF = "off"
    """Nothing is checked, and every answer is marked as unchecked."""
