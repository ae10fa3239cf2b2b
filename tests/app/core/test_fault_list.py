"""Lists of faults: the first hundred in their order, and the number of all."""

from __future__ import annotations

from app.core.faults import MOST_KEPT, FaultList


def numbered(first: int, last: int) -> FaultList:
    faults = FaultList()
    for number in range(first, last):
        faults.add("accounts.yaml", str(number), "expected", "found")
    return faults


def test_the_first_faults_are_kept_and_the_others_counted() -> None:
    faults = numbered(0, MOST_KEPT + 7)
    assert [each["where"] for each in faults.first] == [str(number) for number in range(MOST_KEPT)]
    assert (faults.count, bool(faults)) == (MOST_KEPT + 7, True)


def test_a_list_without_faults_is_false() -> None:
    assert not FaultList()
