"""Count resources of small deployments, first settings and commands: ``python -m tests.infra.counts``."""

import sys

from duetime.cdk import Deployment, Handlers
from duetime.cdk.setting_groups import groups
from duetime.cli.main import parser
from tests.cli.command_tree import commands_of
from tests.infra.synthesis import ROOT, Synthesised, stack

MOST_RESOURCES, MOST_SETTINGS, MOST_COMMANDS = 79, 12, 15
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


def first_commands() -> int:
    top, *_ = commands_of(parser())
    return len(top.commands)


if __name__ == "__main__":
    counted = [
        (f"resources of {app}, small", resources(app, is_bundled=True), MOST_RESOURCES) for app in APPS
    ]
    counted.append(("settings to begin with", first_settings(), MOST_SETTINGS))
    counted.append(("commands at the top level", first_commands(), MOST_COMMANDS))
    for what, count, most in counted:
        sys.stdout.write(f"{what}: {count}, at most {most}\n")
    sys.exit(any(count > most for _, count, most in counted))
