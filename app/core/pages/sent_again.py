"""The page that a form was sent from, rendered again within its request: for faults next to fields, and for labels."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import partial
from typing import cast
from urllib.parse import urlsplit

from fastapi import Request, Response
from fastapi.responses import HTMLResponse
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import Message, Scope

from app.core.load import run_heavy
from app.core.messages import ServiceError
from app.core.pages.languages import AskFirst, _
from app.core.pages.pages import PRIVATE, page
from app.core.pages.sent_forms import FormOfPage, find_form

# Headers of a form that are not of the page it was on.
DROPPED = frozenset({b"accept-encoding", b"content-length", b"content-type", b"if-none-match"})
OF_THE_ROUTE = frozenset({"endpoint", "path_params", "route"})
# A form is sent at most so many steps below the address of its page.
FARTHEST = 2


def fields_of(request: Request) -> Mapping[str, str] | None:
    """The fields of the form that was read in this request; None without one."""
    return cast("Mapping[str, str] | None", getattr(request.state, "fields", None))


async def form_again(request: Request, refusal: ServiceError, status: int) -> Response | None:
    """The page of a refused form with what was sent and each fault next to its field; None if it cannot be found."""
    fields = fields_of(request)
    form = None if fields is None else await _find(request, fields)
    if fields is None or form is None:
        return None

    def filled() -> str:
        form.fill(fields)
        form.mark(refusal)
        return form.html()

    return HTMLResponse(await run_heavy(filled), status, headers=PRIVATE)


async def ask(request: Request, question: AskFirst, viewer: object) -> Response:
    """The page of a question about a form, with the labels of its fields."""
    fields = fields_of(request) or {}
    form = await _find(request, fields) if question.differences else None
    differences = [
        {
            **asdict(each),
            "label": each.name if form is None else form.label(each.name),
            "stored_text": _shown_value(form, each.name, each.stored),
            "sent_text": _shown_value(form, each.name, each.sent),
        }
        for each in question.differences
    ]
    return page(
        "ask.html",
        request,
        question.status,
        viewer=viewer,
        question=question,
        action=_own_address(request),
        hidden=question.resent_fields(fields),
        differences=differences,
        back=next((each for each in _places(request, _own_address(request)) if _is_page(request, each)), None),
    )


def back_to(request: Request) -> str | None:
    """The address of our own page that a form was on."""
    place = urlsplit(request.headers.get("referer", ""))
    if request.method != "POST" or place.netloc != request.url.netloc or not place.path.startswith("/"):
        return None
    address = f"{place.path}?{place.query}" if place.query else place.path
    return address if not address.startswith("//") and _is_page(request, address) else None


def _shown_value(form: FormOfPage | None, name: str, value: str) -> str:
    if form is None or name not in form.controls:
        return value or _("empty")
    return form.shown_value(name, value)


def _own_address(request: Request) -> str:
    root: str = request.scope.get("root_path", "")
    return root + request.url.path.removeprefix(root)


async def _find(request: Request, fields: Mapping[str, str]) -> FormOfPage | None:
    """The form, in its page."""
    address = _own_address(request)
    for place in dict.fromkeys(_places(request, address)):
        html = await _rendered(request, place)
        if html is not None:
            # In a thread: a page of 28 KB takes 0.1 s.
            form = await run_heavy(partial(find_form, html, address, place.partition("?")[0], fields))
            if form is not None:
                return form
    return None


def _places(request: Request, address: str) -> Iterator[str]:
    """The addresses at which the form may have been: the one that the browser names, then its own and those above."""
    if (back := back_to(request)) is not None:
        yield back
    for steps in range(FARTHEST + 1):
        yield address.rsplit("/", steps)[0] or "/"


def _is_page(request: Request, address: str) -> bool:
    scope = _scope(request, address)
    return any(route.matches(scope)[0] is Match.FULL for route in request.app.router.routes)


async def _rendered(request: Request, address: str) -> str | None:
    """The page at an address for the same reader; None if it shows none."""
    status, body = 0, bytearray()

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        nonlocal status
        status = message.get("status", status)
        body.extend(message.get("body", b""))

    try:
        await request.app.router(_scope(request, address), receive, send)
    except HTTPException:  # no such page
        return None
    return body.decode() if status == 200 and body.startswith(b"<!doctype html>") else None


def _scope(request: Request, address: str) -> Scope:
    root: str = request.scope.get("root_path", "")
    path, _mark, query = address.partition("?")
    shown = path if request.scope["path"].startswith(root) else path.removeprefix(root)
    return {
        **{name: value for name, value in request.scope.items() if name not in OF_THE_ROUTE},
        "method": "GET",
        "path": shown,
        "raw_path": shown.encode(),
        "query_string": query.encode(),
        "headers": [(name, value) for name, value in request.scope["headers"] if name not in DROPPED],
        "state": {},
    }
