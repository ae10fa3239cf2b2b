"""`jurado admin contest|problem grant`: owners and judges of contests and problems; `jurado roles`: invitations."""

from collections.abc import Mapping
from typing import Annotated, Literal
from urllib.parse import quote

import typer

from app.core.commands.client import Client
from app.core.commands.output import say
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
