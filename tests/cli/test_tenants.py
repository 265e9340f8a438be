"""``duetime tenants``: pause, list, resume, quotas."""

import pytest

from duetime.embedded.embedded import Engine
from duetime.settings import Settings


def test_pause_list_and_resume(duetime):
    assert duetime("tenants", "list")[1] == "no tenant is paused\n"
    status, out, _ = duetime("tenants", "pause", "acme", "--reason", "its scripts loop", "--for", "2h")
    assert status == 0
    assert out.startswith("paused tenant acme until ")
    assert out.endswith("it holds within five seconds\n")
    words = ("--reason", "an unpaid bill", "--spread", "30m", "--skip")
    assert duetime("tenants", "pause", "acme", *words)[0] == 0
    listed = duetime("tenants", "list")[1].splitlines()
    assert [line.split()[0] for line in listed] == ["TENANT", "acme", "acme"]
    assert listed[1].endswith("its scripts loop")
    assert listed[2].endswith("an unpaid bill")
    assert [(pause["name"], pause["skips"]) for pause in duetime.json("pauses")["items"]] == [
        ("acme", False),
        ("acme", True),
    ]
    resumed = duetime("tenants", "resume", "acme")[1].splitlines()
    assert [line.split(";")[0] for line in resumed] == ["resumed tenant acme"] * 2
    assert duetime("tenants", "list")[1] == "no tenant is paused\n"
    status, _, error = duetime("tenants", "resume", "acme")
    assert status == 1
    assert "no such pause is in force" in error


def test_a_reason_is_required(duetime):
    status, _, error = duetime("tenants", "pause", "acme")
    assert status == 2
    assert "--reason" in error


def test_without_quotas_that_is_printed(duetime):
    assert duetime("tenants", "quotas")[:2] == (0, "acme has no quotas\n")


class TestQuotas:
    @pytest.fixture
    def engine(self, app):
        quotas = {"acme": "jobs=3 requests=50", "globex": "jobs=7"}
        engine = Engine(app, Settings(quotas=quotas))
        engine.start()
        yield engine
        engine.stop()

    def test_the_quotas_of_a_tenant_have_what_it_uses(self, duetime):
        status, printed, errors = duetime("tenants", "quotas")
        assert (status, errors) == (0, "")
        heading, heads, *rows = (line.split() for line in printed.splitlines())
        assert (heading, heads) == (["quotas", "of", "acme"], ["QUOTA", "USED", "LIMIT"])
        assert ["jobs", "0", "3"] in rows
        assert ["requests", "not", "counted", "50"] in rows
        others = duetime("tenants", "quotas", "globex")[1].splitlines()
        assert ["jobs", "0", "7"] in [line.split() for line in others]
        assert duetime.json("tenants", "quotas", "globex")["tenant_id"] == "globex"
