"""Invalid options are rejected with the problem and the remedy."""

import math
from datetime import timedelta

import pytest

from duetime import App, Fatal, Payload, Retry, RetryPolicy, every, exponential
from duetime.errors import DeclarationError, InvalidArgument, InvalidPayload, SettingsError, StateConflict
from duetime.jobs.register import Registration
from duetime.settings import Settings
from duetime.testing import SimulatedCloud
from tests.cases import for_each

NAN, INF = math.nan, math.inf
DAY = timedelta(days=1)
NOT_A_DURATION = "use a timedelta, or a number of seconds"
NOT_A_LIST = "use a timedelta, a number of seconds, or a list of them"
OUT_OF_RANGE = "allowed is 0 seconds to 90 days"
NOT_A_COUNT = "use a whole number"
NOT_A_SHARE = "it is a share of the back-off, from 0 to 1"
DOES_NOT_GROW = "the factor must be a number above 1 and the first back-off lie between 0 and the limit"


class Greet(Payload):
    name: str = ""


POLICIES = [
    ({"attempts": 0}, "attempts is 0; it counts all runs: 1 to 100 are allowed"),
    ({"attempts": -3}, "attempts is -3; it counts all runs: 1 to 100 are allowed"),
    ({"attempts": 10**9}, "attempts is 1000000000; it counts all runs: 1 to 100 are allowed"),
    ({"attempts": 10**5_000}, "1 to 100 are allowed"),
    ({"attempts": "3"}, f"attempts is '3'; {NOT_A_COUNT}"),
    ({"attempts": 2.5}, f"attempts is 2.5; {NOT_A_COUNT}"),
    ({"attempts": NAN}, f"attempts is nan; {NOT_A_COUNT}"),
    ({"attempts": True}, f"attempts is True; {NOT_A_COUNT}"),
    ({"backoff": []}, "backoff has 0 entries; allowed are 1 to 20"),
    ({"backoff": [1] * 21}, "backoff has 21 entries; allowed are 1 to 20"),
    ({"backoff": [60, -5]}, f"backoff is -5; {OUT_OF_RANGE}"),
    ({"backoff": [60, None]}, f"backoff is None; {NOT_A_DURATION}"),
    ({"backoff": NAN}, f"backoff is nan; {OUT_OF_RANGE}"),
    ({"backoff": INF}, f"backoff is inf; {OUT_OF_RANGE}"),
    ({"backoff": timedelta.max}, OUT_OF_RANGE),
    ({"backoff": 10**400}, f"…; {OUT_OF_RANGE}"),
    ({"backoff": "60"}, f"backoff is '60'; {NOT_A_LIST}"),
    ({"backoff": b"60"}, f"backoff is b'60'; {NOT_A_LIST}"),
    ({"backoff": {60, 70}}, NOT_A_LIST),
    ({"backoff": None}, f"backoff is None; {NOT_A_LIST}"),
    ({"jitter": NAN}, f"jitter is nan; {NOT_A_SHARE}"),
    ({"jitter": 1.01}, f"jitter is 1.01; {NOT_A_SHARE}"),
    ({"jitter": -0.1}, f"jitter is -0.1; {NOT_A_SHARE}"),
    ({"jitter": "0.1"}, f"jitter is '0.1'; {NOT_A_SHARE}"),
    ({"jitter": None}, f"jitter is None; {NOT_A_SHARE}"),
    ({"jitter": True}, f"jitter is True; {NOT_A_SHARE}"),
    ({"give_up_after": -1}, f"give_up_after is -1; {OUT_OF_RANGE}"),
    ({"give_up_after": NAN}, f"give_up_after is nan; {OUT_OF_RANGE}"),
    ({"give_up_after": timedelta(days=91)}, OUT_OF_RANGE),
    ({"give_up_after": "1d"}, f"give_up_after is '1d'; {NOT_A_DURATION}"),
]


@for_each(("options", "message"), POLICIES)
def test_invalid_retry_policy_is_rejected(options, message):
    with pytest.raises(DeclarationError) as rejected:
        RetryPolicy(**options)
    assert message in str(rejected.value)


