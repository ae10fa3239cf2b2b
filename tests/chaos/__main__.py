"""Play faults against a real server and hold what is left against what was acknowledged.

    python -m tests.chaos [NAME...] [--database sqlite|postgresql] [--submissions 500] [--kills 3]

Each scenario has a home and a database of its own. `--list` lists them; exit code 1 if a promise did not hold.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback

from tests.chaos.model import BOTH, all_scenarios
from tests.chaos.stage import Size, stage


def main() -> int:
    """Play the scenarios named, or all, and print a line for each."""
    scenarios = all_scenarios()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="scenarios to play (default: all)", metavar="NAME")
    parser.add_argument("--database", choices=BOTH, help="only on this kind (default: both)")
    parser.add_argument("--submissions", type=int, default=500, help="how many are sent under load")
    parser.add_argument("--kills", type=int, default=3, help="how often the server is killed under load")
    parser.add_argument("--list", action="store_true", help="list the scenarios and end")
    given = parser.parse_args()
    if unknown := [name for name in given.names if name not in scenarios]:
        parser.error(f"no scenario {unknown[0]!r}; there are {', '.join(scenarios)}")
    if given.list:
        for each in scenarios.values():
            print(f"{each.name:<26} {each.summary}")
        return 0
    failed = 0
    for each in [scenarios[name] for name in given.names or scenarios]:
        for kind in [given.database] if given.database else each.databases:
            if kind not in each.databases:
                continue
            began = time.perf_counter()
            try:
                with stage(kind, Size(given.submissions, given.kills)) as setting:
                    told = each.play(setting)
            except Exception:
                failed += 1
                traceback.print_exc()
                told = "DID NOT HOLD"
            print(f"{each.name} on {kind} ({time.perf_counter() - began:.0f} s): {told}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
