"""The board that is kept up to date equals the one made from scratch, to the last bit, whatever happens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from app.domain.board import Board
from app.domain.contests import (
    OPEN,
    Aggregation,
    Carry,
    Case,
    CaseKind,
    Counting,
    Freeze,
    Group,
    Kind,
    ScoredProblem,
    ScoringRule,
    Team,
)
from app.domain.counting import Attempt, RawScore, by_place
from app.domain.incremental_scoreboard import LiveBoard
from tests.builders.examples import examples
from tests.builders.scoring import (
    CASES,
    JUDGE_ERROR,
    TEAMS,
    attempt,
    attempts,
    awkward_scores,
    problem,
    problems,
    raw,
    references,
    rules,
    scores,
)
from tests.builders.slow_board import SlowBoard, scoreboard

any_score = st.one_of(scores, awkward_scores, awkward_scores, st.just(JUDGE_ERROR))
files = st.dictionaries(st.sampled_from((*CASES, "0", "gone")), any_score, max_size=4)
PHASES = [
    frozenset({CaseKind.PROVISIONAL}),
    frozenset({CaseKind.FINAL}),
    frozenset({CaseKind.PROVISIONAL, CaseKind.FINAL}),
]
KEYS = [(team.id, problem) for team in TEAMS for problem in ("p", "q")]


@st.composite
def wholes(draw: st.DrawFn, slug: str = "p") -> ScoredProblem:
    """A problem with a sample and two groups of any kind, the second perhaps only after the first has passed."""
    rule = replace(draw(rules), max_points=draw(st.sampled_from([Fraction(90), Fraction(100, 3), Fraction(1, 7)])))
    first = Group("a", CaseKind.PROVISIONAL, Fraction(40), draw(st.sampled_from(Aggregation)))
    needs = draw(st.sampled_from([(), ("a",), ("sample",), ("a", "sample"), ("nothing",)]))
    kind = draw(st.sampled_from([CaseKind.PROVISIONAL, CaseKind.FINAL]))
    second = Group("b", kind, Fraction(50), draw(st.sampled_from(Aggregation)), needs)
    empty = Group("c", CaseKind.PROVISIONAL, Fraction(draw(st.sampled_from([0, 10]))), Aggregation.PASS_FAIL)
    groups = (Group("sample", CaseKind.SAMPLE, Fraction(0)), first, second, empty)
    halves = [Fraction(40) if first.aggregation is not Aggregation.SUM else Fraction(40, 2)] * 2
    cases = (Case("0", "sample", Fraction(0)), *(Case(n, "a", p) for n, p in zip("12", halves, strict=True)))
    return ScoredProblem(slug, rule, groups, (*cases, Case("3", "b", Fraction(50))))


def assert_same(live: Board, slow: SlowBoard) -> None:
    """Every number of both, and how each of them comes about."""
    assert dict(live.bests) == dict(slow.bests)
    for at, (one, other) in enumerate(zip(live.rows, slow.rows, strict=True)):
        assert (one.rank, one.team, one.points, one.time) == (other.rank, other.team, other.points, other.time)
        for of, (mine, theirs) in enumerate(zip(one.cells, other.cells, strict=True)):
            assert (mine.score, mine.improved) == (theirs.score, theirs.improved)
            assert (mine.answers, mine.num_judged) == (theirs.answers, theirs.num_judged)
            assert (mine.problem_id, mine.num_pending) == (theirs.problem_id, theirs.num_pending)
            assert mine.points == theirs.points
            assert live.unrounded[of, live.order[at]] == theirs.points.unrounded
    assert_ranked_exactly(slow)


def assert_ranked_exactly(board: SlowBoard) -> None:
    """Ranks are those of exact points and times, and rows with equal points show the same number."""
    keys = [(-row.exact, timedelta.max if row.time is None else row.time) for row in board.rows]
    assert [row.rank for row in board.rows] == [1 + sum(other < key for other in keys) for key in keys]
    shown_points = {row.exact: row.points for row in board.rows}
    assert all(row.points == shown_points[row.exact] for row in board.rows)


class Contest(RuleBasedStateMachine):
    """Everything that may happen to a board, in any order."""

    @initialize(
        one=wholes(),
        other=wholes("q"),
        phase=st.sampled_from(PHASES),
        reference=references,
    )
    def begin(
        self,
        one: ScoredProblem,
        other: ScoredProblem,
        phase: frozenset[CaseKind],
        reference: Mapping[str, RawScore],
    ) -> None:
        self.problems = [one, other]
        self.phase = phase
        self.references = {"p": reference, "q": {**reference, "0": raw(Fraction(1, 3))}}
        self.teams: Sequence[Team] = TEAMS
        self.now_hidden, self.chosen = OPEN, dict[tuple[str, str], int]()
        self.tries: dict[int, Attempt] = {}
        self.live = LiveBoard(self.problems, phase, self.references)
        self.changed = set[tuple[str, str]]()

    def put(self, *tries: Attempt) -> None:
        self.tries.update({each.id: each for each in tries})
        self.changed.update(each.place for each in tries)

    @rule(where=st.sampled_from(KEYS), minute=st.integers(0, 6), judged=st.one_of(st.none(), files, files))
    def submit(self, where: tuple[str, str], minute: int, judged: Mapping[str, RawScore] | None) -> None:
        id_ = len(self.tries) + 1
        self.put(Attempt(id_, *where, timedelta(minutes=minute), judged))

    @precondition(lambda self: self.tries)
    @rule(data=st.data(), judged=st.one_of(st.none(), files))
    def judge_again_or_take_a_verdict_back(self, data: st.DataObject, judged: Mapping[str, RawScore] | None) -> None:
        at = data.draw(st.sampled_from(sorted(self.tries)))
        self.put(replace(self.tries[at], scores=judged))

    @rule(where=st.sampled_from(KEYS), case=st.sampled_from(CASES), best=st.integers(12, 99))
    def find_a_new_best(self, where: tuple[str, str], case: str, best: int) -> None:
        id_ = len(self.tries) + 1
        self.put(Attempt(id_, *where, timedelta(minutes=7), {case: raw(best, 1)}))

    @rule(minute=st.integers(0, 8), revealed=st.sets(st.sampled_from(KEYS)))
    def freeze(self, minute: int, revealed: set[tuple[str, str]]) -> None:
        self.now_hidden = Freeze(timedelta(minutes=minute), frozenset(revealed))

    @rule()
    def thaw(self) -> None:
        self.now_hidden = OPEN

    @rule(at=st.integers(0, len(TEAMS) - 1), hidden=st.booleans(), disqualified=st.booleans())
    def hide_or_disqualify(self, at: int, hidden: bool, disqualified: bool) -> None:
        at %= len(self.teams)
        changed = replace(self.teams[at], hidden=hidden, disqualified=disqualified)
        self.teams = [*self.teams[:at], changed, *self.teams[at + 1 :]]

    @rule(order=st.randoms(), some=st.integers(1, len(TEAMS)))
    def have_fewer_teams_or_others(self, order: Random, some: int) -> None:
        mixed = [replace(team, hidden=False) for team in TEAMS]
        order.shuffle(mixed)
        self.teams = mixed[:some]

    @precondition(lambda self: self.tries)
    @rule(data=st.data())
    def choose(self, data: st.DataObject) -> None:
        choice = self.tries[data.draw(st.sampled_from(sorted(self.tries)))]
        self.chosen[choice.team_id, choice.problem_id] = choice.id

    @rule()
    def take_choices_back(self) -> None:
        self.chosen = {}

    @precondition(lambda self: self.tries)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        self.changed.add(self.tries.pop(max(self.tries)).place)

    @rule()
    def forget_what_has_changed(self) -> None:
        self.changed = set(KEYS)

    @invariant()
    def equals_from_scratch(self) -> None:
        if not hasattr(self, "live"):
            return
        slow = scoreboard(
            self.problems,
            self.teams,
            self.tries.values(),
            freeze=self.now_hidden,
            chosen=self.chosen,
            phase=self.phase,
            references=self.references,
        )
        live = self.live.board(
            self.teams, by_place(self.tries.values()), freeze=self.now_hidden, chosen=self.chosen, changed=self.changed
        )
        self.changed = set()
        assert_same(live, slow)


TestContest = Contest.TestCase
TestContest.settings = settings(max_examples=examples(60, 1500), stateful_step_count=20, deadline=None)


@given(problem=problems, tries=attempts(), order=st.randoms())
def test_the_order_in_which_verdicts_arrive_does_not_matter(
    problem: ScoredProblem, tries: list[Attempt], order: Random
) -> None:
    live, known = LiveBoard([problem]), {each.id: replace(each, scores=None) for each in tries}
    board = live.board(TEAMS, by_place(known.values()))
    mixed = list(tries)
    order.shuffle(mixed)
    for each in mixed:
        known[each.id] = each
        board = live.board(TEAMS, by_place(known.values()), changed=[each.place])
    assert_same(board, scoreboard([problem], TEAMS, tries))


def test_a_board_stays_as_it_was_while_the_contest_goes_on() -> None:
    for counting in Counting:
        problem = ScoredProblem(
            "p",
            ScoringRule(Kind.RELATIVE, counting=counting),
            (Group("g", CaseKind.PROVISIONAL, Fraction(1)),),
            (Case("1", "g", Fraction(1)),),
        )
        live = LiveBoard([problem])
        tries = [attempt(1, {"1": raw(8)}), attempt(2, {"1": raw(4)}, team="bees")]
        before = live.board(TEAMS, by_place(tries))
        after = live.board(TEAMS, by_place([*tries, attempt(3, {"1": raw(16)}, team="bees")]))
        assert [row.points for row in before.rows] == [100.0, 50.0, 0.0]
        assert [row.points for row in after.rows] == [100.0, 50.0, 0.0]
        assert [row.team.id for row in before.rows[:2]] == ["ants", "bees"]
        assert [row.team.id for row in after.rows[:2]] == ["bees", "ants"]
        assert before.rows[0].cells[0].answers["1"].score == raw(8)
        assert before.bests["p"].best == {"1": 8}


@given(tries=attempts(), more=st.dictionaries(st.sampled_from(CASES), scores, max_size=3), problem=problems)
def test_one_more_answer_never_lowers_ones_own_points_where_each_cases_best_counts(
    tries: list[Attempt], more: Mapping[str, RawScore], problem: ScoredProblem
) -> None:
    """A theorem for absolute and relative scoring; under `rank` the same, for no more teams are ahead than before."""
    kept = replace(problem, rule=replace(problem.rule, counting=Counting.BEST_CASE))
    assert_no_lower(kept, tries, more)


@given(tries=attempts(), more=st.dictionaries(st.sampled_from(CASES), scores, max_size=3), problem=problems)
def test_one_more_submission_never_lowers_ones_own_points_where_the_best_submission_counts_absolutely(
    tries: list[Attempt], more: Mapping[str, RawScore], problem: ScoredProblem
) -> None:
    """Under relative kinds it may: its own new BEST makes the submission that counts worth less (see below)."""
    kept = replace(problem, rule=replace(problem.rule, kind=Kind.ABSOLUTE, counting=Counting.BEST))
    assert_no_lower(kept, tries, more)


@given(tries=attempts(), problem=problems, case=st.sampled_from(CASES))
def test_only_better_answers_never_lower_ones_own_points_where_the_last_submission_counts(
    tries: list[Attempt], problem: ScoredProblem, case: str
) -> None:
    """With carry-over, and a file for one case that is better than any before: the rest stays what it was."""
    rule = replace(problem.rule, counting=Counting.LAST, carry=Carry.LATEST)
    judged = [a for a in tries if a.team_id == "ants" and a.scores is not None]
    best = 99 if rule.direction.value == "maximise" else 0
    if rule.direction.value == "minimise":  # a BEST of 0 takes all from everyone else; 0 is also ones own best
        tries = [a for a in tries if a in judged or a.team_id == "ants"]
    assert_no_lower(replace(problem, rule=rule), tries, {case: raw(best, 1)})


def assert_no_lower(problem: ScoredProblem, tries: list[Attempt], more: Mapping[str, RawScore]) -> None:
    before = scoreboard([problem], TEAMS, tries)
    after = scoreboard([problem], TEAMS, [*tries, attempt(99, more)])
    assert points(after) >= points(before)


def points(board: SlowBoard) -> float:
    return next(row.points for row in board.rows if row.team.id == "ants")


@pytest.mark.parametrize("carry", Carry)
def test_a_worse_last_submission_does_lower_them(carry: Carry) -> None:
    problem = ScoredProblem(
        "p",
        ScoringRule(Kind.RELATIVE, counting=Counting.LAST, carry=carry),
        (Group("g", CaseKind.PROVISIONAL, Fraction(1)),),
        (Case("1", "g", Fraction(1)),),
    )
    tries = [attempt(1, {"1": raw(8)}), attempt(2, {"1": raw(8)}, team="bees")]
    assert points(scoreboard([problem], TEAMS, [*tries, attempt(3, {"1": raw(4)})])) == 50.0


def test_a_new_best_of_ones_own_may_lower_ones_points_where_the_best_submission_counts() -> None:
    """Both submissions' answers are BEST of their case, and no submission has both: 100 points become less."""
    problem = ScoredProblem(
        "p",
        ScoringRule(Kind.RELATIVE, counting=Counting.BEST, carry=Carry.NONE),
        (Group("g", CaseKind.PROVISIONAL, Fraction(2)),),
        (Case("1", "g", Fraction(1)), Case("2", "g", Fraction(1))),
    )
    first = attempt(1, {"1": raw(8), "2": raw(8)})
    assert points(scoreboard([problem], TEAMS, [first])) == 100.0
    assert points(scoreboard([problem], TEAMS, [first, attempt(2, {"1": raw(16)})])) == 75.0


