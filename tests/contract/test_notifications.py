"""The contract of what notifications need, over each back end; and what only a faulty one shows."""

from dataclasses import replace

import pytest

from duetime.aws.keyed_items import DynamoItems
from duetime.errors import BackendUnavailable
from duetime.memory.keyed_items import MemoryItems
from duetime.model.notification import Channel
from duetime.model.preferences import Preferences
from duetime.ports.deliveries import Deliveries, SendPermit, Windows
from duetime.ports.notifications import Inbox, PreferencesStore
from duetime_contract.specimens import ACME, CALLER, EXPIRY, NOON
from tests.contract.conftest import MOTO, OneAtATime
from tests.contract.networks import LosesAnAnswer, SendsTwice
from tests.contract.rules.notifications import ALL, DEAD, InboxContract, PreferencesContract, notification
from tests.contract.rules.notified import DeliveriesContract, WindowsContract

GONE_AT = {"N": str(int(EXPIRY.timestamp()))}


def items(jobs_table):
    client, table = jobs_table
    return client.scan(TableName=table)["Items"]


class TestMemoryPreferences(PreferencesContract):
    @pytest.fixture
    def preferences(self):
        return PreferencesStore(MemoryItems())


class TestDynamoPreferences(PreferencesContract):
    @pytest.fixture
    def preferences(self, jobs_table):
        return PreferencesStore(DynamoItems(*jobs_table))

    def test_an_unknown_value_of_another_version_is_ignored(self, jobs_table, preferences):
        client, table = jobs_table
        preferences.put(Preferences(tenant_id=ACME, channels={DEAD: frozenset(Channel)}))
        (item,) = items(jobs_table)
        item["channels"]["S"] = '{"scheduling.dead_lettered": ["pigeon", "sns"], "moon.landing": ["sns"]}'
        client.put_item(TableName=table, Item=item)
        assert preferences.get(ACME).channels == {DEAD: {Channel.SNS}}

    def test_a_change_whose_response_was_lost_is_true_when_repeated(self, jobs_table, preferences):
        client, table = jobs_table
        for seen in range(2):
            lossy = PreferencesStore(DynamoItems(LosesAnAnswer(client, "put_item"), table))
            chosen = Preferences(tenant_id=ACME, language="fr", revision=seen)
            with pytest.raises(BackendUnavailable):
                lossy.put(chosen)
            assert lossy.put(chosen)
        assert preferences.get(ACME).revision == 2


class TestPreferencesWhoseWritesAreSentTwice(PreferencesContract):
    @pytest.fixture
    def preferences(self, jobs_table):
        client, table = jobs_table
        return PreferencesStore(DynamoItems(SendsTwice(client), table))


class TestMemoryInbox(InboxContract):
    @pytest.fixture
    def inbox(self):
        return Inbox(MemoryItems())


class TestDynamoInbox(InboxContract):
    @pytest.fixture
    def inbox(self, jobs_table):
        return Inbox(DynamoItems(*jobs_table))

    def test_an_entry_is_removed_when_it_expires(self, jobs_table, inbox):
        notification_ = notification()
        inbox.add(notification_, expires_at=EXPIRY)
        inbox.mark_read(ACME, notification_.entry_id, by=CALLER, at=NOON)
        assert [item["ttl"] for item in items(jobs_table)] == [GONE_AT]

    def test_a_page_of_a_rare_kind_is_short_rather_than_slow(self, inbox):
        rare = notification(DEAD)
        inbox.add(rare, expires_at=EXPIRY)
        for _ in range(30):
            inbox.add(notification(), expires_at=EXPIRY)
        first = inbox.list(ACME, kinds=frozenset({DEAD}), limit=2, cursor=None)
        assert (first.entries, first.cursor is None) == ((), False)
        rest = inbox.list(ACME, kinds=frozenset({DEAD}), limit=2, cursor=first.cursor)
        assert [entry.notification for entry in rest] == [rare]


class TestAnInboxWhoseWritesAreSentTwice(InboxContract):
    @pytest.fixture
    def inbox(self, jobs_table):
        client, table = jobs_table
        return Inbox(DynamoItems(SendsTwice(client), table))


class TestMemoryDeliveries(DeliveriesContract):
    @pytest.fixture
    def deliveries(self):
        return Deliveries(MemoryItems())


class TestDynamoDeliveries(DeliveriesContract):
    @pytest.fixture
    def deliveries(self, jobs_table):
        return Deliveries(DynamoItems(*jobs_table))

    def test_a_delivery_is_removed_when_it_expires_and_has_no_address(self, jobs_table, deliveries):
        self._begin(deliveries, "me")
        begun = items(jobs_table)
        deliveries.end(ACME, "x:email:ada@example.com", expires_at=EXPIRY)
        for (item,) in (begun, items(jobs_table)):
            assert item["ttl"] == GONE_AT
            assert "example.com" not in str(item)

    def _begun_and_ended(self, deliveries):
        self._begin(deliveries, "me")
        deliveries.end(ACME, "x:email:ada@example.com", expires_at=EXPIRY)

    def test_a_start_or_end_with_a_lost_response_can_be_repeated(self, jobs_table):
        client, table = jobs_table
        for operation, begin in (("update_item", SendPermit.YES), ("put_item", SendPermit.SENT)):
            lossy = Deliveries(DynamoItems(LosesAnAnswer(client, operation), table))
            with pytest.raises(BackendUnavailable):
                self._begun_and_ended(lossy)
            assert self._begin(lossy, "me") is begin