@pytest.mark.parametrize(
    "options", [{"factor": item} for item in (1, 0.5, -2, NAN, INF, "2", None, True, 1j)]
)
def test_exponential_that_does_not_grow_is_rejected(options):
    with pytest.raises(DeclarationError, match=DOES_NOT_GROW):
        exponential(10, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"first": 0}, DOES_NOT_GROW),
        ({"first": 100, "limit": 10}, DOES_NOT_GROW),
        ({"first": NAN}, f"exponential(first) is nan; {OUT_OF_RANGE}"),
        ({"first": "10"}, f"exponential(first) is '10'; {NOT_A_DURATION}"),
        ({"first": 10, "limit": INF}, f"exponential(limit=…) is inf; {OUT_OF_RANGE}"),
    ],
)
def test_exponential_out_of_bounds_is_rejected(options, message):
    with pytest.raises(DeclarationError) as rejected:
        exponential(**options)
    assert message in str(rejected.value)


def test_large_factor_reaches_limit_at_once():
    assert exponential(10, factor=1e300, limit=60) == (timedelta(seconds=10), timedelta(seconds=60))


@pytest.mark.parametrize("after", [NAN, INF, -1, "5", True, timedelta(days=91)])
def test_invalid_retry_of_handler_is_rejected(after):
    with pytest.raises(DeclarationError, match=rf"Retry\(after=…\) is .*; ({OUT_OF_RANGE}|{NOT_A_DURATION})"):
        Retry(after)


@pytest.mark.parametrize("retry", [3, 0, "3", (3,), {"attempts": 3}, RetryPolicy])
class TestRetryThatIsNoPolicy:
    message = r"retry is .*; use RetryPolicy\(attempts=3\) or another"

    def test_retry_of_action_is_rejected(self, retry):
        with pytest.raises(DeclarationError, match=self.message):

            @App().action(retry=retry)
            def greet(payload: Greet) -> None: ...

    def test_retry_of_job_is_rejected(self, retry):
        with pytest.raises(DeclarationError, match=self.message):

            @App().job(every(minutes=5), name="desk-greet", retry=retry)
            def greet() -> None: ...

    def test_retry_of_registration_is_rejected(self, retry, cloud):
        options = Registration(name="acme-greet", handler=Greet(), cadences=[every(minutes=5)], retry=retry)
        with pytest.raises(DeclarationError, match=self.message):
            cloud.jobs.register(options)


def test_an_option_of_a_registration_that_no_job_has_is_rejected():
    with pytest.raises(DeclarationError, match=r"a job takes no catchup=; did you mean catch_up\?"):
        Registration(name="acme-greet", handler=Greet(), catchup=1)


@pytest.mark.parametrize("call", ["schedule", "transact_items"])
def test_a_misspelt_option_of_a_call_is_rejected_in_the_name_of_the_call(cloud, call):
    with pytest.raises(TypeError, match=rf"Scheduler\.{call}\(\) got an unexpected keyword argument 'att'"):
        getattr(cloud.scheduler, call)(Greet(), att=1)


@pytest.mark.parametrize("options", [{"debounce_key": "k"}, {"after": "batch:import"}])
def test_a_debounce_key_and_predecessors_are_rejected_in_a_transaction(cloud, options):
    [name] = options
    with pytest.raises(InvalidArgument, match=f"{name} .*is not possible in a transaction of your own"):
        cloud.scheduler.transact_items(Greet(), at=timedelta(hours=1), **options)


@pytest.fixture
def cloud():
    app = App()

    @app.action
    def greet(payload: Greet) -> None:
        if payload.name == "missing":
            raise Fatal("the person is missing")

    @app.job(every(minutes=5), name="desk-tidy")
    def tidy() -> None: ...

    return SimulatedCloud(app)


SETTINGS = [
    (options, message)
    for options, message in POLICIES
    if None not in options.values() and "give_up_after" not in options
]


