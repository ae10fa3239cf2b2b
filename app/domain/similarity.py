"""Pairs of teams whose answers are more similar than their problem explains.

Equality without significance is left out, or weighs little:

- the right answer of a problem that has only one: every solver of it has the same;
- an answer equal to the expected one, token by token: it may be forced, or easy to find;
- answers of many teams: the weight falls from 1 for two teams to about 0 for all;
- short answers: below SUBSTANTIAL bytes the weight is in proportion to the size.

The weight of a pair is the sum over its shared cases, and the list is in order of it. `ratio` is the share of shared
cases among those in which both teams sent a significant answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import combinations, product
from math import log

from app.domain.fingerprints import Fingerprint, jaccard

# From this Jaccard index on two answers are nearly equal.
NEAR = 0.6
# The most teams with a shared answer: above it their pairs, up to half a million, are not listed.
MOST_SHARING = 32
SUBSTANTIAL = 64
FIRST_HASHES = 8  # sketches of Jaccard index 0.6 share one of these in at least 99 of 100 cases


class Likeness(IntEnum):
    """Kinds of likeness, the strongest first."""

    IDENTICAL = 0
    TOKENS = 1
    LINES = 2
    NEAR = 3

    @property
    def word(self) -> str:
        """The word for people."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Sent:
    """One answer a team sent for the case at hand. `right`: it earns all points where only one answer does."""

    team_id: str
    submission_id: int
    time_ms: int
    sha256: str
    size: int
    right: bool = False

    @property
    def moment(self) -> tuple[int, int]:
        """The sort key of answers by time."""
        return self.time_ms, self.submission_id


@dataclass(frozen=True, slots=True)
class Shared:
    """Similar answers of two teams for a case; `one` was sent first. `why` is the reason for a weight of 0."""

    case: str
    likeness: Likeness
    ratio: float
    weight: float
    sharing: int
    one: Sent
    other: Sent
    why: str = ""


Prints = Mapping[str, Fingerprint]


@dataclass(frozen=True, slots=True)
class CaseAnswers:
    """All answers to one case, the known fingerprints, and the expected answer's sha256."""

    case: str
    sent: Sequence[Sent]
    prints: Prints = field(default_factory=dict)
    expected: str | None = None

    def telling(self, sent: Sent) -> bool:
        """Is equality with this answer significant?"""
        return not self.silent(sent)

    def silent(self, sent: Sent) -> str:
        """The reason why equality with this answer is insignificant, or an empty string."""
        if sent.right:
            return "the only right answer"
        if self.expected is None:
            return ""
        mine, reference = self.prints.get(sent.sha256), self.prints.get(self.expected)
        same = mine is not None and reference is not None and mine.tokens == reference.tokens
        return "the expected answer" if same or sent.sha256 == self.expected else ""

    @property
    def common(self) -> frozenset[int]:
        """The shingles of the expected answer, which every team may have found itself."""
        known = None if self.expected is None else self.prints.get(self.expected)
        return frozenset(known.sketch) if known is not None else frozenset()


def rarity(sharing: int, teams: int) -> float:
    """The weight of an answer that `sharing` of `teams` have: 1 for two of them, near 0 for all of many."""
    return log((teams + 1) / sharing) / log((teams + 1) / 2)


def alike(answers: CaseAnswers, only: frozenset[str] | None = None) -> list[Shared]:
    """List every pair of teams with similar answers for this case, once, by its strongest likeness.

    `only` two teams: their pair is included even without significance, with the reason.
    """
    teams = len({sent.team_id for sent in answers.sent})
    strongest: dict[tuple[str, str], Shared] = {}
    for likeness, sharing, ratio, group in _groups(answers, only):
        if sharing > MOST_SHARING and only is None:
            continue
        weight = rarity(sharing, teams) * ratio
        for one, other in _pairs(group, only):
            key = (min(one.team_id, other.team_id), max(one.team_id, other.team_id))
            if key in strongest:
                continue
            why = answers.silent(one) or answers.silent(other)
            if why and only is None:
                continue
            substance = min(1.0, min(one.size, other.size) / SUBSTANTIAL)
            strongest[key] = Shared(
                answers.case, likeness, ratio, 0.0 if why else weight * substance, sharing, one, other, why
            )
    return list(strongest.values())


Group = tuple[Likeness, int, float, Sequence[Sent]]


def _groups(answers: CaseAnswers, only: frozenset[str] | None) -> Iterator[Group]:
    """Groups of teams with a shared answer, each with the earliest of each team, strongest likeness first."""
    known = [sent for sent in answers.sent if sent.sha256 in answers.prints]
    yield from _equal(Likeness.IDENTICAL, answers.sent, lambda sent: sent.sha256)
    yield from _equal(Likeness.TOKENS, known, lambda sent: answers.prints[sent.sha256].tokens)
    yield from _equal(Likeness.LINES, known, lambda sent: answers.prints[sent.sha256].lines)
    yield from _near(answers, known, only)


