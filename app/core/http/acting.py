"""Whoever a request changes things for, as the audit log notes it."""

from __future__ import annotations

from collections.abc import Mapping

from app.accounts.queries.audit import Actor, acting
from app.accounts.service.tokens import ID_LENGTH
from app.accounts.service.viewer import Viewer

PLAY = frozenset({"create_game", "join_game", "create_move", "resign_game", "page_begin_game", "page_play_on"})
"""Operations that change nothing of anybody's but a game of one's own: judges who practise fill no log with moves."""
ACCEPTING = frozenset({"accept_role", "page_accept_role"})
"""Operations that are noted of teams too."""
DECLINING = frozenset({"decline_role", "page_decline_role"})
"""Operations that are never noted: owners read the log, and would learn who they invited, and from which address."""

__all__ = ["acting", "actor_of", "is_noted"]


def is_noted(viewer: Viewer, operation: str) -> bool:
    """Return whether the audit log notes an operation of this viewer."""
    if not viewer.logged_in or operation in PLAY | DECLINING:
        return False
    return viewer.is_audited or operation in ACCEPTING


def actor_of(
    viewer: Viewer, operation: str, method: str, path: str, address: str, ids: Mapping[str, str | None]
) -> Actor | None:
    """The actor of a request; None where a team acts for itself, or nobody is logged in.

    `ids` are the variables of its address, such as contest_id and problem_id.
    """
    if not is_noted(viewer, operation):
        return None
    digest = viewer.credential.digest
    return Actor(
        account_id=viewer.account_id,
        role=viewer.account_type or "" if viewer.role == "public" else viewer.role,
        address=address,
        credential="password" if digest is None else f"token {digest[:ID_LENGTH]}",
        operation=operation,
        method=method,
        path=path,
        contest_id=ids.get("contest_id"),
        problem_id=ids.get("problem_id"),
    )