@given(problem=wholes(), tries=attempts())
def test_a_full_score_is_exactly_the_maximum(problem: ScoredProblem, tries: list[Attempt]) -> None:
    rule = replace(problem.rule, kind=Kind.ABSOLUTE)
    groups = tuple(g for g in problem.groups if g.name != "c")
    full = replace(problem, rule=rule, groups=tuple(replace(g, require_pass=()) for g in groups))
    best = attempt(0, {case: raw(1, 1) for case in ("0", "1", "2", "3")}, minute=99)
    board = scoreboard([full], TEAMS, [best])
    assert points(board) == float(rule.max_points)


@given(
    rule_=rules,
    aggregation=st.sampled_from(Aggregation),
    tries=st.lists(
        st.tuples(
            st.sampled_from(TEAMS),
            st.dictionaries(st.sampled_from(CASES), awkward_scores, min_size=1, max_size=3),
            st.integers(1, 3),
        ),
        max_size=8,
    ),
)
def test_scores_without_a_common_factor_count_in_every_rule_and_every_batching(
    rule_: ScoringRule,
    aggregation: Aggregation,
    tries: list[tuple[Team, Mapping[str, RawScore], int]],
) -> None:
    """The board is read after batches of one to three verdicts; a column becomes exact within or between them."""
    scored = problem(rule_, aggregation)
    judged = [attempt(at, given_, team=team.id) for at, (team, given_, _) in enumerate(tries, 1)]
    live, at = LiveBoard([scored]), 0
    while at < len(judged):
        before, at = at, at + tries[at][2]
        changed = {each.place for each in judged[before:at]}
        board = live.board(TEAMS, by_place(judged[:at]), changed=changed)
        assert_same(board, scoreboard([scored], TEAMS, judged[:at]))


