"""One browser for all tests of a file."""

import pytest
from live_page import browser


@pytest.fixture(scope="module")
def driver():
    with browser() as one:
        yield one
