"""Many actions listed, cancelled and redriven by filters, against a scheduler that really runs."""

import io
import json
from datetime import UTC, datetime, timedelta

import pytest

from duetime.cli.arguments import moment
from duetime.clock import SystemClock

LATER = ("--at", "2027-06-01T09:00:00", "--tz", "Europe/Paris")
UNKNOWN_ID = "01983b5e-7c00-7a3c-9f21-5d0c8e4b7a16"


@pytest.fixture
def plan(duetime):
    """Return a function that schedules remarks for the far future and returns their ids."""

    def schedule(many, correlation_id="order:7", *more):
        words = ("schedule", "remark", *(more or LATER), "--correlation-id", correlation_id)
        return [duetime.json(*words)["id"] for _ in range(many)]

    return schedule


@pytest.fixture
def fail(duetime):
    """Return a function that runs an action which fails, and returns its id."""

    def failed(correlation_id="order:7"):
        duetime("schedule", "doomed", "--correlation-id", correlation_id, "--watch")
        return duetime.json("actions", "list")["items"][0]["id"]

    return failed


@pytest.fixture
def at_a_terminal(monkeypatch):
    """Return a function that types a text at a terminal."""

    def types(typed):
        class Terminal(io.StringIO):
            def isatty(self):
                return True

        monkeypatch.setattr("sys.stdin", Terminal(typed))

    return types


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch):
    """No terminal, unless a test opens one."""
    monkeypatch.setattr("sys.stdin", io.StringIO(""))


def statuses(duetime, ids):
    return {duetime.json("actions", "show", id_)["status"] for id_ in ids}


class TestFilters:
    def test_narrow_a_list(self, duetime, plan):
        [near] = plan(1, "order:7", "--in", "1h")
        [far] = plan(1, "order:8")
        for words, found in (
            (("--status", "pending,failed"), [far, near]),
            (("--status", "failed"), []),
            (("--type", "remark", "--correlation-id", "order:8"), [far]),
            (("--due-until", "2h"), [near]),
            (("--due-after", "2h"), [far]),
            (("--created-after", "-1h"), [far, near]),
            (("--created-until", "-1h"), []),
            (("--due-after", "2027-05-31T09:00"), [far]),
        ):
            assert [action["id"] for action in duetime.json("actions", "list", *words)["items"]] == found

    def test_are_repeated_in_the_command_for_the_next_page(self, duetime, plan):
        first, second = plan(2)
        _, printed, _ = duetime("actions", "list", "--type", "remark", "--due-after", "-1h", "--limit", "1")
        words = printed.splitlines()[-1].removeprefix("more: duetime ").split()
        assert {"--type", "--due-after"} < set(words)
        _, rest, _ = duetime(*words)
        shown = printed + rest
        assert first in shown
        assert second in shown

    @pytest.mark.parametrize(
        ("written", "ahead"),
        [
            ("2h", timedelta(hours=2)),
            ("-2h", -timedelta(hours=2)),
            ("-1d30m", -timedelta(days=1, minutes=30)),
        ],
    )
    def test_take_a_span_from_now(self, written, ahead):
        off = datetime.fromisoformat(moment(written)) - SystemClock().now() - ahead
        assert abs(off) < timedelta(minutes=1)

    def test_take_a_time(self):
        assert moment("2027-06-01T09:00+02:00") == "2027-06-01T07:00:00Z"
        assert datetime.fromisoformat(moment("2027-06-01T09:00Z")).tzinfo == UTC

    @pytest.mark.parametrize("written", ["soon", "-", "--2h", "2h-", "-999999d"])
    def test_reject_any_other_text_as_a_time(self, duetime, written):
        status, printed, line = duetime("actions", "list", f"--due-after={written}")
        assert (status, printed) == (2, "")
        assert line.startswith("duetime: argument --due-after: ")
        assert line.count("\n") == 1


