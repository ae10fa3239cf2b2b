"""What a program does to get out of the sandbox or to keep the machine busy: it is stopped, and the result names it."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psutil
import pytest

from app.sandbox import model
from app.sandbox.model import Command, Ending, Limits, Mount
from app.sandbox.sandbox import Sandbox
from app.sandbox.seccomp import LASTING, MACHINE, NEWER, library
from tests.builders import escaping
from tests.builders.sandboxes import MIB, limits, python, shell

PROGRAM = Path(escaping.__file__)
pytestmark = pytest.mark.machine("sandbox")


@pytest.fixture(autouse=True)
def _nothing_stays(sandbox: Sandbox) -> Iterator[None]:
    """After each attack there is neither a process nor a control group of it.

    Only own children count: the servers of other tests, which live longer, start processes whenever they like.
    """
    before = set(psutil.Process().children())
    yield
    assert set(psutil.Process().children()) <= before
    assert sandbox.groups_in_use() == []


@pytest.mark.parametrize(
    ("line", "within", "ending"),
    [
        pytest.param("while true; do :; done", limits(cpu=0.2), "cpu", id="a loop"),
        pytest.param("while true; do sleep 0; done", limits(cpu=0.5), "cpu", id="a loop of processes"),
        pytest.param("sleep 100000", limits(wall=0.1), "wall", id="sleeping for ever"),
        pytest.param("trap '' TERM INT HUP XCPU; sleep 100000", limits(wall=0.1), "wall", id="ignoring signals"),
        pytest.param("kill -STOP $$", limits(wall=0.1), "wall", id="stopping itself"),
        pytest.param("yes", limits(), "output", id="printing for ever"),
        pytest.param("yes >&2", limits(), "output", id="complaining for ever"),
        pytest.param("head -c 10G /dev/zero", limits(), "output", id="10 GB of output"),
        pytest.param("head -c 10G /dev/zero >big", limits(), "output", id="10 GB of a file"),
        pytest.param("head -c 10G /dev/zero >/tmp/big; true", limits(), "output", id="10 GB of a temporary file"),
        pytest.param(
            "for at in 1 2 3 4; do head -c 400K /dev/zero >$at; done", limits(), "output", id="too many small files"
        ),
        pytest.param("truncate -s 10G big", limits(), "output", id="a file that is all hole"),
        pytest.param("head -c 1G /dev/zero | tail", limits(memory=16 * MIB), "memory", id="a memory hog"),
        pytest.param("(head -c 1G /dev/zero | tail) & wait", limits(memory=16 * MIB), "memory", id="a hog's child"),
        pytest.param(
            "head -c 1G /dev/zero >big", limits(memory=16 * MIB, output=64 * MIB), "memory", id="a hog of files"
        ),
        pytest.param("exit 0", limits(memory=2**19), "memory", id="too little memory to begin"),
        pytest.param("exit 0", limits(), "exit", id="exiting at once"),
        pytest.param("kill -9 -1; kill -9 $PPID; exit 0", limits(), "exit", id="killing everybody"),
        pytest.param("kill -9 $$", limits(), "signal", id="killing itself"),
    ],
)
def test_what_a_program_takes_too_much_of_ends_it_and_is_named(
    sandbox: Sandbox, line: str, within: Limits, ending: Ending
) -> None:
    result = sandbox.run(shell(line, within=within))
    assert result.ending == ending
    assert len(result.stdout) + len(result.stderr) <= within.output


def test_a_fork_bomb_starts_no_more_processes_than_it_may(sandbox: Sandbox) -> None:
    code = "import os\nwhile True:\n try: os.fork()\n except OSError: pass"
    assert sandbox.run(python(code, within=limits(cpu=0.5, processes=8))).ending == "cpu"
    children = """\
import os, time
count = 1
try:
    while os.fork():
        count += 1
    time.sleep(60)
except OSError:
    print(count, flush=True)
    os.kill(-1, 9)
"""
    assert sandbox.run(python(children, within=limits(processes=8))).stdout == b"8\n"


@pytest.mark.parametrize(
    "line",
    ["setsid sleep {}", "(setsid sleep {} &) &", "nohup setsid setsid sleep {} >/dev/null 2>&1 &", "sleep {} & exit 0"],
)
def test_no_process_outlives_its_run(sandbox: Sandbox, line: str) -> None:
    """Neither in a session of its own nor after a double fork."""
    seconds = f"{10**6 + secrets.randbelow(10**6)}"
    assert sandbox.run(shell(line.format(seconds), within=limits(wall=0.2))).ending in {"exit", "wall"}
    assert not [process for process in psutil.process_iter(["cmdline"]) if seconds in (process.info["cmdline"] or [])]


def test_a_program_that_is_taken_over_can_do_nothing(sandbox: Sandbox, tmp_path: Path) -> None:
    """No file of the host, no network, no other process, no other user, no kernel door: each of them is tried."""
    secret = tmp_path / "jurado.db"
    secret.write_text("secret")
    seccomp = library()
    names = (*MACHINE, *LASTING, "clone", "socket", "fcntl")
    numbers = {name: seccomp.resolve_syscall(seccomp.Arch.NATIVE, name) for name in names}
    words = [f"{name}={NEWER.get(name, number)}" for name, number in numbers.items() if NEWER.get(name, number) >= 0]
    with socket.create_server(("127.0.0.1", 0)) as server:
        probe = partial(escaping_command, secret, server.getsockname()[1], words)
        result, shown = sandbox.run(probe()), sandbox.run(probe(Mount(secret, str(secret))))
    tried, _, could = result.stdout.decode().partition(" ")
    assert (could, result.stderr) == ("nothing\n", b"")
    assert int(tried) > len(words) + 30
    assert shown.stdout.decode() == f"{tried} read {secret}; read /proc/1/root{secret}; list {secret.parent}\n"


def test_a_program_may_lock_its_files_and_change_its_descriptors(sandbox: Sandbox) -> None:
    """Only the commands of fcntl that affect other users of a file are denied."""
    code = """
