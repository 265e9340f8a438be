"""What is mistyped is refused with what was wrong and what would be right."""

import math
from datetime import timedelta

import pytest

from duetime import App, Fatal, Payload, Retry, RetryPolicy, every, exponential
from duetime.errors import (
    ActionConflict,
    DeclarationError,
    InvalidIdentifier,
    InvalidPayload,
    InvalidTime,
    SettingsError,
)
from duetime.jobs.register import Registration
from duetime.settings import Settings
from duetime.testing import SimulatedCloud

NAN, INF = math.nan, math.inf
DAY = timedelta(days=1)
IS_NO_SPAN = "use a timedelta, or a number of seconds"
IS_NO_LIST = "use a timedelta, a number of seconds, or a list of them"
IS_OUT_OF_RANGE = "allowed is 0 seconds to 90 days"
IS_NO_COUNT = "use a whole number"
IS_NO_SHARE = "it is a share of the back-off, from 0 to 1"
GROWS_NOT = "the factor must be a number above 1 and the first back-off lie between 0 and the limit"


class Greet(Payload):
    name: str = ""


POLICIES = [
    ({"attempts": 0}, "attempts is 0; it counts all runs: 1 to 100 are allowed"),
    ({"attempts": -3}, "attempts is -3; it counts all runs: 1 to 100 are allowed"),
    ({"attempts": 10**9}, "attempts is 1000000000; it counts all runs: 1 to 100 are allowed"),
    ({"attempts": 10**5_000}, "1 to 100 are allowed"),
    ({"attempts": "3"}, f"attempts is '3'; {IS_NO_COUNT}"),
    ({"attempts": 2.5}, f"attempts is 2.5; {IS_NO_COUNT}"),
    ({"attempts": NAN}, f"attempts is nan; {IS_NO_COUNT}"),
    ({"attempts": True}, f"attempts is True; {IS_NO_COUNT}"),
    ({"backoff": []}, "backoff has 0 entries; allowed are 1 to 20"),
    ({"backoff": [1] * 21}, "backoff has 21 entries; allowed are 1 to 20"),
    ({"backoff": [60, -5]}, f"backoff is -5; {IS_OUT_OF_RANGE}"),
    ({"backoff": [60, None]}, f"backoff is None; {IS_NO_SPAN}"),
    ({"backoff": NAN}, f"backoff is nan; {IS_OUT_OF_RANGE}"),
    ({"backoff": INF}, f"backoff is inf; {IS_OUT_OF_RANGE}"),
    ({"backoff": timedelta.max}, IS_OUT_OF_RANGE),
    ({"backoff": 10**400}, f"…; {IS_OUT_OF_RANGE}"),
    ({"backoff": "60"}, f"backoff is '60'; {IS_NO_LIST}"),
    ({"backoff": b"60"}, f"backoff is b'60'; {IS_NO_LIST}"),
    ({"backoff": {60, 70}}, IS_NO_LIST),
    ({"backoff": None}, f"backoff is None; {IS_NO_LIST}"),
    ({"jitter": NAN}, f"jitter is nan; {IS_NO_SHARE}"),
    ({"jitter": 1.01}, f"jitter is 1.01; {IS_NO_SHARE}"),
    ({"jitter": -0.1}, f"jitter is -0.1; {IS_NO_SHARE}"),
    ({"jitter": "0.1"}, f"jitter is '0.1'; {IS_NO_SHARE}"),
    ({"jitter": None}, f"jitter is None; {IS_NO_SHARE}"),
    ({"jitter": True}, f"jitter is True; {IS_NO_SHARE}"),
    ({"give_up_after": -1}, f"give_up_after is -1; {IS_OUT_OF_RANGE}"),
    ({"give_up_after": NAN}, f"give_up_after is nan; {IS_OUT_OF_RANGE}"),
    ({"give_up_after": timedelta(days=91)}, IS_OUT_OF_RANGE),
    ({"give_up_after": "1d"}, f"give_up_after is '1d'; {IS_NO_SPAN}"),
]


@pytest.mark.parametrize(("options", "told"), POLICIES, ids=[told for _, told in POLICIES])
def test_a_retry_policy(options, told):
    with pytest.raises(DeclarationError) as refused:
        RetryPolicy(**options)
    assert told in str(refused.value)


@pytest.mark.parametrize(
    "options", [{"factor": item} for item in (1, 0.5, -2, NAN, INF, "2", None, True, 1j)]
)
def test_an_exponential_that_does_not_grow(options):
    with pytest.raises(DeclarationError, match=GROWS_NOT):
        exponential(10, **options)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"first": 0}, GROWS_NOT),
        ({"first": 100, "limit": 10}, GROWS_NOT),
        ({"first": NAN}, f"exponential(first) is nan; {IS_OUT_OF_RANGE}"),
        ({"first": "10"}, f"exponential(first) is '10'; {IS_NO_SPAN}"),
        ({"first": 10, "limit": INF}, f"exponential(limit=…) is inf; {IS_OUT_OF_RANGE}"),
    ],
)
def test_an_exponential_out_of_its_bounds(options, told):
    with pytest.raises(DeclarationError) as refused:
        exponential(**options)
    assert told in str(refused.value)


def test_a_factor_however_large_reaches_the_limit_at_once():
    assert exponential(10, factor=1e300, limit=60) == (timedelta(seconds=10), timedelta(seconds=60))


@pytest.mark.parametrize("after", [NAN, INF, -1, "5", True, timedelta(days=91)])
def test_a_retry_that_a_handler_asks_for(after):
    with pytest.raises(DeclarationError, match=rf"Retry\(after=…\) is .*; ({IS_OUT_OF_RANGE}|{IS_NO_SPAN})"):
        Retry(after)