class TestCancel:
    def test_of_several_ids_prints_each(self, duetime, plan):
        ids = plan(3)
        status, printed, errors = duetime("actions", "cancel", *ids)
        assert (status, errors) == (0, "")
        assert printed.splitlines() == [f"cancelled {id_}" for id_ in ids]

    def test_of_several_ids_continues_after_an_unknown_id(self, duetime, plan):
        ids = plan(2)
        status, printed, errors = duetime("actions", "cancel", ids[0], UNKNOWN_ID, ids[1])
        assert status == 1
        assert printed.splitlines() == [f"cancelled {id_}" for id_ in ids]
        assert errors == f"duetime: there is no action '{UNKNOWN_ID}'\n"

    def test_of_several_ids_prints_one_json_document(self, duetime, plan):
        ids = plan(2)
        result = duetime.json("actions", "cancel", *ids)
        assert [action["id"] for action in result["changed"]] == ids
        assert (result["left"], result["dry_run"]) == ([], False)

    def test_in_a_dry_run_prints_the_number_and_the_first_ten(self, duetime, plan):
        ids = plan(12)
        status, printed, errors = duetime("actions", "cancel", "--correlation-id", "order:7", "--dry-run")
        head, columns, *lines = printed.splitlines()
        assert (status, errors) == (0, "")
        assert head == "would cancel 12 actions, the first 10:"
        assert columns.startswith("ID ")
        assert len(lines) == 10
        assert statuses(duetime, ids) == {"pending"}

    def test_with_yes_cancels_all_pages_and_prints_its_progress(self, duetime, plan):
        ids = plan(120)
        status, printed, errors = duetime("actions", "cancel", "--correlation-id", "order:7", "--yes")
        assert (status, printed, errors) == (0, "cancelled 120 actions\n", "cancelled 100 so far\n")
        assert statuses(duetime, ids[::17]) == {"cancelled"}

    def test_is_confirmed_once_at_a_terminal(self, duetime, plan, at_a_terminal):
        ids = plan(2)
        at_a_terminal("y\n")
        status, printed, errors = duetime("actions", "cancel", "--type", "remark")
        assert (status, printed) == (0, "cancelled 2 actions\n")
        assert errors.startswith("would cancel 2 actions:\nID ")
        assert errors.endswith("cancel 2 actions? [y/N] ")
        assert statuses(duetime, ids) == {"cancelled"}

    def test_leaves_what_was_scheduled_after_the_operator_looked(
        self, duetime, plan, at_a_terminal, monkeypatch
    ):
        ids, later = plan(2), []

        def confirm():
            _, printed, _ = duetime("schedule", "remark", "--in", "2h")
            later.append(printed.split()[1].rstrip(","))
            return "y\n"

        at_a_terminal("")
        monkeypatch.setattr("sys.stdin.readline", confirm)
        status, printed, _ = duetime("actions", "cancel", "--type", "remark")
        assert (status, printed) == (0, "cancelled 2 actions\n")
        assert (statuses(duetime, ids), statuses(duetime, later)) == ({"cancelled"}, {"pending"})

    @pytest.mark.parametrize("typed", ["", "\n", "n\n", "no\n", "what?\n"])
    def test_changes_nothing_unless_confirmed(self, duetime, plan, at_a_terminal, typed):
        ids = plan(1)
        at_a_terminal(typed)
        status, printed, _ = duetime("actions", "cancel", "--type", "remark")
        assert (status, printed) == (0, "cancelled 0 actions\n")
        assert statuses(duetime, ids) == {"pending"}

    def test_of_nothing_needs_no_confirmation(self, duetime, at_a_terminal):
        at_a_terminal("y\n")
        status, printed, errors = duetime("actions", "cancel", "--type", "remark")
        assert (status, printed, errors) == (0, "cancelled 0 actions\n", "no actions to cancel\n")

    def test_by_filter_prints_one_json_document(self, duetime, plan):
        ids = plan(3)
        words = ("actions", "cancel", "--correlation-id", "order:7", "--yes")
        would = duetime.json(*words, "--dry-run")
        assert ({action["id"] for action in would["changed"]}, would["dry_run"]) == (set(ids), True)
        done = duetime.json(*words)
        assert {action["status"] for action in done["changed"]} == {"cancelled"}
        assert (done["left"], done["next_cursor"], done["dry_run"]) == ([], None, False)

    @pytest.mark.parametrize(
        ("words", "expected"),
        [
            ((), "choose which to cancel: ids, or filters such as --correlation-id"),
            ((UNKNOWN_ID, "--type", "remark"), "cancel takes ids or filters, not both"),
            ((UNKNOWN_ID, "--dry-run"), "--dry-run goes with filters"),
            (
                ("--type", "remark"),
                "there is no terminal for the confirmation: look with --dry-run, then use --yes",
            ),
            (("--type", "remark", "--json"), "there is no terminal for the confirmation"),
            (("",), "`duetime actions list` shows the ids"),
        ],
    )
    def test_without_a_clear_selection_is_bad_usage(self, duetime, plan, words, expected):
        ids = plan(1)
        status, printed, line = duetime("actions", "cancel", *words)
        assert (status, printed) == (2, "")
        assert line.startswith("duetime: ")
        assert line.count("\n") == 1
        assert expected in line
        assert statuses(duetime, ids) == {"pending"}

    def test_that_the_api_rejects_fails_on_one_line(self, duetime):
        status, printed, line = duetime("actions", "cancel", "--status", "executed", "--yes")
        assert (status, printed) == (1, "")
        assert (
            line
            == "duetime: cancel takes pending or processing actions; executed ones cannot be changed so\n"
        )


