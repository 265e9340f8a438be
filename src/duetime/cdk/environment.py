"""Check a function's environment at synthesis. Lambda allows 4 KB, and duetime rejects unknown names."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from aws_cdk import Stack
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from duetime.environment import PREFIX
from duetime.errors import SettingsError
from duetime.settings import check_variables

LARGEST = 4_096
"""Bytes of all variables together, as JSON: Lambda's quota."""

_TOKEN = re.compile(r"\$\{Token\[(?P<name>[^\]]*)\]\}")
_KNOWN = {"AWS.Partition": 10, "AWS.Region": 14, "AWS.AccountId": 12, "AWS.URLSuffix": 16}
"""Bytes of values known only at deployment, such as ``aws-us-gov`` and ``ap-southeast-1``."""

_UNKNOWN = 90
"""Bytes of other values: a queue's URL or an ARN with a name of usual length."""

_URL = "https://sqs.ap-southeast-1.amazonaws.com/123456789012/"
_SHOWN = 3

_REMEDIES = {
    "roles": "grant what actions and jobs need at run time (PUT /grants/{role})",
    "identities": "let services of one tenant and the same roles share one IAM role",
    "targets": "grant fewer targets",
    "queues": "deploy fewer workers, or give them shorter names",
}


def check_environment(scope: Construct, function: str, environment: Mapping[str, str]) -> None:
    """Check that a function can start with an environment.

    Raises:
        SettingsError: a name is unknown; or it is too large. The message names the largest settings, and
            remedies.
    """
    check_variables(environment)
    if _size(environment, {}) <= LARGEST:
        return
    urls = _urls(scope)  # exact, but slow
    size = _size(environment, urls)
    if size > LARGEST:
        raise SettingsError([_message(function, size, environment, urls)])


def _message(function: str, size: int, environment: Mapping[str, str], urls: Mapping[str, str]) -> str:
    sizes = {name: _size({name: value}, urls) for name, value in environment.items()}
    largest = sorted(sizes, key=lambda name: -sizes[name])[:_SHOWN]
    names = {name: name.removeprefix(PREFIX).lower() for name in largest}
    listed = ", ".join(f"{names[name]} ({sizes[name]:,})" for name in largest)
    remedies = "; ".join(_REMEDIES[name] for name in names.values() if name in _REMEDIES)
    return (
        f"the environment of {function} is {size:,} bytes; Lambda allows {LARGEST:,}. The largest settings in"
        f" it are {listed}; {remedies or 'shorten them'}"
    )


def _size(environment: Mapping[str, str], urls: Mapping[str, str]) -> int:
    """Return the bytes of the JSON that Lambda measures, with tokens as long as their deployed values."""
    deployed = {name: _deployed(value, urls) for name, value in environment.items()}
    return len(json.dumps(deployed, ensure_ascii=False, separators=(",", ":")).encode())


def _deployed(value: str, urls: Mapping[str, str]) -> str:
    for token, url in urls.items():
        value = value.replace(token, url)
    return _TOKEN.sub(lambda found: "x" * _KNOWN.get(found["name"].rpartition(".")[0], _UNKNOWN), value)


def _urls(scope: Construct) -> Mapping[str, str]:
    """Return a URL of the deployed length for each queue of the stack."""
    queues = [part for part in Stack.of(scope).node.find_all() if isinstance(part, sqs.Queue)]
    return {queue.queue_url: f"{_URL}{_name_of(queue)}" for queue in queues}


def _name_of(queue: sqs.Queue) -> str:
    made = queue.node.default_child
    return (made.queue_name or "") if isinstance(made, sqs.CfnQueue) else ""
