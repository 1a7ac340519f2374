"""Thin adapters that put the guard into other frameworks in their own idiom; one module each, none loaded unasked."""
