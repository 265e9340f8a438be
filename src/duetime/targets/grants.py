"""Grants: the allow-list of targets. No target outside of it is reached."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self
from urllib.parse import urlsplit

from duetime.errors import DeclarationError, truncate
from duetime.retry import Fatal
from duetime.targets.addresses import host_and_port
from duetime.targets.payloads import (
    NAMED_BY,
    BatchJob,
    DurableCallback,
    DurableExecution,
    EcsTask,
    EventBridgeEvent,
    LambdaInvocation,
    SnsMessage,
    SqsMessage,
    StateMachineExecution,
    Target,
    Webhook,
)

_ARN = re.compile(r"arn:[a-z-]+:(?P<service>[a-z]+):[a-z0-9-]*:[0-9]*:(?P<name>.+)")
_HOST_AND_PORT = re.compile(r"[^/?#@\\:\[\]]+(?::[0-9]{1,5})?")
_TOKEN = "${Token["  # noqa: S105 - the beginning of a value that CloudFormation fills in
_SECRETS = ("env:", "arn:")
_DELIVER_TO = re.compile(r"http://(?P<host>[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\]):(?P<port>[0-9]{1,5})")

SERVICES: Mapping[str, type[Target]] = {
    "sqs": SqsMessage,
    "sns": SnsMessage,
    "events": EventBridgeEvent,
    "lambda": LambdaInvocation,
    "states": StateMachineExecution,
    "ecs": EcsTask,
    "batch": BatchJob,
    "durable": DurableExecution,
    "callback": DurableCallback,
}
"""The payload of a granted ARN, by the ARN's service; the last two are of a durable function of Lambda."""

