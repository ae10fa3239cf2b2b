"""Figures with their goals, printed in columns."""

from __future__ import annotations


def report(name: str, value: float, unit: str = "", *, least: float | None = None, most: float | None = None) -> bool:
    """Print a figure with its goal; returns whether it misses the goal."""
    is_missed = (least is not None and value < least) or (most is not None and value > most)
    goal = f"at least {least:g}" if least is not None else "" if most is None else f"at most {most:g}"
    print(f"{name:<64}{value:>11,.2f} {unit:<5} {goal:<14}{'MISSED' if is_missed else ''}".rstrip(), flush=True)
    return is_missed
