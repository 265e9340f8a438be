"""The local cloud's fast path answers as moto and as Amazon's DynamoDB Local do."""

from collections.abc import Iterable, Mapping
from random import Random
from typing import Any

import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from duetime.aws.tables import ACTIONS, create_table_request
from tests.emulated.call_lock import CallLock
from tests.emulated.fast_path.dynamodb import form_of
from tests.emulated.fast_path.requests import FastPath, activate
from tests.emulated.stream_poller import StreamShard

TABLE, IMAGES = "duetime-actions", ("Keys", "NewImage", "OldImage")
NUMBERS, TEXTS = ["0", "1", "2", "-3", "10", "1.5"], ["", "a", "ab", "b", "é"]
KEYS = [(pk, sk) for pk in ("p", "q") for sk in ("1", "2", "3")]
NAMES = ("bin", "n", "s", "tags", "log", "map", "due_shard", "due_at")
REQUESTS, SEEDS = 120, range(6)
OF_THE_PROOF = {False: (), True: pytest.mark.long}
"""The suite has two seeds on moto."""


class Counting(FastPath):
    """A fast path that counts what it answers.

    Args:
        outcomes: those of an engine, which accepts the requests that are not invalid.
    """

    def __init__(self, outcomes: Iterable[Any]) -> None:
        super().__init__(CallLock())
        self.answered = 0
        for operation, request, result, _ in outcomes:
            if "ValidationException" not in result:
                name = operation.title().replace("_", "")
                self._accepted.add(form_of(name, request, 0))

    def before_call(self, **request: Any) -> Any:
        found = super().before_call(**request)
        self.answered += found is not None
        return found


