"""The contract of grants and of the audit trail, over each back end that duetime has.

And what only a faulty one shows.
"""

import pytest

from duetime.aws.keyed_items import DynamoItems
from duetime.errors import BackendUnavailable
from duetime.model.permissions import Permission
from duetime.ports.access import AuditTrail, Grants
from duetime.testing import TurnedClock
from duetime_contract.specimens import ACME, NOON
from tests.backends import MemoryAuditTrail, MemoryGrants
from tests.contract.conftest import LOCAL, MOTO
from tests.contract.networks import LosesAnAnswer, SendsTwice, repeating
from tests.contract.rules.access import (
    JOB,
    RETENTION,
    AuditTrailContract,
    GrantsContract,
    entry,
    grant,
    nothing,
)


@pytest.fixture
def clock():
    return TurnedClock(NOON)


class TestMemoryGrants(GrantsContract):
    @pytest.fixture
    def grants(self):
        return MemoryGrants()

    @pytest.fixture
    def another(self, grants):
        return grants

    @pytest.fixture
    def pass_time(self, clock):
        return lambda passing: clock.wait_until(clock.now() + passing)


class TestDynamoGrants(GrantsContract):
    @pytest.fixture
    def grants(self, jobs_table, clock):
        return Grants(DynamoItems(*jobs_table), clock)

    @pytest.fixture
    def another(self, jobs_table, clock):
        return Grants(DynamoItems(*jobs_table), clock)

    @pytest.fixture
    def pass_time(self, clock):
        return lambda passing: clock.wait_until(clock.now() + passing)

    def test_an_unknown_permission_grants_nothing(self, jobs_table, grants):
        client, table = jobs_table
        grants.put(ACME, grant())
        (item,) = client.scan(TableName=table)["Items"]
        item["permissions"]["SS"].append("moon:fly")
        client.put_item(TableName=table, Item=item)
        assert dict(grants.for_tenant(ACME)) == {"clerks": grant()}

    def test_a_grant_replaces_the_revision_that_was_read_and_no_other(self, grants):
        for _ in range(3):
            grants.put(ACME, grant())
        assert [grants._put_over(revision, ACME, nothing()) for revision in (0, 1, 2, 4, 3)] == [
            *[False] * 4,
            True,
        ]

    @pytest.mark.parametrize("later", [nothing(), grant("clerks", Permission.READ_JOBS)])
    @pytest.mark.parametrize("jobs_table", [MOTO, LOCAL], indirect=True)  # SQLite repeats no request
    def test_a_repeated_request_reverts_no_later_change(self, jobs_table, grants, another, later):
        client = getattr(jobs_table[0], "_client", jobs_table[0])
        with repeating(client, "PutItem", lambda: another.put(ACME, later)):
            grants.put(ACME, grant())
        assert dict(grants.for_tenant(ACME)) == ({"clerks": later} if later.permissions else {})

    def test_a_grant_of_an_earlier_version_is_replaced(self, jobs_table, grants):
        client, table = jobs_table
        grants.put(ACME, grant())
        (item,) = client.scan(TableName=table)["Items"]
        client.put_item(TableName=table, Item={k: v for k, v in item.items() if k != "revision"})
        grants.put(ACME, nothing())
        assert dict(grants.for_tenant(ACME)) == {}

    def test_a_change_whose_response_was_lost_is_seen_at_once(self, jobs_table, clock):
        client, table = jobs_table
        for change, there in ((grant(), {"clerks": grant()}), (nothing(), {})):
            grants = Grants(DynamoItems(LosesAnAnswer(client, "put_item"), table), clock)
            grants.for_tenant(ACME)
            with pytest.raises(BackendUnavailable):
                grants.put(ACME, change)
            assert dict(grants.for_tenant(ACME)) == there


class TestMemoryAuditTrail(AuditTrailContract):
    @pytest.fixture
    def trail(self):
        return MemoryAuditTrail()


class TestDynamoAuditTrail(AuditTrailContract):
    @pytest.fixture
    def trail(self, jobs_table):
        return AuditTrail(DynamoItems(*jobs_table))

    def test_an_entry_expires_after_its_retention_whether_it_ended_or_not(self, jobs_table, trail):
        client, table = jobs_table
        begun = entry()
        gone_at = {"N": str(int((begun.requested_at + RETENTION).timestamp()))}
        for keep in (trail.begin, lambda it: trail.end(it.ended(200, {}))):
            keep(begun)
            (item,) = client.scan(TableName=table)["Items"]
            assert item["ttl"] == gone_at

    def test_an_entry_whose_response_was_lost_is_stored_once(self, jobs_table, trail):
        client, table = jobs_table
        begun = entry()
        for keep, written in (("begin", begun), ("end", begun.ended(200, {}))):
            lossy = AuditTrail(DynamoItems(LosesAnAnswer(client, "put_item"), table))
            with pytest.raises(BackendUnavailable):
                getattr(lossy, keep)(written)
            getattr(lossy, keep)(written)
        assert tuple(trail.list(ACME, JOB, limit=10, cursor=None)) == (begun.ended(200, {}),)

    def test_an_entry_that_is_sent_twice_is_stored_once(self, jobs_table, trail):
        client, table = jobs_table
        begun = entry()
        twice = AuditTrail(DynamoItems(SendsTwice(client), table))
        twice.begin(begun)
        twice.end(begun.ended(200, {}))
        assert tuple(trail.list(ACME, None, limit=10, cursor=None)) == (begun.ended(200, {}),)
