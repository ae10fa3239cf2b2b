"""Write a new migration from the difference between the tables and an up-to-date database.

    python scripts/new_migration.py "add verdicts"

The file is named by date and deed; read it before you commit it.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from alembic import command

from app.core.db.migrate import alembic_config, upgrade


def main() -> None:
    """Make a scratch database, bring it up to date and let Alembic compare."""
    deed = " ".join(sys.argv[1:])
    if not deed:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'scratch.db'}"
        upgrade(url)
        config = alembic_config(url)
        config.set_main_option("file_template", "%%(year)d-%%(month).2d-%%(day).2d-%%(hour).2d%%(minute).2d_%%(slug)s")
        command.revision(config, message=deed, autogenerate=True)


if __name__ == "__main__":
    main()
