"""`assay serve`: the server, in one process or several."""

import atexit
import functools
import logging
import math
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from assay.cli.options.serve import ServerOptions
from assay.config import read_policy
from assay.errors import InputError, PolicyError

if TYPE_CHECKING:
    from assay.server.app import Application
    from assay.server.judge_settings import JudgeSettings
    from assay.server.logs.lines import LogSettings
    from assay.server.settings import ServerSettings

_log = logging.getLogger("assay.server")
_MOST_BYTES: Final = 400_000
_EXTRA: Final = "the server needs FastAPI, uvicorn and aiohttp; install them with: pip install 'assay-ai[server]'"


def startable_settings(options: ServerOptions, environ: Mapping[str, str]) -> "ServerSettings":
    """The settings under which a server may start.

    Raises:
        PolicyError: a setting is not what it should be, or a policy requires a chat model and none is configured.
        InputError: the packages of the server are not installed.
    """
    settings = read_server_settings(options, environ)
    from assay.server.guards import require_model

    require_model(settings, environ)
    return settings


def read_server_settings(options: ServerOptions, environ: Mapping[str, str]) -> "ServerSettings":
    """The settings that the command line, the gateway file and the environment describe.

    Raises:
        PolicyError: a setting is not what it should be.
        InputError: the packages of the server are not installed.
    """
    try:
        from assay.server.settings import ROUTES, Mode, Route, ServerSettings
    except ImportError as error:
        raise InputError(_EXTRA) from error
    from assay.server.settings import Upstream

    read_policy(options.policy, environ)  # a missing policy is reported before anything starts
    upstreams = tuple(Upstream(*_parse_upstream(text)) for text in options.upstream)
    routes = {}
    if options.mode is not None:
        if options.mode not in list(Mode):
            raise PolicyError(f"--mode is one of {', '.join(Mode)}; got {options.mode!r}")
        routes = {name: Route(mode=Mode(options.mode)) for name in ROUTES}
    command_settings = ServerSettings(
        host=options.host,
        port=options.port,
        upstreams=upstreams,
        routes=routes,
        policy=options.policy,
        model=options.verifier,
        keys=options.keys,
        workers=options.workers,
        database=options.database,
        judge=_judge_settings(options),
    )
    settings = (
        command_settings if options.gateway is None else _with_gateway_file(options.gateway, environ, command_settings)
    )
    from dataclasses import replace

    from assay.server.cadence.monitor_section import read_monitor

    # Last, because what it needs, such as a judge, may be in the gateway file.
    monitor = read_monitor(options.policy, environ)
    return settings if monitor is None else replace(settings, monitor=monitor)


def _judge_settings(options: ServerOptions) -> "JudgeSettings | None":
    if options.llm is None:
        if options.base_url is not None or options.judge is not None:
            raise PolicyError("--base-url and --judge go with --llm NAME: which model should judge?")
        return None
    from assay.server.judge_settings import JudgeSettings

    return JudgeSettings(options.llm, options.base_url, mode=options.judge or "uncertain")


def _parse_upstream(text: str) -> tuple[str, str]:
    name, sign, url = text.partition("=")
    return (name, url) if sign and "/" not in name else ("default", text)


def _with_gateway_file(path: Path, environ: Mapping[str, str], base: "ServerSettings") -> "ServerSettings":
    import yaml

    from assay.server.settings import parse_settings

    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        value = yaml.safe_load(content[:_MOST_BYTES])
    except (OSError, yaml.YAMLError, RecursionError) as error:
        raise PolicyError(
            f"expected a gateway file in YAML at {str(path)!r}, but it cannot be read: {error}"
        ) from error
    if not isinstance(value, Mapping) or len(content) > _MOST_BYTES:
        raise PolicyError(f"expected a gateway file at {str(path)!r} with the sections upstreams, routes and limits")
    return parse_settings(value, environ, base)


