"""What was sent and counted: deliveries that are made once, and windows that count exactly."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime

import pytest

from duetime.model.notification import Digest, DigestWindow, Notification
from duetime.ports.deliveries import Deliveries, DigestPosition, SendPermit, Windows
from duetime_contract.specimens import ACME, EXPIRY, GLOBEX, MINUTE, NOON, SECOND
from tests.contract.rules.notifications import DEAD, FAILING, notification


class DeliveriesContract:
    """The whole contract of `duetime.ports.deliveries.Deliveries`: override the fixture `deliveries`."""

    @pytest.fixture
    def deliveries(self) -> Deliveries:
        raise NotImplementedError("override the fixture `deliveries`: it returns your back end, empty")

    def test_one_alone_may_send_it(self, deliveries: Deliveries) -> None:
        assert self._begin(deliveries, "me") is SendPermit.YES
        assert self._begin(deliveries, "another") is SendPermit.HELD

    def test_the_same_holder_may_begin_again(self, deliveries: Deliveries) -> None:
        for _ in range(2):
            assert self._begin(deliveries, "me") is SendPermit.YES

    def test_when_a_lease_has_ended_another_may_send_it(self, deliveries: Deliveries) -> None:
        self._begin(deliveries, "me")
        assert self._begin(deliveries, "another", NOON + MINUTE - SECOND) is SendPermit.HELD
        assert self._begin(deliveries, "another", NOON + MINUTE) is SendPermit.YES
        assert self._begin(deliveries, "me", NOON + MINUTE) is SendPermit.HELD

    def test_a_sent_delivery_never_begins_again(self, deliveries: Deliveries) -> None:
        self._begin(deliveries, "me")
        for _ in range(2):
            deliveries.end(ACME, "x:email:ada@example.com", expires_at=EXPIRY)
        for holder in ("me", "another"):
            assert self._begin(deliveries, holder, NOON + 60 * MINUTE) is SendPermit.SENT

    def test_a_forgotten_delivery_can_be_sent_at_once(self, deliveries: Deliveries) -> None:
        self._begin(deliveries, "me")
        for _ in range(2):
            deliveries.forget(ACME, "x:email:ada@example.com", holder="me")
        assert self._begin(deliveries, "another") is SendPermit.YES

    def test_a_previous_holder_removes_nothing(self, deliveries: Deliveries) -> None:
        self._begin(deliveries, "me")
        self._begin(deliveries, "another", NOON + MINUTE)
        deliveries.forget(ACME, "x:email:ada@example.com", holder="me")
        assert self._begin(deliveries, "third", NOON + MINUTE) is SendPermit.HELD
        deliveries.end(ACME, "x:email:ada@example.com", expires_at=EXPIRY)
        deliveries.forget(ACME, "x:email:ada@example.com", holder="another")
        assert self._begin(deliveries, "third", NOON + 9 * MINUTE) is SendPermit.SENT

    def test_deliveries_and_tenants_are_distinct(self, deliveries: Deliveries) -> None:
        self._begin(deliveries, "me")
        how = {"holder": "me", "now": NOON, "until": NOON + MINUTE, "expires_at": EXPIRY}
        assert deliveries.begin(GLOBEX, "x:email:ada@example.com", **how) is SendPermit.YES  # type: ignore[arg-type]
        assert deliveries.begin(ACME, "x:email:eve@example.com", **how) is SendPermit.YES  # type: ignore[arg-type]

    def _begin(self, deliveries: Deliveries, holder: str, now: datetime = NOON) -> SendPermit:
        return deliveries.begin(
            ACME,
            "x:email:ada@example.com",
            holder=holder,
            now=now,
            until=now + MINUTE,
            expires_at=EXPIRY,
        )


def _digest(window: DigestWindow, by_name: Mapping[str, int]) -> Digest:
    return Digest(
        tenant_id=window.tenant_id,
        kind=window.kind,
        since=window.since,
        until=window.until,
        total=sum(by_name.values()),
        by_name=by_name,
    )


class WindowsContract:
    """The whole contract of `duetime.ports.deliveries.Windows`: override the fixture `windows`."""

    FIRST = DigestWindow(ACME, FAILING, NOON, NOON + 15 * MINUTE)
    SECOND = DigestWindow(ACME, FAILING, NOON + 15 * MINUTE, NOON + 30 * MINUTE)

    @pytest.fixture
    def windows(self) -> Windows:
        raise NotImplementedError("override the fixture `windows`: it returns your back end, empty")

    @pytest.fixture
    def at_once(self) -> int:
        """How many threads count at once."""
        return 4

    def test_places_go_from_one(self, windows: Windows) -> None:
        assert [self._count(windows, notification()) for _ in range(4)] == [1, 2, 3, 4]

    def test_the_same_has_the_same_place_and_is_counted_once(self, windows: Windows) -> None:
        sent = [notification() for _ in range(3)]
        for _ in range(2):
            assert [self._count(windows, item) for item in sent] == [1, 2, 3]
        assert windows.close(self.FIRST) == _digest(self.FIRST, {"billing-nightly": len(sent)})

    def test_a_repeat_retains_its_place_in_its_first_window(self, windows: Windows) -> None:
        sent, later = notification(), notification()
        self._count(windows, sent)
        windows.close(self.FIRST)
        for window in (self.FIRST, self.SECOND):
            assert windows.count(sent, window, expires_at=EXPIRY) == DigestPosition(self.FIRST, 1)
        assert self._count(windows, later, self.SECOND) == 1

    def test_a_digest_has_the_exact_count_of_each_name(self, windows: Windows) -> None:
        for name in ("billing-nightly", "kb-reindex", "billing-nightly", "é #x", ""):
            self._count(windows, notification(facts={"name": name}))
        counts = {"billing-nightly": 2, "kb-reindex": 1, "é #x": 1, "": 1}
        assert windows.close(self.FIRST) == _digest(self.FIRST, counts)

    def test_a_window_that_was_closed_counts_nothing_and_may_be_closed_again(self, windows: Windows) -> None:
        self._count(windows, notification())
        digest = windows.close(self.FIRST)
        assert windows.count(notification(), self.FIRST, expires_at=EXPIRY) is None
        assert windows.close(self.FIRST) == digest

    def test_a_window_that_never_counted_has_no_digest(self, windows: Windows) -> None:
        assert windows.close(self.FIRST) is None
        assert self._count(windows, notification()) == 1

    def test_a_window_retains_its_first_end_and_burst(self, windows: Windows) -> None:
        self._count(windows, notification())
        sent, later = notification(), replace(self.FIRST, until=NOON + MINUTE, burst=9)
        for _ in range(2):
            assert windows.count(sent, later, expires_at=EXPIRY) == DigestPosition(self.FIRST, 2)

    def test_windows_kinds_and_tenants_are_distinct(self, windows: Windows) -> None:
        for window in (
            self.FIRST,
            self.SECOND,
            replace(self.FIRST, kind=DEAD),
            replace(self.FIRST, tenant_id=GLOBEX),
        ):
            assert self._count(windows, notification(window.kind, window.tenant_id), window) == 1
            assert windows.close(window) == _digest(window, {"billing-nightly": 1})

    def test_concurrent_counts_have_distinct_places(self, windows: Windows, at_once: int) -> None:
        sent = [notification() for _ in range(6 * at_once)]
        with ThreadPoolExecutor(at_once) as threads:
            places = list(threads.map(lambda item: self._count(windows, item), [*sent, *sent]))
        assert sorted(places[: len(sent)]) == list(range(1, len(sent) + 1))
        assert places[len(sent) :] == places[: len(sent)]
        assert windows.close(self.FIRST) == _digest(self.FIRST, {"billing-nightly": len(sent)})

    def _count(self, windows: Windows, sent: Notification, window: DigestWindow | None = None) -> int:
        place = windows.count(sent, window or self.FIRST, expires_at=EXPIRY)
        assert place is not None
        return place.number
