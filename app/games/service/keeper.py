"""The keeper of games: ends those whose time has run out, also those that ran out while no server was there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta

from app.core.clock import utc_now
from app.core.loops import Loop
from app.core.service import Service
from app.games.queries import games as stored
from app.games.service.ending import AT_ONCE, end_due
from app.tables import GameRow

SECONDS_BETWEEN_LOOKS = 1.0
LOOKS_BETWEEN_CLEANINGS = 3600
LOCK = "clocks of games"
KEPT_OF_NOBODY = timedelta(days=7)
"""The time for which practice games that were played without login stay after their end."""


class Keeper:
    """A loop that looks at the deadlines; `on_ended` is called with the games that it has ended.

    Of several processes on a database one looks at a time.
    """

    def __init__(self, service: Service, on_ended: Callable[[Sequence[GameRow]], None]) -> None:
        self._service = service
        self._on_ended = on_ended
        self._generation = -1
        self._looks = 0
        self._loop = Loop("games", self._step, SECONDS_BETWEEN_LOOKS)

    def start(self) -> None:
        """Begin to look."""
        self._loop.start()

    def close(self) -> None:
        """Stop looking."""
        self._loop.close()

    def look(self) -> None:
        """End what is over now. After an admin's change every counted game is looked at: its contest may end sooner."""
        now = utc_now()
        generation = self._service.database.generation
        with self._service.database.read() as session:
            games = stored.due(session, now, AT_ONCE)
            if generation != self._generation:
                known_ids = {game.id for game in games}
                games += [game for game in stored.counted_playing(session) if game.id not in known_ids]
        for at in range(0, len(games), AT_ONCE):
            self._on_ended(end_due(self._service, games[at : at + AT_ONCE], now))
        self._generation = generation

    def clean(self) -> None:
        """Remove practice games of nobody that ended long ago."""
        with self._service.database.write(quiet=True) as session:
            stored.remove_old(session, utc_now() - KEPT_OF_NOBODY)

    def _step(self) -> None:
        if not self._service.locks.take(LOCK):
            self._generation = -1  # if this process is the next to look, it looks at all games
            return
        self.look()
        if self._looks % LOOKS_BETWEEN_CLEANINGS == 0:
            self.clean()
        self._looks += 1
