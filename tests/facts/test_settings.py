from dataclasses import replace
from datetime import timedelta

import pytest

from duetime.environment import ConsoleEnvironment, instance_name
from duetime.errors import SettingsError
from duetime.settings import Made, Settings


def test_defaults_are_valid_and_names_begin_with_prefix():
    settings = Settings(prefix="billing-")
    assert settings.made.actions_table == "billing-actions"
    assert settings.made.jobs_table == "billing-jobs"
    assert settings.made.schedule_group == "billing-actions"


def test_settings_are_read_from_environment():
    settings = Settings.from_env(
        {
            "DUETIME_PREFIX": "eu-",
            "DUETIME_ENABLED": "false",
            "DUETIME_LEASE": "60",
            "DUETIME_HEARTBEAT": "20",
            "DUETIME_DUE_SHARDS": "32",
            "DUETIME_QUEUES": '{"default": "q"}',
            "OTHER": "ignored",
        }
    )
    assert settings.made.actions_table == "eu-actions"
    assert not settings.enabled
    assert settings.lease == timedelta(minutes=1)
    assert settings.due_shards == 32
    assert settings.made.queues == {"default": "q"}


def test_settings_round_trip_through_environment():
    settings = Settings(
        prefix="x-", enabled=False, lease=timedelta(seconds=10), heartbeat=timedelta(seconds=2.5),
        cancel_poll=timedelta(seconds=1), timers="wheel",
        made=Made(queues={"default": "u"}, jobs_table="mine", canary=timedelta(minutes=5)),
    )  # fmt: skip
    assert Settings.from_env(settings.to_env()) == settings


def test_names_that_are_given_win_over_the_prefix():
    made = Settings(prefix="b-", made=Made(actions_table="restored")).made
    assert (made.actions_table, made.jobs_table, made.job_group) == ("restored", "b-jobs", "b-jobs")


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"queue_visibility": 60}, "queue_visibility is 60; use a timedelta"),
        ({"dispatch_arn": None}, "dispatch_arn is None; use text"),
        ({"sleeps_from": 0}, "sleeps_from is 0; allowed is 1 to 1000"),
    ],
)
def test_what_the_stack_has_made_is_checked_as_well(given, problem):
    with pytest.raises(SettingsError, match=problem):
        Settings(made=Made(**given))


def test_a_made_value_is_no_setting():
    with pytest.raises(SettingsError, match="queues is not a setting of Settings"):
        Settings(queues={})
    with pytest.raises(SettingsError, match="DUETIME_MADE is not a variable"):
        Settings.from_env({"DUETIME_MADE": "{}"})


def test_environment_omits_defaults():
    assert Settings().to_env().keys() == {
        "DUETIME_ACTIONS_TABLE", "DUETIME_JOBS_TABLE", "DUETIME_SCHEDULE_GROUP", "DUETIME_JOB_GROUP"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"due_shards": 8}, r"due_shards is 8; allowed is 16 to 256"),
        ({"near_limit": timedelta(hours=1)}, r"near_limit is 3600 s; allowed is 1 s to 900 s"),
        ({"prefix": "a b"}, r"prefix is 'a b'; allowed are letters, digits"),
        ({"timers": "sundial"}, r"timers is 'sundial'; allowed is 'eventbridge', 'wheel'"),
        (
            {"heartbeat": timedelta(seconds=200)},
            r"heartbeat \(200 s\) must be at most half the lease \(300 s\)",
        ),
        ({"cancel_poll": timedelta(seconds=90)}, r"cancel_poll \(90 s\) must not exceed heartbeat \(60 s\)"),
        ({"near_limit": timedelta(seconds=60)}, r"wake_early \(90 s\) must be below near_limit \(60 s\)"),
        (
            {"idempotency_ttl": timedelta(days=31)},
            r"idempotency_ttl is 2678400 s; allowed is 60 s to 2592000 s",
        ),
        (
            {"idempotency_ttl": timedelta(days=3), "retention": timedelta(days=2)},
            r"idempotency_ttl \(259200 s\) must not exceed retention \(172800 s\)",
        ),
        (
            {
                "lease": timedelta(seconds=5),
                "heartbeat": timedelta(seconds=2),
                "cancel_poll": timedelta(seconds=1),
            },
            r"clock_skew \(5 s\) must be below the lease \(5 s\)",
        ),
    ],
)
def test_contradictory_settings_are_rejected_with_name_and_value(given, named):
    with pytest.raises(SettingsError, match=named):
        Settings(**given)


