"""Addresses of clients as they are counted: by the /64 for IPv6, as one subscriber may choose any address of it."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv6Address, ip_address

BITS_OF_A_SUBSCRIBER = 64
MOST_REMEMBERED = 4096


@lru_cache(maxsize=MOST_REMEMBERED)
def source_of(address: str) -> str:
    """The address to count by: of IPv6 the /64, of IPv4 written as IPv6 the IPv4; what is no address, as it is."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    network = int(parsed) >> BITS_OF_A_SUBSCRIBER << BITS_OF_A_SUBSCRIBER
    return f"{IPv6Address(network)}/{BITS_OF_A_SUBSCRIBER}"