def run_serve(options: ServerOptions) -> None:
    """Serves until the process is asked to stop; accepted requests are answered first.

    Raises:
        PolicyError: a setting is not what it should be.
        InputError: the packages of the server are not installed.
    """
    for name in _SINGLE_THREADED:
        # Threads that a library starts before a fork are missing in the child, and numpy starts some on import, which
        # reading the settings causes; each worker starts its own.
        os.environ.setdefault(name, _SINGLE_THREADED[name])
    settings = startable_settings(options, os.environ)
    if settings.workers > 1:
        _share_metrics_folder()
    try:
        import uvicorn

        from assay.server.app import create_app
        from assay.server.http.slow_clients import raise_descriptors, timed_heads
        from assay.server.logs.lines import log_settings, set_up_logging
    except ImportError as error:
        raise InputError(_EXTRA) from error
    logs = log_settings(os.environ)
    set_up_logging(logs)
    descriptors = raise_descriptors()
    limits = settings.limits
    heads = limits.heads if descriptors is None else min(limits.heads, max(1, descriptors // 2))
    config = functools.partial(
        uvicorn.Config,
        factory=True,
        host=settings.host,
        port=settings.port,
        http=timed_heads(limits.head_s, heads),
        ws="none",  # there is no route over web sockets
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        lifespan="on",
        timeout_graceful_shutdown=int(settings.limits.shutdown_s) + 1,
        timeout_keep_alive=math.ceil(settings.limits.keep_alive_s),
    )
    alone = functools.partial(_worker_application, settings, logs, create_app)
    _announce_setup(settings)
    if settings.workers == 1:
        uvicorn.Server(config(alone)).run()
        return
    _run_workers(settings, config, alone)


def _announce_setup(settings: "ServerSettings") -> None:
    """Prints how to make the first user, if there is none yet: with a token, if only this machine is served.

    It is printed to the terminal and not to the log, which others may read.
    """
    from assay.server.app import open_store
    from assay.server.settings import is_loopback

    store = open_store(settings)
    if store is None:
        return
    from assay.server.access.sign_in import setup_token
    from assay.store.access import has_people

    instruction = "make the first user: assay users create NAME --role admin --database ..."
    with store:
        if has_people(store):
            return
        if is_loopback(settings.host):
            token = setup_token(store, settings.access)
            instruction = f"make the first one at http://{settings.host}:{settings.port}/console/setup?token={token}"
    sys.stderr.write(f"assay: there are no users yet; {instruction}\n")
    sys.stderr.flush()


def _run_workers(settings: "ServerSettings", config: Callable[..., Any], alone: Callable[[], Any]) -> None:
    """Serves with several processes over one socket; one that dies is restarted.

    They share one loaded network if this process can be forked; otherwise each loads its own.
    """
    import uvicorn
    from uvicorn.supervisors import Multiprocess

    from assay.server.app import create_app, open_store
    from assay.server.guards import Guards
    from assay.server.telemetry.tracing import is_asked_for
    from assay.server.workers import Workers, can_share, warm

    # The tables are migrated once, before there are workers; the store is closed before these are forked.
    if (store := open_store(settings)) is not None:
        store.close()
    listening_socket: socket.socket = config(alone).bind_socket()
    guards = Guards(settings.policy, model=settings.model, judge=settings.judge, database=settings.database)
    warm(guards.default.policy, guards.scorer, with_store=settings.database is not None)
    make_application = functools.partial(create_app, settings, guards=lambda: guards, owns_process=True)
    # Traces are sent by threads, which a fork does not copy: then each worker makes its own application.
    shared_application = None if is_asked_for(os.environ) else make_application()
    config(alone).get_loop_factory()  # imports the loop; each worker makes its own after the fork
    if shared_application is not None:
        shared_application.before_fork()
    if not can_share():
        _log.warning("each worker loads the network for itself: there are threads already, or the system is not Linux")
        # A worker that loads the network does not answer health checks for a while.
        Multiprocess(config(alone, workers=settings.workers, timeout_worker_healthcheck=60), [listening_socket]).run()
        return

    def application(number: int) -> "Application":
        running = make_application() if shared_application is None else shared_application
        running.after_fork(first=number == 0)
        return running

    def work(number: int) -> None:
        uvicorn.Server(config(functools.partial(application, number))).run(sockets=[listening_socket])

    status = Workers(settings.workers, work, shutdown_s=settings.limits.shutdown_s).run()
    if status:
        raise SystemExit(status)


def _share_metrics_folder() -> None:
    """Gives several workers one folder for metrics, before any metric is loaded; it is removed with this process."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        folder = tempfile.mkdtemp(prefix="assay-figures-")
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        here = os.getpid()
        atexit.register(lambda: shutil.rmtree(folder, ignore_errors=True) if os.getpid() == here else None)


_SINGLE_THREADED: Final = {"TOKENIZERS_PARALLELISM": "false", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def _worker_application(settings: "ServerSettings", logs: "LogSettings", make: Callable[..., Any]) -> Any:
    """The application of one process."""
    from assay.server.logs.lines import set_up_logging

    set_up_logging(logs)
    return make(settings, owns_process=True)
