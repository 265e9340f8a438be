"""Names of settings and variables that do not exist are refused, each with the most similar one."""

from dataclasses import fields

import aws_cdk as cdk
import pytest

from duetime import App
from duetime.cdk import Deployment, from_context
from duetime.cdk.context import OF_ANY_APP
from duetime.cdk.functions import check_environment
from duetime.cli import main
from duetime.environment import CommandLine, ConsoleEnvironment
from duetime.errors import SettingsError
from duetime.settings import Made, Settings, check_variables
from tests.emulated import EmulatedCloud
from tests.infra.synthesis import PLAIN, stack

PROBLEM = "DUETIME_ACTIONS_TABEL is not a variable of duetime; did you mean DUETIME_ACTIONS_TABLE?"


@pytest.fixture
def misspelt(monkeypatch):
    monkeypatch.setenv("DUETIME_ACTIONS_TABEL", "actions")


@pytest.mark.usefixtures("misspelt")
@pytest.mark.parametrize(
    "start",
    [
        Settings.from_env,
        lambda: EmulatedCloud(App()).start(),
        lambda: App().embedded().__enter__(),
        lambda: from_context(cdk.App().node),
    ],
    ids=["a function", "the local cloud", "embedded", "synthesis"],
)
def test_a_misspelt_variable_stops_each_start(start):
    with pytest.raises(SettingsError) as refused:
        start()
    assert refused.value.problems == (PROBLEM,)


@pytest.mark.usefixtures("misspelt")
def test_a_misspelt_variable_stops_a_command(capsys):
    assert main(["preview", "0 9 * * *"]) == 1
    assert capsys.readouterr().err == f"duetime: {PROBLEM}\n"


def test_a_function_cannot_be_deployed_with_an_unknown_variable():
    with pytest.raises(SettingsError, match="did you mean DUETIME_LEASE"):
        check_environment(cdk.Stack(), "duetime-work-default", {"DUETIME_LEESE": "60", "LEESE": "60"})


def test_all_unknown_variables_are_named_at_once_and_a_far_name_has_no_suggestion():
    with pytest.raises(SettingsError) as refused:
        Settings.from_env({"DUETIME_QQQQ": "", "DUETIME_LEASE": "soon", "duetime_lease": "1"})
    unknown, unreadable = refused.value.problems
    assert unknown == "DUETIME_QQQQ is not a variable of duetime; docs/settings.md lists them"
    assert unreadable.startswith("DUETIME_LEASE is 'soon'")


def test_every_variable_that_a_part_reads_is_known():
    own = ["URL", "TOKEN", "SIGN", "PROFILE", "API_PREFIX", "CONFIG", "TIMEOUT"]
    assert len(own) == len({field.name for field in fields(CommandLine)} - {"no_colour"})
    names = [*own, "ACTION", "TENANT", "RUNBOOK", "WORKER_CONCURRENCY", "REGIONS_TABLE", "TARGETS"]
    names += [field.name.upper() for kind in (Settings, Made, ConsoleEnvironment) for field in fields(kind)]
    names.remove("MADE")
    check_variables(dict.fromkeys((f"DUETIME_{name}" for name in names), "1"))


def test_an_app_with_its_settings_in_code_refuses_names_of_the_context_that_it_does_not_read():
    context = {"duetime:log_dayz": 3, "duetime:lease": 60, "duetime:log_days": "3", "duetime:app": "shop:app"}
    with pytest.raises(SettingsError) as refused:
        stack(deployment=PLAIN, context=context)
    own = "is in the context, but this app gives its settings in code; pass"
    assert refused.value.problems == (
        "duetime:log_dayz is 3, but is not a setting; did you mean log_days? docs/settings.md lists all",
        f"duetime:app {own} Handlers(app=...), or use from_context",
        f"duetime:lease {own} Settings(lease=...), or use from_context",
        f"duetime:log_days {own} Deployment(log_days=...), or use from_context",
    )


def test_an_app_with_its_settings_in_code_takes_those_of_a_rehearsal():
    context = {"duetime:profile": "small", "duetime:architecture": "x86_64", "duetime:python": "3.12"}
    _, made = stack(deployment=PLAIN, context=context)
    assert [getattr(made.deployment, name) for name in OF_ANY_APP] == ["small", "x86_64", "3.12"]


@pytest.mark.parametrize("kind", [Settings, Deployment])
def test_an_unknown_keyword_is_named_with_the_most_similar_setting(kind):
    known = fields(kind)[0].name
    with pytest.raises(SettingsError) as refused:
        kind(**{known + "x": "", "zzzzzzzz": ""})
    assert refused.value.problems == (
        f"{known}x is not a setting of {kind.__name__}; did you mean {known}?",
        f"zzzzzzzz is not a setting of {kind.__name__}; see docs/settings.md",
    )
