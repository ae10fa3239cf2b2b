"""The expressions by which CMS names the cases of a group, matched in time linear in the expression and the name.

They come with packages, and Python's own expressions take time exponential in what a few brackets can say. Known are
letters, digits, `_`, `-`, `.`, `\\d`, sets such as `[0-9]`, brackets, `|`, `^`, `$`, and `*` behind a `.`.
"""

from __future__ import annotations

from dataclasses import dataclass

LONGEST = 2000
DEEPEST = 50
PLAIN = frozenset("0123456789_-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
DIGITS = frozenset("0123456789")
Ends = frozenset[int]


class NotUnderstood(ValueError):
    """The expression has something else in it; the text says what is expected instead."""


@dataclass
class _Reading:
    """One walk along an expression beside one name: `ends` are the places of the name reached so far."""

    text: str
    name: str
    at: int = 0
    depth: int = 0

    def alternatives(self, starts: Ends) -> Ends:
        """Read up to a closing bracket or the end; returns where the name may have been matched to."""
        ends = self.items(starts)
        while self.peek() == "|":
            self.at += 1
            ends |= self.items(starts)
        return ends

    def items(self, starts: Ends) -> Ends:
        """Read one alternative."""
        ends = starts
        while self.peek() not in {"", "|", ")"}:
            ends = self.item(ends)
        return ends

    def item(self, starts: Ends) -> Ends:
        """Read one character, set, bracket or anchor."""
        letter = self.take()
        if letter == "(":
            return self.bracket(starts)
        if letter == "^":
            return starts & {0}
        if letter == "$":
            return starts & {len(self.name)}
        if letter == "." and self.peek() == "*":
            self.at += 1
            return frozenset(range(min(starts), len(self.name) + 1)) if starts else starts
        if letter == ".":
            return frozenset(each + 1 for each in starts if each < len(self.name))
        members, negated = self.members(letter)
        return frozenset(
            each + 1 for each in starts if each < len(self.name) and (self.name[each] in members) is not negated
        )

    def bracket(self, starts: Ends) -> Ends:
        """Read what stands in brackets."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise NotUnderstood(f"brackets at most {DEEPEST} deep")
        ends = self.alternatives(starts)
        if self.take() != ")":
            raise NotUnderstood("`)`")
        self.depth -= 1
        return ends

    def members(self, letter: str) -> tuple[frozenset[str], bool]:
        """The characters that a letter, `\\d` or a set stands for; True: all others."""
        if letter == "\\" and self.peek() in {"d", "."}:
            return (DIGITS if self.take() == "d" else frozenset(".")), False
        if letter in PLAIN:
            return frozenset(letter), False
        if letter != "[":
            raise NotUnderstood("letters, digits, `.`, `.*`, `[0-9]`, `|`, `^`, `$` and brackets")
        negated = self.peek() == "^"
        self.at += negated
        letters: set[str] = set()
        while (each := self.take()) != "]":
            if each not in PLAIN:
                raise NotUnderstood("letters and digits in `[...]`")
            last = each
            if self.peek() == "-" and self.text[self.at + 1 : self.at + 2] in PLAIN:
                self.at += 1
                last = self.take()
            letters.update(map(chr, range(ord(each), ord(last) + 1)))
        return frozenset(letters), negated

    def peek(self) -> str:
        """The next character; empty at the end."""
        return self.text[self.at : self.at + 1]

    def take(self) -> str:
        """Read the next character; raises NotUnderstood at the end."""
        if not (letter := self.peek()):
            raise NotUnderstood("more")
        self.at += 1
        return letter


def begins_with(expression: str, name: str) -> bool:
    """Tell whether an expression matches the beginning of a name, as `re.match` does; raises NotUnderstood."""
    if len(expression) > LONGEST:
        raise NotUnderstood(f"at most {LONGEST} characters")
    reading = _Reading(expression, name)
    ends = reading.alternatives(frozenset({0}))
    if reading.at < len(expression):
        raise NotUnderstood("no `)` without its `(`")
    return bool(ends)
