"""The items of a file keep the contract of each kind, as those of a deployment do."""

import pytest

from duetime.model.notification import NotificationKind
from duetime.ports.access import AuditTrail, Grants
from duetime.ports.deliveries import Deliveries, Windows
from duetime.ports.notifications import Inbox, PreferencesStore
from duetime.ports.rate_limits import SetLimits
from duetime.ports.run_counts import RunCounts
from duetime.ports.undelivered import UndeliveredStore
from duetime.ports.usage import UsageCounts
from duetime.ports.wakeups import Bookmarks
from duetime.ports.work_pauses import WorkPauses
from duetime.testing import TurnedClock
from duetime_contract import BookmarksContract
from duetime_contract.specimens import ACME, EXPIRY, NOON
from tests.contract.rules.access import AuditTrailContract, GrantsContract
from tests.contract.rules.notifications import InboxContract, PreferencesContract, notification
from tests.contract.rules.notified import DeliveriesContract, WindowsContract
from tests.contract.rules.rate_limits import SetLimitsContract
from tests.contract.rules.run_counts import RunCountsContract
from tests.contract.rules.undelivered import UndeliveredContract
from tests.contract.rules.usage import UsageCountsContract
from tests.contract.rules.work_pauses import WorkPausesContract


@pytest.fixture
def items(sqlite_store):
    return sqlite_store.items


class TestInbox(InboxContract):
    @pytest.fixture
    def inbox(self, items):
        return Inbox(items)

    @pytest.mark.parametrize("field", ["kind", "read_at"])
    def test_an_entry_whose_field_is_damaged_hides_no_other(self, items, inbox, field):
        readable = notification()
        for one in (readable, notification()):
            inbox.add(one, expires_at=EXPIRY)
        with items.database.writing() as connection:
            connection.execute(
                "UPDATE items SET item = json_set(item, ?, json('{}')) WHERE sk > ?",
                (f"$.{field}", readable.entry_id),
            )
        listed = inbox.list(ACME, kinds=frozenset(NotificationKind), is_unread=True, limit=9, cursor=None)
        assert [entry.notification for entry in listed] == [readable]


class TestPreferences(PreferencesContract):
    @pytest.fixture
    def preferences(self, items):
        return PreferencesStore(items)


class TestDeliveries(DeliveriesContract):
    @pytest.fixture
    def deliveries(self, items):
        return Deliveries(items)


class TestWindows(WindowsContract):
    @pytest.fixture
    def windows(self, items):
        return Windows(items)


class TestGrants(GrantsContract):
    @pytest.fixture
    def clock(self):
        return TurnedClock(NOON)

    @pytest.fixture
    def grants(self, items, clock):
        return Grants(items, clock)

    @pytest.fixture
    def another(self, items, clock):
        return Grants(items, clock)

    @pytest.fixture
    def pass_time(self, clock):
        return lambda passing: clock.wait_until(clock.now() + passing)


class TestAuditTrail(AuditTrailContract):
    @pytest.fixture
    def trail(self, items):
        return AuditTrail(items)


class TestBookmarks(BookmarksContract):
    @pytest.fixture
    def bookmarks(self, items):
        return Bookmarks(items)


class TestSetLimits(SetLimitsContract):
    @pytest.fixture
    def limits(self, items):
        return SetLimits(items)


class TestRunCounts(RunCountsContract):
    @pytest.fixture
    def counts(self, items):
        return RunCounts(items)


class TestUsageCounts(UsageCountsContract):
    @pytest.fixture
    def counts(self, items):
        return UsageCounts(items)


class TestUndelivered(UndeliveredContract):
    @pytest.fixture
    def undelivered(self, items):
        return UndeliveredStore(items)


class TestWorkPauses(WorkPausesContract):
    @pytest.fixture
    def pauses(self, items):
        return WorkPauses(items)
