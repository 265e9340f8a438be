"""moto without the work that it repeats for each request: the local cloud's patches, for any test on moto."""

import functools
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from botocore import hooks, useragent
from moto.core import responses
from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.models.utilities import dynamo_to_dict
from moto.ses.models import ses_backends

from tests.emulated import addresses, moto_patches
from tests.emulated.addresses import ACCOUNT
from tests.emulated.call_lock import CallLock
from tests.emulated.expressions.values import NotCovered
from tests.emulated.fast_path import dynamodb, indexes, query, requests, tables
from tests.emulated.fast_path.requests import FastPath, activate
from tests.emulated.moto_patches import replaced
from tests.emulated.notifications import LocalNotifications

REGION = "eu-west-1"
"""The region of the tests' account."""

OTHER_REGIONS = ("eu-central-1", "eu-west-3")
"""Those of a standby and of the table of the active region."""


_PATH = FastPath(CallLock())
"""One for all tests of this process: what moto has accepted once is valid in each account."""

_begin_aliaser = hooks.EventAliaser.__init__
_aliases: dict[str, str] = {}


def _share_aliases(aliaser: Any, *args: Any) -> None:
    """Begin with the aliases of event names that another session has found."""
    _begin_aliaser(aliaser, *args)
    if aliaser._event_aliases == hooks.EVENT_ALIASES:
        aliaser._alias_name_cache = _aliases


hooks.EventAliaser.__init__ = _share_aliases
responses.method_names_from_class = functools.cache(responses.method_names_from_class)
useragent.sanitize_user_agent_string_component = functools.cache(
    useragent.sanitize_user_agent_string_component
)


@contextmanager
def quick_moto() -> Iterator[None]:
    """Keep moto from reading a whole table for a query, and from copying it for a transaction."""
    with ExitStack() as patches:
        for patch in (
            moto_patches.undone_transactions,
            moto_patches.single_partition_queries,
            moto_patches.quick_strings,
            moto_patches.quick_items,
        ):
            patches.enter_context(patch())
        yield


class _Regional:
    """The fast path's answers from the tables of one region."""

    form_of = staticmethod(dynamodb.form_of)

    def __init__(self, region: str) -> None:
        self._region = region

    def answer(self, operation: str, body: Any, size: int) -> dict[str, Any]:
        with replaced(tables, "REGION", lambda _: self._region):
            return dynamodb.answer(operation, body, size)


@contextmanager
def fast_path() -> Iterator[None]:
    """Answer frequent requests of DynamoDB without moto's own road.

    moto still answers the first request of each form, and all that fails. Requests that end here are not
    sent: a handler of botocore's event ``before-send`` does not hear them.
    """
    services = {
        (dynamodb.TARGET, f"https://dynamodb.{region}.amazonaws.com/"): _Regional(region)
        for region in (REGION, *OTHER_REGIONS)
    }
    with (
        replaced(requests, "_SERVICES", lambda _: services),
        replaced(query, "index_of", _index_without_stream),
        activate(_PATH),
    ):
        yield


def _index_without_stream(original: Any) -> Any:
    """Make the index again for each query of a restored table: it has no stream whose records it follows."""

    def index_of(table: tables.FastTable, name: str) -> indexes.FastIndex:
        if table.moto.stream_shard is not None:
            return original(table, name)
        found = indexes._Followed(table, 0).indexes
        if table.key_names != ("pk", "sk") or name not in found:
            raise NotCovered
        return found[name]

    return index_of


def items_of(table: str) -> list[dict[str, Any]]:
    """Return all items of a table on moto, as a scan would."""
    found = dynamodb_backends[ACCOUNT][REGION].tables[table].all_items()
    return [{name: dynamo_to_dict(value) for name, value in item.attrs.items()} for item in found]


_mail_templates: dict[str, dict[str, Any]] = {}
"""By their prefix, as the first local cloud of this process made them by requests."""


@contextmanager
def quick_local_clouds() -> Iterator[None]:
    """Let each local cloud after the first know what moto has accepted, and have the mail templates made."""

    def wrap(original: Any) -> Any:
        def make_templates(notifications: Any, prefix: str) -> None:
            made = ses_backends[ACCOUNT][addresses.REGION].templates
            if prefix in _mail_templates:
                made.update({**_mail_templates[prefix], **made})
                return
            original(notifications, prefix)
            _mail_templates[prefix] = dict(made)

        return make_templates

    def share(original: Any) -> Any:
        def begin(path: FastPath, lock: CallLock) -> None:
            original(path, lock)
            path._accepted = _PATH._accepted

        return begin

    with (
        replaced(LocalNotifications, "_make_templates", wrap),
        replaced(FastPath, "__init__", share),
    ):
        yield
