"""The command line. Each command is an entry of `commands`; its module is imported when it runs."""

from duetime.cli.main import main

__all__ = ["main"]
