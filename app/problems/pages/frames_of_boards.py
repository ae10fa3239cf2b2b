"""The frame in which a package's own board runs: without origin, cookies, network, or a way to its page."""

import json
from base64 import b64encode
from functools import lru_cache
from hashlib import sha256
from tempfile import SpooledTemporaryFile

from fastapi.responses import HTMLResponse

from app.contests.service.visibility import the_problem
from app.core.files.files import Files
from app.core.messages import N_, NotFound
from app.core.pages.pages import ENVIRONMENT, PATHS
from app.core.pages.visits import ContestLook
from app.core.service import Service
from app.packages.catalog import board_module
from app.problems.pages.contest import named_problem
from app.problems.queries import pins
from app.tables import ProblemRow

# The checkers whose answers are drawn by these pages' own modules, by their files.
BOARDS = frozenset(path.stem for name, path in PATHS.items() if name.startswith("boards/"))
# The script of the frame, which has no origin to fetch it from, and its hash as policies name it.
SCRIPT = PATHS["board/frame.js"].read_text()
SCRIPT_HASH = f"sha256-{b64encode(sha256(SCRIPT.encode()).digest()).decode()}"
KNOWN = 64
# Bytes of a package that are not put on disk while its board is looked for.
IN_MEMORY = 8 * 2**20
# The policy of the frame, with the hash of its only script. A nonce would be inherited by what the board imports, and
# could be read and given to a child frame. `frame-src` does not apply to `srcdoc`; that needs trusted types. No
# browser of 2026 knows the directive `webrtc`; Chromium reports it as an error on each page.
POLICY = (
    "default-src 'none'; script-src '{script}' blob:; style-src 'unsafe-inline'; img-src data: blob:; "
    "worker-src 'none'; child-src 'none'; frame-src 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts"
)
HEADERS = {
    "Referrer-Policy": "no-referrer",
    "X-DNS-Prefetch-Control": "off",
    "Cache-Control": "private, no-cache",
    "Vary": "Cookie",
}


@lru_cache(KNOWN)
def _module_of(files: Files, sha256: str) -> str | None:
    """The board of a stored package, which is read once for all reports that show it (guarantee 6)."""
    with SpooledTemporaryFile(IN_MEMORY) as archive:
        archive.writelines(files.pieces(sha256))
        archive.seek(0)
        return board_module(archive)


def _module(service: Service, row: ProblemRow | None) -> str | None:
    """The board that a problem's package brings; problems whose checker has one here need not be looked into."""
    if row is None or row.settings.get("checker") in BOARDS:
        return None
    return _module_of(service.files, row.package_sha256)


def has_own_board(service: Service, row: ProblemRow | None) -> bool:
    """Whether a problem's package brings a board."""
    return _module(service, row) is not None


def board_frame(visit: ContestLook, problem_id: str) -> HTMLResponse:
    """The document of a problem's own board. Its module is data in it, so that no address of its own needs a cookie."""
    scored = the_problem(visit.snapshot, named_problem(visit.snapshot, problem_id))
    row = pins.row(visit.session, visit.snapshot.contest.id, scored.id)
    module = _module(visit.service, row)
    if module is None:
        raise NotFound(N_("the problem %(problem)r has no board"), problem=scored.id)
    text = json.dumps(module).replace("<", "\\u003c")
    html = ENVIRONMENT.get_template("board_frame.html").render(module=text, script=SCRIPT)
    return HTMLResponse(html, headers={**HEADERS, "Content-Security-Policy": POLICY.format(script=SCRIPT_HASH)})
