"""The format's globs, matched in time that grows with glob and path only: a set of states walks along the path."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

ANY = ""
"""Stands for every character but `/`."""


@dataclass(slots=True)
class _States:
    """The states of a walk: from each one character leads to another, and free steps lead to others."""

    moves: list[tuple[str, int] | None] = field(default_factory=list)
    free: list[list[int]] = field(default_factory=list)

    def add(self) -> int:
        self.moves.append(None)
        self.free.append([])
        return len(self.moves) - 1

    def reachable(self, states: set[int]) -> set[int]:
        """Follow the free steps."""
        reached, waiting = set(states), list(states)
        while waiting:
            for each in self.free[waiting.pop()]:
                if each not in reached:
                    reached.add(each)
                    waiting.append(each)
        return reached

    def step(self, states: set[int], letter: str) -> set[int]:
        moves = (self.moves[each] for each in states)
        return self.reachable(
            {
                move[1]
                for move in moves
                if move is not None and (move[0] == letter or (move[0] == ANY and letter != "/"))
            }
        )


def matches(glob: str, path: str) -> bool:
    """Tell whether the format's glob (`*` within a name, `{a,b}`) matches the path or one of the folders it lies in."""
    states, last = _compiled(glob)
    at = states.reachable({0})
    for letter in path:
        if letter == "/" and last in at:
            return True
        at = states.step(at, letter)
        if not at:
            return False
    return last in at


@lru_cache(maxsize=512)
def _compiled(glob: str) -> tuple[_States, int]:
    """The states of a glob, and the one that its end leads to. The first one is 0."""
    states = _States()
    at = states.add()
    alternatives: list[tuple[int, int]] = []
    has_braces = _is_balanced(glob)
    for letter in glob:
        if letter == "{" and has_braces:
            alternatives.append((at, states.add()))
            at = _branch(states, at)
        elif letter == "," and alternatives:
            begin, end = alternatives[-1]
            states.free[at].append(end)
            at = _branch(states, begin)
        elif letter == "}" and alternatives:
            _, end = alternatives.pop()
            states.free[at].append(end)
            at = end
        elif letter == "*" and has_braces:
            loop = _branch(states, at)
            states.moves[loop] = (ANY, loop)
            at = _branch(states, loop)
        else:
            after = states.add()
            states.moves[at] = (ANY if letter == "?" and has_braces else letter, after)
            at = after
    return states, at


def _branch(states: _States, begin: int) -> int:
    new = states.add()
    states.free[begin].append(new)
    return new


def _is_balanced(glob: str) -> bool:
    """Tell whether every brace has its other one; else all characters of the glob stand for themselves."""
    depth = 0
    for letter in glob:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if depth < 0:
            return False
    return depth == 0
