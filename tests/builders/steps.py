"""A backtracking matcher that counts its steps: how long a pattern takes, without a clock.

It walks the tree that Python's own compiler makes of a pattern, tries the alternatives in the same order as `re`, and
counts the characters it looks at. What `re` shortens with tricks of its own is counted in full, so that a pattern that
is linear here is linear there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

Nodes = list[tuple[Any, Any]]
CATEGORIES = {
    codes.CATEGORY_DIGIT: r"\d",
    codes.CATEGORY_NOT_DIGIT: r"\D",
    codes.CATEGORY_SPACE: r"\s",
    codes.CATEGORY_NOT_SPACE: r"\S",
    codes.CATEGORY_WORD: r"\w",
    codes.CATEGORY_NOT_WORD: r"\W",
}
ORDINARY = "0a .\n"
FEW = 8
"""Beginnings and characters that are tried in each place."""


class TooManySteps(Exception):
    """The pattern is over the number of steps that it was given."""


@cache
def tree(pattern: re.Pattern[Any]) -> Nodes:
    """The nodes of a pattern, as Python's compiler sees them; parsed once."""
    return _plain(parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG))


def _plain(value: Any) -> Any:
    """The same nodes with a list in place of each of the parser's own sequences, which are slow to index."""
    if isinstance(value, parser.SubPattern | list):
        return [_plain(each) for each in value]
    return tuple(_plain(each) for each in value) if isinstance(value, tuple) else value


@cache
def members(pattern: re.Pattern[Any]) -> dict[tuple[int, str], bool]:
    """Whether a node (by its identity in the pattern's tree) matches a letter, as far as that was asked before."""
    return {}


class Counter:
    """Counts the steps that a pattern takes on a text."""

    def __init__(self, pattern: re.Pattern[Any]) -> None:
        self._nodes = tree(pattern)
        self._members = members(pattern)
        self._flags = int(pattern.flags)
        self._has_lines = bool(pattern.flags & re.MULTILINE)
        self._text = ""
        self._groups: dict[int, tuple[int, int]] = {}
        self._most = 0
        self.steps = 0

    def match(self, text: str, most: int, *, at: int = 0, whole: bool = False) -> int | None:
        """The end of the match that begins at `at`; `whole`: it must end where the text does. Adds to `steps`."""
        self._text, self._groups, self._most = text, {}, most
        return next((end for end in self._run(self._nodes, at) if not whole or end == len(text)), None)

    def search_all(self, text: str, most: int) -> None:
        """Look for every match, as `sub` and `findall` do."""
        at = 0
        while at <= len(text):
            end = self.match(text, most, at=at)
            at = end if end is not None and end > at else at + 1

    def _run(self, nodes: Nodes, at: int, first: int = 0) -> Iterator[int]:
        if first == len(nodes):
            yield at
            return
        for end in self._node(nodes[first], at):
            yield from self._run(nodes, end, first + 1)

    def _letter(self, node: tuple[Any, Any], at: int) -> bool:
        """Whether a node of one character matches the one at `at`: a step."""
        self._step()
        if at >= len(self._text):
            return False
        key = id(node), self._text[at]
        if key not in self._members:
            self._members[key] = is_in(node, self._text[at], self._flags)
        return self._members[key]

    def _node(self, node: tuple[Any, Any], at: int) -> Iterator[int]:
        code, value = node
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT):
            yield from self._repeat(*value, at=at, greedy=code is codes.MAX_REPEAT)
        elif code is codes.POSSESSIVE_REPEAT:
            yield from self._first(self._repeat(*value, at=at, greedy=True))
        elif code is codes.ATOMIC_GROUP:
            yield from self._first(self._run(value, at))
        elif code is codes.SUBPATTERN:
            yield from self._group(value[0], value[3], at)
        elif code is codes.BRANCH:
            for branch in value[1]:
                yield from self._run(branch, at)
        elif code is codes.AT:
            yield from self._position(value, at)
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            direction, body = value
            begin = at if direction > 0 else at - 1  # those that look back are of one character here
            holds = begin >= 0 and next(self._run(body, begin), None) is not None
            if holds is (code is codes.ASSERT):
                yield at
        elif code is codes.GROUPREF:
            begin, end = self._groups.get(value, (0, -1))
            same = self._text[begin:end]
            self._step(max(1, len(same)))
            if end >= 0 and self._text.startswith(same, at):
                yield at + len(same)
        elif self._letter(node, at):
            yield at + 1

    def _repeat(self, least: int, most: Any, body: Any, *, at: int, greedy: bool, done: int = 0) -> Iterator[int]:
        if len(body) == 1 and not contains_more(body[0]):
            yield from self._run_of(body[0], least, most, at, greedy=greedy)
            return
        if not greedy and done >= least:
            yield at
        if done < most:
            for end in self._run(body, at):
                if end > at or done < least:
                    yield from self._repeat(least, most, body, at=end, greedy=greedy, done=done + 1)
        if greedy and done >= least:
            yield at

    def _run_of(self, node: tuple[Any, Any], least: int, most: Any, at: int, *, greedy: bool) -> Iterator[int]:
        """A run of single characters, without recursion."""
        end = at
        while end - at < least or (greedy and end - at < most):
            if not self._letter(node, end):
                break
            end += 1
        if end - at < least:
            return
        if greedy:
            for each in range(end, at + least - 1, -1):
                self._step()
                yield each
            return
        yield end
        while end - at < most and self._letter(node, end):
            end += 1
            yield end

    def _group(self, number: int | None, nodes: Nodes, at: int) -> Iterator[int]:
        before = self._groups.get(number) if number is not None else None
        for end in self._run(nodes, at):
            if number is not None:
                self._groups[number] = (at, end)
            yield end
        if number is not None and before is not None:
            self._groups[number] = before

    def _position(self, value: Any, at: int) -> Iterator[int]:
        text = self._text
        self._step()
        if value in (codes.AT_BEGINNING, codes.AT_BEGINNING_STRING):
            holds = at == 0 or (value is codes.AT_BEGINNING and self._has_lines and text[at - 1] == "\n")
        elif value is codes.AT_END:
            holds = at == len(text) or text[at:] == "\n" or (self._has_lines and text[at] == "\n")
        elif value is codes.AT_END_STRING:
            holds = at == len(text)
        else:
            words = [0 <= each < len(text) and bool(re.match(r"\w", text[each])) for each in (at - 1, at)]
            holds = (words[0] != words[1]) is {codes.AT_BOUNDARY: True, codes.AT_NON_BOUNDARY: False}[value]
        if holds:
            yield at

    def _first(self, ends: Iterator[int]) -> Iterator[int]:
        end = next(ends, None)
        if end is not None:
            yield end

    def _step(self, count: int = 1) -> None:
        self.steps += count
        if self.steps > self._most:
            raise TooManySteps


