"""Patterns of texts in requests that mean the same to every reader of the OpenAPI document."""

from typing import Final

SAYS_SOMETHING: Final = r"[^\s\x1c-\x1f\x85\ufeff]"
r"""A character that is no white space to anybody. `\S` alone differs: ECMA-262 counts U+FEFF as white space and U+0085
not, Unicode's `White_Space` the other way about, and Python also U+001C to U+001F."""
