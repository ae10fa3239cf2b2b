"""`jurado admin contest grant` and the like: owners and judges of contests and problems."""

from collections.abc import Mapping
from typing import Annotated, Literal

import typer

from app.core.commands.registry import Cell, Request, Table, command, keys

Account = Annotated[str, typer.Argument(metavar="ACCOUNT", help="the account's id or username")]
ObjectId = Annotated[str, typer.Argument(metavar="ID", help="the id of the contest or problem")]
RoleName = Annotated[Literal["owner", "judge"], typer.Argument(help="owner or judge")]


def add_role_commands(noun: str, owner: str, judge: str) -> None:
    """Add the commands that grant, revoke and list the roles at a kind of objects, contests or problems."""
    where = f"admin {noun}"

    def grant(object_id: ObjectId, account: Account, role: RoleName) -> Request:
        def granted(made: Mapping[str, str]) -> str:
            rests = "; the role rests while the account's team competes" if made["rests"] else ""
            return f"{made['username']} is {role} of {object_id}{rests}"

        return Request("PUT", f"{noun}s/{object_id}/roles/{account}", granted, {"role": role})

    def revoke(object_id: ObjectId, account: Account) -> Request:
        return Request("DELETE", f"{noun}s/{object_id}/roles/{account}", f"{account} has no role in {object_id} now")

    def roles(object_id: ObjectId) -> Request:
        return Request("GET", f"{noun}s/{object_id}/roles", Table(ROLES, empty=f"{object_id} has no owners or judges"))

    grant.__doc__ = (
        f"Make an account owner of a {noun}, which {owner}, or judge, which {judge}."
        f"\n\nExamples:\n  jurado {where} grant {noun}1 ana owner\n  jurado {where} grant {noun}1 bruno judge"
    )
    revoke.__doc__ = f"Revoke an account's role at a {noun}.\n\nExamples:\n  jurado {where} revoke {noun}1 bruno"
    roles.__doc__ = f"List the owners and judges of a {noun}.\n\nExamples:\n  jurado {where} roles {noun}1"
    for add in (grant, revoke, roles):
        command(f"{where} {add.__name__}")(add)


ROLES: Mapping[str, Cell] = {
    **keys("username name"),
    "role": lambda each: each["role"] + ", rests" * each["rests"],
    "granted by": "granted_by",
}
add_role_commands("contest", "runs it", "sees everything of it")
add_role_commands("problem", "changes it", "may read and use it")


@command("admin user allow-contests")
def allow(account: Account) -> Request:
    """Let an account make its own contests and problems.

    Examples:
      jurado admin user allow-contests ana
    """
    return Request(
        "PUT", f"organisers/{account}", lambda made: f"{made['username']} may make contests and problems", {}
    )
