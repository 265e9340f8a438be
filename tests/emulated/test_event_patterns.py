import pytest

from duetime.lambdas.arm import FILTERS
from duetime.model.event_pattern import matches


def row(event_name, status=None, **attributes):
    image = {"status": {"S": status} if isinstance(status, str) else status} if status else {}
    side = "OldImage" if event_name == "REMOVE" else "NewImage"
    return {"eventName": event_name, "dynamodb": {side: {**image, **attributes}}}


def reaches_arm(record):
    return any(matches(pattern, record) for pattern in FILTERS)


@pytest.mark.parametrize(
    ("record", "is_expected"),
    [
        (row("INSERT", "pending"), True),
        (row("MODIFY", "pending"), True),
        (row("MODIFY", "cancelled"), True),
        (row("MODIFY", "skipped"), True),
        (row("MODIFY", "processing"), False),
        (row("MODIFY", "executed"), False),
        (row("INSERT"), False),
        (row("INSERT", "no status"), True),
        (row("INSERT", status={"B": "cGVuZGluZw=="}, due_at={"S": "2026-01-01T00:00:00.000000Z"}), True),
        (row("REMOVE", "executed"), False),
        (row("REMOVE", "executed", payload_size={"N": "5000"}), True),
        (row("REMOVE", "executed", idempotency_key={"S": "order-17"}), True),
        (row("MODIFY", "executed", idempotency_key={"S": "order-17"}), False),
        (row("REMOVE", action_id={"S": "the item of a key"}), False),
    ],
)
def test_arm_receives_only_changes_that_need_it(record, is_expected):
    assert reaches_arm(record) is is_expected


@pytest.mark.parametrize(
    ("rule", "matching", "other"),
    [
        ("a", "a", "b"),
        (1, 1, True),
        (None, None, 0),
        ({"prefix": "ab"}, "abc", "cab"),
        ({"suffix": "bc"}, "abc", "bca"),
        ({"anything-but": ["a", "b"]}, "c", "a"),
        ({"anything-but": "a"}, "c", "a"),
        ({"numeric": [">", 1, "<=", 5]}, 5, 1),
        ({"numeric": ["=", 3]}, 3, "3"),
        ({"exists": True}, "x", ...),
        ({"exists": False}, ..., "x"),
    ],
)
def test_a_rule_matches_the_value_of_a_field(rule, matching, other):
    def event(value):
        return {"outer": {} if value is ... else {"field": value}}

    pattern = {"outer": {"field": [rule]}}
    assert matches(pattern, event(matching))
    assert not matches(pattern, event(other))


def test_one_rule_of_each_field_must_match():
    pattern = {"a": ["x", "y"], "b": ["z"]}
    assert matches(pattern, {"a": "y", "b": "z", "c": "more"})
    assert not matches(pattern, {"a": "y"})


def test_one_matching_element_of_a_list_is_enough():
    assert matches({"tags": ["b"]}, {"tags": ["a", "b"]})


@pytest.mark.parametrize(
    "pattern", [{"a": "bare"}, {"a": [{"near": 3}]}, {"a": [{"prefix": "x", "suffix": "y"}]}]
)
def test_an_unknown_pattern_is_rejected(pattern):
    with pytest.raises(ValueError, match="pattern"):
        matches(pattern, {"a": "bare"})
