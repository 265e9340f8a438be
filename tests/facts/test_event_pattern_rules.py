"""Event patterns that EventBridge rejects are rejected at registration, with the field and the remedy."""

import re

import pytest

from duetime import App, Run, on_event
from duetime.errors import DeclarationError
from duetime.model.event_pattern import matches
from duetime.model.event_pattern_rules import LARGEST, problems_of


def nested(levels):
    pattern = {"field": ["x"]}
    for _ in range(levels):
        pattern = {"a": pattern}
    return pattern


@pytest.mark.parametrize(
    "rule",
    [
        "text",
        "",
        None,
        True,
        3.5,
        -5e9,
        {"prefix": "a"},
        {"prefix": {"equals-ignore-case": "A"}},
        {"suffix": {"equals-ignore-case": "A"}},
        {"equals-ignore-case": "A"},
        {"wildcard": r"a*b\*c\\"},
        {"exists": False},
        {"cidr": "10.0.0.0/24"},
        {"cidr": "2001:db8::/64"},
        {"numeric": ["=", 3]},
        {"numeric": [">=", 0, "<", 5.5]},
        {"anything-but": "a"},
        {"anything-but": ["a", "b"]},
        {"anything-but": [1, 2]},
        {"anything-but": {"prefix": ["a", "b"]}},
        {"anything-but": {"suffix": "a"}},
        {"anything-but": {"equals-ignore-case": ["a"]}},
        {"anything-but": {"wildcard": "*a"}},
    ],
)
def test_a_documented_filter_is_accepted_and_matched(rule):
    assert problems_of({"detail": {"field": [rule]}}) == []
    matches({"field": [rule]}, {"field": "x"})
    assert problems_of(nested(100)) == []


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ({}, "the pattern is empty"),
        ({"detail": {}}, "detail is empty"),
        ({"a": "bare"}, r'a is "bare"; write a list of the allowed values: \["bare"\]'),
        ({"a": []}, "a is an empty list"),
        ({"a": [["b"]]}, "a list within its list"),
        ({"a": [5.1e9]}, "from -5e9 to 5e9"),
        ({"a": [1.0000000000000002]}, "at most 15 digits"),
        ({"a": [{"near": 3}]}, "a filter is an object of one of prefix"),
        ({"a": [{"prefix": "x", "suffix": "y"}]}, "a filter is an object of one of prefix"),
        ({"a": [{"prefix": ""}]}, "a.prefix is .*a text that is not empty"),
        ({"a": [{"suffix": 3}]}, "a.suffix is 3"),
        ({"a": [{"equals-ignore-case": ["x"]}]}, "a.equals-ignore-case"),
        ({"a": [{"wildcard": "a**b"}]}, r"two \* in a row"),
        ({"a": [{"wildcard": "a\\b"}]}, "before another character"),
        ({"a": [{"wildcard": "*a" * 11}]}, r"has 11 \*; at most 10"),
        ({"a": [{"exists": "yes"}]}, "it is true or false"),
        ({"a": [{"cidr": "10.0.0.300/24"}]}, "a block of addresses"),
        ({"a": [{"cidr": "10.0.0.1"}]}, "a block of addresses"),
        ({"a": [{"numeric": ["<", 5, ">", 0]}]}, "a lower and an upper bound"),
        ({"a": [{"numeric": ["!=", 5]}]}, "write an operator and a number"),
        ({"a": [{"numeric": [">", 5, "<", 5]}]}, "must be below"),
        ({"a": [{"numeric": [">", "5"]}]}, "write an operator and a number"),
        ({"a": [{"anything-but": ["x", 1]}]}, "texts alone, or numbers alone"),
        ({"a": [{"anything-but": []}]}, "texts alone, or numbers alone"),
        ({"a": [{"anything-but": {"exists": True}}]}, "it takes one of prefix"),
        ({"$or": [{"a": ["x"]}]}, "two objects or more"),
        ({"$or": [{"a": ["x"]}, {"b": "bare"}]}, r"\$or\[1\].b is"),
        (nested(101), "nested more than 100 levels"),
        ({"a": ["x" * LARGEST]}, "at most 4,096"),
        ({name: {"$or": [{"x": ["y"]}] * 11} for name in "abc"}, "combine to 1,331; at most 1,000"),
    ],
)
def test_a_pattern_that_eventbridge_rejects_has_a_problem(pattern, problem):
    found = problems_of(pattern)
    assert len(found) == 1
    assert re.search(problem, found[0])


@pytest.mark.parametrize(
    ("rule", "matching", "other"),
    [
        ({"equals-ignore-case": "Ab"}, "aB", "abc"),
        ({"prefix": {"equals-ignore-case": "AB"}}, "abc", "cab"),
        ({"wildcard": r"a*\*c"}, "axx*c", "axxc"),
        ({"cidr": "10.0.0.0/24"}, "10.0.0.255", "10.0.1.0"),
        ({"anything-but": {"prefix": ["a", "b"]}}, "c", "bc"),
        ({"anything-but": {"wildcard": "*/lib/*"}}, "/var", "/usr/lib/x"),
    ],
)
def test_the_local_cloud_matches_as_eventbridge_does(rule, matching, other):
    assert matches({"a": [rule]}, {"a": matching})
    assert not matches({"a": [rule]}, {"a": other})
    either = {"$or": [{"a": [rule]}, {"b": ["x"]}]}
    assert matches(either, {"a": other, "b": "x"})
    assert not matches(either, {"a": other})


def test_a_job_with_such_a_pattern_is_rejected_when_it_is_declared():
    def big_orders(run: Run) -> None: ...

    app = App()
    total = {"total": [{"numeric": ["<", 5, ">", 0]}]}
    declare = app.job(on_event("shop", "order", match=total), name="big-orders")
    with pytest.raises(
        DeclarationError, match=r"the cadence on_event .*: detail.total.numeric is .*a lower and"
    ):
        declare(big_orders)
