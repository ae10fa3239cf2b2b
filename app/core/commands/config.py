"""The server that a client talks to and the token for it, stored in ~/.config/jurado/config.toml, mode 0600.

- New files with secrets: made before anything is asked of the server, readable by their owner alone.
- A folder written whole or not at all.
"""

import json
import os
import shutil
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from app.core.commands.output import Failure, failing

HERE = "http://127.0.0.1:8000"


@dataclass(frozen=True)
class Login:
    """A server with an account's token; an empty token is no one. The server revokes the token by its `token_id`."""

    url: str
    token: str = ""
    username: str = ""
    token_id: str = ""


def config_path() -> Path:
    """Give the file that the login is stored in: below XDG_CONFIG_HOME, if that is set."""
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path.home() / ".config") / "jurado" / "config.toml"


def current_login(url: str | None = None) -> Login:
    """Choose the server to talk to: `url`, else JURADO_URL, else the one logged in to, else the one on this machine.

    A token is sent only to the server that gave it, unless JURADO_TOKEN names one.
    """
    stored = stored_login()
    server = cleaned(url or os.environ.get("JURADO_URL") or (stored.url if stored else HERE))
    token = os.environ.get("JURADO_TOKEN", "").strip()
    if not (token.isascii() and token.isprintable()):
        raise Failure("JURADO_TOKEN: expected a token of plain characters, found others")
    if token or stored is None or stored.url != server:
        return Login(server, token)
    return stored


def stored_login() -> Login | None:
    """Read the file; None if there is none."""
    path = config_path()
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        return Login(str(data["url"]), *(str(data.get(key, "")) for key in ("token", "username", "token_id")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError) as error:
        raise Failure(f"{path}: expected url, token and username in TOML, found {error}") from None


def store_login(login: Login) -> Path:
    """Write the file so that only its owner ever reads it."""
    path = config_path()
    with failing(path):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        new = path.with_suffix(".new")
        new.unlink(missing_ok=True)
        with open_for_owner(new) as file:
            # A JSON string is a TOML string too.
            file.writelines(f"{key} = {json.dumps(value)}\n" for key, value in asdict(login).items())
        new.replace(path)
    return path


def delete_login() -> None:
    """Delete the file."""
    config_path().unlink(missing_ok=True)


def cleaned(url: str) -> str:
    """Check a server's address and remove the slash at its end."""
    try:
        parts = urlsplit(url)
        fine = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        fine = False
    if not fine or not url.isascii() or not url.isprintable() or " " in url:
        raise Failure(f"expected a server's address such as {HERE}, found {url!r}")
    return url.rstrip("/")


def open_for_owner(path: Path) -> IO[str]:
    """Make a file that its owner alone may read; raises FileExistsError where there is one."""
    return open(path, "x", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600))


@contextmanager
def new_secret_file(path: Path | None) -> Iterator[IO[str] | None]:
    """Make a file at once, so that nothing is lost later, and remove it if nothing is written; None without a path."""
    if path is None:
        yield None
        return
    try:
        file = open_for_owner(path)
    except FileExistsError:
        raise Failure(f"{path}: the file exists already") from None
    except OSError as error:
        raise Failure(f"{path}: {error.strerror or error}", 1) from None
    try:
        with file:
            yield file
    finally:
        if not path.stat().st_size:
            path.unlink()


def write_new_folder(target: Path, files: Mapping[str, bytes]) -> None:
    """Write files as a folder that is not there yet: all of them or nothing. Raises Failure."""
    if target.exists():
        raise Failure(f"{target}: expected a folder that is not there yet, found one")
    with failing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        started = Path(tempfile.mkdtemp(prefix=".new-", dir=target.parent))
        try:
            for name, data in files.items():
                path = started / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            started.chmod(0o755)
            os.rename(started, target)
        except BaseException:
            shutil.rmtree(started, ignore_errors=True)
            raise
