"""A second store beside the first: filled in the background, and read where the first has lost or damaged a file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard

from app.archive.queries.references import check, mend
from app.archive.queries.scrub import Scrub
from app.core.files.files import Files
from app.core.files.open_files import LocalFiles, open_files, open_store
from app.core.files.replica import ReplicatedFiles
from app.core.files.stored_bytes import FileMissing
from app.core.settings import Settings
from app.submissions.queries.submissions import INLINE_LIMIT
from tests.builders.contests import add_contest, add_problem
from tests.builders.s3 import s3_proxy
from tests.builders.service import open_api
from tests.builders.waiting import until

DATA = b"answer\n" * 9000
SHA256 = hashlib.sha256(DATA).hexdigest()


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[ReplicatedFiles]:
    files = ReplicatedFiles(LocalFiles(tmp_path / "one"), LocalFiles(tmp_path / "two"))
    yield files
    files.close()


def names(files: Files) -> set[str]:
    return {each.sha256 for each in files.stored()}


def holds(files: Files, sha256: str = SHA256) -> bool:
    return sha256 in names(files)


def first(files: ReplicatedFiles) -> LocalFiles:
    assert isinstance(files.inner, LocalFiles)
    return files.inner


def test_what_is_kept_is_copied(stores: ReplicatedFiles, tmp_path: Path) -> None:
    """Bytes, files and compressed files, and at the next comparison what lay there before."""
    stores.keep(DATA)
    (tmp_path / "given").write_bytes(b"given")
    kept = {SHA256, stores.keep_file(tmp_path / "given")}
    until(lambda: names(stores.replica) == kept)
    kept.add(stores.inner.keep(b"before"))
    stores.tidy()
    until(lambda: names(stores.replica) == kept)


@pytest.mark.parametrize("spoilt", [None, b"junk", zstandard.compress(b"other")])
@pytest.mark.parametrize("way", ["load", "pieces", "opened", "examine"])
def test_a_lost_or_damaged_file_is_fetched_again(stores: ReplicatedFiles, way: str, spoilt: bytes | None) -> None:
    """Whoever reads it gets the right bytes, nobody is told of a fault, and the first store has it again."""
    told: list[str] = []
    stores.on_fault = lambda sha256, _error: told.append(sha256)
    stores.keep(DATA)
    until(lambda: holds(stores.replica))
    path = first(stores).path(SHA256)
    path.unlink() if spoilt is None else path.write_bytes(spoilt)
    match way:
        case "load":
            assert stores.load(SHA256) == DATA
        case "pieces":
            assert b"".join(stores.pieces(SHA256)) == DATA
        case "opened":
            with stores.opened(SHA256) as packed:
                assert zstandard.decompress(packed.read()) == DATA
        case _:
            stores.examine(SHA256)
    stores.inner.examine(SHA256)
    assert told == []


def test_what_neither_store_has_is_missing_and_told(stores: ReplicatedFiles) -> None:
    told: list[str] = []
    stores.on_fault = lambda sha256, _error: told.append(sha256)
    with pytest.raises(FileMissing):
        stores.load(SHA256)
    assert told == [SHA256]


def test_a_damaged_replica_mends_nothing(stores: ReplicatedFiles) -> None:
    stores.keep(DATA)
    until(lambda: holds(stores.replica))
    first(stores).path(SHA256).unlink()
    assert isinstance(stores.replica, LocalFiles)
    stores.replica.path(SHA256).write_bytes(zstandard.compress(b"other"))
    with pytest.raises(FileMissing):
        stores.load(SHA256)
    assert not holds(stores.inner)


def test_files_on_s3_with_a_folder_beside_them_survive_s3(s3_port: int, s3_url: str, tmp_path: Path) -> None:
    """While S3 is away its files are read from the folder; nothing is called damaged."""
    with s3_proxy(s3_port) as proxy:
        url = s3_url.replace(str(s3_port), str(proxy.port))
        settings = Settings(home=tmp_path / "home", files_url=url, files_replica_url=f"file://{tmp_path}/two")
        files = open_files(settings)
        assert isinstance(files, ReplicatedFiles)
        files.keep(DATA)
        until(lambda: holds(files.replica))
        other = open_files(settings.model_copy(update={"home": tmp_path / "other", "files_seconds": 0.1}))
        proxy.always(503)
        assert other.load(SHA256) == DATA
        for each in (files, other):
            each.close()


def test_fsck_and_the_pass_over_all_files_mend_from_s3(sqlite_url: str, s3_url: str, tmp_path: Path) -> None:
    """What rows need and the folder has lost or damaged comes back; orphans leave both stores."""
    home = tmp_path / "home"
    with open_api(sqlite_url, home, files_replica_url=s3_url) as api:
        add_problem(api.service)
        add_contest(api.service)
        answer = b"x" * (INLINE_LIMIT + 1)
        files = [("files", ("02.out", answer))]
        sent = api.post("contests/c/submissions", user="team", data={"problem_id": "echo"}, files=files)
        assert sent.status_code == 201, sent.text
        store, sha256 = api.service.files, hashlib.sha256(answer).hexdigest()
        assert isinstance(store, ReplicatedFiles)
        until(lambda: names(store.inner) == names(store.replica))
        scrub = Scrub(api.service.database, store, hours=0, rate=1e12)
        first(store).path(sha256).unlink()
        assert scrub.scrub().damaged == {}
        first(store).examine(sha256)
        first(store).path(sha256).write_bytes(b"junk")
        checked = check(api.service.database, store)
        assert [(fault.kind, fault.name) for fault in checked.faults] == [("damaged", sha256)]
        assert mend(api.service.database, store, checked).restored == [sha256]
        assert check(api.service.database, store).faults == []


def test_a_pass_over_all_files_names_those_that_rows_need_and_nobody_has(sqlite_url: str, tmp_path: Path) -> None:
    with open_api(sqlite_url, tmp_path / "home") as api:
        add_problem(api.service)
        files = api.service.files
        assert isinstance(files, LocalFiles)
        lost = next(files.stored()).sha256
        files.path(lost).unlink()
        assert set(api.service.scrub.scrub().damaged) == {lost}
        shown = api.get("stored-files", user="admin").json()
        assert [fault["sha256"] for fault in shown["faults"]] == [lost]


def test_a_store_is_opened_by_its_address(s3_url: str, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", files_url=s3_url)
    files = open_files(settings)
    files.keep(DATA)
    assert s3_url.partition("@")[2].partition("?")[0] in files.place
    assert "secret" not in files.place
    assert holds(open_store(s3_url, settings))
