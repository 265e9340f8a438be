import pytest

from duetime.lambdas.arm import FILTERS
from duetime.model.event_pattern import UnknownPattern, matches


def row(event_name, status=None, **attributes):
    image = {"status": {"S": status}} if status else {}
    side = "OldImage" if event_name == "REMOVE" else "NewImage"
    return {"eventName": event_name, "dynamodb": {side: {**image, **attributes}}}


def reaches_arm(record):
    return any(matches(pattern, record) for pattern in FILTERS)


@pytest.mark.parametrize(
    ("record", "is_let_through"),
    [
        (row("INSERT", "pending"), True),
        (row("MODIFY", "pending"), True),
        (row("MODIFY", "cancelled"), True),
        (row("MODIFY", "skipped"), True),
        (row("MODIFY", "processing"), False),
        (row("MODIFY", "executed"), False),
        (row("INSERT"), False),
        (row("REMOVE", "executed"), False),
        (row("REMOVE", "executed", payload_apart={"BOOL": True}), True),
        (row("REMOVE", "executed", idempotency_key={"S": "order-17"}), True),
        (row("MODIFY", "executed", idempotency_key={"S": "order-17"}), False),
        (row("REMOVE", action_id={"S": "the item of a key"}), False),
    ],
)
def test_arm_sees_what_it_has_to_act_on_and_nothing_else(record, is_let_through):
    assert reaches_arm(record) is is_let_through


@pytest.mark.parametrize(
    ("rule", "fits", "fits_not"),
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
def test_a_rule_says_what_a_field_may_hold(rule, fits, fits_not):
    def event(value):
        return {"outer": {} if value is ... else {"field": value}}

    pattern = {"outer": {"field": [rule]}}
    assert matches(pattern, event(fits))
    assert not matches(pattern, event(fits_not))


def test_rules_of_a_field_are_alternatives_and_fields_must_all_match():
    pattern = {"a": ["x", "y"], "b": ["z"]}
    assert matches(pattern, {"a": "y", "b": "z", "c": "more"})
    assert not matches(pattern, {"a": "y"})


def test_one_element_of_a_list_is_enough():
    assert matches({"tags": ["b"]}, {"tags": ["a", "b"]})


@pytest.mark.parametrize(
    "pattern", [{"a": "bare"}, {"a": [{"near": 3}]}, {"a": [{"prefix": "x", "suffix": "y"}]}]
)
def test_a_pattern_that_is_not_known_is_refused_instead_of_dropping_events(pattern):
    with pytest.raises(UnknownPattern):
        matches(pattern, {"a": "bare"})
