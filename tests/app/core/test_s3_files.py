"""Files on S3: created once, checked at each read, within a bounded time; a failing S3 is a clear error."""

from __future__ import annotations

import errno
import hashlib
import os
import random
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import zstandard

from app.core.files import s3
from app.core.files.files import StoredFile, name_of
from app.core.files.open_files import LocalFiles
from app.core.files.s3 import Address, Bucket, NoObject, address_of
from app.core.files.s3_files import MARKS, FileCache, S3Files
from app.core.files.stored_bytes import FileDamaged, FileMissing, StoreUnavailable
from tests.builders.s3 import CUT_AFTER, CUT_BEFORE, HALF, S3Proxy, s3_proxy

if TYPE_CHECKING:
    from obstore import ObjectMeta

DATA = b"answer\n" * 9000
SHA256 = hashlib.sha256(DATA).hexdigest()


class Clock:
    """A clock that a test sets forward."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def proxy(s3_port: int) -> Iterator[S3Proxy]:
    with s3_proxy(s3_port) as proxy:
        yield proxy


@pytest.fixture
def url(proxy: S3Proxy, s3_url: str, s3_port: int) -> str:
    return s3_url.replace(str(s3_port), str(proxy.port))


def opened(url: str, folder: Path, clock: Clock | None = None, seconds: float = 60.0, **more: Any) -> S3Files:
    """A server's view of the store, with a cache of its own; `more` goes to its bucket."""
    return S3Files(Bucket(address_of(url), seconds, **more), FileCache(folder, 2**20), clock or Clock())


@pytest.fixture
def files(url: str, tmp_path: Path, clock: Clock) -> S3Files:
    return opened(url, tmp_path / "cache", clock)


def spoil(files: S3Files, data: bytes = b"junk") -> None:
    """Put other bytes into the object, and forget the copy here."""
    files.bucket.replace(name_of(SHA256), data)
    files.cache.remove(SHA256)


def listed(files: S3Files, sha256: str) -> StoredFile:
    return next(each for each in files.stored() if each.sha256 == sha256)


def test_what_one_server_keeps_another_reads(files: S3Files, url: str, tmp_path: Path) -> None:
    assert files.keep(DATA) == SHA256
    other = opened(url, tmp_path / "other")
    assert other.load(SHA256) == DATA
    assert b"".join(other.pieces(SHA256)) == DATA
    assert [each.sha256 for each in other.stored()] == [SHA256]
    assert zstandard.decompress(bytes(files.bucket.first(name_of(SHA256), 2**20)[0])) == DATA


def test_an_object_is_made_once_and_its_bytes_are_compared_when_they_come_again(files: S3Files, proxy: S3Proxy) -> None:
    files.keep(DATA)
    before = files.bucket.about(name_of(SHA256))
    files.keep(DATA)
    assert files.bucket.about(name_of(SHA256)) == before
    assert [each.split()[0] for each in proxy.requests if name_of(SHA256) in each].count("PUT") == 2, "one was refused"


def test_bytes_that_come_again_mend_a_damaged_object(files: S3Files) -> None:
    files.keep(DATA)
    for spoilt in (b"junk", b"", zstandard.compress(b"other")):
        spoil(files, spoilt)
        with pytest.raises(FileDamaged, match=SHA256):
            files.examine(SHA256)
        files.keep(DATA)
        files.examine(SHA256)


def test_a_missing_and_a_damaged_object_are_told(files: S3Files) -> None:
    """Also where the copy here is sound, an examination reads the object itself."""
    told: list[str] = []
    files.on_fault = lambda sha256, _error: told.append(sha256)
    with pytest.raises(FileMissing, match=SHA256):
        files.load(SHA256)
    files.keep(DATA)
    files.bucket.replace(name_of(SHA256), zstandard.compress(b"other"))
    assert files.load(SHA256) == DATA
    with pytest.raises(FileDamaged):
        files.examine(SHA256)
    files.cache.remove(SHA256)
    with pytest.raises(FileDamaged):
        files.load(SHA256)
    assert told == [SHA256, SHA256]


def test_a_damaged_copy_is_fetched_again(files: S3Files) -> None:
    files.keep(DATA)
    files.cache.path(SHA256).write_bytes(b"junk")
    with files.opened(SHA256) as packed:
        assert zstandard.decompress(packed.read()) == DATA
    files.cache.path(SHA256).unlink()
    without = files.state(SHA256)
    assert files.load(SHA256) == DATA
    assert files.state(SHA256) != without


def test_large_files_go_and_come_in_parts(url: str, tmp_path: Path) -> None:
    """A part has the least size that S3 takes; the copy here is dropped, as it is larger than the cache."""
    bucket = Bucket(address_of(url), 60.0)
    files = S3Files(bucket, FileCache(tmp_path / "cache", 2**20), part=5 * 2**20)
    data = random.Random(1).randbytes(11 * 2**20)
    path = tmp_path / "large"
    path.write_bytes(data)
    sha256 = files.keep_file(path)
    assert files.keep(data) == sha256
    assert b"".join(files.pieces(sha256)) == data
    assert files.cache.state(sha256) is None