_OPTIONS = {"ecs": ("cluster", "container"), "batch": ("queue",)}
_KINDS = ("function:", "stateMachine:", "event-bus/", "task-definition/", "job-definition/")


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetGrant:
    """A granted resource of AWS.

    Attributes:
        arn: of a queue, a topic, an event bus, a function, a state machine, a task or job definition.
        service: by default that of the ARN; ``durable`` to start a durable function, ``callback`` to end its
            callbacks.
        options: of ECS ``cluster`` and ``container``, with ``subnets``, ``security_groups`` and ``public``;
            of Batch ``queue``.
        tenants: whose actions may reach it; empty: all tenants'.

    Raises:
        DeclarationError: the ARN is of none of these, or an option is missing.
    """

    arn: str
    service: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    tenants: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        found = _ARN.fullmatch(self.arn)
        service = self.service or (found["service"] if found else "")
        if service not in SERVICES:
            raise DeclarationError(
                f"the target is {truncate(self.arn, 80)!r}; allowed is the ARN of a queue, a topic, an event"
                " bus, a function, a state machine, a task definition or a job definition, or https:// and a"
                " host for webhooks"
            )
        if missing := [name for name in _OPTIONS.get(service, ()) if not self.options.get(name)]:
            raise DeclarationError(f"the target {truncate(self.arn, 80)!r} needs the option {missing[0]!r}")
        object.__setattr__(self, "service", service)

    def matches(self, given: str) -> bool:
        """Return whether a payload names it: by its ARN, its name, or a queue's URL.

        A name needs no revision and no qualifier.
        """
        if given == self.arn:
            return True
        *_, account, name = self.arn.split(":", 5)
        for kind in _KINDS:
            name = name.removeprefix(kind)
        is_url = self.service == "sqs" and given.startswith(("https://", "http://"))
        return (
            urlsplit(given).path == f"/{account}/{name}"
            if is_url
            else given in {name, name.partition(":")[0]}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookHost:
    """A granted host of webhooks.

    Attributes:
        host: such as ``hooks.acme.example``; with a port, if it is not 443.
        secret: a reference to the signing secret: ``env:NAME``, or the ARN of a secret in Secrets Manager or
            of a parameter in SSM. Empty: requests have no signature.
        tenants: whose actions may reach it; empty: all tenants'.
        deliver_to: for the local cloud and tests: requests to the host go to this address instead, such as
            ``http://127.0.0.1:9000``, without TLS.

    Raises:
        DeclarationError: one of them has another form.
    """

    host: str
    secret: str = ""
    deliver_to: str = ""
    tenants: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        try:
            host_and_port(f"https://{_alone(self.host)}/")
        except ValueError as error:
            raise DeclarationError(
                f"the host {truncate(self.host, 80)!r} cannot be granted: {error}"
            ) from None
        if self.secret and not self.secret.startswith((*_SECRETS, _TOKEN)):
            raise DeclarationError(
                f"the secret of {self.host} is no reference; allowed is env:NAME, or the ARN of a secret or a"
                " parameter"
            )
        if self.deliver_to and not _DELIVER_TO.fullmatch(self.deliver_to):
            raise DeclarationError(
                f"deliver_to is {truncate(self.deliver_to, 80)!r}; allowed is such as http://127.0.0.1:9000"
            )

    @property
    def address(self) -> tuple[str, int] | None:
        """The address that stands in for the host; None without one."""
        if not self.deliver_to:
            return None
        parts = urlsplit(self.deliver_to)
        return str(parts.hostname), int(parts.port or 0)

    def matches(self, given: str) -> bool:
        """Return whether a payload's URL has this host and port."""
        return host_and_port(given) == host_and_port(f"https://{self.host}/")


Grant = TargetGrant | WebhookHost


def parse_grant(text: str) -> Grant:
    """Return the grant of an ARN, or of ``https://host`` with options.

    The options follow after commas: ``https://hooks.acme.example,secret=env:SECRET,deliver_to=http://…``.

    Raises:
        DeclarationError: it is neither.
    """
    if not text.startswith("https://"):
        return TargetGrant(arn=text)
    url, *options = text.split(",")
    given = dict(option.partition("=")[::2] for option in options)
    if unknown := given.keys() - {"secret", "deliver_to"}:
        raise DeclarationError(f"{min(unknown)!r} is no option; allowed are secret and deliver_to")
    return WebhookHost(
        host=url.removeprefix("https://").removesuffix("/"),
        secret=given.get("secret", ""),
        deliver_to=given.get("deliver_to", ""),
    )


@dataclass(frozen=True, slots=True)
class Grants:
    """The granted targets of a worker."""

    granted: tuple[Grant, ...] = ()

    @classmethod
    def of_all(cls, grants: Iterable[Grant | str]) -> Self:
        """Return the grants; texts are parsed.

        Raises:
            DeclarationError: as `parse_grant`.
        """
        return cls(tuple(parse_grant(grant) if isinstance(grant, str) else grant for grant in grants))

    @classmethod
    def from_json(cls, written: str) -> Self:
        """Read the result of `to_json`."""
        return cls(tuple(_grant_of(entry) for entry in json.loads(written)))

    def to_json(self) -> str:
        """Return them for the environment of the worker."""
        written = [{name: value for name, value in asdict(grant).items() if value} for grant in self.granted]
        return json.dumps(written, separators=(",", ":"))

    @property
    def payloads(self) -> Sequence[type[Target]]:
        """The payloads that reach one of them."""
        return tuple(dict.fromkeys(map(_payload_of, self.granted)))

    def find(self, payload: Target, tenant_id: str) -> Grant:
        """Return the grant of what a payload names.

        Raises:
            Fatal: it is not granted to this tenant, or several resources have that name.
        """
        kind = type(payload)
        given = getattr(payload, NAMED_BY[kind])
        usable = [
            grant
            for grant in self.granted
            if _payload_of(grant) is kind and (not grant.tenants or tenant_id in grant.tenants)
        ]
        found = [grant for grant in usable if grant.matches(given)]
        if len(found) == 1:
            return found[0]
        names = truncate(
            ", ".join(grant.arn if isinstance(grant, TargetGrant) else grant.host for grant in usable)
            or "none",
            300,
        )
        if found:
            raise Fatal(f"{truncate(given, 200)!r} names {len(found)} granted targets; use an ARN: {names}")
        raise Fatal(
            f"{truncate(given, 200)!r} is not granted to the tenant {tenant_id!r}; granted are: {names}."
            " Call scheduler.grant_target in the stack, deploy, then redrive the action"
        )


def _payload_of(grant: Grant) -> type[Target]:
    return Webhook if isinstance(grant, WebhookHost) else SERVICES[grant.service]


def _grant_of(entry: Mapping[str, Any]) -> Grant:
    kind: type[Grant] = TargetGrant if "arn" in entry else WebhookHost
    return kind(**{**entry, "tenants": tuple(entry.get("tenants", ()))})


def _alone(host: str) -> str:
    if not _HOST_AND_PORT.fullmatch(host):
        raise ValueError("it is more than a host name; grant the host alone, without https:// and path")
    return host
