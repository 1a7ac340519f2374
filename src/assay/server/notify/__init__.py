"""Telling people and programs of reviews: messages out of the outbox, to the targets that the operator configured."""
