"""What holds for every request: who is let in, how large it may be, what errors look like."""
