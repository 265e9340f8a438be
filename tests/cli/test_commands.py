"""The commands of actions, against a scheduler that really runs."""

import io
import json

import pytest

from duetime import instant
from duetime.cli import main

LATER = ("--at", "2027-06-01T09:00:00", "--tz", "Europe/Paris")


@pytest.fixture
def planned(duetime):
    """An action that is due in the far future."""
    return duetime.json(
        "schedule", "remark", "--payload", '{"text": "hé"}', *LATER, "--correlation-id", "order:7"
    )


def test_an_action_is_scheduled_and_shown(duetime):
    status, printed, errors = duetime("schedule", "remark", *LATER)
    assert (status, errors) == (0, "")
    first, second = printed.splitlines()
    assert first.startswith("scheduled 01")
    assert "due 2027-06-01T07:00:00Z (in " in first
    second_line = f"look at it: duetime actions show {first.split()[1].rstrip(',')}"
    assert second == f"{second_line} --url {duetime.url}"


def test_a_span_ends_at_a_whole_second_unless_it_is_to_be_precise(duetime):
    usual = duetime.json("schedule", "remark", "--in", "5m")
    moved = duetime.json("actions", "reschedule", usual["id"], "--in", "2h", "--precision", "millisecond")
    assert [instant.parse(action["due_at"]).microsecond == 0 for action in (usual, moved)] == [True, False]


def test_json_is_the_response_of_the_api(duetime, planned):
    assert planned["payload"] == {"text": "hé"}
    assert duetime.json("actions", "show", planned["id"]) == planned


def test_a_repeated_idempotency_key_returns_the_first_action(duetime):
    keyed = (*LATER, "--idempotency-key", "order-17", "--idempotency-ttl", "7d")
    first = duetime.json("schedule", "remark", *keyed)
    assert duetime.json("schedule", "remark", *keyed) == first
    status, _, errors = duetime("schedule", "remark", "--payload", '{"text": "other"}', *keyed)
    assert status == 1
    assert f"stands for action {first['id']}" in errors


def test_a_repeated_idempotency_key_prints_already_scheduled(duetime):
    keyed = ("schedule", "remark", *LATER, "--idempotency-key", "order-17")
    first = duetime.json(*keyed)
    status, printed, _ = duetime(*keyed)
    assert status == 0
    first_line, second_line = printed.splitlines()
    assert first_line.startswith(f"already scheduled (as {first['id']}, pending), due 2027-06-01T07:00:00Z")
    assert second_line == f"look at it: duetime actions show {first['id']} --url {duetime.url}"


def test_keys_are_scheduled_and_shown(duetime):
    keys = ("--concurrency-key", "customer:42", "--concurrency-limit", "2", "--idempotency-key", "order-17")
    made = duetime.json("schedule", "remark", *LATER, *keys)
    assert (made["concurrency_key"], made["concurrency_limit"]) == ("customer:42", 2)
    _, printed, _ = duetime("actions", "show", made["id"])
    assert "  idempotency     order-17\n" in printed
    assert "  concurrency     customer:42, 2 at once\n" in printed


def test_a_high_priority_that_the_deployment_does_not_enable_is_rejected_with_what_to_enable(duetime):
    status, _, errors = duetime("schedule", "remark", *LATER, "--priority", "high")
    assert status == 1
    assert "set high_priority=true and deploy" in errors


def test_a_repeated_debounce_key_changes_the_action_and_prints_that(duetime):
    keyed = ("schedule", "remark", "--debounce-key", "reindex:42", "--at-most-after", "1h")
    first = duetime.json(*keyed, "--in", "5m")
    status, printed, _ = duetime(*keyed, "--in", "10m")
    assert status == 0
    assert printed.startswith(f"changed {first['id']}, due ")
    assert "(call 2 of its debounce key)" in printed
    _, shown, _ = duetime("actions", "show", first["id"])
    assert "  debounce        reindex:42, 2 calls\n" in shown
    assert "can move that, until" in duetime("why", first["id"])[1]
    status, _, errors = duetime(*keyed, "--in", "2h")
    assert status == 1
    assert "before the first due time" in errors


@pytest.mark.parametrize("command", [("why",), ("actions", "why")])
def test_why_prints_the_reason_and_when_the_action_runs(duetime, command):
    made = duetime.json("schedule", "remark", *LATER)
    status, printed, _ = duetime(*command, made["id"])
    reason, then = printed.splitlines()
    assert (status, reason) == (0, "It is due at 2027-06-01T07:00:00Z.")
    assert then.startswith("runs 2027-06-01T07:00:00Z")
    assert duetime.json(*command, made["id"])["runs_at"] == "2027-06-01T07:00:00Z"


def test_an_expiry_is_scheduled_shown_and_moved(duetime):
    made = duetime.json("schedule", "remark", *LATER, "--expires-after", "1h")
    assert made["expires_at"] == "2027-06-01T08:00:00Z"
    _, printed, _ = duetime("actions", "show", made["id"])
    assert "  expires         2027-06-01T08:00:00Z" in printed
    until = ("--expires-at", "2027-06-01T10:00:00Z")
    moved = duetime.json("actions", "reschedule", made["id"], "--at", "2027-06-01T09:00:00Z", *until)
    assert moved["expires_at"] == "2027-06-01T10:00:00Z"
    status, _, errors = duetime("actions", "reschedule", made["id"], "--at", "2027-06-01T11:00:00Z")
    assert status == 1
    assert "is not after the due time" in errors


