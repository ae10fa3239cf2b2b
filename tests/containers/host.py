"""A machine with Docker: this one where its daemon answers, else one of Debian's packages in namespaces of its own.

The second needs root on Debian. It has a network of its own (slirp4netns leads out of it, nothing leads in), so it
touches neither addresses nor rules of this machine, and its folder can be removed as a whole.
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
SECONDS_TO_START = 120.0

# In its namespaces: its root is the Debian of `root`, with this project and the folder of the run at their own paths.
START = """
set -eu
root=$1; shift
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
until ip addr show tap0 2>/dev/null | grep -q inet; do sleep 0.1; done
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root dockerd --data-root=/var/lib/docker >/var/log/dockerd.log 2>&1
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
def own_host(folder: Path, *, stand_ins: bool) -> Iterator[Host]:
    """Give the Docker of this machine, or start Debian's below `folder` until the block ends."""
    if answers(["docker"]) and not stand_ins:
        yield Host((), (), None)
        return
    root, archive = folder / "root", folder / "debian.tar"
    install(TOOLS)
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


def install(names: Sequence[str]) -> None:
    """Install what is missing of Debian's packages."""
    missing = [name for name in names if shutil.which(name) is None]
    if missing:
        subprocess.run(["sh", str(PROJECT / "scripts/apt_install.sh"), *missing], check=True)


def make_root(folder: Path, root: Path, archive: Path) -> None:
    """Make a Debian with Docker, and an archive of one without it, which trust what this machine trusts."""
    base = folder / "base"
    chosen = ("--variant=minbase", "--include=ca-certificates")
    subprocess.run(["debootstrap", *chosen, SUITE, str(base)], check=True, stdout=subprocess.DEVNULL)
    shutil.copy(f"/{AUTHORITIES}", base / AUTHORITIES)
    unneeded = ("--exclude=./var/cache/apt/*", "--exclude=./var/lib/apt/lists/*", "--exclude=./dev/*")
    subprocess.run(["tar", *unneeded, "-C", str(base), "-cf", str(archive), "."], check=True)
    shutil.copy("/etc/resolv.conf", base / "etc/resolv.conf")
    (base / "usr/sbin/policy-rc.d").symlink_to("/bin/false")  # packages start nothing
    line = f"apt-get update -qq && apt-get install -qq -y --no-install-recommends {PACKAGES}"
    known = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["chroot", str(base), "sh", "-c", line], check=True, stdout=subprocess.DEVNULL, env=known)
    base.rename(root)


@contextmanager
def started(root: Path, folder: Path) -> Iterator[int]:
    """Run the daemon; gives its process id on this machine."""
    namespaces = ("--mount", "--net", "--pid", "--ipc", "--uts", "--fork", "--kill-child")
    command = ["unshare", *namespaces, "sh", "-c", START, "start", str(root), str(PROJECT), str(folder)]
    outer = subprocess.Popen(command, start_new_session=True)
    lead = None
    try:
        pid = child_of(outer.pid)
        lead = subprocess.Popen(
            ["slirp4netns", "--configure", "--disable-host-loopback", str(pid), "tap0"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        wait(pid)
        yield pid
    finally:
        for process in (lead, outer):
            if process is not None:
                process.send_signal(signal.SIGKILL)
                process.wait()


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
