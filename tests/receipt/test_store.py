"""Keys as files: permissions, creation, rotation, revocation, and what may not be trusted."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.receipt.making import DAY, KEY, OUTPUT, RECEIPT_ID, receipt_of, report_of, ring_of

from assay.errors import ReceiptError
from assay.receipt import (
    FixedKeys,
    KeyRing,
    KeyState,
    KeyStore,
    PublicKey,
    RingFile,
    new_receipt_id,
    open_keys,
    read_ring,
    sign,
    verify,
)

POSIX = pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
LATER = DAY + timedelta(days=30)


@pytest.fixture
def store(tmp_path: Path) -> KeyStore:
    return KeyStore(tmp_path / "keys")


def issue(store: KeyStore, at: datetime = DAY) -> str:
    return sign(report_of(), store.signer(), issued_at=at, receipt_id=RECEIPT_ID).to_text()


def private_files(store: KeyStore) -> set[str]:
    return {path.stem for path in store.folder.glob("*.key")}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# Creation


def test_a_created_key_signs_and_its_ring_verifies(store: KeyStore) -> None:
    key = store.create(DAY)
    assert verify(OUTPUT, issue(store), read_ring(store.ring_file)).key == key
    assert private_files(store) == {key.key_id}
    assert key.created == "2026-03-01T12:00:00Z"


@POSIX
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_a_private_key_is_for_its_owner_alone_whatever_the_umask(store: KeyStore, umask: int) -> None:
    old = os.umask(umask)
    try:
        key = store.create(DAY)
    finally:
        os.umask(old)
    assert mode(store.folder / f"{key.key_id}.key") == 0o600
    assert mode(store.ring_file) == 0o644
    assert mode(store.folder) & 0o077 == 0


@POSIX
@pytest.mark.parametrize("loose", [0o640, 0o604, 0o660, 0o644, 0o610])
def test_a_private_key_that_others_may_touch_is_not_used(store: KeyStore, loose: int) -> None:
    key = store.create(DAY)
    (store.folder / f"{key.key_id}.key").chmod(loose)
    with pytest.raises(ReceiptError, match=f"mode 0600.*got {loose:04o}"):
        store.signer()


def test_a_second_key_is_made_by_rotation_only(store: KeyStore) -> None:
    store.create(DAY)
    with pytest.raises(ReceiptError, match="rotate"):
        store.create(DAY)


def test_without_keys_nothing_is_signed(store: KeyStore) -> None:
    with pytest.raises(ReceiptError, match="create-key"):
        store.signer()
    with pytest.raises(ReceiptError, match="got 0"):
        store.rotate(DAY)


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("x")
    with pytest.raises(ReceiptError, match="cannot be used"):
        KeyStore(tmp_path / "keys").create(DAY)


def test_two_that_create_at_once_make_one_key(store: KeyStore) -> None:
    def attempt(_: int) -> bool:
        try:
            store.create(DAY)
        except ReceiptError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(8))) == 1
    assert len(store.ring().keys) == 1


# Rotation


def test_rotation_retires_the_key_and_what_it_signed_stays_good(store: KeyStore) -> None:
    old = store.create(DAY)
    before = issue(store)
    retired, new = store.rotate(LATER)
    assert (retired.key_id, retired.state, new.state) == (old.key_id, KeyState.RETIRED, KeyState.ACTIVE)
    assert verify(OUTPUT, before, store.ring()).valid
    assert verify(OUTPUT, issue(store, LATER), store.ring()).key == new
    assert private_files(store) == {new.key_id}


def test_many_rotations_leave_every_receipt_good_and_one_private_key(store: KeyStore) -> None:
    store.create(DAY)
    receipts = []
    for day in range(5):
        receipts.append(issue(store, DAY + timedelta(days=day)))
        store.rotate(DAY + timedelta(days=day))
    ring = store.ring()
    assert all(verify(OUTPUT, receipt, ring).valid for receipt in receipts)
    assert len(ring.keys) == 6
    assert len(private_files(store)) == 1


def test_a_ring_that_cannot_be_written_leaves_the_old_key_signing(
    store: KeyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = store.create(DAY)

    def full(self: Path, target: object) -> Path:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(Path, "replace", full)
        for change in (lambda: store.rotate(LATER), lambda: store.revoke(key.key_id, "x", LATER)):
            with pytest.raises(ReceiptError, match="No space left"):
                change()
    assert store.ring().keys == (key,)
    assert store.signer().key_id == key.key_id
    assert not list(store.folder.glob(".*.tmp"))


@settings(max_examples=25)
@given(st.lists(st.sampled_from(["issue", "rotate", "revoke the newest", "revoke the oldest"]), max_size=8))
def test_whatever_happens_to_keys_receipts_hold_until_their_key_is_revoked(steps: list[str]) -> None:
    with TemporaryDirectory() as folder:
        store, now, issued = KeyStore(folder), DAY, []
        store.create(now)
        for step in steps:
            now += timedelta(seconds=1)
            if step == "issue":
                issued.append((store.signer().key_id, issue(store, now)))
            elif step == "rotate":
                store.rotate(now)
            else:
                good = [key for key in store.ring().keys if key.state is not KeyState.REVOKED]
                store.revoke(good[-1 if "newest" in step else 0].key_id, step, now)
                if not store.ring().active:
                    store.create(now)
            ring = store.ring()
            for key_id, receipt in issued:
                key = ring.find(key_id)
                assert key is not None
                assert verify(OUTPUT, receipt, ring).valid == (key.state is not KeyState.REVOKED)
            assert private_files(store) == {key.key_id for key in ring.active}


def test_a_clock_that_was_set_back_retires_no_key_before_its_creation(store: KeyStore) -> None:
    store.create(DAY)
    retired, _ = store.rotate(DAY - timedelta(days=9))
    assert retired.retired == retired.created


# Revocation


def test_a_revoked_key_verifies_nothing_and_signs_nothing(store: KeyStore) -> None:
    key = store.create(DAY)
    receipt = issue(store)
    store.revoke(key.key_id, "a laptop was lost", LATER)
    assert {code.value for code in verify(OUTPUT, receipt, store.ring()).codes} == {"key_revoked_since"}
    assert private_files(store) == set()
    with pytest.raises(ReceiptError, match="got 0"):
        store.signer()
    assert store.create(LATER).state is KeyState.ACTIVE


def test_a_key_may_be_revoked_since_an_earlier_time_and_never_since_a_later_one(store: KeyStore) -> None:
    key = store.create(DAY)
    receipt = issue(store, DAY + timedelta(days=2))
    revoked = store.revoke(key.key_id, "stolen", LATER, since=DAY + timedelta(days=1))
    assert revoked.revoked is not None
    assert revoked.revoked.at == "2026-03-02T12:00:00Z"
    assert {code.value for code in verify(OUTPUT, receipt, store.ring()).codes} == {"revoked_key"}
    second = store.create(LATER)
    ahead = store.revoke(second.key_id, "x", LATER, since=LATER + timedelta(days=1))
    assert ahead.revoked is not None
    assert ahead.revoked.at == "2026-03-31T12:00:00Z"


def test_a_retired_key_can_be_revoked(store: KeyStore) -> None:
    key = store.create(DAY)
    store.rotate(LATER)
    assert store.revoke(key.key_id, "stolen after all", LATER).state is KeyState.REVOKED


@pytest.mark.parametrize("reason", ["", "   ", "x" * 501])
def test_a_revocation_needs_a_reason(store: KeyStore, reason: str) -> None:
    key = store.create(DAY)
    with pytest.raises(ReceiptError, match="reason"):
        store.revoke(key.key_id, reason, LATER)
    assert store.ring().keys == (key,)


def test_what_is_not_there_or_revoked_already_cannot_be_revoked(store: KeyStore) -> None:
    key = store.create(DAY)
    with pytest.raises(ReceiptError, match="none of that id"):
        store.revoke("../../etc", "x", LATER)
    store.revoke(key.key_id, "lost", LATER)
    with pytest.raises(ReceiptError, match="already"):
        store.revoke(key.key_id, "lost", LATER)


# Files that were touched


def test_a_private_key_that_was_exchanged_is_not_used(store: KeyStore) -> None:
    key = store.create(DAY)
    file = store.folder / f"{key.key_id}.key"
    file.write_bytes(KEY.to_pem())
    with pytest.raises(ReceiptError, match=f"expected the key {key.key_id}.*got {KEY.key_id}"):
        store.signer()


def test_a_private_key_file_left_by_a_crash_disturbs_nothing(store: KeyStore) -> None:
    store.folder.mkdir()
    (store.folder / f"{KEY.key_id}.key").write_bytes(KEY.to_pem())
    key = store.create(DAY)
    assert store.signer().key_id == key.key_id


def test_a_ring_that_was_damaged_stops_everything(store: KeyStore) -> None:
    key = store.create(DAY)
    store.ring_file.write_text(store.ring_file.read_text().replace("2026", "2025"))
    for action in (
        store.ring,
        store.signer,
        lambda: store.rotate(LATER),
        lambda: store.revoke(key.key_id, "x", LATER),
        lambda: store.create(LATER),
    ):
        with pytest.raises(ReceiptError, match="damaged or edited"):
            action()


def test_a_ring_without_end_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "ring.json"
    path.write_bytes(b" " * 4_000_001)
    with pytest.raises(ReceiptError, match="at most 4,000,000 bytes"):
        read_ring(path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version":1,"keys":[]}', '{"version":NaN,"keys":[],"checksum":""}'])
def test_what_is_no_ring_is_refused(text: str) -> None:
    with pytest.raises(ReceiptError, match="expected"):
        KeyRing.from_text(text)


def test_a_ring_reads_back_as_it_was_written() -> None:
    for ring in (KeyRing(), ring_of(KEY), ring_of(KEY, retired="2026-03-01T00:00:00Z")):
        assert KeyRing.from_text(ring.to_text()) == ring


def test_keys_that_do_not_go_together_make_no_ring() -> None:
    key = ring_of(KEY).keys[0]
    for update in (
        {"key_id": "0" * 32},
        {"created": "2026-13-01T00:00:00Z"},
        {"created": "2026-01-01"},
        {"retired": "2025-01-01T00:00:00Z"},
        {"revoked": {"at": "2025-01-01T00:00:00Z", "reason": "x"}},
        {"public": "0" * 63},
    ):
        with pytest.raises(ValueError, match="PublicKey"):
            PublicKey.model_validate({**key.model_dump(), **update})
    with pytest.raises(ValueError, match="twice"):
        KeyRing(keys=(key, key))


# Where keys come from


def test_a_ring_file_verifies_and_never_signs(store: KeyStore, tmp_path: Path) -> None:
    store.create(DAY)
    public = tmp_path / "public.json"
    public.write_bytes(store.ring_file.read_bytes())
    keys = open_keys(public)
    assert isinstance(keys, RingFile)
    assert verify(OUTPUT, issue(store), keys.ring()).valid
    with pytest.raises(ReceiptError, match="public keys"):
        keys.signer()
    assert isinstance(open_keys(store.folder), KeyStore)


def test_fixed_keys_sign_only_with_what_their_ring_holds_as_active() -> None:
    assert FixedKeys(ring_of(KEY), KEY).signer() is KEY
    for keys in (
        FixedKeys(ring_of(KEY)),
        FixedKeys(KeyRing(), KEY),
        FixedKeys(ring_of(KEY, retired="2026-03-01T00:00:00Z"), KEY),
    ):
        with pytest.raises(ReceiptError, match="expected"):
            keys.signer()


def test_ids_of_receipts_are_all_different() -> None:
    ids = {new_receipt_id() for _ in range(100)}
    assert len(ids) == 100
    assert receipt_of(receipt_id=ids.pop()).statement.receipt_id not in ids