class Requests:
    """Valid requests, drawn from a seed."""

    def __init__(self, seed: int, table: str) -> None:
        self._random, self._table = Random(seed), table  # noqa: S311 - repeatable requests

    def draw(self) -> tuple[str, Mapping[str, Any]]:
        writes = [self._put, self._update, self._update, self._update, self._delete, self._transact]
        return self._random.choice([*writes, self._get, self._batch, self._query, self._query_index])()

    def _key(self) -> Mapping[str, Any]:
        pk, sk = self._random.choice(KEYS)
        return {"pk": {"S": pk}, "sk": {"S": sk}}

    def _value(self, name: str) -> Mapping[str, Any]:
        pick = self._random.choice
        return {
            "bin": {"B": pick([b"", b"a"])},
            "n": {"N": pick(NUMBERS)},
            "s": {"S": pick(TEXTS)},
            "tags": {"SS": self._random.sample("xyz", self._random.randint(1, 3))},
            "log": {"L": [{"M": {"f": {"N": pick(NUMBERS)}}} for _ in range(self._random.randint(1, 3))]},
            "map": {"M": {"f": {"S": pick(TEXTS)}, "g": {"BOOL": pick([True, False])}}},
            "due_shard": {"S": pick("01")},
            "due_at": {"S": pick(["2026", "2027", "2028"])},
        }[name]

    def _put(self) -> tuple[str, Mapping[str, Any]]:
        names = self._random.sample(NAMES, self._random.randint(0, len(NAMES)))
        return "put_item", self._with_condition(
            {"Item": {**self._key(), **{n: self._value(n) for n in names}}}
        )

    def _update(self) -> tuple[str, Mapping[str, Any]]:
        sets, removes, more = self._changes()
        text = f"SET {', '.join(sets)}" if sets else ""
        text += f" REMOVE {', '.join(removes)}" if removes else ""
        text += f" {more}" if more else ""
        if not text.strip():
            text = "SET s = :s"
        returned = self._random.choice(["NONE", "ALL_NEW", "ALL_OLD"])
        return "update_item", self._with_condition(
            {"Key": self._key(), "UpdateExpression": text.strip(), "ReturnValues": returned}
        )

    def _changes(self) -> tuple[list[str], list[str], str]:
        sets = {
            "n": ["n = :n", "n = if_not_exists(n, :zero) + :n", "n = if_not_exists(n, :n) - :zero"],
            "s": ["#s = :s", "s = if_not_exists(#s, :s)"],
            "log": ["log = list_append(if_not_exists(log, :none), :log)", "log = :log", "log[0].f = :n"],
            "map": ["map = :map", "#map.f = :s", "map.#new = :n"],
            "due_at": ["due_at = :due_at", "due_shard = :due_shard"],
        }
        chosen = self._random.sample(sorted(sets), self._random.randint(0, 3))
        rest = [name for name in NAMES if name not in chosen]
        removals = {"log": "log[1], log[0]", "map": "map.g"}
        removed = self._random.sample([name for name in rest if name != "tags"], self._random.randint(0, 2))
        more = self._random.choice(["", "", "ADD tags :tags", "DELETE tags :tags"])
        if "n" not in chosen and "n" not in removed and not more:
            more = self._random.choice(["", "ADD n :n"])
        return (
            [self._random.choice(sets[name]) for name in chosen],
            [self._random.choice([name, removals.get(name, name)]) for name in removed],
            more,
        )

    def _delete(self) -> tuple[str, Mapping[str, Any]]:
        return "delete_item", self._with_condition({"Key": self._key()})

    def _transact(self) -> tuple[str, Mapping[str, Any]]:
        kinds = {"put_item": "Put", "update_item": "Update", "delete_item": "Delete"}
        entries: dict[str, Any] = {}
        for draw in self._random.sample([self._put, self._update, self._delete], self._random.randint(1, 3)):
            operation, request = draw()
            key = request.get("Key") or {name: request["Item"][name] for name in ("pk", "sk")}
            parts = {name: part for name, part in request.items() if name != "ReturnValues"}
            entries.setdefault(str(key), {kinds[operation]: parts})
        return "transact_write_items", {"TransactItems": list(entries.values())}

    def _get(self) -> tuple[str, Mapping[str, Any]]:
        return "get_item", {"TableName": self._table, "Key": self._key(), "ConsistentRead": True}

    def _batch(self) -> tuple[str, Mapping[str, Any]]:
        keys = [{"pk": {"S": pk}, "sk": {"S": sk}} for pk, sk in self._random.sample(KEYS, 3)]
        return "batch_get_item", {"RequestItems": {self._table: {"Keys": keys, "ConsistentRead": True}}}

    def _query(self) -> tuple[str, Mapping[str, Any]]:
        pick = self._random.choice
        terms = ["", " AND sk < :second", " AND sk <= :second", " AND sk > :first", " AND sk >= :first"]
        terms += [" AND sk = :first", " AND sk BETWEEN :first AND :second", " AND begins_with(sk, :first)"]
        return "query", self._finished(
            {
                "TableName": self._table,
                "KeyConditionExpression": "pk = :pk" + pick(terms),
                **self._paging(),
            },
            {":pk": {"S": pick("pq")}, ":first": {"S": pick("12")}, ":second": {"S": pick("23")}},
        )

    def _query_index(self) -> tuple[str, Mapping[str, Any]]:
        pick = self._random.choice
        terms = ["", " AND due_at < :second", " AND due_at <= :second", " AND due_at > :first"]
        terms += [" AND due_at >= :first", " AND due_at BETWEEN :first AND :second"]
        request = {
            "TableName": self._table,
            "IndexName": "due",
            "KeyConditionExpression": "due_shard = :pk" + pick(terms),
            **self._paging(),
        }
        values = {":pk": {"S": pick("01")}, ":first": {"S": "2026"}, ":second": {"S": pick(["2027", "2028"])}}
        return "query", self._finished(request, values)

    def _paging(self) -> Mapping[str, Any]:
        forward = {"ScanIndexForward": self._random.choice([True, False])}
        return forward | ({"Limit": self._random.randint(1, 3)} if self._random.random() < 0.5 else {})

    def _with_condition(self, request: dict[str, Any]) -> Mapping[str, Any]:
        conditions = [
            "attribute_exists(pk)",
            "attribute_not_exists(pk) OR n >= :zero",
            "n < :limit AND NOT begins_with(s, :s)",
            "s IN (:s, :t) OR attribute_type(log, :list)",
            "(n = :n OR n <> :zero) AND attribute_not_exists(#map.g)",
            "n BETWEEN :zero AND :limit",
            "contains(tags, :x) OR attribute_not_exists(tags)",
        ]
        if self._random.random() < 0.5:
            request["ConditionExpression"] = self._random.choice(conditions)
        values = {f":{name}": self._value(name) for name in NAMES}
        constants = {":zero": {"N": "0"}, ":limit": {"N": "9"}, ":t": {"S": "b"}, ":list": {"S": "L"}}
        more = {":x": {"S": "x"}, ":none": {"L": []}}
        return self._finished({"TableName": self._table, **request}, {**values, **constants, **more})

    @staticmethod
    def _finished(request: dict[str, Any], values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Add the names and the values that the expressions use."""
        texts = " ".join(text for name, text in request.items() if name.endswith("Expression"))
        words = texts.replace("(", " ").replace(")", " ").replace(",", " ").replace(".", " ")
        words = set(words.replace("[", " ").split())
        names = {f"#{name}": name for name in ("s", "map", "new") if f"#{name}" in words}
        used = {name: value for name, value in values.items() if name in words}
        return (
            request
            | ({"ExpressionAttributeNames": names} if names else {})
            | ({"ExpressionAttributeValues": used} if used else {})
        )


def outcome(client: Any, operation: str, request: Mapping[str, Any]) -> Any:
    """Return a response, or the code of its error and the item or reasons that it carries."""
    try:
        found = getattr(client, operation)(**request)
    except ClientError as error:
        reasons = [reason.get("Code") for reason in error.response.get("CancellationReasons", [])]
        return error.response["Error"]["Code"], reasons
    shown = {
        name: found[name]
        for name in ("Item", "Attributes", "Items", "Count", "ScannedCount")
        if name in found
    }
    if "IndexName" in request:  # DynamoDB defines no order among equal sort keys
        shown["Items"], items = [item["due_at"] for item in found["Items"]], found["Items"]
        shown["all"] = (
            [] if "Limit" in request else sorted(items, key=lambda item: (item["pk"]["S"], item["sk"]["S"]))
        )
    return _plain(shown)


def _plain(value: Any) -> Any:
    """Sort sets, whose order has no meaning."""
    if isinstance(value, dict):
        return {name: sorted(part) if name == "SS" else _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value


class Engine:
    """An engine with an empty actions table, and the outcomes of requests to it.

    Args:
        client: the client of the engine.
        path: the fast path of its requests, if it has one.
    """

    def __init__(self, client: Any, path: FastPath | None = None) -> None:
        self.client, self._path = client, path
        with activate(None):
            client.create_table(**create_table_request(ACTIONS, TABLE))

    def outcomes(self, requests: Iterable[tuple[str, Mapping[str, Any]]]) -> list[Any]:
        """Make the requests; return each outcome with the table's rows after it."""
        found = []
        for operation, request in requests:
            with activate(self._path):
                result = outcome(self.client, operation, request)
            found.append((operation, request, result, self.rows()))
        return found

    def changes(self) -> list[Any]:
        """Return what moto's stream has of the table's changes."""
        stream = StreamShard(CallLock(), TABLE).read(1_000_000)
        return [_plain((record["eventName"], *map(record["dynamodb"].get, IMAGES))) for record in stream]

    def rows(self) -> Any:
        with activate(None):
            items = self.client.scan(TableName=TABLE)["Items"]
        return sorted((_plain(item) for item in items), key=lambda item: (item["pk"]["S"], item["sk"]["S"]))


def drawn(seed: int) -> list[tuple[str, Mapping[str, Any]]]:
    requests = Requests(seed, TABLE)
    return [requests.draw() for _ in range(REQUESTS)]


def compare(theirs: list[Any], moto_clients: Any) -> list[Any]:
    """Make an engine's requests again through the fast path; compare each outcome and all rows after it.

    Return the stream's changes.
    """
    fast = Counting(theirs)
    with mock_aws():
        engine = Engine(moto_clients["dynamodb"], fast)
        ours = engine.outcomes([(operation, request) for operation, request, *_ in theirs])
        changes = engine.changes()
    for expected, found in zip(theirs, ours, strict=True):
        assert found == expected
    assert fast.answered > len(theirs) / 4
    return changes


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=OF_THE_PROOF[seed > 1]) for seed in SEEDS])
def test_it_answers_and_changes_as_moto_does(seed, moto_clients):
    with mock_aws():
        engine = Engine(moto_clients["dynamodb"])
        theirs, changes = engine.outcomes(drawn(seed)), engine.changes()
    assert compare(theirs, moto_clients) == changes


@pytest.mark.dynamodb_local
@pytest.mark.parametrize("seed", SEEDS)
def test_it_answers_and_changes_as_dynamodb_local_does(seed, local_client, moto_clients):
    engine = Engine(local_client)
    try:
        theirs = engine.outcomes(drawn(seed))
    finally:
        local_client.delete_table(TableName=TABLE)
    # An invalid request changes nothing. moto answers it, and judges it after the condition.
    compare([entry for entry in theirs if not is_invalid(entry[2])], moto_clients)


def is_invalid(result: Any) -> bool:
    return "ValidationException" in result or (isinstance(result, tuple) and "ValidationError" in result[1])
