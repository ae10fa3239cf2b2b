"""A backup is made while teams submit and the server is killed; what is restored from it is held to the same."""

from __future__ import annotations

from pathlib import Path

from ops.chaos.audit import audit
from ops.chaos.load import Load, under_load, wait_for
from ops.chaos.model import scenario
from ops.chaos.stage import Server, Stage, drop
from tests import postgres

RESTORED = "chaos_restored"


@scenario()
def backup_under_kill(setting: Stage) -> str:
    """`jurado backup` under load while the server is killed with -9, then restored: all acknowledged before is there"""
    server, load = setting.serve(), Load(setting.size.submissions, large=0.3)
    folder, counts = setting.folder / "backup", []

    def back_up() -> None:
        for at in range(1, setting.size.kills + 1):
            wait_for(load, at / (setting.size.kills + 1))
            counts.append(load.acknowledged)
            copying = setting.jurado("backup", folder)
            server.kill()
            server.start()
            setting.recoveries.append(load.recovered())
            copying.result()

    under_load(load, setting, server.url, back_up)
    audit(setting, server, load)
    server.stop()
    restored = _restore(setting, folder)
    audit(setting, restored, load, until=counts[-1])
    return f"{len(counts)} backups under load and a kill; {counts[-1]} were acknowledged before the last began"


def _restore(setting: Stage, folder: Path) -> Server:
    """Put the backup into a home and a database of its own, hold files and rows against each other, and serve it."""
    home, url = setting.folder / "restored", ""
    home.mkdir()
    if setting.cluster is not None:
        drop(setting.cluster, RESTORED)
        postgres.administer(setting.cluster, f"CREATE DATABASE {RESTORED}")
        url = postgres.url(setting.cluster, RESTORED)
    setting.jurado("restore", folder, home=home, database_url=url).result()
    setting.jurado("fsck", home=home, database_url=url).result()
    server = setting.server(home=home, database_url=url)
    server.start()
    return server
