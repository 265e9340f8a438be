import threading
import time
from dataclasses import dataclass

import boto3
import pytest

from duetime import Scheduler
from duetime.rehearsal import emulator
from tests.e2e.deployment import PREFIX, SENDER, Deployment
from tests.e2e.emulated import use_emulator

ASK_EVERY = 0.5
"""Seconds."""

POISON = "no message of ours"


def pytest_collection_modifyitems(items):
    """What needs no deployment comes first, while no deployed job ticks beside it.

    The drills have emulators of their own and mostly wait, so they run beside the others.
    """
    items.sort(key=lambda item: "bench" in getattr(item, "fixturenames", ()))
    for item in items:
        if item.get_closest_marker("e2e"):
            group = "drills" if item.get_closest_marker("drill") else "deployment"
            item.add_marker(pytest.mark.xdist_group(group))


@dataclass(frozen=True)
class Bench:
    """What a test does from outside of the deployed stack."""

    scheduler: Scheduler
    deployment: Deployment

    def client(self, service: str):
        return boto3.client(service)

    def timers(self) -> set[str]:
        """The names of the one-shots that are set."""
        return set(self._schedules("actions"))

    def job_schedules(self) -> dict[str, str]:
        """The schedules that wake jobs: name to state."""
        return self._schedules("jobs")

    def _schedules(self, group: str) -> dict[str, str]:
        listed = self.client("scheduler").list_schedules(GroupName=f"{PREFIX}{group}")
        return {row["Name"]: row["State"] for row in listed["Schedules"]}

    def settled(self, action_id: str, *, within: float):
        """The action, once it is final."""
        return self.eventually(lambda: self._final(action_id), within=within)

    def _final(self, action_id: str):
        action = self.scheduler.get(action_id)
        return action if action.status.is_final else None

    @staticmethod
    def eventually(look, *, within: float):
        """What `look` sees as soon as it sees something."""
        ends = time.monotonic() + within
        pause = threading.Event()
        while not (seen := look()):
            assert time.monotonic() < ends, f"not seen within {within} s"
            pause.wait(ASK_EVERY)
        return seen


@pytest.fixture(scope="session")
def directory(tmp_path_factory):
    """Every AWS client of this process, and of the CDK command line, knows the emulator only."""
    made = tmp_path_factory.mktemp("e2e")
    with pytest.MonkeyPatch.context() as patch, emulator.running(made) as endpoint:
        use_emulator(patch, endpoint)
        yield made


@pytest.fixture(scope="session")
def bench(directory):
    """A deployed stack, from `cdk bootstrap` to `cdk destroy`."""
    boto3.client("ses").verify_email_identity(EmailAddress=SENDER)
    deployment = Deployment(directory)
    deployment.bootstrap()
    outputs = deployment.deploy()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DUETIME_ACTIONS_TABLE", outputs["ActionsTable"])
        patch.setenv("DUETIME_JOBS_TABLE", outputs["JobsTable"])
        bench = Bench(Scheduler.from_env(tenant_id="acme", actor="e2e"), deployment)
        yield bench
        _assert_nothing_failed(bench)
    deployment.destroy()
    _assert_nothing_is_left()


def _assert_nothing_failed(bench):
    things = [row for row in bench.scheduler.undelivered.list() if row.body != POISON]
    assert not things, f"wakes or passes failed for good: {things}"


def _assert_nothing_is_left():
    left = {
        "tables": boto3.client("dynamodb").list_tables()["TableNames"],
        "queues": boto3.client("sqs").list_queues(QueueNamePrefix=PREFIX).get("QueueUrls", []),
        "user pools": boto3.client("cognito-idp").list_user_pools(MaxResults=10)["UserPools"],
        "APIs": boto3.client("apigateway").get_rest_apis()["items"],
        "functions": boto3.client("lambda").list_functions()["Functions"],
        "rules": boto3.client("events").list_rules(NamePrefix=PREFIX)["Rules"],
        "topics": boto3.client("sns").list_topics()["Topics"],
        "mail templates": boto3.client("ses").list_templates()["TemplatesMetadata"],
        "groups": boto3.client("scheduler").list_schedule_groups(NamePrefix=PREFIX)["ScheduleGroups"],
    }
    assert not any(left.values()), f"left after cdk destroy: {left}"
