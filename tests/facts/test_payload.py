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


def test_type_name_is_class_in_kebab_case():
    assert ApplyPlanChange.type_name == "apply-plan-change"
    assert ApplyPlanChange.type_version == 1


def test_class_may_set_name_and_version():
    class Renamed(Payload, name="plan-change", version=2):
        pass

    assert (Renamed.type_name, Renamed.type_version) == ("plan-change", 2)


@pytest.mark.parametrize(
    ("class_name", "type_name"),
    [("HTTPPing", "http-ping"), ("SyncS3", "sync-s3"), ("A", "a"), ("ReindexV2Now", "reindex-v2-now")],
)
def test_type_name_separates_humps_and_digits(class_name, type_name):
    assert type(class_name, (Payload,), {}).type_name == type_name


@pytest.mark.parametrize(
    "name", ["", "os.system", "Plan", "plan_change", "-plan", "plan--x", "plän", "x" * 101]
)
def test_name_that_is_not_kebab_case_is_rejected(name):
    with pytest.raises(DeclarationError, match="must be kebab-case"):
        type("Named", (Payload,), {}, name=name)


@pytest.mark.parametrize("version", [0, -1])
def test_version_counts_from_one(version):
    with pytest.raises(DeclarationError, match="whole number from 1"):
        type("Versioned", (Payload,), {}, version=version)


def test_payload_round_trips_through_json():
    payload = ApplyPlanChange(subscription_id=SUBSCRIPTION)
    assert ApplyPlanChange.from_json(payload.to_json()) == payload


def test_payload_is_immutable():
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
def test_invalid_payload_error_has_field_and_reason(written, problem):
    with pytest.raises(InvalidPayload, match=problem):
        ApplyPlanChange.from_json(written)


def test_error_does_not_repeat_values():
    with pytest.raises(InvalidPayload) as caught:
        ApplyPlanChange.from_json('{"subscription_id": "secret-4711"}')
    assert "4711" not in str(caught.value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [1, {"deep": float("-inf")}]])
def test_value_without_json_form_is_rejected_at_scheduling(value):
    with pytest.raises(InvalidPayload, match=r"^payload of .loose.: data[.:]"):
        Loose(data=value).to_json()


def test_text_that_looks_like_constant_is_accepted():
    assert Loose.from_json(Loose(data="NaN and Infinity").to_json()).data == "NaN and Infinity"


def test_deep_nesting_is_rejected_at_scheduling():
    nested: Any = []
    for _ in range(10_000):
        nested = [nested]
    with pytest.raises(InvalidPayload):
        Loose.model_construct(data=nested).to_json()


def test_deep_nesting_is_rejected_at_read():
    with pytest.raises(InvalidPayload):
        Loose.from_json('{"data":' + "[" * 10_000 + "]" * 10_000 + "}")


def test_lone_surrogates_are_rejected_at_scheduling():
    with pytest.raises(InvalidPayload):
        Loose.model_construct(data="\ud800").to_json()
