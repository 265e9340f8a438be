"""A pytest plugin: each worker of xdist stays on one processor.

A simulation hands over between its threads a million times, of which never two run at once. Where both ends
of it are on one processor, that takes two thirds of the time.
"""

import os


def pytest_configure(config):
    worker = getattr(config, "workerinput", {}).get("workerid", "")
    if worker and hasattr(os, "sched_setaffinity"):
        usable = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {usable[int(worker.removeprefix("gw")) % len(usable)]})
