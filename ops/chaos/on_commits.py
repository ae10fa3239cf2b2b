"""PostgreSQL's connections break at COMMITs, before they arrive or after they are done, while teams submit."""

from __future__ import annotations

import random

from ops.chaos.audit import audit
from ops.chaos.load import Load, under_load
from ops.chaos.model import scenario
from ops.chaos.stage import DATABASE, POSTGRESQL, Stage
from tests.builders.proxy import AFTER, BEFORE, proxied

SHARE_CUT = 0.25


@scenario(POSTGRESQL)
def lost_commits(setting: Stage) -> str:
    """every fourth COMMIT is cut, of submissions without an Idempotency-Key and of their verdicts"""
    assert setting.cluster is not None
    rng = random.Random(1)
    with proxied(setting.cluster) as proxy:
        server, load = setting.serve(database_url=proxy.url(DATABASE)), Load(setting.size.submissions, keyed=False)
        proxy.plan = lambda _statements: rng.choice((BEFORE, AFTER)) if rng.random() < SHARE_CUT else None
        under_load(load, setting, server.url)
        proxy.plan = lambda _statements: None
        audit(setting, server, load)
        cuts = proxy.cuts
        server.stop()  # before the proxy goes
    assert cuts, "no commit was cut"
    return f"{load.acknowledged} acknowledged, {cuts} commits cut, {load.refused} refused"
