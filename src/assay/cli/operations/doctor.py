"""`assay doctor`: what is configured, what each policy requires, and what has to be done."""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Final

from assay.cli.operations.doctor_checks import (
    Level,
    Note,
    clock,
    database,
    environment,
    keys,
    online,
    policies,
    server,
    used_policies,
    verifier,
)
from assay.cli.operations.serve import read_server_settings
from assay.cli.options.serve import ServerOptions
from assay.cli.terminal import Line, clean, write, write_text
from assay.config import read_policy
from assay.errors import AssayError, InputError

_SIGNS: Final = {Level.OK: ("✓", "good"), Level.NOTE: ("·", "faint"), Level.OPEN: ("!", "bad")}
_WIDTH: Final = 10


def examine(options: ServerOptions, *, ask_online: bool = False) -> list[Note]:
    """The notes on what `assay serve` with these options would do.

    Args:
        options: as for `assay serve`.
        ask_online: whether the upstreams and the judge are asked over the network.

    Raises:
        PolicyError: the policy does not exist, or cannot be read.
    """
    return list(_notes(options, ask_online=ask_online))


def _notes(options: ServerOptions, *, ask_online: bool) -> Iterator[Note]:
    environ, now = environment(), clock()
    yield from verifier(environ, read_policy(options.policy, environ), options.verifier)
    settings = None
    try:
        settings = read_server_settings(options, environ)
    except InputError as error:
        yield Note(Level.NOTE, "server", f"{error}")
    except AssayError as error:
        yield Note(Level.OPEN, "server", f"the server would not start: {error}")
    judge = options.llm is not None or (settings is not None and settings.judge is not None)
    policies_used = {"the default": read_policy(options.policy, environ)}
    if settings is not None:
        policies_used = used_policies(settings, options.policy, environ)
    upstream = bool(settings.upstreams if settings is not None else options.upstream)
    yield from policies(environ, policies_used, judge=judge, upstream=upstream)
    database_url = settings.database if settings is not None else options.database
    yield from keys(environ, now, records=database_url is not None)
    if settings is not None:
        yield from server(settings)
    if database_url is not None:
        yield from database(database_url, options.host, now)
    elif settings is not None:
        yield Note(Level.NOTE, "database", "none is configured: checks are not recorded, and there are no reviews")
    if ask_online and settings is not None:
        addresses = {f"the upstream {one.name}": one.url for one in settings.upstreams}
        if settings.judge is not None and settings.judge.base_url is not None:
            addresses["the judge"] = settings.judge.base_url
        yield from online(addresses, clock)


def run_doctor(options: ServerOptions, *, as_json: bool, ask_online: bool) -> bool:
    """Writes the notes to standard output, and returns whether something is open."""
    notes = examine(options, ask_online=ask_online)
    if as_json:
        open_count = sum(note.level is Level.OPEN for note in notes)
        write_text(
            json.dumps({"open": open_count, "notes": [asdict(note) for note in notes]}, indent=2) + "\n", sys.stdout
        )
    else:
        write(_lines(notes), sys.stdout)
    return any(note.level is Level.OPEN for note in notes)


def _lines(notes: Sequence[Note]) -> Iterable[Line]:
    area = None
    order = {name: number for number, name in reversed(list(enumerate(note.area for note in notes)))}
    for note in sorted(notes, key=lambda one: order[one.area]):
        sign, style = _SIGNS[note.level]
        head = "" if note.area == area else note.area
        area = note.area
        yield Line(((f"{head:<{_WIDTH}}", "strong"), (f"{sign} ", style), (clean(note.said), "")))
        if note.todo is not None:
            yield Line((("→ ", "faint"), (clean(note.todo), "faint")), indent=_WIDTH + 2)
    open_ = sum(note.level is Level.OPEN for note in notes)
    yield Line()
    if open_:
        yield Line(((f"{open_} open: each says what to do.", "bad"),))
    else:
        yield Line((("Nothing is open.", "good"),))
