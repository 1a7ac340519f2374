"""Arithmetic: what a text computes, and what follows from numbers of the evidence in one step."""