class TestDeliveriesWhoseWritesAreSentTwice(DeliveriesContract):
    @pytest.fixture
    def deliveries(self, jobs_table):
        client, table = jobs_table
        return Deliveries(DynamoItems(SendsTwice(client), table))


class TestMemoryWindows(WindowsContract):
    @pytest.fixture
    def windows(self):
        return Windows(MemoryItems())


def windows_over(client, table):
    return Windows(DynamoItems(client, table))


class TestDynamoWindows(WindowsContract):
    @pytest.fixture
    def windows(self, jobs_table, request):
        client, table = jobs_table
        is_moto = request.node.callspec.params["jobs_table"] == MOTO
        return Windows(DynamoItems(OneAtATime(client) if is_moto else client, table))

    def test_all_items_of_a_window_are_removed_when_it_expires(self, jobs_table, windows):
        self._count(windows, notification())
        windows.close(self.FIRST)
        assert [item["ttl"] for item in items(jobs_table)] == [GONE_AT] * 3

    def test_a_count_whose_response_was_lost_has_its_place_when_repeated(self, jobs_table, windows):
        client, table = jobs_table
        notification_ = notification()
        lossy = windows_over(
            LosesAnAnswer(client, "transact_write_items", lambda: self._count(windows, notification())), table
        )
        with pytest.raises(BackendUnavailable):
            self._count(lossy, notification_)
        assert self._count(lossy, notification_) == 1
        assert windows.close(self.FIRST).total == 2

    def test_a_count_after_a_concurrent_one_has_the_next_number(self, jobs_table, windows):
        client, table = jobs_table
        overtaken = windows_over(Overtakes(client, lambda: self._count(windows, notification())), table)
        assert [self._count(overtaken, notification()) for _ in range(2)] == [2, 3]

    def test_a_window_that_is_closed_between_looking_and_counting_counts_nothing(self, jobs_table, windows):
        client, table = jobs_table
        self._count(windows, notification())
        late = windows_over(Overtakes(client, lambda: windows.close(self.FIRST)), table)
        assert late.count(notification(), self.FIRST, expires_at=EXPIRY) is None
        assert windows.close(self.FIRST).total == 1

    def test_a_closed_window_is_only_read(self, jobs_table, windows):
        client, table = jobs_table
        self._count(windows, notification())
        windows.close(self.FIRST)
        counted = Counts(client)
        late = Windows(DynamoItems(counted, table))
        assert late.count(notification(), self.FIRST, expires_at=EXPIRY) is None
        assert set(counted.called) == {"get_item"}

    def test_a_digest_over_several_pages_of_names_has_them_all(self, jobs_table, windows):
        client, table = jobs_table
        self._count(windows, notification(facts={"name": "a" * 500}))
        mark = next(item for item in items(jobs_table) if "#name#" in item["sk"]["S"])
        for number in range(8):
            padded = {**mark, "sk": {"S": f"{mark['sk']['S'][:-1]}{number}"}, "pad": {"S": "x" * 200_000}}
            client.put_item(TableName=table, Item=padded)
        assert len(windows.close(self.FIRST).by_name) == 9


class Counts:
    """A client that collects which methods are called."""

    def __init__(self, client):
        self._client, self.called = client, []

    def __getattr__(self, name):
        self.called.append(name)
        return getattr(self._client, name)


class Overtakes:
    """A client whose first transaction comes after a rival's."""

    def __init__(self, client, meanwhile):
        self._client, self._meanwhile = client, meanwhile

    def __getattr__(self, name):
        return getattr(self._client, name)

    def transact_write_items(self, **request):
        meanwhile, self._meanwhile = self._meanwhile, lambda: None
        meanwhile()
        return self._client.transact_write_items(**request)


def test_keys_begin_with_the_tenant_and_are_none_that_a_right_on_jobs_covers(jobs_table):
    notification_ = notification()
    PreferencesStore(DynamoItems(*jobs_table)).put(Preferences(tenant_id=ACME))
    Inbox(DynamoItems(*jobs_table)).add(notification_, expires_at=EXPIRY)
    Deliveries(DynamoItems(*jobs_table)).end(ACME, "x", expires_at=EXPIRY)
    for kind in ALL:
        window = replace(WindowsContract.FIRST, kind=kind)
        Windows(DynamoItems(*jobs_table)).count(notification(kind), window, expires_at=EXPIRY)
    for item in items(jobs_table):
        assert item["pk"]["S"].startswith(f"{ACME}#")
        assert "-" not in item["pk"]["S"]
