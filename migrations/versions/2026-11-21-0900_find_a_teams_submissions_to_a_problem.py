"""find a team's submissions to a problem."""

from __future__ import annotations

from alembic import op

revision = "83d68422ca6f"
down_revision = "5b0e6a1c9d27"
branch_labels = None
depends_on = None

NAME = "ix_submissions_contest_id_team_id_problem_id"


def upgrade() -> None:
    op.create_index(NAME, "submissions", ["contest_id", "team_id", "problem_id"])


def downgrade() -> None:
    op.drop_index(NAME, "submissions")