def test_error_lists_every_problem():
    with pytest.raises(SettingsError) as caught:
        Settings(due_shards=1, near_limit=timedelta(seconds=60))
    assert len(caught.value.problems) == 2


@pytest.mark.parametrize(
    ("name", "value"),
    [("LEASE", "soon"), ("LEASE", "1e999"), ("DUE_SHARDS", "many"), ("ENABLED", "perhaps"), ("QUEUES", "[")],
)
def test_unreadable_value_is_rejected_with_variable(name, value):
    with pytest.raises(SettingsError, match=f"DUETIME_{name}"):
        Settings.from_env({f"DUETIME_{name}": value})


def test_instance_name_is_log_stream_if_set():
    stream = "2026/11/21/[$LATEST]0123456789abcdef0123456789abcdef"
    assert instance_name({"AWS_LAMBDA_LOG_STREAM_NAME": stream}) == "0123456789abcdef"
    assert ":" in instance_name({})


def test_long_duration_keeps_precision_in_environment():
    settings = Settings(retention=timedelta(days=30, seconds=1))
    assert Settings.from_env(settings.to_env()).retention == settings.retention


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("", ""),
        ("https://console.example.com", "https://console.example.com"),
        ("https://ops.example.com:8443/duetime/prod", "https://ops.example.com:8443"),
        ("http://localhost:8000", "http://localhost:8000"),
    ],
)
def test_console_origin_is_url_without_path(url, origin):
    assert Settings(console_url=url).console_origin == origin


@pytest.mark.parametrize(
    "url",
    [
        "https://console.example.com/",
        "http://console.example.com",
        "console.example.com",
        "/ops",
        "https://a/b#c",
    ],
)
def test_invalid_console_url_is_rejected(url):
    with pytest.raises(
        SettingsError, match=r"console_url is .* allowed are a URL without a slash at its end"
    ):
        Settings(console_url=url)


def test_console_settings_are_read_and_all_are_required():
    place = ConsoleEnvironment(
        api_prefix="/api/v1",
        sign_in_url="https://a.example.com",
        sign_in_issuer="https://pool.example.com",
        sign_in_client="c",
    )
    for configured in (place, replace(place, runbook="https://wiki.example.com/duetime")):
        assert ConsoleEnvironment.from_env(configured.to_env()) == configured
    with pytest.raises(SettingsError) as rejected:
        ConsoleEnvironment.from_env({})
    assert len(rejected.value.problems) == 4


@pytest.mark.parametrize(
    ("chosen", "problem"),
    [
        (
            {"sweep_rate": timedelta(hours=1), "catch_up_rate": timedelta(days=1)},
            r"job_grace \(600 s\) must be at least grace \(300 s\) and sweep_rate \(3600 s\) together",
        ),
        ({"sweep_rate": timedelta(seconds=90)}, r"sweep_rate is 90 s; allowed are whole multiples of 60 s"),
        (
            {"sweep_rate": timedelta(hours=1), "catch_up_rate": timedelta(minutes=30)},
            r"sweep_rate \(3600 s\) must not exceed catch_up_rate \(1800 s\)",
        ),
        (
            {"sweep_rate": timedelta(minutes=8), "timers": "wheel"},
            r"sweep_rate \(480 s\) must be at most half of near_limit \(900 s\)",
        ),
    ],
)
def test_rates_that_contradict_other_settings_are_rejected(chosen, problem):
    with pytest.raises(SettingsError, match=problem):
        Settings(**chosen)
