"""Bodies of requests: texts that can be stored, and documents in JSON, YAML or as tables."""

import json
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Literal, TypeVar, Union, get_args, get_origin

import pydantic
import yaml

from app.core import load, parsing
from app.core.messages import (
    MOST_LISTED,
    N_,
    BadRequest,
    Conflict,
    Fault,
    Message,
    Text,
    as_message,
    describe_pattern,
    fault,
    in_words,
    place,
)
from app.domain.documents import JsonValue

M = TypeVar("M", bound=pydantic.BaseModel)
MOST_VALUES = 400_000
# The values of one object: each may be a fault, and no one makes thousands of mistakes in one object.
MOST_VALUES_OF_ONE = 10_000
# A line of text with at least one character, such as a name.
Line = Annotated[
    str,
    pydantic.StringConstraints(
        pattern=describe_pattern(r"^[^\x00-\x1f\x7f]+$", Message(N_("a line of text that is not empty"))),
        max_length=255,
    ),
]
# Text of several lines.
Lines = Annotated[
    str,
    pydantic.StringConstraints(
        pattern=describe_pattern(r"^[^\x00]*[^\x00\s][^\x00]*$", Message(N_("a text that is not empty"))),
        max_length=20_000,
    ),
]


class Body(pydantic.BaseModel):
    """A document that is sent; unknown properties are refused.

    Nor is anything taken for what it is not: else `true` would be a latitude, `"5"` a limit and `1` a yes.
    """

    model_config = pydantic.ConfigDict(extra="forbid", strict=True)


class Sparse(pydantic.BaseModel):
    """A document that is shown: what is not set is left out, which is another thing than null."""

    @pydantic.model_serializer(mode="wrap")
    def _set_only(self, write: pydantic.SerializerFunctionWrapHandler):  # type: ignore[no-untyped-def] # keeps the schema
        written = write(self)
        return {name: value for name, value in written.items() if name in self.model_fields_set}


def shows(body: type[Body]) -> Callable[[type[M]], type[M]]:
    """Decorate a model of replies with the other properties of a body, which may be left out.

    Their types are plain: what is stored may be older than the rules for what is sent.
    """

    def add(view: type[M]) -> type[M]:
        names = body.model_fields.keys() - view.model_fields.keys()
        types = {name: plain_type(each.annotation) for name, each in body.model_fields.items() if name in names}
        fields = {name: (type_, None) for name, type_ in types.items()}
        model: type[M] = pydantic.create_model(  # type: ignore[call-overload] # names are data
            view.__name__, __base__=view, __doc__=view.__doc__, __module__=view.__module__, **fields
        )
        return model

    return add


def plain_type(type_: object) -> object:
    """Give a type without constraints: literals as texts, and models as objects."""
    origin, inner = get_origin(type_), get_args(type_)
    if origin is Annotated:
        return plain_type(inner[0])
    if origin is Literal:
        return str
    if origin in {Union, UnionType}:
        return Union[tuple(map(plain_type, inner))]  # noqa: UP007 # as many as there are
    if origin is list:
        return list[plain_type(inner[0])]  # type: ignore[misc]
    return dict[str, object] if isinstance(type_, type) and issubclass(type_, pydantic.BaseModel) else type_


@dataclass(frozen=True, slots=True)
class Item:
    """An object that was sent, and its place in the body."""

    where: str
    value: object


@dataclass(frozen=True, slots=True)
class Document:
    """The parsed body: objects, or the text of a table. `many`: it was a list, also if of one."""

    items: Sequence[Item] = ()
    lines: str | None = None
    many: bool = True


def openapi_body(model: type[pydantic.BaseModel]) -> dict[str, object]:
    """Describe a body that is one object or many, in any of the formats; `model` names its properties."""
    one: JsonValue = {"$ref": f"#/components/schemas/{model.__name__}"}
    schema: JsonValue = {"oneOf": [one, {"type": "array", "items": one}]}
    content: dict[str, JsonValue] = {kind: {"schema": schema} for kind in ("application/json", "application/yaml")}
    content |= {kind: {"schema": {"type": "string"}} for kind in ("text/csv", "text/tab-separated-values")}
    return {"requestBody": {"required": True, "content": content}}


def one_body(name: str) -> dict[str, object]:
    """Describe a body that is one object of the schema `name`."""
    schema = {"schema": {"$ref": f"#/components/schemas/{name}"}}
    return {
        "requestBody": {"required": True, "content": dict.fromkeys(("application/json", "application/yaml"), schema)}
    }


async def json_document(data: bytes) -> JsonValue:
    """Parse a JSON body with bounded values; raises BadRequest saying where it is none."""
    try:
        return await load.read_json(data, MOST_VALUES)
    except json.JSONDecodeError as error:
        actual = f"{error.msg} at line {error.lineno} column {error.colno}"
        raise BadRequest(N_("expected JSON, found %(found)s"), where="body", found=actual) from None


def read_yaml(text: str) -> object:
    """Parse a YAML body, in steps bounded by its bytes and `MOST_NODES`; raises BadRequest saying what is wrong."""
    try:
        value: object = yaml.load(text, parsing.StrictLoader)
    except yaml.YAMLError as error:
        raise BadRequest(
            N_("expected YAML, found %(found)s"), where="body", found=" ".join(str(error).split())[:200]
        ) from None
    except parsing.UNREADABLE as error:
        actual = "something nested too deeply" if isinstance(error, RecursionError) else "what is no value of its type"
        raise BadRequest(N_("expected a list of objects, found %(found)s"), where="body", found=actual) from None
    return value


