"""Opens the file stores that settings and commands name."""

from __future__ import annotations

from pathlib import Path

from app.core.file_addresses import S3, address_of
from app.core.files.files import Files
from app.core.files.local_files import LocalFiles
from app.core.files.replica import ReplicatedFiles
from app.core.settings import Settings


def open_files(settings: Settings) -> Files:
    """Open the file store of the settings, with its replica; raises OSError where it cannot be used."""
    files = open_store(settings.files, settings)
    if not settings.files_replica_url:
        return files
    return ReplicatedFiles(files, open_store(settings.files_replica_url, settings, cache="replica"))


def open_store(url: str, settings: Settings, *, cache: str = "files") -> Files:
    """Open the file store of an address; raises OSError where a folder cannot be made, or an extra is missing.

    `cache` names the folder of copies, so that what is read of one store never comes from another.
    """
    if not url.startswith(S3):
        return LocalFiles(folder_of(url))
    from app.core.files.file_cache import FileCache
    from app.core.files.s3 import Bucket
    from app.core.files.s3_files import S3Files

    copies = FileCache(settings.home / "cache" / cache, settings.files_cache_bytes)
    return S3Files(Bucket(address_of(url), settings.files_seconds), copies)


def folder_of(url: str) -> Path:
    """The folder of an address file:///..."""
    return Path(url.removeprefix("file://"))
