"""What contradicts itself between settings, deployment and workers: found at synthesis, all of it at once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from duetime import ids
from duetime.cdk.deployment import Deployment, shown
from duetime.cdk.handlers import Handlers
from duetime.cdk.wakes import DEFAULT_BUS
from duetime.console.site import ASSETS, CONFIG
from duetime.errors import InvalidIdentifier
from duetime.ids import DEFAULT_WORKER
from duetime.model.permissions import Permission
from duetime.settings import Settings
from duetime.wakeups.system_jobs import SYSTEM_WORKER

LONGEST_NAME = 64
"""Of a Lambda function."""

CONCURRENCY = range(2, 1_001)
"""Of an SQS event source."""

_WORKER = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_BUS = re.compile(r"[A-Za-z0-9._/-]{1,256}")
_GROUP = re.compile(r"[^\s,\[\]]{1,128}")
_POOL = re.compile(r"[a-z0-9-]+_[A-Za-z0-9]+")
_DOMAIN = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_PAGES = re.compile(r"https://[a-z0-9.-]+")
_OF_THE_CONSOLE = {each.strip("/") for each in (ASSETS, CONFIG)}
_AMAZONS = ("aws", "amazon", "cognito")
"""Words that Cognito keeps to itself."""


def contradictions(settings: Settings, deployment: Deployment) -> Iterator[str]:
    """What is wrong between the two."""
    if settings.timers == "wheel" and deployment.sweep_rate * 2 > settings.near_limit:
        yield (
            f"sweep_rate ({shown(deployment.sweep_rate)}) must be at most half of near_limit"
            f" ({shown(settings.near_limit)}) with timers='wheel': the sweep is what wakes there"
        )
    for role, said in settings.roles.items():
        if unknown := sorted(set(said.split()) - set(Permission)):
            yield f"roles gives {role!r} {', '.join(unknown)}; permissions are {', '.join(Permission)}"
    yield from _wrong_identities(settings.identities)
    if settings.authorization == "allow-all" and deployment.keep_data:
        yield "authorization is 'allow-all', which is for development; allowed only with keep_data=false"
    if deployment.api:
        yield from _wrong_api(settings, deployment)
    if not _BUS.fullmatch(settings.event_bus):
        yield f"event_bus is {settings.event_bus!r}; allowed is the name, not the ARN, of a bus of this account"
    if deployment.own_bus and settings.event_bus == DEFAULT_BUS:
        yield "own_bus is True, but event_bus is 'default', which every account has; name the bus to be made"


def _wrong_api(settings: Settings, deployment: Deployment) -> Iterator[str]:
    if unfit := [role for role in settings.roles if not _GROUP.fullmatch(role)]:
        yield f"roles names {unfit[0]!r}, which cannot be a Cognito group: allowed is text without blanks, commas and []"
    if "~" in settings.api_prefix:
        yield f"api_prefix is {settings.api_prefix!r}; API Gateway's paths allow no ~"
    first = settings.api_prefix.split("/")[1]
    if deployment.console and first in _OF_THE_CONSOLE:
        yield f"api_prefix is {settings.api_prefix!r}, but /{first} is the console's; allowed are others, or console=false"
    yield from _wrong_sign_in(settings, deployment)


def _wrong_sign_in(settings: Settings, deployment: Deployment) -> Iterator[str]:
    pool, domain, url = deployment.user_pool_id, deployment.sign_in_domain, deployment.sign_in_url
    if pool and not _POOL.fullmatch(pool):
        yield f"user_pool_id is {pool!r}; allowed is a pool's id, as eu-west-1_AbCdEfGhI"
    if domain and (not _DOMAIN.fullmatch(domain) or any(amazon in domain for amazon in _AMAZONS)):
        yield (
            f"sign_in_domain is {domain!r}; allowed are lower-case letters, digits and -, without {', '.join(_AMAZONS)}"
        )
    if domain and pool:
        yield f"sign_in_domain is {domain!r}, but user_pool_id names a pool, whose sign-in pages are its owner's"
    if domain and not (settings.console_url or deployment.console):
        yield (
            f"sign_in_domain is {domain!r}, but console is False and console_url empty: nobody could come back from"
            " signing in"
        )
    if pool and deployment.console and not url:
        yield (
            f"user_pool_id is {pool!r}, but sign_in_url is empty: say where that pool's sign-in pages are, as"
            " sign_in_url=https://acme.auth.eu-west-1.amazoncognito.com, or leave the console out, console=false"
        )
    if url and not _PAGES.fullmatch(url):
        yield f"sign_in_url is {url!r}; allowed is an origin, as https://acme.auth.eu-west-1.amazoncognito.com"
    if url and not pool:
        yield f"sign_in_url is {url!r}, but user_pool_id is empty: the pages of the stack's own pool are at sign_in_domain"


def _wrong_identities(identities: Mapping[str, str]) -> Iterator[str]:
    for arn, said in identities.items():
        if not arn.startswith("arn:") or not said.split():
            yield f"identities says {said!r} of {arn!r}; say an ARN's tenant and roles, as 'acme operators'"
            continue
        try:
            ids.tenant(said.split()[0])
        except InvalidIdentifier as error:
            yield f"identities says {said!r} of {arn!r}: its first word, the tenant, {error.problem}"


def wrong_workers(handlers: Sequence[Handlers], settings: Settings) -> Iterator[str]:
    """What is wrong with the workers."""
    names = Counter(handler.worker for handler in handlers)
    if DEFAULT_WORKER not in names:
        yield f"workers are {sorted(names)}; one must be {DEFAULT_WORKER!r}: what no worker knows is failed there"
    yield from (f"worker {name!r} is there {count} times" for name, count in names.items() if count > 1)
    if SYSTEM_WORKER in names:
        yield f"worker {SYSTEM_WORKER!r} is reserved for duetime's own jobs; choose another name"
    for each in handlers:
        if not _WORKER.fullmatch(each.worker):
            yield f"worker is {each.worker!r}; allowed are lower-case letters and digits, in words joined by -"
        if len(name := f"{settings.prefix}work-{each.worker}") > LONGEST_NAME:
            yield f"worker is {each.worker!r}, which makes {name!r}; allowed are {LONGEST_NAME} characters"
        if each.concurrency not in CONCURRENCY:
            yield (
                f"concurrency of worker {each.worker!r} is {each.concurrency}; allowed is {CONCURRENCY.start} to"
                f" {CONCURRENCY.stop - 1}, the range of SQS event sources. For one at a time use a concurrency key"
            )
