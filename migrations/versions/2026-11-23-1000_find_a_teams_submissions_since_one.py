"""find a team's submissions since one."""

from __future__ import annotations

from alembic import op

revision = "b92d6e41f07c"
down_revision = "e18b5c07d3fa"
branch_labels = None
depends_on = None

OLD, NEW = "ix_submissions_contest_id_team_id_problem_id", "ix_submissions_of_teams"
PLACE = ["contest_id", "team_id", "problem_id"]


def upgrade() -> None:
    op.drop_index(OLD, "submissions")
    op.create_index(NEW, "submissions", [*PLACE, "id"])


def downgrade() -> None:
    op.drop_index(NEW, "submissions")
    op.create_index(OLD, "submissions", PLACE)
