"""`/console/audit`: the audit log, its checkpoints and anchors, verification, proofs of entries, and export."""

import asyncio
import base64
import contextlib
import threading
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from fastapi import APIRouter
from sqlalchemy import Row, select
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from assay.errors import AssayError, AuditError, ReceiptError
from assay.reporting import Markup, foreign, group, tag
from assay.schema import Permission
from assay.server.console.errors import page_router
from assay.server.console.layout import HEADERS, address, allowed, form, form_of, redirect, render
from assay.server.console.parts import (
    Column,
    badge,
    button,
    details,
    digest,
    empty_state,
    facts,
    field,
    link_button,
    moment,
    note,
    pager,
    panel,
    stat,
    stats,
    table,
    text_area,
    text_input,
)
from assay.server.console.views.audit_entries import entry_fields, entry_line
from assay.server.http.downloads import download
from assay.server.services import Services
from assay.store.audit import (
    EntryProof,
    Head,
    LogVerification,
    entries_of,
    export_log,
    export_run,
    last_checkpoint,
    make_checkpoint,
    prove_entry,
    read_checkpoint,
    read_entry,
    read_entry_data,
    read_head,
    split_notes,
    verify_contents,
    verify_log,
)
from assay.store.db import Store, tables
from assay.store.insights import actors_of
from assay.store.records import moment_at

SHOWN: Final = 30
"""Entries of one page."""
CHECKPOINTS: Final = 12
"""Checkpoints that are listed, the latest ones."""
_PATH: Final = "/console/audit"
_ATTACHED: Final = {**HEADERS, "content-type": "application/octet-stream"}


def make_audit_pages(services: Services) -> APIRouter:
    """The pages of the audit log."""
    router = page_router()
    pages = _Pages(services)
    router.add_api_route(_PATH, pages.overview, methods=["GET"])
    router.add_api_route(f"{_PATH}/verify", pages.verify, methods=["POST"])
    router.add_api_route(f"{_PATH}/checkpoint", pages.checkpoint, methods=["POST"])
    router.add_api_route(f"{_PATH}/export", pages.export, methods=["GET"])
    router.add_api_route(f"{_PATH}/entries/{{index}}", pages.entry, methods=["GET"])
    router.add_api_route(f"{_PATH}/entries/{{index}}/proof", pages.proof, methods=["GET"])
    return router