def _equal(likeness: Likeness, sent: Iterable[Sent], key: Callable[[Sent], Hashable]) -> Iterator[Group]:
    groups: defaultdict[Hashable, dict[str, Sent]] = defaultdict(dict)
    for each in sent:
        group = groups[key(each)]
        before = group.get(each.team_id)
        if before is None or each.moment < before.moment:
            group[each.team_id] = each
    for group in groups.values():
        if len(group) > 1:
            yield likeness, len(group), 1.0, list(group.values())


def _near(answers: CaseAnswers, known: Iterable[Sent], only: frozenset[str] | None) -> Iterator[Group]:
    """Pairs of nearly equal answers, found by rare hashes; answers with equal lines are one text."""
    texts: defaultdict[bytes, dict[str, Sent]] = defaultdict(dict)
    for sent in sorted((sent for sent in known if answers.telling(sent)), key=lambda sent: sent.moment):
        texts[answers.prints[sent.sha256].lines].setdefault(sent.team_id, sent)
    prints = {text: answers.prints[next(iter(group.values())).sha256] for text, group in texts.items()}
    common = answers.common
    near = {pair: ratio for pair in _candidates(prints, common) if (ratio := _ratio(prints, pair, common)) >= NEAR}
    around: defaultdict[bytes, set[str]] = defaultdict(set)
    for one, other in near:
        around[one].update(texts[other])
        around[other].update(texts[one])
    for (one, other), ratio in sorted(near.items(), key=lambda item: (-item[1], item[0])):
        sharing = max(len(around[one] | set(texts[one])), len(around[other] | set(texts[other])))
        if sharing > MOST_SHARING and only is None:
            continue  # a text of hundreds of teams would make as many groups
        for mine, theirs in product(texts[one].values(), texts[other].values()):
            if mine.team_id != theirs.team_id:
                yield Likeness.NEAR, sharing, ratio, (mine, theirs)


def _ratio(prints: Mapping[bytes, Fingerprint], pair: tuple[bytes, bytes], common: frozenset[int]) -> float:
    return jaccard(prints[pair[0]], prints[pair[1]], common)


def _candidates(prints: Mapping[bytes, Fingerprint], common: frozenset[int]) -> set[tuple[bytes, bytes]]:
    """Pairs of texts with one of their smallest hashes in common, except hashes of the expected answer."""
    having: defaultdict[int, list[bytes]] = defaultdict(list)
    for text, known in prints.items():
        own = [each for each in known.sketch[: FIRST_HASHES + len(common)] if each not in common]
        for each in own[:FIRST_HASHES]:
            having[each].append(text)
    few = (texts for texts in having.values() if 1 < len(texts) <= MOST_SHARING)
    return {(min(pair), max(pair)) for texts in few for pair in combinations(texts, 2)}


def _pairs(group: Sequence[Sent], only: frozenset[str] | None) -> Iterator[tuple[Sent, Sent]]:
    """The pairs of a group, the earlier answer first."""
    if only is not None:
        group = [sent for sent in group if sent.team_id in only]
    for pair in combinations(group, 2):
        one, other = sorted(pair, key=lambda sent: sent.moment)
        yield one, other


@dataclass(slots=True)
class Pair:
    """Two teams at one problem: how many cases they share, of how many that could tell, and what that weighs."""

    teams: tuple[str, str]
    problem_id: str
    shared: int = 0
    weight: float = 0.0
    likeness: Likeness = Likeness.NEAR
    first: Shared | None = None
    telling: int = 0

    @property
    def ratio(self) -> float:
        """The share of the cases that could tell."""
        return self.shared / self.telling if self.telling else 0.0

    def add(self, case: Shared) -> None:
        """Count one more case."""
        self.shared += 1
        self.weight += case.weight
        self.likeness = min(self.likeness, case.likeness)
        if self.first is None or case.other.moment < self.first.other.moment:
            self.first = case


class Pairs:
    """Collects the pairs of one problem, case by case; memory grows with the number of pairs only."""

    def __init__(self, problem_id: str) -> None:
        self._problem_id = problem_id
        self._pairs: dict[tuple[str, str], Pair] = {}
        self._telling: defaultdict[str, int] = defaultdict(int)
        self._cases = 0

    def add(self, answers: CaseAnswers) -> None:
        """Compare all answers to the next case."""
        bit = 1 << self._cases
        self._cases += 1
        for sent in answers.sent:
            if answers.telling(sent):
                self._telling[sent.team_id] |= bit
        for shared in alike(answers):
            first, second = sorted((shared.one.team_id, shared.other.team_id))
            pair = self._pairs.get((first, second))
            if pair is None:
                pair = self._pairs[first, second] = Pair((first, second), self._problem_id)
            pair.add(shared)

    def close(self) -> list[Pair]:
        """All pairs, with their numbers of significant cases."""
        for (first, second), pair in self._pairs.items():
            pair.telling = (self._telling[first] & self._telling[second]).bit_count()
        return list(self._pairs.values())


def in_order(pairs: Iterable[Pair]) -> list[Pair]:
    """Sort the pairs by weight, the largest first."""
    return sorted(pairs, key=lambda pair: (-pair.weight, -pair.ratio, pair.problem_id, pair.teams))
