"""Build the image, start all of `deploy/compose.yaml`, and do with it what the guides say; a line for each step.

    python -m ops.containers [--folder .tools/containers] [--stand-ins] [--again] [--no-build] [--keep]

On the Docker of this machine with the images of the registries, and its ports 80 and 443; or, where none answers (or
with `--stand-ins`), on Debian as root: with Docker in namespaces of its own, and images made of Debian's packages, from
Debian's mirror and PyPI. That needs an hour of two cores and 12 GB of room, and says at once what the machine lacks.
All of it is removed at the end, unless `--again` leaves Docker and its images for a next run, which takes half the
time. Exit code 1 if a step did not hold.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from pathlib import Path

from ops.containers.drill import play
from ops.containers.host import own_host
from ops.containers.images import make_stand_ins
from ops.containers.installation import PROJECT, Installation


def main() -> int:
    """Play all steps; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=PROJECT / ".tools/containers", help="where Docker is kept")
    parser.add_argument("--stand-ins", action="store_true", help="with images of Debian's packages in any case")
    parser.add_argument("--again", action="store_true", help="leave Docker and its images there for a next run")
    parser.add_argument("--no-build", action="store_true", help="with the image of the last run")
    parser.add_argument("--keep", action="store_true", help="leave the containers until Enter")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # and so end what was started
    with (
        own_host(given.folder.resolve(), stand_ins=given.stand_ins, again=given.again) as host,
        tempfile.TemporaryDirectory(dir=given.folder.resolve(), prefix="run-") as name,
    ):
        folder = Path(name)
        if host.stand_ins is not None:
            make_stand_ins(host, folder)
        at = Installation(host, folder)
        try:
            at.end()  # what a run that was killed has left
            if not given.no_build:
                at.compose("build")
            wrong = play(at)
            if given.keep:
                input(f"{folder} has the secrets and the homes; Enter ends: ")
        finally:
            at.end()
    print(f"{wrong} steps did not hold" if wrong else "all steps held")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
