import logging

import pytest


def pytest_addoption(parser):
    """It is known where this directory is named, as ``make proof`` does."""
    parser.addoption("--seeds", type=int, default=20_000, help="how many worlds the long proof lives through")


@pytest.fixture(autouse=True)
def _quiet():
    """Thousands of faults are told in the story; in the log they would cost more than the simulation."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)
