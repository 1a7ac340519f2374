"""The Merkle tree of RFC 6962, section 2.1: hashes, roots and proofs. Pure.

A log is a sequence of entries. Its root is one hash over all of them, in order. Two kinds of proof need only about
2 log2(n) hashes: that an entry is in the log with a given root (inclusion), and that this log begins with the log of an
older root (consistency).

Verification follows RFC 9162, sections 2.1.3.2 and 2.1.4.2, which walk along a proof without recursion.
"""

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import Final

from assay.errors import AuditError

HASH_BYTES: Final = 32
"""The length of a SHA-256 hash."""
EMPTY_ROOT: Final = sha256(b"").digest()
"""The root of a log without entries."""
LONGEST_PROOF: Final = 128
"""The most hashes of a proof: more than one over 2^63 entries needs."""

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
    """The root over leaf hashes, computed with a stack of complete subtrees in linear time.

    >>> root([]) == EMPTY_ROOT
    True
    """
    stack = RootStack()
    stack.extend(hashes)
    return stack.root()


class RootStack:
    """A growing tree as the roots of the complete subtrees that it consists of, which is all that adding leaves needs.

    Takes leaf hashes one after the other; it keeps one hash for each 1 bit of the size.
    """

    __slots__ = ("_stack", "size")

    def __init__(self) -> None:
        """An empty tree."""
        self._stack: list[bytes] = []
        self.size = 0
        """The number of its leaves."""

    def extend(self, hashes: Iterable[bytes]) -> None:
        """Add leaf hashes."""
        stack, size = self._stack, self.size
        for leaf in hashes:
            stack.append(leaf)
            size += 1
            # As many subtrees become complete as the new size has trailing zero bits.
            rest = size
            while not rest & 1:
                right = stack.pop()
                stack[-1] = sha256(b"\x01" + stack[-1] + right).digest()
                rest >>= 1
        self.size = size

    def extend_complete(self, subtree_root: bytes, level: int) -> None:
        """Add the root of a complete subtree of 2^level leaves.

        Raises:
            ValueError: the size so far is not a multiple of 2^level.
        """
        if self.size & ((1 << level) - 1):
            raise ValueError(f"a subtree of 2^{level} leaves cannot follow {self.size} leaves")
        self._stack.append(subtree_root)
        self.size += 1 << level
        rest = self.size >> level
        while not rest & 1:
            right = self._stack.pop()
            self._stack[-1] = node_hash(self._stack[-1], right)
            rest >>= 1

    def copy(self) -> "RootStack":
        """A copy of the tree, which can grow differently."""
        other = RootStack()
        other._stack, other.size = self._stack.copy(), self.size
        return other

    def root(self) -> bytes:
        """The root of the tree with its current leaves."""
        if not self._stack:
            return EMPTY_ROOT
        root = self._stack[-1]
        for left in reversed(self._stack[:-1]):
            root = node_hash(left, root)
        return root


def root_at(size: int, node_at: NodeAt) -> bytes:
    """The root of the first `size` entries of a log, from the hashes of complete subtrees."""
    return _range_root(0, size, node_at) if size else EMPTY_ROOT


def inclusion_proof(index: int, size: int, node_at: NodeAt) -> list[bytes]:
    """The proof that the entry at an index is in a log of the given size: PATH(m, D[n]) of RFC 6962, 2.1.1.

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
    """The proof that a log of the given size begins with an older one: PROOF(m, D[n]) of RFC 6962, 2.1.2.

    For an empty older log, or one of the same size, the proof has no hashes.

    Raises:
        AuditError: the older size is negative or larger than the size.
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
    return path[::-1]


def root_from_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes]) -> bytes:
    """The root that an inclusion proof leads to (RFC 9162, 2.1.3.2); the proof is valid if it is the log's root.

    Args:
        leaf: the leaf hash of the entry.
        index: the entry's index, from 0.
        size: the log's size.
        proof: the hashes.

    Raises:
        AuditError: the proof has the wrong length for this index and size.
    """
    if not 0 <= index < size:
        raise AuditError(f"expected the index of an entry below {size}, got {index}")
    at, last, node = index, size - 1, leaf
    for sibling in proof:
        if last == 0:
            raise AuditError("the inclusion proof has too many hashes")
        if at & 1 or at == last:
            node = node_hash(sibling, node)
            while at and not at & 1:
                at, last = at >> 1, last >> 1
        else:
            node = node_hash(node, sibling)
        at, last = at >> 1, last >> 1
    if last != 0:
        raise AuditError("the inclusion proof has too few hashes")
    return node


def is_included(leaf: bytes, index: int, size: int, proof: Sequence[bytes], expected: bytes) -> bool:
    """Whether a proof shows that a leaf is at an index of the log with the given size and root."""
    try:
        return root_from_inclusion(leaf, index, size, proof) == expected
    except AuditError:
        return False


def is_consistent(old: int, size: int, proof: Sequence[bytes], old_root: bytes, new_root: bytes) -> bool:
    """Whether a proof shows that a log begins with an older one (RFC 9162, 2.1.4.2).

    Every log begins with the empty log, whose root must be `EMPTY_ROOT`.
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
    return _is_consistent_path(old, size, path, old_root, new_root)


def _is_consistent_path(old: int, size: int, path: list[bytes], old_root: bytes, new_root: bytes) -> bool:
    if not path:
        return False
    at, last = old - 1, size - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    older = newer = path[0]
    for sibling in path[1:]:
        if last == 0:
            return False
        if at & 1 or at == last:
            older, newer = node_hash(sibling, older), node_hash(sibling, newer)
            while at and not at & 1:
                at, last = at >> 1, last >> 1
        else:
            newer = node_hash(newer, sibling)
        at, last = at >> 1, last >> 1
    return last == 0 and older == old_root and newer == new_root


def _split(size: int) -> int:
    """The largest power of two below a size."""
    return 1 << ((size - 1).bit_length() - 1)


def _range_root(begin: int, end: int, node_at: NodeAt) -> bytes:
    """MTH(D[begin:end]) of a range that is a subtree of the tree, complete or at its right edge."""
    subtree_roots: list[bytes] = []
    while begin < end:
        # The largest complete subtree that begins here and ends within the range.
        level = (end - begin).bit_length() - 1
        if begin:
            level = min(level, (begin & -begin).bit_length() - 1)
        subtree_roots.append(node_at(level, begin >> level))
        begin += 1 << level
    root = subtree_roots.pop()
    while subtree_roots:
        root = node_hash(subtree_roots.pop(), root)
    return root
