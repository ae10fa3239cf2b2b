"""complete the contests.

Columns that refer to other tables are added in plain SQL: Alembic's way for SQLite makes the table anew and drops the
old one, which with foreign keys on takes everything with it that refers to its rows.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.core.db import columns

revision = "87afbf51d88b"
down_revision = "c00acb5da8e6"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "awards",
        sa.Column("contest_id", sa.String(length=36), nullable=False),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("citation", sa.Text(), nullable=False),
        sa.Column("team_ids", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("deleted", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["contest_id"], ["contests.id"], name=op.f("fk_awards_contest_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("contest_id", "id", name=op.f("pk_awards")),
    )
    op.create_table(
        "events",
        sa.Column("contest_id", sa.String(length=36), nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("audience", sa.String(length=8), nullable=False),
        sa.Column("owner", sa.String(length=36), nullable=True),
        sa.Column("type", sa.String(length=20), nullable=False),
        sa.Column("object_id", sa.String(length=80), nullable=True),
        sa.Column("data", sa.Text(), nullable=True),
        sa.Column("time", columns.Moment(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["contest_id"], ["contests.id"], name=op.f("fk_events_contest_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("contest_id", "id", name=op.f("pk_events")),
    )
    op.create_table(
        "groups",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("contest_id", sa.String(length=36), nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=True),
        sa.Column("icpc_id", sa.Text(), nullable=True),
        sa.Column("details", sa.JSON(none_as_null=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name=op.f("fk_groups_contest_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_groups")),
    )
    op.create_index(op.f("ix_groups_contest_id"), "groups", ["contest_id"])

    op.create_table(
        "organizations",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("contest_id", sa.String(length=36), nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("formal_name", sa.Text(), nullable=True),
        sa.Column("icpc_id", sa.Text(), nullable=True),
        sa.Column("country", sa.String(length=3), nullable=True),
        sa.Column("details", sa.JSON(none_as_null=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name=op.f("fk_organizations_contest_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_organizations")),
    )
    op.create_index(op.f("ix_organizations_contest_id"), "organizations", ["contest_id"])

    op.create_table(
        "persons",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("contest_id", sa.String(length=36), nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("icpc_id", sa.Text(), nullable=True),
        sa.Column("team_ids", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("details", sa.JSON(none_as_null=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name=op.f("fk_persons_contest_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_persons")),
    )
    op.create_index(op.f("ix_persons_contest_id"), "persons", ["contest_id"])

    op.create_table(
        "input_requests",
        sa.Column("contest_id", sa.String(length=36), nullable=False),
        sa.Column("team_id", sa.String(length=36), nullable=False),
        sa.Column("problem_id", sa.String(length=255), nullable=False),
        sa.Column("time", columns.Moment(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name=op.f("fk_input_requests_contest_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["problem_id"], ["problems.id"], name=op.f("fk_input_requests_problem_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_input_requests_team_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("contest_id", "team_id", "problem_id", name=op.f("pk_input_requests")),
    )
    op.create_table(
        "participations",
        sa.Column("contest_id", sa.String(length=36), nullable=False),
        sa.Column("team_id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=8), nullable=False),
        sa.Column("start_time", columns.Moment(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name=op.f("fk_participations_contest_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_participations_team_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("contest_id", "team_id", name=op.f("pk_participations")),
    )
    op.create_index(op.f("ix_participations_team_id"), "participations", ["team_id"])

    op.create_table(
        "clarifications",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("contest_id", sa.String(length=36), nullable=False),
        sa.Column("account_id", sa.String(length=36), nullable=True),
        sa.Column("from_team_id", sa.String(length=36), nullable=True),
        sa.Column("to_team_ids", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("to_group_ids", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("reply_to_id", sa.String(length=36), nullable=True),
        sa.Column("problem_id", sa.String(length=255), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("time", columns.Moment(timezone=True), nullable=False),
        sa.Column("contest_time_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_clarifications_account_id")),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name=op.f("fk_clarifications_contest_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["from_team_id"], ["teams.id"], name=op.f("fk_clarifications_from_team_id")),
        sa.ForeignKeyConstraint(["problem_id"], ["problems.id"], name=op.f("fk_clarifications_problem_id")),
        sa.PrimaryKeyConstraint("id", "contest_id", name=op.f("pk_clarifications")),
    )
    op.create_table(
        "commentary",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("contest_id", sa.String(length=36), nullable=False),
        sa.Column("account_id", sa.String(length=36), nullable=True),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("details", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("time", columns.Moment(timezone=True), nullable=False),
        sa.Column("contest_time_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_commentary_account_id")),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name=op.f("fk_commentary_contest_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", "contest_id", name=op.f("pk_commentary")),
    )
    op.create_table(
        "rejudgings",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("contest_id", sa.String(length=36), nullable=False),
        sa.Column("account_id", sa.String(length=36), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("selection", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("changes", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("undo", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("created", columns.Moment(timezone=True), nullable=False),
        sa.Column("applied", columns.Moment(timezone=True), nullable=True),
        sa.Column("ended", columns.Moment(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_rejudgings_account_id")),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name=op.f("fk_rejudgings_contest_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rejudgings")),
    )
    op.create_index(op.f("ix_rejudgings_contest_id"), "rejudgings", ["contest_id"])
    op.create_index(op.f("ix_rejudgings_state"), "rejudgings", ["state"])

    op.create_table(
        "webhooks",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("account_id", sa.String(length=36), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("contest_ids", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("endpoints", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("positions", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("failing_since", columns.Moment(timezone=True), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("created", columns.Moment(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_webhooks_account_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhooks")),
    )
    op.create_table(
        "chosen_submissions",
        sa.Column("contest_id", sa.String(length=36), nullable=False),
        sa.Column("team_id", sa.String(length=36), nullable=False),
        sa.Column("problem_id", sa.String(length=255), nullable=False),
        sa.Column("submission_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("time", columns.Moment(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name=op.f("fk_chosen_submissions_contest_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["problem_id"], ["problems.id"], name=op.f("fk_chosen_submissions_problem_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name=op.f("fk_chosen_submissions_submission_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["team_id"], ["teams.id"], name=op.f("fk_chosen_submissions_team_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("contest_id", "team_id", "problem_id", name=op.f("pk_chosen_submissions")),
    )
    _add_reference("accounts", "person_id", "persons")
    _add_reference("teams", "organization_id", "organizations")
    _add_reference("judgements", "rejudging_id", "rejudgings")
    _add_reference("judgements", "replaced_id", "judgements")
    for table, column in (
        ("contest_problems", _json("limits", "{}")),
        ("contest_teams", sa.Column("disqualified", sa.Boolean(), server_default=sa.false(), nullable=False)),
        ("contests", sa.Column("countdown_pause_ms", sa.BigInteger())),
        ("contests", _json("pauses", "[]")),
        ("contests", _json("revealed", "[]")),
        ("contests", sa.Column("main_scoreboard_group_id", sa.String(length=36))),
        ("contests", _json("details", "{}")),
        ("submissions", sa.Column("external_id", sa.String(length=36))),
        ("teams", sa.Column("icpc_id", sa.Text())),
        ("teams", _json("group_ids", "[]")),
        ("teams", _json("details", "{}")),
    ):
        op.add_column(table, column)
    op.create_index(op.f("ix_judgements_rejudging_id"), "judgements", ["rejudging_id"])
    op.create_index("uq_submissions_external_id", "submissions", ["contest_id", "external_id"], unique=True)
    op.create_index(op.f("ix_teams_organization_id"), "teams", ["organization_id"])


def _json(name: str, default: str) -> sa.Column[object]:
    return sa.Column(name, sa.JSON(none_as_null=True), server_default=default, nullable=False)


def _add_reference(table: str, column: str, target: str) -> None:
    numbers = target in {"rejudgings", "judgements"}
    wide = "INTEGER" if op.get_bind().dialect.name == "sqlite" else "BIGINT"
    kind = wide if numbers else "VARCHAR(36)"
    op.execute(
        f"ALTER TABLE {table} ADD COLUMN {column} {kind} CONSTRAINT fk_{table}_{column} REFERENCES {target} (id)"
    )


def downgrade() -> None:
    raise NotImplementedError("this would lose clarifications, awards and rejudgings: restore a copy of the database")
