"""Problems with their test data groups and test cases."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, String, Text, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db.tables import ID, SHA256, SLUG, Base, BigId
from app.core.json_documents import ManifestDocument, MetadataDocument, ProvenanceDocument, StatementDocument
from app.domain.documents import ProblemSettingsDocument


class ProblemRow(Base):
    """A problem as imported: `settings` is jurado.yaml, `metadata_` problem.yaml, `statements` files by language.

    Its rows are its newest version; `version` is the number of that.
    """

    __tablename__ = "problems"

    id: Mapped[str] = mapped_column(SLUG, primary_key=True)
    uuid: Mapped[str] = mapped_column(String(36))
    names: Mapped[dict[str, str]]
    metadata_: Mapped[MetadataDocument] = mapped_column("metadata")
    settings: Mapped[ProblemSettingsDocument]
    statements: Mapped[dict[str, StatementDocument]]
    package_sha256: Mapped[str] = mapped_column(SHA256)
    created: Mapped[datetime]
    updated: Mapped[datetime]
    version: Mapped[int] = mapped_column(default=1, server_default="1")


class ProblemVersionRow(Base):
    """A version of a problem: when it was made, by whom and why.

    manifest    its columns, groups and cases; null of the newest, which is the problem's rows
    account_id  no reference: an account may be deleted, what it made stays
    """

    __tablename__ = "problem_versions"

    problem_id: Mapped[str] = mapped_column(ForeignKey("problems.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    created: Mapped[datetime]
    account_id: Mapped[str | None] = mapped_column(ID)
    note: Mapped[str] = mapped_column(Text)
    manifest: Mapped[ManifestDocument | None] = mapped_column(deferred=True)


class TestGroupRow(Base):
    """A test data group of a problem; `max_points` as an exact ratio."""

    __tablename__ = "test_groups"
    __test__ = False  # not a test, whatever pytest thinks of its name

    problem_id: Mapped[str] = mapped_column(ForeignKey("problems.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(SLUG, primary_key=True)
    ordinal: Mapped[int]
    kind: Mapped[str] = mapped_column(String(16))
    max_points_num: Mapped[int] = mapped_column(BigInteger)
    max_points_den: Mapped[int] = mapped_column(BigInteger, default=1)
    aggregation: Mapped[str] = mapped_column(String(16))
    require_pass: Mapped[list[str]] = mapped_column(default=list)


class TestCaseRow(Base):
    """A test case: input and expected answer by their sha256, and where the answer came from (`provenance`).

    The reference's raw score and multiplier are kept so that it can take part in BEST. `removed`: it is no case of the
    problem any longer; its row stays because answers and raw scores refer to it, and because removing can be undone.
    """

    __tablename__ = "test_cases"
    __table_args__ = (UniqueConstraint("problem_id", "name"),)
    __test__ = False

    id: Mapped[int] = mapped_column(BigId, primary_key=True, autoincrement=True)
    problem_id: Mapped[str] = mapped_column(ForeignKey("problems.id", ondelete="CASCADE"))
    group_name: Mapped[str] = mapped_column(SLUG)
    name: Mapped[str] = mapped_column(SLUG)
    ordinal: Mapped[int]
    points_num: Mapped[int] = mapped_column(BigInteger)
    points_den: Mapped[int] = mapped_column(BigInteger, default=1)
    input_sha256: Mapped[str] = mapped_column(SHA256)
    input_size: Mapped[int] = mapped_column(BigInteger)
    answer_sha256: Mapped[str | None] = mapped_column(SHA256)
    answer_size: Mapped[int | None] = mapped_column(BigInteger)
    reference_raw_num: Mapped[int | None] = mapped_column(BigInteger)
    reference_raw_den: Mapped[int | None] = mapped_column(BigInteger)
    reference_multiplier_num: Mapped[int | None] = mapped_column(BigInteger)
    reference_multiplier_den: Mapped[int | None] = mapped_column(BigInteger)
    checker_args: Mapped[list[str]] = mapped_column(default=list)
    provenance: Mapped[ProvenanceDocument] = mapped_column(default=dict)
    removed: Mapped[bool] = mapped_column(default=False, server_default=false())
