"""What the command line says, as values: the fields of a frozen dataclass are the options of a verb."""
