"""The first hours of those who follow a guide: a crontab, an own CDK app, tests over moto, asyncio."""

import json
import re

import pytest

from tests.first_hours.pages import code, inline, section

pytestmark = pytest.mark.hours

CRONTAB = section("docs/guides/crontab.md")
LEAST_APP = section("docs/deploy.md").partition("<!-- least-app -->\n")[2]


@pytest.fixture
def nightly(folder):
    """The folder after step 2 of the guide, with a script of the old server."""
    handlers, *_ = code(CRONTAB, "py")
    script = folder.write("backup.sh", "#!/bin/sh\necho backed up >> backups.txt\n")
    script.chmod(0o755)
    folder.write("nightly/handlers.py", handlers.replace("/srv/backup.sh", str(script)))
    return folder


def test_a_crontabs_line_becomes_a_job_that_runs_the_script(nightly):
    nightly.install('pip install "duetime[local]"')
    [imports, preview, check, simulate, local, trigger, cost] = inline(CRONTAB, "duetime ")
    nightly.write("FILE", "30 2 * * * /srv/backup.sh\n")
    assert '@app.job(cron("30 2 * * *"), name="cron-backup")' in nightly.run(imports.partition(" > ")[0])
    assert "02:30" in nightly.run(preview)
    for command in (check, simulate):
        assert "db-backup" in nightly.run(command)
    with nightly.local_cloud(local) as terminal:
        assert "executed" in nightly.run(f"{trigger} --watch", **terminal)
        assert "db-backup" in nightly.run("duetime jobs list", **terminal)
    assert (nightly.directory / "backups.txt").read_text() == "backed up\n"
    assert float(json.loads(nightly.run(f"{cost} --json"))["dollars"]) < 10


def test_six_lines_of_cdk_synthesise_the_crontabs_job_with_the_small_profile(nightly):
    nightly.install('pip install "duetime[cdk]"')
    [least, *_] = code(LEAST_APP, "py")
    [small] = code(section("docs/deploy.md", "## The small profile"), "py")
    assert len([line for line in least.splitlines() if line]) <= 6
    nightly.write("app.py", least.replace(")])\n", ')], profile="small")\n', 1))
    assert 'profile="small"' in small
    nightly.write("cdk.json", '{"app": "python app.py"}')
    template = json.loads(nightly.synthesised("Nightly"))
    assert len(template["Resources"]) < 80
    assert "db-backup" in json.dumps(template)
    assert [*nightly.directory.glob("cdk.out/asset.*/nightly/handlers.py")]


def test_the_page_on_tests_is_a_test_module_that_passes(folder):
    """Its sections cover a transaction of one's own, the wait and the effect over moto."""
    [faults] = inline(section("docs/testing.md"), "pip install duetime-contract")
    folder.install(f'pip install "duetime[local]" pytest {faults.removeprefix("pip install ")}')
    folder.write("test_page.py", "\n".join(code(section("docs/testing.md"), "python")))
    settings = {"AWS_DEFAULT_REGION": "us-east-1"}
    output = folder.run("pytest -q -p no:cacheprovider test_page.py", **settings)
    assert re.search(r"^7 passed", output, re.MULTILINE), output


def test_an_async_server_schedules_twenty_orders_at_once(folder):
    [install] = inline(section("docs/guide.md", "## Under asyncio"), "duetime[")
    folder.install(f'pip install "{install}" "duetime[local]"')
    folder.write(
        "receipts.py",
        "from duetime import App, Payload\n\napp = App()\n\n\n"
        "class SendReceipt(Payload):\n    order: str\n\n\n"
        "@app.action\ndef send_receipt(payload: SendReceipt) -> None: ...\n",
    )
    [block] = code(section("docs/guide.md", "## Under asyncio"), "python")
    folder.write(
        "server.py",
        f"from datetime import timedelta\n\nfrom receipts import SendReceipt\n\n{block}\n\n"
        "async def main() -> None:\n"
        "    print(*await asyncio.gather(*map(place_order, range(20))))\n\n\nasyncio.run(main())\n",
    )
    with folder.local_cloud("duetime local --app receipts:app") as terminal:
        scheduled = folder.run("python server.py", **terminal).split()
        listed = json.loads(folder.run("duetime actions list --limit 100 --json", **terminal))
    assert len(scheduled) == 20
    assert {*scheduled} == {action["id"] for action in listed["items"]}
