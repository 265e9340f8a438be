"""The conditions of DynamoDB, and their mutants."""

import re

import pytest

from tests.cases import for_each
from tests.mutation.condition_text import key_mutants, mutants, parse
from tests.mutation.results import read_conditions
from tests.mutation.wire import with_condition

LEASE = "#status = :processing AND fence = :fence AND lease_until < :before"


ONE_TERM = re.compile(r"(^|OR )\((attribute_(?:not_)?exists\([#\w]+\)|[#\w]+ (?:=|<=) :\w+)\)")
"""A single term in brackets, which mean nothing."""


@for_each("text", sorted({text for _, text, _ in read_conditions()}))
def test_each_condition_of_the_source_is_read_and_written_again(text):
    text = ONE_TERM.sub(r"\1\2", text)
    assert str(parse(str(parse(text)))) == str(parse(text))
    written = [str(parse(text)), f"({parse(text)})"]  # brackets around all of it mean nothing
    assert text.replace(" ", "").replace("(", "") in [
        one.replace(" ", "").replace("(", "") for one in written
    ]


@pytest.mark.parametrize(
    "text", ["", "fence", "fence =", "(fence = :fence", "fence = :fence AND", "a ; b", "a = b c"]
)
def test_what_is_no_condition_is_rejected(text):
    with pytest.raises(ValueError):
        parse(text)


def test_each_part_of_a_condition_is_dropped_negated_and_compared_otherwise():
    found = mutants(LEASE, {":fence": "N", ":one": "N", ":processing": "S", ":before": "S"})
    assert set(found) == {
        "fence = :fence AND lease_until < :before",
        "#status = :processing AND lease_until < :before",
        "#status = :processing AND fence = :fence",
        "#status <> :processing AND fence = :fence AND lease_until < :before",
        "#status = :before AND fence = :fence AND lease_until < :before",
        "#status = :processing AND fence <> :fence AND lease_until < :before",
        "#status = :processing AND fence <= :fence AND lease_until < :before",
        "#status = :processing AND fence >= :fence AND lease_until < :before",
        "#status = :processing AND fence = :one AND lease_until < :before",
        "#status = :processing AND fence = :fence AND lease_until <= :before",
        "#status = :processing AND fence = :fence AND NOT lease_until < :before",
        "#status = :processing AND fence = :fence AND lease_until < :processing",
        "#status = :processing OR fence = :fence OR lease_until < :before",
        "",
    }


def test_a_disjunct_in_brackets_is_dropped_and_an_absence_becomes_a_presence():
    found = mutants("a = :a AND (attribute_not_exists(b) OR NOT contains(c, :id))", {})
    assert {
        "a = :a AND attribute_not_exists(b)",
        "a = :a AND NOT contains(c, :id)",
        "a = :a AND (attribute_exists(b) OR NOT contains(c, :id))",
        "a = :a AND (attribute_not_exists(b) OR contains(c, :id))",
        "a = :a AND (attribute_not_exists(b) AND NOT contains(c, :id))",
    } <= set(found)


def test_the_condition_of_a_key_stays_one_that_dynamodb_accepts():
    assert set(key_mutants("pk = :pk AND sk BETWEEN :first AND :last")) == {
        "pk = :pk",
        "pk = :pk AND sk >= :first",
        "pk = :pk AND sk <= :last",
    }
    assert set(key_mutants("pk = :pk AND sk < :before")) == {"pk = :pk", "pk = :pk AND sk <= :before"}
    assert set(key_mutants("pk = :pk")) == set()


def test_a_request_loses_the_values_that_only_its_former_condition_used():
    request = {
        "UpdateExpression": "SET #ttl = :ttl",
        "ConditionExpression": "#status = :status AND fence = :fence",
        "ExpressionAttributeNames": {"#ttl": "ttl", "#status": "status"},
        "ExpressionAttributeValues": {":ttl": {"N": "1"}, ":status": {"S": "x"}, ":fence": {"N": "2"}},
    }
    assert with_condition(request, "ConditionExpression", "fence = :fence") == {
        "UpdateExpression": "SET #ttl = :ttl",
        "ConditionExpression": "fence = :fence",
        "ExpressionAttributeNames": {"#ttl": "ttl"},
        "ExpressionAttributeValues": {":ttl": {"N": "1"}, ":fence": {"N": "2"}},
    }
