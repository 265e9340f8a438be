import logging

import pytest


@pytest.fixture(autouse=True)
def _quiet():
    """Thousands of faults are told in the story; in the log they would cost more than the simulation."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)
