"""What handlers of pages are given: one value with the request, who asks, and the session that reads or writes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from app.core.http import deps
from app.core.http.auth import Authenticator
from app.core.pages import visitor
from app.core.pages.frames import Names, frame, keep_read, names_of
from app.core.pages.languages import confirm
from app.core.pages.pages import page, reader_values
from app.judging.service.problem_changes import RejudgingView


@dataclass(frozen=True, slots=True)
class _Visit:
    """A request of a visitor, without a session: the services that it calls open theirs."""

    request: Request
    service: visitor.TheService
    viewer: visitor.Visitor

    @property
    def authenticator(self) -> Authenticator:
        """The one who knows accounts."""
        return visitor.authenticator_of(self.request)

    @property
    def address(self) -> str:
        """The address the service was asked at, as `visitor.address_of_index` gives it."""
        return visitor.address_of_index(self.request)

    @contextmanager
    def reading(self) -> Iterator["_Look"]:
        """The visit with a session that reads what is stored by now."""
        with self.service.database.read() as session:
            yield _Look(self.request, self.service, self.viewer, session)

    def page(self, template: str, status: int = 200, **values: object) -> HTMLResponse:
        """A page of a template."""
        return page(template, self.request, status, viewer=self.viewer, **values)

    def see(self, path: str, **query: str) -> RedirectResponse:
        """Lead to another page of ours, after a change; `BehindProxy` puts a path prefix before it."""
        return RedirectResponse(f"{path}?{urlencode(query)}" if query else path, 303)

    def led_on(self, outcome: object, page: str, done: str = "saved", **query: str) -> RedirectResponse:
        """Lead to the rejudging that a change waits as, otherwise to a page that says that it is stored."""
        if isinstance(outcome, RejudgingView):
            return self.see(f"/admin/{outcome.href}")
        return self.see(page, done=done, **query)


@dataclass(frozen=True, slots=True)
class _Look(_Visit):
    """A visit that reads."""

    session: visitor.Reading


@dataclass(frozen=True, slots=True)
class _ContestLook(_Look):
    """A visit that reads a contest, as the visitor may see it."""

    snapshot: visitor.TheSnapshot

    def framed(self, template: str, tab: str, status: int = 200, **values: object) -> HTMLResponse:
        """A page of the contest; `tab` names the place in it that the page belongs to."""
        shown = frame(self.session, self.viewer, self.snapshot, tab)
        return self.page(template, status, frame=shown, **values)

    def framed_read(
        self, template: str, tab: str, *, reads_messages: bool = False, reads_verdicts: bool = False, **values: object
    ) -> HTMLResponse:
        """As `framed`, of a page that shows all messages or verdicts: none of them is unread from then on."""
        shown = frame(self.session, self.viewer, self.snapshot, tab)
        before = reader_values(self.request)["read"]
        read = shown.counted(before, messages=reads_messages, verdicts=reads_verdicts)
        reply = self.page(template, 200, frame=shown, read=read, **values)
        if self.viewer.logged_in and not self.viewer.sees_all:
            keep_read(self.request, reply, shown, read)
        return reply

    @property
    def names(self) -> Names:
        """The names of the contest's pages."""
        return names_of(self.session, self.viewer, self.snapshot)

    @property
    def problems(self) -> list[tuple[str, str]]:
        """The ids and labels of all problems, for a form."""
        contest = self.snapshot.contest
        return [(each.id, contest.labels.get(each.id, each.id)) for each in contest.problems]

    @property
    def teams(self) -> list[tuple[str, str]]:
        """The ids and names of all teams by their names, for a form."""
        teams = ((each.id, each.name) for each in self.snapshot.contest.teams)
        return sorted(teams, key=lambda pair: pair[1].casefold())


@dataclass(frozen=True, slots=True)
class _Change(_Visit):
    """A form that changes something. Its fields are read first: a slow sender holds no one's writing up."""

    fields: visitor.Fields
    session: visitor.Writing

    def confirm(self, title: str, sentence: str, button: str) -> None:
        """Raise AskFirst unless the reader has confirmed this."""
        confirm(self.fields, title, sentence, button)

    def forget_accounts(self, account_id: str | None = None) -> None:
        """Trust no cached credential of an account, or of all, once this is committed."""
        deps.forget_after(self.session, self.authenticator, account_id)


Visit = Annotated[_Visit, Depends()]
Look = Annotated[_Look, Depends()]
ContestLook = Annotated[_ContestLook, Depends()]
# A handler names other dependencies before it, so that its transaction waits for none of them.
Change = Annotated[_Change, Depends(scope="function")]
