"""Counts the resources of small deployments."""

from duetime.cdk import Deployment, Handlers
from tests.infra.synthesis import ROOT, Synthesised, stack

APPS = ("examples.greeting:app", "tests.infra.apps.crontab:app")


def resources(app: str, *, is_bundled: bool = False) -> int:
    """The resources of an app with the profile small and a recipient of alarms."""
    made, _ = stack(
        handlers=[Handlers(app=app, source=ROOT)],
        profile="small",
        deployment=Deployment(alarm_email="ops@acme.example"),
        is_bundled=is_bundled,
    )
    return len(Synthesised.from_stack(made).resources)
