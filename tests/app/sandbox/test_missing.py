"""Where a protection is missing no program runs, and each one that is missing is named with what to do about it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app.sandbox import groups, sandbox, seccomp
from app.sandbox.groups import NEEDED, Hierarchy
from app.sandbox.model import SandboxMissing
from app.sandbox.sandbox import CALLS, GROUPS, NAMESPACES, PROGRAM, ProtectionState, Sandbox

WITHOUT_NAMESPACES = """
import errno, json
from app.sandbox import seccomp
from app.sandbox.sandbox import protections
library = seccomp.library()
rules = library.SyscallFilter(library.ALLOW)
seccomp.refuse(rules, library, "clone", errno.EPERM, library.Arg(0, library.MASKED_EQ, 0x10000000, 0x10000000))
seccomp.refuse(rules, library, "unshare", errno.EPERM)
import ctypes
ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)
rules.load()
"""
WITHOUT_GROUPS = """
from app.sandbox import groups
groups.own_hierarchies = list
"""
PRINT = "print(json.dumps(dict(protections(as_root=True))))"
TEST = """
import pytest, sys
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "tests/app/sandbox/test_running.py"]))
"""


def test_each_missing_protection_is_named_and_nothing_opens(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_library() -> None:
        raise RuntimeError("Unable to find libseccomp")

    monkeypatch.setattr(shutil, "which", lambda _name, path: None)
    monkeypatch.setattr(seccomp, "library", no_library)
    monkeypatch.setattr(groups, "own_hierarchies", list)
    with pytest.raises(SandboxMissing) as raised:
        Sandbox.open(as_root=True)
    missing = raised.value.protections
    assert set(missing) == {PROGRAM, CALLS, GROUPS, NAMESPACES}
    assert "apt-get install bubblewrap" in missing[PROGRAM]
    assert "apt-get install libseccomp2" in missing[CALLS]
    assert "Delegate=yes" in missing[GROUPS]
    assert all(lack in str(raised.value) for lack in missing.values())


@pytest.mark.machine("sandbox")
def test_a_system_without_user_namespaces_is_told_so() -> None:
    """A process to which the kernel refuses new namespaces, as containers are by default."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_NAMESPACES + PRINT], capture_output=True, text=True, check=True
    )
    lacks = json.loads(done.stdout)
    assert {name for name, lack in lacks.items() if lack} == {NAMESPACES}
    assert "user namespaces must be allowed" in lacks[NAMESPACES]
    assert "\n" not in lacks[NAMESPACES]


@pytest.mark.machine("sandbox")
def test_namespaces_are_not_said_to_be_on_where_control_groups_are_missing() -> None:
    line = [sys.executable, "-c", f"import json\nfrom app.sandbox.sandbox import protections\n{WITHOUT_GROUPS}{PRINT}"]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert {name for name, lack in json.loads(done.stdout).items() if lack} == {NAMESPACES, GROUPS}


def test_a_test_run_without_a_sandbox_says_that_its_tests_are_left_out() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_NAMESPACES + TEST], capture_output=True, text=True)
    assert "no test of the sandbox ran: namespaces: " in done.stdout
    assert "deselected" in done.stdout
    assert "failed" not in done.stdout


def test_a_group_that_may_not_be_divided_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing was delegated, a folder cannot be made: here below a file."""
    (tmp_path / "file").touch()
    known = [Hierarchy(tmp_path / "file", frozenset(NEEDED), unified=False)]
    monkeypatch.setattr(groups, "own_hierarchies", lambda: known)
    lack = sandbox.protections(as_root=True)[GROUPS]
    assert "cannot divide the group for cpuacct, memory, pids: Not a directory" in lack
    assert str(tmp_path) not in lack


@pytest.mark.machine("sandbox")
def test_a_program_that_keeps_rights_in_the_sandbox_closes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protections are tried from inside: a bubblewrap that loads no filter is one that is missing."""
    monkeypatch.setattr(sandbox, "sandbox_filter", lambda: b"")
    with pytest.raises(SandboxMissing, match=NAMESPACES):
        Sandbox.open(as_root=True)


def test_what_is_missing_is_looked_at_again_and_what_is_on_is_not() -> None:
    looks = [{PROGRAM: "missing"}, {PROGRAM: ""}]
    state = ProtectionState(lambda: looks.pop(0))
    assert state.lacks() == state.lacks() == {PROGRAM: "missing"}
    state.forget()
    assert state.lacks() == {PROGRAM: ""}
    state.forget()
    assert state.lacks() == {PROGRAM: ""}
    assert looks == []
