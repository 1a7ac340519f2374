"""Removes secrets from what is about to be logged.

No line of assay itself is meant to contain one. But messages of other packages and of errors quote their input: a URL
with its password, a header, a body. What looks like a secret is replaced, too much rather than too little: a line that
lost a word costs a look at the code, a key in a log costs the key.
"""

import re
from typing import Any, Final

REDACTED: Final = "***"
LONGEST: Final = 20_000
"""Characters of a text that are kept; the rest is cut, so that the search takes milliseconds at most."""

_VALUE: Final = r"""(?:"[^"]{0,4096}"?|'[^']{0,4096}'?|[^\s"',;&}\])]{1,4096})"""
_PATTERNS: Final = (
    # A URL's password. It may hold any character but blanks and quotes, so it ends at the last @.
    (re.compile(r"""(://[^\s:/@"'<>]{0,256}):[^\s"'<>]{1,1024}@"""), rf"\1:{REDACTED}@"),
    # A header or a field with credentials, whatever the scheme is.
    (
        re.compile(
            rf"""(?i)((?:proxy-)?authorization["']?,?\s{{0,8}}[:=,]\s{{0,8}}b?["']?)(?:[a-z]{{1,20}}\s{{1,8}})?{_VALUE}"""
        ),
        rf"\1{REDACTED}",
    ),
    # A URL whose user is a key.
    (re.compile(r"""(://)[^\s:/@"'<>]{16,256}@"""), rf"\1{REDACTED}@"),
    # The private part of a key in PEM, whole or cut off, on one line or on several.
    (
        re.compile(r"(-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----)(?:(?!-----END)[\s\S]){0,16384}"),
        rf"\1{REDACTED}",
    ),
    # A parameter of an address: keys of Google's APIs, and what signs a request to the stores of Azure and AWS.
    (
        re.compile(
            r"(?i)([?&;](?:key|sig|signature|x-(?:amz|goog)-(?:signature|credential|security-token))=)[^\s\"'&<>]{1,4096}"
        ),
        rf"\1{REDACTED}",
    ),
    # A field or an option by its name.
    (
        re.compile(
            r"""(?i)(?<![a-z])((?:x-)?(?:[a-z]{0,20}[_-]?(?:api|access|private|secret|signing)[_-]?key|assay[_-]?key"""
            r"""|password|passwd|pwd|(?:auth|access|refresh|id|client|bearer)?(?:secret|token)|credential|cookie"""
            rf"""|passphrase)\\?["']?,?\s{{0,8}}[:=,]\s{{0,8}}b?\\?)(?!\*){_VALUE}"""
        ),
        rf"\1{REDACTED}",
    ),
    (re.compile(r"(?i)\b(bearer)\s{1,8}[A-Za-z0-9._~+/=-]{8,4096}"), rf"\1 {REDACTED}"),
    # Keys by their prefix: of assay, of model providers.
    (
        re.compile(
            r"\b(assay_|sk-|rk-|pk-|AIza|gsk_|hf_|xai-|AKIA|ASIA|gh[opsur]_|github_pat_|glpat-|xox[abeprs]-)[A-Za-z0-9_-]{12,4096}"
        ),
        rf"\1{REDACTED}",
    ),
)


def redacted(text: str) -> str:
    """A text without what looks like a secret, cut to `LONGEST` characters.

    >>> redacted("cannot reach postgresql://ann:s3cret@db/assay")
    'cannot reach postgresql://ann:***@db/assay'
    >>> redacted("headers: {'Authorization': 'Bearer abc', 'x-api-key': 'k'}")
    "headers: {'Authorization': '***', 'x-api-key': ***}"
    """
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}... [{len(text) - LONGEST:,} characters left out]"
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text


def redacted_value(value: Any) -> Any:
    """A value of a line with every text in it redacted, and every field whose name is that of a secret."""
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, dict):
        return {str(name): _field(str(name), one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [redacted_value(one) for one in value]
    return value if value is None or isinstance(value, (bool, int, float)) else redacted(str(value))


_SECRET_NAME: Final = re.compile(
    r"(?i)(?:^|[_-])(?:authorization|api[_-]?key|password|passwd|secret|token|credential|cookie|passphrase)$"
)


def _field(name: str, value: Any) -> Any:
    secret = _SECRET_NAME.search(name) and value is not None and not isinstance(value, (bool, int, float))
    return REDACTED if secret else redacted_value(value)
