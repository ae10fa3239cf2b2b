"""`jurado admin contest|problem grant`: owners and judges of contests and problems; `jurado roles`: invitations.

- Cards with usernames and passwords, to print on A4 and cut: one page of HTML that loads nothing.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import quote

import typer

from app.core.commands.client import Client
from app.core.commands.config import NewFile, current_login
from app.core.commands.output import Failure, read_file, say
from app.core.commands.registry import ContestId, Request, Table, command, keys

Account = Annotated[str, typer.Argument(metavar="ACCOUNT", help="the account's id or username")]
ProblemId = Annotated[str, typer.Argument(metavar="PROBLEM", help="the problem's id")]
RoleName = Annotated[Literal["owner", "judge"], typer.Argument(help="owner or judge")]


@command("roles")
def invitations(
    accept: Annotated[
        list[str] | None, typer.Option("--accept", metavar="ROLE", help="accept this one; may be given several times")
    ] = None,
    decline: Annotated[
        list[str] | None, typer.Option("--decline", metavar="ROLE", help="decline this one; may be given several times")
    ] = None,
) -> Request:
    """List the roles that owners of contests and problems offer you. A role is effective once you accept it.

    Examples:
      jurado roles
      jurado roles --accept contests/finals
      jurado roles --decline problems/comesolo
    """
    with Client.open() as client:
        for each in accept or []:
            client.put(f"account/roles/{quote(each)}")
            say(f"accepted {each}")
        for each in decline or []:
            client.delete(f"account/roles/{quote(each)}")
            say(f"declined {each}")
    return Request("GET", "account/roles", INVITATIONS)


INVITATIONS = Table(
    {
        "role": lambda each: f"{each['kind']}/{each['id']}",
        **keys("name"),
        "as": "role",
        "granted by": "granted_by",
        "since": "granted",
    },
    empty="no invitations",
)


@command("admin contest grant")
def grant_contest(contest_id: ContestId, account: Account, role: RoleName) -> Request:
    """Make an account owner of a contest, which runs it, or judge, which sees everything of it.

    Examples:
      jurado admin contest grant finals ana owner
      jurado admin contest grant finals bruno judge
    """
    return _grant("contests", contest_id, account, role)


@command("admin contest revoke")
def revoke_contest(contest_id: ContestId, account: Account) -> Request:
    """Revoke an account's role in a contest.

    Examples:
      jurado admin contest revoke finals bruno
    """
    return _revoke("contests", contest_id, account)


@command("admin contest roles")
def contest_roles(contest_id: ContestId) -> Request:
    """List the owners and judges of a contest.

    Examples:
      jurado admin contest roles finals
    """
    return _list("contests", contest_id)


@command("admin problem grant")
def grant_problem(problem_id: ProblemId, account: Account, role: RoleName) -> Request:
    """Make an account owner of a problem, which changes it, or judge, which may read and use it.

    Examples:
      jurado admin problem grant comesolo ana judge
      jurado admin problem grant knapsack bruno owner
    """
    return _grant("problems", problem_id, account, role)


@command("admin problem revoke")
def revoke_problem(problem_id: ProblemId, account: Account) -> Request:
    """Revoke an account's role at a problem; contests that have the problem keep it.

    Examples:
      jurado admin problem revoke comesolo ana
    """
    return _revoke("problems", problem_id, account)


@command("admin problem roles")
def problem_roles(problem_id: ProblemId) -> Request:
    """List the owners and judges of a problem.

    Examples:
      jurado admin problem roles comesolo
    """
    return _list("problems", problem_id)


@command("admin user allow-contests")
def allow(account: Account) -> Request:
    """Let an account make its own contests and problems.

    Examples:
      jurado admin user allow-contests ana
    """
    return Request(
        "PUT", f"organisers/{account}", lambda made: f"{made['username']} may make contests and problems", {}
    )


@command("admin user forbid-contests")
def forbid(account: Account) -> Request:
    """Stop an account from making more contests; it keeps its roles.

    Examples:
      jurado admin user forbid-contests ana
    """
    return Request("DELETE", f"organisers/{account}", f"{account} may not make more contests")


@command("admin user organisers")
def organisers() -> Request:
    """List the accounts that may make contests or have a role anywhere.

    Examples:
      jurado admin user organisers
      jurado admin user organisers --json
    """
    columns = Table(
        {
            "username": "username",
            "makes contests": lambda each: "yes" if each["organiser"] else "no",
            "contests": lambda each: _roles_text(each["contests"]),
            "problems": lambda each: _roles_text(each["problems"]),
        }
    )
    return Request("GET", "organisers", columns)


def _grant(kind: str, object_id: str, account: str, role: str) -> Request:
    def granted(made: Mapping[str, str]) -> str:
        if made["pending"]:
            return f"{made['username']} is {role} of {object_id} once the account accepts (jurado roles)"
        rests = "; the role rests while the account's team competes" if made["rests"] else ""
        return f"{made['username']} is {role} of {object_id}{rests}"

    return Request("PUT", f"{kind}/{object_id}/roles/{account}", granted, {"role": role})


def _revoke(kind: str, object_id: str, account: str) -> Request:
    return Request("DELETE", f"{kind}/{object_id}/roles/{account}", f"{account} has no role in {object_id} now")


def _list(kind: str, object_id: str) -> Request:
    role = {"role": lambda each: each["role"] + ", rests" * each["rests"] + ", pending" * each["pending"]}
    columns = Table(
        {**keys("username name"), **role, "granted by": "granted_by"}, empty=f"{object_id} has no owners or judges"
    )
    return Request("GET", f"{kind}/{object_id}/roles", columns)


def _roles_text(roles: Mapping[str, str]) -> str:
    return ", ".join(f"{each} ({role})" for each, role in sorted(roles.items()))


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
