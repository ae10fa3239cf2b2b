"""The machine fails while teams submit: disks full or read-only, descriptors used up, files damaged, clocks set."""

from __future__ import annotations

import os
import resource
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from ops.chaos.audit import audit
from ops.chaos.load import Load, under_load, wait_for
from ops.chaos.model import scenario
from ops.chaos.on_many_servers import audit_all, servers_of
from ops.chaos.stage import DATABASE, POSTGRESQL, Stage, drop, wait_until
from tests import postgres
from tests.builders.balancer import balanced

SPARE_BYTES = 2**20
DISK = 256 * 2**20


@scenario()
def disk_full(setting: Stage) -> str:
    """the file system of the home is filled to the last byte and emptied again; it needs root, to mount one"""
    with mounted(setting.home, "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs"):
        server, load = setting.serve(), Load(setting.size.submissions, large=0.5)

        under_load(load, setting, server.url, lambda: _without_room(setting, load, setting.home / "filling"))
        audit(setting, server, load)
        server.stop()
    return f"{load.refused} refused while there was no room"


@scenario(POSTGRESQL)
def files_full_under_two_servers(setting: Stage) -> str:
    """the file system of two servers' files is filled to the last byte and emptied again; it needs root"""
    with mounted(setting.home / "files", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs"):
        _, *servers = servers_of(setting)
        load, filling = Load(setting.size.submissions, large=0.5), setting.home / "files" / "filling"
        with balanced(*(each.url for each in servers)) as balancer:
            under_load(load, setting, balancer.url, lambda: _without_room(setting, load, filling))
            audit_all(setting, load, *servers)
        _stop_all(setting)
    return f"{load.refused} refused while there was no room"


@scenario(POSTGRESQL)
def database_full(setting: Stage) -> str:
    """the file system of PostgreSQL's tables is filled under two servers, and emptied again; it needs root"""
    assert setting.cluster is not None
    place = setting.cluster / "small"
    place.mkdir(mode=0o700)
    owner = (setting.cluster / "data").stat()
    os.chown(place, owner.st_uid, owner.st_gid)
    with mounted(place, "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs"), _tables_in(setting.cluster, place):
        _, *servers = servers_of(setting)
        load = Load(setting.size.submissions)
        with balanced(*(each.url for each in servers)) as balancer:
            under_load(load, setting, balancer.url, lambda: _without_room(setting, load, place / "filling"))
            audit_all(setting, load, *servers)
        _stop_all(setting)
    return f"{load.refused} refused while there was no room, {load.unsure} in doubt"


@contextmanager
def _tables_in(cluster: Path, place: Path) -> Iterator[None]:
    """Move the tables of the database to a folder of PostgreSQL's user; at the end the database is dropped."""
    tablespace = f"CREATE TABLESPACE small LOCATION '{place}'"
    postgres.administer(cluster, tablespace, f"ALTER DATABASE {DATABASE} SET TABLESPACE small")
    try:
        yield
    finally:
        drop(cluster, DATABASE)
        postgres.administer(cluster, "DROP TABLESPACE small")


def _without_room(setting: Stage, load: Load, filling: Path) -> None:
    """Fill a file system in the middle of the load until submissions are refused, and make room again."""
    wait_for(load, 1 / 2)
    fill(filling)
    load.expect_refusals()
    filling.unlink()
    setting.recoveries.append(load.recovered())


def _stop_all(setting: Stage) -> None:
    for server in setting.servers:
        server.stop()


@scenario()
def files_read_only(setting: Stage) -> str:
    """the folder of files becomes read-only, and writable again; it needs root, to mount it"""
    files = setting.home / "files"
    server, load = setting.serve(), Load(setting.size.submissions, large=0.5)

    def forbid() -> None:
        wait_for(load, 1 / 2)
        with mounted(files, "--bind", str(files)):
            # The kernel refuses it while a file is open for writing.
            command = ["mount", "-o", "remount,bind,ro", str(files)]
            wait_until(
                lambda: subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0,
                "the folder of files could not be mounted read-only",
            )
            load.expect_refusals()
        setting.recoveries.append(load.recovered())

    under_load(load, setting, server.url, forbid)
    audit(setting, server, load)
    return f"{load.refused} refused while files could not be written"


@scenario()
def file_descriptors(setting: Stage) -> str:
    """the server may open no further file or connection for some seconds"""
    server, load = setting.serve(), Load(setting.size.submissions, large=0.5)

    def starve() -> None:
        wait_for(load, 1 / 2)
        process = psutil.Process(server.process.pid)
        before = process.rlimit(resource.RLIMIT_NOFILE)
        process.rlimit(resource.RLIMIT_NOFILE, (process.num_fds(), before[1]))
        time.sleep(min(5.0, setting.size.seconds))
        assert process.is_running()
        process.rlimit(resource.RLIMIT_NOFILE, before)
        setting.recoveries.append(load.recovered())

    under_load(load, setting, server.url, starve)
    audit(setting, server, load)
    return f"{load.refused} refused and {load.broken} connections broken meanwhile"


def fill(path: Path) -> None:
    """Write until there is no room."""
    with path.open("wb", buffering=0) as file:
        for size in (SPARE_BYTES, 4096, 1):
            while True:
                try:
                    file.write(bytes(size))
                except OSError:
                    break


@contextmanager
def mounted(folder: Path, *words: str) -> Iterator[None]:
    """Mount something over a folder, with all that is in it now."""
    if os.geteuid() != 0:
        raise AssertionError("not played: only root may mount a file system")
    is_bind = words[0] == "--bind"
    aside = folder.with_name(f"{folder.name}.before")
    if not is_bind:
        folder.rename(aside)
        folder.mkdir()
    subprocess.run(["mount", *words, folder], check=True)
    try:
        if not is_bind:
            subprocess.run(["cp", "-a", f"{aside}/.", folder], check=True)
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
