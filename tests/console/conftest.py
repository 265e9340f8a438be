"""A local cloud with the console on it, and readers before it."""

from __future__ import annotations

import pytest

from duetime.local import LocalCloud, LocalOptions
from tests.console.browser import Reader, chromium
from tests.console.shop import app


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/console/" in item.path.as_posix():
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def cloud():
    with LocalCloud(app, LocalOptions()) as started:
        yield started


@pytest.fixture
def reader_of(browser):
    """Return a function that opens a URL as a user, in a new browser."""
    readers = []

    def make(url, **context):
        reader = Reader(browser, url, **context)
        readers.append(reader)
        return reader

    yield make
    complaints = [complaint for reader in readers for complaint in reader.complaints]
    for reader in readers:
        reader.close()
    assert complaints == []


@pytest.fixture
def reader(reader_of, cloud):
    """An admin of acme."""
    return reader_of(cloud.url)
