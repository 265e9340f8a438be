"""``duetime completion SHELL``: prints the script with which a shell completes commands."""

from __future__ import annotations

import argparse

from duetime.cli.arguments import Commands


def add_parser(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "completion",
        help="print a script for a shell's completion",
        description='Print a script. bash, zsh: eval "$(duetime completion bash)".'
        " fish: duetime completion fish | source.",
    )
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the script of one shell."""
    from argcomplete.shell_integration import shellcode  # noqa: PLC0415 - `duetime --help` needs no argcomplete

    print(shellcode(["duetime"], shell=arguments.shell))
    return 0
