"""Find contradictions between settings, deployment and workers at synthesis, all of them at once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from duetime import ids
from duetime.api.authenticator import ANY_SIGNER
from duetime.cdk.deployment import Deployment
from duetime.cdk.handlers import Handlers
from duetime.console.site import ASSETS, CONFIG
from duetime.errors import InvalidArgument
from duetime.ids import DEFAULT_WORKER
from duetime.model.permissions import Permission
from duetime.settings import Settings
from duetime.wakeups.system_jobs import SYSTEM_WORKER

LONGEST_NAME = 64
"""Characters of a Lambda function's name."""

CONCURRENCY = range(2, 1_001)
"""The concurrency that an SQS event source allows."""

_WORKER = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_BUS = re.compile(r"[A-Za-z0-9._/-]{1,256}")
_GROUP = re.compile(r"[^\s,\[\]]{1,128}")
_POOL = re.compile(r"[a-z0-9-]+_[A-Za-z0-9]+")
_DOMAIN = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_PAGES = re.compile(r"https://[a-z0-9.-]+")
_EXAMPLE_PAGES = "https://acme.auth.eu-west-1.amazoncognito.com"
_CONSOLE_PATHS = {path.strip("/") for path in (ASSETS, CONFIG)}
_CHINA = "cn-"
"""The beginning of the names of the regions in China."""
_RESERVED = ("aws", "amazon", "cognito")
"""Words that Cognito reserves."""


def contradictions(settings: Settings, deployment: Deployment) -> Iterator[str]:
    """Yield the contradictions between the two."""
    if deployment.worker_pollers == 1:
        yield "worker_pollers is 1; allowed is 0, for Lambda's own, or 2 to 200"
    for role, permissions in settings.roles.items():
        if unknown := sorted(set(permissions.split()) - set(Permission)):
            yield (
                f"roles gives {role!r} unknown permissions: {', '.join(unknown)};"
                f" allowed are {', '.join(Permission)}"
            )
    yield from _wrong_identities(settings.identities)
    if deployment.replica and not settings.regions_table:
        yield (
            "replica is True, but regions_table is empty, so both regions would run each action; name the"
            " table of the active region"
        )
    if settings.authorization == "allow-all" and deployment.keep_data:
        yield "authorization is 'allow-all', which is for development; allowed only with keep_data=false"
    if deployment.api:
        yield from _wrong_api(settings, deployment)
    if not _BUS.fullmatch(settings.event_bus):
        yield f"event_bus is {settings.event_bus!r}; allowed is the name (no ARN) of a bus of this account"


def _wrong_api(settings: Settings, deployment: Deployment) -> Iterator[str]:
    if unfit := [role for role in settings.roles if not _GROUP.fullmatch(role)]:
        yield (
            f"roles names {unfit[0]!r}, which cannot be a Cognito group;"
            " allowed is text without blanks, commas and []"
        )
    if "~" in settings.api_prefix:
        yield f"api_prefix is {settings.api_prefix!r}; API Gateway's paths allow no ~; remove it"
    first = settings.api_prefix.split("/")[1]
    if deployment.serves_console and first in _CONSOLE_PATHS:
        yield (
            f"api_prefix is {settings.api_prefix!r}, but the console uses /{first};"
            " choose another prefix, or set api=people"
        )
    yield from (
        _wrong_sign_in(settings, deployment) if deployment.serves_people else _unused_sign_in(deployment)
    )


def _unused_sign_in(deployment: Deployment) -> Iterator[str]:
    for name in ("user_pool_id", "sign_in"):
        if value := getattr(deployment, name):
            yield f"{name} is {value!r}, but api is {deployment.api!r}, so no user signs in; remove {name}"


