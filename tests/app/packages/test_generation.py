"""The plan of the test data: names, arguments and seeds as BAPCtools makes them, and the short plan."""

from __future__ import annotations

import hashlib

from app.core.faults import Faults
from app.packages.generation import Plan, read_plan

FILES = {"generators/gen.py": b"", "generators/tree/main.cpp": b"", "generators/a.py": b"", "generators/b.py": b""}


def plan_of(text: str, files: dict[str, bytes] | None = None, name: str = "generators.yaml") -> tuple[Plan, list[str]]:
    """The plan of a text, and its faults."""
    faults = Faults()
    own = {**FILES, **(files or {}), f"generators/{name}": text.encode()}
    plan = read_plan(own, {"most": {"value": 9}}, faults)
    assert plan is not None
    return plan, [str(fault) for fault in faults.errors]


def seed(text: str) -> str:
    return str(int(hashlib.sha512(text.encode()).hexdigest(), 16) % 2**31)


def test_cases_are_numbered_over_the_whole_plan_and_groups_in_their_folder() -> None:
    plan, faults = plan_of(
        """\
solution: /submissions/accepted/sol.py
data:
  sample:
    data:
      - '': {in: 1 2, ans: '3'}
  secret:
    data:
      - small:
          data:
            - one: gen.py 1
      - large:
          data:
            - many: {generate: "gen.py {seed} {{most}}", count: 2}
            - '': tree 5
      - copied:
          data: {hand: {copy: manual/x}}
""",
        {"generators/manual/x.in": b"x\n", "generators/manual/x.ans": b"y\n"},
    )
    assert faults == []
    assert plan.solution == "submissions/accepted/sol.py"
    assert [(recipe.path, recipe.program, recipe.args) for recipe in plan.recipes] == [
        ("sample/1", "", ()),
        ("secret/1-small/2-one", "generators/gen.py", ("1",)),
        ("secret/2-large/3-many-1", "generators/gen.py", (seed("gen.py {seed} 9"), "9")),
        ("secret/2-large/4-many-2", "generators/gen.py", (seed(":1gen.py {seed} 9"), "9")),
        ("secret/2-large/5", "generators/tree/", ("5",)),
        ("secret/3-copied/hand", "", ()),
    ]
    assert plan.recipes[0].given == {"in": b"1 2\n", "ans": b"3\n"}
    assert plan.recipes[-1].given == {"in": b"x\n", "ans": b"y\n"}


def test_a_salt_is_handed_down_and_a_generator_may_have_files_beside_it() -> None:
    plan, faults = plan_of(
        """\
random_salt: salt
generators: {two: [a.py, b.py]}
data:
  secret:
    data: {x: "two {seed:7} --name={name}", y: {generate: gen.py, random_salt: other, count: -1..=0}}
  sample:
    data: {}
    include: [x]
"""
    )
    assert faults == ["generators/generators.yaml, line 8, data.sample.include: expected a key above, found 'x'"]
    first = plan.recipes[0]
    assert (first.program, first.beside) == ("generators/a.py", ("generators/b.py",))
    assert first.args == (seed("salttwo {seed:7} --name={name}"), "--name=testcase")
    assert [recipe.path for recipe in plan.recipes] == ["secret/x", "secret/y--1", "secret/y-00"]


def test_every_fault_of_a_plan_is_named_with_its_line() -> None:
    _, faults = plan_of(
        """\
data:
  secret:
    data:
      a: nosuch 1
      b: {generate: gen.py, count: 101}
      c: {copy: manual/none}
      d: {generate: gen.py, colour: red}
      e: "gen.py 'open"
"""
    )
    places = [f"generators/generators.yaml, line {line}, data.secret.data.{key}: " for line, key in
              ((4, "a"), (5, "b"), (6, "c"), (7, "d"), (8, "e"))]  # fmt: skip
    texts = [
        "expected a generator at generators/nosuch, found none",
        "expected a count of 1 to 100, found 101",
        "expected the file generators/manual/none.in, found none",
        "unknown key 'colour'",
        "not a command: No closing quotation",
    ]
    assert faults == [place + text for place, text in zip(places, texts, strict=True)]


def test_the_short_plan_has_seeds_and_parameters_or_files() -> None:
    text = """\
cases:
  - {group: sample, name: "1", file: handmade/1.in}
  - {group: secret, name: "2", seed: 3, params: {kind: random, n: 6}}
  - {group: secret, name: "4", file: handmade/none.in}
  - {name: "5"}
"""
    plan, faults = plan_of(text, {"generators/handmade/1.in": b"1\n"}, "cases.yaml")
    assert [(recipe.path, recipe.program, recipe.args) for recipe in plan.recipes] == [
        ("sample/1", "", ()),
        ("secret/2", "generators/generate.py", ("--seed", "3", "kind=random", "n=6")),
    ]
    assert len(faults) == 2
    assert "expected the file generators/handmade/none.in, found none" in faults[0]
