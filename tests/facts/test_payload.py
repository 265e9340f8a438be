from typing import Any
from uuid import UUID

import pytest
from pydantic import ValidationError

from duetime import Payload
from duetime.errors import DeclarationError, InvalidPayload

SUBSCRIPTION = UUID("0b3f4a52-64a5-4a7e-9c3d-0d3a6f4a5b6c")


class ApplyPlanChange(Payload):
    subscription_id: UUID
    share: float = 1.0


class Loose(Payload):
    data: Any


def test_the_name_is_the_class_in_kebab_case():
    assert ApplyPlanChange.type_name == "apply-plan-change"
    assert ApplyPlanChange.type_version == 1


def test_a_class_may_name_and_version_itself():
    class Renamed(Payload, name="plan-change", version=2):
        pass

    assert (Renamed.type_name, Renamed.type_version) == ("plan-change", 2)


@pytest.mark.parametrize(
    ("class_name", "type_name"),
    [("HTTPPing", "http-ping"), ("SyncS3", "sync-s3"), ("A", "a"), ("ReindexV2Now", "reindex-v2-now")],
)
def test_humps_and_digits_are_told_apart(class_name, type_name):
    assert type(class_name, (Payload,), {}).type_name == type_name


@pytest.mark.parametrize(
    "name", ["", "os.system", "Plan", "plan_change", "-plan", "plan--x", "plän", "x" * 101]
)
def test_a_name_that_is_not_kebab_case_is_refused(name):
    with pytest.raises(DeclarationError, match="must be kebab-case"):
        type("Named", (Payload,), {}, name=name)


@pytest.mark.parametrize("version", [0, -1])
def test_a_version_counts_from_one(version):
    with pytest.raises(DeclarationError, match="whole number from 1"):
        type("Versioned", (Payload,), {}, version=version)


def test_a_payload_is_read_again_from_its_json():
    payload = ApplyPlanChange(subscription_id=SUBSCRIPTION)
    assert ApplyPlanChange.from_json(payload.to_json()) == payload


def test_a_payload_is_immutable():
    with pytest.raises(ValidationError):
        ApplyPlanChange(subscription_id=SUBSCRIPTION).share = 2.0


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("", "Invalid JSON"),
        ("{", "Invalid JSON"),
        ("[]", "object"),
        ("{}", "subscription_id: Field required"),
        ('{"subscription_id": "x"}', "subscription_id: .*valid UUID"),
        (f'{{"subscription_id": "{SUBSCRIPTION}", "extra": 1}}', "extra: Extra inputs are not permitted"),
        (f'{{"subscription_id": "{SUBSCRIPTION}", "share": NaN}}', "share: .*finite number"),
    ],
)
def test_a_payload_that_its_model_refuses_says_where_and_why(written, problem):
    with pytest.raises(InvalidPayload, match=problem):
        ApplyPlanChange.from_json(written)


def test_a_refusal_does_not_repeat_the_values():
    with pytest.raises(InvalidPayload) as caught:
        ApplyPlanChange.from_json('{"subscription_id": "secret-4711"}')
    assert "4711" not in str(caught.value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [1, {"deep": float("-inf")}]])
def test_what_json_cannot_carry_is_refused_when_it_is_scheduled(value):
    with pytest.raises(InvalidPayload, match="which JSON cannot carry"):
        Loose(data=value).to_json()


def test_text_that_only_looks_like_a_constant_is_fine():
    assert Loose.from_json(Loose(data="NaN and Infinity").to_json()).data == "NaN and Infinity"


def test_nesting_ten_thousand_deep_is_refused_when_it_is_scheduled():
    nested: Any = []
    for _ in range(10_000):
        nested = [nested]
    with pytest.raises(InvalidPayload):
        Loose.model_construct(data=nested).to_json()


def test_nesting_ten_thousand_deep_is_refused_when_it_is_read():
    with pytest.raises(InvalidPayload):
        Loose.from_json('{"data":' + "[" * 10_000 + "]" * 10_000 + "}")


def test_lone_surrogates_are_refused_when_they_are_scheduled():
    with pytest.raises(InvalidPayload):
        Loose.model_construct(data="\ud800").to_json()
