"""What was found of an output, as the gate reads it and as its report says it."""
