"""create the tables.

The schema of release 0.1.0. Later changes are migrations of their own, so that upgrades are tested from here on.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.core.db import tables

revision = "3f6c1d0a9e27"
down_revision = None
branch_labels = None
depends_on = None

REFUSAL = "the audit log is append-only"


def upgrade() -> None:
    op.create_table(
        "audit_log",
        sa.Column("id", tables.BigId, autoincrement=True, nullable=False),
        sa.Column("time", tables.Moment(), nullable=False),
        sa.Column("account_id", sa.String(length=36)),
        sa.Column("username", sa.Text(), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("credential", sa.Text(), nullable=False),
        sa.Column("operation", sa.String(length=64), nullable=False),
        sa.Column("method", sa.String(length=8), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("contest_id", sa.String(length=36)),
        sa.Column("problem_id", sa.String(length=255)),
        sa.Column("changes", tables.Json, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_log")),
    )
    op.create_index(op.f("ix_audit_log_account_id"), "audit_log", ["account_id"])
    op.create_index(op.f("ix_audit_log_contest_id"), "audit_log", ["contest_id"])
    op.create_index(op.f("ix_audit_log_operation"), "audit_log", ["operation"])
    op.create_index(op.f("ix_audit_log_time"), "audit_log", ["time"])

    op.create_table(
        "clock",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("time", tables.Moment(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_clock")),
    )
    op.create_table(
        "contests",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("formal_name", sa.Text()),
        sa.Column("start_time", tables.Moment()),
        sa.Column("duration_ms", sa.BigInteger(), nullable=False),
        sa.Column("freeze_ms", sa.BigInteger()),
        sa.Column("thaw_time", tables.Moment()),
        sa.Column("finalized", tables.Moment()),
        sa.Column("countdown_pause_ms", sa.BigInteger()),
        sa.Column("pauses", tables.Json, server_default="[]", nullable=False),
        sa.Column("revealed", tables.Json, server_default="[]", nullable=False),
        sa.Column("main_scoreboard_group_id", sa.String(length=36)),
        sa.Column("details", tables.Json, server_default="{}", nullable=False),
        sa.Column("open_to_all", sa.Boolean(), nullable=False),
        sa.Column("settings", tables.Json, nullable=False),
        sa.Column("secret", sa.String(length=64), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contests")),
    )
    op.create_table(
        "last_backup",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("made", tables.Moment(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("files", sa.Integer(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("faulty", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_last_backup")),
    )
    op.create_table(
        "problems",
        sa.Column("id", sa.String(length=255), nullable=False),
        sa.Column("uuid", sa.String(length=36), nullable=False),
        sa.Column("names", tables.Json, nullable=False),
        sa.Column("metadata", tables.Json, nullable=False),
        sa.Column("settings", tables.Json, nullable=False),
        sa.Column("statements", tables.Json, nullable=False),
        sa.Column("package_sha256", sa.String(length=64), nullable=False),
        sa.Column("created", tables.Moment(), nullable=False),
        sa.Column("updated", tables.Moment(), nullable=False),
        sa.Column("version", sa.Integer(), server_default="1", nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_problems")),
    )
    op.create_table(
        "processes",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("version", sa.String(length=40), nullable=False),
        sa.Column("started", tables.Moment(), nullable=False),
        sa.Column("seen", tables.Moment(), nullable=False),
        sa.Column("graders", sa.Integer(), nullable=False),
        sa.Column("deaths", sa.Integer(), nullable=False),
        sa.Column("at_hand", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_processes")),
    )
    op.create_table(
        "awards",
        sa.Column("contest_id", sa.String(length=36), nullable=False),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("citation", sa.Text(), nullable=False),
        sa.Column("team_ids", tables.Json, nullable=False),
        sa.Column("deleted", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["contest_id"], ["contests.id"], name=op.f("fk_awards_contest_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("contest_id", "id", name=op.f("pk_awards")),
    )
    op.create_table(
        "contest_problems",
        sa.Column("contest_id", sa.String(length=36), nullable=False),
        sa.Column("problem_id", sa.String(length=255), nullable=False),
        sa.Column("label", sa.String(length=36), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("rgb", sa.String(length=7)),
        sa.Column("color", sa.Text()),
        sa.Column("rule", tables.Json, nullable=False),
        sa.Column("limits", tables.Json, server_default="{}", nullable=False),
        sa.Column("version", sa.Integer()),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name=op.f("fk_contest_problems_contest_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["problem_id"], ["problems.id"], name=op.f("fk_contest_problems_problem_id")),
        sa.PrimaryKeyConstraint("contest_id", "problem_id", name=op.f("pk_contest_problems")),
        sa.UniqueConstraint("contest_id", "label", name=op.f("uq_contest_problems_contest_id_label")),
    )
    op.create_index(op.f("ix_contest_problems_problem_id"), "contest_problems", ["problem_id"])

    op.create_table(
        "events",
        sa.Column("contest_id", sa.String(length=36), nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("audience", sa.String(length=8), nullable=False),
        sa.Column("owner", sa.String(length=36)),
        sa.Column("type", sa.String(length=20), nullable=False),
        sa.Column("object_id", sa.String(length=80)),
        sa.Column("data", sa.Text()),
        sa.Column("time", tables.Moment(), nullable=False),
        sa.ForeignKeyConstraint(["contest_id"], ["contests.id"], name=op.f("fk_events_contest_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("contest_id", "id", name=op.f("pk_events")),
    )
    op.create_table(
        "groups",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("contest_id", sa.String(length=36)),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("type", sa.Text()),
        sa.Column("icpc_id", sa.Text()),
        sa.Column("details", tables.Json, nullable=False),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name=op.f("fk_groups_contest_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_groups")),
    )
    op.create_index(op.f("ix_groups_contest_id"), "groups", ["contest_id"])

    op.create_table(
        "organizations",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("contest_id", sa.String(length=36)),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("formal_name", sa.Text()),
        sa.Column("icpc_id", sa.Text()),
        sa.Column("country", sa.String(length=3)),
        sa.Column("details", tables.Json, nullable=False),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name=op.f("fk_organizations_contest_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_organizations")),
    )
    op.create_index(op.f("ix_organizations_contest_id"), "organizations", ["contest_id"])

    op.create_table(
        "persons",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("contest_id", sa.String(length=36)),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("icpc_id", sa.Text()),
        sa.Column("team_ids", tables.Json, nullable=False),
        sa.Column("details", tables.Json, nullable=False),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name=op.f("fk_persons_contest_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_persons")),
    )
    op.create_index(op.f("ix_persons_contest_id"), "persons", ["contest_id"])

    op.create_table(
        "problem_versions",
        sa.Column("problem_id", sa.String(length=255), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("created", tables.Moment(), nullable=False),
        sa.Column("account_id", sa.String(length=36)),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("manifest", tables.Json),
        sa.ForeignKeyConstraint(
            ["problem_id"], ["problems.id"], name=op.f("fk_problem_versions_problem_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("problem_id", "number", name=op.f("pk_problem_versions")),
    )
    op.create_table(
        "test_cases",
        sa.Column("id", tables.BigId, autoincrement=True, nullable=False),
        sa.Column("problem_id", sa.String(length=255), nullable=False),
        sa.Column("group_name", sa.String(length=255), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("points_num", sa.BigInteger(), nullable=False),
        sa.Column("points_den", sa.BigInteger(), nullable=False),
        sa.Column("input_sha256", sa.String(length=64), nullable=False),
        sa.Column("input_size", sa.BigInteger(), nullable=False),
        sa.Column("answer_sha256", sa.String(length=64)),
        sa.Column("answer_size", sa.BigInteger()),
        sa.Column("reference_raw_num", sa.BigInteger()),
        sa.Column("reference_raw_den", sa.BigInteger()),
        sa.Column("reference_multiplier_num", sa.BigInteger()),
        sa.Column("reference_multiplier_den", sa.BigInteger()),
        sa.Column("checker_args", tables.Json, nullable=False),
        sa.Column("provenance", tables.Json, nullable=False),
        sa.Column("removed", sa.Boolean(), server_default=sa.false(), nullable=False),
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
        sa.Column("require_pass", tables.Json, nullable=False),
        sa.ForeignKeyConstraint(
            ["problem_id"], ["problems.id"], name=op.f("fk_test_groups_problem_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("problem_id", "name", name=op.f("pk_test_groups")),
    )
    op.create_table(
        "registrations",
        sa.Column("contest_id", sa.String(length=36), nullable=False),
        sa.Column("is_open", sa.Boolean(), nullable=False),
        sa.Column("code", sa.String(length=64)),
        sa.Column("most", sa.Integer(), nullable=False),
        sa.Column("until", tables.Moment()),
        sa.Column("group_id", sa.String(length=36)),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name=op.f("fk_registrations_contest_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["group_id"], ["groups.id"], name=op.f("fk_registrations_group_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("contest_id", name=op.f("pk_registrations")),
    )
    op.create_table(
        "teams",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("display_name", sa.Text()),
        sa.Column("hidden", sa.Boolean(), nullable=False),
        sa.Column("icpc_id", sa.Text()),
        sa.Column("organization_id", sa.String(length=36)),
        sa.Column("group_ids", tables.Json, server_default="[]", nullable=False),
        sa.Column("details", tables.Json, server_default="{}", nullable=False),
        sa.ForeignKeyConstraint(["organization_id"], ["organizations.id"], name=op.f("fk_teams_organization_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_teams")),
    )
    op.create_index(op.f("ix_teams_organization_id"), "teams", ["organization_id"])

    op.create_table(
        "accounts",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("username", sa.Text(), nullable=False),
        sa.Column("password_hash", sa.Text()),
        sa.Column("name", sa.Text()),
        sa.Column("type", sa.String(length=16), nullable=False),
        sa.Column("team_id", sa.String(length=36)),
        sa.Column("person_id", sa.String(length=36)),
        sa.Column("created", tables.Moment(), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["persons.id"], name=op.f("fk_accounts_person_id")),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_accounts_team_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_accounts")),
        sa.UniqueConstraint("username", name=op.f("uq_accounts_username")),
    )
    op.create_table(
        "contest_teams",
        sa.Column("contest_id", sa.String(length=36), nullable=False),
        sa.Column("team_id", sa.String(length=36), nullable=False),
        sa.Column("disqualified", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("extra_seconds", sa.Integer(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name=op.f("fk_contest_teams_contest_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_contest_teams_team_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("contest_id", "team_id", name=op.f("pk_contest_teams")),
    )
    op.create_index(op.f("ix_contest_teams_team_id"), "contest_teams", ["team_id"])

    op.create_table(
        "input_requests",
        sa.Column("contest_id", sa.String(length=36), nullable=False),
        sa.Column("team_id", sa.String(length=36), nullable=False),
        sa.Column("problem_id", sa.String(length=255), nullable=False),
        sa.Column("time", tables.Moment(), nullable=False),
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
        "kept_teams",
        sa.Column("team_id", sa.String(length=36), nullable=False),
        sa.Column("contest_id", sa.String(length=36), nullable=False),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name=op.f("fk_kept_teams_contest_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_kept_teams_team_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("team_id", name=op.f("pk_kept_teams")),
    )
    op.create_index(op.f("ix_kept_teams_contest_id"), "kept_teams", ["contest_id"])

    op.create_table(
        "participations",
        sa.Column("contest_id", sa.String(length=36), nullable=False),
        sa.Column("team_id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=8), nullable=False),
        sa.Column("start_time", tables.Moment(), nullable=False),
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
        sa.Column("account_id", sa.String(length=36)),
        sa.Column("from_team_id", sa.String(length=36)),
        sa.Column("to_team_ids", tables.Json),
        sa.Column("to_group_ids", tables.Json),
        sa.Column("reply_to_id", sa.String(length=36)),
        sa.Column("problem_id", sa.String(length=255)),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("time", tables.Moment(), nullable=False),
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
        sa.Column("account_id", sa.String(length=36)),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("details", tables.Json, nullable=False),
        sa.Column("time", tables.Moment(), nullable=False),
        sa.Column("contest_time_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_commentary_account_id")),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name=op.f("fk_commentary_contest_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", "contest_id", name=op.f("pk_commentary")),
    )
    op.create_table(
        "contest_roles",
        sa.Column("contest_id", sa.String(length=36), nullable=False),
        sa.Column("account_id", sa.String(length=36), nullable=False),
        sa.Column("role", sa.String(length=8), nullable=False),
        sa.Column("granted_by", sa.String(length=36)),
        sa.Column("granted", tables.Moment(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_contest_roles_account_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name=op.f("fk_contest_roles_contest_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("contest_id", "account_id", name=op.f("pk_contest_roles")),
    )
    op.create_index(op.f("ix_contest_roles_account_id"), "contest_roles", ["account_id"])

    op.create_table(
        "jobs",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("params", tables.Json, nullable=False),
        sa.Column("progress", sa.Double(), nullable=False),
        sa.Column("log", sa.Text(), nullable=False),
        sa.Column("result", tables.Json),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.String(length=36)),
        sa.Column("created", tables.Moment(), nullable=False),
        sa.Column("started", tables.Moment()),
        sa.Column("ended", tables.Moment()),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_jobs_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
    )
    op.create_index(op.f("ix_jobs_state"), "jobs", ["state"])

    op.create_table(
        "organisers",
        sa.Column("account_id", sa.String(length=36), nullable=False),
        sa.Column("granted_by", sa.String(length=36)),
        sa.Column("granted", tables.Moment(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_organisers_account_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_organisers")),
    )
    op.create_table(
        "problem_roles",
        sa.Column("problem_id", sa.String(length=255), nullable=False),
        sa.Column("account_id", sa.String(length=36), nullable=False),
        sa.Column("role", sa.String(length=8), nullable=False),
        sa.Column("granted_by", sa.String(length=36)),
        sa.Column("granted", tables.Moment(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_problem_roles_account_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["problem_id"], ["problems.id"], name=op.f("fk_problem_roles_problem_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("problem_id", "account_id", name=op.f("pk_problem_roles")),
    )
    op.create_index(op.f("ix_problem_roles_account_id"), "problem_roles", ["account_id"])

    op.create_table(
        "registered",
        sa.Column("contest_id", sa.String(length=36), nullable=False),
        sa.Column("account_id", sa.String(length=36), nullable=False),
        sa.Column("time", tables.Moment(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_registered_account_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name=op.f("fk_registered_contest_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("contest_id", "account_id", name=op.f("pk_registered")),
    )
    op.create_index(op.f("ix_registered_account_id"), "registered", ["account_id"])

    op.create_table(
        "rejudgings",
        sa.Column("id", tables.BigId, autoincrement=True, nullable=False),
        sa.Column("contest_id", sa.String(length=36), nullable=False),
        sa.Column("account_id", sa.String(length=36)),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("selection", tables.Json, nullable=False),
        sa.Column("changes", tables.Json, nullable=False),
        sa.Column("undo", tables.Json, nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("created", tables.Moment(), nullable=False),
        sa.Column("applied", tables.Moment()),
        sa.Column("ended", tables.Moment()),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_rejudgings_account_id")),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name=op.f("fk_rejudgings_contest_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rejudgings")),
    )
    op.create_index(op.f("ix_rejudgings_contest_id"), "rejudgings", ["contest_id"])
    op.create_index(op.f("ix_rejudgings_state"), "rejudgings", ["state"])

    op.create_table(
        "submissions",
        sa.Column("id", tables.BigId, autoincrement=True, nullable=False),
        sa.Column("contest_id", sa.String(length=36), nullable=False),
        sa.Column("problem_id", sa.String(length=255), nullable=False),
        sa.Column("team_id", sa.String(length=36)),
        sa.Column("account_id", sa.String(length=36), nullable=False),
        sa.Column("time", tables.Moment(), nullable=False),
        sa.Column("contest_time_ms", sa.BigInteger(), nullable=False),
        sa.Column("idempotency_key", sa.String(length=255)),
        sa.Column("external_id", sa.String(length=36)),
        sa.Column("comment", sa.Text()),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("files", tables.Json, nullable=False),
        sa.Column("sources", tables.Json, nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_submissions_account_id")),
        sa.ForeignKeyConstraint(["contest_id"], ["contests.id"], name=op.f("fk_submissions_contest_id")),
        sa.ForeignKeyConstraint(["problem_id"], ["problems.id"], name=op.f("fk_submissions_problem_id")),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_submissions_team_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_submissions")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_submissions_contest_id_id", "submissions", ["contest_id", "id"])
    op.create_index("ix_submissions_of_teams", "submissions", ["contest_id", "team_id", "problem_id", "id", "size"])
    op.create_index("uq_submissions_external_id", "submissions", ["contest_id", "external_id"], unique=True)
    op.create_index(
        "uq_submissions_idempotency", "submissions", ["account_id", "contest_id", "idempotency_key"], unique=True
    )

    op.create_table(
        "tokens",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("account_id", sa.String(length=36), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("created", tables.Moment(), nullable=False),
        sa.Column("expires", tables.Moment()),
        sa.Column("issued_by", sa.String(length=36)),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_tokens_account_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["issued_by"], ["accounts.id"], name=op.f("fk_tokens_issued_by"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_tokens")),
    )
    op.create_index(op.f("ix_tokens_account_id"), "tokens", ["account_id"])
    op.create_index(op.f("ix_tokens_issued_by"), "tokens", ["issued_by"])

    op.create_table(
        "webhooks",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("account_id", sa.String(length=36), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("contest_ids", tables.Json, nullable=False),
        sa.Column("endpoints", tables.Json, nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("positions", tables.Json, nullable=False),
        sa.Column("failing_since", tables.Moment()),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text()),
        sa.Column("created", tables.Moment(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_webhooks_account_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhooks")),
    )
    op.create_table(
        "answers",
        sa.Column("submission_id", tables.BigId, nullable=False),
        sa.Column("test_case_id", tables.BigId, nullable=False),
        sa.Column("file_name", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(length=64)),
        sa.Column("data", sa.LargeBinary()),
        sa.Column("refused", tables.Json),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name=op.f("fk_answers_submission_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["test_case_id"], ["test_cases.id"], name=op.f("fk_answers_test_case_id")),
        sa.PrimaryKeyConstraint("submission_id", "test_case_id", name=op.f("pk_answers")),
    )
    op.create_index(op.f("ix_answers_test_case_id"), "answers", ["test_case_id"])

    op.create_table(
        "chosen_submissions",
        sa.Column("contest_id", sa.String(length=36), nullable=False),
        sa.Column("team_id", sa.String(length=36), nullable=False),
        sa.Column("problem_id", sa.String(length=255), nullable=False),
        sa.Column("submission_id", tables.BigId, nullable=False),
        sa.Column("time", tables.Moment(), nullable=False),
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
    op.create_table(
        "games",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("contest_id", sa.String(length=36), nullable=False),
        sa.Column("problem_id", sa.String(length=255), nullable=False),
        sa.Column("test_case_id", tables.BigId),
        sa.Column("case_name", sa.String(length=255)),
        sa.Column("team_id", sa.String(length=36)),
        sa.Column("account_id", sa.String(length=36)),
        sa.Column("owner", sa.String(length=80), nullable=False),
        sa.Column("counted", sa.Boolean(), nullable=False),
        sa.Column("game", sa.String(length=64), nullable=False),
        sa.Column("instance", sa.Text(), nullable=False),
        sa.Column("opponent", sa.String(length=64), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("side", sa.Integer(), nullable=False),
        sa.Column("started", tables.Moment(), nullable=False),
        sa.Column("move_ms", sa.BigInteger()),
        sa.Column("game_ms", sa.BigInteger()),
        sa.Column("moves", sa.Integer(), nullable=False),
        sa.Column("since", tables.Moment(), nullable=False),
        sa.Column("used_ms", sa.BigInteger(), nullable=False),
        sa.Column("deadline", tables.Moment(), nullable=False),
        sa.Column("ended", tables.Moment()),
        sa.Column("ending", sa.String(length=10)),
        sa.Column("winner", sa.Integer()),
        sa.Column("submission_id", tables.BigId),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_games_account_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["contest_id"], ["contests.id"], name=op.f("fk_games_contest_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["problem_id"], ["problems.id"], name=op.f("fk_games_problem_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name=op.f("fk_games_submission_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_games_team_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["test_case_id"], ["test_cases.id"], name=op.f("fk_games_test_case_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_games")),
    )
    op.create_index(op.f("ix_games_account_id"), "games", ["account_id"])
    op.create_index("ix_games_contest_id_owner", "games", ["contest_id", "owner"])
    op.create_index(
        "ix_games_playing",
        "games",
        ["deadline"],
        sqlite_where=sa.text("ended IS NULL"),
        postgresql_where=sa.text("ended IS NULL"),
    )
    op.create_index(
        "ix_games_playing_owner",
        "games",
        ["owner"],
        sqlite_where=sa.text("ended IS NULL"),
        postgresql_where=sa.text("ended IS NULL"),
    )
    op.create_index(op.f("ix_games_team_id"), "games", ["team_id"])

    op.create_table(
        "judgements",
        sa.Column("id", tables.BigId, autoincrement=True, nullable=False),
        sa.Column("submission_id", tables.BigId, nullable=False),
        sa.Column("team_id", sa.String(length=36)),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("lane", sa.Integer(), server_default="1", nullable=False),
        sa.Column("turn", sa.Double()),
        sa.Column("not_before", tables.Moment()),
        sa.Column("waits_for", sa.String(length=64)),
        sa.Column("trace", sa.Text()),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("lost", sa.Integer(), server_default="0", nullable=False),
        sa.Column("process_id", sa.String(length=36)),
        sa.Column("type", sa.String(length=3)),
        sa.Column("current", sa.Boolean(), nullable=False),
        sa.Column("rejudging_id", tables.BigId),
        sa.Column("replaced_id", tables.BigId),
        sa.Column("start_time", tables.Moment(), nullable=False),
        sa.Column("end_time", tables.Moment()),
        sa.Column("error", sa.Text()),
        sa.ForeignKeyConstraint(["rejudging_id"], ["rejudgings.id"], name=op.f("fk_judgements_rejudging_id")),
        sa.ForeignKeyConstraint(
            ["replaced_id"], ["judgements.id"], name=op.f("fk_judgements_replaced_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name=op.f("fk_judgements_submission_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judgements")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_judgements_rejudging_id"), "judgements", ["rejudging_id"])
    op.create_index(op.f("ix_judgements_submission_id"), "judgements", ["submission_id"])
    op.create_index(
        "ix_judgements_waiting",
        "judgements",
        ["rejudging_id", "team_id"],
        sqlite_where=sa.text("state != 'done'"),
        postgresql_where=sa.text("state != 'done'"),
    )
    op.create_index(
        "ix_judgements_queue",
        "judgements",
        ["lane", "turn", "id"],
        sqlite_where=sa.text("state != 'done'"),
        postgresql_where=sa.text("state != 'done'"),
    )
    op.create_index(
        "ix_judgements_replaced_id",
        "judgements",
        ["replaced_id"],
        sqlite_where=sa.text("replaced_id IS NOT NULL"),
        postgresql_where=sa.text("replaced_id IS NOT NULL"),
    )

    op.create_table(
        "game_moves",
        sa.Column("game_id", sa.String(length=36), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("side", sa.Integer(), nullable=False),
        sa.Column("move", sa.Text(), nullable=False),
        sa.Column("ms", sa.BigInteger(), nullable=False),
        sa.Column("time", tables.Moment(), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_game_moves_game_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("game_id", "number", name=op.f("pk_game_moves")),
    )
    op.create_table(
        "raw_scores",
        sa.Column("judgement_id", tables.BigId, nullable=False),
        sa.Column("test_case_id", tables.BigId, nullable=False),
        sa.Column("verdict", sa.String(length=16), nullable=False),
        sa.Column("raw_num", sa.BigInteger()),
        sa.Column("raw_den", sa.BigInteger()),
        sa.Column("max_raw_num", sa.BigInteger()),
        sa.Column("max_raw_den", sa.BigInteger()),
        sa.Column("multiplier_num", sa.BigInteger()),
        sa.Column("multiplier_den", sa.BigInteger()),
        sa.Column("message", tables.Json, nullable=False),
        sa.Column("judge_message", sa.Text()),
        sa.Column("images", tables.Json),
        sa.Column("run_time_ms", sa.Integer(), nullable=False),
        sa.Column("time", tables.Moment(), nullable=False),
        sa.ForeignKeyConstraint(
            ["judgement_id"], ["judgements.id"], name=op.f("fk_raw_scores_judgement_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["test_case_id"], ["test_cases.id"], name=op.f("fk_raw_scores_test_case_id")),
        sa.PrimaryKeyConstraint("judgement_id", "test_case_id", name=op.f("pk_raw_scores")),
    )
    op.create_index(op.f("ix_raw_scores_test_case_id"), "raw_scores", ["test_case_id"])

    _forbid_changes_of_the_audit_log()


def _forbid_changes_of_the_audit_log() -> None:
    """Entries are added, and removed when they are too old; the database itself refuses to change one."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            "CREATE TRIGGER audit_log_is_append_only BEFORE UPDATE ON audit_log "
            f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
        )
        return
    op.execute(
        "CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{REFUSAL}'; END $$"
    )
    op.execute(
        "CREATE TRIGGER audit_log_is_append_only BEFORE UPDATE ON audit_log "
        "FOR EACH ROW EXECUTE FUNCTION refuse_audit_change()"
    )


def downgrade() -> None:
    raise NotImplementedError("no schema comes before this one: delete the database")
