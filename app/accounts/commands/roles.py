"""`jurado admin contest|problem grant`: owners and judges of contests and problems; who may make contests."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from app.accounts.commands.accounts import user
from app.authoring.commands.problems import problem
from app.contests.commands.contests import ContestId, contest
from app.core.commands.client import Client
from app.core.commands.options import AsJson
from app.core.commands.output import examples, report, say, show, table, write_json
from app.core.commands.resources.people import Organiser, Role

Account = Annotated[str, typer.Argument(metavar="ACCOUNT", help="the account's id or username")]
ProblemId = Annotated[str, typer.Argument(metavar="PROBLEM", help="the problem's id")]
RoleName = Annotated[Literal["owner", "judge"], typer.Argument(help="owner or judge")]


@contest.command(
    "grant",
    epilog=examples("jurado admin contest grant finals ana owner", "jurado admin contest grant finals bruno judge"),
)
def grant_contest(contest_id: ContestId, account: Account, role: RoleName, as_json: AsJson = False) -> None:
    """Make an account owner of a contest, which runs it, or judge, which sees everything of it."""
    _grant("contests", contest_id, account, role, as_json=as_json)


@contest.command("revoke", epilog=examples("jurado admin contest revoke finals bruno"))
def revoke_contest(contest_id: ContestId, account: Account) -> None:
    """Take an account's role in a contest back."""
    _revoke("contests", contest_id, account)


@contest.command("roles", epilog=examples("jurado admin contest roles finals"))
def contest_roles(contest_id: ContestId, as_json: AsJson = False) -> None:
    """List the owners and judges of a contest."""
    _list("contests", contest_id, as_json=as_json)


@problem.command(
    "grant",
    epilog=examples("jurado admin problem grant comesolo ana judge", "jurado admin problem grant knapsack bruno owner"),
)
def grant_problem(problem_id: ProblemId, account: Account, role: RoleName, as_json: AsJson = False) -> None:
    """Make an account owner of a problem, which changes it, or judge, which may read and use it."""
    _grant("problems", problem_id, account, role, as_json=as_json)


@problem.command("revoke", epilog=examples("jurado admin problem revoke comesolo ana"))
def revoke_problem(problem_id: ProblemId, account: Account) -> None:
    """Take an account's role at a problem back; contests that have the problem keep it."""
    _revoke("problems", problem_id, account)


@problem.command("roles", epilog=examples("jurado admin problem roles comesolo"))
def problem_roles(problem_id: ProblemId, as_json: AsJson = False) -> None:
    """List the owners and judges of a problem."""
    _list("problems", problem_id, as_json=as_json)


@user.command("allow-contests", epilog=examples("jurado admin user allow-contests ana"))
def allow(account: Account, as_json: AsJson = False) -> None:
    """Let an account make contests and problems of its own."""
    with Client.open() as client:
        made = client.put(f"organisers/{account}", {}, Organiser)
    report(f"{made['username']} may make contests and problems", made, as_json=as_json)


@user.command("forbid-contests", epilog=examples("jurado admin user forbid-contests ana"))
def forbid(account: Account) -> None:
    """Let an account make no more contests; its roles stay."""
    with Client.open() as client:
        client.delete(f"organisers/{account}")
    say(f"{account} may make no more contests")


@user.command("organisers", epilog=examples("jurado admin user organisers", "jurado admin user organisers --json"))
def organisers(as_json: AsJson = False) -> None:
    """List the accounts that may make contests or have a role anywhere."""
    with Client.open() as client:
        accounts = client.get("organisers", list[Organiser])
    if as_json:
        write_json(accounts)
        return
    rows = [
        [
            each["username"],
            "yes" if each["organiser"] else "no",
            _roles_text(each["contests"]),
            _roles_text(each["problems"]),
        ]
        for each in accounts
    ]
    show(table("", ("username", "makes contests", "contests", "problems"), rows))


def _grant(kind: str, object_id: str, account: str, role: str, *, as_json: bool) -> None:
    with Client.open() as client:
        made = client.put(f"{kind}/{object_id}/roles/{account}", {"role": role}, Role)
    rests = "; the role rests while the account's team competes" if made["rests"] else ""
    report(f"{made['username']} is {role} of {object_id}{rests}", made, as_json=as_json)


def _revoke(kind: str, object_id: str, account: str) -> None:
    with Client.open() as client:
        client.delete(f"{kind}/{object_id}/roles/{account}")
    say(f"{account} has no role in {object_id} any more")


def _list(kind: str, object_id: str, *, as_json: bool) -> None:
    with Client.open() as client:
        roles = client.get(f"{kind}/{object_id}/roles", list[Role])
    if as_json:
        write_json(roles)
    elif not roles:
        say(f"{object_id} has no owners and judges of its own")
    else:
        rows = [
            [each["username"], each["name"], f"{each['role']}{', rests' if each['rests'] else ''}", each["granted_by"]]
            for each in roles
        ]
        show(table("", ("username", "name", "role", "granted by"), rows))


def _roles_text(roles: dict[str, str]) -> str:
    return ", ".join(f"{each} ({role})" for each, role in sorted(roles.items()))