class _Pages:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._verifying = threading.Lock()

    @property
    def _store(self) -> Store:
        return self._services.store

    def overview(self, request: Request) -> Response:
        """The log as it is."""
        caller = allowed(request, Permission.AUDIT)
        return self._overview(request, caller.tenant)

    def _overview(self, request: Request, tenant: str, verified: Markup | None = None) -> Response:
        given = request.query_params
        before = _whole(given.get("before"))
        run = given.get("run", "").strip()[:64]
        with self._store.reading(tenant) as connection:
            try:
                head = read_head(connection, tenant)
            except AuditError:
                nothing = empty_state("The log is empty", "It begins with the first check that is recorded.")
                return render(request, "Audit log", nothing, current="audit", about=_ABOUT)
            checkpoints = _latest_checkpoints(connection, tenant)
            anchors = _anchors(connection, tenant)
            entries = _entries(connection, tenant, before, run)
            by_index = _entries_by_index(entries)
            names = actors_of(connection, tenant, by_index)
        return render(
            request,
            "Audit log",
            verified,
            self._figures(head, checkpoints, anchors),
            self._against(request),
            self._log(entries, by_index, names, head, run),
            tag("div", self._checkpoints(checkpoints), self._anchored(anchors), class_="columns"),
            current="audit",
            about=_ABOUT,
            actions=self._actions(request, bool(checkpoints)),
        )

    def _actions(self, request: Request, signed: bool) -> Markup:
        if not self._services.keys:
            # What was signed before can be had all the same; the bundle says what it leaves out.
            return group(link_button("Export what is signed", f"{_PATH}/export?partial=true") if signed else None)
        sign = form(request, f"{_PATH}/checkpoint", button("Sign a checkpoint"))
        check = form(request, f"{_PATH}/verify", button("Verify the log", "primary"))
        return group(link_button("Export", f"{_PATH}/export"), sign, check)

    def _against(self, request: Request) -> Markup | None:
        """Verification with checkpoints from outside: the one that finds an owner who has the key."""
        if not self._services.keys:
            return None
        kept = text_area("checkpoints", rows="6", placeholder="assay.invalid/…", required=True, spellcheck="false")
        hint = "As they were printed by `assay audit checkpoint`, taken out by an anchor, or exported."
        return details(
            "Hold the log against checkpoints that were kept elsewhere",
            form(
                request,
                f"{_PATH}/verify",
                field("Checkpoints", kept, hint),
                button("Verify against these", "primary"),
            ),
        )

    def _figures(self, head: Head, checkpoints: list[Row[Any]], anchors: list[Row[Any]]) -> Markup:
        last = checkpoints[0] if checkpoints else None
        open_ = head.size - (last.size if last is not None else 0)
        when = moment(moment_at(last.created), self._store.now()) if last is not None else "never"
        return group(
            stats(
                stat("Entries", f"{head.size:,}"),
                stat("Last signed", when, None if last is None else f"at {last.size:,} entries"),
                stat("Not signed yet", f"{open_:,}"),
                stat("Taken elsewhere", f"{len({one.target for one in anchors}):,}", "places"),
            ),
            None
            if self._services.keys
            else note(
                "doubt", "This server has no keys: it cannot sign checkpoints or verify them. Set ASSAY_RECEIPT_KEYS."
            ),
            tag("p", "Name of the log: ", tag("code", head.origin), class_="soft under"),
        )

    def _log(
        self, entries: list[Row[Any]], by_index: dict[int, dict[str, Any]], names: dict[int, str], head: Head, run: str
    ) -> Markup:
        columns = (
            Column("Entry"),
            Column("Kind"),
            Column("About", "main"),
            Column("By", "less"),
            Column("When", "num"),
        )
        rows = (entry_line(one.idx, by_index.get(one.idx), names.get(one.idx), self._store.now()) for one in entries)
        empty = ("No such entry", "No entry is about this run, or none comes before that one.")
        older = None
        if len(entries) == SHOWN and entries[-1].idx > 0:
            older = address(_PATH, before=entries[-1].idx, run=run)
        newest = address(_PATH, run=run) if entries and not run and entries[0].idx < head.size - 1 else None
        search = tag(
            "form",
            field("Run", text_input("run", run, type_="search", placeholder="The id of a run")),
            button("Find"),
            class_="inline",
            method="get",
            action=_PATH,
            role="search",
        )
        return panel(
            "Entries",
            table("Entries of the log, the latest first", columns, rows, empty=empty, style="rows"),
            pager(older, newest),
            actions=search,
        )

    def _checkpoints(self, checkpoints: list[Row[Any]]) -> Markup:
        columns = (Column("Entries", "num"), Column("Signed"), Column("Root and note", "main"))
        rows = (
            (
                f"{one.size:,}",
                moment(moment_at(one.created), self._store.now()),
                details(digest(base64.b64encode(read_checkpoint(one.note).root).decode()), _pre(one.note)),
            )
            for one in checkpoints
        )
        empty = ("No checkpoint yet", "A checkpoint signs the log as it is: what was signed cannot change unseen.")
        return panel("Checkpoints", table("Signed checkpoints, the latest first", columns, rows, empty=empty))

    def _anchored(self, anchors: list[Row[Any]]) -> Markup:
        columns = (Column("Place", "main"), Column("Entries", "num"), Column("When"))
        rows = (
            (foreign(one.target[:160]), f"{one.size:,}", moment(moment_at(one.created), self._store.now()))
            for one in anchors
        )
        words = group(
            "Checkpoints that are kept elsewhere show it when this host rewrites its history: ",
            tag("code", "assay audit checkpoint --anchor"),
        )
        return panel("Anchors", table("Where checkpoints were taken", columns, rows, empty=("No anchor yet", words)))

    async def verify(self, request: Request) -> Response:
        """Verify the whole log and the content of its runs, against checkpoints from outside where some are given."""
        caller = allowed(request, Permission.AUDIT)
        given = (await form_of(request)).get("checkpoints", "") if "content-type" in request.headers else ""
        return await asyncio.to_thread(self._verify, request, caller.tenant, given)

    def _verify(self, request: Request, tenant: str, given: str) -> Response:
        keys = self._services.keys
        if keys is None:
            raise HTTPException(503, "this server has no keys to verify with; set ASSAY_RECEIPT_KEYS")
        if not self._verifying.acquire(blocking=False):
            raise HTTPException(503, "a verification is running already; wait until it is done")
        try:
            with self._store.reading(tenant) as connection:
                log = verify_log(connection, tenant, keys.ring(), _notes(given))
                found = verify_contents(connection, tenant, log)
        finally:
            self._verifying.release()
        return self._overview(request, tenant, _verified(found))

    def checkpoint(self, request: Request) -> Response:
        """Sign the log as it is."""
        caller = allowed(request, Permission.AUDIT)
        keys = self._services.keys
        if keys is None:
            raise HTTPException(503, "this server has no keys to sign with; set ASSAY_RECEIPT_KEYS")
        make_checkpoint(self._store, keys, caller.tenant)
        return redirect(_PATH, "audit.signed")

    def entry(self, request: Request, index: str) -> Response:
        """One entry, with its proof."""
        caller = allowed(request, Permission.AUDIT)
        place = _index(index)
        with self._store.reading(caller.tenant) as connection:
            try:
                data = read_entry(connection, caller.tenant, place)
            except AuditError as error:
                raise HTTPException(404, str(error)) from error
            entry_data = read_entry_data(data)
            who = actors_of(connection, caller.tenant, {place: entry_data}).get(place)
            proof = self._proof(connection, caller.tenant, place)
        record = entry_data.get("record")
        run = tag("a", "The run", href=f"/console/runs/{record}", class_="button") if _is_run(entry_data) else None
        return render(
            request,
            f"Entry {place:,}",
            self._proved(proof, place),
            panel("What it says", entry_fields(entry_data, who)),
            details("As it is hashed", _pre(data.decode())),
            current="audit",
            about=_said_when(entry_data),
            parent=("Audit log", _PATH),
            actions=run,
        )

    def _proof(self, connection: Any, tenant: str, index: int) -> tuple[EntryProof | None, str | None]:
        """The proof of an entry, and why it does not hold or cannot be had."""
        try:
            proof = prove_entry(connection, tenant, index)
        except AuditError as error:
            return None, str(error)
        if self._services.keys is None:
            return proof, "this server has no keys to verify the checkpoint with"
        try:
            proof.verify(self._services.keys.ring())
        except (AuditError, ReceiptError) as error:
            return proof, str(error)
        return proof, None

    def _proved(self, found: tuple[EntryProof | None, str | None], index: int) -> Markup:
        proof, why = found
        if proof is None:
            return note("doubt", "It is not proved yet: ", why or "")
        stated = read_checkpoint(proof.checkpoint)
        sign = badge("proof holds", "good", "✓") if why is None else badge("proof does not hold", "bad", "✗")
        return panel(
            "Proof that it is in the log",
            None if why is None else note("bad", why),
            facts(
                (
                    ("Holds", sign),
                    ("Signed at", f"{stated.size:,} entries"),
                    ("Hashes to the root", str(len(proof.hashes))),
                )
            ),
            tag("p", "Log: ", tag("code", stated.origin), class_="soft under"),
            details("The proof, as C2SP tlog-proof", _pre(proof.to_text())),
            actions=link_button("Download", f"{_PATH}/entries/{index}/proof"),
            style="box",
        )

    def proof(self, request: Request, index: str) -> Response:
        """The proof as a file."""
        caller = allowed(request, Permission.AUDIT)
        place = _index(index)
        with self._store.reading(caller.tenant) as connection:
            try:
                text = prove_entry(connection, caller.tenant, place).to_text()
            except AuditError as error:
                raise HTTPException(404, str(error)) from error
        return Response(text, headers={**_ATTACHED, "content-disposition": f'attachment; filename="entry-{place}.txt"'})

    def export(self, request: Request) -> Response:
        """The whole log, or what belongs to one run, as a bundle that is verified without assay."""
        caller = allowed(request, Permission.AUDIT)
        run, partial = request.query_params.get("run"), request.query_params.get("partial") == "true"
        keys = self._services.keys
        with self._store.reading(caller.tenant) as connection:
            if run is not None and not entries_of(connection, caller.tenant, run):
                raise HTTPException(404, "no entry of the log is about this run")
            if partial and last_checkpoint(connection, caller.tenant) is None:
                raise HTTPException(409, "the log has no checkpoint yet; sign one first")
        if not partial and keys is None:
            raise HTTPException(409, _UNSIGNED)
        try:
            signed = None if partial or keys is None else make_checkpoint(self._store, keys, caller.tenant)
        except (AuditError, ReceiptError) as error:
            raise HTTPException(409, str(error)) from error
        name = "log" if run is None else f"run-{run}"
        headers = {**_ATTACHED, "content-disposition": f'attachment; filename="assay-{name}.jsonl"'}
        return download(_bundle(self._store, caller.tenant, run, signed), "application/octet-stream", headers)