def objects(value: object) -> Document:
    """The objects of a body: those of an array, or the body itself as the only one."""
    if isinstance(value, list):
        return Document([Item(f"[{at}]", item) for at, item in enumerate(value)])
    return Document([Item("body", value)], many=False)


def read_all(
    items: Sequence[Item], model: type[M], check: Callable[[M, str], list[Fault]]
) -> tuple[list[tuple[M, str]], list[Fault]]:
    """Read every object as `model`: those that are one, each with its place, and every fault.

    `check` looks further at those that are one.
    """
    read: list[tuple[M, str]] = []
    faults: list[Fault] = []
    for item in items:
        if len(faults) >= MOST_LISTED:
            break  # no more of them are told, and there may be thousands
        if not load.is_within(item.value, MOST_VALUES_OF_ONE):
            faults.append(
                mismatch(
                    item.where, N_("at most %(most)s values in an object"), Message(N_("more")), most=MOST_VALUES_OF_ONE
                )
            )
            continue
        try:
            value = model.model_validate(item.value)
        except pydantic.ValidationError as error:
            given = error.errors(include_url=False)
            faults += [fault(each, at=item.where) for each in given[: MOST_LISTED - len(faults)]]
        else:
            read.append((value, item.where))
            faults += check(value, item.where)
    return read, faults


def refuse(faults: Sequence[Fault]) -> None:
    """Raise BadRequest with all the faults, if there are any."""
    if faults:
        raise BadRequest(first_of(faults), errors=faults)


def first_of(faults: Sequence[Fault]) -> Message:
    """Return the first fault in words, and how many more there are."""
    first, more = in_words(faults[0]), len(faults) - 1
    if not more:
        return first
    least = N_("%(fault)s; and at least %(count)s more")
    return Message(
        least if len(faults) >= MOST_LISTED else N_("%(fault)s; and %(count)s more"), fault=first, count=more
    )


TAKEN = N_("%(count)s ids or names are taken")
TAKEN_UNLESS_REPLACED = N_("%(count)s ids or names are taken; replace=true replaces objects of the same id")


def refuse_all(faults: Sequence[Fault], taken: Sequence[Fault], *, replace: bool) -> None:
    """Raise BadRequest for faults, Conflict where there are only things that are `taken`; lists both."""
    if faults:
        raise BadRequest(first_of([*faults, *taken]), errors=[*faults, *taken])
    if taken:
        raise Conflict(TAKEN if replace else TAKEN_UNLESS_REPLACED, errors=taken, count=len(taken))


def taken_ids(noun: str, given: Iterable[tuple[str | None, str]], known_ids: Container[str]) -> list[Fault]:
    """List the ids of an import, each with its place, that are given twice or are those of old objects.

    None: an id is made for the object.
    """
    expected, seen, taken = Message(N_("a new %(noun)s"), noun=Message(noun)), set[str](), []
    for id_, where in given:
        if id_ is not None and (id_ in seen or id_ in known_ids):
            fault = N_("%(id)r given twice") if id_ in seen else N_("%(id)r of an old one")
            taken.append(mismatch(place(where, "id"), expected, Message(fault, id=id_)))
        elif id_ is not None:
            seen.add(id_)
    return taken


def only_object(document: Document) -> dict[str, object]:
    """The one object of a document; raises BadRequest where it is something else."""
    value = document.items[0].value if not document.many and document.items else None
    if not isinstance(value, dict):
        refuse([mismatch("body", N_("one object"), Message(N_("something else")))])
    return {str(name): each for name, each in value.items()} if isinstance(value, dict) else {}


def read_one(document: Document, model: type[M], old: Mapping[str, object] | None = None) -> M:
    """The one object of a document as `model`, on top of what there was; raises BadRequest with every fault."""
    sent = only_object(document)
    if not load.is_within(sent, MOST_VALUES_OF_ONE):
        refuse(
            [mismatch("body", N_("at most %(most)s values in an object"), Message(N_("more")), most=MOST_VALUES_OF_ONE)]
        )
    value = {**(old or {}), **sent}
    try:
        return model.model_validate(value)
    except pydantic.ValidationError as error:
        refuse([fault(each) for each in error.errors(include_url=False)[:MOST_LISTED]])
        raise


def same_id(in_address: str, in_body: str | None) -> None:
    """Raise Conflict where a body names another id than the address does; it need not name any."""
    if in_body is not None and in_body != in_address:
        raise Conflict(
            N_("expected %(in_address)r as in the address, found %(found)r"),
            where="id",
            in_address=in_address,
            found=in_body,
        )


def mismatch(where: str, expected: Text, found: Text, /, **values: object) -> Fault:
    """A fault: a place, the expected value as an id with `values` or a whole text, and the value found there."""
    return {"where": where, "expected": as_message(expected, values), "found": found}


class Location(Body):
    """A place on the earth, in degrees."""

    latitude: float = pydantic.Field(ge=-90, le=90, allow_inf_nan=False)
    longitude: float = pydantic.Field(ge=-180, le=180, allow_inf_nan=False)
