"""Holds replies against what /openapi.json says of them: status, content type, and the body's schema."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import httpx
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from app.main import create_app

ROOT = "urn:jurado"


@cache
def document() -> dict[str, Any]:
    """The description of the API, which all apps of a process share: FastAPI takes seconds to write it."""
    return create_app().openapi()


@dataclass
class Description:
    """An OpenAPI document, and validators of its schemas, each made once."""

    document: dict[str, Any]
    _validators: dict[str, Draft202012Validator] = field(default_factory=dict)

    @cached_property
    def _routes(self) -> list[tuple[re.Pattern[str], str]]:
        """Templates as patterns; those without variables first, as `/contests/import` before `/contests/{id}`."""
        patterns = []
        for path in sorted(self.document["paths"], key=lambda path: (path.count("{"), path)):
            last = "testcases/{group}/{name}", "sources/{name}"
            wide = path.endswith(last)
            pattern = re.sub(r"\\{\w+\\}", "(.+)" if wide else "([^/]+)", re.escape(path))
            patterns.append((re.compile(pattern), path))
        return patterns

    def operation(self, method: str, path: str) -> dict[str, Any] | None:
        """The description of a request; None where there is none."""
        methods = next((self.document["paths"][name] for route, name in self._routes if route.fullmatch(path)), {})
        operation: dict[str, Any] | None = methods.get(method.lower())
        return operation

    def resolved(self, described: dict[str, Any]) -> dict[str, Any]:
        """A reply, looked up where its description stands elsewhere."""
        while "$ref" in described:
            place: Any = self.document
            for name in described["$ref"].removeprefix("#/").split("/"):
                place = place[name]
            described = place
        return described

    def faults(self, reply: httpx.Response) -> list[str]:
        """What of a reply is not as described."""
        method, path = reply.request.method, reply.request.url.path
        operation = self.operation(method, path)
        if operation is None:
            return []
        described = operation["responses"].get(str(reply.status_code))
        where = f"{method} {path} {reply.status_code}"
        if described is None:
            return [f"{where}: no such status"]
        content = self.resolved(described).get("content", {})
        kind = reply.headers.get("content-type", "").partition(";")[0]
        if not reply.content:
            return []
        if kind not in content and "*/*" not in content:
            return [f"{where}: {kind or 'no type'} is none of {', '.join(content) or 'nothing'}"]
        if not kind.endswith(("/json", "+json")):
            return []
        schema = content[kind].get("schema", {})
        if not schema:
            return [f"{where}: JSON without a schema"]
        return [
            f"{where}: {error.json_path}: {error.message[:200]}" for error in self._of(schema).iter_errors(reply.json())
        ]

    def wrong_with(self, schema: dict[str, Any], value: Any) -> list[str]:
        """What of a value is not as a schema of this document says."""
        return [f"{error.json_path}: {error.message[:200]}" for error in self._of(schema).iter_errors(value)]

    def _of(self, schema: dict[str, Any]) -> Draft202012Validator:
        key = repr(schema)
        if key not in self._validators:
            resource = Resource.from_contents(self.document, default_specification=DRAFT202012)
            registry: Registry[Any] = Registry().with_resource(ROOT, resource)
            self._validators[key] = Draft202012Validator(_absolute(schema), registry=registry)
        return self._validators[key]


def _absolute(schema: Any) -> Any:
    """The schema with references that find the document from anywhere."""
    if isinstance(schema, dict):
        return {
            key: f"{ROOT}{value}" if key == "$ref" and value.startswith("#") else _absolute(value)
            for key, value in schema.items()
        }
    return [_absolute(each) for each in schema] if isinstance(schema, list) else schema