def test_files_go_from_one_store_to_another_as_they_are(files: S3Files, tmp_path: Path) -> None:
    local = LocalFiles(tmp_path / "local")
    sha256 = local.keep(DATA)
    with local.opened(sha256) as packed:
        files.keep_packed(sha256, packed)
    assert files.load(sha256) == DATA
    back = LocalFiles(tmp_path / "back")
    with files.opened(sha256) as packed:
        back.keep_packed(sha256, packed)
    assert back.load(sha256) == DATA
    with local.opened(sha256) as packed, pytest.raises(FileDamaged):
        files.keep_packed("0" * 64, packed)


@pytest.mark.parametrize("fate", [500, 503, CUT_BEFORE, CUT_AFTER])
def test_what_fails_once_is_tried_again(files: S3Files, proxy: S3Proxy, fate: str | int) -> None:
    """Also where it was stored and only the reply was lost."""
    proxy.once(fate, "PUT")
    files.keep(DATA)
    files.cache.remove(SHA256)
    proxy.once(fate, "GET")
    assert files.load(SHA256) == DATA


def test_half_a_body_is_fetched_again(files: S3Files, proxy: S3Proxy) -> None:
    files.keep(DATA)
    files.cache.remove(SHA256)
    proxy.once(HALF, "GET")
    assert files.load(SHA256) == DATA


@pytest.mark.parametrize("fate", [500, 503, CUT_BEFORE])
def test_a_store_that_stays_away_is_one_error_and_comes_back_by_itself(
    url: str, proxy: S3Proxy, tmp_path: Path, fate: str | int
) -> None:
    """Nothing is stored; while it is away others fail at once, without a request."""
    # The first wait is longer than a request may take: no second try.
    files = opened(url, tmp_path / "cache", first_wait=1000.0, away=1000.0)
    state = files.state(SHA256)
    proxy.always(fate)
    with pytest.raises(StoreUnavailable, match="s3://jurado-"):
        files.keep(DATA)
    asked = len(proxy.requests)
    with pytest.raises(StoreUnavailable):
        files.load(SHA256)
    assert len(proxy.requests) == asked
    proxy.heal()
    files.bucket._away = None
    assert list(files.stored()) == []
    files.keep(DATA)
    assert files.load(SHA256) == DATA
    assert files.state(SHA256) != state


@pytest.mark.parametrize("page", ["list-type=2", "continuation-token="])
@pytest.mark.parametrize("batch", [1, 1000])
def test_a_listing_that_fails_once_goes_on(url: str, proxy: S3Proxy, tmp_path: Path, page: str, batch: int) -> None:
    """Else half a store would be moved, or none, and that called all."""
    files = opened(url, tmp_path / "cache", batch=batch)
    expected = {files.keep(bytes([at])) for at in range(6)}
    proxy.once(500, "GET", page)
    assert {each.sha256 for each in files.stored()} == expected
    assert proxy.plan("GET", page) is None, "it has failed"


@pytest.mark.parametrize("name", ["files//a", "files/%2e%2e/a", "files/%00"])
def test_an_object_that_no_listing_passes_is_named_and_keeps_nobody_from_the_files(
    files: S3Files, s3_port: int, name: str
) -> None:
    files.keep(DATA)
    httpx.put(
        f"http://127.0.0.1:{s3_port}/{files.bucket.address.bucket}/{name}", content=b"1", timeout=60
    ).raise_for_status()
    with pytest.raises(s3.OddObject, match="expected names of files, found one to be removed"):
        list(files.stored())
    files.keep(DATA + b"2")
    assert files.load(SHA256) == DATA


def test_a_store_that_says_nothing_ends_in_time(url: str, proxy: S3Proxy, tmp_path: Path) -> None:
    files = opened(url, tmp_path / "cache", seconds=0.3)
    proxy.go_on.clear()
    with pytest.raises(StoreUnavailable):
        files.keep(DATA)
    proxy.heal()


@pytest.mark.parametrize("fate", [403, 507])
def test_a_store_without_room_is_a_full_disk(files: S3Files, proxy: S3Proxy, fate: int) -> None:
    proxy.always(fate)
    with pytest.raises(OSError, match="no room left") as caught:
        files.keep(DATA)
    assert caught.value.errno == errno.EDQUOT


def test_a_bucket_that_is_not_there_is_no_missing_file(s3_url: str, tmp_path: Path) -> None:
    files = opened(s3_url.replace("jurado-", "other-"), tmp_path / "cache")
    for ask in (lambda: files.load(SHA256), lambda: files.keep(DATA), lambda: list(files.stored())):
        files.bucket._away = None
        with pytest.raises(StoreUnavailable, match="NoSuchBucket") as caught:
            ask()
        assert caught.value.is_final