def test_a_concurrency_limit_without_a_key_is_rejected(duetime):
    status, _, errors = duetime("schedule", "remark", *LATER, "--concurrency-limit", "2")
    assert status == 1
    assert "pass concurrency_key as well" in errors


def test_a_payload_is_read_from_standard_input(duetime, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO('{"text": "piped"}'))
    assert duetime.json("schedule", "remark", "--payload", "-", *LATER)["payload"] == {"text": "piped"}


def test_an_action_is_watched_until_it_is_executed(duetime):
    status, printed, _ = duetime("schedule", "remark", "--in", "1s", "--watch")
    assert status == 0
    lines = printed.splitlines()
    assert lines[1].startswith("pending     due ")
    assert lines[-2].startswith("processing  attempt 1 on ")
    assert lines[-1].startswith("executed    attempt 1 began ")


def test_a_watched_action_that_fails_exits_with_1_and_prints_no_control_characters(duetime):
    status, printed, errors = duetime("schedule", "doomed", "--watch")
    assert status == 1
    assert printed.splitlines()[-1] == "failed      Fatal: the  [31mcard [0m was stolen"
    assert errors.startswith("duetime: the action 01")
    assert errors.endswith("is failed, not executed\n")


def test_a_watched_action_is_printed_once_as_json_when_settled(duetime):
    watched = duetime.json("schedule", "remark", "--watch")
    assert watched["status"] == "executed"


def test_actions_are_listed_in_aligned_columns(duetime, planned):
    status, printed, _ = duetime("actions", "list")
    head, line = printed.splitlines()
    assert status == 0
    assert head.split()[:4] == ["ID", "TYPE", "STATUS", "DUE"]
    assert [line.index(word) for word in ("remark", "pending", "2027-06-01T07:00:00Z", "order:7")] == [
        head.index(word) for word in ("TYPE", "STATUS", "DUE", "CORRELATION ID")
    ]
    assert "\033" not in printed


def test_an_empty_list_is_one_line(duetime):
    assert duetime("actions", "list", "--correlation-id", "unknown") == (0, "no actions\n", "")


def test_the_next_page_is_a_command(duetime, planned):
    other = duetime.json("schedule", "remark", *LATER, "--correlation-id", "order:7")
    _, printed, _ = duetime("actions", "list", "--correlation-id", "order:7", "--limit", "1")
    assert planned["id"] in printed
    *_, more = printed.splitlines()
    words = more.removeprefix("more: duetime ").split()
    _, printed, _ = duetime(*words)
    assert other["id"] in printed
    assert "more:" not in printed


def test_an_action_is_shown_with_all_its_fields(duetime, planned):
    _, printed, _ = duetime("actions", "show", planned["id"])
    assert printed.splitlines()[0] == f"{planned['id']}  remark  pending"
    assert "  due             2027-06-01T07:00:00Z (in " in printed
    assert "by developer" in printed
    assert '  payload         {"text": "hé"}' in printed


def test_attempts_are_shown_with_their_outcomes(duetime):
    duetime("schedule", "doomed", "--watch")
    made = duetime.json("actions", "list")["items"][0]
    _, printed, _ = duetime("actions", "show", made["id"])
    above, _, traceback = printed.partition("\n\nattempt 1, ")
    *_, head, line = above.splitlines()
    assert traceback.splitlines()[-2:] == ["Fatal: the \\x1b[31mcard\\x1b[0m", "was stolen"]
    assert head.split() == ["ATTEMPT", "OUTCOME", "STARTED", "TOOK", "INSTANCE", "MESSAGE"]
    assert line.split()[:2] == ["1", "failed"]
    assert line.endswith("was stolen")
    assert "  failed          Fatal: the" in printed


def test_a_checkpoint_is_shown_and_the_runs_that_continued(duetime):
    duetime("schedule", "remark", "--payload", '{"text":"in parts"}', "--watch")
    made = duetime.json("actions", "list")["items"][0]
    _, printed, _ = duetime("actions", "show", made["id"])
    assert '  checkpoint      {"done": 1}' in printed
    assert [line.split()[:2] for line in printed.splitlines()[-2:]] == [["1", "continued"], ["2", "executed"]]


def test_an_action_is_cancelled(duetime, planned):
    assert duetime("actions", "cancel", planned["id"]) == (0, f"cancelled {planned['id']}\n", "")


def test_an_action_is_rescheduled(duetime, planned):
    status, printed, _ = duetime("actions", "reschedule", planned["id"], "--in", "1d")
    assert status == 0
    assert printed.startswith(f"rescheduled {planned['id']}, due ")
    assert printed.endswith("(in 24 h)\n")


def test_a_failed_action_is_redriven(duetime):
    duetime("schedule", "doomed", "--watch")
    made = duetime.json("actions", "list")["items"][0]
    status, printed, _ = duetime("dead-letters", "redrive", made["id"])
    assert status == 0
    assert printed.startswith(f"redriven {made['id']}, due ")


def test_the_tenant_and_user_options_work_on_the_local_cloud(duetime, planned):
    assert duetime.json("actions", "list", "--tenant", "globex")["items"] == []
    made = duetime.json("schedule", "remark", *LATER, "--tenant", "globex", "--user", "eve")
    assert (made["tenant_id"], made["created_by"]) == ("globex", "eve")


def test_the_environment_sets_the_url(duetime, capsys, monkeypatch):
    monkeypatch.setenv("DUETIME_URL", duetime.url)
    assert main(["actions", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "items": [],
        "next_cursor": None,
        "includes_runs": False,
        "scanned": None,
    }


def test_requests_to_this_machine_use_no_proxy(duetime, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")
    assert duetime("actions", "list") == (0, "no actions\n", "")
