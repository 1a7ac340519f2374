"""The Merkle tree of RFC 6962, section 2.1: hashes, roots and proofs. Pure.

A log is a sequence of entries. Its root is one hash over all of them, in order. Two kinds of proof need no more than
some 2 log2(n) hashes: that an entry is in the log of a root (inclusion), and that the log of one root begins with the
log of an older one (consistency).

Verification is written after RFC 9162, sections 2.1.3.2 and 2.1.4.2, which step along a proof without recursion.
"""

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import Final

from assay.errors import AuditError

HASH_BYTES: Final = 32
"""The length of a hash: SHA-256."""
EMPTY_ROOT: Final = sha256(b"").digest()
"""The root of a log without entries."""
LONGEST_PROOF: Final = 128
"""More hashes than a proof over 2^63 entries has."""

NodeAt = Callable[[int, int], bytes]
"""The hash of a complete subtree: its level (0 for leaves) and its index among those of its level."""


def leaf_hash(data: bytes) -> bytes:
    """The hash of an entry: SHA-256 of a zero byte and the entry."""
    return sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of two subtrees: SHA-256 of a one byte and both hashes."""
    return sha256(b"\x01" + left + right).digest()


def complete_root(hashes: Sequence[bytes]) -> bytes:
    """The root over a power of two of hashes.

    >>> complete_root([b"a" * 32, b"b" * 32]) == node_hash(b"a" * 32, b"b" * 32)
    True
    """
    while len(hashes) > 1:
        pairs = iter(hashes)
        hashes = [sha256(b"\x01" + left + right).digest() for left, right in zip(pairs, pairs, strict=True)]
    return hashes[0]


def root(hashes: Sequence[bytes]) -> bytes:
    """The root over leaf hashes, by a stack of complete subtrees: linear time, no recursion.

    >>> root([]) == EMPTY_ROOT
    True
    """
    stack = RootStack()
    stack.extend(hashes)
    return stack.root()


class RootStack:
    """The roots of the complete subtrees that a growing tree is made of: all that is needed to go on.

    Takes leaf hashes one after the other, in memory of one hash for each bit of the size.
    """

    __slots__ = ("_stack", "size")

    def __init__(self) -> None:
        """An empty tree."""
        self._stack: list[bytes] = []
        self.size = 0
        """How many leaves it has."""

    def extend(self, hashes: Iterable[bytes]) -> None:
        """Add leaf hashes."""
        stack, size = self._stack, self.size
        for one in hashes:
            stack.append(one)
            size += 1
            # As many subtrees close as the new size has zeros at its end.
            rest = size
            while not rest & 1:
                right = stack.pop()
                stack[-1] = sha256(b"\x01" + stack[-1] + right).digest()
                rest >>= 1
        self.size = size

    def extend_complete(self, one: bytes, level: int) -> None:
        """Add the root of a complete subtree of 2^level leaves.

        Raises:
            ValueError: the size so far is no multiple of its leaves.
        """
        if self.size & ((1 << level) - 1):
            raise ValueError(f"a subtree of 2^{level} leaves cannot follow {self.size} leaves")
        self._stack.append(one)
        self.size += 1 << level
        rest = self.size >> level
        while not rest & 1:
            right = self._stack.pop()
            self._stack[-1] = node_hash(self._stack[-1], right)
            rest >>= 1

    def copy(self) -> "RootStack":
        """The same tree, to go on with differently."""
        other = RootStack()
        other._stack, other.size = self._stack.copy(), self.size
        return other

    def root(self) -> bytes:
        """The root of the tree as it is."""
        if not self._stack:
            return EMPTY_ROOT
        found = self._stack[-1]
        for left in reversed(self._stack[:-1]):
            found = node_hash(left, found)
        return found


def root_at(size: int, node_at: NodeAt) -> bytes:
    """The root of a log's first entries, out of the hashes of complete subtrees."""
    return _range_root(0, size, node_at) if size else EMPTY_ROOT


def inclusion_proof(index: int, size: int, node_at: NodeAt) -> list[bytes]:
    """The proof that the entry at an index is in the log of a size: PATH(m, D[n]) of RFC 6962, 2.1.1.

    Raises:
        AuditError: there is no such entry.
    """
    if not 0 <= index < size:
        raise AuditError(f"expected the index of an entry below {size}, got {index}")
    path: list[bytes] = []
    begin, end = 0, size
    while end - begin > 1:
        middle = begin + _split(end - begin)
        if index < middle:
            path.append(_range_root(middle, end, node_at))
            end = middle
        else:
            path.append(_range_root(begin, middle, node_at))
            begin = middle
    path.reverse()
    return path


