"""One process of the chaos lane: `python -m tests.chaos.process WORDS`, with a JSON object of `Words`.

Each role hosts the deployed handler of a Lambda function, and stands for the service that invokes it. What a
service must remember, such as how far it has read a stream, is in a file: another process goes on there.
"""

import ctypes
import importlib
import json
import logging
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from duetime.settings import Settings

PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Words:
    """What a process is told to be.

    Attributes:
        role: a module of `roles`.
        name: of this process, in the records.
        directory: of the records and the places.
        seed: of its own choices.
        without: the guard of the protocol that this process lacks.
    """

    role: str
    name: str
    directory: str
    seed: str
    without: str = ""


def main() -> None:
    """Die with the parent, record every call, and serve the role for ever."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    words = Words(**json.loads(sys.argv[1]))
    from tests.chaos import guards, recording  # noqa: PLC0415 - the parent may die meanwhile

    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(message)s")
    settings = Settings.from_env()
    recording.record(Path(words.directory, "calls"), words.name, settings.clock_skew)
    if words.without:
        guards.remove(words.without)
    importlib.import_module(f"tests.chaos.roles.{words.role}").serve(settings, words)


if __name__ == "__main__":
    main()