@pytest.mark.parametrize("counting", Counting)
@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize(("one", "other"), [("12.345678901234567", "8"), (str(2**53 + 1), "1/3")])
def test_a_row_written_before_its_column_became_exact_in_the_same_batch_keeps_its_points(
    kind: Kind, counting: Counting, one: str, other: str
) -> None:
    """Either team may be counted first: each has both scores in turn."""
    scored = problem(ScoringRule(kind, counting=counting), names=("1", "2"))
    for first, second in (("ants", "bees"), ("bees", "ants")):
        tries = [
            attempt(1, {"1": raw(Fraction(one), Fraction(1, 2)), "2": raw(5, Fraction(1, 2))}, team=first),
            attempt(2, {"1": raw(Fraction(other), 1), "2": raw(4, 1)}, team=second),
        ]
        assert_same(LiveBoard([scored]).board(TEAMS, by_place(tries)), scoreboard([scored], TEAMS, tries))


@pytest.mark.parametrize("second", ["1.99", "1/3", "1.9876543210123456"])
def test_a_score_that_converts_its_column_is_ranked_although_it_is_not_its_teams_best(second: str) -> None:
    """No answer that takes part in BEST changes, and yet the numbers of the line to rank in do."""
    scored = problem(ScoringRule(Kind.RANK, counting=Counting.BEST), names=("1", "2"))
    tries = [attempt(1, {"2": raw(2)}), attempt(2, {"1": raw(1), "2": raw(Fraction(second))})]
    live = LiveBoard([scored])
    for at in range(len(tries)):
        board = live.board(TEAMS, by_place(tries[: at + 1]), changed=[tries[at].place])
        assert_same(board, scoreboard([scored], TEAMS, tries[: at + 1]))


