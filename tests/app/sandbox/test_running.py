"""What a program in the sandbox gets, and what is told of its end."""

from __future__ import annotations

import platform
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.sandbox.model import Mount, SandboxFault
from app.sandbox.sandbox import Sandbox, protections
from app.sandbox.streams import Watch
from tests.builders.sandboxes import MIB, limits, shell

pytestmark = pytest.mark.machine("sandbox")


def test_all_protections_are_on_where_the_sandbox_opens() -> None:
    assert protections(as_root=True) == dict.fromkeys(
        ("bubblewrap", "namespaces", "control groups", "system calls"), ""
    )


def test_a_program_gets_its_input_and_its_output_exit_code_time_and_memory_are_told(sandbox: Sandbox) -> None:
    result = sandbox.run(shell("cat; echo oops >&2; exit 43", stdin=b"text"))
    assert (result.ending, result.exit_code, result.signal) == ("exit", 43, None)
    assert (result.stdout, result.stderr) == (b"text", b"oops\n")
    assert 0 < result.cpu_seconds < 20
    assert result.wall_seconds > 0


def test_a_large_input_is_piped_whole(sandbox: Sandbox) -> None:
    assert sandbox.run(shell("wc -c", stdin=bytes(3 * MIB))).stdout.split() == [str(3 * MIB).encode()]


def test_a_program_that_reads_nothing_ends_as_it_does(sandbox: Sandbox) -> None:
    assert sandbox.run(shell("exit 7", stdin=bytes(3 * MIB))).exit_code == 7


def test_a_signal_is_told(sandbox: Sandbox) -> None:
    result = sandbox.run(shell("kill -SEGV $$"))
    assert (result.ending, result.exit_code, result.signal) == ("signal", None, signal.SIGSEGV)


def test_what_is_mounted_is_read_and_not_written(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "case").mkdir()
    (tmp_path / "case/in").write_text("1 2\n")
    mounts = [Mount(tmp_path / "case", "/case"), Mount(tmp_path / "case/in", "/work/in")]
    result = sandbox.run(shell("cat /case/in in; echo x >/case/in; echo x >in; rm /case/in", *mounts))
    assert result.stdout == b"1 2\n1 2\n"
    assert result.stderr.count(b"Read-only file system") == 3


def test_files_that_the_program_leaves_in_a_writable_folder_come_back(sandbox: Sandbox, tmp_path: Path) -> None:
    folder = tmp_path / "feedback"
    folder.mkdir()
    line = "echo 42 >score; mkdir deep; echo x >deep/score; echo ':' >tool; chmod +x tool; ln -s /etc/shadow link"
    writable = Mount(folder, "/out", writable=True)
    assert sandbox.run(shell(f"cd /out && {line}", writable)).ending == "exit"
    assert {path.name for path in folder.iterdir()} == {"score", "tool"}
    assert (folder / "score").read_text() == "42\n"
    assert (folder / "tool").stat().st_mode & 0o777 == 0o700
    with pytest.raises(ValueError, match="expected an empty folder"):
        sandbox.run(shell("true", writable))


def test_python_has_its_usual_means_by_its_usual_name(sandbox: Sandbox) -> None:
    """Processes, threads, loops of events, temporary files, and the version that the service itself has."""
    code = (
        "import asyncio, getpass, multiprocessing, platform, tempfile, threading\n"
        "tempfile.TemporaryFile().write(b'x')\n"
        "thread = threading.Thread(target=print, args=(getpass.getuser(),)); thread.start(); thread.join()\n"
        "asyncio.run(asyncio.sleep(0))\n"
        "print(platform.python_version(), multiprocessing.Pool(2).map(abs, [1, -2]))\n"
    )
    result = sandbox.run(shell("exec python3 -", stdin=code.encode()))
    assert result.stdout.decode() == f"nobody\n{platform.python_version()} [1, 2]\n"


def test_a_program_that_does_not_exist_is_a_fault_of_the_caller(sandbox: Sandbox) -> None:
    with pytest.raises(SandboxFault, match="No such file"):
        sandbox.run(shell("true").__class__(("/no/such/program",), limits=limits()))


def test_a_watcher_that_fails_leaves_no_process(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt of the server's user, for instance, while a program runs."""

    def interrupted(_watch: Watch) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Watch, "_hold_to_limits", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sandbox.run(shell("sleep 100000"))
    assert sandbox.groups_in_use() == []


def test_many_threads_run_at_once(sandbox: Sandbox) -> None:
    with ThreadPoolExecutor(6) as threads:
        results = threads.map(lambda number: sandbox.run(shell(f"cat; exit {number}", stdin=b"%d" % number)), range(12))
        assert [(each.exit_code, each.stdout) for each in results] == [(n, b"%d" % n) for n in range(12)]
    assert sandbox.groups_in_use() == []
