"""Pairs of teams whose answers are more similar than their problem explains.

Answers with equal bytes are identical. Others are near if their texts have most of their shingles in common: runs of
RUN characters of the text in lower case with single spaces. The sketch of a text is the SKETCH smallest hashes of its
shingles, and the share of common hashes among the smallest of two sketches estimates their Jaccard index.

Equality without significance is left out, or weighs little:

- the right answer of a problem that has only one: every solver of it has the same;
- the expected answer: it may be forced, or easy to find;
- answers of many teams: the weight falls from 1 for two teams to about 0 for all;
- short answers: below SUBSTANTIAL bytes the weight is in proportion to the size.

The weight of a pair is the sum over its shared cases, and the list is in order of it. `ratio` is the share of shared
cases among those in which both teams sent a significant answer.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from math import log
from typing import Literal
from zlib import crc32

RUN = 24
SKETCH = 64
# Texts with fewer shingles are equal or not: the nearness of so little means nothing.
FEWEST_SHINGLES = 16
# Longer texts are compared by their beginning.
MOST_BYTES = 1 << 18
# From this Jaccard index on two answers are nearly equal.
NEAR = 0.6
# The most teams with a shared answer: above it their pairs, up to half a million, are not listed.
MOST_SHARING = 32
SUBSTANTIAL = 64

WORD = re.compile(rb"[A-Za-z_]\w*|\d[\w.]*|[^\s\w]")
KEYWORDS = frozenset(
    b"""
    and assert async auto await bool break byte case catch char class const continue def default del delete do double
    elif else enum except extern final finally float fn for from func function global if impl import in include int
    interface is lambda let long loop match module mut namespace new none not null or package pass print private
    public pub raise range return self short signed sizeof static string struct super switch template this throw
    true false try type typedef typename union unsigned use using var vector virtual void volatile where while with
    yield
    """.split()
)

Kind = Literal["identical", "near"]
Sketch = frozenset[int]


def sketch(data: bytes) -> Sketch:
    """Return the smallest hashes of an answer's shingles."""
    text = b" ".join(data[:MOST_BYTES].lower().split())
    hashes = {crc32(text[start : start + RUN]) for start in range(max(0, len(text) - RUN + 1))}
    return frozenset(sorted(hashes)[:SKETCH])


def source_sketch(data: bytes) -> Sketch:
    """Return the sketch of a program's source, in which all names are equal and all numbers are equal."""
    return sketch(b" ".join(_shape(word) for word in WORD.findall(data[:MOST_BYTES])))


def _shape(word: bytes) -> bytes:
    if word[:1].isdigit():
        return b"0"
    if not (word[:1].isalpha() or word.startswith(b"_")):
        return word
    return word.lower() if word.lower() in KEYWORDS else b"x"


def jaccard(one: Sketch, other: Sketch, common: Sketch = frozenset()) -> float:
    """Estimate the share of shingles that two texts have in common; shingles in `common` do not count."""
    mine, theirs = one - common, other - common
    if min(len(mine), len(theirs)) < FEWEST_SHINGLES:
        return 0.0
    smallest = sorted(mine | theirs)[:SKETCH]
    return sum(1 for each in smallest if each in mine and each in theirs) / len(smallest)


@dataclass(frozen=True, slots=True)
class Sent:
    """An answer that a team sent for a case. `right`: it earns all points where only one answer does."""

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
    """Similar answers of two teams for a case; `one` was sent first."""

    case: str
    kind: Kind
    ratio: float
    weight: float
    one: Sent
    other: Sent


@dataclass(frozen=True, slots=True)
class CaseAnswers:
    """All answers to one case, the sketches of the texts that were read, and the expected answer's sha256."""

    case: str
    sent: Sequence[Sent]
    sketches: Mapping[str, Sketch] = field(default_factory=dict)
    expected: str | None = None

    def is_silent(self, sent: Sent) -> bool:
        """Whether equality with this answer is insignificant: it is the only right one, or the expected one."""
        mine, known = self.sketches.get(sent.sha256), self.sketches.get(self.expected or "")
        return sent.right or sent.sha256 == self.expected or (bool(known) and mine == known)


def rarity(sharing: int, teams: int) -> float:
    """The weight of an answer that `sharing` of `teams` have: 1 for two of them, near 0 for all of many."""
    return log((teams + 1) / sharing) / log((teams + 1) / 2)


