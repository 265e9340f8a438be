import logging

import pytest


def pytest_addoption(parser):
    """Add the option; pytest has it if the command names this directory, as ``make proof`` does."""
    parser.addoption("--seeds", type=int, default=20_000, help="how many worlds the long proof lives through")


@pytest.fixture(autouse=True)
def _quiet():
    """Disable the log: the story has the faults, and logging them costs more than the simulation."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)
