"""Tenants' preferences and their lists of notifications."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from duetime.errors import InvalidCursor
from duetime.ids import SYSTEM_TENANT, TenantId
from duetime.model.notification import Channel, Notification, NotificationKind
from duetime.model.preferences import Preferences
from duetime.ports.notifications import Inbox, InboxEntry, PreferencesStore
from duetime_contract.specimens import ACME, CALLER, EXPIRY, GLOBEX, NOON, SECOND, pages

FAILING, DEAD = NotificationKind.RECURRING_FAILING, NotificationKind.DEAD_LETTERED
ALL = frozenset(NotificationKind)
STRANGE_CURSORS = ["", "x", "~", "acme", "n.20300601T120000Z.0123456789abcdef", "\ud800"]

_numbers = count()


def notification(kind: NotificationKind = FAILING, tenant_id: TenantId = ACME, **more: Any) -> Notification:
    """Return a new notification; each one a second after the one before."""
    number = next(_numbers)
    sent = Notification(
        id=f"{tenant_id}/billing-nightly/failing/{number}:{kind}",
        kind=kind,
        tenant_id=tenant_id,
        at=NOON + number * SECOND,
        facts={"name": "billing-nightly", "last_error": "é\u2028", "failed": 3, "deep": [{"a": None}]},
    )
    return replace(sent, **more)


class PreferencesContract:
    """The whole contract of `duetime.ports.notifications.PreferencesStore`.

    Override the fixture `preferences`.
    """

    @pytest.fixture
    def preferences(self) -> PreferencesStore:
        raise NotImplementedError("override the fixture `preferences`: it returns your back end, empty")

    def test_a_tenant_without_preferences_has_the_defaults(self, preferences: PreferencesStore) -> None:
        assert preferences.get(ACME) == Preferences(tenant_id=ACME)

    def test_chosen_preferences_are_stored_unchanged(self, preferences: PreferencesStore) -> None:
        chosen = Preferences(
            tenant_id=ACME,
            language="pt-BR",
            channels={FAILING: frozenset(Channel), DEAD: frozenset()},
            addresses=("ada@example.com", "o'neil+x@example.com"),
            admin_addresses=("root@example.com",),
            changed_at=NOON,
            changed_by=CALLER,
        )
        assert preferences.put(chosen)
        assert preferences.get(ACME) == replace(chosen, revision=1)

    def test_each_change_is_one_revision_more_and_replaces_all(self, preferences: PreferencesStore) -> None:
        preferences.put(Preferences(tenant_id=ACME, language="fr", addresses=("ada@example.com",)))
        assert preferences.put(Preferences(tenant_id=ACME, language="en", revision=1))
        assert preferences.get(ACME) == Preferences(tenant_id=ACME, language="en", revision=2)

    @pytest.mark.parametrize("revision", [0, 1, 3])
    def test_a_change_with_an_old_revision_is_rejected(
        self, preferences: PreferencesStore, revision: int
    ) -> None:
        for seen, language in enumerate(("fr", "de")):
            preferences.put(Preferences(tenant_id=ACME, language=language, revision=seen))
        assert not preferences.put(Preferences(tenant_id=ACME, language="it", revision=revision))
        assert preferences.get(ACME) == Preferences(tenant_id=ACME, language="de", revision=2)

    def test_a_change_with_a_revision_that_never_existed_is_rejected(
        self, preferences: PreferencesStore
    ) -> None:
        assert not preferences.put(Preferences(tenant_id=ACME, revision=1))
        assert preferences.get(ACME).revision == 0

    def test_a_change_whose_response_was_lost_can_be_repeated(self, preferences: PreferencesStore) -> None:
        for seen in range(2):
            chosen = Preferences(tenant_id=ACME, language="fr", changed_at=NOON, revision=seen)
            assert preferences.put(chosen)
            assert preferences.put(chosen)
        assert preferences.get(ACME).revision == 1 + 1

    def test_another_tenants_preferences_are_its_own(self, preferences: PreferencesStore) -> None:
        preferences.put(Preferences(tenant_id=ACME, language="fr"))
        assert preferences.get(GLOBEX) == Preferences(tenant_id=GLOBEX)
        assert preferences.get(SYSTEM_TENANT) == Preferences(tenant_id=SYSTEM_TENANT)


class InboxContract:
    """The whole contract of `duetime.ports.notifications.Inbox`: override the fixture `inbox`."""

    @pytest.fixture
    def inbox(self) -> Inbox:
        raise NotImplementedError("override the fixture `inbox`: it returns your back end, empty")

    @pytest.mark.parametrize("kind", list(NotificationKind))
    def test_an_added_notification_is_unread(self, inbox: Inbox, kind: NotificationKind) -> None:
        sent = notification(kind, is_digest=kind is DEAD)
        inbox.add(sent, expires_at=EXPIRY)
        assert inbox.get(ACME, sent.entry_id) == InboxEntry(notification=sent, entry_id=sent.entry_id)
        assert self._all(inbox) == [sent]

    def test_one_that_is_added_again_stays_as_it_is_read_or_unread(self, inbox: Inbox) -> None:
        sent = notification()
        for _ in range(2):
            inbox.add(sent, expires_at=EXPIRY)
        assert inbox.mark_read(ACME, sent.entry_id, by=CALLER, at=NOON)
        inbox.add(sent, expires_at=EXPIRY)
        page = inbox.list(ACME, kinds=ALL, limit=10, cursor=None)
        assert [*page] == [
            InboxEntry(notification=sent, entry_id=sent.entry_id, read_at=NOON, read_by=CALLER)
        ]

    def test_the_first_reader_is_stored(self, inbox: Inbox) -> None:
        sent = notification()
        inbox.add(sent, expires_at=EXPIRY)
        for by, at in ((CALLER, NOON), ("eve", NOON + SECOND)):
            assert inbox.mark_read(ACME, sent.entry_id, by=by, at=at)
        assert inbox.get(ACME, sent.entry_id) == InboxEntry(
            notification=sent, entry_id=sent.entry_id, read_at=NOON, read_by=CALLER
        )

    @pytest.mark.parametrize("entry_id", ["", "x", notification().entry_id, "\ud800"])
    def test_missing_rows_are_neither_found_nor_read(self, inbox: Inbox, entry_id: str) -> None:
        inbox.add(notification(), expires_at=EXPIRY)
        assert inbox.get(ACME, entry_id) is None
        assert not inbox.mark_read(ACME, entry_id, by=CALLER, at=NOON)
        assert len(self._all(inbox)) == 1

    @pytest.mark.parametrize("limit", [1, 2, 3, 10])
    def test_pages_lose_and_double_none_and_go_from_the_newest_to_the_oldest(
        self, inbox: Inbox, limit: int
    ) -> None:
        sent = [notification(kind) for kind in (FAILING, DEAD, DEAD, FAILING, DEAD)]
        for item in (sent[3], sent[0], sent[4], sent[2], sent[1]):
            inbox.add(item, expires_at=EXPIRY)
        assert self._all(inbox, limit=limit) == sent[::-1]
        assert self._all(inbox, limit=limit, kinds=frozenset({DEAD})) == [sent[4], sent[2], sent[1]]
        assert self._all(inbox, limit=limit, kinds=frozenset()) == []
        inbox.mark_read(ACME, sent[2].entry_id, by=CALLER, at=NOON)
        assert self._all(inbox, limit=limit, is_unread=True) == [sent[4], sent[3], sent[1], sent[0]]
        assert self._all(inbox, limit=limit, is_unread=True, kinds=frozenset({DEAD})) == [sent[4], sent[1]]

    @pytest.mark.parametrize("is_unread", [False, True])
    def test_a_list_has_all_kinds_but_the_one_that_is_left_out(self, inbox: Inbox, is_unread: bool) -> None:
        listed: list[Notification] = []
        for kind in ALL:
            read, unread = notification(kind), notification(kind)
            for item in (read, unread):
                inbox.add(item, expires_at=EXPIRY)
            assert inbox.mark_read(ACME, read.entry_id, by=CALLER, at=NOON)
            listed += [unread] if is_unread else [read, unread]
        for kinds in (ALL, *(ALL - {kind} for kind in ALL)):
            found = self._all(inbox, kinds=kinds, is_unread=is_unread, limit=20)
            expected = [item.entry_id for item in listed if item.kind in kinds]
            assert sorted(item.entry_id for item in found) == sorted(expected)

    def test_a_new_entry_moves_no_page(self, inbox: Inbox) -> None:
        sent = [notification() for _ in range(4)]
        for item in sent:
            inbox.add(item, expires_at=EXPIRY)
        first = inbox.list(ACME, kinds=ALL, limit=2, cursor=None)
        inbox.add(notification(), expires_at=EXPIRY)
        assert [
            item.notification for item in (*first, *inbox.list(ACME, kinds=ALL, limit=2, cursor=first.cursor))
        ] == sent[::-1]

    def test_entries_of_one_instant_are_all_there(self, inbox: Inbox) -> None:
        sent = [notification(at=NOON) for _ in range(5)]
        for item in sent:
            inbox.add(item, expires_at=EXPIRY)
        assert sorted(item.id for item in self._all(inbox, limit=2)) == sorted(item.id for item in sent)

    def test_another_tenants_entries_are_its_own(self, inbox: Inbox) -> None:
        mine, theirs = notification(), notification(tenant_id=GLOBEX)
        for item in (mine, theirs):
            inbox.add(item, expires_at=EXPIRY)
        assert self._all(inbox) == [mine]
        assert inbox.get(ACME, theirs.entry_id) is None
        assert not inbox.mark_read(ACME, theirs.entry_id, by=CALLER, at=NOON)

    @pytest.mark.parametrize("cursor", STRANGE_CURSORS)
    def test_a_forged_cursor_is_rejected(self, inbox: Inbox, cursor: str) -> None:
        inbox.add(notification(), expires_at=EXPIRY)
        with pytest.raises(InvalidCursor):
            inbox.list(ACME, kinds=ALL, limit=10, cursor=cursor)

    def _all(
        self,
        inbox: Inbox,
        *,
        kinds: frozenset[NotificationKind] = ALL,
        is_unread: bool = False,
        limit: int = 10,
    ) -> list[Notification]:
        items = pages(
            lambda cursor: inbox.list(ACME, kinds=kinds, is_unread=is_unread, limit=limit, cursor=cursor),
            limit,
        )
        return [item.notification for item in items]