def alike(answers: CaseAnswers) -> list[Shared]:
    """List every pair of teams with significantly similar answers for this case, once, by its strongest likeness."""
    teams = len({sent.team_id for sent in answers.sent})
    texts: defaultdict[str, dict[str, Sent]] = defaultdict(dict)  # the earliest answer of each team with this text
    for sent in sorted(answers.sent, key=lambda sent: sent.moment):
        texts[sent.sha256].setdefault(sent.team_id, sent)
    ratios = _near(answers, texts)
    around = {text: set(senders) for text, senders in texts.items()}
    for one, other in ratios:
        around[one].update(texts[other])
        around[other].update(texts[one])
    equal = {(text, text): 1.0 for text in texts}
    strongest: dict[frozenset[str], Shared] = {}
    for (one, other), ratio in [*equal.items(), *sorted(ratios.items(), key=lambda item: (-item[1], item[0]))]:
        sharing = len(texts[one]) if one == other else max(len(around[one]), len(around[other]))
        if sharing > MOST_SHARING:
            continue
        for pair in product(texts[one].values(), texts[other].values()):
            mine, theirs = sorted(pair, key=lambda sent: sent.moment)
            key = frozenset((mine.team_id, theirs.team_id))
            if len(key) == 1 or key in strongest or answers.is_silent(mine) or answers.is_silent(theirs):
                continue
            substance = min(1.0, min(mine.size, theirs.size) / SUBSTANTIAL)
            kind: Kind = "identical" if one == other else "near"
            weight = rarity(sharing, teams) * ratio * substance
            strongest[key] = Shared(answers.case, kind, ratio, weight, mine, theirs)
    return list(strongest.values())


def _near(answers: CaseAnswers, texts: Mapping[str, Mapping[str, Sent]]) -> dict[tuple[str, str], float]:
    """Return the ratios of significant texts that are nearly equal; candidates have a rare hash in common."""
    telling = [text for text, senders in texts.items() if not any(map(answers.is_silent, senders.values()))]
    common = answers.sketches.get(answers.expected or "", frozenset())
    sketches = {text: answers.sketches[text] for text in telling if text in answers.sketches}
    having: defaultdict[int, list[str]] = defaultdict(list)
    for text, hashes in sketches.items():
        for each in hashes - common:
            having[each].append(text)
    few = (holders for holders in having.values() if 1 < len(holders) <= MOST_SHARING)
    candidates = {(min(pair), max(pair)) for holders in few for pair in combinations(holders, 2)}
    ratios = {pair: jaccard(sketches[pair[0]], sketches[pair[1]], common) for pair in candidates}
    return {pair: ratio for pair, ratio in ratios.items() if ratio >= NEAR}


@dataclass(slots=True)
class Pair:
    """Two teams at one problem: the cases they share, of how many significant ones, and the sum of the weights."""

    teams: tuple[str, str]
    problem_id: str
    cases: list[Shared] = field(default_factory=list)
    telling: int = 0

    @property
    def ratio(self) -> float:
        """The share of the significant cases."""
        return len(self.cases) / self.telling if self.telling else 0.0

    @property
    def weight(self) -> float:
        """The sum of the weights of the cases."""
        return sum(case.weight for case in self.cases)

    @property
    def kind(self) -> Kind:
        """The strongest likeness."""
        return "identical" if any(case.kind == "identical" for case in self.cases) else "near"

    @property
    def first(self) -> Shared:
        """The case that was shared first."""
        return min(self.cases, key=lambda case: case.other.moment)


def pairs(problem_id: str, cases: Iterable[CaseAnswers]) -> list[Pair]:
    """Compare all answers to a problem, case by case; the pair of the largest weight comes first."""
    shared_by: dict[tuple[str, str], Pair] = {}
    telling: defaultdict[str, set[str]] = defaultdict(set)
    for answers in cases:
        for sent in answers.sent:
            if not answers.is_silent(sent):
                telling[sent.team_id].add(answers.case)
        for shared in alike(answers):
            first, second = sorted((shared.one.team_id, shared.other.team_id))
            shared_by.setdefault((first, second), Pair((first, second), problem_id)).cases.append(shared)
    for (first, second), pair in shared_by.items():
        pair.telling = len(telling[first] & telling[second])
    return sorted(shared_by.values(), key=lambda pair: (-pair.weight, -pair.ratio, pair.problem_id, pair.teams))
