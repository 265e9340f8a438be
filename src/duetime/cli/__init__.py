"""The command line. A command is a module with ``add_parser``; what it needs beyond that is imported when it runs."""

from duetime.cli.main import main

__all__ = ["main"]