_UNSIGNED: Final = (
    "an export begins with a signature over all of the log, and this server has no keys; set ASSAY_RECEIPT_KEYS, or "
    "add ?partial=true for what was signed before"
)
_ABOUT: Final = "Every decision, receipt, review and erasure, in a tree of hashes that only grows."


def _bundle(store: Store, tenant: str, run: str | None, signed: str | None) -> Iterator[str]:
    with store.reading(tenant) as connection:
        if run is None:
            yield from export_log(connection, tenant, signed, partial=signed is None)
        else:
            yield from export_run(connection, tenant, run, signed, partial=signed is None)


def _notes(given: str) -> list[str]:
    """The checkpoints that somebody put into the form; what is none is told of as a finding."""
    if not given.strip():
        return []
    try:
        return split_notes(given)
    except AuditError:
        return [given]


def _verified(found: LogVerification) -> Markup:
    caution = None if found.caution is None else note("doubt", f"{found.caution[:1].upper()}{found.caution[1:]}.")
    if found.holds:
        said = f"{found.size:,} entries, {found.checkpoints:,} checkpoints and the content of {found.runs:,} runs."
        words = "The log holds." if found.outside else "The log agrees with itself."
        held = tag(
            "div", tag("strong", words), " ", said, class_=f"note {'good' if found.outside else 'quiet'}", role="status"
        )
        return group(caution, held)
    findings = (tag("li", tag("code", one.code.value), " ", foreign(one.message)) for one in found.findings)
    return group(
        caution,
        tag("div", tag("strong", "The log does not hold."), tag("ul", findings), class_="note bad", role="alert"),
    )


