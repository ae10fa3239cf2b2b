"""What a search adds to its process's memory is told on every kind of /proc."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from solvers.parts import memory


def test_what_is_taken_and_given_back_counts() -> None:
    watch = memory.PeakMemory()
    taken = np.ones(64 * 2**20, np.uint8)
    del taken
    assert 60 <= watch.grown() < 1000


@pytest.mark.parametrize(
    "status",
    [None, b"Name:\tpython\n", b"Name:\tp\xc3\xbfthon\nVmRSS:\t  1000 kB\n"],
    ids=["no /proc", "no line of memory", "no line of the peak, and an odd name"],
)
def test_where_the_kernel_tells_less_the_process_peak_stands_for_it(status: bytes | None, tmp_path: Path) -> None:
    (tmp_path / "clear_refs").mkdir()
    if status is not None:
        (tmp_path / "status").write_bytes(status)
    assert memory.PeakMemory(tmp_path).grown() >= 0
