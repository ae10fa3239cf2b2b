"""Opens the file stores that settings and commands name."""

from __future__ import annotations

from pathlib import Path

from app.domain.addresses import S3, address_of
from app.settings import Settings
from app.storage.files import Files
from app.storage.local_files import LocalFiles


def open_files(settings: Settings) -> Files:
    """Open the file store of the settings; raises OSError where it cannot be used."""
    return open_store(settings.files, settings)


def open_store(url: str, settings: Settings) -> Files:
    """Open the file store of an address; raises OSError where a folder cannot be made, or an extra is missing."""
    if not url.startswith(S3):
        return LocalFiles(folder_of(url))
    from app.storage.file_cache import FileCache
    from app.storage.s3 import Bucket
    from app.storage.s3_files import S3Files

    cache = FileCache(settings.home / "cache" / "files", settings.files_cache_bytes)
    return S3Files(Bucket(address_of(url), settings.files_seconds), cache)


def folder_of(url: str) -> Path:
    """The folder of an address file:///..."""
    return Path(url.removeprefix("file://"))
