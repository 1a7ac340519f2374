"""Signing in and out, and setting passwords. The functions may block: routes run them on threads.

Whether the name, the password or the tenant is wrong, or there were too many attempts, the answer is the same and takes
as long: the hash is computed and a failure is stored in every case.
"""

from dataclasses import dataclass
from datetime import timedelta

from assay.errors import StoreError
from assay.schema import Role
from assay.server.access.passwords import Passwords, checked_password
from assay.server.access.rate_limits import Buckets
from assay.server.access.refusals import RefusalCounter
from assay.server.access.settings import AccessSettings
from assay.store.access import (
    RESET,
    SETUP,
    Session,
    StaleError,
    User,
    create_user,
    end_session,
    find_session,
    find_token,
    find_user,
    get_user,
    has_people,
    make_token,
    note_failure,
    open_session,
    rehash_password,
    reset_with_token,
    set_password,
    setup_with_token,
    tries_key,
    waits_until,
)
from assay.store.db import Store
from assay.store.records import DEFAULT_TENANT, checked_tenant


@dataclass(frozen=True, slots=True)
class NewSession:
    """A session that has just begun."""

    secret: str
    """The value of the session's cookie."""
    session: Session
    user: User


class TooOftenError(StoreError):
    """There were too many attempts to sign in from an address."""

    def __init__(self, wait: float) -> None:
        super().__init__("this address tried to sign in too often")
        self.wait = wait
        """Seconds until the address may try again."""


class SignInService:
    """Starts and ends sessions, and sets passwords."""

    def __init__(
        self,
        store: Store,
        passwords: Passwords,
        settings: AccessSettings,
        tries: Buckets,
        refusals: RefusalCounter | None = None,
    ) -> None:
        """Sessions over a store; `tries` limits the attempts of an address, `refusals` counts what is refused."""
        self._store, self._passwords, self._settings, self._attempts = store, passwords, settings, tries
        self._refusals = refusals or RefusalCounter()

    def sign_in(self, name: str, password: str, *, tenant: str = DEFAULT_TENANT, address: str) -> NewSession | None:
        """Begin a session with a new secret.

        Returns:
            The session; none where name or password is wrong or the name is locked, without saying which.

        Raises:
            TooOftenError: there were too many attempts from the address.
            BusyError: too many people are signing in at once.
        """
        if wait := self._attempts.take(address):
            raise TooOftenError(wait)
        key = tries_key(tenant, name)
        user = self._find_user(name, tenant)
        waits = waits_until(self._store, key) is not None
        usable = user if user is not None and user.disabled is None and user.password is not None else None
        matches = self._passwords.matches(password, None if usable is None else usable.password)
        if not matches or usable is None or waits:
            note_failure(self._store, key)
            # The log has the id of the user whose password was wrong, never a name that a stranger made up.
            self._refusals.note(
                "sign_in.locked" if waits else "sign_in.refused",
                address=address,
                tenant=tenant if user is None else user.tenant,
                subject=None if user is None else user.id,
            )
            return None
        try:
            secret, session = open_session(self._store, usable, self._session_lifetime, tries=key)
        except StaleError:
            return None
        if usable.password is not None and self._passwords.needs_rehash(usable.password):
            rehash_password(self._store, usable, self._passwords.hash(password))
        return NewSession(secret, session, usable)

    def _find_user(self, name: str, tenant: str) -> User | None:
        try:
            return find_user(self._store, name, checked_tenant(tenant))
        except StoreError:
            # The name or the tenant is malformed: the same read follows as for one that does not exist.
            return find_user(self._store, "nobody of this name", DEFAULT_TENANT)

    @property
    def _session_lifetime(self) -> timedelta:
        return timedelta(hours=self._settings.session_hours)

    def sign_out(self, session: str, tenant: str, actor: str) -> None:
        """End a session at once, in every process."""
        end_session(self._store, session, tenant, actor=actor)

    def sign_out_secret(self, secret: str) -> None:
        """End the session of a cookie, if there is one."""
        found = find_session(self._store, secret, timedelta(days=365))
        if found is not None:
            session, user = found
            end_session(self._store, session.id, session.tenant, actor=user.id)

    def change_password(self, user: str, tenant: str, old: str, new: str, *, keep: str, address: str) -> bool:
        """Change one's own password; all sessions but this one end.

        Returns:
            Whether the old password was right.

        Raises:
            InputError: the new one breaks a rule for passwords.
            TooOftenError: there were too many attempts from the address.
        """
        if wait := self._attempts.take(address):
            raise TooOftenError(wait)
        found = get_user(self._store, user, tenant)
        stored = None if found is None else found.password
        if not self._passwords.matches(old, stored) or found is None:
            self._refusals.note("password.refused", address=address, tenant=tenant, actor=user, subject=user)
            return False
        checked_password(new, found.name or "")
        set_password(self._store, user, tenant, self._passwords.hash(new), actor=user, keep=keep, old=stored)
        return True

    def make_user(
        self,
        name: str,
        roles: tuple[Role, ...],
        *,
        tenant: str,
        actor: str,
        password: str | None = None,
        expertise: tuple[str, ...] = (),
    ) -> User:
        """Create a user, with or without a password.

        Raises:
            InputError: the password breaks a rule.
            TakenError: there is a user of this name.
        """
        hashed = None if password is None else self._passwords.hash(checked_password(password, name))
        return create_user(self._store, name, roles, tenant=tenant, password=hashed, expertise=expertise, actor=actor)

    def make_reset(self, user: str, tenant: str, actor: str) -> str:
        """A token with which a user resets the password; earlier ones become invalid.

        Raises:
            StaleError: the tenant has no such user.
        """
        lifetime = timedelta(hours=self._settings.token_hours)
        return make_token(self._store, RESET, lifetime, tenant=tenant, user=user, actor=actor)[0]

    def reset(self, token: str, password: str, address: str) -> bool:
        """Set a password with a token, which becomes invalid. The user's sessions end.

        Returns:
            Whether the token was valid.

        Raises:
            InputError: the password breaks a rule; the token stays valid then.
            TooOftenError: there were too many attempts from the address.
        """
        if wait := self._attempts.take(address):
            raise TooOftenError(wait)
        checked_password(password)
        if find_token(self._store, token, RESET) is None:
            self._refusals.note("token.refused", address=address, tenant=DEFAULT_TENANT)
            return False
        return reset_with_token(self._store, token, self._passwords.hash(password))

    def set_up(self, token: str, name: str, password: str, address: str) -> bool:
        """Create the first administrator with the token that was shown when the server started.

        Returns:
            Whether the token was valid and there was no user yet.

        Raises:
            InputError: the password breaks a rule; the token stays valid then.
            StoreError: the name is malformed.
            TooOftenError: there were too many attempts from the address.
        """
        if wait := self._attempts.take(address):
            raise TooOftenError(wait)
        checked_password(password, name)
        if find_token(self._store, token, SETUP) is None:
            self._refusals.note("token.refused", address=address, tenant=DEFAULT_TENANT)
            return False
        return setup_with_token(self._store, token, name, self._passwords.hash(password)) is not None


def setup_token(store: Store, settings: AccessSettings, tenant: str = DEFAULT_TENANT) -> str | None:
    """A token that creates the first administrator, where there is no user yet; an earlier one becomes invalid."""
    if has_people(store):
        return None
    return make_token(store, SETUP, timedelta(hours=settings.token_hours), tenant=tenant)[0]
