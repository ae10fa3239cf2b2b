"""enrol the teams of final contests that are open to all.

Whoever is not enrolled in such a contest came when it was final, and is on no board of it.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "1c7f0e2a9b64"
down_revision = "83d68422ca6f"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        sa.text(
            "INSERT INTO contest_teams (contest_id, team_id, disqualified)"
            " SELECT contests.id, teams.id, :no FROM contests CROSS JOIN teams"
            " WHERE contests.open_to_all AND contests.finalized IS NOT NULL AND NOT EXISTS ("
            "SELECT 1 FROM contest_teams"
            " WHERE contest_teams.contest_id = contests.id AND contest_teams.team_id = teams.id)"
        ).bindparams(no=False)
    )


def downgrade() -> None:
    """Nothing: before, it made no difference whether they were enrolled."""
