"""The documents that columns keep, compared with the models that write them and the tables they are versions of."""

from __future__ import annotations

import pytest
from pydantic import BaseModel
from sqlalchemy.orm import DeclarativeBase

from app.core.json_documents import CaseDocument, GroupDocument, MetadataDocument, ProblemColumns
from app.domain.documents import AnswersDocument, ProblemSettingsDocument, ReferenceDocument, ScoringDocument
from app.packages.metadata import Problem
from app.packages.settings import Answers, JuradoSettings, Reference, Scoring
from app.tables import ProblemRow, TestCaseRow, TestGroupRow

WRITTEN: list[tuple[type[BaseModel], type, set[str]]] = [
    (JuradoSettings, ProblemSettingsDocument, set()),
    (Scoring, ScoringDocument, set()),
    (Reference, ReferenceDocument, set()),
    (Answers, AnswersDocument, set()),
]
VERSIONED: list[tuple[type[DeclarativeBase], type, set[str]]] = [
    (ProblemRow, ProblemColumns, {"id", "created", "updated", "version"}),
    (TestGroupRow, GroupDocument, {"problem_id"}),
    (TestCaseRow, CaseDocument, {"id", "problem_id", "name", "removed"}),
]


@pytest.mark.parametrize(("model", "document", "added"), WRITTEN, ids=lambda each: getattr(each, "__name__", ""))
def test_a_document_has_the_fields_of_the_model_that_writes_it(
    model: type[BaseModel], document: type, added: set[str]
) -> None:
    assert set(document.__annotations__) == set(model.model_fields) | added


def test_the_metadata_of_a_problem_are_read_by_names_that_its_model_has() -> None:
    assert set(MetadataDocument.__annotations__) - {"sample_outputs", "solutions"} <= set(Problem.model_fields)


@pytest.mark.parametrize(("table", "document", "left_out"), VERSIONED, ids=lambda each: getattr(each, "__name__", ""))
def test_a_version_of_a_problem_has_every_column_that_a_rejudging_may_change(
    table: type[DeclarativeBase], document: type, left_out: set[str]
) -> None:
    columns = {attribute.key for attribute in table.__mapper__.column_attrs}
    assert set(document.__annotations__) == columns - left_out
