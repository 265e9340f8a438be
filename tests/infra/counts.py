"""Count the resources of small deployments and the first settings: ``python -m tests.infra.counts``."""

import sys

from duetime.cdk import Deployment, Handlers
from duetime.cdk.setting_groups import groups
from tests.infra.synthesis import ROOT, Synthesised, stack

MOST_RESOURCES, MOST_SETTINGS = 79, 12
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


def first_settings() -> int:
    return len(groups()["Begin"])


if __name__ == "__main__":
    counted = [
        (f"resources of {app}, small", resources(app, is_bundled=True), MOST_RESOURCES) for app in APPS
    ]
    counted.append(("settings to begin with", first_settings(), MOST_SETTINGS))
    for what, count, most in counted:
        sys.stdout.write(f"{what}: {count}, at most {most}\n")
    sys.exit(any(count > most for _, count, most in counted))
