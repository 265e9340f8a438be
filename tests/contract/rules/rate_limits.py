"""The limits that operators set: the latest of a name counts, until a reset."""

from __future__ import annotations

from datetime import timedelta

import pytest

from duetime.model.rate_limit import RateLimit
from duetime.ports.rate_limits import SetLimit, SetLimits
from duetime_contract.specimens import CALLER, HOUR, NOON


def set_limit(name: str = "send-mail", count: int = 10, per: object = "minute") -> SetLimit:
    """Return a limit that is not stored."""
    return SetLimit(name=name, limit=RateLimit.parse(count, per), by=CALLER, at=NOON)


class SetLimitsContract:
    """The whole contract of `duetime.ports.rate_limits.SetLimits`: override the fixture `limits`."""

    @pytest.fixture
    def limits(self) -> SetLimits:
        raise NotImplementedError("override this fixture with an empty back end")

    def test_without_a_limit_the_list_is_empty(self, limits: SetLimits) -> None:
        assert list(limits.list()) == []

    def test_limits_are_listed_by_name_as_they_were_set(self, limits: SetLimits) -> None:
        mail, text = set_limit(), set_limit("send-text", 7, timedelta(seconds=1.5))
        limits.set(text)
        limits.set(mail)
        assert list(limits.list()) == [mail, text]

    def test_the_latest_limit_of_a_name_counts(self, limits: SetLimits) -> None:
        limits.set(set_limit())
        later = SetLimit(name="send-mail", limit=RateLimit.parse(5, HOUR, 3), by="ops", at=NOON + HOUR)
        limits.set(later)
        assert list(limits.list()) == [later]

    def test_a_reset_removes_the_limit_of_its_name_alone(self, limits: SetLimits) -> None:
        other = set_limit("send-text")
        limits.set(set_limit())
        limits.set(other)
        limits.reset("send-mail")
        limits.reset("send-mail")
        assert list(limits.list()) == [other]
