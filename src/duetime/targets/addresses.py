"""The addresses to which a webhook may go: public ones, by a host name, over TLS."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

from duetime.errors import truncate

Lookup = Callable[..., Sequence[tuple[Any, ...]]]
"""As `socket.getaddrinfo`."""

HTTPS_PORT = 443
_LARGEST_PORT = 65_535
_HOST = re.compile(
    r"(?=.{4,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?"
)
"""At least two labels, the last of which begins with a letter: so no form of an IP address matches."""
_LOCAL = ("localhost", "local", "internal", "localdomain", "home.arpa", "in-addr.arpa", "ip6.arpa")
_URL = re.compile(r"[!-~]+")

_SPECIAL = tuple(map(ipaddress.IPv4Network, ("192.0.0.0/24", "192.88.99.0/24")))
"""Networks of protocols, one with the metadata of a cloud; some versions of Python call them public."""

_EMBEDDING = tuple(
    map(
        ipaddress.IPv6Network,
        (
            "::/96",  # IPv4-compatible, the unspecified address and the loopback
            "::ffff:0:0/96",  # IPv4-mapped
            "::ffff:0:0:0/96",  # IPv4-translated
            "64:ff9b::/96",  # NAT64
            "64:ff9b:1::/48",  # NAT64 of a network's own
            "2001::/32",  # Teredo
            "2002::/16",  # 6to4
            "fec0::/10",  # site-local
        ),
    )
)
"""Networks of IPv6 that may lead to an address of IPv4, or to the site."""


class AddressForbidden(Exception):
    """A name resolves to an address that a webhook must not reach."""


def checked_url(url: str) -> str:
    """Return a webhook's URL as given.

    Raises:
        ValueError: it is no ``https://`` URL of a public host name, or has a user or a fragment.
    """
    host_and_port(url)
    return url


def host_and_port(url: str) -> tuple[str, int]:
    """Return the host, in lower case, and the port of a webhook's URL.

    Raises:
        ValueError: as `checked_url`. The host is an IP address in any form, ``localhost``, or a name of one
            label, among others.
    """
    if not _URL.fullmatch(url) or "\\" in url:
        raise ValueError("it has spaces, backslashes or characters beyond ASCII; encode them with %")
    parts = urlsplit(url)
    try:
        port = HTTPS_PORT if parts.port is None else parts.port
    except ValueError:
        raise ValueError(f"its port cannot be read; allowed is a number up to {_LARGEST_PORT:,}") from None
    if parts.scheme != "https":
        raise ValueError(f"its scheme is {truncate(parts.scheme, 20)!r}; allowed is https")
    if "@" in parts.netloc or parts.fragment:
        raise ValueError(
            "it has a user, a password or a fragment; remove them: the signature proves the sender"
        )
    if not 1 <= port <= _LARGEST_PORT:
        raise ValueError(f"its port is {port}; allowed is 1 to {_LARGEST_PORT:,}")
    host = parts.hostname or ""
    name = host.removesuffix(".")
    if not _HOST.fullmatch(name) or any(name == part or name.endswith(f".{part}") for part in _LOCAL):
        raise ValueError(
            f"its host is {truncate(host, 80)!r}; allowed is a public host name such as hooks.acme.example:"
            " no IP address, no localhost"
        )
    return name, port


def public_addresses(host: str, port: int, lookup: Lookup = socket.getaddrinfo) -> list[str]:
    """Resolve a name once; return its addresses, in the resolver's order.

    Raises:
        AddressForbidden: one of them is not public.
        OSError: the name does not resolve.
    """
    found = lookup(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    if not addresses:
        raise OSError(f"{host} has no address")
    if forbidden := [address for address in addresses if not is_public(address)]:
        raise AddressForbidden(
            f"{host} resolves to {forbidden[0]}, which is not public; webhooks go to public addresses only"
        )
    return addresses


def is_public(address: str) -> bool:
    """Return whether an address is on the public internet: not private, loopback, link-local or embedded."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:  # with a zone: link-local
        return False
    if found.is_multicast or found.is_reserved or not found.is_global:
        return False
    forbidden = _SPECIAL if isinstance(found, ipaddress.IPv4Address) else _EMBEDDING
    return not any(found in network for network in forbidden)
