"""``duetime access whoami``, ``grants`` and ``audit``."""

import json
from datetime import timedelta

import pytest

from duetime import instant
from duetime.clock import SystemClock
from duetime.ids import TenantId, new_action_id
from duetime.tenant_data.audit import ended, entry_of
from tests.backends import MemoryAuditTrail

ACME = TenantId("acme")


class ErasableTrail(MemoryAuditTrail):
    """A trail whose entries of a tenant can be erased, as `duetime tenants erase` does."""

    def erase(self, tenant_id):
        now = SystemClock().now()
        times = {"at": now, "expires_at": now + timedelta(days=400)}
        options = {"keep_audit": False}
        entry = entry_of(tenant_id, "erase", entry_id=new_action_id(now), by="ada", fields=options, **times)
        self._items.partitions.clear()
        self.end(ended(entry, {"erased": 1, "ended_at": instant.text(now)}))


def test_whoami_prints_the_caller(duetime):
    status, printed, _ = duetime("access", "whoami", "--user", "ada", "--tenant", "globex")
    assert status == 0
    first, *facts = printed.splitlines()
    assert first == "ada"
    assert facts[0].split() == ["tenant", "globex"]
    assert facts[1].split() == ["subject", "ada"]
    assert facts[2].split() == ["roles", "admins"]
    assert "actions:manage" in facts[3]
    assert facts[4].split() == ["scheduler", duetime.url]


def test_a_grant_is_created_listed_and_revoked(duetime):
    status, printed, _ = duetime("access", "grants", "support", "actions:read", "jobs:read")
    assert (status, printed) == (
        0,
        "granted support: actions:read, jobs:read; it holds within ten seconds\n",
    )
    _, printed, _ = duetime("access", "grants")
    assert printed.splitlines()[1].split()[:4] == ["support", "actions:read,", "jobs:read", "developer"]
    assert duetime("access", "grants", "support", "none")[0] == 0
    assert duetime("access", "grants") == (0, "no grants\n", "")


def test_grants_are_printed_as_json(duetime):
    held = duetime.json("access", "grants", "support", "actions:read")
    assert duetime.json("access", "grants")["items"] == [held]
    assert duetime.json("access", "grants", "support", "none") == {"role": "support"}


def test_an_unknown_permission_is_rejected_with_those_allowed(duetime):
    status, _, errors = duetime("access", "grants", "support", "admin")
    assert status == 1
    assert "may be granted: actions:approve, actions:manage" in errors


def test_an_empty_role_is_bad_usage(duetime):
    status, _, errors = duetime("access", "grants", "", "none")
    assert status == 2
    assert "`duetime access grants` shows the roles" in errors


def test_audit_lists_changes_with_actor_and_status(duetime):
    made = duetime.json("schedule", "remark", "--in", "1d")
    duetime("actions", "cancel", made["id"], "--user", "ada")
    _, printed, _ = duetime("access", "audit")
    head, latest, first = printed.splitlines()
    assert head.split() == ["AT", "BY", "SUBJECT", "CHANGE", "OF", "STATUS", "REQUEST"]
    assert f"ada        ada        cancel    action:{made['id']}  200" in latest
    assert "schedule" in first


@pytest.mark.parametrize("about", ["action", "job"])
def test_audit_filters_by_action_or_job(duetime, about):
    made = duetime.json("schedule", "remark", "--in", "1d")
    duetime("jobs", "pause", "billing-nightly")
    of, other = (made["id"], "pause") if about == "action" else ("billing-nightly", "schedule")
    _, printed, _ = duetime("access", "audit", f"--{about}", of)
    assert f"{about}:{of}" in printed
    assert other not in printed


def test_the_next_page_of_the_audit_trail_is_a_command(duetime):
    for _ in range(2):
        duetime.json("schedule", "remark", "--in", "1d")
    first = duetime.json("access", "audit", "--limit", "1")
    _, printed, _ = duetime("access", "audit", "--limit", "1")
    words = printed.splitlines()[-1].removeprefix("more: duetime ").split()
    assert duetime.json(*words)["items"] != first["items"]


def test_an_empty_audit_trail_is_one_line(duetime):
    assert duetime("access", "audit") == (0, "no changes\n", "")


def test_verify_finds_nothing_in_a_genuine_trail_and_saves_its_heads(duetime, tmp_path):
    made = duetime.json("schedule", "remark", "--in", "1d")
    duetime.json("actions", "cancel", made["id"])
    report = duetime.json("access", "audit", "verify")
    assert (report["entries"], report["findings"]) == (2, [])
    assert [head["number"] for head in report["heads"]] == [3]
    saved = tmp_path / "heads.json"
    saved.write_text(json.dumps(report))
    assert duetime.json("access", "audit", "verify", "--heads", str(saved))["findings"] == []
    status, printed, _ = duetime("access", "audit", "verify", "--heads", str(saved))
    assert (status, printed) == (0, "2 entries of acme in 1 chain: no findings\n")


@pytest.fixture
def changed(duetime):
    """Return a function that requests two changes, with two records each in the API's chain."""

    def change():
        for verb in ("pause", "resume"):
            duetime.json("jobs", verb, "billing-nightly")

    return change


class TestErased:
    """The API goes on with a tenant's chain after an erase."""

    @pytest.fixture
    def trail(self):
        return ErasableTrail()

    def test_entries_that_an_erase_removed_are_no_findings(self, duetime, trail, changed, tmp_path):
        changed()
        saved = tmp_path / "heads.json"
        saved.write_text(json.dumps(duetime.json("access", "audit", "verify")))
        trail.erase(ACME)
        verify = ("access", "audit", "verify", "--heads", str(saved))
        assert duetime.json(*verify)["findings"] == []  # no entry at all is left
        changed()
        report = duetime.json(*verify)
        assert (report["entries"], report["findings"], report["heads"][0]["number"]) == (2, [], 8)


def test_verify_fails_if_a_saved_head_is_missing(duetime, tmp_path):
    head = {"chain": "019ca945-0de8-7c7c-bed1-0cd9827437e7", "number": 3, "hash": "0" * 64}
    lines = [{"message": "audit record", "tenant_id": tenant, **head} for tenant in ("acme", "globex")]
    log = tmp_path / "log"
    log.write_text("".join(f"2026-03-01T12:00:00Z {json.dumps(line)}\n" for line in lines) + "START\n")
    duetime.json("schedule", "remark", "--in", "1d")
    status, printed, _ = duetime("access", "audit", "verify", "--heads", str(log))
    assert status == 1
    assert "removed" in printed
    assert head["chain"] in printed
    status, printed, _ = duetime("access", "audit", "verify", "--heads", str(log), "--json")
    assert (status, [finding["kind"] for finding in json.loads(printed)["findings"]]) == (1, ["removed"])


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--heads", "absent"], "verify"),
        (["verify", "--heads", "absent"], "cannot be read"),
        (["verify", "--heads", __file__], "has no heads"),
        (["verify", "--job", "billing-nightly"], "complete trail"),
        (["check"], "invalid choice"),
    ],
)
def test_a_verification_that_cannot_be_meant_is_bad_usage(duetime, words, problem):
    status, _, errors = duetime("access", "audit", *words)
    assert status == 2
    assert problem in errors
