"""Verifies bundles and proofs of assay's audit log. One file, Python 3.11 or later, nothing else.

    python3 standalone.py FILE --key VKEY [--key VKEY]... [--checkpoint FILE]...
    python3 standalone.py FILE --ring ring.json [--checkpoint FILE]...

FILE is the output of `assay audit export` or `assay audit prove`. Keys are those that you trust, obtained in a way that
you trust: as C2SP vkeys, or as the ring of public keys. Older checkpoints, kept where the log's owner cannot change
them, are compared with a bundle of a whole log: so a rewritten history is detected even if it was signed again with the
same key.

Exit status: 0 if everything holds, 1 if something does not, 2 for wrong usage.

Formats: RFC 6962 (tree), RFC 8032 (Ed25519), C2SP signed-note, tlog-checkpoint and tlog-proof.
"""

import argparse
import base64
import binascii
import hashlib
import hmac
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple


class VerificationError(Exception):
    """Something does not hold; the message says what."""


# Ed25519, RFC 8032: verification only, so nothing is secret and nothing needs to run in constant time.

_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_ROOT_OF_MINUS_ONE = pow(2, (_P - 1) // 4, _P)

_Point = tuple[int, int, int, int]


def _add(left: _Point, right: _Point) -> _Point:
    """The sum of two points in extended coordinates (RFC 8032, 5.1.4)."""
    a = (left[1] - left[0]) * (right[1] - right[0]) % _P
    b = (left[1] + left[0]) * (right[1] + right[0]) % _P
    c = 2 * left[3] * right[3] * _D % _P
    d = 2 * left[2] * right[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _times(factor: int, point: _Point) -> _Point:
    product: _Point = (0, 1, 1, 0)
    while factor:
        if factor & 1:
            product = _add(product, point)
        point, factor = _add(point, point), factor >> 1
    return product


def _decode(data: bytes) -> _Point | None:
    """Decode a point of 32 bytes (RFC 8032, 5.1.3); None if they are not a point."""
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & ((1 << 255) - 1)
    if y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, _P - 2, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * _ROOT_OF_MINUS_ONE % _P
    if (x * x - square) % _P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = _P - x
    return x, y, 1, x * y % _P


def _encode(point: _Point) -> bytes:
    inverse = pow(point[2], _P - 2, _P)
    x, y = point[0] * inverse % _P, point[1] * inverse % _P
    return (y | (x & 1) << 255).to_bytes(32, "little")


_BASE = _decode((4 * pow(5, _P - 2, _P) % _P).to_bytes(32, "little"))


def ed25519_fits(public: bytes, signature: bytes, message: bytes) -> bool:
    """Whether a signature over a message is valid under a public key (RFC 8032, 5.1.7)."""
    key = _decode(public) if len(public) == 32 else None
    if key is None or _BASE is None or len(signature) != 64:
        return False
    scalar = int.from_bytes(signature[32:], "little")
    if scalar >= _ORDER:
        return False
    challenge = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % _ORDER
    minus_key = (_P - key[0], key[1], key[2], _P - key[3])
    return _encode(_add(_times(scalar, _BASE), _times(challenge, minus_key))) == signature[:32]


# Keys and signed notes


class Key(NamedTuple):
    """A public key with a name; a key from a ring has none and is valid under any name."""

    name: str | None
    public: bytes


def key_id(name: str, public: bytes) -> bytes:
    """The id of an Ed25519 key in a note."""
    return hashlib.sha256(name.encode() + b"\n\x01" + public).digest()[:4]


def read_vkey(text: str) -> Key:
    """Parse a key NAME+ID+BASE64."""
    parts = text.strip().split("+", 2)
    if len(parts) != 3:
        raise VerificationError("expected a key as NAME+ID+BASE64")
    data = unbase64(parts[2])
    if len(data) != 33 or data[0] != 1 or key_id(parts[0], data[1:]).hex() != parts[1]:
        raise VerificationError("the key is not an Ed25519 key with its own id")
    return Key(parts[0], data[1:])


def read_ring(text: str) -> list[Key]:
    """The keys of a ring that are not revoked."""
    try:
        ring = json.loads(text)
        ring = ring.get("ring", ring)
        keys = [Key(None, bytes.fromhex(key["public"])) for key in ring["keys"] if not key.get("revoked")]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise VerificationError("the ring of public keys cannot be read") from error
    return keys


class Checkpoint(NamedTuple):
    """The statement of a log about its size and root, signed by a trusted key."""

    origin: str
    size: int
    root: bytes


def unbase64(text: str) -> bytes:
    """Decode base64; only its canonical encoding is accepted."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise VerificationError("expected base64") from error
    if base64.b64encode(data).decode() != text:
        raise VerificationError("expected base64 in its one spelling")
    return data


def open_checkpoint(note: str, keys: Sequence[Key]) -> Checkpoint:
    """The checkpoint in a note; raises VerificationError unless a trusted key signed it."""
    text, blank, lines = note.rpartition("\n\n")
    statement = text.split("\n")
    if not blank or len(statement) != 3 or not lines.endswith("\n") or re.search(r"[\x00-\x09\x0b-\x1f]", note):
        raise VerificationError("a checkpoint is malformed")
    origin, size, root = statement[0], statement[1], unbase64(statement[2])
    if not origin or not re.fullmatch(r"0|[1-9][0-9]{0,18}", size) or len(root) != 32:
        raise VerificationError("a checkpoint is malformed")
    _verify_signatures(origin, (text + "\n").encode(), lines[:-1].split("\n"), keys)
    return Checkpoint(origin, int(size), root)


def _verify_signatures(origin: str, message: bytes, lines: Iterable[str], keys: Sequence[Key]) -> None:
    known = {key_id(origin, key.public): key.public for key in keys if key.name in (None, origin)}
    signed = False
    for line in lines:
        match = re.fullmatch("\u2014 ([^\\s+]+) (\\S+)", line)
        if not match:
            raise VerificationError("a checkpoint is malformed")
        signature = unbase64(match[2])
        public = known.get(signature[:4]) if match[1] == origin else None
        if public is None:
            continue  # witnesses and other keys are ignored, as C2SP signed-note asks
        if not ed25519_fits(public, signature[4:], message):
            raise VerificationError("a signature of a trusted key does not fit its checkpoint")
        signed = True
    if not signed:
        raise VerificationError(f"no trusted key signed the checkpoint of {origin!r}")


def split_notes(text: str) -> list[str]:
    """The checkpoints in the text of a file."""
    blocks = text.strip("\n").split("\n\n")
    if len(blocks) % 2:
        raise VerificationError("expected checkpoints, each with its signatures")
    return [f"{body}\n\n{lines}\n" for body, lines in zip(blocks[::2], blocks[1::2], strict=True)]


# The tree, RFC 6962


def leaf_hash(data: bytes) -> bytes:
    """The hash of an entry."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of two subtrees."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def root_of(stack: Sequence[bytes]) -> bytes:
    """The root over the complete subtrees of a tree."""
    if not stack:
        return hashlib.sha256(b"").digest()
    root = stack[-1]
    for left in reversed(stack[:-1]):
        root = node_hash(left, root)
    return root


def root_of_proof(leaf: bytes, index: int, size: int, proof: Sequence[bytes]) -> bytes:
    """The root that an inclusion proof leads to (RFC 9162, 2.1.3.2)."""
    if not 0 <= index < size:
        raise VerificationError(f"there is no entry {index} among {size}")
    at, last, node = index, size - 1, leaf
    for sibling in proof:
        if last == 0:
            raise VerificationError("a proof has too many hashes")
        if at & 1 or at == last:
            node = node_hash(sibling, node)
            while at and not at & 1:
                at, last = at >> 1, last >> 1
        else:
            node = node_hash(node, sibling)
        at, last = at >> 1, last >> 1
    if last:
        raise VerificationError("a proof has too few hashes")
    return node


# Bundles


def verify_bundle(lines: Iterable[str], keys: Sequence[Key], older: Sequence[str] = ()) -> str:
    """Verify a bundle; returns what it proves, in one sentence.

    Args:
        lines: its lines.
        keys: the trusted keys.
        older: older checkpoints of the log, as notes.
    """
    rest = iter(lines)
    first = next(rest, "")
    names = {"bundle", "of", "checkpoint"}
    head = _object(first, names | {"partial"} if '"partial":' in first else names)
    if head["bundle"] != "assay.audit/1" or head["of"] not in ("log", "run"):
        raise VerificationError("expected a bundle of assay.audit/1")
    checkpoint = open_checkpoint(_text(head["checkpoint"]), keys)
    before = [open_checkpoint(note, keys) for note in older]
    for earlier in before:
        if earlier.origin != checkpoint.origin:
            raise VerificationError(f"a checkpoint is of another log: {earlier.origin!r}, not {checkpoint.origin!r}")
        if earlier.size > checkpoint.size:
            raise VerificationError(f"a checkpoint states {earlier.size} entries, the bundle only {checkpoint.size}")
    if head["of"] != "log" and before:
        raise VerificationError("older checkpoints can only be compared with a bundle of a whole log")
    result = _verify_log(rest, checkpoint, before) if head["of"] == "log" else _verify_run(rest, checkpoint)
    return _partial_notice(head.get("partial"), checkpoint) + result


def _partial_notice(partial: Any, checkpoint: Checkpoint) -> str:
    """The notice that a bundle is partial, by its own unsigned statement; empty if it does not say so."""
    if partial is None:
        return ""
    if not isinstance(partial, dict) or set(partial) != {"entries", "of"}:
        raise VerificationError("what a bundle says that it leaves out is malformed")
    entries, total = partial["entries"], partial["of"]
    if type(entries) is not int or type(total) is not int or not checkpoint.size == entries < total:
        raise VerificationError("what a bundle says that it leaves out does not fit its checkpoint")
    return f"IN PART, up to entry {entries} of {total}: "


def _verify_log(lines: Iterator[str], checkpoint: Checkpoint, before: Sequence[Checkpoint]) -> str:
    stack: list[bytes] = []
    size = 0
    stated_sizes = {earlier.size for earlier in before} | {checkpoint.size}
    roots = {0: root_of([])}
    for line in lines:
        stack.append(leaf_hash(_text(_object(line, {"entry"})["entry"]).encode()))
        size += 1
        rest = size
        while not rest & 1:
            right = stack.pop()
            stack[-1] = node_hash(stack[-1], right)
            rest >>= 1
        if size in stated_sizes:
            roots[size] = root_of(stack)
    if size != checkpoint.size:
        raise VerificationError(f"the checkpoint states {checkpoint.size} entries, the bundle holds {size}")
    for stated in (checkpoint, *before):
        if roots[stated.size] != stated.root:
            raise VerificationError(
                f"the first {stated.size} entries are not those of the checkpoint: history was rewritten"
            )
    others = f" and {len(before)} older checkpoint(s)" if before else ""
    return f"the log {checkpoint.origin} with {size} entries is whole and fits its checkpoint{others}"


def _verify_run(lines: Iterator[str], checkpoint: Checkpoint) -> str:
    entries: list[dict[str, Any]] = []
    content = "its content was not exported"
    last = -1
    for line in lines:
        if '"content"' in line[:12]:
            content = _verify_content(_object(line, {"content"})["content"], entries)
            if next(lines, None) is not None:
                raise VerificationError("something follows the content")
            break
        fields = _object(line, {"index", "proof", "entry"})
        data, index = _text(fields["entry"]).encode(), fields["index"]
        if not isinstance(index, int) or isinstance(index, bool) or index <= last:
            raise VerificationError("entries are not in the order of the log")
        last = index
        proof = [unbase64(_text(sibling)) for sibling in _list(fields["proof"])]
        if root_of_proof(leaf_hash(data), index, checkpoint.size, proof) != checkpoint.root:
            raise VerificationError(f"the proof of entry {index} does not lead to the root of the checkpoint")
        entries.append(_entry(data))
    if not entries:
        raise VerificationError("the bundle has no entry")
    if len({entry.get("record") for entry in entries}) != 1:
        raise VerificationError("the entries are about several runs")
    kinds = ", ".join(str(entry["kind"]) for entry in entries)
    return f"{len(entries)} entries ({kinds}) are in the log {checkpoint.origin}; {content}"


def _entry(data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except ValueError as error:
        raise VerificationError("an entry is no JSON") from error
    if not isinstance(value, dict) or not isinstance(value.get("kind"), str):
        raise VerificationError("an entry is malformed")
    return value


def commitment(salt: bytes, label: str, content: bytes) -> str:
    """The commitment that an entry holds in place of content."""
    return hmac.new(salt, label.encode() + b"\x00" + content, hashlib.sha256).hexdigest()


def _verify_content(content: Any, entries: Sequence[dict[str, Any]]) -> str:
    """Verify that the input and the report of a run are those that its decision commits to."""
    decision = next((entry for entry in entries if entry["kind"] == "decision"), None)
    names = {"record", "salt", "asked", "report", "evidence", "policy"}
    if decision is not None and "tape" in decision:
        names.add("tape")
    if decision is None or not isinstance(content, dict) or set(content) != names:
        raise VerificationError("there is content, and no decision that it belongs to")
    salt_text = _text(content["salt"])
    if content["record"] != decision["record"] or not re.fullmatch("[0-9a-f]{64}", salt_text):
        raise VerificationError("the content is of another run")
    salt, asked, report = bytes.fromhex(salt_text), _text(content["asked"]), _text(content["report"])
    _match(salt, "asked", asked.encode(), decision)
    _match(salt, "report", hashlib.sha256(report.encode()).hexdigest().encode(), decision)
    if "tape" in names:
        _match(salt, "tape", _text(content["tape"]).encode(), decision)
    report_fields, input_fields = json.loads(report), json.loads(asked)
    _match(salt, "output", report_fields["output"].encode(), decision)
    if commitment(salt, "run_id", report_fields["run_id"].encode()) != decision["query"]:
        raise VerificationError("the run's name is not what the decision commits to")
    if (report_fields["action"], report_fields["decision"]["route"]) != (decision["action"], decision["route"]):
        raise VerificationError("the report's decision is not that of the log")
    digests = list(dict.fromkeys(digest for _, digest in input_fields["evidence"]))
    texts = [_text(item) for item in _list(content["evidence"])]
    if digests != [hashlib.sha256(text.encode()).hexdigest() for text in texts]:
        raise VerificationError("the evidence is not what the decision was made on")
    policy = content["policy"]
    if policy is not None and hashlib.sha256(_text(policy).encode()).hexdigest() != decision["policy"]["digest"]:
        raise VerificationError("the policy is not the one that decided")
    return f"its content is what was decided on: {decision['action']} ({decision['route']}) at {decision['at']}"


def _match(salt: bytes, label: str, content: bytes, decision: dict[str, Any]) -> None:
    if commitment(salt, label, content) != decision[label]:
        raise VerificationError(f"the {label} is not what the decision commits to")


def _object(line: str, names: Iterable[str]) -> dict[str, Any]:
    """Parse the object in a line; only the encoding of a bundle is accepted."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise VerificationError("a line of the bundle is no JSON") from error
    if not isinstance(value, dict) or set(value) != set(names):
        raise VerificationError("a line of the bundle has other fields than it should")
    if json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n" != line:
        raise VerificationError("a line of the bundle is spelled otherwise than it was written")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise VerificationError("expected a text in the bundle")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise VerificationError("expected a list in the bundle")
    return value


# Proofs


def verify_proof(text: str, keys: Sequence[Key]) -> str:
    """Verify a tlog-proof with its entry as extra data; returns what it proves, in one sentence."""
    head, _, note = text.partition("\n\n")
    lines = head.split("\n")
    index = re.fullmatch(r"index (0|[1-9][0-9]{0,18})", lines[2]) if len(lines) > 2 else None
    if index is None or lines[0] != "c2sp.org/tlog-proof@v1" or not lines[1].startswith("extra "):
        raise VerificationError("expected a tlog-proof with extra data")
    checkpoint = open_checkpoint(note, keys)
    data = unbase64(lines[1][6:])
    proof = [unbase64(line) for line in lines[3:]]
    if root_of_proof(leaf_hash(data), int(index[1]), checkpoint.size, proof) != checkpoint.root:
        raise VerificationError("the proof does not lead to the root of the checkpoint")
    return f"entry {index[1]} is in the log {checkpoint.origin} of {checkpoint.size} entries:\n{data.decode()}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Verify a file; returns the exit status."""
    parser = argparse.ArgumentParser(description="Verifies bundles and proofs of assay's audit log.")
    parser.add_argument("file")
    parser.add_argument("--key", action="append", default=[], metavar="VKEY", help="a trusted key; may be repeated")
    parser.add_argument("--ring", metavar="FILE", help="the ring of public keys")
    parser.add_argument("--checkpoint", action="append", default=[], metavar="FILE", help="older checkpoints")
    options = parser.parse_args(arguments)
    try:
        keys = [read_vkey(text) for text in options.key]
        if options.ring:
            keys += read_ring(_read(options.ring))
        if not keys:
            parser.error("name the keys that you trust with --key or --ring")
        older = [note for path in options.checkpoint for note in split_notes(_read(path))]
        with Path(options.file).open(encoding="utf-8", newline="") as file:
            is_proof = file.read(12) == "c2sp.org/tlo"
            file.seek(0)
            result = verify_proof(file.read(), keys) if is_proof else verify_bundle(file, keys, older)
    except OSError as error:
        print(f"cannot be read: {error}", file=sys.stderr)
        return 2
    except (VerificationError, KeyError, TypeError, ValueError, AttributeError) as error:
        print(f"DOES NOT HOLD: {error}")
        return 1
    if not older:
        print("CAUTION: no older checkpoint was compared with it: whoever has the key could have rewritten all of it")
    print(f"holds: {result}")
    return 0


def _read(path: str) -> str:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return file.read()


if __name__ == "__main__":
    sys.exit(main())