import errno, fcntl, os
file = os.open("/tmp/own", os.O_RDWR | os.O_CREAT)
fcntl.lockf(file, fcntl.LOCK_EX)
fcntl.lockf(file, fcntl.LOCK_UN)
fcntl.flock(file, fcntl.LOCK_EX)
os.set_blocking(file, False)
os.close(fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, 20))
assert fcntl.fcntl(file, fcntl.F_GETFL) & os.O_NONBLOCK
assert fcntl.fcntl(file, fcntl.F_GETFD) == fcntl.FD_CLOEXEC
try:
    fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
except OSError as error:
    print(errno.errorcode[error.errno])
"""
    result = sandbox.run(python(code))
    assert (result.stdout, result.stderr) == (b"EPERM\n", b"")


def escaping_command(secret: Path, port: int, words: list[str], *mounts: Mount) -> Command:
    """The program that tries everything."""
    argv = (model.python(), "-IS", "/escaping.py", str(secret), str(port), *words)
    return Command(argv, (Mount(PROGRAM, "/escaping.py"), *mounts), limits=limits())


def test_a_program_sees_no_variable_descriptor_or_argument_of_the_server(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JURADO_ADMIN_PASSWORD", "a secret of the server")
    with (tmp_path / "open").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        result = sandbox.run(shell("cat /proc/*/environ /proc/*/cmdline; ls /proc/self/fd /proc/1/fd"))
    assert b"JURADO" not in result.stdout
    assert str(tmp_path).encode() not in result.stdout
    assert set(result.stdout.rpartition(b"/proc/self/fd:\n")[2].split()) == {b"0", b"1", b"2", b"3"}


def test_links_out_of_a_mount_lead_nowhere(sandbox: Sandbox, tmp_path: Path) -> None:
    """Also in chains, and through names with dots."""
    (tmp_path / "secret").write_text("secret")
    mounted = tmp_path / "mounted"
    mounted.mkdir()
    for name, target in {
        "a": "b", "b": "c", "c": str(tmp_path / "secret"), "d": "../secret", "e": "/etc/shadow", "loop": "loop",
    }.items():  # fmt: skip
        (mounted / name).symlink_to(target)
    result = sandbox.run(shell("cd /mounted; cat a b c d e loop ../secret", Mount(mounted, "/mounted")))
    assert (result.stdout, result.exit_code) == (b"", 1)
    with pytest.raises(ValueError, match="expected a file or folder"):
        sandbox.run(shell("cat /mounted", Mount(mounted / "c", "/mounted")))


def test_of_what_a_program_leaves_only_regular_files_are_taken(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    out = tmp_path / "out"
    out.mkdir()
    line = f"ln -s {tmp_path}/secret link; ln -s {tmp_path} folder; mkfifo fifo; echo 1 >score; ln score again; mkdir a"
    assert sandbox.run(shell(f"cd /out; {line}", Mount(out, "/out", writable=True))).ending == "exit"
    assert {path.name for path in out.iterdir()} == {"score", "again"}


@pytest.mark.parametrize(
    "code",
    [
        "for at in range(5_000): open(str(at), 'w')",
        "for at in range(20): open(str(at), 'w').truncate(2**19)",
        "open('0', 'w')\nfor at in range(2_000): os.symlink(str(at), str(at + 1))",
    ],
    ids=["5,000 files", "files that are all hole", "a chain of 2,000 links"],
)
def test_what_is_left_is_taken_whole_or_not_at_all(sandbox: Sandbox, tmp_path: Path, code: str) -> None:
    out = tmp_path / "out"
    out.mkdir()
    within = limits(output=8 * MIB)
    result = sandbox.run(
        python(f"import os; os.chdir('/out')\n{code}", Mount(out, "/out", writable=True), within=within)
    )
    assert (result.ending, result.stderr) == ("output", b"")
    assert list(out.iterdir()) == []


def test_a_killed_server_leaves_no_process_and_its_groups_go_with_the_next_one() -> None:
    seconds = f"{10**6 + secrets.randbelow(10**6)}"
    code = (
        "import sys, threading; from app.sandbox.sandbox import Sandbox; from tests.builders.sandboxes import shell\n"
        "begun = threading.Event()\n"
        f"line = shell('(setsid sleep {seconds} &); sleep {seconds}'); box = Sandbox.open(as_root=True)\n"
        "threading.Thread(target=box.run, args=(line, lambda _: begun.set()), daemon=True).start()\n"
        "begun.wait(); print(*box.groups_in_use(), sep='\\n', flush=True); sys.stdin.read()"
    )
    server = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    assert server.stdin is not None
    with server.stdin, server.stdout:
        groups = [Path(server.stdout.readline().strip())]
        asleep = [process for process in psutil.process_iter(["cmdline"]) if seconds in str(process.info["cmdline"])]
        assert groups[0].is_dir()
        assert len(asleep) > 1
        server.send_signal(signal.SIGKILL)
        server.wait()
    assert psutil.wait_procs([process for process in asleep if process.pid != server.pid], timeout=60)[1] == []
    Sandbox.open(as_root=True).close()
    assert not any(folder.parent.exists() for folder in groups)
