"""Ids of undelivered inputs, redrive requests and stored bodies."""

from datetime import UTC, datetime, timedelta, timezone
from urllib.parse import quote

import pytest

from duetime.model.undelivered import (
    BODY_LIMIT,
    bounded,
    is_undelivered_id,
    request_for,
    requested_in,
    undelivered_id,
)

NOON = datetime(2030, 6, 1, 12, tzinfo=UTC)


def test_id_depends_only_on_input():
    assert undelivered_id(NOON, "wake", "acme", "1") == undelivered_id(NOON, "wake", "acme", "1")
    others = [("wake", "acme", "2"), ("wake", "acme1"), ("acme", "wake", "1"), ("wake", "acme", "1", "")]
    assert undelivered_id(NOON, "wake", "acme", "1") not in {undelivered_id(NOON, *other) for other in others}


@pytest.mark.parametrize(
    "at",
    [
        NOON,
        NOON.astimezone(timezone(timedelta(hours=14))),
        datetime.min.replace(tzinfo=UTC),
        datetime.max.replace(tzinfo=UTC),
    ],
)
def test_id_is_safe_in_urls(at):
    made = undelivered_id(at, "a/b?c", "\ud800", "é\n")
    assert is_undelivered_id(made)
    assert quote(made, safe="") == made


def test_ids_sort_by_time():
    instants = [NOON + timedelta(seconds=item) for item in (-86_400, 0, 1, 60, 400 * 86_400)]
    made = [undelivered_id(at, str(99 - place)) for place, at in enumerate(instants)]
    assert made == sorted(made)


@pytest.mark.parametrize(
    "text", ["", "u.", "u.20300601T120000Z", "u.20300601T120000Z.0123456789abcdeF", "x" * 40, None, 7]
)
def test_other_text_is_no_id(text):
    assert not is_undelivered_id(text)


def test_redrive_request_contains_id_and_other_messages_do_not():
    made = undelivered_id(NOON, "a")
    assert requested_in({"redrive": made}) == made
    assert request_for(made) == f'{{"redrive": "{made}"}}'
    for shown in ({}, {"redrive": "x"}, {"redrive": None}, {"redrive": made, "more": 1}):
        assert requested_in(shown) is None


@pytest.mark.parametrize(
    ("body", "retained", "is_cut"),
    [
        ("", "", False),
        ("x" * BODY_LIMIT, "x" * BODY_LIMIT, False),
        ("x" * (BODY_LIMIT + 1), "x" * BODY_LIMIT, True),
        ("x" + "é" * BODY_LIMIT, "x" + "é" * ((BODY_LIMIT - 1) // 2), True),
        ("\ud800", "?", False),
    ],
    ids=["empty", "just", "long", "not in the middle of a character", "no character"],
)
def test_body_is_truncated_at_limit(body, retained, is_cut):
    assert bounded(body) == (retained, is_cut)
