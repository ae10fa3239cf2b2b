"""The files of `deploy/`, as far as they can be held without Docker, Prometheus and Grafana."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Any

import pytest
import yaml
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families
from typer.testing import CliRunner

from app.commands.main import app
from app.core.settings import Settings
from app.judging.service.engine import Engine
from app.judging.service.graders import EngineSettings
from app.judging.worker import WorkerMetrics
from ops.containers.images import IMAGES
from tests.builders.contests import PROBLEM, add_contest, add_problem, add_submission
from tests.builders.scoring import share
from tests.builders.service import open_api
from tests.conftest import migrated_sqlite

PROJECT = Path(__file__).resolve().parents[1]
DEPLOY = PROJECT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
SETTINGS = {f"JURADO_{name.upper()}" for name in Settings.model_fields}
KINDS = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count"), "gauge": ("",), "info": ("_info",)}
LANDLOCK = ("create_ruleset", "add_rule", "restrict_self")
METRIC = re.compile(r"\bjurado_[a-z_]+\b")
SELECTOR = re.compile(r"\b([a-z_]+)\{((?:\s*[a-z_]+[=!~]+\"[^\"]*\",?)+)\}")
MATCHER = re.compile(r"([a-z_]+)(=~|!~|!=|=)\"([^\"]*)\"")
GROUPED = re.compile(r"\bby \(([a-z_, ]+)\)")


def compose() -> dict[str, Any]:
    """The compose file of many servers."""
    document: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return document


@dataclass(frozen=True)
class Shown:
    """What servers and workers show: the names of series, and the values of each label of each name."""

    names: set[str]
    labels: dict[str, dict[str, set[str]]]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """The metrics of a server that has taken submissions, of which one has a verdict, and of a worker."""
    home = tmp_path_factory.mktemp("shown")
    with open_api(migrated_sqlite(home / "jurado.sqlite"), home / "home") as api:
        add_problem(api.service)
        add_contest(api.service)
        add_submission(api.service, {"02": share(1), "03": share(1)})
        form = {"data": {"problem_id": PROBLEM}, "files": {"files": ("02.out", b"7\n")}}
        assert api.post("contests/c/submissions", user="team", **form).status_code == 201
        texts = [api.get("/metrics", user="admin").text]
        service = api.service
        engine = Engine(service.database, service.writer, EngineSettings(1, 2**31, 5.0, service.files), lambda *_: None)
        worker = WorkerMetrics(engine)
        texts.append(generate_latest(worker.registry).decode())
        engine.close()
    families = [family for text in texts for family in text_string_to_metric_families(text)]
    names = {family.name + end for family in families for end in KINDS.get(family.type, ("",))}
    labels: dict[str, dict[str, set[str]]] = {}
    for sample in (sample for family in families for sample in family.samples):
        for label, value in sample.labels.items():
            labels.setdefault(sample.name, {}).setdefault(label, set()).add(value)
    return Shown(names, labels)


@pytest.fixture
def known_metrics(shown: Shown) -> set[str]:
    """Every name of a series that a server or a worker shows."""
    return shown.names


def queries() -> list[str]:
    """Every expression of the alerts and of the dashboard."""
    rules = yaml.safe_load((DEPLOY / "prometheus/alerts.yaml").read_text())["groups"][0]["rules"]
    dashboard = json.loads((DEPLOY / "grafana/jurado.json").read_text())
    panels = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    return [rule["expr"] for rule in rules] + panels


def test_the_labels_that_alerts_and_the_dashboard_ask_for_are_those_of_the_metrics(shown: Shown) -> None:
    """A label that is not there, or a value that no series has, gives an empty answer and never an error.

    `up` is Prometheus' own, as `job` and `instance` are labels of its own.
    """
    asked = [match for query in queries() for match in SELECTOR.findall(query) if match[0] != "up"]
    for name, matchers in asked:
        for label, sign, value in MATCHER.findall(matchers):
            if (label, sign) == ("job", "="):
                continue
            values_ = shown.labels[name][label]
            assert sign != "=" or value in values_, (name, label, value, values_)
    for query in queries():
        grouped = {label for labels in GROUPED.findall(query) for label in re.split(r"[, ]+", labels)} - {"instance"}
        known = [set(shown.labels.get(name, ())) for name in METRIC.findall(query)]
        assert all(grouped <= labels for labels in known), (query, grouped, known)


def test_every_setting_that_the_files_name_is_one() -> None:
    """In the compose file, its example of secrets, the units and the guides to them."""
    texts = [path.read_text() for path in DEPLOY.rglob("*") if path.is_file()]
    named = {name for text in texts for name in re.findall(r"\bJURADO_[A-Z_]+[A-Z]\b", text)}
    assert named - SETTINGS == set()
    assert {"JURADO_DATABASE_URL", "JURADO_BROKER_URL", "JURADO_FILES_URL"} <= named


def test_every_secret_of_the_compose_file_is_asked_for_and_has_no_default() -> None:
    """And stands in the example, empty."""
    text = (DEPLOY / "compose.yaml").read_text()
    asked = set(re.findall(r"\$\{([A-Z0-9_]+):\?", text))
    example = dict(re.findall(r"^([A-Z0-9_]+)=(.*)$", (DEPLOY / "example.env").read_text(), re.MULTILINE))
    assert {name for name in asked if example.get(name) == ""} == asked
    assert all(name in asked for name in re.findall(r"\$\{([A-Z0-9_]*(?:PASSWORD|SECRET|KEY|TOKEN)[A-Z0-9_]*)", text))


def test_services_wait_for_others_that_there_are_and_that_tell_their_health() -> None:
    """And each volume and each configuration is declared."""
    document = compose()
    services = document["services"]
    for service in services.values():
        for name, needed in service.get("depends_on", {}).items():
            assert name in services
            if needed["condition"] == "service_healthy" and "build" not in services[name]:
                assert services[name]["healthcheck"]["test"]
    used = {
        volume.split(":")[0]
        for service in services.values()
        for volume in service.get("volumes", [])
        if volume[0] != "."
    }
    assert used == set(document["volumes"])
    assert {each["source"] for service in services.values() for each in service.get("configs", [])} == set(
        document["configs"]
    )


def test_two_servers_and_the_workers_share_database_broker_files_and_key() -> None:
    """The proxy leads to both servers, and they trust what it says of its clients."""
    services = compose()["services"]
    shared = ("JURADO_DATABASE_URL", "JURADO_BROKER_URL", "JURADO_FILES_URL", "JURADO_SECRET_KEY")
    named = [
        {name: services[each]["environment"][name] for name in shared} for each in ("server1", "server2", "worker")
    ]
    assert named[0] == named[1] == named[2]
    assert "reverse_proxy server1:8000 server2:8000" in (DEPLOY / "Caddyfile").read_text()
    subnet = compose()["networks"]["default"]["ipam"]["config"][0]["subnet"]
    assert services["server1"]["environment"]["JURADO_TRUSTED_PROXIES"] == subnet
    assert "ports" not in services["worker"]


def test_prometheus_scrapes_every_server_and_the_workers_where_they_show_their_metrics() -> None:
    """With the token of the setting, and the alerts count by the names of these jobs."""
    document, services = yaml.safe_load((DEPLOY / "prometheus/prometheus.yaml").read_text()), compose()["services"]
    jobs = {each["job_name"]: each for each in document["scrape_configs"]}
    servers = sorted(name for name in services if name.startswith("server"))
    assert jobs["jurado"]["static_configs"] == [{"targets": [f"{name}:8000" for name in servers]}]
    (workers,) = jobs["jurado-worker"]["dns_sd_configs"]
    assert workers["names"] == ["worker"]
    assert workers["port"] == services["worker"]["environment"]["JURADO_METRICS_PORT"]
    assert all(each["authorization"]["credentials_file"] == "/run/secrets/metrics_token" for each in jobs.values())
    assert services["prometheus"]["secrets"] == ["metrics_token"]
    assert compose()["secrets"] == {"metrics_token": {"environment": "JURADO_METRICS_TOKEN"}}
    alerts = (DEPLOY / "prometheus/alerts.yaml").read_text()
    assert set(re.findall(r'job="([a-z-]+)"', alerts)) == set(jobs)
    assert all((DEPLOY / "prometheus" / name).is_file() for name in document["rule_files"])


def test_the_files_beside_it_change_services_that_there_are_and_keep_what_they_run() -> None:
    """An entry point of their own takes the command of the image away: it is said again."""
    services, image = compose()["services"], (PROJECT / "Dockerfile").read_text()
    (command,) = re.findall(r"^CMD (\[.*\])$", image, re.MULTILINE)
    changed = yaml.safe_load((DEPLOY / "compose.sandbox.yaml").read_text())["services"]
    assert set(changed) == {name for name, each in services.items() if each.get("image") == "jurado-distributed"}
    for name, each in changed.items():
        assert each.get("command", services[name].get("command")) == services[name].get("command", json.loads(command))
        assert "exec setpriv --reuid=jurado" in each["entrypoint"][2]


def test_every_image_that_the_files_name_has_a_stand_in_for_where_no_registry_answers() -> None:
    """But for Grafana, of which Debian has no package."""
    bases = set(re.findall(r"^FROM (\S+)", (PROJECT / "Dockerfile").read_text(), re.MULTILINE))
    named = {each["image"] for name, each in compose()["services"].items() if "build" not in each and name != "grafana"}
    assert bases | named == set(IMAGES)


def test_every_file_that_is_mounted_is_there() -> None:
    mounted = [each for service in compose()["services"].values() for each in service.get("volumes", [])]
    assert all((DEPLOY / each.split(":")[0]).exists() for each in mounted if each.startswith("."))


def test_the_dashboard_names_only_metrics_that_there_are(known_metrics: set[str]) -> None:
    """Every panel has a query, and no two panels lie on each other."""
    dashboard = json.loads((DEPLOY / "grafana/jurado.json").read_text())
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    assert {name for query in queries for name in METRIC.findall(query)} - known_metrics == set()
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in dashboard["panels"]]
    assert len(set(places)) == len(places) == len({panel["id"] for panel in dashboard["panels"]})


def test_every_metric_of_ours_is_on_the_dashboard(known_metrics: set[str]) -> None:
    """Of a histogram one of its series is enough."""
    shown = set(METRIC.findall((DEPLOY / "grafana/jurado.json").read_text()))
    ends = r"_(total|bucket|sum|count|info|created)$"
    assert {re.sub(ends, "", each) for each in known_metrics if each.startswith("jurado_")} <= {
        re.sub(ends, "", each) for each in shown
    }


def test_alerts_name_only_metrics_that_there_are_and_say_what_to_do(known_metrics: set[str]) -> None:
    """Each alert once, with a summary and a severity."""
    rules = yaml.safe_load((DEPLOY / "prometheus/alerts.yaml").read_text())["groups"][0]["rules"]
    named = {name for rule in rules for name in METRIC.findall(rule["expr"])}
    assert named - known_metrics == set()
    assert len({rule["alert"] for rule in rules}) == len(rules)
    assert all(rule["annotations"]["summary"] and rule["labels"]["severity"] in {"page", "warn"} for rule in rules)


def unit_lines(unit: Path) -> list[tuple[str, str, str]]:
    """The settings of a unit, with their sections."""
    section, lines = "", []
    for line in unit.read_text().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line.strip() and not line.startswith(("#", ";")):
            name, equals, value = line.partition("=")
            assert equals, f"{unit.name}: {line}"
            lines.append((section, name, value))
    return lines


def values(unit: Path, name: str) -> list[str]:
    """All values of one setting of a unit."""
    return [value for _section, each, value in unit_lines(unit) if each == name]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_every_unit_runs_a_command_that_there_is_with_settings_that_there_are(unit: Path) -> None:
    """Where it says that the program lies, which is where the wheel is installed."""
    (start,) = values(unit, "ExecStart")
    program, *words = start.split()
    (folder,) = values(unit, "WorkingDirectory")
    assert program == f"{folder}/bin/jurado"
    assert (PROJECT / ".venv/bin/jurado").exists()
    shown = CliRunner().invoke(app, [words[0], "--help"])
    assert shown.exit_code == 0, start
    options = {word for word in words[1:] if word.startswith("-")}
    assert all(option in shown.stdout for option in options)
    given = [pair.partition("=")[0] for value in values(unit, "Environment") for pair in value.split()]
    assert {name for name in given if name.startswith("JURADO_")} <= SETTINGS
    assert "JURADO_HOME" in given
    assert values(unit, "EnvironmentFile") == ["/etc/jurado.env"]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_every_unit_may_write_where_its_settings_say_and_nowhere_else(unit: Path) -> None:
    """`ProtectSystem=strict` leaves its state, its cache and what it names."""
    writable = {f"/var/lib/{name}" for name in values(unit, "StateDirectory")}
    writable |= {f"/var/cache/{name}" for name in values(unit, "CacheDirectory")} | set(values(unit, "ReadWritePaths"))
    pairs = [pair.partition("=") for value in values(unit, "Environment") for pair in value.split()]
    for name, _, path in pairs:
        if name in {"JURADO_HOME", "NUMBA_CACHE_DIR"}:
            assert path in writable, f"{name}={path}"
    (start,) = values(unit, "ExecStart")
    assert all(word in writable for word in start.split()[1:] if word.startswith("/"))
    assert values(unit, "ProtectSystem") == ["strict"]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_every_unit_lets_graders_confine_themselves_and_refuses_other_calls_without_killing(unit: Path) -> None:
    """The sets of systemd 252 have neither: its filter killed the server once its first grader was started."""
    (allowed,) = values(unit, "SystemCallFilter")
    assert {"@system-service", "seccomp", *(f"landlock_{call}" for call in LANDLOCK)} == set(allowed.split())
    assert values(unit, "SystemCallErrorNumber") == ["EPERM"]


def test_units_have_known_sections_and_say_a_thing_once_and_the_timer_is_of_a_unit() -> None:
    sections = {"Unit", "Service", "Install", "Timer"}
    for unit in (DEPLOY / "systemd").iterdir():
        lines = unit_lines(unit)
        assert {section for section, _, _ in lines} <= sections, unit.name
        names = [(section, name) for section, name, _ in lines]
        assert len(set(names)) == len(names), unit.name
    for timer in (DEPLOY / "systemd").glob("*.timer"):
        assert timer.with_suffix(".service") in UNITS
        assert ("Install", "WantedBy", "timers.target") in unit_lines(timer)
        assert any(section == "Timer" and name.startswith("On") for section, name, _ in unit_lines(timer))


def test_systemd_has_no_objection_to_the_units(tmp_path: Path) -> None:
    """As far as it can tell without the program: which is replaced by one that there is.

    A machine without systemd runs no units, and has the tests above.
    """
    program = which("true")
    assert program is not None
    units = [*UNITS, *(DEPLOY / "systemd").glob("*.timer")]
    for unit in units:
        text = unit.read_text()
        assert (unit.suffix == ".timer") == ("/opt/jurado/bin/jurado" not in text)
        replaced = text.replace("/opt/jurado/bin/jurado", program)
        (tmp_path / unit.name.replace("@.", "@1.")).write_text(replaced)
    verify = which("systemd-analyze")
    if verify is not None:
        told = subprocess.run([verify, "verify", "--man=no", *tmp_path.iterdir()], capture_output=True, text=True)
        ours = [line for line in told.stderr.splitlines() if "jurado" in line]
        assert ours == []


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_every_unit_is_confined_as_the_servers_is(unit: Path) -> None:
    """So that the drop-in for the sandbox fits all of them."""
    lines = (DEPLOY / "systemd/jurado.service").read_text().splitlines()
    hardening = [line for line in lines if re.match(r"(Protect|Restrict|Private|System|No|Cap)", line)]
    assert len(hardening) > 15
    assert set(hardening) <= set(unit.read_text().splitlines())
