"""Run a command of a contributor: ``python -m tools NAME``. Without a name, list them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

from tools.commands import COMMANDS, ROOT, Command, ProgramMissing, check_programs


def main(words: Sequence[str]) -> int:
    """Run the named command with the words after it; return its exit code."""
    name, *rest = words or ("",)
    command = COMMANDS.get(name)
    if command is None:
        sys.stdout.write(listed())
        return int(bool(name))
    sys.stdout.write(f"{name}: {command.what}; about {command.takes} on two idle cores\n")
    sys.stdout.flush()
    try:
        check_programs(command.needs)
    except ProgramMissing as missing:
        sys.stderr.write(f"{name}: {missing}\n")
        return 1
    return run(command, rest)


def run(command: Command, words: Sequence[str]) -> int:
    """Run a command's steps up to the first that fails; the last one gets the further words."""
    environment = dict(os.environ)  # noqa: TID251 - the programs inherit it
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # the tests start many Pythons
    for number, step in enumerate(command.steps, 1):
        further = words if number == len(command.steps) else ()
        done = subprocess.run([*step, *further], cwd=ROOT, env=environment, check=False)  # noqa: S603
        if done.returncode:
            return done.returncode
    return 0


def listed() -> str:
    """Return each command with what it does and how long it takes."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name:{width}}  {command.what} ({command.takes})" for name, command in COMMANDS.items()]
    return "\n".join(["python -m tools NAME", *lines, ""])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
