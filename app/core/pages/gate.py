"""What all pages of organisers share: who may open them, their forms, and the way back after a change."""

from collections.abc import Mapping, Sequence
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Depends, Request
from fastapi.params import Depends as Needed
from fastapi.responses import RedirectResponse
from sqlalchemy.orm import Session

from app.accounts.service.tokens import Place, check, who_may
from app.core.db.database import after_commit
from app.core.errors import ServiceError
from app.core.pages.forms import read_form, whole_number
from app.core.pages.languages import translate
from app.core.pages.sent_forms import SEEN_VERSION
from app.core.pages.visitor import Visitor, Writing, authenticator_of
from app.judging.service.problem_changes import How, RejudgingView

Faults = Sequence[Mapping[str, object]]
# Of pages with passwords: no cache and no history keeps them.
NO_STORE = "private, no-store"


def needs(operation: str) -> Needed:
    """The dependency that lets those through who may call an operation of the API; others get its refusal."""
    who = who_may(operation)

    async def gate(request: Request, viewer: Visitor) -> None:
        path = request.path_params
        check(who, viewer, Place(path.get("contest_id"), path.get("problem_id")))

    return Needed(gate)


async def _fields(request: Request) -> dict[str, str]:
    return await read_form(request)


def _writing_accounts(request: Request, session: Writing) -> Session:
    after_commit(session, authenticator_of(request).forget)
    return session


# The fields of a form. A handler names them before its transaction: a slow sender holds nobody's writing up.
Fields = Annotated[dict[str, str], Depends(_fields)]
# A transaction after which no cached credential is trusted any more.
WritingAccounts = Annotated[Session, Depends(_writing_accounts, scope="function")]


def see(request: Request, path: str, **query: str | None) -> RedirectResponse:
    """Lead to another page of ours, after a change."""
    known = {name: value for name, value in query.items() if value is not None}
    mark = "?" if known else ""
    return RedirectResponse(f"{request.scope.get('root_path', '')}{path}{mark}{urlencode(known)}", 303)


def led_on(request: Request, outcome: object, page: str) -> RedirectResponse:
    """Lead to the rejudging that a change waits as, else to a page that says that it is stored."""
    if isinstance(outcome, RejudgingView):
        return see(request, f"/admin/{outcome.href}")
    return see(request, page, done="saved")


def how_of(fields: Mapping[str, str]) -> How:
    """How a form changes a problem: only the version that the form was made for, if it names one."""
    return How(version=whole_number(SEEN_VERSION, fields.get(SEEN_VERSION, "")))


def faults_of(refusal: ServiceError) -> Faults:
    """The faults of a refusal, one a line; the sentence itself where it lists none."""
    return list(refusal.errors or [{"where": refusal.where or "", "message": translate(refusal.fault)}])
