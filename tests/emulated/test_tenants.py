"""``duetime tenants`` in another process, with the credentials of the local cloud."""

import json
import subprocess
import sys
from datetime import timedelta

import pytest

from duetime.errors import QuotaExceeded
from duetime.settings import Settings
from tests.emulated import EmulatedCloud, EmulatedOptions
from tests.emulated.conftest import Note, settled


def run(cloud, *words):
    """Run a command in another process; return its exit status and what it printed."""
    return duetime(cloud, "tenants", *words)


def duetime(cloud, *words):
    """Run any command in the same way."""
    command = [sys.executable, "-m", "duetime", *words]
    done = subprocess.run(command, env=cloud.environment, capture_output=True, text=True, check=False)  # noqa: S603
    return done.returncode, done.stdout, done.stderr


@pytest.mark.long
def test_a_tenant_is_exported_and_erased_on_the_local_cloud(cloud, tmp_path):
    acme = cloud.scheduler(tenant_id="acme")
    later = acme.schedule(Note(text="later"), at=timedelta(days=9), idempotency_key="once")
    settled_one = acme.schedule(Note(text="now"), at=timedelta(0))
    other = cloud.scheduler(tenant_id="globex").schedule(Note(text="other"), at=timedelta(0))
    settled(cloud, settled_one)
    status, printed, error = run(cloud, "export", "acme", "--to", str(tmp_path / "acme"), "--json")
    assert status == 0, error
    exported = {json.loads(line)["sk"] for line in (tmp_path / "acme/actions.jsonl").read_text().splitlines()}
    assert exported == {later.id, settled_one.id}
    assert json.loads(printed)["items"]["idempotency-keys"] == 1

    status, printed, _ = run(cloud, "erase", "acme", "--reason", "contract ended")
    assert status == 0
    assert "acme would be erased; nothing has changed: add --yes" in printed
    assert acme.get(later.id)

    status, printed, error = run(cloud, "erase", "acme", "--reason", "contract ended", "--yes")
    assert status == 0, error
    assert "acme is erased" in printed
    assert acme.list().actions == ()
    timers = cloud.client("scheduler").list_schedules(GroupName=cloud.settings.made.schedule_group)
    assert timers["Schedules"] == []
    assert cloud.scheduler(tenant_id="globex").get(other.id)

    status, printed, error = duetime(cloud, "access", "audit", "verify", "--system")
    assert (status, printed.splitlines()[0]) == (0, "2 entries of system in 2 chains: no findings"), error
    status, printed, error = duetime(cloud, "access", "audit", "--system", "--json")
    assert status == 0, error
    assert [(item["operation"], item["target"]) for item in json.loads(printed)["items"]] == [
        ("erase", "tenant:acme"),
        ("export", "tenant:acme"),
    ]


@pytest.mark.long
def test_the_trail_of_a_tenant_goes_on_after_its_erase(cloud, tmp_path):
    def change():
        words = ("schedule", "note", "--payload", '{"text": "later"}', "--in", "9d", "--url", cloud.url)
        assert duetime(cloud, *words)[0] == 0

    verify = ("access", "audit", "verify", "--url", cloud.url, "--json")
    change()
    heads = tmp_path / "heads.json"
    heads.write_text(duetime(cloud, *verify)[1])
    assert run(cloud, "erase", "acme", "--reason", "contract ended", "--yes")[0] == 0
    change()
    status, printed, error = duetime(cloud, *verify, "--heads", str(heads))
    assert status == 0, error
    report = json.loads(printed)
    assert (report["entries"], report["findings"]) == (1, [])
    assert [head["number"] for head in report["heads"]] == [2]


def test_a_scheduler_of_the_local_cloud_has_the_quotas_of_its_settings(notes):
    settings = Settings(tenants="acme globex", quotas={"acme": "pending=0"})
    with EmulatedCloud(notes.app, EmulatedOptions(settings=settings)) as cloud:
        assert cloud.scheduler(tenant_id="globex").schedule(Note(text="later"), at=timedelta(days=9))
        with pytest.raises(QuotaExceeded):
            cloud.scheduler(tenant_id="acme").schedule(Note(text="later"), at=timedelta(days=9))


def test_bad_usage_names_the_cure(cloud):
    assert run(cloud, "erase", "acme", "--reason", " ", "--yes")[::2] == (
        2,
        "duetime: --reason has 0 characters; allowed are 1 to 500\n",
    )
    status, _, error = run(cloud, "erase", "system", "--reason", "x")
    assert status == 1
    assert "is reserved" in error
