"""tell accounts of submissions what their teams are told: the events of both had the same data."""

from __future__ import annotations

from alembic import op

revision = "d1b7f03c64ea"
down_revision = "c7f21e5a9b04"
branch_labels = None
depends_on = None

OF_ACCOUNTS = "type = 'submissions' AND audience = 'a'"


def upgrade() -> None:
    op.execute(
        f"DELETE FROM events WHERE {OF_ACCOUNTS}"
        " AND id < (SELECT max(later.id) FROM events AS later WHERE later.contest_id = events.contest_id)"
    )
    # The last event of a log stays: its id is where the log goes on.
    op.execute(
        "UPDATE events SET audience = 'o', owner = (SELECT team_id FROM accounts WHERE accounts.id = events.owner)"
        f" WHERE {OF_ACCOUNTS}"
    )


def downgrade() -> None:
    """Leave the log: an older version tells accounts of their submissions again."""