@pytest.mark.parametrize(("options", "message"), SETTINGS, ids=[message for _, message in SETTINGS])
def test_invalid_operator_setting_is_rejected(cloud, options, message):
    with pytest.raises(DeclarationError) as rejected:
        cloud.jobs.set("desk-tidy", **options)
    assert message in str(rejected.value)


@for_each("name", ["a\x00b", "a\nb", "a\x7fb", "a\x85b", "a\u202eb", "a\u200bb", "\ud800", "a "])
@for_each("field", ["tenant_id", "actor", "correlation_id", "idempotency_key"])
def test_control_character_in_identifier_is_rejected(cloud, field, name):
    message = "holds a control character, or white space at an end; use printable characters only"
    names = {"tenant_id": "acme", "actor": "anna", field: name}
    keys = {name: names[name] for name in names if name not in {"tenant_id", "actor"}}
    with pytest.raises(InvalidArgument, match=message) as rejected:
        cloud.scheduler_for(names["tenant_id"], names["actor"]).schedule(Greet(), at=DAY, **keys)
    assert str(rejected.value).startswith(field)
    assert all(action.job for action in cloud.actions())


@pytest.mark.parametrize("ttl", [NAN, 60, "1d", timedelta(0), -DAY, 91 * DAY, timedelta.max])
def test_invalid_time_to_live_of_key_is_rejected(cloud, ttl):
    with pytest.raises(InvalidArgument, match=r"allowed is a timedelta of 0:01:00 to 30 days"):
        cloud.scheduler.schedule(Greet(), at=DAY, idempotency_key="k", idempotency_ttl=ttl)


@pytest.mark.parametrize("at", [NAN, INF, 5, "tomorrow", None])
def test_value_that_is_no_due_time_is_rejected(cloud, at):
    with pytest.raises(InvalidArgument, match="is neither a datetime nor a timedelta"):
        cloud.scheduler.schedule(Greet(), at=at)


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("lease", NAN, "lease is nan; use a timedelta"),
        ("lease", 300, "lease is 300; use a timedelta"),
        ("max_recoveries", 2.5, "max_recoveries is 2.5; use a whole number"),
        ("max_recoveries", True, "max_recoveries is True; use a whole number"),
        ("enabled", "no", "enabled is 'no'; use True or False"),
        ("prefix", None, "prefix is None; use text"),
    ],
)
def test_setting_of_wrong_type_is_rejected(setting, value, message):
    with pytest.raises(SettingsError, match=message):
        Settings(**{setting: value})


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("LEASE", "nan", "use a number of seconds"),
        ("LEASE", "inf", "use a number of seconds"),
        ("LEASE", "5s", "use a number of seconds"),
        ("DUE_SHARDS", "1.5", "use a whole number"),
        ("ENABLED", "maybe", "use true or false"),
        ("QUEUES", "{", "use a JSON object"),
    ],
)
def test_unreadable_variable_is_rejected(variable, value, message):
    with pytest.raises(SettingsError, match=message):
        Settings.from_env({f"DUETIME_{variable}": value})


@pytest.mark.parametrize("name", ["anna", "later"])
def test_redrive_of_unfailed_action_is_rejected(cloud, name):
    action = cloud.scheduler.schedule(Greet(name=name), at=timedelta(0) if name == "anna" else DAY)
    cloud.advance(minutes=1)
    before = cloud.scheduler.get(action.id)
    with pytest.raises(StateConflict, match=f"it is {before.status.value}, and only a failed one can be"):
        cloud.scheduler.redrive(action.id)
    assert cloud.scheduler.get(action.id) == before


@pytest.mark.parametrize(
    ("options", "name"), [({"name": "Ada"}, "dict"), (Greet, "Greet"), (None, "NoneType")]
)
def test_value_that_is_no_payload_is_rejected_with_remedy(options, name):
    cloud = SimulatedCloud(App())
    with pytest.raises(InvalidPayload, match=f"payload of '{name}': it is no payload; pass an instance"):
        cloud.scheduler.schedule(options, at=DAY)
    assert list(cloud.scheduler.list()) == []
