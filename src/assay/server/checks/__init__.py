"""Requests that ask for checks: what they say, and what a repeated one is answered."""