@pytest.mark.parametrize("parts", [9, 17, 21])
def test_an_exact_tie_across_problems_goes_to_the_team_that_reached_it_first(parts: int) -> None:
    """Shares such as 1/9, 2/9 and 6/9 of 100 points add up to 100 in any order; as floats they do not."""
    problems_ = [replace(problem(ScoringRule(max_points=Fraction(100))), id=name) for name in "pqr"]
    tops = {"ants": (1, 2, parts - 3), "bees": (parts - 2, 1, 1)}
    for first, later in (("ants", "bees"), ("bees", "ants")):
        tries = [
            Attempt(100 * late + at, team, name, timedelta(minutes=late), dict.fromkeys(CASES, raw(1, share_)))
            for late, team in enumerate((first, later))
            for at, (name, share_) in enumerate(zip("pqr", (Fraction(t, parts) for t in tops[team]), strict=True))
        ]
        board = LiveBoard(problems_).board(TEAMS, by_place(tries))
        assert [(row.team.id, row.rank, row.points) for row in board.rows[:2]] == [(first, 1, 100.0), (later, 2, 100.0)]
        assert_same(board, scoreboard(problems_, TEAMS, tries))


def test_a_raw_score_that_rounds_to_best_does_not_pass() -> None:
    """2^54 of 2^54+1 is 1 as a float, and yet it is not BEST."""
    scored = problem(ScoringRule(Kind.RELATIVE), Aggregation.PASS_FAIL, ("1",))
    tries = [attempt(1, {"1": raw(2**54)}), attempt(2, {"1": raw(2**54 + 1)}, team="bees")]
    board = LiveBoard([scored]).board(TEAMS, by_place(tries))
    assert [(row.team.id, row.points) for row in board.rows[:2]] == [("bees", 100.0), ("ants", 0.0)]
    assert_same(board, scoreboard([scored], TEAMS, tries))
