from tests.draws import draws, pytest_generate_tests  # noqa: F401 - of the tests here
