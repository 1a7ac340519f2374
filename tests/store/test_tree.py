"""The Merkle tree: RFC 6962 itself, its properties, and agreement with an implementation by others."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymerkle import InmemoryTree
from pymerkle.proof import verify_consistency, verify_inclusion

from assay.errors import AuditError
from assay.store.audit.merkle.tiles import TILE_BYTES, Edge, Place, edge_places, hashes_of, node_reader, proof_places
from assay.store.audit.merkle.tree import (
    EMPTY_ROOT,
    RootStack,
    complete_root,
    consistency_proof,
    inclusion_proof,
    is_consistent,
    is_included,
    leaf_hash,
    node_hash,
    root,
    root_at,
    root_from_inclusion,
)

# The example of RFC 6962's reference implementation: eight entries and the roots of their beginnings.
ENTRIES = [
    bytes.fromhex(text)
    for text in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]

SIZES = st.integers(1, 700)


def leaves(count: int) -> list[bytes]:
    return [leaf_hash(str(number).encode()) for number in range(count)]


def by_definition(hashes: list[bytes]) -> bytes:
    """MTH as RFC 6962 writes it down."""
    if not hashes:
        return EMPTY_ROOT
    if len(hashes) == 1:
        return hashes[0]
    split = 1
    while split * 2 < len(hashes):
        split *= 2
    return node_hash(by_definition(hashes[:split]), by_definition(hashes[split:]))


def nodes_of(hashes: list[bytes]) -> Callable[[int, int], bytes]:
    return lambda level, index: complete_root(hashes[index << level : (index + 1) << level])


def test_the_roots_of_the_reference_implementation() -> None:
    hashes = [leaf_hash(entry) for entry in ENTRIES]
    assert [root(hashes[: size + 1]).hex() for size in range(8)] == ROOTS


def test_the_empty_log_has_the_hash_of_nothing() -> None:
    assert root([]).hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert root_at(0, nodes_of([])) == EMPTY_ROOT


@given(st.integers(0, 300))
def test_every_way_to_a_root_gives_the_root_of_the_definition(size: int) -> None:
    hashes = leaves(size)
    assert root(hashes) == root_at(size, nodes_of(hashes)) == by_definition(hashes)


@given(SIZES, st.data())
def test_every_entry_has_an_inclusion_proof_that_holds(size: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, size - 1))
    hashes = leaves(size)
    proof = inclusion_proof(index, size, nodes_of(hashes))
    assert is_included(hashes[index], index, size, proof, root(hashes))
    assert len(proof) <= size.bit_length()


@given(SIZES, st.data())
def test_every_older_log_has_a_consistency_proof_that_holds(size: int, data: st.DataObject) -> None:
    old = data.draw(st.integers(0, size))
    hashes = leaves(size)
    proof = consistency_proof(old, size, nodes_of(hashes))
    assert is_consistent(old, size, proof, root(hashes[:old]), root(hashes))


@given(st.integers(2, 200), st.data())
def test_an_altered_inclusion_proof_does_not_hold(size: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, size - 1))
    hashes = leaves(size)
    proof, whole = inclusion_proof(index, size, nodes_of(hashes)), root(hashes)
    at = data.draw(st.integers(0, len(proof) - 1))
    flipped = [*proof[:at], bytes([proof[at][0] ^ 1, *proof[at][1:]]), *proof[at + 1 :]]
    for other in (flipped, proof[:-1], [*proof, whole], proof[::-1] if proof[::-1] != proof else flipped):
        assert not is_included(hashes[index], index, size, other, whole)
    assert not is_included(hashes[index], (index + 1) % size, size, proof, whole)
    assert not is_included(leaf_hash(b"another"), index, size, proof, whole)


@given(st.integers(2, 200), st.data())
def test_an_altered_consistency_proof_does_not_hold(size: int, data: st.DataObject) -> None:
    old = data.draw(st.integers(1, size - 1))
    hashes = leaves(size)
    proof = consistency_proof(old, size, nodes_of(hashes))
    before, after = root(hashes[:old]), root(hashes)
    at = data.draw(st.integers(0, len(proof) - 1))
    flipped = [*proof[:at], bytes([proof[at][0] ^ 1, *proof[at][1:]]), *proof[at + 1 :]]
    for other in (flipped, proof[:-1], [*proof, after]):
        assert not is_consistent(old, size, other, before, after)
    assert not is_consistent(old, size, proof, after, after)
    assert not is_consistent(old, size, proof, before, before)


def test_an_empty_log_is_the_beginning_of_every_log_only_with_its_own_root() -> None:
    whole = root(leaves(5))
    assert is_consistent(0, 5, [], EMPTY_ROOT, whole)
    assert not is_consistent(0, 5, [], whole, whole)
    assert not is_consistent(0, 5, [whole], EMPTY_ROOT, whole)
    assert not is_consistent(6, 5, [], whole, whole)
    assert not is_consistent(-1, 5, [], whole, whole)


@pytest.mark.parametrize(("index", "size"), [(-1, 4), (4, 4), (0, 0)])
def test_there_is_no_proof_of_an_entry_that_is_not_there(index: int, size: int) -> None:
    with pytest.raises(AuditError, match="expected the index of an entry"):
        inclusion_proof(index, size, nodes_of(leaves(size)))
    with pytest.raises(AuditError, match="expected the index of an entry"):
        root_from_inclusion(leaf_hash(b""), index, size, [])


def test_there_is_no_proof_back_to_a_larger_log() -> None:
    with pytest.raises(AuditError, match="expected an older size of at most 4, got 5"):
        consistency_proof(5, 4, nodes_of(leaves(4)))


# The same by others


@given(st.integers(1, 300), st.data())
def test_an_independent_implementation_gives_the_same_roots_and_proofs(size: int, data: st.DataObject) -> None:
    old, index = data.draw(st.integers(1, size)), data.draw(st.integers(0, size - 1))
    entries = [str(number).encode() for number in range(size)]
    theirs = InmemoryTree(algorithm="sha256")
    theirs.append_entries(entries)
    hashes = [leaf_hash(entry) for entry in entries]
    nodes = nodes_of(hashes)
    assert theirs.get_root() == root(hashes)
    assert theirs.get_root(old) == root(hashes[:old])
    included = theirs.prove_inclusion(index + 1)
    verify_inclusion(hashes[index], root(hashes), included)
    ours = inclusion_proof(index, size, nodes)
    assert set(ours) <= set(included.path)
    assert is_included(hashes[index], index, size, ours, theirs.get_root())
    verify_consistency(root(hashes[:old]), root(hashes), theirs.prove_consistency(old, size))
    assert is_consistent(old, size, consistency_proof(old, size, nodes), theirs.get_root(old), theirs.get_root())


# Tiles


def stored(size: int, steps: list[int]) -> dict[Place, bytes]:
    """The tiles of a log that grew in steps, each by a writer that read only the edge."""
    hashes, tiles, at = leaves(size), dict[Place, bytes](), 0
    for step in [*steps, size]:
        edge = Edge(at, {place: tiles[place] for place in edge_places(at)})
        tiles |= edge.extend(hashes[at : at + step])
        at = min(size, at + step)
        assert edge.size == at
    return tiles


@given(st.integers(0, 1500), st.lists(st.integers(0, 600), max_size=6), st.data())
def test_tiles_hold_what_every_proof_needs_however_a_log_grew(size: int, steps: list[int], data: st.DataObject) -> None:
    tiles = stored(size, steps)
    hashes = leaves(size)
    nodes = node_reader(lambda level, index: tiles.get((level, index), b""))
    assert root_at(size, nodes) == root(hashes)
    if size:
        index, old = data.draw(st.integers(0, size - 1)), data.draw(st.integers(0, size))
        assert inclusion_proof(index, size, nodes) == inclusion_proof(index, size, nodes_of(hashes))
        assert consistency_proof(old, size, nodes) == consistency_proof(old, size, nodes_of(hashes))


@given(size=st.integers(1, 400) | st.integers(1, 2**40), data=st.data())
def test_a_proof_reads_no_tiles_but_those_that_are_read_for_it_at_once(size: int, data: st.DataObject) -> None:
    index, read = data.draw(st.integers(0, size - 1)), set[Place]()

    def tile_at(level: int, number: int) -> bytes:
        read.add((level, number))
        return bytes(TILE_BYTES)

    inclusion_proof(index, size, node_reader(tile_at))
    assert read <= proof_places(index, size)
    assert len(proof_places(index, size)) <= 2 * -(-size.bit_length() // 8)


def test_a_third_level_of_tiles_stands_over_65536_entries() -> None:
    hashes = [leaf_hash(number.to_bytes(4, "big")) for number in range(65536 + 300)]
    edge = Edge(0, {})
    tiles = edge.extend(hashes)
    nodes = node_reader(lambda level, index: tiles.get((level, index), b""))
    assert max(tiles) == (2, 0)
    assert root_at(len(hashes), nodes) == root(hashes)
    assert set(edge_places(len(hashes))) == {(0, 257), (1, 1), (2, 0)}
    Edge(len(hashes), tiles)


def test_an_edge_that_does_not_fit_its_size_is_refused() -> None:
    tiles = Edge(0, {}).extend(leaves(300))
    with pytest.raises(AuditError, match="expected 45 hashes in the tile at level 0, index 1 of a log of 301"):
        Edge(301, tiles)
    with pytest.raises(AuditError, match="got 0; the log was altered"):
        Edge(300, {})


def test_a_tile_of_another_length_is_refused() -> None:
    with pytest.raises(AuditError, match="got 33 bytes"):
        hashes_of(bytes(33))
    with pytest.raises(AuditError, match="expected a tile"):
        hashes_of(bytes(TILE_BYTES + 32))


def test_a_node_beyond_its_tile_is_refused() -> None:
    tiles = Edge(0, {}).extend(leaves(3))
    nodes = node_reader(lambda level, index: tiles.get((level, index), b""))
    with pytest.raises(AuditError, match="lacks hashes"):
        nodes(2, 0)


def test_a_subtree_can_be_added_only_where_one_may_stand() -> None:
    hashes = leaves(8)
    stack = RootStack()
    stack.extend_complete(complete_root(hashes[:4]), 2)
    stack.extend(hashes[4:6])
    with pytest.raises(ValueError, match="cannot follow 6 leaves"):
        stack.extend_complete(complete_root(hashes[:4]), 2)
    stack.extend_complete(complete_root(hashes[6:]), 1)
    assert stack.root() == root(hashes)
