"""keep games against the judge, and their moves."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.core.db import columns

revision = "897467d1b96b"
down_revision = "7c1e5b90d2fa"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "games",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("contest_id", sa.String(length=36), nullable=False),
        sa.Column("problem_id", sa.String(length=255), nullable=False),
        sa.Column("test_case_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("case_name", sa.String(length=255), nullable=True),
        sa.Column("team_id", sa.String(length=36), nullable=True),
        sa.Column("account_id", sa.String(length=36), nullable=True),
        sa.Column("owner", sa.String(length=80), nullable=False),
        sa.Column("counted", sa.Boolean(), nullable=False),
        sa.Column("game", sa.String(length=64), nullable=False),
        sa.Column("instance", sa.Text(), nullable=False),
        sa.Column("opponent", sa.String(length=64), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("side", sa.Integer(), nullable=False),
        sa.Column("started", columns.Moment(timezone=True), nullable=False),
        sa.Column("move_ms", sa.BigInteger(), nullable=True),
        sa.Column("game_ms", sa.BigInteger(), nullable=True),
        sa.Column("moves", sa.Integer(), nullable=False),
        sa.Column("since", columns.Moment(timezone=True), nullable=False),
        sa.Column("used_ms", sa.BigInteger(), nullable=False),
        sa.Column("deadline", columns.Moment(timezone=True), nullable=False),
        sa.Column("ended", columns.Moment(timezone=True), nullable=True),
        sa.Column("ending", sa.String(length=10), nullable=True),
        sa.Column("winner", sa.Integer(), nullable=True),
        sa.Column("submission_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
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
    with op.batch_alter_table("games", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_games_account_id"), ["account_id"], unique=False)
        batch_op.create_index("ix_games_contest_id_owner", ["contest_id", "owner"], unique=False)
        batch_op.create_index(
            "ix_games_playing",
            ["deadline"],
            unique=False,
            sqlite_where=sa.text("ended IS NULL"),
            postgresql_where=sa.text("ended IS NULL"),
        )
        batch_op.create_index(
            "ix_games_playing_owner",
            ["owner"],
            unique=False,
            sqlite_where=sa.text("ended IS NULL"),
            postgresql_where=sa.text("ended IS NULL"),
        )
        batch_op.create_index(batch_op.f("ix_games_team_id"), ["team_id"], unique=False)

    op.create_table(
        "game_moves",
        sa.Column("game_id", sa.String(length=36), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("side", sa.Integer(), nullable=False),
        sa.Column("move", sa.Text(), nullable=False),
        sa.Column("ms", sa.BigInteger(), nullable=False),
        sa.Column("time", columns.Moment(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_game_moves_game_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("game_id", "number", name=op.f("pk_game_moves")),
    )


def downgrade() -> None:
    op.drop_table("game_moves")
    op.drop_table("games")
