"""Headers of pages and of the files that they need.

- Static files of pages, from memory: each is found, read, zipped and given its digest once (guarantee 6).
- The texts of the pages' scripts in one language, as a script that the pages load before theirs.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from mimetypes import guess_type
from pathlib import Path
from types import MappingProxyType
from urllib.parse import parse_qs

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po
from fastapi import Request, Response

from app.core.errors import NotFound
from app.core.messages import N_
from app.core.pages.languages import CATALOGUES, LANGUAGES, SOURCE

POLICY = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
HEADERS = {"Content-Security-Policy": POLICY, "Referrer-Policy": "same-origin", "Cache-Control": "no-cache"}
# Of pages that differ by who asks.
PRIVATE = {**HEADERS, "Cache-Control": "private, no-cache", "Vary": "Cookie, Accept-Language"}


def takes_gzip(request: Request) -> bool:
    """Whether a reply may be zipped."""
    return "gzip" in request.headers.get("accept-encoding", "")


def script_of(language: str) -> str:
    """The script with the texts of a language; its plural rule is the catalogue's own, which is C and JavaScript."""
    with (CATALOGUES / f"{language}.po").open("rb") as file:
        catalogue = read_po(file, locale=language)
    texts = json.dumps(texts_of_scripts(catalogue), ensure_ascii=False, separators=(",", ":"))
    rule = f"(n) => Number({catalogue.plural_expr})"
    return f'"use strict";\nglobalThis.juradoMessages = {{ plural: {rule}, texts: {texts} }};\n'


def texts_of_scripts(catalogue: Catalog) -> dict[str, str | list[str]]:
    """The translated messages that stand in scripts: of those with a count every form, under the first."""
    texts: dict[str, str | list[str]] = {}
    for message in catalogue:
        if message.fuzzy or not any(str(path).endswith(".js") for path, _ in message.locations):
            continue
        forms = [message.string or ""] if isinstance(message.string, str | None) else list(message.string)
        if not all(forms):
            continue
        if isinstance(message.id, str):
            texts[message.id] = forms[0]
        else:
            texts[message.id[0]] = forms
    return texts


APP = Path(__file__).parents[2]
# The languages of scripts with texts, by their names below /static/.
SCRIPTS = {f"messages/{language}.js": language for language in LANGUAGES if language != SOURCE}
SMALLEST_ZIPPED = 1024
DIGITS = 16
IMMUTABLE = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file as it is sent, and what names its contents; `zipped` is None where zipping gains nothing."""

    media_type: str
    digest: str
    plain: bytes
    zipped: bytes | None

    @classmethod
    def of(cls, name: str, plain: bytes) -> StaticFile:
        """Zip the file and compute its digest."""
        media_type = guess_type(name)[0] or "application/octet-stream"
        zipped = gzip.compress(plain, 9, mtime=0) if len(plain) >= SMALLEST_ZIPPED else None
        return cls(media_type, sha256(plain).hexdigest()[:DIGITS], plain, zipped)


def reply(request: Request, name: str) -> Response:
    """A style sheet, script or image; 304 where the reader has it. Raises NotFound."""
    file = static_file(name)
    if file is None:
        raise NotFound(N_("there is no file /static/%(name)s"), name=name[:100])
    tag, asked = f'"{file.digest}"', parse_qs(request.url.query).get("v")
    cached = IMMUTABLE if asked == [file.digest] else HEADERS["Cache-Control"]
    headers = {**HEADERS, "Cache-Control": cached, "ETag": tag, "Vary": "Accept-Encoding"}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if file.zipped is None or not takes_gzip(request):
        return Response(file.plain, media_type=file.media_type, headers=headers)
    return Response(file.zipped, media_type=file.media_type, headers={**headers, "Content-Encoding": "gzip"})


def versioned(name: str) -> str:
    """The name of a file with the digest of its contents, for an address: `jurado.css?v=1f0c...`."""
    file = static_file(name)
    assert file is not None, name
    return f"{name}?v={file.digest}"


def static_file(name: str) -> StaticFile | None:
    """The file of a name below /static/; None where there is none."""
    return _file(name) if name in paths() or name in SCRIPTS else None


@cache
def paths() -> Mapping[str, Path]:
    """Return the files of all features by their names below /static/."""
    return MappingProxyType(
        {
            str(path.relative_to(folder)): path
            for folder in folders("static")
            for path in folder.rglob("*")
            if path.is_file()
        }
    )


def folders(name: str) -> list[Path]:
    """Return the shared folder of this name (`static`, `templates`), then that of each feature."""
    return [APP / "core/pages" / name, *sorted(APP.glob(f"*/{name}"))]


@cache
def _file(name: str) -> StaticFile:
    """Read and zip a file once: each page names its digest (guarantee 6)."""
    made = script_of(SCRIPTS[name]).encode() if name in SCRIPTS else paths()[name].read_bytes()
    return StaticFile.of(name, made)
