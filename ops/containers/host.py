"""A machine with Docker: this one where its daemon answers, else one of Debian's packages in namespaces of its own.

The second needs root on Debian. It has a network of its own (slirp4netns leads out of it, nothing leads in), so it
touches neither addresses nor rules of this machine. When it ends, so do all processes and mounts in there, its control
groups are removed, and its folder unless it is wanted again.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
SUITE = "trixie"
TOOLS = ("debootstrap", "slirp4netns", "curl")
PACKAGES = "docker.io docker-cli docker-compose docker-buildx iptables iproute2 ca-certificates"
AUTHORITIES = "etc/ssl/certs/ca-certificates.crt"
START_NOTHING = "echo 'exit 101' >/usr/sbin/policy-rc.d && chmod 755 /usr/sbin/policy-rc.d"
"""Before packages of daemons are installed: any other exit code than 101 lets them start."""
SECONDS_TO_START = 120.0
SECONDS_TO_END = 20.0
ROOM = 12 * 10**9
"""Bytes: what the folder came to have when all images had been made, and half of that again."""
GROUPS = Path("/sys/fs/cgroup")
ENDS_WITH_US = ("setpriv", "--pdeathsig", "KILL")
APART = (*ENDS_WITH_US, "unshare", "--mount", "--pid", "--fork", "--kill-child")
"""For what is ended as a whole, with its processes and mounts, also where it is killed in the middle."""

# In its namespaces: its root is the Debian of `root`, with this project and the folder of the run at their own paths.
START = """
set -eu
root=$1; groups=$2; shift 2
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount --rbind /sys/fs/cgroup "$root/sys/fs/cgroup"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/tmp"
for folder in "$@"; do mkdir -p "$root$folder"; mount --bind "$folder" "$root$folder"; done
ip link set lo up
mkdir -p "$root/old"
cd "$root"
pivot_root . old
umount -l /old
echo nameserver 10.0.2.3 >/etc/resolv.conf
hostname containers
known="PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root"
until ip addr show tap0 2>/dev/null | grep -q inet; do sleep 0.1; done
exec env -i $known dockerd --data-root=/var/lib/docker --cgroup-parent="/$groups" >/var/log/dockerd.log 2>&1
"""


@dataclass(frozen=True)
class Host:
    """`inside` comes before a command that runs on it, `network` before one of this machine in its network.

    stand_ins   the archive of Debian that images are made of, as no registry is asked; None: images are pulled
    """

    inside: Sequence[str]
    network: Sequence[str]
    stand_ins: Path | None


@contextmanager
def own_host(folder: Path, *, stand_ins: bool, again: bool) -> Iterator[Host]:
    """Give the Docker of this machine, or start Debian's below `folder` until the block ends.

    again   leave the folder for a next run, which then makes no image twice
    """
    folder.mkdir(parents=True, exist_ok=True)
    if answers(["docker"]) and not stand_ins:
        yield Host((), (), None)
        return
    check_machine(folder)
    install(TOOLS)
    try:
        with debian_host(folder) as host:
            yield host
    finally:
        if not again:
            remove(folder)


def remove(folder: Path) -> None:
    """Remove what was made below it, and nothing else."""
    for name in ("base", "root"):
        shutil.rmtree(folder / name, ignore_errors=True)
    (folder / "debian.tar").unlink(missing_ok=True)


@contextmanager
def debian_host(folder: Path) -> Iterator[Host]:
    """Start Debian's Docker below `folder` until the block ends."""
    root, archive = folder / "root", folder / "debian.tar"
    if not (root / "usr/sbin/dockerd").exists():
        make_root(folder, root, archive)
    with started(root, folder) as pid:
        flags = ("--mount", "--net", "--pid", "--ipc", "--uts")
        environment = ("env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root")
        yield Host(
            ("nsenter", "--target", str(pid), *flags, *environment), ("nsenter", "--target", str(pid), "--net"), archive
        )


