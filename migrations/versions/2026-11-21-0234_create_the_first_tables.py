"""create the first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.core.db import columns

revision = "c00acb5da8e6"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:

    op.create_table(
        "contests",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("formal_name", sa.Text(), nullable=True),
        sa.Column("start_time", columns.Moment(timezone=True), nullable=True),
        sa.Column("duration_ms", sa.BigInteger(), nullable=False),
        sa.Column("freeze_ms", sa.BigInteger(), nullable=True),
        sa.Column("thaw_time", columns.Moment(timezone=True), nullable=True),
        sa.Column("finalized", columns.Moment(timezone=True), nullable=True),
        sa.Column("open_to_all", sa.Boolean(), nullable=False),
        sa.Column("settings", sa.JSON(none_as_null=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contests")),
    )
    op.create_table(
        "problems",
        sa.Column("id", sa.String(length=255), nullable=False),
        sa.Column("uuid", sa.String(length=36), nullable=False),
        sa.Column("names", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("metadata", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("settings", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("statements", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("package_sha256", sa.String(length=64), nullable=False),
        sa.Column("created", columns.Moment(timezone=True), nullable=False),
        sa.Column("updated", columns.Moment(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_problems")),
    )
    op.create_table(
        "teams",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("display_name", sa.Text(), nullable=True),
        sa.Column("hidden", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_teams")),
    )
    op.create_table(
        "accounts",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("username", sa.Text(), nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=True),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("type", sa.String(length=16), nullable=False),
        sa.Column("team_id", sa.String(length=36), nullable=True),
        sa.Column("created", columns.Moment(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_accounts_team_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_accounts")),
        sa.UniqueConstraint("username", name=op.f("uq_accounts_username")),
    )
    op.create_table(
        "contest_problems",
        sa.Column("contest_id", sa.String(length=36), nullable=False),
        sa.Column("problem_id", sa.String(length=255), nullable=False),
        sa.Column("label", sa.String(length=36), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("rgb", sa.String(length=7), nullable=True),
        sa.Column("color", sa.Text(), nullable=True),
        sa.Column("rule", sa.JSON(none_as_null=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name=op.f("fk_contest_problems_contest_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["problem_id"], ["problems.id"], name=op.f("fk_contest_problems_problem_id")),
        sa.PrimaryKeyConstraint("contest_id", "problem_id", name=op.f("pk_contest_problems")),
        sa.UniqueConstraint("contest_id", "label", name=op.f("uq_contest_problems_contest_id_label")),
    )
    with op.batch_alter_table("contest_problems", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_contest_problems_problem_id"), ["problem_id"], unique=False)

    op.create_table(
        "contest_teams",
        sa.Column("contest_id", sa.String(length=36), nullable=False),
        sa.Column("team_id", sa.String(length=36), nullable=False),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name=op.f("fk_contest_teams_contest_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_contest_teams_team_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("contest_id", "team_id", name=op.f("pk_contest_teams")),
    )
    with op.batch_alter_table("contest_teams", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_contest_teams_team_id"), ["team_id"], unique=False)

    op.create_table(
        "test_cases",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("problem_id", sa.String(length=255), nullable=False),
        sa.Column("group_name", sa.String(length=255), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("points_num", sa.BigInteger(), nullable=False),
        sa.Column("points_den", sa.BigInteger(), nullable=False),
        sa.Column("input_sha256", sa.String(length=64), nullable=False),
        sa.Column("input_size", sa.BigInteger(), nullable=False),
        sa.Column("answer_sha256", sa.String(length=64), nullable=True),
        sa.Column("answer_size", sa.BigInteger(), nullable=True),
        sa.Column("reference_raw_num", sa.BigInteger(), nullable=True),
        sa.Column("reference_raw_den", sa.BigInteger(), nullable=True),
        sa.Column("reference_multiplier_num", sa.BigInteger(), nullable=True),
        sa.Column("reference_multiplier_den", sa.BigInteger(), nullable=True),
        sa.Column("checker_args", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("provenance", sa.JSON(none_as_null=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["problem_id"], ["problems.id"], name=op.f("fk_test_cases_problem_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_test_cases")),
        sa.UniqueConstraint("problem_id", "name", name=op.f("uq_test_cases_problem_id_name")),
    )
    op.create_table(
        "test_groups",
        sa.Column("problem_id", sa.String(length=255), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("max_points_num", sa.BigInteger(), nullable=False),
        sa.Column("max_points_den", sa.BigInteger(), nullable=False),
        sa.Column("aggregation", sa.String(length=16), nullable=False),
        sa.Column("require_pass", sa.JSON(none_as_null=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["problem_id"], ["problems.id"], name=op.f("fk_test_groups_problem_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("problem_id", "name", name=op.f("pk_test_groups")),
    )
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("params", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("progress", sa.Double(), nullable=False),
        sa.Column("log", sa.Text(), nullable=False),
        sa.Column("result", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.String(length=36), nullable=True),
        sa.Column("created", columns.Moment(timezone=True), nullable=False),
        sa.Column("started", columns.Moment(timezone=True), nullable=True),
        sa.Column("ended", columns.Moment(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_jobs_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
    )
    with op.batch_alter_table("jobs", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_jobs_state"), ["state"], unique=False)

    op.create_table(
        "submissions",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("contest_id", sa.String(length=36), nullable=False),
        sa.Column("problem_id", sa.String(length=255), nullable=False),
        sa.Column("team_id", sa.String(length=36), nullable=True),
        sa.Column("account_id", sa.String(length=36), nullable=False),
        sa.Column("time", columns.Moment(timezone=True), nullable=False),
        sa.Column("contest_time_ms", sa.BigInteger(), nullable=False),
        sa.Column("idempotency_key", sa.String(length=255), nullable=True),
        sa.Column("comment", sa.Text(), nullable=True),
        sa.Column("files", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("sources", sa.JSON(none_as_null=True), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_submissions_account_id")),
        sa.ForeignKeyConstraint(["contest_id"], ["contests.id"], name=op.f("fk_submissions_contest_id")),
        sa.ForeignKeyConstraint(["problem_id"], ["problems.id"], name=op.f("fk_submissions_problem_id")),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_submissions_team_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_submissions")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("submissions", schema=None) as batch_op:
        batch_op.create_index("ix_submissions_contest_id_id", ["contest_id", "id"], unique=False)
        batch_op.create_index(
            "uq_submissions_idempotency", ["account_id", "contest_id", "idempotency_key"], unique=True
        )

    op.create_table(
        "tokens",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("account_id", sa.String(length=36), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("created", columns.Moment(timezone=True), nullable=False),
        sa.Column("expires", columns.Moment(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_tokens_account_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_tokens")),
    )
    with op.batch_alter_table("tokens", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_tokens_account_id"), ["account_id"], unique=False)

    op.create_table(
        "answers",
        sa.Column("submission_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("test_case_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("file_name", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=True),
        sa.Column("data", sa.LargeBinary(), nullable=True),
        sa.Column("refused", sa.JSON(none_as_null=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name=op.f("fk_answers_submission_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["test_case_id"], ["test_cases.id"], name=op.f("fk_answers_test_case_id")),
        sa.PrimaryKeyConstraint("submission_id", "test_case_id", name=op.f("pk_answers")),
    )
    with op.batch_alter_table("answers", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_answers_test_case_id"), ["test_case_id"], unique=False)

    op.create_table(
        "judgements",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("submission_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("type", sa.String(length=3), nullable=True),
        sa.Column("current", sa.Boolean(), nullable=False),
        sa.Column("start_time", columns.Moment(timezone=True), nullable=False),
        sa.Column("end_time", columns.Moment(timezone=True), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name=op.f("fk_judgements_submission_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judgements")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("judgements", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_judgements_submission_id"), ["submission_id"], unique=False)
        batch_op.create_index(
            "ix_judgements_waiting",
            ["id"],
            unique=False,
            sqlite_where=sa.text("state != 'done'"),
            postgresql_where=sa.text("state != 'done'"),
        )

    op.create_table(
        "raw_scores",
        sa.Column("judgement_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("test_case_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("verdict", sa.String(length=16), nullable=False),
        sa.Column("raw_num", sa.BigInteger(), nullable=True),
        sa.Column("raw_den", sa.BigInteger(), nullable=True),
        sa.Column("max_raw_num", sa.BigInteger(), nullable=True),
        sa.Column("max_raw_den", sa.BigInteger(), nullable=True),
        sa.Column("multiplier_num", sa.BigInteger(), nullable=True),
        sa.Column("multiplier_den", sa.BigInteger(), nullable=True),
        sa.Column("message", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("run_time_ms", sa.Integer(), nullable=False),
        sa.Column("time", columns.Moment(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["judgement_id"], ["judgements.id"], name=op.f("fk_raw_scores_judgement_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["test_case_id"], ["test_cases.id"], name=op.f("fk_raw_scores_test_case_id")),
        sa.PrimaryKeyConstraint("judgement_id", "test_case_id", name=op.f("pk_raw_scores")),
    )
    with op.batch_alter_table("raw_scores", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_raw_scores_test_case_id"), ["test_case_id"], unique=False)


def downgrade() -> None:

    with op.batch_alter_table("raw_scores", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_raw_scores_test_case_id"))

    op.drop_table("raw_scores")
    with op.batch_alter_table("judgements", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_judgements_waiting",
            sqlite_where=sa.text("state != 'done'"),
            postgresql_where=sa.text("state != 'done'"),
        )
        batch_op.drop_index(batch_op.f("ix_judgements_submission_id"))

    op.drop_table("judgements")
    with op.batch_alter_table("answers", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_answers_test_case_id"))

    op.drop_table("answers")
    with op.batch_alter_table("tokens", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_tokens_account_id"))

    op.drop_table("tokens")
    with op.batch_alter_table("submissions", schema=None) as batch_op:
        batch_op.drop_index("uq_submissions_idempotency")
        batch_op.drop_index("ix_submissions_contest_id_id")

    op.drop_table("submissions")
    with op.batch_alter_table("jobs", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_jobs_state"))

    op.drop_table("jobs")
    op.drop_table("test_groups")
    op.drop_table("test_cases")
    with op.batch_alter_table("contest_teams", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_contest_teams_team_id"))

    op.drop_table("contest_teams")
    with op.batch_alter_table("contest_problems", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_contest_problems_problem_id"))

    op.drop_table("contest_problems")
    op.drop_table("accounts")
    op.drop_table("teams")
    op.drop_table("problems")
    op.drop_table("contests")
