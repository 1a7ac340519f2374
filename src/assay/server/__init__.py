"""The server: the check over REST, and a gateway in front of chat models that lets nothing out unchecked."""
