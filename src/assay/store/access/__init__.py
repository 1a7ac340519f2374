"""Tenants, users, sessions and API keys."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.store.access.api_keys import create_key as create_key
    from assay.store.access.api_keys import find_ended as find_ended
    from assay.store.access.api_keys import find_key as find_key
    from assay.store.access.api_keys import list_keys as list_keys
    from assay.store.access.api_keys import note_uses as note_uses
    from assay.store.access.api_keys import revoke_key as revoke_key
    from assay.store.access.api_keys import rotate_key as rotate_key
    from assay.store.access.sessions import RESET as RESET
    from assay.store.access.sessions import SEEN_EVERY as SEEN_EVERY
    from assay.store.access.sessions import SETUP as SETUP
    from assay.store.access.sessions import end_session as end_session
    from assay.store.access.sessions import find_session as find_session
    from assay.store.access.sessions import find_token as find_token
    from assay.store.access.sessions import list_sessions as list_sessions
    from assay.store.access.sessions import make_token as make_token
    from assay.store.access.sessions import note_seen as note_seen
    from assay.store.access.sessions import open_session as open_session
    from assay.store.access.sessions import reset_with_token as reset_with_token
    from assay.store.access.sessions import setup_with_token as setup_with_token
    from assay.store.access.tenants import create_tenant as create_tenant
    from assay.store.access.tenants import list_tenants as list_tenants
    from assay.store.access.users import change_user as change_user
    from assay.store.access.users import create_user as create_user
    from assay.store.access.users import find_user as find_user
    from assay.store.access.users import forget_user as forget_user
    from assay.store.access.users import get_user as get_user
    from assay.store.access.users import has_people as has_people
    from assay.store.access.users import list_users as list_users
    from assay.store.access.users import note_failure as note_failure
    from assay.store.access.users import rehash_password as rehash_password
    from assay.store.access.users import set_password as set_password
    from assay.store.access.users import tries_key as tries_key
    from assay.store.access.users import waits_until as waits_until
    from assay.store.access.values import COMMAND as COMMAND
    from assay.store.access.values import LONGEST_NAME as LONGEST_NAME
    from assay.store.access.values import ApiKey as ApiKey
    from assay.store.access.values import MalformedError as MalformedError
    from assay.store.access.values import Session as Session
    from assay.store.access.values import StaleError as StaleError
    from assay.store.access.values import TakenError as TakenError
    from assay.store.access.values import User as User
    from assay.store.access.values import access_entry as access_entry
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".api_keys": ("create_key", "find_ended", "find_key", "list_keys", "note_uses", "revoke_key", "rotate_key"),
            ".sessions": (
                "RESET",
                "SEEN_EVERY",
                "SETUP",
                "end_session",
                "find_session",
                "find_token",
                "list_sessions",
                "make_token",
                "note_seen",
                "open_session",
                "reset_with_token",
                "setup_with_token",
            ),
            ".tenants": ("create_tenant", "list_tenants"),
            ".users": (
                "change_user",
                "create_user",
                "find_user",
                "forget_user",
                "get_user",
                "has_people",
                "list_users",
                "note_failure",
                "rehash_password",
                "set_password",
                "tries_key",
                "waits_until",
            ),
            ".values": (
                "ApiKey",
                "COMMAND",
                "LONGEST_NAME",
                "MalformedError",
                "Session",
                "StaleError",
                "TakenError",
                "User",
                "access_entry",
            ),
        },
    )
