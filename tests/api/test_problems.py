"""Problem responses of rejected requests and of internal errors."""

import ast
import inspect
import logging
from pathlib import Path

import pytest

from duetime import errors
from duetime.api import errors as refusals
from duetime.api.problems import PROBLEMS, problem_of
from duetime.cadence import errors as cadence_errors
from duetime.errors import BackendMisconfigured, BackendUnavailable, DuetimeError
from tests.cases import for_each

ROOT = Path(__file__).parents[2]
SECRET = "arn:aws:dynamodb:eu-west-1:123456789012:table/duetime-actions"


class Broken:
    """A back end that fails whatever it is asked."""

    def __init__(self, error):
        self.error = error

    def __getattr__(self, name):
        def fail(*args, **more):
            raise self.error

        return fail


SAMPLES = ("schedule", "query", "get", "cancel", "reschedule", "redrive")


@pytest.mark.parametrize("sample", SAMPLES)
def test_an_unavailable_store_is_a_503_with_retry_after(call_over, sample):
    call = call_over(Broken(BackendUnavailable("DynamoDB", SECRET)))
    response = call(sample)
    assert (response.status, response.code) == (503, "unavailable")
    assert response.headers["Retry-After"] == "5"
    assert SECRET not in response.text


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_misconfigured_store_is_logged_for_operators_and_hidden_from_clients(call_over, sample, caplog):
    call = call_over(Broken(BackendMisconfigured("DynamoDB", SECRET, "Deploy the stack")))
    response = call(sample)
    assert (response.status, response.code) == (500, "misconfigured")
    assert SECRET not in response.text
    assert SECRET in caplog.records[-1].reason


def test_an_internal_error_is_logged_in_full_and_its_response_has_no_traceback(call_over, caplog):
    call = call_over(Broken(ZeroDivisionError(SECRET)))
    with caplog.at_level(logging.ERROR):
        response = call("get")
    assert (response.status, response.code) == (500, "error")
    assert SECRET not in response.text
    assert "Traceback" not in response.text
    assert caplog.records[-1].exc_info[0] is ZeroDivisionError


@for_each(
    "error",
    [
        item
        for module in (errors, refusals, cadence_errors)
        for _, item in inspect.getmembers(module, inspect.isclass)
        if issubclass(item, DuetimeError)
    ],
)
def test_every_error_has_its_status_and_title_in_the_table(error):
    assert error.code in PROBLEMS


def test_every_code_that_an_error_is_raised_with_is_in_the_table():
    """The codes are finer than the classes: they stand where an error is made."""
    codes = set[str]()
    for path in (ROOT / "src/duetime").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            match node:
                case ast.Call(func=ast.Name("NotFound"), args=[ast.Constant(str(kind)), *_]):
                    codes.add(f"{kind.replace(' ', '-')}-not-found")
                case ast.Call(func=ast.Name("RequestError"), args=[ast.Constant(str(code)), *_]):
                    codes.add(code)
                case ast.Call(func=ast.Name("StateConflict"), keywords=[*_, ast.keyword("code", code)]):
                    codes.add(ast.literal_eval(code))
                case ast.Assign(targets=[ast.Attribute(attr="code")], value=ast.Constant(str(code))):
                    codes.add(code)
    assert codes > {"action-not-found", "malformed-body", "job-conflict", "type-not-hosted"}
    assert codes <= PROBLEMS.keys()


def test_an_unmapped_error_is_a_server_error():
    class Unheard(DuetimeError):
        code = "unheard"

    response = problem_of(Unheard(SECRET))
    assert (response.status_code, '"urn:duetime:problem:error"' in response.body) == (500, True)
    assert SECRET not in response.body
