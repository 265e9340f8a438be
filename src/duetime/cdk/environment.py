"""The environment of a function, measured before it is deployed: Lambda takes 4 KB, and would refuse more half-way."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from aws_cdk import Stack
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from duetime.environment import PREFIX
from duetime.errors import SettingsError

LARGEST = 4_096
"""Bytes of all variables together, as JSON: Lambda's quota."""

_TOKEN = re.compile(r"\$\{Token\[(?P<name>[^\]]*)\]\}")
_KNOWN = {"AWS.Partition": 10, "AWS.Region": 14, "AWS.AccountId": 12, "AWS.URLSuffix": 16}
"""Bytes of what is known only when it is deployed: as in ``aws-us-gov`` and ``ap-southeast-1``."""

_UNKNOWN = 90
"""Of anything else: a queue's URL or an ARN with a name of usual length."""

_URL = "https://sqs.ap-southeast-1.amazonaws.com/123456789012/"
_SHOWN = 3

_REMEDIES = {
    "roles": "grant what actions and jobs need at run time (PUT /grants/{role})",
    "identities": "let services of one tenant and the same roles share one IAM role",
    "queues": "deploy fewer workers, or give them shorter names",
}


def check_size(scope: Construct, function: str, environment: Mapping[str, str]) -> None:
    """Refuse what Lambda would refuse.

    Raises:
        SettingsError: it is too large; with the largest settings, and what to do about them.
    """
    if _size(environment, {}) <= LARGEST:
        return
    urls = _urls(scope)  # exactly, and slowly, where it matters
    size = _size(environment, urls)
    if size > LARGEST:
        raise SettingsError([_told(function, size, environment, urls)])


def _told(function: str, size: int, environment: Mapping[str, str], urls: Mapping[str, str]) -> str:
    sizes = {name: _size({name: value}, urls) for name, value in environment.items()}
    largest = sorted(sizes, key=lambda name: -sizes[name])[:_SHOWN]
    names = {name: name.removeprefix(PREFIX).lower() for name in largest}
    told = ", ".join(f"{names[name]} ({sizes[name]:,})" for name in largest)
    remedies = "; ".join(_REMEDIES[name] for name in names.values() if name in _REMEDIES)
    return (
        f"the environment of {function} is {size:,} bytes; Lambda takes {LARGEST:,}. The largest settings in it are"
        f" {told}; {remedies or 'shorten them'}"
    )


def _size(environment: Mapping[str, str], urls: Mapping[str, str]) -> int:
    """Bytes of the JSON in which Lambda measures it, with tokens as long as what they will stand for."""
    whole = {name: _deployed(value, urls) for name, value in environment.items()}
    return len(json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode())


def _deployed(value: str, urls: Mapping[str, str]) -> str:
    for token, url in urls.items():
        value = value.replace(token, url)
    return _TOKEN.sub(lambda found: "x" * _length(found["name"]), value)


def _length(name: str) -> int:
    return _KNOWN.get(name.rpartition(".")[0], _UNKNOWN)


def _urls(scope: Construct) -> Mapping[str, str]:
    """What the URL of each queue of the stack will be like: as long as its name makes it."""
    queues = [each for each in Stack.of(scope).node.find_all() if isinstance(each, sqs.Queue)]
    return {queue.queue_url: f"{_URL}{_name_of(queue)}" for queue in queues}


def _name_of(queue: sqs.Queue) -> str:
    made = queue.node.default_child
    return (made.queue_name or "") if isinstance(made, sqs.CfnQueue) else ""
