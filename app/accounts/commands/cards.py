"""Cards with usernames and passwords, to print on A4 and cut: one page of HTML that loads nothing."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from app.core.commands.config import current_login
from app.core.commands.names import read_file
from app.core.commands.new_files import NewFile
from app.core.commands.output import Failure, say
from app.core.commands.registry import command

CARDS_A_SHEET = 10
COLUMNS = ("username", "password", "name", "team")
TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True)
class Card:
    """What one person gets to log in with."""

    username: str
    password: str
    name: str
    team: str


def cards_page(cards: Sequence[Card], *, title: str, address: str) -> str:
    """Write cards as HTML, ten to a sheet of A4 with dashed lines to cut along."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    templates = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined)
    sheets = [cards[at : at + CARDS_A_SHEET] for at in range(0, len(cards), CARDS_A_SHEET)]
    return templates.get_template("cards.html").render(sheets=sheets, title=title, address=address, count=len(cards))


@command("admin people cards")
def print_cards(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="passwords as --passwords FILE has written them")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="the new HTML file, for you alone")],
    title: Annotated[str, typer.Option(help="what stands above each name, such as the contest's name")] = "Jurado",
    address: Annotated[str | None, typer.Option(metavar="URL", help="default: the server you are logged in to")] = None,
) -> None:
    """Write passwords that an import has left in a file as cards to print.

    Examples:
      jurado admin people cards passwords.csv --out cards.html --title 'Spring Contest'
    """
    cards = read_cards(read_file(file, "passwords"), file)
    with NewFile(out) as target:
        target.write(cards_page(cards, title=title, address=address or current_login().url))
    say(f"{len(cards)} cards are in {out}: open it in a browser and print it")


def read_cards(data: bytes, file: Path) -> list[Card]:
    """Read the CSV of an import's passwords; raises Failure naming the line that is none."""
    try:
        rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise Failure(f"{file}: expected a table in UTF-8, found {error}") from None
    if not rows or tuple(rows[0][: len(COLUMNS)]) != COLUMNS:
        head = ",".join(rows[0]) if rows else "nothing"
        raise Failure(f"{file}: line 1: expected the columns {','.join(COLUMNS)}, found {head}")
    cards = []
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(COLUMNS):
            raise Failure(f"{file}: line {number}: expected {len(COLUMNS)} cells, found {len(row)}")
        cards.append(Card(*(unquoted(cell) for cell in row)))
    return cards


def unquoted(cell: str) -> str:
    """Give a cell without the mark that keeps a spreadsheet from running it as a formula."""
    return cell[1:] if cell[:1] == "'" and cell[1:2] in {"=", "+", "-", "@", "\t", "\r"} else cell
