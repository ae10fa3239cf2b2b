"""Files lie on S3, which becomes slow, fails, has no room and loses files while teams submit."""

from __future__ import annotations

from app.core.files.files import Files, name_of
from app.core.files.open_files import open_files
from app.core.settings import Settings
from ops.chaos.load import Load, under_load, wait_for
from ops.chaos.model import scenario
from ops.chaos.on_many_servers import audit_all, servers_of
from ops.chaos.stage import SQLITE, Stage
from tests import s3
from tests.builders.balancer import balanced
from tests.builders.s3 import CUT_AFTER, CUT_BEFORE, HALF, S3Proxy, s3_proxy

FATES = (503, CUT_BEFORE, CUT_AFTER, HALF, 507)
SECONDS = "2"
SLOWNESS = 0.5
"""Seconds that each request takes longer, of the two that it may take."""


@scenario()
def failing_s3(setting: Stage) -> str:
    """S3 fails in five ways, is slow, says nothing, under load: nothing acknowledged is lost, all is judged

    On PostgreSQL two servers and a worker have their files there.
    """
    port = setting.s3_port()
    bucket = s3.new_bucket(port)
    with s3_proxy(port) as proxy:
        remote = open_files(Settings(home=setting.home, files_url=s3.address(port, bucket)))
        _copy(setting.files, remote)
        settings = {"files_url": s3.address(proxy.port, bucket), "files_seconds": SECONDS}
        servers = (setting.serve(**settings),) if setting.kind == SQLITE else servers_of(setting, **settings)[1:]
        load = Load(setting.size.submissions, large=0.5)
        with balanced(*(each.url for each in servers)) as balancer:
            under_load(load, setting, balancer.url, lambda: _fail(setting, load, proxy))
            audit_all(setting, load, *servers)
        stored = {each.sha256 for each in remote.stored()}
        for each in setting.servers:
            each.stop()  # before the proxy goes
    return f"{len(FATES)} faults, slowness and a silence; {load.refused} refused, {len(stored)} files on S3"


def _fail(setting: Stage, load: Load, proxy: S3Proxy) -> None:
    for at, fate in enumerate(FATES, start=1):
        wait_for(load, at / (len(FATES) + 4))
        proxy.always(fate)
        if fate != HALF:  # which spoils reads alone
            load.expect_refusals(1)
        proxy.heal()
        setting.recoveries.append(load.recovered())
    proxy.slow_down(SLOWNESS)
    wait_for(load, (len(FATES) + 2) / (len(FATES) + 4))
    proxy.heal()
    proxy.go_on.clear()
    load.expect_refusals(1)
    proxy.heal()
    setting.recoveries.append(load.recovered())


def _copy(source: Files, target: Files) -> None:
    for each in source.stored():
        with source.opened(each.sha256) as packed:
            target.keep_packed(each.sha256, packed)
    missing = {name_of(each.sha256) for each in source.stored()} - {name_of(each.sha256) for each in target.stored()}
    assert not missing, missing
