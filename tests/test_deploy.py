"""What `deploy/`, the Dockerfile and `compose.yaml` say, held against the real command, the real server and real tools.

`make test-deploy` installs helm, hadolint, yamllint and the schemas of Kubernetes and lets nothing be skipped.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import time
import tomllib
import urllib.request
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import typer
import yaml

from assay._version import __version__
from assay.cli.app import app
from assay.server.logs.lines import FORMAT, LEVEL, log_settings
from assay.store.db import database_url

ROOT = Path(__file__).parent.parent
CHART = ROOT / "deploy" / "helm" / "assay"
REQUIRED = os.environ.get("ASSAY_DEPLOY") == "required"
PLAIN: dict[str, Any] = {}
FULL: dict[str, Any] = {
    "mode": "shadow",
    "upstream": "http://models.example/v1",
    "workers": 2,
    "image": {"digest": "sha256:" + "a" * 64},
    "gateway": {"limits": {"keep_alive_s": 5}},
    "receiptKeys": {"existingSecret": "keys"},
    "envFrom": [{"secretRef": {"name": "models"}}],
    "env": {"HF_HUB_OFFLINE": "1"},
    "imagePullSecrets": [{"name": "r"}],
    "autoscaling": {"targetQueueDepth": 5},
    "nodeSelector": {"disk": "ssd"},
    "podAnnotations": {"a": "b"},
    "tolerations": [{"key": "k", "operator": "Exists"}],
    "networkPolicy": {"extraEgress": [{"ports": [{"protocol": "TCP", "port": 4318}]}]},
}
BARE: dict[str, Any] = {
    "autoscaling": {"enabled": False},
    "podDisruptionBudget": {"enabled": False},
    "migrations": {"enabled": False},
    "networkPolicy": {"enabled": False},
}


def tool(name: str, *, required: bool = REQUIRED) -> str:
    """Where a tool is: on the path, or beside this Python."""
    found = shutil.which(name) or shutil.which(name, path=str(Path(sys.executable).parent))
    if found is None:
        assert not required, f"{name} is not installed"
        pytest.skip(f"no {name} here: make test-deploy")
    return found


def read(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def parsed(words: list[str], environ: dict[str, str] | None = None) -> dict[str, Any]:
    """The options of an `assay` command as the real command reads them in an environment; wrong ones raise."""
    command: Any = typer.main.get_command(app)
    while words and words[0] in getattr(command, "commands", {}):
        command, words = command.commands[words[0]], words[1:]
    with mock.patch.dict(os.environ, environ or {}, clear=True):
        found: dict[str, Any] = command.make_context("assay", list(words)).params
    return found


# The image


def dockerfile() -> list[tuple[str, str]]:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    lines = re.sub(r"\\\n", " ", "\n".join(line for line in text.split("\n") if not line.startswith("#"))).split("\n")
    return [(line.split(None, 1)[0], " ".join(line.split()[1:])) for line in lines if line.strip()]


def last(instruction: str) -> str:
    return [rest for name, rest in dockerfile() if name == instruction][-1]


def image_env() -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in last("ENV").split())


def test_the_image_runs_a_command_that_there_is_on_the_port_that_it_tells() -> None:
    assert json.loads(last("ENTRYPOINT")) == ["assay"]
    words = json.loads(last("CMD"))
    options = parsed(words)
    assert (words[0], options["host"], str(options["port"])) == ("serve", "0.0.0.0", last("EXPOSE"))  # noqa: S104
    assert f":{options['port']}/healthz" in last("HEALTHCHECK")


def test_the_image_has_two_stages_and_runs_as_nobody_in_particular() -> None:
    names = [name for name, _ in dockerfile()]
    assert names.count("FROM") == 2
    user = last("USER").split(":")
    assert all(part.isdigit() and part != "0" for part in user)
    assert names.index("USER") > max(place for place, name in enumerate(names) if name == "RUN")
    copied = [rest for name, rest in dockerfile()[names.index("FROM", names.index("FROM") + 1) :] if name == "COPY"]
    assert copied == ["--from=build /opt/assay /opt/assay"]


def test_the_extras_of_the_image_are_extras_of_the_package() -> None:
    package = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    asked = next(rest for name, rest in dockerfile() if name == "ARG" and rest.startswith("EXTRAS="))
    for extras in (asked.removeprefix("EXTRAS="), read("compose.yaml")["x-assay"]["build"]["args"]["EXTRAS"]):
        assert set(extras.split(",")) <= set(package["project"]["optional-dependencies"])


def test_only_what_the_image_copies_is_sent_to_the_daemon() -> None:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").split("\n")
    sent = {line.removeprefix("!") for line in lines if line.startswith("!")}
    copied = {
        word.removeprefix("./")
        for name, rest in dockerfile()
        if name == "COPY" and not rest.startswith("--from")
        for word in rest.split()[:-1]
    }
    assert "*" in lines
    assert sent == copied
    assert all((ROOT / one).exists() for one in copied)
    package = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {package["readme"], *package["license-files"]} <= copied


def test_the_settings_of_the_image_are_settings_that_there_are() -> None:
    env = image_env()
    assert database_url(env["ASSAY_DATABASE_URL"]).database == f"{last('VOLUME')}/assay.db"
    log_settings(env)
    check_names(env)


def check_names(names: Any) -> None:
    """That each variable of ours is read somewhere in the package."""
    known = set(re.findall(r"ASSAY_[A-Z_]+", "".join(p.read_text("utf-8") for p in (ROOT / "src").rglob("*.py"))))
    assert {name for name in names if name.startswith("ASSAY_")} <= known


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="namespaces of Linux")
def test_the_server_of_the_image_runs_on_a_read_only_root_without_privileges(tmp_path: Path) -> None:
    """The image's command and its health check in a mount namespace whose root is read-only, as its user."""
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no namespace of mounts may be made here")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    root, state = tmp_path / "root", tmp_path / "state"
    nobody = "setpriv --reuid {0} --regid {0} --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all{1}"
    user, probe_it = nobody.format(last("USER").split(":")[0], ""), f"exec {sys.executable} -c 'import assay'"
    if subprocess.run([*user.split(), "sh", "-c", probe_it], capture_output=True, check=False).returncode:
        # Where this Python is not for everybody, the server runs as whoever runs the tests, who may read and no more.
        user = nobody.format(os.getuid(), ",+dac_read_search")
    for folder in (root, state, state / "tmp"):
        folder.mkdir()
    for folder in (state, state / "tmp"):
        folder.chmod(0o777)
    words = [str(port) if word == "8080" else word for word in json.loads(last("CMD"))]
    python = f"{sys.executable} -m assay"
    environ = {
        **{name: value for name, value in image_env().items() if name != "PATH"},
        "PYTHONPATH": ":".join(str(Path(one).resolve()) for one in sys.path if one),
        "PATH": os.environ["PATH"],
        "ASSAY_DATABASE_URL": "sqlite:////mnt/assay.db",
        "TMPDIR": "/mnt/tmp",
    }
    script = textwrap.dedent(f"""\
        set -e
        mount --make-rprivate /
        mount --rbind / {root}
        mount --bind {state} {root}/mnt
        mount -o remount,ro,bind {root}
        cd {root}
        exec chroot . {user} \\
            sh -c 'if touch /written 2>/dev/null; then exit 9; fi; cd /mnt; exec {python} {" ".join(words)}'
        """)
    running = subprocess.Popen(
        ["unshare", "--mount", "sh", "-c", script], env=environ, stderr=subprocess.PIPE, text=True
    )
    try:
        status = None
        for _ in range(1200):
            if running.poll() is not None:
                break
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as answer:
                    status = answer.status
                    break
            except OSError:
                time.sleep(0.1)
        assert status == 200, running.communicate()[1][-2000:] if running.poll() is not None else "not ready"
        health = json.loads(last("HEALTHCHECK").split("CMD", 1)[1].strip())[1:]
        health = [word.replace(":8080/", f":{port}/") for word in health]
        assert subprocess.run([sys.executable, *health], timeout=60, check=False).returncode == 0
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/openapi.json", timeout=60) as answer:
            paths = set(json.loads(answer.read())["paths"])
        assert {"/healthz", "/readyz"} <= paths
        assert str((state / "assay.db").stat().st_uid) == user.split()[2]
    finally:
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=120)


