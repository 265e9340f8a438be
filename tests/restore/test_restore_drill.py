"""The drill on moto: backup, ten more minutes of runs, restore, adopt."""

from dataclasses import replace
from datetime import timedelta

import boto3
import pytest

from duetime import Status
from duetime.aws.backends import AwsBackends
from duetime.aws.restored_rows import HELD_UNTIL
from duetime.errors import OperationFailed
from duetime.model.built_in import CANARY
from duetime.restore.restore import HeldRows, Restore
from duetime.wakeups.sweep import Canary
from tests.restore.drill import description, off
from tests.restore.story import STILL_TO_RUN, Story, name_of, verdicts


def held_names(drill):
    return {name_of(row) for row in HeldRows(drill.settings, drill.clock).list()}


def test_the_previous_table_shows_exactly_what_ended_and_what_changed(drill):
    report = Story(drill, "actions").restore(reads_logs=False).report()
    assert verdicts(report) == {
        "ran-after": "ended",
        "stumbles-after": "ended",
        "cancelled": "ended",
        "far-cancelled": "ended",
        "moved": "changed",
        "far-moved": "changed",
    }


@pytest.mark.long
def test_without_the_previous_table_the_logs_show_what_ran_and_the_timers_what_changed(drill):
    story = Story(drill, "actions")
    story.lose()
    assert verdicts(story.restore().report()) == {
        "ran-after": "ended",
        "stumbles-after": "ended",
        "cancelled": "due",
        "moved": "due",
        "far-cancelled": "changed",
        "far-moved": "changed",
    }


@pytest.mark.long
def test_without_any_evidence_all_that_was_due_since_the_restore_point_may_double(drill):
    story = Story(drill, "actions")
    story.lose()
    found = verdicts(story.restore(reads_logs=False).report())
    assert found == {
        **dict.fromkeys(("ran-after", "stumbles-after", "cancelled", "moved"), "due"),
        **dict.fromkeys(("far-cancelled", "far-moved"), "changed"),
    }


@pytest.mark.long
@pytest.mark.parametrize("is_lost", [True, False])
def test_actions_scheduled_after_the_restore_point_are_listed_as_lost(drill, is_lost):
    story = Story(drill, "actions")
    if is_lost:
        story.lose()
    found = {action.ref.id: action.is_open for action in story.restore().report().lost}
    assert found == {story.lost["lost-open"].id: True, story.lost["lost-ended"].id: False}


@pytest.mark.long
def test_a_report_changes_nothing(drill):
    story = Story(drill, "actions")
    before = boto3.client("dynamodb").scan(TableName=story.restored["actions"])["Items"]
    timers = sorted(drill.backends.timers.known())
    story.restore().report()
    assert boto3.client("dynamodb").scan(TableName=story.restored["actions"])["Items"] == before
    assert sorted(drill.backends.timers.known()) == timers
    assert "LatestStreamArn" not in description(story.restored["actions"])


