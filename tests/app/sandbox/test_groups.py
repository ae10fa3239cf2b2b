"""Control groups of both versions: where they are, what is written to them, and what is read."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from app.sandbox.groups import NEEDED, Groups, NoGroups, RunGroup, choose, sweep
from app.sandbox.hierarchies import Hierarchy, hierarchies
from tests.builders.sandboxes import MIB, limits

V1 = "30 29 0:27 {root} {top} rw,nosuid - cgroup cgroup rw,{controllers}\n"
V2 = "30 29 0:27 {root} {top} rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"


def made(top: Path, *folders: str) -> Path:
    """A hierarchy's mount point with groups."""
    for folder in folders:
        (top / folder).mkdir(parents=True)
    return top


def test_of_version_1_each_controller_has_its_own_group(tmp_path: Path) -> None:
    memory, cpu = made(tmp_path / "memory", "a/b"), made(tmp_path / "cpu,cpuacct", "c")
    mounts = V1.format(root="/", top=memory, controllers="memory") + V1.format(
        root="/", top=cpu, controllers="cpu,cpuacct"
    )
    rows = hierarchies(mounts, "4:memory:/a/b\n3:cpu,cpuacct:/c\n1:name=systemd:/x\n")
    assert rows == [
        Hierarchy(memory, memory / "a/b", frozenset({"memory"}), False),
        Hierarchy(cpu, cpu / "c", frozenset({"cpuacct"}), False),
    ]
    with pytest.raises(NoGroups, match="pids"):
        choose(rows)


def test_of_version_2_the_group_has_the_controllers_that_are_delegated(tmp_path: Path) -> None:
    top = made(tmp_path, "system.slice/jurado.service")
    own = top / "system.slice/jurado.service"
    (own / "cgroup.controllers").write_text("cpu memory pids\n")
    (row,) = hierarchies(V2.format(root="/", top=top), "0::/system.slice/jurado.service\n")
    assert row == Hierarchy(top, own, frozenset(NEEDED), True)
    assert choose([row]) == dict.fromkeys(NEEDED, row)


def test_a_container_sees_its_group_as_the_top(tmp_path: Path) -> None:
    """By the root of the mount, or by a namespace whose paths lead out of it; blanks of paths are escaped."""
    top = made(tmp_path / "with blank", "inner")
    line = V2.format(root="/docker/1", top=str(top).replace(" ", "\\040"))
    assert hierarchies(line, "0::/docker/1/inner\n")[0].folder == top / "inner"
    assert hierarchies(line, "0::/../other\n")[0].folder == top
    assert hierarchies(line, "0::/gone\n")[0].folder == top


def test_a_controller_of_version_1_is_not_looked_for_in_version_2(tmp_path: Path) -> None:
    new, old = (
        Hierarchy(tmp_path, tmp_path, frozenset({"pids", "cpuacct"}), True),
        Hierarchy(tmp_path / "m", tmp_path / "m", frozenset({"memory", "cpuacct"}), False),
    )
    assert choose([old, new]) == {"memory": old, "cpuacct": old, "pids": new}


def test_the_limits_and_counters_of_version_2(tmp_path: Path) -> None:
    for name in ("memory.max", "memory.swap.max", "memory.oom.group", "pids.max"):
        (tmp_path / name).touch()
    (tmp_path / "memory.events").write_text("low 0\noom 1\noom_kill 1\n")
    (tmp_path / "memory.peak").write_text("12345\n")
    (tmp_path / "cpu.stat").write_text("usage_usec 2500000\nuser_usec 1\n")
    (tmp_path / "pids.events").write_text("max 0\n")
    group = RunGroup(tmp_path, tmp_path, tmp_path)
    group.limit(limits(memory=64 * MIB, processes=5))
    texts = {path.name: path.read_text().strip() for path in tmp_path.iterdir()}
    assert (texts["memory.max"], texts["memory.swap.max"]) == (str(64 * MIB), "0")
    assert (texts["memory.oom.group"], texts["pids.max"]) == ("1", "7")
    assert (group.cpu_seconds(), group.peak_memory()) == (2.5, 12345)
    assert (group.out_of_memory(), group.refused_processes()) == (True, False)
    assert group.folders == [tmp_path]


def test_a_sweep_leaves_what_is_locked_and_what_is_somebody_elses(tmp_path: Path) -> None:
    made(tmp_path, "jurado-dead", "jurado-alive", "other")
    lock = os.open(tmp_path / "jurado-alive", os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        assert sweep(tmp_path) == 1
    finally:
        os.close(lock)
    assert {path.name for path in tmp_path.iterdir()} == {"jurado-alive", "other"}


@pytest.mark.sandbox
def test_the_groups_of_two_sandboxes_of_a_process_are_apart_and_end_with_them() -> None:
    first, second = Groups.open(), Groups.open()
    one, other = first.new(limits()), second.new(limits())
    assert not set(one.folders) & set(other.folders)
    for group, owner in ((one, first), (other, second)):
        group.kill()
        group.remove()
        owner.close()
    assert not any(folder.parent.exists() for folder in (*one.folders, *other.folders))