def test_hadolint_finds_nothing() -> None:
    done = subprocess.run([tool("hadolint"), ROOT / "Dockerfile"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


# Compose


def test_compose_runs_commands_that_there_are_with_settings_that_there_are() -> None:
    services = read("compose.yaml")["services"]
    ours = {name: one for name, one in services.items() if one.get("image") == "assay:local"}
    assert set(ours) == {"assay", "migrate"}
    for service in ours.values():
        parsed(service["command"], service["environment"])
        check_names(service["environment"])
        assert service["read_only"] is True
        assert database_url(service["environment"]["ASSAY_DATABASE_URL"]).password is None
    assert parsed(ours["assay"]["command"])["port"] == 8080
    log_settings({FORMAT: ours["assay"]["environment"][FORMAT], LEVEL: ""})


def test_the_commands_in_the_comments_of_compose_are_commands() -> None:
    text = re.sub(r" \\\n# +", " ", (ROOT / "compose.yaml").read_text(encoding="utf-8"))
    found = re.findall(r"docker compose run --rm (?:--no-TTY )?assay (.+?)(?: > | && |\n)", text)
    assert len(found) == 2
    for line in found:
        parsed([*line.split(), "--database", "x.db"])


def test_compose_publishes_on_this_machine_only_and_keeps_no_secret() -> None:
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    for service in read("compose.yaml")["services"].values():
        for port in service.get("ports", ()):
            assert port.startswith("127.0.0.1:")
        for name, value in (service.get("environment") or {}).items():
            assert "PASSWORD" not in name or re.fullmatch(r"\$\{[A-Z_]+:\?.+\}", value), name
    assert "password=" not in text.lower().replace("_password=%s", "")


def test_compose_mounts_what_there_is() -> None:
    services = read("compose.yaml")["services"]
    volumes = [one for service in services.values() for one in service.get("volumes", ())]
    named = set(read("compose.yaml")["volumes"])
    for volume in volumes:
        source = volume.split(":")[0]
        made_by_hand = source == "./deploy/secrets"  # in the comments
        assert source in named or made_by_hand or (ROOT / source).is_dir(), source
    for service in services.values():
        for other in service.get("depends_on", ()):
            assert other in services


def test_prometheus_grafana_and_the_collector_are_asked_where_they_are() -> None:
    services = read("compose.yaml")["services"]
    (job,) = read("deploy/prometheus/prometheus.yml")["scrape_configs"]
    (target,) = job["static_configs"][0]["targets"]
    host, port = target.split(":")
    assert parsed(services[host]["command"])["port"] == int(port)
    assert (
        read("deploy/grafana/provisioning/datasources/assay.yaml")["datasources"][0]["url"] == "http://prometheus:9090"
    )
    collector = read("deploy/otel/collector.yaml")
    told = services["assay"]["environment"]["OTEL_EXPORTER_OTLP_ENDPOINT"]
    assert told.split("//")[1].split(":")[0] in services
    assert told.split(":")[-1] == collector["receivers"]["otlp"]["protocols"]["http"]["endpoint"].split(":")[-1]
    for pipeline in collector["service"]["pipelines"].values():
        for kind in ("receivers", "processors", "exporters"):
            assert set(pipeline[kind]) <= set(collector[kind])


def test_the_figures_that_prometheus_asks_for_are_served() -> None:
    from assay.server.app import create_app
    from assay.server.settings import ServerSettings

    paths = create_app(ServerSettings(), guards=lambda: None).api.openapi()["paths"]  # type: ignore[arg-type, return-value]
    asked = read("deploy/prometheus/prometheus.yml")["scrape_configs"][0]["metrics_path"]
    if "/metrics" not in paths:
        pytest.skip("this build serves no figures")
    assert asked in paths


def test_promtool_takes_the_settings_of_prometheus() -> None:
    command = [
        tool("promtool", required=False),
        "check",
        "config",
        "--syntax-only",
        str(ROOT / "deploy/prometheus/prometheus.yml"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_compose_fits_its_schema() -> None:
    schema = pytest.importorskip("compose_spec") if not REQUIRED else __import__("compose_spec")
    schema.ComposeSpecification.model_validate(read("compose.yaml"))


def test_yamllint_finds_nothing() -> None:
    rules = "{extends: default, rules: {line-length: {max: 120}, document-start: disable}}"
    files = [
        ROOT / "compose.yaml",
        ROOT / "deploy/prometheus/prometheus.yml",
        ROOT / "deploy/grafana/provisioning",
        ROOT / "deploy/otel",
        CHART / "values.yaml",
        CHART / "Chart.yaml",
    ]
    done = subprocess.run([tool("yamllint"), "-d", rules, *files], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


# The chart


def rendered(values: dict[str, Any], folder: Path) -> dict[str, dict[str, Any]]:
    file = folder / "values.yaml"
    file.write_text(yaml.safe_dump(values), encoding="utf-8")
    environ = {**os.environ, "HELM_CACHE_HOME": str(folder), "HELM_CONFIG_HOME": str(folder), "HOME": str(folder)}
    done = subprocess.run(
        [tool("helm"), "template", "gate", CHART, "--values", file],
        capture_output=True,
        text=True,
        env=environ,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (folder / "rendered.yaml").write_text(done.stdout, encoding="utf-8")
    return {one["kind"]: one for one in yaml.safe_load_all(done.stdout) if one}


def test_the_chart_is_of_this_version() -> None:
    assert yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))["appVersion"] == __version__


def test_helm_lint_finds_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [tool("helm"), "lint", "--strict", CHART],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "HOME": str(tmp_path)},
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("values", [PLAIN, FULL, BARE], ids=["plain", "full", "bare"])
def test_what_the_chart_makes_fits_the_schemas_of_kubernetes(values: dict[str, Any], tmp_path: Path) -> None:
    made = rendered(values, tmp_path)
    validate = pytest.importorskip("kubernetes_validate") if not REQUIRED else __import__("kubernetes_validate")
    for one in made.values():
        for version in ("1.28", "1.35"):
            validate.validate(one, version, strict=True)
    kinds = {"Deployment", "Service"}
    if values is not BARE:
        kinds |= {"HorizontalPodAutoscaler", "PodDisruptionBudget", "NetworkPolicy", "Job"}
    assert set(made) == kinds | ({"ConfigMap"} if values is FULL else set())


@pytest.mark.parametrize("values", [PLAIN, FULL], ids=["plain", "full"])
def test_the_pods_of_the_chart_run_commands_that_there_are_as_nobody(values: dict[str, Any], tmp_path: Path) -> None:
    made = rendered(values, tmp_path)
    for kind in ("Deployment", "Job"):
        pod = made[kind]["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        options = parsed(container["args"], {one["name"]: str(one.get("value", "x.db")) for one in container["env"]})
        check_names(one["name"] for one in container["env"])
        secret = next(one for one in container["env"] if one["name"] == "ASSAY_DATABASE_URL")
        assert set(secret) == {"name", "valueFrom"}
        assert str(pod["securityContext"]["runAsUser"]) == last("USER").split(":")[0]
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert pod["automountServiceAccountToken"] is False
        if kind == "Deployment":
            assert options["port"] == container["ports"][0]["containerPort"]
            assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
            for probe in ("readinessProbe", "startupProbe"):
                assert container[probe]["httpGet"]["path"] == "/readyz"


def test_the_service_sends_nothing_to_the_pods_that_migrate(tmp_path: Path) -> None:
    made = rendered(PLAIN, tmp_path)
    wanted = set(made["Service"]["spec"]["selector"].items())
    assert wanted <= set(made["Deployment"]["spec"]["template"]["metadata"]["labels"].items())
    assert not wanted <= set(made["Job"]["spec"]["template"]["metadata"]["labels"].items())
    assert "pre-upgrade" in made["Job"]["metadata"]["annotations"]["helm.sh/hook"]


def test_the_gateway_file_of_the_chart_is_one_that_the_server_reads(tmp_path: Path) -> None:
    from assay.server.settings import ServerSettings, parse_settings

    file = yaml.safe_load(rendered(FULL, tmp_path)["ConfigMap"]["data"]["gateway.yaml"])
    assert parse_settings(file, {}, ServerSettings()).limits.keep_alive_s == 5


def test_a_pod_has_longer_to_end_than_its_server(tmp_path: Path) -> None:
    from assay.server.settings import Limits

    pod = rendered(PLAIN, tmp_path)["Deployment"]["spec"]["template"]["spec"]
    pause = int(re.findall(r"sleep\((\d+)\)", pod["containers"][0]["lifecycle"]["preStop"]["exec"]["command"][2])[0])
    assert pod["terminationGracePeriodSeconds"] >= Limits().shutdown_s + pause + 5
    grace = read("compose.yaml")["services"]["assay"]["stop_grace_period"]
    assert int(grace.removesuffix("s")) >= Limits().shutdown_s + 5