def test_adopting_enables_what_the_restore_left_out_and_prints_the_settings(drill):
    story = Story(drill, "actions")
    report = story.restore().adopt()
    name, client = story.restored["actions"], boto3.client("dynamodb")
    table = description(name)
    assert table["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    assert table["DeletionProtectionEnabled"]
    ttl = client.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
    assert ttl == {"TimeToLiveStatus": "ENABLED", "AttributeName": "ttl"}
    backups = client.describe_continuous_backups(TableName=name)["ContinuousBackupsDescription"]
    assert backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "ENABLED"
    tags = client.list_tags_of_resource(ResourceArn=table["TableArn"])["Tags"]
    assert tags == [{"Key": "team", "Value": "billing"}]
    assert report.settings == {"duetime:actions_stream": table["LatestStreamArn"]}
    assert report.enabled == {
        "actions": (
            "stream", "time to live", "point-in-time recovery", "deletion protection", "tags team",
        )
    }  # fmt: skip


@pytest.mark.parametrize("is_lost", [pytest.param(True, marks=pytest.mark.long), False])
def test_after_the_switch_is_on_nothing_runs_twice_and_nothing_that_was_left_is_missing(drill, is_lost):
    story = Story(drill, "actions")
    if is_lost:
        story.lose()
    story.restore().adopt()
    story.deploy(enabled=True)
    drill.minutes(45)
    one_shots = {name: count for name, count in drill.effects.items() if "." not in name}
    assert one_shots == {
        **dict.fromkeys(("ran-before", "ran-after", "stumbles-after", "lost-ended"), 1),
        **dict.fromkeys(STILL_TO_RUN, 1),
    }
    assert set(drill.effects.values()) == {1}


@pytest.mark.long
def test_adopting_leaves_exactly_the_timers_of_the_rows_that_will_run(drill):
    story = Story(drill, "actions")
    report = story.restore().adopt()
    timers = {drill.backends.timers.message(name).ref.id for name in drill.backends.timers.known()}
    assert timers == {story.actions[name].id for name in STILL_TO_RUN}
    assert report.timers_removed == 3  # moved, far-moved, lost-open


def test_an_operator_lets_held_rows_run_or_marks_them_as_done(drill):
    story = Story(drill, "actions")
    story.restore().adopt()
    story.deploy(enabled=False)
    held = HeldRows(drill.settings, drill.clock)
    rows = {name_of(row): row for row in held.list()}
    assert held.run_again([rows["ran-after"], rows["far-cancelled"]]) == 2
    assert held.mark_done([rows["stumbles-after"]]) == 1
    story.deploy(enabled=True)
    drill.minutes(25)
    assert (drill.effects["ran-after"], drill.effects["far-cancelled"]) == (2, 1)
    assert drill.effects["stumbles-after"] == 1
    done = drill.scheduler.get(story.actions["stumbles-after"].id)
    assert (done.status, done.note.partition(";")[0]) == (Status.SKIPPED, "marked as done after a restore")
    assert {"moved", "cancelled", "far-moved"} <= held_names(drill)


@pytest.mark.long
def test_a_run_that_is_made_again_has_its_nominal_time_and_a_higher_fence(drill):
    story = Story(drill, "actions")
    before = drill.scheduler.get(story.actions["ran-after"].id)
    story.restore().adopt()
    story.deploy(enabled=True)
    held = HeldRows(drill.settings, drill.clock)
    held.run_again(row for row in held.list() if name_of(row) == "ran-after")
    drill.minutes(1)
    again = drill.scheduler.get(before.id)
    assert again.status is Status.EXECUTED
    assert again.nominal_at == before.nominal_at
    assert again.fence > before.fence + 100


@pytest.mark.long
def test_adopting_twice_changes_nothing_more(drill):
    story = Story(drill, "actions")
    first = story.restore().adopt()
    second = story.restore().adopt()
    assert [row for row in second.doubtful if not row.row.job] == []
    assert second.held == sum(row.is_held for row in first.doubtful)
    assert second.enabled == {"actions": ()}
    assert second.timers_removed == 0


@pytest.mark.long
def test_a_held_row_is_pending_until_2199_with_its_evidence(drill):
    story = Story(drill, "actions")
    story.restore().adopt()
    story.deploy(enabled=False)
    row = drill.scheduler.get(story.actions["ran-after"].id)
    assert (row.status, row.due_at) == (Status.PENDING, HELD_UNTIL)
    assert row.note.startswith(f"ended: executed in {story.settings.made.actions_table}")


@pytest.mark.long
def test_a_table_restored_under_its_own_name_is_adopted(drill):
    story = Story(drill, "actions")
    story.lose()
    client, name = boto3.client("dynamodb"), story.settings.made.actions_table
    backup = client.create_backup(TableName=story.restored["actions"], BackupName="again")["BackupDetails"]
    client.restore_table_from_backup(TargetTableName=name, BackupArn=backup["BackupArn"])
    story.restored = {"actions": name}
    report = story.restore().adopt()
    assert f":table/{name}/stream/" in report.settings["duetime:actions_stream"]
    assert verdicts(report)["ran-after"] == "ended"
    story.deploy(enabled=True)
    drill.minutes(10)
    assert drill.effects["ran-after"] == 1


def test_nothing_is_adopted_while_the_switch_is_on(drill):
    story = Story(drill, "actions")
    story.settings = drill.settings = type(drill.settings).from_env(
        {**drill.settings.to_env(), "DUETIME_ENABLED": "true"}
    )
    with pytest.raises(OperationFailed, match="enabled=false"):
        story.restore().adopt()
    assert "LatestStreamArn" not in description(story.restored["actions"])


@pytest.mark.long
def test_tables_that_cannot_be_adopted_are_rejected_with_a_remedy(drill):
    boto3.client("dynamodb").create_table(
        TableName="other",
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
    )
    cases = {
        "does not exist in this account and region; restore it first": {"actions": "missing"},
        r"other has the keys .* allowed are": {"actions": "other"},
        "no table is named": {},
        "no record of a restore .* add --restored-to": {"actions": drill.settings.made.actions_table},
        "has the format None; allowed is 1": {
            "jobs": drill.settings.made.actions_table,
            "restored_to": drill.clock.now(),
        },
    }
    for message, tables in cases.items():
        with pytest.raises(OperationFailed, match=message):
            Restore(off(drill.settings), drill.clock, **tables)


@pytest.mark.long
@pytest.mark.parametrize("is_lost", [True, False])
def test_canaries_are_neither_held_nor_listed_as_lost(drill, is_lost):
    def schedule_canary(drill):
        often = replace(
            drill.settings,
            made=replace(drill.settings.made, canary=timedelta(minutes=1)),
            near_limit=timedelta(minutes=2),
        )
        assert Canary(AwsBackends(often, drill.clock))()

    story = Story(drill, "actions", before=schedule_canary, after=schedule_canary)
    if is_lost:
        story.lose()
    report = story.restore().report()
    assert CANARY not in {row.row.type for row in report.doubtful} | {action.type for action in report.lost}
    assert "moved" in verdicts(report)
