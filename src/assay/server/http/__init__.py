"""What applies to every request: admission, limits on its body, the form of errors."""
