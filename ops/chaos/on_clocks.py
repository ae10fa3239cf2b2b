"""The system's clock is set back and forth while teams submit, and while the server is down."""

from __future__ import annotations

from app.core.clics import parse_time
from bench.stage import CONTEST
from ops.chaos.audit import audit
from ops.chaos.clocked import set_clock
from ops.chaos.load import Load, under_load, wait_for
from ops.chaos.model import scenario
from ops.chaos.stage import Server, Stage, wait_until

HOUR = 3600.0
SECONDS_TO_THE_END = 5
STEPS = (-HOUR, 2 * HOUR, HOUR, -3 * HOUR)
"""Where the clock is after each step, in seconds ahead of the machine's."""


@scenario()
def clock_steps(setting: Stage) -> str:
    """the clock is set back and forth under load and at a restart: no contest runs back, and what is over stays over"""
    offset = setting.folder / "clock"
    set_clock(offset, 0)
    server = setting.server(module=("ops.chaos.clocked", str(offset)))
    server.start()
    load = Load(setting.size.submissions)

    def step() -> None:
        for at, seconds in enumerate(STEPS, start=1):
            wait_for(load, at / (len(STEPS) + 2))
            set_clock(offset, seconds)
            setting.recoveries.append(load.recovered())
        server.kill()
        set_clock(offset, -6 * HOUR)
        server.start()
        setting.recoveries.append(load.recovered())

    under_load(load, setting, server.url, step)
    _check_times(load)
    audit(setting, server, load)
    _end(setting, server)
    set_clock(offset, -9 * HOUR)
    assert _is_over(setting, server), "an ended contest runs again when the clock is set back"
    server.kill_and_restart()
    assert _is_over(setting, server), "an ended contest runs again after a restart with an earlier clock"
    assert "the system's clock was set" in server.log()
    return f"{len(STEPS) + 1} steps of up to {max(map(abs, STEPS)) / HOUR:.0f} h; times in the order of submissions"


def _check_times(load: Load) -> None:
    """Whatever begins after another one was acknowledged has no earlier time."""
    acknowledged = list(zip(load.times, load.sent, strict=True))
    for later in load.sent:
        before = [each.time for at, each in acknowledged if at < later.began]
        assert later.time >= max(before, default=later.time), f"a time of {later.time} after one of {max(before)}"


def _end(setting: Stage, server: Server) -> None:
    """Let the contest end in some seconds, as no end may move into the past, and wait until it has."""
    with setting.client(server) as admin:
        state = admin.get(f"contests/{CONTEST}").raise_for_status().json()
        now = admin.get("contests").headers["Jurado-Time"]
        began = state["start_time"]
        admin.patch(f"contests/{CONTEST}", json={"duration": _duration(began, int(now))}).raise_for_status()
    wait_until(lambda: _is_over(setting, server), "the contest does not end")


def _duration(start_time: str, now: int) -> str:
    """The duration with which a contest ends soon after `now`, in milliseconds since 1970."""
    seconds = SECONDS_TO_THE_END + int(now / 1000 - parse_time(start_time).timestamp())
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}.000"


def _is_over(setting: Stage, server: Server) -> bool:
    with setting.client(server) as admin:
        return admin.get(f"contests/{CONTEST}/state").raise_for_status().json()["ended"] is not None
