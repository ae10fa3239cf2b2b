"""let two people play a game."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.core.db.columns import Moment

revision = "3b9e60c4d7a1"
down_revision = "897467d1b96b"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Not in batch mode: SQLite would make the table anew, and its moves are gone with the old one.
    op.add_column("games", sa.Column("guest", sa.String(length=36), nullable=True))
    op.execute(
        "ALTER TABLE games ADD COLUMN guest_account_id VARCHAR(36)"
        " CONSTRAINT fk_games_guest_account_id REFERENCES accounts (id) ON DELETE SET NULL"
    )
    op.add_column("games", sa.Column("joined", Moment(), nullable=True))
    op.create_index("ix_games_guest", "games", ["guest"], unique=True)
    op.create_index("ix_games_guest_account_id", "games", ["guest_account_id"])


def downgrade() -> None:
    op.execute("DELETE FROM games WHERE guest IS NOT NULL")  # for practice alone, and older programs know no guests
    op.drop_index("ix_games_guest_account_id", "games")
    op.drop_index("ix_games_guest", "games")
    for column in ("joined", "guest_account_id", "guest"):
        op.drop_column("games", column)
