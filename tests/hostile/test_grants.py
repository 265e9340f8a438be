"""What the grants of a tenant's roles permit, by a strict reading of their policies."""

import pytest

from tests.hostile.bound_role import Request


@pytest.mark.parametrize("action", ["PutItem", "UpdateItem"])
def test_a_manager_of_jobs_writes_runs_of_its_own_jobs_and_none_of_codes_job(managing_role, action):
    permits = {
        key: managing_role.allows(Request(action, "actions", (key,)))
        for key in ("acme#acme-report", "acme#acme-report#3", "acme#kb-index", "acme#kb-index#3", "acme#3")
    }
    assert permits == {
        "acme#acme-report": True,
        "acme#acme-report#3": True,
        "acme#kb-index": False,
        "acme#kb-index#3": False,
        "acme#3": False,
    }


def test_one_foreign_key_of_a_batch_denies_it(scheduling_role):
    assert scheduling_role.allows(Request("BatchGetItem", "actions", ("acme#3", "acme#kb-index#3")))
    assert not scheduling_role.allows(Request("BatchGetItem", "actions", ("acme#3", "globex#3")))
    assert not scheduling_role.allows(Request("Query", "actions"))