def _wrong_sign_in(settings: Settings, deployment: Deployment) -> Iterator[str]:
    pool = deployment.user_pool_id
    domain, url = ("", deployment.sign_in) if pool else (deployment.sign_in, "")
    if pool and not _POOL.fullmatch(pool):
        yield f"user_pool_id is {pool!r}; allowed is a pool's id, such as eu-west-1_AbCdEfGhI"
    if domain and (not _DOMAIN.fullmatch(domain) or any(amazon in domain for amazon in _RESERVED)):
        yield (
            f"sign_in is {domain!r}; allowed for the stack's own pool are lower-case letters, digits and -,"
            f" without {', '.join(_RESERVED)}"
        )
    if domain and not (settings.console_url or deployment.serves_console):
        yield (
            f"sign_in is {domain!r}, but api is {deployment.api!r} and console_url is empty, so signing in"
            " would lead nowhere; set one of them"
        )
    if pool and deployment.serves_console and not url:
        yield (
            f"user_pool_id is {pool!r}, but sign_in is empty; set it to the pool's sign-in pages, such as"
            f" {_EXAMPLE_PAGES}, or set api=people"
        )
    if url and not _PAGES.fullmatch(url):
        yield f"sign_in is {url!r}; allowed for the pool {pool!r} is an origin, such as {_EXAMPLE_PAGES}"


def missing_services(region: str, deployment: Deployment) -> Iterator[str]:
    """Yield the services that the deployment needs and the region lacks. An empty region is unknown."""
    if region.startswith(_CHINA) and deployment.serves_people:
        yield (
            f"api is {deployment.api!r}, but the region {region} has no Cognito user pools; set api=services:"
            " services then call the API with IAM signatures, and there is no console"
        )


def _wrong_identities(identities: Mapping[str, str]) -> Iterator[str]:
    for arn, identity in identities.items():
        if not (arn == ANY_SIGNER or arn.startswith("arn:")) or not identity.split():
            yield (
                f"identities maps {arn!r} to {identity!r};"
                " allowed is an ARN, or *, with its tenant and roles, such as 'acme operators'"
            )
            continue
        try:
            ids.tenant(identity.split()[0])
        except InvalidArgument as error:
            yield f"identities maps {arn!r} to {identity!r}: its first word, the tenant, {error.problem}"


def too_few_reserved(
    handlers: Sequence[Handlers], deployment: Deployment, *, queues: int = 1
) -> Iterator[str]:
    """Yield the workers whose queues may call them more often at once than Lambda would allow.

    Args:
        handlers: the workers.
        deployment: has the reserved concurrency of each.
        queues: how many queues each has.
    """
    reserved = deployment.reserved_concurrency
    for handler in handlers:
        calls = handler.concurrency * queues
        if reserved and calls > reserved:
            yield (
                f"reserved_concurrency is {reserved}, but worker {handler.worker!r} handles"
                f" {calls} calls at once, so Lambda would reject some; reserve at least"
                f" {calls}, or lower its concurrency"
            )


def wrong_workers(handlers: Sequence[Handlers], settings: Settings) -> Iterator[str]:
    """Yield the problems of the workers."""
    names = Counter(handler.worker for handler in handlers)
    if DEFAULT_WORKER not in names:
        yield f"workers are {sorted(names)}; one must be {DEFAULT_WORKER!r}, which fails unknown types"
    yield from (
        f"worker {name!r} is declared {count} times; declare it once"
        for name, count in names.items()
        if count > 1
    )
    if SYSTEM_WORKER in names:
        yield f"worker {SYSTEM_WORKER!r} is reserved for duetime's own jobs; choose another name"
    for handler in handlers:
        name, concurrency = handler.worker, handler.concurrency
        if not _WORKER.fullmatch(name):
            yield f"worker is {name!r}; allowed are lower-case letters and digits, in words joined by -"
        if len(function := f"{settings.prefix}work-{name}") > LONGEST_NAME:
            yield f"worker is {name!r}, which makes {function!r}; allowed are {LONGEST_NAME} characters"
        if concurrency not in CONCURRENCY:
            yield (
                f"concurrency of worker {name!r} is {concurrency}; allowed is {CONCURRENCY.start} to"
                f" {CONCURRENCY.stop - 1}, the range of SQS event sources. To run one at a time, use a"
                " concurrency key"
            )