def answers(docker: Sequence[str]) -> bool:
    """Whether a daemon answers."""
    try:
        return subprocess.run([*docker, "info"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def check_machine(folder: Path) -> None:
    """Exit with what this machine lacks, before anything is made."""
    needs = (
        ("root, as namespaces are made and a Debian is unpacked", os.geteuid() == 0),
        ("apt-get, as Docker and all images are made of Debian's packages", shutil.which("apt-get") is not None),
        ("control groups at /sys/fs/cgroup that may be written", os.access(GROUPS, os.W_OK)),
        (f"{ROOM / 1e9:.0f} GB of room in {folder}", shutil.disk_usage(folder).free + size(folder) > ROOM),
    )
    lacks = [need for need, holds in needs if not holds]
    if lacks:
        raise SystemExit(f"no Docker answers here, and to start Debian's this needs {'; '.join(lacks)}")


def size(folder: Path) -> int:
    """Bytes of the files of an earlier run."""
    if not any(folder.iterdir()):
        return 0
    measured = subprocess.run(["du", "--summarize", "--bytes", str(folder)], capture_output=True, text=True, check=True)
    return int(measured.stdout.split()[0])


def install(names: Sequence[str]) -> None:
    """Install what is missing of Debian's packages."""
    missing = [name for name in names if shutil.which(name) is None]
    if missing:
        subprocess.run(["sh", str(PROJECT / "scripts/apt_install.sh"), *missing], check=True)


def make_root(folder: Path, root: Path, archive: Path) -> None:
    """Make a Debian with Docker, and an archive of one without it, which trust what this machine trusts."""
    base = folder / "base"
    shutil.rmtree(base, ignore_errors=True)  # of a run that was ended in the middle
    chosen = ("--variant=minbase", "--include=ca-certificates")
    subprocess.run([*APART, "debootstrap", *chosen, SUITE, str(base)], check=True, stdout=subprocess.DEVNULL)
    shutil.copy(f"/{AUTHORITIES}", base / AUTHORITIES)
    unneeded = ("--exclude=./var/cache/apt/*", "--exclude=./var/lib/apt/lists/*", "--exclude=./dev/*")
    subprocess.run(["tar", *unneeded, "-C", str(base), "-cf", str(archive), "."], check=True)
    shutil.copy("/etc/resolv.conf", base / "etc/resolv.conf")
    line = f"{START_NOTHING} && apt-get update -qq && apt-get install -qq -y --no-install-recommends {PACKAGES}"
    known = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run([*APART, "chroot", str(base), "sh", "-c", line], check=True, stdout=subprocess.DEVNULL, env=known)
    base.rename(root)


@contextmanager
def started(root: Path, folder: Path) -> Iterator[int]:
    """Run the daemon; gives its process id on this machine."""
    namespaces = ("--mount", "--net", "--pid", "--ipc", "--uts", "--fork", "--kill-child")
    groups = f"containers-{os.getpid()}"  # any sandbox of this machine removes groups called jurado-
    begin = ["sh", "-c", START, "start", str(root), groups, str(PROJECT), str(folder)]
    outer = subprocess.Popen([*ENDS_WITH_US, "unshare", *namespaces, *begin], start_new_session=True)
    pid, lead = None, None
    try:
        pid = child_of(outer.pid)
        lead = subprocess.Popen(
            [*ENDS_WITH_US, "slirp4netns", "--configure", "--disable-host-loopback", str(pid), "tap0"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        wait(pid)
        yield pid
    finally:
        os.kill(outer.pid if pid is None else pid, signal.SIGKILL)  # the first process of a namespace takes all along
        outer.wait()
        if lead is not None:
            lead.kill()
            lead.wait()
        remove_groups(groups)


def remove_groups(name: str) -> None:
    """Remove the control groups of the containers, of whichever version."""
    until = time.monotonic() + SECONDS_TO_END
    for top in (*GROUPS.glob(name), *GROUPS.glob(f"*/{name}")):
        for folder, _, _ in os.walk(top, topdown=False):
            while True:
                try:
                    os.rmdir(folder)
                    break
                except OSError:  # it holds a process that is about to be gone
                    if time.monotonic() > until:
                        raise
                    time.sleep(0.1)


def child_of(pid: int) -> int:
    """The first process inside the namespaces."""
    until = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < until:
        words = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        if words and os.readlink(f"/proc/{words[0]}/ns/net") != os.readlink("/proc/self/ns/net"):
            return int(words[0])
        time.sleep(0.05)
    raise RuntimeError("no process came up in namespaces of its own: are namespaces allowed?")


def wait(pid: int) -> None:
    """Wait until the daemon answers."""
    until = time.monotonic() + SECONDS_TO_START
    while not answers(["nsenter", "--target", str(pid), "--mount", "--net", "--pid", "docker"]):
        if time.monotonic() > until:
            raise RuntimeError("dockerd does not answer: its log is var/log/dockerd.log below the root")
        time.sleep(0.5)
