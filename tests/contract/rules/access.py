"""Permissions, and the trail of requested changes.

Grants by role, and entries that are begun, ended and never changed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import count

import pytest

from duetime.errors import InvalidCursor
from duetime.ids import TenantId, new_action_id
from duetime.model.audit import AuditEntry, AuditKind, AuditTarget
from duetime.model.audit_chain import ChainHead
from duetime.model.audit_verification import verify
from duetime.model.permissions import GRANTABLE, Permission
from duetime.ports.access import AuditTrail, Grant, Grants
from duetime_contract.specimens import ACME, CALLER, GLOBEX, NOON, SECOND, pages

JOB = AuditTarget(AuditKind.JOB, "billing-nightly")
OTHER_JOB = AuditTarget(AuditKind.JOB, "billing-hourly")
HELD_FOR = timedelta(seconds=10)
"""How long a process may go by the grants that it has read."""

RETENTION = timedelta(days=400)

_numbers = count()


def grant(role: str = "clerks", *permissions: Permission) -> Grant:
    """A grant of these to a role; by default of all that may be granted."""
    return Grant(role, frozenset(permissions) or GRANTABLE, CALLER, NOON)


def nothing(role: str = "clerks") -> Grant:
    """What takes a role's grant back."""
    return Grant(role, frozenset(), CALLER, NOON)


def entry(target: AuditTarget = JOB, tenant_id: TenantId = ACME) -> AuditEntry:
    """Return an unwritten entry; each one a second after the one before."""
    requested_at = NOON + next(_numbers) * SECOND
    return AuditEntry(
        id=new_action_id(requested_at),
        tenant_id=tenant_id,
        target=target,
        operation="pause",
        by=CALLER,
        roles=("clerks", "members"),
        address="203.0.113.7",
        requested_at=requested_at,
        request_fields={"reason": "é\u2028", "until": None, "list": [1, {"deep": 0.5}]},
        subject="AROAEXAMPLE:till-4",
        expires_at=requested_at + RETENTION,
    )


class GrantsContract:
    """The whole contract of `duetime.ports.access.Grants`.

    Override the fixtures `grants`, `another` and `pass_time`.
    """

    @pytest.fixture
    def grants(self) -> Grants:
        raise NotImplementedError("override the fixture `grants`: it returns your back end, empty")

    @pytest.fixture
    def another(self) -> Grants:
        raise NotImplementedError("override the fixture `another`: it returns the same as another process")

    @pytest.fixture
    def pass_time(self) -> Callable[[timedelta], None]:
        raise NotImplementedError("override the fixture `pass_time`: it turns the clock of both")

    def test_a_tenant_that_was_granted_nothing_has_no_grants(self, grants: Grants) -> None:
        assert dict(grants.for_tenant(ACME)) == {}

    def test_grants_are_read_by_role(self, grants: Grants) -> None:
        clerks, readers = grant(), grant("readers é/@+", Permission.READ_JOBS)
        for record in (clerks, readers):
            grants.put(ACME, record)
        assert dict(grants.for_tenant(ACME)) == {"clerks": clerks, "readers é/@+": readers}

    def test_a_grant_takes_the_place_of_the_one_before(self, grants: Grants) -> None:
        grants.put(ACME, grant())
        later = replace(grant("clerks", Permission.READ_JOBS), granted_by="eve", granted_at=NOON + SECOND)
        grants.put(ACME, later)
        assert dict(grants.for_tenant(ACME)) == {"clerks": later}

    def test_a_grant_of_nothing_takes_it_back_and_leaves_other_roles(self, grants: Grants) -> None:
        for role in ("clerks", "readers"):
            grants.put(ACME, grant(role))
        grants.put(ACME, nothing())
        assert dict(grants.for_tenant(ACME)) == {"readers": grant("readers")}

    def test_a_put_or_revoked_grant_can_be_repeated(self, grants: Grants) -> None:
        for _ in range(2):
            grants.put(ACME, grant())
        assert dict(grants.for_tenant(ACME)) == {"clerks": grant()}
        for _ in range(2):
            grants.put(ACME, nothing())
        assert dict(grants.for_tenant(ACME)) == {}

    def test_another_tenants_grants_are_its_own(self, grants: Grants) -> None:
        grants.put(GLOBEX, grant("readers"))
        grants.put(ACME, grant())
        grants.put(ACME, nothing("readers"))
        assert dict(grants.for_tenant(ACME)) == {"clerks": grant()}
        assert dict(grants.for_tenant(GLOBEX)) == {"readers": grant("readers")}

    def test_more_grants_than_a_page_holds_are_all_read(self, grants: Grants) -> None:
        roles = {f"{number:03d}-{'r' * 124}" for number in range(60)}
        for role in roles:
            grants.put(ACME, replace(grant(role), granted_by="x" * 20_000))
        assert grants.for_tenant(ACME).keys() == roles

    def test_another_process_sees_a_change_within_ten_seconds(
        self, grants: Grants, another: Grants, pass_time: Callable[[timedelta], None]
    ) -> None:
        assert dict(another.for_tenant(ACME)) == {}
        grants.put(ACME, grant())
        pass_time(HELD_FOR)
        assert dict(another.for_tenant(ACME)) == {"clerks": grant()}
        grants.put(ACME, nothing())
        pass_time(HELD_FOR)
        assert dict(another.for_tenant(ACME)) == {}

    def test_a_put_is_visible_at_once_with_the_puts_of_other_processes(
        self, grants: Grants, another: Grants
    ) -> None:
        assert dict(grants.for_tenant(ACME)) == {}
        another.put(ACME, grant("readers"))
        grants.put(ACME, grant())
        assert grants.for_tenant(ACME).keys() == {"clerks", "readers"}


