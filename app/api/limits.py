"""Failed logins are limited, by username and address and by address alone, with the library `limits`."""

from __future__ import annotations

import time

from limits import RateLimitItem, parse
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from app.api.errors import TooManyRequests

OF_ONE_ACCOUNT = "10/minute"
OF_ONE_ADDRESS = "200/minute"  # a whole school may share an address


class LoginLimit:
    """Counts failed logins. Right passwords cost nothing, and whoever is remembered is never asked again."""

    def __init__(self, account: str = OF_ONE_ACCOUNT, address: str = OF_ONE_ADDRESS) -> None:
        self._counts = MovingWindowRateLimiter(MemoryStorage())
        self._account = parse(account)
        self._address = parse(address)

    def check(self, username: str, address: str) -> None:
        """Refuse a guess after too many failures; raises TooManyRequests with the seconds to wait."""
        for limit, keys in self._both(username, address):
            if not self._counts.test(limit, *keys):
                reset = self._counts.get_window_stats(limit, *keys).reset_time
                raise TooManyRequests("too many failed logins, try again later", int(reset - time.time()) + 1)

    def failed(self, username: str, address: str) -> None:
        """Count one failure."""
        for limit, keys in self._both(username, address):
            self._counts.hit(limit, *keys)

    def _both(self, username: str, address: str) -> list[tuple[RateLimitItem, tuple[str, ...]]]:
        return [(self._account, ("account", username, address)), (self._address, ("address", address))]
