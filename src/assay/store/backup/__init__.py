"""Backups of a database: made while a server writes, verified before anybody relies on them, and restored."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.store.backup.manifest import LogOfCopy as LogOfCopy
    from assay.store.backup.manifest import Manifest as Manifest
    from assay.store.backup.manifest import manifest_path as manifest_path
    from assay.store.backup.manifest import read_manifest as read_manifest
    from assay.store.backup.postgres_commands import PASSWORD_NOTE as PASSWORD_NOTE
    from assay.store.backup.postgres_commands import dump_commands as dump_commands
    from assay.store.backup.postgres_commands import restore_commands as restore_commands
    from assay.store.backup.sqlite_files import copy_file as copy_file
    from assay.store.backup.sqlite_files import copy_online as copy_online
    from assay.store.backup.sqlite_files import private_file as private_file
    from assay.store.backup.sqlite_files import put_in_place as put_in_place
    from assay.store.backup.sqlite_files import sha256_of as sha256_of
    from assay.store.backup.verification import CopyVerification as CopyVerification
    from assay.store.backup.verification import verify_copy as verify_copy
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".manifest": ("LogOfCopy", "Manifest", "manifest_path", "read_manifest"),
            ".postgres_commands": ("PASSWORD_NOTE", "dump_commands", "restore_commands"),
            ".sqlite_files": ("copy_file", "copy_online", "private_file", "put_in_place", "sha256_of"),
            ".verification": ("CopyVerification", "verify_copy"),
        },
    )