class AuditTrailContract:
    """The whole contract of `duetime.ports.access.AuditTrail`: override the fixture `trail`."""

    @pytest.fixture
    def trail(self) -> AuditTrail:
        raise NotImplementedError("override the fixture `trail`: it returns your back end, empty")

    @pytest.fixture
    def begun(self) -> AuditEntry:
        return entry()

    def let_indexes_follow(self) -> None:
        """Return once the list of a tenant's entries shows the last write; override it if yours lags."""

    def test_an_entry_that_has_begun_has_no_end(self, trail: AuditTrail, begun: AuditEntry) -> None:
        trail.begin(begun)
        assert self._all(trail, ACME, JOB) == [begun]
        assert begun.status is None

    @pytest.mark.parametrize("kind", list(AuditKind))
    @pytest.mark.parametrize("name", ["", "19ca é/x", "n" * 10_000])
    def test_an_entry_of_any_target_is_stored_unchanged(
        self, trail: AuditTrail, kind: AuditKind, name: str
    ) -> None:
        bare = replace(
            entry(AuditTarget(kind, name)), roles=(), address=None, request_fields={}, subject=None
        )
        ended = bare.ended(200, {"status": "é", "left": 3, "deep": {"a": [None]}})
        trail.end(ended)
        assert self._all(trail, ACME, bare.target) == [ended]

    def test_an_ended_entry_has_its_result(self, trail: AuditTrail, begun: AuditEntry) -> None:
        trail.begin(begun)
        trail.end(begun.ended(409, {}))
        assert self._all(trail, ACME, JOB) == [begun.ended(409, {})]

    def test_an_entry_without_a_begin_can_end(self, trail: AuditTrail) -> None:
        ended = entry().ended(201, {"id": "a"})
        trail.end(ended)
        assert self._all(trail, ACME, JOB) == [ended]

    def test_of_two_ends_the_first_is_stored(self, trail: AuditTrail, begun: AuditEntry) -> None:
        trail.begin(begun)
        trail.end(begun.ended(200, {"status": "pending"}))
        trail.end(begun.ended(503, {"status": "failed"}))
        assert self._all(trail, ACME, JOB) == [begun.ended(200, {"status": "pending"})]

    def test_a_call_whose_response_was_lost_can_be_repeated(
        self, trail: AuditTrail, begun: AuditEntry
    ) -> None:
        for _ in range(2):
            trail.begin(begun)
        for _ in range(2):
            trail.end(begun.ended(204, {}))
        assert self._all(trail, ACME, JOB) == [begun.ended(204, {})]

    def test_a_late_begin_retains_the_end(self, trail: AuditTrail, begun: AuditEntry) -> None:
        trail.end(begun.ended(200, {}))
        trail.begin(begun)
        assert self._all(trail, ACME, JOB) == [begun.ended(200, {})]

    def test_the_links_of_an_entry_are_stored(self, trail: AuditTrail, begun: AuditEntry) -> None:
        linked, head = ChainHead(new_action_id(NOON)).append(begun)
        ended, _ = head.append(linked.ended(200, {"status": "é"}))
        trail.begin(linked)
        assert self._all(trail, ACME, JOB) == [linked]
        trail.end(ended)
        assert self._all(trail, ACME, JOB) == [ended]
        assert verify([ended], now=NOON).findings == []

    def test_a_count_replaces_itself_alone(self, trail: AuditTrail, begun: AuditEntry) -> None:
        trail.begin(begun)
        counted = entry(AuditTarget(AuditKind.REJECTED, "ada"))
        for number in (1, 2):
            trail.count(counted.ended(403, {"count": number}))
        assert self._all(trail, ACME, None) == [counted.ended(403, {"count": 2}), begun]
        assert self._all(trail, ACME, counted.target) == [counted.ended(403, {"count": 2})]

    def test_a_count_of_changes_that_have_begun_has_no_status_yet(self, trail: AuditTrail) -> None:
        begun = {"begun": [{"operation": "pause"}]}
        counted = replace(entry(AuditTarget(AuditKind.REJECTED, "ada")), result=begun)
        trail.count(counted)
        assert self._all(trail, ACME, None) == [counted]

    @pytest.mark.parametrize("limit", [1, 2, 3, 5, 10])
    def test_pages_lose_and_double_none_and_go_from_the_latest_to_the_first(
        self, trail: AuditTrail, limit: int
    ) -> None:
        records = [
            entry(target) for target in (JOB, OTHER_JOB, JOB, AuditTarget(AuditKind.MANY), JOB, OTHER_JOB)
        ]
        for record in (records[2], records[0], records[5], records[1], records[4], records[3]):
            trail.begin(record)
        assert self._all(trail, ACME, None, limit) == records[::-1]
        assert self._all(trail, ACME, JOB, limit) == [records[4], records[2], records[0]]
        assert self._all(trail, ACME, OTHER_JOB, limit) == [records[5], records[1]]

    @pytest.mark.parametrize("target", [None, JOB])
    def test_a_new_entry_moves_no_page(self, trail: AuditTrail, target: AuditTarget | None) -> None:
        records = [entry() for _ in range(4)]
        for record in records:
            trail.begin(record)
        self.let_indexes_follow()
        first = trail.list(ACME, target, limit=2, cursor=None)
        trail.begin(entry())
        trail.end(records[0].ended(200, {}))
        self.let_indexes_follow()
        rest = trail.list(ACME, target, limit=2, cursor=first.cursor)
        assert [record.id for record in (*first, *rest)] == [record.id for record in reversed(records)]

    def test_targets_of_one_name_and_several_kinds_are_distinct(self, trail: AuditTrail) -> None:
        records = [entry(AuditTarget(kind, "same")) for kind in AuditKind]
        for record in records:
            trail.begin(record)
        for record in records:
            assert self._all(trail, ACME, record.target) == [record]

    def test_another_tenants_entries_are_never_shown(self, trail: AuditTrail) -> None:
        mine, theirs = entry(), entry(tenant_id=GLOBEX)
        later = entry(tenant_id=GLOBEX)
        for record in (mine, theirs, later):
            trail.begin(record)
        for target in (None, JOB):
            assert self._all(trail, ACME, target) == [mine]
            assert self._all(trail, GLOBEX, target) == [later, theirs]
            self.let_indexes_follow()
            assert [*trail.list(ACME, target, limit=10, cursor=later.id)] == [mine]
            assert self._all(trail, TenantId("acm"), target) == []

    @pytest.mark.parametrize(
        "cursor", ["", "x", "~", "019CA932", "acme", "billing-nightly.000001.20300601T120000Z", "\ud800"]
    )
    @pytest.mark.parametrize("target", [None, JOB])
    def test_a_forged_cursor_is_rejected(
        self, trail: AuditTrail, target: AuditTarget | None, cursor: str
    ) -> None:
        trail.begin(entry())
        with pytest.raises(InvalidCursor):
            trail.list(ACME, target, limit=10, cursor=cursor)

    def test_a_trail_without_entries_is_one_empty_page(self, trail: AuditTrail) -> None:
        for target in (None, JOB):
            page = trail.list(ACME, target, limit=10, cursor=None)
            assert (tuple(page), page.cursor) == ((), None)

    def _all(
        self, trail: AuditTrail, tenant_id: TenantId, target: AuditTarget | None, limit: int = 10
    ) -> list[AuditEntry]:
        self.let_indexes_follow()
        return pages(lambda cursor: trail.list(tenant_id, target, limit=limit, cursor=cursor), limit)
