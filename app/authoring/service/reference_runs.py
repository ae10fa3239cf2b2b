"""Reference runs: the jobs in which a problem's solver makes expected answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from pydantic import Field, ValidationError
from sqlalchemy.orm import Session

from app.core.bodies import Body, Line
from app.core.errors import BadRequest, describe_pattern, fault
from app.core.faults import Faults
from app.core.json_documents import CaseDocument, RunParams
from app.core.messages import N_, Message
from app.domain.documents import ReferenceDocument
from app.judging.queries import rejudging_changes
from app.judging.service.reference_runs import REFERENCE_RUN
from app.packages.settings import solver_of
from app.problems.queries import pins
from app.tables import JobRow, ProblemRow


class ReferenceRunRequest(Body):
    """The cases to solve (by default those that lack an expected answer) and the options; defaults from jurado.yaml."""

    testcases: list[Line] | None = Field(None, min_length=1, description="names of test cases")
    method: str | None = Field(
        None,
        pattern=describe_pattern(
            r"^[a-z0-9][a-z0-9-]{0,63}$", Message(N_("the name of a method, in small letters, digits and hyphens"))
        ),
    )
    seconds: float | None = Field(None, gt=0, le=3600)
    seed: int | None = Field(None, ge=0, lt=2**63)


def queue_run(session: Session, problem: ProblemRow, asked: ReferenceRunRequest, account_id: str | None) -> JobRow:
    """Queue a reference run for a problem as it will be with the open rejudging that changes it, if there is one.

    Raises BadRequest where there is no solver, or no such case.
    """
    wanted = rejudging_changes.wanted(session, problem.id)
    settings = wanted["columns"]["settings"]
    defaults = settings.get("reference")
    if defaults is None:
        raise BadRequest(
            N_("problem %(problem)s has no reference solver: its jurado.yaml names none"), problem=problem.id
        )
    names = _names(problem.id, wanted["cases"], asked.testcases)
    if len(names) == 1:  # how its answer is to be made may have been said when it was put
        own: ReferenceDocument = wanted["cases"][names[0]]["provenance"].get("reference", {})
        defaults = {**defaults, **own}
    params: RunParams = {
        "problem_id": problem.id,
        "checker": settings["checker"],
        "solver": solver_of(settings, problem.id),
        "cases": names,
        "method": asked.method or defaults.get("method") or "",
        "seconds": asked.seconds or defaults["seconds"],
        "seed": asked.seed if asked.seed is not None else defaults["seed"],
        "memory": defaults["memory"],
    }
    if (program := defaults.get("program")) is not None:
        del params["solver"]
        params["program"], params["package_sha256"] = program, wanted["columns"]["package_sha256"]
    return pins.add(session, REFERENCE_RUN, params, account_id)


def queue_for_missing(session: Session, problem: ProblemRow, account_id: str | None) -> str | None:
    """Queue a reference run for the cases without an expected answer; its id, None if every case has one."""
    cases = rejudging_changes.wanted(session, problem.id)["cases"]
    if all(case["answer_sha256"] is not None for case in cases.values()):
        return None
    return queue_run(session, problem, ReferenceRunRequest(), account_id).id


def _names(problem_id: str, cases: Mapping[str, CaseDocument], asked: list[str] | None) -> list[str]:
    """The cases to solve, in order."""
    in_order = sorted(cases, key=lambda name: cases[name]["ordinal"])
    if asked is None:
        names = [name for name in in_order if cases[name]["answer_sha256"] is None]
        if not names:
            raise BadRequest(
                N_("every test case of %(problem)s has an expected answer; name those to solve again"),
                problem=problem_id,
            )
        return names
    if missing := sorted(set(asked) - set(cases)):
        raise BadRequest(
            N_("expected names of test cases of %(problem)s, found %(found)s"),
            where="testcases",
            problem=problem_id,
            found=", ".join(missing),
        )
    return [name for name in in_order if name in asked]


def options_of(fields: Mapping[str, str], faults: Faults) -> ReferenceDocument:
    """The options of a reference run, each value checked."""
    try:
        options = ReferenceRunRequest.model_validate(fields, strict=False)
    except ValidationError as error:
        for each in map(fault, error.errors(include_url=False)):
            faults.expect(str(each["where"]), "", str(each["expected"]), str(each["found"]))
        return {}
    return cast(ReferenceDocument, options.model_dump(exclude_none=True))  # its keys are the fields
