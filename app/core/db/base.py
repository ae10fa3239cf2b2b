"""The base of all tables: names of constraints, and the types of columns."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import MetaData, String, text
from sqlalchemy.orm import DeclarativeBase

from app.core.db.columns import Json, Moment
from app.core.json_documents import (
    AuditChanges,
    FileNoteDocument,
    JobParams,
    JobResult,
    ManifestDocument,
    MetadataDocument,
    PauseDocument,
    ProblemChanges,
    ProvenanceDocument,
    SelectionDocument,
    SourceDocument,
    StatementDocument,
)
from app.domain.documents import ImageDocument, MessageDocument, ProblemSettingsDocument

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
ID = String(36)
SLUG = String(255)
SHA256 = String(64)
WAITING = text("state != 'done'")
Details = dict[str, Any]
"""Further properties of an object, as its schema writes them: their types differ by name."""
DOCUMENTS: tuple[object, ...] = (
    Details,
    dict[str, str],
    dict[str, list[str | int]],
    dict[str, StatementDocument],
    list[str],
    list[list[str]],
    list[FileNoteDocument],
    list[ImageDocument],
    list[PauseDocument],
    list[SourceDocument],
    AuditChanges,
    JobResult,
    ManifestDocument,
    MessageDocument,
    MetadataDocument,
    ProblemSettingsDocument,
    ProvenanceDocument,
    ProblemChanges,
    JobParams,
    SelectionDocument,
)
"""The types of columns that hold JSON."""


class Base(DeclarativeBase):
    """The base of all tables: names for constraints, and a column type for each Python type."""

    metadata = MetaData(naming_convention=NAMES)
    type_annotation_map = {datetime: Moment} | dict.fromkeys(DOCUMENTS, Json)
