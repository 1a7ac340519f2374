"""Notifications of reviews and alerts: messages from the outbox, sent to the targets that the operator configured."""
