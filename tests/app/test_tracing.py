"""A submission is one trace from its request through the queue to its verdict, also where a worker judges it."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import NoOpTracerProvider

from app.core import telemetry
from app.submissions.tables import DONE
from tests.builders.contests import HOUR, add_contest, add_problem
from tests.builders.grading import grading, submission
from tests.builders.poisoned_worker import poisoned_worker
from tests.builders.service import open_api
from tests.builders.waiting import until
from tests.builders.working import Working

CLIENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
"""The context of a client's own span, as it sends it."""


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    """What this process traces."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    telemetry.use(provider)
    yield exporter
    telemetry.use(NoOpTracerProvider())


class Sink(HTTPServer):
    """A collector of traces, as OpenTelemetry's own takes them over HTTP."""

    spans: list[Span]


@contextmanager
def sink() -> Iterator[Sink]:
    class Handler(BaseHTTPRequestHandler):
        server: Sink

        def do_POST(self) -> None:
            sent = ExportTraceServiceRequest.FromString(self.rfile.read(int(self.headers["Content-Length"])))
            scopes = [scope for resource in sent.resource_spans for scope in resource.scope_spans]
            self.server.spans += [span for scope in scopes for span in scope.spans]
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = Sink(("127.0.0.1", 0), Handler)
    server.spans = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def test_a_request_is_a_span_below_its_clients_with_the_ids_of_request_and_submission(
    sqlite_url: str, tmp_path: Path, spans: InMemorySpanExporter
) -> None:
    with open_api(sqlite_url, tmp_path / "home") as api:
        add_problem(api.service)
        add_contest(api.service, started=HOUR)
        reply = api.post(
            "contests/c/submissions",
            user="team",
            data={"problem_id": "echo"},
            files={"files": ("02.out", b"2\n")},
            headers={"traceparent": CLIENT, "X-Request-Id": "one-of-mine"},
        )
        assert reply.status_code == 201, reply.text
        assert api.get("contests/nowhere").status_code == 404
    by_name = {span.name: span for span in spans.get_finished_spans()}
    request = by_name["POST /api/contests/{contest_id}/submissions"]
    told = dict(request.attributes or {})
    assert request.parent is not None
    assert f"{request.context.trace_id:032x}" in CLIENT
    assert (told["jurado.request_id"], told["http.response.status_code"]) == ("one-of-mine", 201)
    assert told["jurado.submission_id"] == int(reply.json()["id"])
    commit = by_name["commit"]
    assert commit.parent is not None
    assert commit.parent.span_id == request.context.span_id
    assert dict(by_name["GET /api/contests/{contest_id}"].attributes or {})["http.response.status_code"] == 404


def test_a_server_that_judges_by_itself_goes_on_with_the_trace(
    sqlite_url: str, tmp_path: Path, spans: InMemorySpanExporter
) -> None:
    with grading(sqlite_url, tmp_path) as found:
        with telemetry.span("request"):
            found.accept(submission(b"10", b"10"))
        found.accept(submission(b"10", b"3"))
        found.wait()
    finished = spans.get_finished_spans()
    (request,) = (span for span in finished if span.name == "request")
    first, second = (span for span in finished if span.name == "judge")
    assert first.parent is not None
    assert first.parent.span_id == request.context.span_id
    assert dict(first.attributes or {})["jurado.type"] == "AC"
    assert second.parent is None, "of nobody's request: a trace of its own"
    assert {span.name for span in finished if span.context.trace_id == request.context.trace_id} == {
        "request",
        "queue",
        "judge",
        "attempt",
    }


@pytest.mark.machine("broker")
def test_a_worker_in_another_process_goes_on_with_the_trace_that_the_row_has(
    postgresql_url: str, broker_url: str, tmp_path: Path, spans: InMemorySpanExporter
) -> None:
    server = Working(postgresql_url, broker_url, tmp_path / "files")
    with telemetry.span("request"):
        id_ = server.accept(submission(b"10", b"10"))
    (request,) = spans.get_finished_spans()
    with sink() as collector:
        to = {"JURADO_OTEL": "1", "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.server_port}"}
        with poisoned_worker(postgresql_url, broker_url, tmp_path, to) as worker:
            until(lambda: all(row.state == DONE for row in server.rows()), seconds=120)
            worker.process.terminate()
            assert worker.process.wait(60) == 0
        found = {span.name: span for span in collector.spans}
    assert found["judge"].trace_id == request.context.trace_id.to_bytes(16)
    assert found["judge"].parent_span_id == request.context.span_id.to_bytes(8)
    assert found["queue"].end_time_unix_nano >= found["queue"].start_time_unix_nano
    assert found["attempt"].parent_span_id == found["judge"].span_id
    told = {each.key: each.value for each in found["judge"].attributes}
    assert told["jurado.judgement_id"].int_value == id_
    assert told["jurado.type"].string_value == "AC"
    server.close()


def test_without_the_setting_no_library_of_the_extra_is_imported() -> None:
    """FastAPI itself imports `opentelemetry-api`, which makes no span."""
    program = (
        "import sys, app.commands.main\n"
        "from app.core import telemetry\n"
        "with telemetry.span('a'), telemetry.request_span('GET', []) as end:\n"
        "    end('/', 200)\n"
        "assert not telemetry.carried()\n"
        "import app.main, app.judging.worker\n"
        "extra = ('opentelemetry.sdk', 'opentelemetry.exporter', 'opentelemetry.proto', 'google')\n"
        "assert not [name for name in sys.modules if name.startswith(extra)]\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_setting_without_the_libraries_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(telemetry.TracingMissing, match=r"pip install 'jurado\[otel\]'"):
        telemetry.start("jurado serve")