class TestServerThatLeavesSome:
    def test_unchanged_actions_are_printed_with_the_reason_and_exit_with_1(self, serve, duetime):
        step = {
            "changed": [{"id": "a", "status": "cancelled"}, {"id": "b", "status": "processing"}],
            "left": [{"id": "c", "reason": "it is executed"}],
            "next_cursor": None,
            "dry_run": False,
        }
        url = serve(lambda *_request: (200, "application/json", json.dumps(step)))
        status, printed, _ = duetime("actions", "cancel", "--type", "remark", "--yes", url=url)
        assert status == 1
        assert printed.splitlines() == [
            "cancelled 1 action",
            "requested 1 action to stop: a running action ends when its handler checks",
            "left c: it is executed",
        ]


class TestDeadLetters:
    def test_are_listed_with_type_time_and_reason(self, duetime, fail, plan):
        failed = fail()
        plan(1)
        run = duetime.json("jobs", "trigger", "billing-rebuild", "--payload", "{}")["id"]
        _until_failed(duetime, run)
        status, printed, _ = duetime("dead-letters", "list")
        head, *lines = printed.splitlines()
        assert status == 0
        assert head.split() == [
            "ID",
            "FAILED",
            "TYPE",
            "OR",
            "JOB",
            "ATTEMPTS",
            "CORRELATION",
            "ID",
            "REASON",
        ]
        assert [line.split()[0] for line in lines] == [run, failed]
        assert "billing-rebuild" in lines[0]
        assert lines[0].endswith("1         -               Fatal: no bank")
        assert "doomed" in lines[1]
        assert "ago)" in lines[1] or "now)" in lines[1]

    def test_without_any_print_one_line(self, duetime, plan):
        plan(1)
        assert duetime("dead-letters", "list") == (0, "no dead letters\n", "")

    def test_end_with_a_command_for_the_next_page(self, duetime, fail):
        first, second = fail(), fail()
        _, printed, _ = duetime("dead-letters", "list", "--type", "doomed", "--limit", "1")
        assert second in printed
        words = printed.splitlines()[-1].removeprefix("more: duetime ")
        assert words.startswith("dead-letters list --type doomed --limit 1 --cursor ")
        cursor = words.partition("--cursor '")[2].partition("'")[0]
        listed = duetime.json("dead-letters", "list", "--type", "doomed", "--limit", "1", "--cursor", cursor)
        assert [action["id"] for action in listed["items"]] == [first]

    def test_are_redriven_by_id(self, duetime, fail):
        failed = fail()
        status, printed, _ = duetime("dead-letters", "redrive", failed)
        assert status == 0
        assert printed.startswith(f"redriven {failed}, due ")

    @pytest.mark.parametrize("words", [("--type", "doomed"), ("--all",), ("--correlation-id", "order:7")])
    def test_are_redriven_by_filter(self, duetime, fail, words):
        failed = fail()
        result = duetime.json("dead-letters", "redrive", *words, "--dry-run")
        assert [action["id"] for action in result["changed"]] == [failed]
        status, printed, _ = duetime("dead-letters", "redrive", *words, "--yes")
        assert (status, printed) == (0, "redriven 1 action\n")

    def test_are_watched_until_they_fail_again(self, duetime, fail):
        failed = [fail(), fail()]
        status, printed, errors = duetime("dead-letters", "redrive", "--type", "doomed", "--yes", "--watch")
        first, counted, *others = printed.splitlines()
        assert (status, first, counted) == (1, "redriven 2 actions", "2 failed")
        assert {other.split()[1].rstrip(":") for other in others} == set(failed)
        assert all("was stolen" in other for other in others)
        assert "2 not done yet" in errors

    def test_that_are_watched_exit_with_0_if_all_are_executed(self, duetime, fail, repair):
        failed = fail()
        repair()
        status, printed, _ = duetime("dead-letters", "redrive", failed, "--watch")
        assert (status, printed.splitlines()[-1]) == (0, "1 executed")

    def test_that_are_watched_print_their_final_state_as_json(self, duetime, fail):
        failed = fail()
        status, printed, _ = duetime("dead-letters", "redrive", failed, "--watch", "--json")
        assert (status, json.loads(printed)["status"]) == (1, "failed")

    def test_cannot_be_watched_in_a_dry_run(self, duetime):
        status, _, line = duetime("dead-letters", "redrive", "--all", "--dry-run", "--watch")
        assert (status, "nothing to --watch" in line) == (2, True)

    def test_without_ids_or_filters_are_not_redriven(self, duetime, fail):
        fail()
        status, _, line = duetime("dead-letters", "redrive", "--yes")
        assert status == 2
        assert "choose which to redrive: ids, or filters" in line

    def test_are_redriven_by_filters(self, duetime, fail):
        failed = [fail(), fail()]
        status, printed, _ = duetime("dead-letters", "redrive", "--type", "doomed", "--yes")
        assert (status, printed) == (0, "redriven 2 actions\n")
        status, _, line = duetime("dead-letters", "redrive", *failed, "--type", "doomed")
        assert (status, "not both" in line) == (2, True)


def _until_failed(duetime, action_id):
    """Wait until the triggered run has failed."""
    while duetime.json("actions", "show", action_id)["status"] != "failed":
        pass
