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
from assay.server.console.layout import HEADERS, address, allowed, form, read_form, redirect, render, whole_number
from assay.server.console.parts import (
    Column,
    badge,
    button,
    capitalized,
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

PAGE_SIZE: Final = 30
"""Entries of one page."""
MOST_CHECKPOINTS: Final = 12
"""The most checkpoints and anchors that are listed, the latest first."""
_PATH: Final = "/console/audit"
_INDEX_DIGITS: Final = 18
"""The most digits of the index of an entry: it has to fit into 64 bits."""
_FILE_HEADERS: Final = {**HEADERS, "content-type": "application/octet-stream"}


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
        """The page of the log: its figures, entries, checkpoints and anchors."""
        caller = allowed(request, Permission.AUDIT)
        return self._overview(request, caller.tenant)

    def _overview(self, request: Request, tenant: str, verified: Markup | None = None) -> Response:
        query = request.query_params
        before = whole_number(query.get("before"), _INDEX_DIGITS)
        run = query.get("run", "").strip()[:64]
        with self._store.reading(tenant) as connection:
            try:
                head = read_head(connection, tenant)
            except AuditError:
                return _without_head(request, connection, tenant, verified)
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
            self._verify_form(request),
            self._entry_list(entries, by_index, names, head, run),
            tag("div", self._checkpoint_list(checkpoints), self._anchor_list(anchors), class_="columns"),
            current="audit",
            about=_ABOUT,
            actions=self._actions(request, bool(checkpoints)),
        )

    def _actions(self, request: Request, signed: bool) -> Markup:
        if not self._services.keys:
            # What was signed earlier can still be exported; the bundle says what it leaves out.
            return group(link_button("Export what is signed", f"{_PATH}/export?partial=true") if signed else None)
        sign = form(request, f"{_PATH}/checkpoint", button("Sign a checkpoint"))
        check = form(request, f"{_PATH}/verify", button("Verify the log", "primary"))
        return group(link_button("Export", f"{_PATH}/export"), sign, check)

    def _verify_form(self, request: Request) -> Markup | None:
        """The form to verify the log against checkpoints that were kept elsewhere.

        Only these show it if the owner of the key rewrote the log.
        """
        if not self._services.keys:
            return None
        checkpoints = text_area(
            "checkpoints", rows="6", placeholder="assay.invalid/…", required=True, spellcheck="false"
        )
        hint = "As they were printed by `assay audit checkpoint`, taken out by an anchor, or exported."
        return details(
            "Hold the log against checkpoints that were kept elsewhere",
            form(
                request,
                f"{_PATH}/verify",
                field("Checkpoints", checkpoints, hint),
                button("Verify against these", "primary"),
            ),
        )

    def _figures(self, head: Head, checkpoints: list[Row[Any]], anchors: list[Row[Any]]) -> Markup:
        last = checkpoints[0] if checkpoints else None
        unsigned = head.size - (last.size if last is not None else 0)
        when = moment(moment_at(last.created), self._store.now()) if last is not None else "never"
        return group(
            stats(
                stat("Entries", f"{head.size:,}"),
                stat("Last signed", when, None if last is None else f"at {last.size:,} entries"),
                stat("Not signed yet", f"{unsigned:,}"),
                stat("Taken elsewhere", f"{len({one.target for one in anchors}):,}", "places"),
            ),
            None
            if self._services.keys
            else note(
                "doubt", "This server has no keys: it cannot sign checkpoints or verify them. Set ASSAY_RECEIPT_KEYS."
            ),
            tag("p", "Name of the log: ", tag("code", head.origin), class_="soft under"),
        )

    def _entry_list(
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
        if len(entries) == PAGE_SIZE and entries[-1].idx > 0:
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

    def _checkpoint_list(self, checkpoints: list[Row[Any]]) -> Markup:
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

    def _anchor_list(self, anchors: list[Row[Any]]) -> Markup:
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
        """Verify the whole log and the content of its runs, also against the checkpoints in the form."""
        caller = allowed(request, Permission.AUDIT)
        checkpoints = (await read_form(request)).get("checkpoints", "") if "content-type" in request.headers else ""
        return await asyncio.to_thread(self._verify, request, caller.tenant, checkpoints)

    def _verify(self, request: Request, tenant: str, checkpoints: str) -> Response:
        keys = self._services.keys
        if keys is None:
            raise HTTPException(503, "this server has no keys to verify with; set ASSAY_RECEIPT_KEYS")
        if not self._verifying.acquire(blocking=False):
            raise HTTPException(503, "a verification is running already; wait until it is done")
        try:
            with self._store.reading(tenant) as connection:
                log = verify_log(connection, tenant, keys.ring(), _split_checkpoints(checkpoints))
                verification = verify_contents(connection, tenant, log)
        finally:
            self._verifying.release()
        return self._overview(request, tenant, _verification_note(verification))

    def checkpoint(self, request: Request) -> Response:
        """Sign a checkpoint of the log as it is now."""
        caller = allowed(request, Permission.AUDIT)
        keys = self._services.keys
        if keys is None:
            raise HTTPException(503, "this server has no keys to sign with; set ASSAY_RECEIPT_KEYS")
        make_checkpoint(self._store, keys, caller.tenant)
        return redirect(_PATH, "audit.signed")

    def entry(self, request: Request, index: str) -> Response:
        """The page of one entry, with its proof."""
        caller = allowed(request, Permission.AUDIT)
        position = _index(index)
        with self._store.reading(caller.tenant) as connection:
            try:
                data = read_entry(connection, caller.tenant, position)
            except AuditError as error:
                raise HTTPException(404, str(error)) from error
            entry_data = read_entry_data(data)
            actor = actors_of(connection, caller.tenant, {position: entry_data}).get(position)
            proof = self._proof(connection, caller.tenant, position)
        record = entry_data.get("record")
        run = tag("a", "The run", href=f"/console/runs/{record}", class_="button") if _is_run(entry_data) else None
        return render(
            request,
            f"Entry {position:,}",
            self._proof_panel(proof, position),
            panel("What it says", entry_fields(entry_data, actor)),
            details("As it is hashed", _pre(data.decode())),
            current="audit",
            about=_kind_and_time(entry_data),
            parent=("Audit log", _PATH),
            actions=run,
        )

    def _proof(self, connection: Any, tenant: str, index: int) -> tuple[EntryProof | None, str | None]:
        """The proof of an entry, and why there is none or it does not hold; without keys nobody can tell."""
        try:
            proof = prove_entry(connection, tenant, index)
        except AuditError as error:
            return None, str(error)
        if self._services.keys is None:
            return proof, _NO_KEYS
        try:
            proof.verify(self._services.keys.ring())
        except (AuditError, ReceiptError) as error:
            return proof, str(error)
        return proof, None

    def _proof_panel(self, proof_and_reason: tuple[EntryProof | None, str | None], index: int) -> Markup:
        proof, why = proof_and_reason
        if proof is None:
            return note("doubt", "It is not proved yet: ", why or "")
        stated = read_checkpoint(proof.checkpoint)
        return panel(
            "Proof that it is in the log",
            None if why is None else note("doubt" if why == _NO_KEYS else "bad", why),
            facts(
                (
                    ("Holds", _proof_badge(why)),
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
        """The proof of an entry as a file."""
        caller = allowed(request, Permission.AUDIT)
        position = _index(index)
        with self._store.reading(caller.tenant) as connection:
            try:
                text = prove_entry(connection, caller.tenant, position).to_text()
            except AuditError as error:
                raise HTTPException(404, str(error)) from error
        return Response(
            text, headers={**_FILE_HEADERS, "content-disposition": f'attachment; filename="entry-{position}.txt"'}
        )

    def export(self, request: Request) -> Response:
        """The whole log, or the entries about one run, as a bundle that can be verified without assay."""
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
        headers = {**_FILE_HEADERS, "content-disposition": f'attachment; filename="assay-{name}.jsonl"'}
        return download(_bundle(self._store, caller.tenant, run, signed), "application/octet-stream", headers)


_UNSIGNED: Final = (
    "an export begins with a signature over all of the log, and this server has no keys; set ASSAY_RECEIPT_KEYS, or "
    "add ?partial=true for what was signed before"
)
_NO_KEYS: Final = "this server has no keys to verify the checkpoint with"
_ABOUT: Final = "Every decision, receipt, review and erasure, in a tree of hashes that only grows."


def _proof_badge(why: str | None) -> Markup:
    """Whether a proof holds; `why` is the reason why that is not known or it does not."""
    if why is None:
        return badge("proof holds", "good", "✓")
    if why == _NO_KEYS:
        return badge("not verified", "doubt", "!")
    return badge("proof does not hold", "bad", "✗")


def _without_head(request: Request, connection: Any, tenant: str, verified: Markup | None) -> Response:
    """The page of a tenant that has no head of a log: nothing was recorded yet, or somebody has removed it."""
    if _latest_checkpoints(connection, tenant) or _entries(connection, tenant, None, ""):
        state = note("bad", "The log has entries or checkpoints but no head: it was altered.")
    else:
        state = empty_state("The log is empty", "It begins with the first check that is recorded.")
    return render(request, "Audit log", verified, state, current="audit", about=_ABOUT)


def _bundle(store: Store, tenant: str, run: str | None, signed: str | None) -> Iterator[str]:
    with store.reading(tenant) as connection:
        if run is None:
            yield from export_log(connection, tenant, signed, partial=signed is None)
        else:
            yield from export_run(connection, tenant, run, signed, partial=signed is None)


def _split_checkpoints(text: str) -> list[str]:
    """The checkpoints in a text; a text that contains anything else is returned whole, and becomes a finding."""
    if not text.strip():
        return []
    try:
        return split_notes(text)
    except AuditError:
        return [text]


def _verification_note(log: LogVerification) -> Markup:
    caution = None if log.caution is None else note("doubt", f"{capitalized(log.caution)}.")
    if log.holds:
        checked = f"{log.size:,} entries, {log.checkpoints:,} checkpoints and the content of {log.runs:,} runs."
        result = "The log holds." if log.outside else "The log agrees with itself."
        result_note = tag(
            "div",
            tag("strong", result),
            " ",
            checked,
            class_=f"note {'good' if log.outside else 'quiet'}",
            role="status",
        )
        return group(caution, result_note)
    findings = (tag("li", tag("code", one.code.value), " ", foreign(one.message)) for one in log.findings)
    return group(
        caution,
        tag("div", tag("strong", "The log does not hold."), tag("ul", findings), class_="note bad", role="alert"),
    )


def _latest_checkpoints(connection: Any, tenant: str) -> list[Row[Any]]:
    columns = tables.audit_checkpoints.c
    query = select(tables.audit_checkpoints).where(columns.tenant == tenant).order_by(columns.size.desc())
    return list(connection.execute(query.limit(MOST_CHECKPOINTS)))


def _anchors(connection: Any, tenant: str) -> list[Row[Any]]:
    columns = tables.audit_anchors.c
    query = select(tables.audit_anchors).where(columns.tenant == tenant).order_by(columns.created.desc())
    return list(connection.execute(query.limit(MOST_CHECKPOINTS)))


def _entries(connection: Any, tenant: str, before: int | None, run: str) -> list[Row[Any]]:
    columns = tables.audit_entries.c
    query = select(tables.audit_entries).where(columns.tenant == tenant).order_by(columns.idx.desc()).limit(PAGE_SIZE)
    if before is not None:
        query = query.where(columns.idx < before)
    return list(connection.execute(query.where(columns.record == run) if run else query))


def _entries_by_index(entries: list[Row[Any]]) -> dict[int, dict[str, Any]]:
    """The fields of entries by their indices; an entry that cannot be read is left out, and listed as unreadable."""
    by_index = {}
    for one in entries:
        with contextlib.suppress(AssayError):
            by_index[one.idx] = dict(read_entry_data(bytes(one.data)))
    return by_index


def _kind_and_time(entry_data: dict[str, Any]) -> str:
    """The kind of an entry and when it was written."""
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


def _index(text: str) -> int:
    index = whole_number(text, _INDEX_DIGITS)
    if index is None:
        raise HTTPException(404, "an entry is named by its number")
    return index
