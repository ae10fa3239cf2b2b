"""The addresses that webhooks may call.

Calls go only to public or allowed addresses, checked after name resolution (guarantee 4).
"""

import asyncio
import socket
from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import httpx

Network = IPv4Network | IPv6Network
# Networks that are never called, in addition to those that `ipaddress` knows as private: most of them embed an IPv4
# address, which a gateway forwards to, and which may be inside a network.
NOT_PUBLIC = [
    ip_network(each)
    for each in (
        "192.0.0.0/24",  # IETF protocol assignments, 192.0.0.8 among them
        "::/96",  # IPv4-compatible, such as ::10.0.0.1
        "64:ff9b::/96",  # NAT64
        "64:ff9b:1::/48",  # NAT64 within a network
        "2001::/32",  # Teredo
        "2002::/16",  # 6to4
        "fec0::/10",  # site-local
    )
]


def networks_of(text: str) -> list[Network]:
    """Networks and addresses, with commas between them; raises ValueError for what is none."""
    return [ip_network(each) for each in map(str.strip, text.split(",")) if each]


def hosts_of(text: str) -> list[str]:
    """Names of hosts, with commas between them."""
    return [each.lower() for each in map(str.strip, text.split(",")) if each]


class Refused(httpx.ConnectError):
    """An address that no webhook may have."""


class Outward(httpx.AsyncHTTPTransport):
    """Connects only to public addresses and those in `allowed`, and only to `hosts` if any are given.

    A name is resolved once, and the connection goes to that very address: a second answer of a name server, or a proxy
    of the environment, cannot redirect it. Connections are not reused, because another name may share the address.
    """

    def __init__(self, allowed: Sequence[Network], hosts: Sequence[str]) -> None:
        super().__init__(trust_env=False, limits=httpx.Limits(max_keepalive_connections=0))
        self._allowed = allowed
        self._hosts = hosts

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request to the resolved address; raises Refused for an address that is not allowed."""
        host = request.url.host
        address = await resolved(host, request.url.port or 0, self._allowed, self._hosts)
        request.url = request.url.copy_with(host=address)  # the header Host is written already
        request.extensions = {**request.extensions, "sni_hostname": host}
        return await super().handle_async_request(request)


async def resolved(host: str, port: int, allowed: Sequence[Network], hosts: Sequence[str]) -> str:
    """Resolve a host to an address that webhooks may call.

    Raises Refused for an address that is not allowed, and httpx.ConnectError for an unknown name.
    """
    if hosts and host.lower() not in hosts:
        raise Refused(f"{host} is not in JURADO_WEBHOOK_HOSTS")
    try:
        loop = asyncio.get_running_loop()
        answers = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:  # the latter where a part of the name is empty or over 63 characters
        raise httpx.ConnectError(f"{host}: {getattr(error, 'strerror', None) or error}") from None
    addresses = [str(answer[4][0]) for answer in answers]
    if refused := [each for each in addresses if not may_be_called(each, allowed)]:
        raise Refused(f"{host} is {refused[0]}, inside a network (JURADO_WEBHOOK_NETWORKS names those allowed)")
    return addresses[0]


def may_be_called(address: str, allowed: Sequence[Network]) -> bool:
    """Whether an address is public, or in one of the networks allowed."""
    parsed = ip_address(address.partition("%")[0])
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is not None:
        parsed = parsed.ipv4_mapped
    if any(parsed in network for network in allowed if network.version == parsed.version):
        return True
    if any(parsed in network for network in NOT_PUBLIC if network.version == parsed.version):
        return False
    return parsed.is_global and not parsed.is_multicast
