"""HTTP routes: tokens: secrets that stand for an account's password in programs, and can be taken back one by one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from app.accounts.service import tokens
from app.accounts.service.tokens import NewToken, TokenBody, TokenView
from app.core.http.deps import CurrentViewer, QuietWriting, Reading, TheAuthenticator
from app.core.http.gated import GatedRoute
from app.core.transactions import after_commit

router = APIRouter(route_class=GatedRoute, prefix="/account/tokens", tags=["accounts"])


@router.get("", summary="The tokens of the account")
def list_tokens(viewer: CurrentViewer, session: Reading) -> list[TokenView]:
    """What they are called, not what they are."""
    return tokens.listed(session, viewer)


@router.post("", summary="Make a token", status_code=201)
def create_token(viewer: CurrentViewer, session: QuietWriting, body: TokenBody) -> NewToken:
    """The answer is the only one that ever holds it: only its sha256 is kept."""
    return tokens.create(session, viewer, body)


@router.delete("", summary="Take all tokens of the account back", status_code=204)
def delete_tokens(
    viewer: CurrentViewer,
    session: QuietWriting,
    authenticator: TheAuthenticator,
    others: Annotated[bool, Query(description="leave the token that the request is sent with")] = False,
) -> None:
    """Also the one this request may have been sent with, unless `others` leaves it."""
    tokens.delete_all(session, viewer, others=others)
    after_commit(session, lambda: authenticator.forget(viewer.account_id))


@router.delete("/{token_id}", summary="Take a token back", status_code=204)
def delete_token(viewer: CurrentViewer, session: QuietWriting, authenticator: TheAuthenticator, token_id: str) -> None:
    """By the id that the list shows."""
    tokens.delete(session, viewer, token_id)
    after_commit(session, lambda: authenticator.forget(viewer.account_id))