def _latest_checkpoints(connection: Any, tenant: str) -> list[Row[Any]]:
    table_ = tables.audit_checkpoints.c
    query = select(tables.audit_checkpoints).where(table_.tenant == tenant).order_by(table_.size.desc())
    return list(connection.execute(query.limit(CHECKPOINTS)))


def _anchors(connection: Any, tenant: str) -> list[Row[Any]]:
    table_ = tables.audit_anchors.c
    query = select(tables.audit_anchors).where(table_.tenant == tenant).order_by(table_.created.desc())
    return list(connection.execute(query.limit(CHECKPOINTS)))


def _entries(connection: Any, tenant: str, before: int | None, run: str) -> list[Row[Any]]:
    table_ = tables.audit_entries.c
    query = select(tables.audit_entries).where(table_.tenant == tenant).order_by(table_.idx.desc()).limit(SHOWN)
    if before is not None:
        query = query.where(table_.idx < before)
    return list(connection.execute(query.where(table_.record == run) if run else query))


def _entries_by_index(entries: list[Row[Any]]) -> dict[int, dict[str, Any]]:
    """What entries say, by index; those that are none any more are left out."""
    found = {}
    for one in entries:
        with contextlib.suppress(AssayError):
            found[one.idx] = dict(read_entry_data(bytes(one.data)))
    return found


def _said_when(entry_data: dict[str, Any]) -> str:
    """The kind of an entry and its moment."""
    try:
        return f"{entry_data['kind']}, {datetime.fromisoformat(str(entry_data.get('at'))):%Y-%m-%d %H:%M:%S} UTC"[:200]
    except ValueError:
        return str(entry_data["kind"])[:200]


def _is_run(entry_data: dict[str, Any]) -> bool:
    return isinstance(entry_data.get("record"), str) and entry_data["kind"] in (
        "decision",
        "receipt",
        "feedback",
        "erasure",
        "review",
    )


def _pre(text: str) -> Markup:
    return tag("pre", foreign(text[:20_000], "code"), tabindex=0, class_="pre")


def _whole(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 19 else None


def _index(text: str) -> int:
    found = _whole(text)
    if found is None:
        raise HTTPException(404, "an entry is named by its number")
    return found
