"""The words of an attack: what it is, what it cost, and the list of all there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from ops.attacks.stage import Stage


@dataclass(frozen=True)
class Cost:
    """What an attack cost: a number in the attack's unit, and the promises that did not hold (none: all held)."""

    value: float
    faults: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Attack:
    """One attack. `what` says what its cost measures, in `unit`; `settings` are JURADO_ variables of its server."""

    name: str
    what: str
    unit: str
    run: Callable[[Stage], Cost]
    in_suite: bool = False
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """The first line of the attack's docstring."""
        return (self.run.__doc__ or "").partition("\n")[0]


ATTACKS: dict[str, Attack] = {}


def attack(
    what: str, unit: str = "s", *, in_suite: bool = False, **settings: str
) -> Callable[[Callable[[Stage], Cost]], Callable[[Stage], Cost]]:
    """Register a function as an attack of the function's name; `in_suite` ones are short and run in `make test`."""

    def register(run: Callable[[Stage], Cost]) -> Callable[[Stage], Cost]:
        name = run.__name__.replace("_", "-")
        ATTACKS[name] = Attack(name, what, unit, run, in_suite, settings)
        return run

    return register


def all_attacks() -> dict[str, Attack]:
    """Every attack of this folder, by name, in the order of the files."""
    for path in sorted(Path(__file__).parent.glob("on_*.py")):
        import_module(f"ops.attacks.{path.stem}")
    return ATTACKS
