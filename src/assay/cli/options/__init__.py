"""The options of verbs, as the fields of frozen dataclasses."""
