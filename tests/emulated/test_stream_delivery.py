"""Batches of stream records are bisected, retried and finally given up."""

from datetime import timedelta

from tests.emulated.functions import InvocationOutcome
from tests.emulated.stream_poller import TRIES, StreamDelivery


class Function:
    """Accepts records, except those in `rejects`; if `reports` is set, it names them."""

    def __init__(self, *rejects, reports=False, recovers_after=None):
        self.rejects, self.reports, self.recovers_after = set(rejects), reports, recovers_after
        self.batches: list[list[str]] = []
        self.accepted: list[str] = []

    def __call__(self, event):
        numbers = [record["dynamodb"]["SequenceNumber"] for record in event["Records"]]
        self.batches.append(numbers)
        if self.recovers_after is not None and len(self.batches) > self.recovers_after:
            self.rejects = set()
        bad = [number for number in numbers if number in self.rejects]
        if not bad:
            self.accepted += numbers
            return InvocationOutcome({"batchItemFailures": []})
        if not self.reports:
            return InvocationOutcome(error=ValueError("rejected"))
        self.accepted += numbers[: numbers.index(bad[0])]
        return InvocationOutcome({"batchItemFailures": [{"itemIdentifier": number} for number in bad]})


def delivered(function, count, *, stops_after=None):
    """Deliver `count` records; return those given up, and the pauses."""
    given_up, pauses = [], []
    deliver = StreamDelivery(
        function,
        lambda record, _reason: given_up.append(record["dynamodb"]["SequenceNumber"]),
        pause=pauses.append,
        is_stopping=lambda: stops_after is not None and len(function.batches) >= stops_after,
    )
    deliver([{"dynamodb": {"SequenceNumber": str(number)}} for number in range(count)])
    return given_up, pauses


def test_a_successful_batch_is_delivered_once():
    function = Function()
    assert delivered(function, 5) == ([], [])
    assert function.batches == [["0", "1", "2", "3", "4"]]


def test_a_poison_record_is_isolated_by_bisection_and_fails_alone():
    function = Function("2")
    given_up, pauses = delivered(function, 8)
    assert given_up == ["2"]
    assert function.accepted == ["0", "1", "3", "4", "5", "6", "7"]
    assert function.batches.count(["2"]) == TRIES
    assert pauses == sorted(pauses[:3]) + pauses[3:]


def test_a_reported_record_is_retried_without_the_records_before_it():
    function = Function("2", reports=True)
    given_up, _ = delivered(function, 4)
    assert given_up == ["2"]
    assert function.accepted == ["0", "1", "3"]
    assert function.batches[1][0] == "2"


def test_a_temporary_failure_loses_no_record_and_keeps_the_order():
    function = Function("0", "1", "2", "3", recovers_after=4)
    given_up, _ = delivered(function, 4)
    assert given_up == []
    assert function.accepted == ["0", "1", "2", "3"]


def test_a_report_of_an_unknown_record_fails_the_batch():
    answers = [{"batchItemFailures": [{"itemIdentifier": "99"}]}, None, None]
    sizes = []

    def function(event):
        sizes.append(len(event["Records"]))
        return InvocationOutcome(answers[len(sizes) - 1])

    function.batches = sizes
    delivered(function, 2)
    assert sizes == [2, 1, 1]


def test_pauses_grow_while_one_record_is_retried():
    _, pauses = delivered(Function("0"), 1)
    assert pauses == sorted(pauses)
    assert pauses[-1] > timedelta(seconds=1)


def test_a_stop_ends_the_retries():
    function = Function("0")
    given_up, _ = delivered(function, 1, stops_after=2)
    assert given_up == []
    assert len(function.batches) == 2
