"""A difference leads from one version of a problem to another, and the inverse one back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.core.json_documents import CaseDocument, GroupDocument
from app.problems.queries import problem_diff
from tests.builders.contests import add_contest, add_problem
from tests.builders.service import open_service

Document = Any
SETTINGS: dict[str, Any] = {"checker": "exact", "scoring": {"kind": "relative", "direction": "maximise"}}
sha = st.sampled_from([None, "a" * 64, "b" * 64])


def case(input_sha256: str, answer: str | None, group: str, points: int, reference: int | None) -> dict[str, Any]:
    columns = dict[str, Any].fromkeys(CaseDocument.__annotations__)
    columns |= {"input_sha256": input_sha256, "answer_sha256": answer, "group_name": group}
    return columns | {"points_num": points, "points_den": 1, "reference_raw_num": reference, "reference_raw_den": 1}


def group(kind: str, points: int) -> dict[str, Any]:
    columns = dict[str, Any].fromkeys(GroupDocument.__annotations__)
    return columns | {"name": "g", "ordinal": 1, "kind": kind, "max_points_num": points, "max_points_den": 1}


cases = st.builds(case, st.sampled_from("xy"), sha, st.just("g"), st.integers(1, 2), st.sampled_from([None, 5]))
documents = st.fixed_dictionaries(
    {
        "columns": st.builds(
            lambda title, checker: {"names": {"en": title}, "settings": {**SETTINGS, "checker": checker}},
            st.sampled_from(["One", "Two"]),
            st.sampled_from(["exact", "tokens"]),
        ),
        "groups": st.lists(st.builds(group, st.sampled_from(["provisional", "final"]), st.integers(1, 2)), max_size=1),
        "cases": st.dictionaries(st.sampled_from("123"), cases),
        "rules": st.fixed_dictionaries({"c": st.sampled_from([{}, {"reference_counts": True}, {"kind": "rank"}])}),
    }
)


@given(documents, documents)
def test_a_difference_leads_to_the_other_version_and_its_inverse_back(one: Document, other: Document) -> None:
    there, back = problem_diff.difference(one, other), problem_diff.difference(other, one)
    assert problem_diff.merged(one, there) == other
    assert problem_diff.merged(problem_diff.merged(one, there), back) == one
    assert (there == {}) is (one == other)


@given(documents, documents)
def test_what_is_judged_again_matters_and_what_is_equal_does_not(one: Document, other: Document) -> None:
    assert not problem_diff.matters(one, one)
    assert problem_diff.matters(one, other) is problem_diff.matters(other, one)
    assert problem_diff.needs_judging(one, other) is problem_diff.needs_judging(other, one)
    if problem_diff.needs_judging(one, other):
        assert problem_diff.matters(one, other)


@given(documents, st.sampled_from(["One", "Three"]))
def test_names_matter_to_nobodys_points_and_are_another_version_even_so(version: Document, title: str) -> None:
    renamed = {**version, "columns": {**version["columns"], "names": {"en": title}}}
    assert not problem_diff.matters(version, renamed)
    same = problem_diff.fingerprint(version, {"c": None}) == problem_diff.fingerprint(renamed, {"c": None})
    assert same is (version == renamed)


@given(documents)
def test_what_is_learnt_of_a_case_makes_no_other_version(version: Document) -> None:
    learnt = {name: {**each, "reference_raw_num": 77, "provenance": {}} for name, each in version["cases"].items()}
    after = {**version, "cases": learnt}
    assert problem_diff.fingerprint(version, {"c": None}) == problem_diff.fingerprint(after, {"c": None})
    assert not problem_diff.needs_judging(version, after)


def test_writing_a_difference_and_then_what_undoes_it_leaves_the_rows_as_they_were(
    sqlite_url: str, tmp_path: Path
) -> None:
    with open_service(sqlite_url, tmp_path / "home") as service:
        add_problem(service)
        add_contest(service)
        with service.database.write() as session:
            before = problem_diff.document(session, "echo")
            gone, changed = sorted(before["cases"])[:2]
            there: Any = {
                "columns": {"settings": {**before["columns"]["settings"], "checker": "tokens"}},
                "cases": {gone: None, changed: {**before["cases"][changed], "points_num": 7}},
                "rules": {"c": {"counting": "last"}},
            }
            back = problem_diff.write(session, "echo", there)
            assert problem_diff.document(session, "echo") == problem_diff.merged(before, there) != before
            assert problem_diff.write(session, "echo", back) == problem_diff.difference(
                before, problem_diff.merged(before, there)
            )
            assert problem_diff.document(session, "echo") == before
