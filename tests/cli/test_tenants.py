"""``duetime pause --of`` a tenant, and ``duetime tenants quotas``."""

import pytest

from duetime.embedded.embedded import Engine
from duetime.settings import Settings


def test_a_tenant_is_paused_listed_and_resumed(duetime):
    words = ("--reason", "its scripts loop", "--for", "2h")
    status, out, _ = duetime("pause", "--of", "acme", *words)
    assert status == 0
    assert out.startswith("paused tenant acme until ")
    assert out.endswith("it holds within five seconds\n")
    words = ("--reason", "an unpaid bill", "--spread", "30m", "--skip")
    assert duetime("pause", "--of", "acme", *words)[0] == 0
    assert duetime("pause", "--of", "acme", "--type", "remark", "--reason", "one type")[0] == 0
    assert duetime("pause", "--of", "globex", "--reason", "another tenant")[0] == 0
    found = [(pause["scope"], pause["name"], pause["skips"]) for pause in duetime.json("pauses")["items"]]
    assert sorted(found) == [
        ("tenant", "acme", False),
        ("tenant", "acme", True),
        ("tenant", "globex", False),
        ("type", "remark", False),
    ]
    resumed = duetime("resume", "--of", "acme")[1].splitlines()
    assert [line.split(";")[0] for line in resumed] == ["resumed tenant acme"] * 2
    assert duetime("resume", "--type", "remark", "--of", "globex")[0] == 1
    assert duetime("resume", "--type", "remark", "--of", "acme")[0] == 0
    status, _, error = duetime("resume", "--of", "acme")
    assert status == 1
    assert "no such pause is in force" in error


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