@pytest.mark.parametrize("retry", [3, 0, "3", (3,), {"attempts": 3}, RetryPolicy])
class TestARetryThatIsNoPolicy:
    told = r"retry is .*; use RetryPolicy\(attempts=3\) or another"

    def test_of_an_action(self, retry):
        with pytest.raises(DeclarationError, match=self.told):

            @App().action(retry=retry)
            def greet(payload: Greet) -> None: ...

    def test_of_a_job(self, retry):
        with pytest.raises(DeclarationError, match=self.told):

            @App().job(every(minutes=5), name="desk-greet", retry=retry)
            def greet() -> None: ...

    def test_of_a_registration(self, retry, cloud):
        options = Registration(name="acme-greet", handler=Greet(), cadences=[every(minutes=5)], retry=retry)
        with pytest.raises(DeclarationError, match=self.told):
            cloud.jobs.register(options)


@pytest.fixture
def cloud():
    app = App()

    @app.action
    def greet(payload: Greet) -> None:
        if payload.name == "nobody":
            raise Fatal("nobody is there")

    @app.job(every(minutes=5), name="desk-tidy")
    def tidy() -> None: ...

    return SimulatedCloud(app)


SETTINGS = [
    (options, told)
    for options, told in POLICIES
    if None not in options.values() and "give_up_after" not in options
]


@pytest.mark.parametrize(("options", "told"), SETTINGS, ids=[told for _, told in SETTINGS])
def test_an_operators_setting(cloud, options, told):
    with pytest.raises(DeclarationError) as refused:
        cloud.jobs.set("desk-tidy", **options)
    assert told in str(refused.value)


@pytest.mark.parametrize(
    "name", ["a\x00b", "a\nb", "a\x7fb", "a\x85b", "a\u202eb", "a\u200bb", "\ud800", "a "]
)
@pytest.mark.parametrize("field", ["tenant_id", "actor", "correlation_id", "idempotency_key"])
def test_a_control_character_in_what_becomes_part_of_a_key(cloud, field, name):
    told = "holds a control character, or white space at an end; use printable characters only"
    names = {"tenant_id": "acme", "actor": "anna", field: name}
    keys = {name: names[name] for name in names if name not in {"tenant_id", "actor"}}
    with pytest.raises(InvalidIdentifier, match=told) as refused:
        cloud.scheduler_for(names["tenant_id"], names["actor"]).schedule(Greet(), at=DAY, **keys)
    assert str(refused.value).startswith(field)
    assert all(action.job for action in cloud.actions())


@pytest.mark.parametrize("ttl", [NAN, 60, "1d", timedelta(0), -DAY, 91 * DAY, timedelta.max])
def test_a_time_to_live_of_a_key(cloud, ttl):
    with pytest.raises(InvalidTime, match=r"allowed is a timedelta of 0:01:00 to 30 days"):
        cloud.scheduler.schedule(Greet(), at=DAY, idempotency_key="k", idempotency_ttl=ttl)


@pytest.mark.parametrize("at", [NAN, INF, 5, "tomorrow", None])
def test_a_due_time_that_is_none(cloud, at):
    with pytest.raises(InvalidTime, match="is neither a datetime nor a timedelta"):
        cloud.scheduler.schedule(Greet(), at=at)


@pytest.mark.parametrize(
    ("setting", "value", "told"),
    [
        ("lease", NAN, "lease is nan; use a timedelta"),
        ("lease", 300, "lease is 300; use a timedelta"),
        ("max_recoveries", 2.5, "max_recoveries is 2.5; use a whole number"),
        ("max_recoveries", True, "max_recoveries is True; use a whole number"),
        ("enabled", "no", "enabled is 'no'; use True or False"),
        ("prefix", None, "prefix is None; use text"),
    ],
)
def test_a_setting_of_another_kind(setting, value, told):
    with pytest.raises(SettingsError, match=told):
        Settings(**{setting: value})


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("LEASE", "nan", "use a number of seconds"),
        ("LEASE", "inf", "use a number of seconds"),
        ("LEASE", "5s", "use a number of seconds"),
        ("DUE_SHARDS", "1.5", "use a whole number"),
        ("ENABLED", "maybe", "use true or false"),
        ("QUEUES", "{", "use a JSON object"),
    ],
)
def test_a_variable_that_cannot_be_read(variable, value, told):
    with pytest.raises(SettingsError, match=told):
        Settings.from_env({f"DUETIME_{variable}": value})


@pytest.mark.parametrize("name", ["anna", "later"])
def test_a_redrive_of_what_has_not_failed(cloud, name):
    action = cloud.scheduler.schedule(Greet(name=name), at=timedelta(0) if name == "anna" else DAY)
    cloud.advance(minutes=1)
    before = cloud.scheduler.get(action.id)
    with pytest.raises(ActionConflict, match=f"it is {before.status.value}, and only a failed one can be"):
        cloud.scheduler.redrive(action.id)
    assert cloud.scheduler.get(action.id) == before


@pytest.mark.parametrize(
    ("options", "name"), [({"name": "Ada"}, "dict"), (Greet, "Greet"), (None, "NoneType")]
)
def test_what_is_no_payload_is_refused_with_what_one_would_be(options, name):
    cloud = SimulatedCloud(App())
    with pytest.raises(InvalidPayload, match=f"payload of '{name}': it is no payload; make one of a class"):
        cloud.scheduler.schedule(options, at=DAY)
    assert list(cloud.scheduler.list()) == []
