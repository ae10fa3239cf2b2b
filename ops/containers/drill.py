"""What is done with the installation of `deploy/compose.yaml` once it runs, step by step, as the guides say it.

Each step is a sentence and a function that raises AssertionError where the sentence does not hold.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping

from ops.containers.installation import NEWER, OURS, PROJECT, Installation

Step = Callable[[Installation], str]
PASSWORD = "a password of the ants"
INTERVAL = re.compile(r"\$__(rate_interval|interval|range)\b")


def starts(at: Installation) -> str:
    """Everything starts and tells that it is well."""
    at.compose("--profile", "metrics", "up", "--detach", "--wait", "--scale", "worker=2", *at.all_but_grafana())
    rows = at.containers()
    assert {row["Service"] for row in rows} >= {"server1", "server2", "worker", "proxy", "database", "broker", "s3"}
    unwell = [row["Name"] for row in rows if row["Health"] not in {"healthy", ""} or row["State"] != "running"]
    assert unwell == []
    at.trust()
    assert at.status_of("/health/ready") == 200
    return f"{len(rows)} containers"


def closes_metrics(at: Installation) -> str:
    """The proxy shows /metrics to no one, and leads from HTTP to HTTPS."""
    assert at.status_of("/metrics") == 404
    assert at.curl("--output", "/dev/null", "--write-out", "%{redirect_url}", "http://localhost/") == at.url + "/"
    return ""


def makes_a_contest(at: Installation) -> str:
    """An admin makes a contest and a team on the command line, over TLS."""
    at.jurado("login", at.url, "admin", "--password-stdin", sent=at.secrets["JURADO_ADMIN_PASSWORD"])
    for words in (
        ("contest", "create", "finals", "The finals", "--start", "now", "--duration", "5:00:00"),
        ("contest", "add-problem", "finals", "comesolo"),
        ("team", "add", "ants", "The Ants", "--contest", "finals"),
    ):
        at.jurado("admin", *words)
    at.jurado("admin", "user", "add", "ants", "--team", "ants", "--password-stdin", sent=PASSWORD)
    at.jurado("login", at.url, "ants", "--password-stdin", who="ants", sent=PASSWORD)
    at.jurado("problems", "finals", "--inputs", str(at.folder / "inputs"), who="ants")
    return ""


def judges(at: Installation) -> str:
    """A submission over TLS gets its verdict from a worker, and the board shows its points."""
    at.answer(1)
    board = json.loads(at.jurado("scoreboard", "finals", "--json"))
    (row,) = [row for row in board["rows"] if row["team_id"] == "ants"]
    assert row["score"]["score"] > 0, row
    return f"{row['score']['score']} points"


def loses_a_worker(at: Installation) -> str:
    """With one worker killed the other judges."""
    at.docker("kill", at.name_of("worker"))
    at.answer(2)
    at.compose("up", "--detach", "--wait", "--no-recreate", "--scale", "worker=2", "worker")
    return ""


def loses_a_server(at: Installation) -> str:
    """With one server stopped every request is answered, and submissions are judged."""
    with at.visitor() as visits:
        at.compose("stop", "server1")
        at.answer(3)
        at.compose("up", "--detach", "--wait", "server1")
    assert visits.refused == [], visits.refused[:3]
    return f"{visits.count} requests meanwhile, none refused"


def restarts_the_broker(at: Installation) -> str:
    """What is sent while RabbitMQ restarts is taken, and judged when it is back."""
    at.compose("stop", "broker")
    number = at.submit(4)
    at.compose("up", "--detach", "--wait", "broker")
    at.judged(number)
    return ""


def restarts_rolling(at: Installation) -> str:
    """Servers restart one after the other, and no request is refused."""
    with at.visitor() as visits:
        for server in ("server1", "server2"):
            at.compose("restart", server)
            at.compose("up", "--detach", "--wait", "--no-recreate", server)
            at.wait_until(lambda: at.status_of("/health/ready") == 200)
    assert visits.refused == [], visits.refused[:3]
    return f"{visits.count} requests meanwhile, none refused"


def scales(at: Installation) -> str:
    """Workers come and go, and the status names those that are alive."""
    for count in (3, 1, 2):
        at.compose("up", "--detach", "--wait", "--no-recreate", "--scale", f"worker={count}", "worker")
        at.wait_until(lambda count=count: f"Workers: {count} alive" in at.jurado("status"))
    at.answer(5)
    return "3, 1, 2 workers"


def upgrades(at: Installation) -> str:
    """An image with a further migration replaces the older one, server after server, and no request is refused."""
    newest = at.make_newer_image()
    with at.visitor() as visits:
        at.compose("up", "--detach", "--wait", "--no-deps", "server1")
        assert at.schema() == newest
        at.answer(8)
        at.compose("up", "--detach", "--wait", "--no-deps", "server2")
        at.answer(9)
        at.compose("up", "--detach", "--wait", "--no-deps", "--scale", "worker=2", "worker")
        at.answer(10)
    assert visits.refused == [], visits.refused[:3]
    images = {row["Service"]: row["Image"] for row in at.containers()}
    assert {images[name] for name in ("server1", "server2", "worker")} == {NEWER}
    at.wait_until(lambda: "Workers: 2 alive" in at.jurado("status"))
    return f"{visits.count} requests meanwhile, none refused"


def tells_metrics(at: Installation) -> str:
    """Prometheus scrapes both servers and all workers, every rule can be evaluated and is raised when it should be."""
    at.wait_until(lambda: [each["health"] for each in at.prometheus("targets")["activeTargets"]] == ["up"] * 4)
    rules = at.prometheus("rules")["groups"][0]["rules"]
    assert [rule["name"] for rule in rules if rule["health"] != "ok"] == []
    at.compose("exec", "-T", "prometheus", "promtool", "check", "config", "/etc/jurado/prometheus.yaml")
    at.compose("cp", str(PROJECT / "ops/containers/alerts.test.yaml"), "prometheus:/tmp/alerts.test.yaml")
    at.compose("exec", "-T", "prometheus", "promtool", "test", "rules", "/tmp/alerts.test.yaml")
    return f"{len(rules)} alerts, {sorted(rule['name'] for rule in rules if rule['state'] != 'inactive')} raised"


def draws(at: Installation) -> str:
    """Each query of the dashboard is one that Prometheus can answer."""
    dashboard = json.loads((PROJECT / "deploy/grafana/jurado.json").read_text())
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    empty = []
    for query in queries:
        rows = at.prometheus("query", query=INTERVAL.sub("5m", query))["result"]
        empty += [] if rows else [query]
    for query in empty:
        print(f"    nothing yet: {query}")
    assert len(empty) < len(queries) / 2
    return f"{len(queries)} queries, {len(empty)} of them with nothing yet"


def misses_its_workers(at: Installation) -> str:
    """With all workers stopped the alert for that is raised."""
    at.compose("stop", "worker")
    at.wait_until(lambda: "JuradoWorkersGone" in at.alerts())
    at.compose("up", "--detach", "--wait", "--no-recreate", "--scale", "worker=2", "worker")
    at.wait_until(lambda: "JuradoWorkersGone" not in at.alerts())
    return ""


def logs(at: Installation) -> str:
    """Every line that a server or a worker logs is an object of JSON, and none is a fault."""
    names = [row["Name"] for row in at.containers() if row["Service"] in OURS]
    lines = [line for name in names for line in at.logged(name)]
    wrong = [line for line in lines if not line.startswith("{")]
    assert wrong == [], wrong[:3]
    faults = [line for line in lines if '"event": "fault"' in line]
    assert faults == [], faults[:3]
    return f"{len(lines)} lines"


def moves(at: Installation) -> str:
    """A backup of the running service becomes a new installation, with all submissions and their points."""
    before, shown = at.jurado("scoreboard", "finals", "--json"), at.jurado("status")
    assert "ready" in shown.splitlines()[0]
    at.backup()
    at.compose("--profile", "metrics", "down", "--volumes")
    at.restore()
    at.compose("up", "--detach", "--wait", "--scale", "worker=1", *at.all_but_grafana(metrics=False))
    at.trust()
    after = at.jurado("scoreboard", "finals", "--json")
    rows = [json.loads(text)["rows"] for text in (before, after)]
    assert rows[0] == rows[1]
    at.answer(6)
    return ""


def runs_programs_of_packages(at: Installation) -> str:
    """With compose.sandbox.yaml every protection of the sandbox is on, and programs do not run as root."""
    at.overlays.append("compose.sandbox.yaml")
    at.compose("up", "--detach", "--wait", "--scale", "worker=1", *at.all_but_grafana(metrics=False))
    sandbox: Mapping[str, str] = json.loads(at.body_of("/health/ready"))["sandbox"]
    assert set(sandbox.values()) == {"on"}, sandbox
    users = at.compose("exec", "-T", "server1", "sh", "-c", "cat /proc/[0-9]*/status | grep -A9 '^Name:.jurado'")
    assert "Uid:\t10001" in users, users
    at.answer(7)
    return ", ".join(sandbox)


STEPS: tuple[Step, ...] = (
    starts, closes_metrics, makes_a_contest, judges, loses_a_worker, loses_a_server, restarts_the_broker,
    restarts_rolling, scales, upgrades, tells_metrics, draws, misses_its_workers, logs, moves,
    runs_programs_of_packages,
)  # fmt: skip


def play(at: Installation) -> int:
    """Play all steps and print a line for each; returns how many did not hold. A first step that fails ends it."""
    wrong = 0
    for step in STEPS:
        began = time.monotonic()
        try:
            more = step(at)
        except (AssertionError, RuntimeError) as error:
            wrong += 1
            print("\n      ".join((f"WRONG {step.__doc__}", str(error), *at.unwell())), flush=True)
            if step is starts:
                break
        else:
            print(f"ok    {step.__doc__} {f'({more})' if more else ''} {time.monotonic() - began:.0f} s", flush=True)
    return wrong