def test_files_that_nobody_kept_for_hours_are_collected(files: S3Files, clock: Clock) -> None:
    files.keep(DATA)
    file = listed(files, SHA256)
    assert not files.collect(file), "it is young"
    clock.ahead = timedelta(hours=3)
    assert files.collect(file)
    assert list(files.bucket.listed()) == []
    with pytest.raises(FileMissing):
        files.load(SHA256)
    assert not files.collect(file), "it has gone"


def test_from_a_store_that_ignores_create_only_puts_nothing_is_removed(
    files: S3Files, proxy: S3Proxy, clock: Clock
) -> None:
    """Files are kept as ever, as the same name has the same bytes; but two could remove at once."""
    proxy.ignored.add("if-none-match")
    files.keep(DATA)
    files.keep(DATA)
    clock.ahead = timedelta(hours=3)
    assert not files.collect(listed(files, SHA256))
    assert files.load(SHA256) == DATA
    assert [each["path"] for each in files.bucket.listed("removing/")] == []


def test_a_store_that_refuses_create_only_puts_is_named(files: S3Files, proxy: S3Proxy) -> None:
    proxy.always(501)
    with pytest.raises(StoreUnavailable, match="expected a store with create-only puts") as caught:
        files.keep(DATA)
    assert caught.value.is_final


def test_bytes_kept_while_their_old_object_is_removed_stay(
    files: S3Files, clock: Clock, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another server writes the object again after the remover has looked at its time, and before it goes."""
    files.keep(DATA)
    file = listed(files, SHA256)
    clock.ahead = timedelta(hours=3)
    keeper = opened(url, tmp_path / "keeper", clock)
    remove, about, looked = files.bucket.remove, keeper.bucket.about, threading.Event()
    kept: list[Future[str]] = []

    def look(name: str) -> ObjectMeta:
        if name.startswith(MARKS):
            looked.set()
        return about(name)

    with ThreadPoolExecutor(1) as pool:

        def kept_meanwhile(name: str) -> None:
            if name == name_of(SHA256):
                kept.append(pool.submit(keeper.keep, DATA))
                assert looked.wait(30), "the keeper has written the object anew and looks for the mark"
            remove(name)

        monkeypatch.setattr(keeper.bucket, "about", look)
        monkeypatch.setattr(files.bucket, "remove", kept_meanwhile)
        assert files.collect(file)
        assert kept[0].result(30) == SHA256
    keeper.cache.remove(SHA256)
    assert keeper.load(SHA256) == DATA


def test_a_keeper_waits_for_a_remover_and_forgotten_marks_are_taken_down(
    url: str, tmp_path: Path, clock: Clock
) -> None:
    bucket = Bucket(address_of(url), 60.0)
    files = S3Files(bucket, FileCache(tmp_path / "cache", 2**20), clock, seconds_to_remove=0.1)
    files.keep(DATA)
    clock.ahead = timedelta(hours=3)
    files.bucket.create(MARKS + SHA256, b"")
    with pytest.raises(StoreUnavailable, match="being removed"):
        files.keep(DATA)
    assert files.tidy() == 1
    files.keep(DATA)


def test_the_cache_keeps_what_was_read_last_within_its_bytes(tmp_path: Path) -> None:
    cache = FileCache(tmp_path, 100_000)
    names = [f"{at:064x}" for at in range(30)]
    for at, name in enumerate(names):
        cache.write(name, lambda file: file.write(b"x" * 10_000))
        os.utime(cache.path(name), (at, at))
        cache.opened(names[0]).close()  # it was read last
        cache.make_room(10_000)
    other = FileCache(tmp_path, 100_000)
    other.write("f" * 64, lambda file: file.write(b"x" * 10_000))
    other.make_room(10_000)
    left = list(tmp_path.rglob("*.zst"))
    assert len(left) <= 10
    assert cache.path(names[0]) in left
    assert cache.path(names[1]) not in left


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("s3://bucket", Address("bucket")),
        ("s3://bucket/a/b/", Address("bucket", "a/b")),
        ("s3://k:s%2Fx@bucket/p?endpoint=http://h:9&region=eu", Address("bucket", "p", "http://h:9", "eu", "k", "s/x")),
    ],
)
def test_an_address_says_where_objects_lie(url: str, expected: Address) -> None:
    assert address_of(url) == expected


@pytest.mark.parametrize(
    "url",
    ["s3://", "s3://b", "s3://key@bucket", "s3://bucket?colour=red", "s3://bucket?endpoint=ftp://x", "s3://bu cket"],
)
def test_a_wrong_address_is_refused_without_its_secret(url: str) -> None:
    with pytest.raises(ValueError, match="expected s3://BUCKET/PREFIX"):
        address_of(url)
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        address_of("s3://key:hidden@bucket?colour=red")
    assert "hidden" not in str(caught.value)


def test_no_object_is_its_own_error(files: S3Files) -> None:
    with pytest.raises(NoObject):
        files.bucket.about("nothing")
