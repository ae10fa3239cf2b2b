"""Control groups of both versions: where they are, what is written to them, and what is read."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from app.sandbox import groups
from app.sandbox.groups import MAIN, NEEDED, Groups, Hierarchy, NoGroups, RunGroup, choose, hierarchies, sweep
from tests.builders.control_groups import Kernel
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
        Hierarchy(memory / "a/b", frozenset({"memory"}), False),
        Hierarchy(cpu / "c", frozenset({"cpuacct"}), False),
    ]
    with pytest.raises(NoGroups, match="pids"):
        choose(rows)


def test_of_version_2_the_group_has_the_controllers_that_are_delegated(tmp_path: Path) -> None:
    top = made(tmp_path, "system.slice/jurado.service")
    own = top / "system.slice/jurado.service"
    (own / "cgroup.controllers").write_text("cpu memory pids\n")
    (row,) = hierarchies(V2.format(root="/", top=top), "0::/system.slice/jurado.service\n")
    assert row == Hierarchy(own, frozenset(NEEDED), True)
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
        Hierarchy(tmp_path, frozenset({"pids", "cpuacct"}), True),
        Hierarchy(tmp_path / "m", frozenset({"memory", "cpuacct"}), False),
    )
    assert choose([old, new]) == {"memory": old, "cpuacct": old, "pids": new}


def test_the_limits_and_counters_of_version_2(tmp_path: Path) -> None:
    for name in ("memory.max", "memory.swap.max", "memory.oom.group", "pids.max"):
        (tmp_path / name).touch()
    (tmp_path / "memory.events").write_text("low 0\noom 1\noom_kill 1\n")
    (tmp_path / "cpu.stat").write_text("usage_usec 2500000\nuser_usec 1\n")
    (tmp_path / "pids.events").write_text("max 0\n")
    group = RunGroup(tmp_path, tmp_path, tmp_path)
    group.limit(limits(memory=64 * MIB, processes=5))
    texts = {path.name: path.read_text().strip() for path in tmp_path.iterdir()}
    assert (texts["memory.max"], texts["memory.swap.max"]) == (str(64 * MIB), "0")
    assert (texts["memory.oom.group"], texts["pids.max"]) == ("1", "7")
    assert group.cpu_seconds() == 2.5
    assert group.out_of_memory()
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


SERVICE = "system.slice/jurado.service"


def delegated(top: Path, monkeypatch: pytest.MonkeyPatch, inside: str = SERVICE, *, read_only: bool = False) -> Kernel:
    """A server in a group of systemd's with `Delegate=memory pids`, its own processes 100 and 101 in `inside`."""
    kernel = Kernel(top, read_only)
    own = top / inside
    own.mkdir(parents=True)
    for folder in [top, *reversed([each for each in own.parents if top in each.parents]), own]:
        kernel.fill(folder, "cpuset cpu memory pids\n", "100\n101\n" if folder == own else "")
    mounts = V2.format(root="/", top=top)
    monkeypatch.setattr(groups, "own_hierarchies", lambda: hierarchies(mounts, f"0::/{inside}\n"))
    kernel.rule(monkeypatch)
    return kernel


def test_a_service_with_delegated_groups_of_version_2_divides_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its processes move to a group inside, as a group that is divided has none of its own."""
    delegated(tmp_path, monkeypatch)
    own = tmp_path / SERVICE
    opened = Groups.open()
    assert (own / MAIN / "cgroup.procs").read_text().split() == ["100", "101"]
    assert (own / "cgroup.procs").read_text() == ""
    (server,) = own.glob("jurado-*")
    assert [(each / "cgroup.subtree_control").read_text() for each in (own, server)] == ["memory pids\n"] * 2
    group = opened.new(limits(memory=64 * MIB, processes=5))
    assert group.folders == [server / "1"]
    texts = {path.name: path.read_text() for path in (server / "1").iterdir()}
    assert (texts["memory.max"], texts["memory.swap.max"]) == (f"{64 * MIB}\n", "0\n")
    assert (texts["memory.oom.group"], texts["pids.max"]) == ("1\n", "7\n")
    assert group.cpu_seconds() == 1.5
    assert not group.out_of_memory()
    (server / "1/memory.events").write_text("low 0\nhigh 0\nmax 9\noom 1\noom_kill 1\noom_group_kill 1\n")
    assert group.out_of_memory()
    group.kill()
    assert (server / "1/pids.max").read_text() == "0\n"
    group.remove()
    assert opened.in_use() == []
    opened.close()
    assert [path.name for path in own.iterdir() if path.is_dir()] == [MAIN]


def test_a_server_in_its_main_group_makes_groups_beside_it_and_removes_those_of_a_dead_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a restart by an updater inside, or of a second sandbox of the same process."""
    kernel = delegated(tmp_path, monkeypatch, f"{SERVICE}/{MAIN}")
    own = tmp_path / SERVICE
    kernel.write(own / "cgroup.subtree_control", "+memory +pids")
    (own / "jurado-dead").mkdir()
    (own / "jurado-dead/1").mkdir()
    first, second = Groups.open(), Groups.open()
    assert not (own / "jurado-dead").exists()
    assert len(list(own.glob("jurado-*"))) == 2
    assert (own / MAIN / "cgroup.procs").read_text().split() == ["100", "101"]
    for opened in (first, second):
        opened.close()


def test_a_hierarchy_without_controllers_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where version 1 has them all, or nothing was delegated."""
    kernel = delegated(tmp_path, monkeypatch)
    kernel.fill(tmp_path / SERVICE, "cpu\n", "100\n")
    with pytest.raises(NoGroups, match="memory, pids is mounted or delegated; as a service of systemd"):
        Groups.open()


def test_groups_that_a_container_mounts_read_only_are_told_with_what_docker_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    delegated(tmp_path, monkeypatch, read_only=True)
    with pytest.raises(NoGroups) as missing:
        Groups.open()
    text = str(missing.value)
    assert text.startswith("cannot divide the group for cpuacct, memory, pids: Read-only file system")
    assert "docker: --privileged" in text


@pytest.mark.machine("sandbox")
def test_the_groups_of_two_sandboxes_of_a_process_are_apart_and_end_with_them() -> None:
    first, second = Groups.open(), Groups.open()
    one, other = first.new(limits()), second.new(limits())
    assert not set(one.folders) & set(other.folders)
    for group, owner in ((one, first), (other, second)):
        group.kill()
        group.remove()
        owner.close()
    assert not any(folder.parent.exists() for folder in (*one.folders, *other.folders))
