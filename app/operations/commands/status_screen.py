"""`jurado status`: a line for each part of an installation, with what to do about those that are not well.

- `jurado bench`: measure, with the programs of bench/.
"""

import subprocess
import textwrap
from collections.abc import Iterator
from typing import Annotated

import typer

from app.core.commands import output, registry
from app.core.commands.client import Client
from app.sandbox.child import ROOT, environment, module_command

WIDTH = 80
SIGNS = {"done": " ", "look": "-", "open": "!"}


def screen(url: str, answer: output.JsonMapping) -> Iterator[str]:
    """The lines, none longer than 80 columns."""
    ready = "ready" if answer["ready"] else "NOT READY"
    time = answer["time"][:16].replace("T", " ")
    yield f"{ready}, Jurado {answer['version']} at {url}, {time} UTC"[:WIDTH]
    for part in answer["parts"]:
        yield from _wrapped(f"{SIGNS[part['mark']]} {part['name']}: {part['figure']}", "    ")
        if part["advice"]:
            yield from _wrapped(f"  > {part['advice']}", "    ")


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(output.harmless(text), WIDTH, subsequent_indent=indent, break_on_hyphens=False)


@registry.command("status")
def status(
    url: Annotated[str | None, typer.Option(metavar="URL", help="default: the server logged in to, or here")] = None,
    as_json: registry.AsJson = False,
) -> None:
    """Show the whole installation to its admin, with advice.

    Others see whether it accepts and judges submissions. Exit code 0 if it does, 1 if not.

    Examples:
      jurado status
      jurado status --url http://127.0.0.1:8000 --json
    """
    with Client.open(url) as client:
        ready = client.body(client.request("GET", "/health/ready", accept=(503,)))
        reply = client.request("GET", "/api/status", accept=(401, 403, 404, 503))
        whole = client.body(reply) if reply.is_success else {}
    if as_json:
        output.write_json({"url": client.url, **whole, **ready})
    elif whole:
        typer.echo("\n".join(screen(client.url, whole)))
    else:
        typer.echo(
            f"{'ready' if ready['ready'] else 'NOT READY'}: {client.url} (--json for more; admins see every part)"
        )
    raise typer.Exit(0 if ready["ready"] else 1)


@registry.command("bench")
def bench(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="none: list them; all: run all")
    ] = None,
) -> None:
    """Measure parts of Jurado on this machine, each against something known, and print tables.

    Examples:
      jurado bench
      jurado bench verdicts
    """
    if not (ROOT / "bench" / "__main__.py").is_file():
        raise output.Failure(f"the folder bench is missing in {ROOT}")
    arguments = names or ["--list"]
    done = subprocess.run(module_command("bench", *arguments), cwd=ROOT, env=environment(), check=False)
    raise typer.Exit(done.returncode)
