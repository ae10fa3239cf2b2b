"""The metrics of a worker over HTTP: GET /metrics with the token of `JURADO_METRICS_TOKEN`, and nothing else."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import compare_digest

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

SECONDS_OF_A_CLIENT = 10.0


@contextmanager
def served_metrics(registry: CollectorRegistry, host: str, port: int, token: str) -> Iterator[int]:
    """Serve a registry until the block ends; yields the port. Raises OSError where the port is taken."""

    class Handler(BaseHTTPRequestHandler):
        timeout = SECONDS_OF_A_CLIENT

        def do_GET(self) -> None:
            given = self.headers.get("Authorization", "")
            if self.path != "/metrics":
                self.send_error(404)
            elif not compare_digest(given.encode(), f"Bearer {token}".encode()):
                self.send_error(401)
            else:
                body = generate_latest(registry)
                self.send_response(200)
                self.send_header("Content-Type", CONTENT_TYPE_LATEST)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing: a scrape each few seconds is no news."""

    server = ThreadingHTTPServer((host, port), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