def consistency_proof(old: int, size: int, node_at: NodeAt) -> list[bytes]:
    """The proof that the log of a size begins with the log of an older one: PROOF(m, D[n]) of RFC 6962, 2.1.2.

    Nothing has to be proved of an empty log or of the same size: the proof has no hashes.

    Raises:
        AuditError: the old size is larger than the size, or negative.
    """
    if not 0 <= old <= size:
        raise AuditError(f"expected an older size of at most {size}, got {old}")
    if old in (0, size):
        return []
    path: list[bytes] = []
    begin, end, whole = 0, size, True
    while end != old:
        middle = begin + _split(end - begin)
        if old <= middle:
            path.append(_range_root(middle, end, node_at))
            end = middle
        else:
            path.append(_range_root(begin, middle, node_at))
            begin, whole = middle, False
    if not whole:
        path.append(_range_root(begin, end, node_at))
    path.reverse()
    return path


def root_from_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes]) -> bytes:
    """The root that an inclusion proof leads to (RFC 9162, 2.1.3.2); the proof holds if it is the log's root.

    Args:
        leaf: the leaf hash of the entry.
        index: the entry's index, from 0.
        size: the log's size.
        proof: the hashes.

    Raises:
        AuditError: the proof has another length than one for this index and size.
    """
    if not 0 <= index < size:
        raise AuditError(f"expected the index of an entry below {size}, got {index}")
    at, last, found = index, size - 1, leaf
    for one in proof:
        if last == 0:
            raise AuditError("the inclusion proof has too many hashes")
        if at & 1 or at == last:
            found = node_hash(one, found)
            while at and not at & 1:
                at, last = at >> 1, last >> 1
        else:
            found = node_hash(found, one)
        at, last = at >> 1, last >> 1
    if last != 0:
        raise AuditError("the inclusion proof has too few hashes")
    return found


def is_included(leaf: bytes, index: int, size: int, proof: Sequence[bytes], expected: bytes) -> bool:
    """Whether a proof shows that a leaf is at an index of the log with this size and root."""
    try:
        return root_from_inclusion(leaf, index, size, proof) == expected
    except AuditError:
        return False


def is_consistent(old: int, size: int, proof: Sequence[bytes], old_root: bytes, new_root: bytes) -> bool:
    """Whether a proof shows that a log begins with an older one (RFC 9162, 2.1.4.2).

    An empty log is the beginning of every log; its root must be that of an empty log.
    """
    if not 0 <= old <= size:
        return False
    if old == size:
        return not proof and old_root == new_root
    if old == 0:
        return not proof and old_root == EMPTY_ROOT
    path = list(proof)
    if old & (old - 1) == 0:
        path.insert(0, old_root)
    return _walk(old, size, path, old_root, new_root)


def _walk(old: int, size: int, path: list[bytes], old_root: bytes, new_root: bytes) -> bool:
    if not path:
        return False
    at, last = old - 1, size - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    older = newer = path[0]
    for one in path[1:]:
        if last == 0:
            return False
        if at & 1 or at == last:
            older, newer = node_hash(one, older), node_hash(one, newer)
            while at and not at & 1:
                at, last = at >> 1, last >> 1
        else:
            newer = node_hash(newer, one)
        at, last = at >> 1, last >> 1
    return last == 0 and older == old_root and newer == new_root


def _split(size: int) -> int:
    """The largest power of two below a size."""
    return 1 << ((size - 1).bit_length() - 1)


def _range_root(begin: int, end: int, node_at: NodeAt) -> bytes:
    """MTH(D[begin:end]) where the range stands as a subtree in the tree, complete or at its right edge."""
    pieces: list[bytes] = []
    while begin < end:
        # The largest complete subtree that begins here and ends within the range.
        level = (end - begin).bit_length() - 1
        if begin:
            level = min(level, (begin & -begin).bit_length() - 1)
        pieces.append(node_at(level, begin >> level))
        begin += 1 << level
    found = pieces.pop()
    while pieces:
        found = node_hash(pieces.pop(), found)
    return found
