"""``duetime completion SHELL``: prints a script by which a shell completes commands, made from the parser itself."""

from __future__ import annotations

import argparse

from duetime.cli.arguments import Commands

SHELLS = ("bash", "zsh", "fish")


def add_parser(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "completion",
        help="print a script by which a shell completes commands",
        description='Print a script. bash, zsh: eval "$(duetime completion bash)". fish: duetime completion fish | source.',
    )
    parser.add_argument("shell", choices=SHELLS, help="which shell")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the script of one shell."""
    from duetime.cli.command_tree import commands_of  # noqa: PLC0415 - few ask for a script
    from duetime.cli.completion_scripts import SCRIPTS  # noqa: PLC0415 - as above
    from duetime.cli.main import parser  # noqa: PLC0415 - it is what has this command

    print(SCRIPTS[arguments.shell]([*commands_of(parser())]))
    return 0
