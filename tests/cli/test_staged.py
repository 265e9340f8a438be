"""``redrive --staged`` against a scheduler that really runs: one, then ten, then all."""

import json
import threading

import pytest

from duetime import App, Fatal, Payload, RetryPolicy, Run


class Bill(Payload):
    number: int = 0


class Bank:
    """Fails every bill with one error, until a test changes the errors."""

    def __init__(self):
        self.error_of = lambda _number: "the bank is down"
        self.open = threading.Event()
        self.open.set()

    def pay(self, number):
        self.open.wait(10)
        if error := self.error_of(number):
            raise Fatal(error)


@pytest.fixture
def bank():
    bank = Bank()
    yield bank
    bank.open.set()


@pytest.fixture
def app(bank):
    app = App()

    @app.action(retry=RetryPolicy(1))
    def bill(bill: Bill, run: Run) -> None:
        bank.pay(bill.number)

    return app


@pytest.fixture
def fail(duetime, engine):
    """Return a function that schedules so many bills, one failure after the other; returns their ids."""

    def failed(many):
        ids = []
        for number in range(many):
            made = duetime.json("schedule", "bill", "--payload", json.dumps({"number": number}))
            ids.append(made["id"])
            while len(duetime.json("dead-letters", "list", "--limit", "100")["items"]) <= number:
                pass
        return ids

    return failed


def statuses(duetime):
    counted = {}
    for action in duetime.json("actions", "list", "--limit", "100")["items"]:
        counted[action["status"]] = counted.get(action["status"], 0) + 1
    return counted


STAGED = ("dead-letters", "redrive", "--all", "--staged", "--yes")


def test_redrives_one_then_ten_then_all(duetime, fail, bank):
    fail(14)
    bank.error_of = lambda _number: None
    status, printed, _ = duetime(*STAGED)
    assert (status, printed.splitlines()) == (
        0,
        [
            "stage 1: redriven 1: 1 executed",
            "stage 2: redriven 10: 10 executed",
            "stage 3: redriven 3: 3 executed",
        ],
    )
    assert statuses(duetime) == {"executed": 14}


def test_stops_after_the_first_when_the_same_error_comes_back(duetime, fail):
    ids = fail(5)
    attempts = {one: len(duetime.json("actions", "show", one)["attempts"]) for one in ids}
    status, printed, errors = duetime("dead-letters", "redrive", "--type", "bill", "--staged", "--yes")
    assert (status, printed) == (1, "stage 1: redriven 1: 1 failed with the same error\n")
    assert "stopped after stage 1; the others were not redriven: the same error came back:" in errors
    assert "Fatal: the bank is down" in errors
    again = [one for one in ids if len(duetime.json("actions", "show", one)["attempts"]) > attempts[one]]
    assert len(again) == 1


def test_one_with_the_same_error_among_ten_stops_the_rest(duetime, fail, bank):
    fail(13)
    # The latest failure is redriven first: number 12 alone, then 11 to 2.
    bank.error_of = lambda number: "the bank is down" if number == 7 else None
    status, printed, _ = duetime(*STAGED)
    assert status == 1
    assert printed.splitlines() == [
        "stage 1: redriven 1: 1 executed",
        "stage 2: redriven 10: 9 executed, 1 failed with the same error",
    ]
    assert statuses(duetime) == {"executed": 10, "failed": 3}


def test_another_error_is_reported_and_does_not_stop(duetime, fail, bank):
    fail(12)
    bank.error_of = lambda number: "no such customer" if number == 5 else None
    result = json.loads(duetime(*STAGED, "--json")[1])
    assert [stage["redriven"] for stage in result["stages"]] == [1, 10, 1]
    assert (result["stopped"], result["has_more"]) == (None, False)
    assert sum(len(stage["other_error"]) for stage in result["stages"]) == 1
    assert sum(len(stage["executed"]) for stage in result["stages"]) == 11
    assert statuses(duetime) == {"executed": 11, "failed": 1}


def test_a_stage_that_executes_none_is_the_last(duetime, fail, bank):
    fail(3)
    bank.error_of = lambda _number: "no such customer"
    status, printed, errors = duetime(*STAGED)
    assert (status, printed.splitlines()[0]) == (1, "stage 1: redriven 1: 1 failed with another error")
    assert "  another error" in printed
    assert "no action of this stage was executed" in errors
    assert statuses(duetime) == {"failed": 3}


def test_waits_no_longer_than_the_option(duetime, fail, bank):
    fail(2)
    bank.error_of = lambda _number: None
    bank.open.clear()
    status, printed, errors = duetime(*STAGED, "--staged", "1s")
    bank.open.set()
    assert (status, printed) == (1, "stage 1: redriven 1: 1 still running\n")
    assert "wait longer, as in --staged 1h" in errors


def test_of_nothing_redrives_nothing(duetime):
    assert duetime(*STAGED) == (0, "no actions to redrive\n", "")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--staged", "--yes"), "--staged takes filters"),
        (("--all", "--staged", "--dry-run"), "--staged takes filters"),
        (("--all", "--staged"), "there is no terminal for the confirmation"),
    ],
)
def test_without_a_clear_selection_is_bad_usage(duetime, fail, words, expected, monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: False)
    fail(1)
    status, printed, line = duetime("dead-letters", "redrive", *words)
    assert (status, printed) == (2, "")
    assert expected in line