def contains_more(node: tuple[Any, Any]) -> bool:
    """Does a node match anything but one character?"""
    return node[0] not in (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN)


def is_in(node: tuple[Any, Any], letter: str, flags: int = 0) -> bool:
    """Does a node of one character match this one?"""
    code, value = node
    if code is codes.ANY:
        return letter != "\n" or bool(flags & re.DOTALL)
    same = {letter.lower(), letter.upper(), letter} if flags & re.IGNORECASE else {letter}
    if code is codes.LITERAL:
        return chr(value) in same
    if code is codes.NOT_LITERAL:
        return chr(value) not in same
    negated = bool(value) and value[0][0] is codes.NEGATE
    return any(_is_member(each, one) for each in value for one in same) is not negated


def _is_member(item: tuple[Any, Any], letter: str) -> bool:
    code, value = item
    if code is codes.LITERAL:
        return chr(value) == letter
    if code is codes.RANGE:
        return bool(value[0] <= ord(letter) <= value[1])
    return code is codes.CATEGORY and re.match(CATEGORIES[value], letter) is not None


def hostile_texts(pattern: re.Pattern[Any], length: int) -> Iterator[str]:
    """Texts of about `length` characters on which a pattern would be slow if it were: parts of it again and again."""
    nodes = tree(pattern)
    alphabet = sorted({*_letters(nodes), *ORDINARY})
    examples, pumps = _examples(nodes, alphabet, pattern.flags)
    pumps |= set(alphabet[:FEW])
    begins = sorted(examples, key=len)
    begins = begins if len(begins) <= FEW else begins[:: len(begins) // FEW]
    for pump in sorted(pumps - {""}):
        for before, after in product(begins, ("", "\x01")):
            yield before + pump * (length // len(pump)) + after


def _letters(nodes: Nodes) -> Iterator[str]:
    for code, value in nodes:
        if code in (codes.LITERAL, codes.NOT_LITERAL):
            yield chr(value)
        elif code is codes.IN:
            yield from (chr(each) for item, each in value if item is codes.LITERAL)
            yield from (chr(each[0]) for item, each in value if item is codes.RANGE)
        for body in _bodies(code, value):
            yield from _letters(body)


def _bodies(code: Any, value: Any) -> list[Nodes]:
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        return [value[2]]
    if code is codes.SUBPATTERN:
        return [value[3]]
    if code is codes.BRANCH:
        return list(value[1])
    if code is codes.ATOMIC_GROUP:
        return [value]
    return [value[1]] if code in (codes.ASSERT, codes.ASSERT_NOT) else []


def _examples(nodes: Nodes, alphabet: list[str], flags: int) -> tuple[set[str], set[str]]:
    """Beginnings of what matches, and what its repeats repeat."""
    begins, pumps = {""}, set()
    so_far = ""
    for code, value in nodes:
        part = ""
        if code in (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN):
            part = next((each for each in alphabet if is_in((code, value), each, flags)), "")
        for body in _bodies(code, value):
            if code in (codes.ASSERT, codes.ASSERT_NOT):
                continue
            inner, more = _examples(body, alphabet, flags)
            longest = max(inner, key=len)
            part = part or longest
            begins |= {so_far + each for each in inner}
            pumps |= more | {longest}
        so_far += part
        begins.add(so_far)
        pumps.add(so_far)
    return begins, pumps
