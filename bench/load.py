"""A small load generator: many keep-alive connections from one process, each request as prepared bytes."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from urllib.parse import urlsplit

SECONDS_BETWEEN_QUESTIONS = 0.002


@dataclass
class Outcome:
    """The replies by status, their latencies in seconds, and the time of the whole load.

    Its repr leaves out what is large: `asyncio.run` asks for that of its result (by way of `signal.getsignal`).
    """

    seconds: float = 0.0
    statuses: dict[int, int] = field(default_factory=dict)
    latencies: list[float] = field(default_factory=list, repr=False)
    bodies: list[bytes] = field(default_factory=list, repr=False)

    @property
    def rate(self) -> float:
        """Give the good replies a second."""
        good = sum(count for status, count in self.statuses.items() if 200 <= status < 300)
        return good / self.seconds if self.seconds else 0.0


async def read_reply(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """Read one HTTP/1.1 reply: its status and its body, which has a content-length or comes in chunks."""
    head = await reader.readuntil(b"\r\n\r\n")
    status = int(head[9:12])
    length = 0
    for line in head.lower().split(b"\r\n")[1:]:
        if line.startswith(b"content-length:"):
            length = int(line.partition(b":")[2])
        if line.startswith(b"transfer-encoding:") and b"chunked" in line:
            return status, await _chunks(reader)
    return status, await reader.readexactly(length) if length else b""


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = bytearray()
    while size := int(await reader.readuntil(b"\r\n"), 16):
        body += await reader.readexactly(size)
        await reader.readexactly(2)
    await reader.readexactly(2)
    return bytes(body)


async def upload_and_wait(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str, token: str, data: bytes
) -> tuple[float, float]:
    """Submit a zip of comesolo's answers to the contest at `path` and ask until there is a score.

    Returns when it was acknowledged and when the score was seen, in seconds after the upload began.
    """
    upload = form_request(f"{path}/submissions", "127.0.0.1", token, {"problem_id": "comesolo"}, ("a.zip", data))
    began = time.perf_counter()
    writer.write(upload)
    status, body = await read_reply(reader)
    acknowledged = time.perf_counter() - began
    if status != 201:
        raise RuntimeError(f"expected 201, found {status}: {body[:200]!r}")
    question = get_request(f"{path}/judgements?submission_id={json.loads(body)['id']}", "127.0.0.1", token)
    while True:
        await asyncio.sleep(SECONDS_BETWEEN_QUESTIONS)
        writer.write(question)
        _, body = await read_reply(reader)
        judgements = json.loads(body)
        if judgements and judgements[0].get("end_time"):
            if "score" not in judgements[0]:
                raise RuntimeError(f"expected a score with the end of the judgement, found {judgements[0]}")
            return acknowledged, time.perf_counter() - began


async def run_load(
    url: str, request: bytes | Sequence[bytes], *, connections: int, seconds: float, keep: int | None = None
) -> Outcome:
    """Send `request` over `connections` connections again and again for `seconds`; only the last `keep` bodies stay.

    Of several requests each connection sends its share, in turn.
    """
    requests = [request] if isinstance(request, bytes) else request
    outcome = Outcome()
    address = urlsplit(url)
    began = time.perf_counter()
    until = began + seconds

    async def client(own: Iterator[bytes]) -> None:
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        while (sent := time.perf_counter()) < until:
            writer.write(next(own))
            status, body = await read_reply(reader)
            outcome.latencies.append(time.perf_counter() - sent)
            outcome.statuses[status] = outcome.statuses.get(status, 0) + 1
            outcome.bodies.append(body)
            if keep is not None:
                del outcome.bodies[:-keep]
        writer.close()

    shares = (cycle(requests[at % len(requests) :: connections]) for at in range(connections))
    await asyncio.gather(*map(client, shares))
    outcome.seconds = time.perf_counter() - began
    return outcome


def form_request(path: str, host: str, token: str, fields: dict[str, str], file: tuple[str, bytes]) -> bytes:
    """Build a multipart POST with one file, as bytes ready to send."""
    mark = "----jurado-bench"
    parts = [
        f'--{mark}\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n'.encode() for k, v in fields.items()
    ]
    name, data = file
    head = f'--{mark}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n'
    parts.append(f"{head}Content-Type: application/octet-stream\r\n\r\n".encode() + data + b"\r\n")
    body = b"".join(parts) + f"--{mark}--\r\n".encode()
    lines = [
        f"POST {path} HTTP/1.1",
        f"Host: {host}",
        f"Authorization: Bearer {token}",
        f"Content-Type: multipart/form-data; boundary={mark}",
        f"Content-Length: {len(body)}",
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def get_request(path: str, host: str, token: str | None, encoding: str | None = None) -> bytes:
    """Build a GET, as bytes ready to send."""
    lines = [f"GET {path} HTTP/1.1", f"Host: {host}"]
    lines += [f"Authorization: Bearer {token}"] if token is not None else []
    lines += [f"Accept-Encoding: {encoding}"] if encoding is not None else []
    return "\r\n".join(lines).encode() + b"\r\n\r\n"
