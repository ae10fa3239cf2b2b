"""Documents of the event feed."""

from __future__ import annotations

from pydantic import BaseModel, Field

from app.core.bodies import Sparse
from app.core.examples import example
from app.submissions.service.judgements import JUDGEMENT


@example({"type": "judgements", "id": JUDGEMENT["id"], "data": JUDGEMENT, "token": "5f1c-81"})
class Notification(Sparse):
    """A line of the event feed, or the data of a server-sent event: an object as its GET route answers it now."""

    type: str = Field(description="the collection, such as `judgements`, or `contest`, `state` or `event`")
    id: str | None = Field(description="the object's id; null where there is one object, or all of them are sent")
    token: str | None = Field(None, description="for `since_token`, to go on behind this line")
    data: dict[str, object] | list[dict[str, object]] | None = Field(description="null: the object is deleted")


class Call(BaseModel):
    """The body of a call to a webhook."""

    contest_id: str
    notifications: list[Notification]
