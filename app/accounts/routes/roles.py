"""HTTP routes: roles per contest and per problem, and who may make contests."""

from __future__ import annotations

from fastapi import APIRouter

from app.accounts.routes.account_import import WritingAccounts
from app.accounts.service import role_changes as commands
from app.accounts.service.role_changes import Invitation, Kind, OrganiserView, RoleBody, RoleView
from app.core.http.deps import CurrentViewer, Reading, TheAuthenticator, Writing
from app.core.http.gated import GatedRoute
from app.core.transactions import after_commit

router = APIRouter(route_class=GatedRoute, tags=["roles"])


@router.get("/contests/{contest_id}/roles", summary="The owners and judges of a contest")
def list_contest_roles(session: Reading, contest_id: str) -> list[RoleView]:
    """By account. Judges and admins of the server are not among them."""
    return commands.in_contest(session, contest_id)


@router.put("/contests/{contest_id}/roles/{account_id}", summary="Make an account owner or judge of a contest")
def put_contest_role(
    viewer: CurrentViewer, session: WritingAccounts, contest_id: str, account_id: str, body: RoleBody
) -> RoleView:
    """The account is named by its id or its username. A role replaces the one it had.

    A role that an owner grants is `pending` until the account accepts it, unless owners may change the account anyway.
    """
    return commands.grant_in_contest(session, viewer, contest_id, account_id, body)


@router.delete("/contests/{contest_id}/roles/{account_id}", summary="Take a role in a contest back", status_code=204)
def delete_contest_role(session: WritingAccounts, contest_id: str, account_id: str) -> None:
    """Streams that the account has open as a judge end."""
    commands.revoke_in_contest(session, contest_id, account_id)


@router.get("/problems/{problem_id}/roles", summary="The owners and judges of a problem")
def list_problem_roles(session: Reading, problem_id: str) -> list[RoleView]:
    """By account. Judges and admins of the server are not among them."""
    return commands.at_problem(session, problem_id)


@router.put("/problems/{problem_id}/roles/{account_id}", summary="Make an account owner or judge of a problem")
def put_problem_role(
    viewer: CurrentViewer, session: WritingAccounts, problem_id: str, account_id: str, body: RoleBody
) -> RoleView:
    """A judge reads the problem's hidden data and may put it into contests of its own; an owner also changes it.

    The role is `pending` as in a contest.
    """
    return commands.grant_at_problem(session, viewer, problem_id, account_id, body)


@router.delete("/problems/{problem_id}/roles/{account_id}", summary="Take a role at a problem back", status_code=204)
def delete_problem_role(session: WritingAccounts, problem_id: str, account_id: str) -> None:
    """Contests that have the problem keep it."""
    commands.revoke_at_problem(session, problem_id, account_id)


@router.get("/account/roles", summary="List invitations to roles")
def list_invitations(viewer: CurrentViewer, session: Reading) -> list[Invitation]:
    """Pending roles of the account that asks, in contests first."""
    return commands.invitations(session, viewer)


@router.put("/account/roles/{kind}/{object_id}", summary="Accept an invitation to a role")
def accept_role(
    viewer: CurrentViewer, session: Writing, authenticator: TheAuthenticator, kind: Kind, object_id: str
) -> RoleView:
    """The role is effective from now on. In a contest with a role, the account does not act for its team."""
    after_commit(session, lambda: authenticator.forget(viewer.account_id))
    return commands.accept(session, viewer, kind, object_id)


@router.delete("/account/roles/{kind}/{object_id}", summary="Decline an invitation to a role", status_code=204)
def decline_role(viewer: CurrentViewer, session: Writing, kind: Kind, object_id: str) -> None:
    """A role that was accepted stays."""
    commands.decline(session, viewer, kind, object_id)


@router.get("/organisers", summary="Accounts that may make contests, or have a role anywhere")
def list_organisers(session: Reading) -> list[OrganiserView]:
    """By id, with their roles."""
    return commands.organisers(session)


@router.put("/organisers/{account_id}", summary="Let an account make contests and problems of its own")
def put_organiser(viewer: CurrentViewer, session: WritingAccounts, account_id: str) -> OrganiserView:
    """It owns what it makes. The account is named by its id or its username."""
    return commands.allow(session, viewer, account_id)


@router.delete("/organisers/{account_id}", summary="Let an account make no more contests", status_code=204)
def delete_organiser(session: WritingAccounts, account_id: str) -> None:
    """The roles that it has stay."""
    commands.disallow(session, account_id)
