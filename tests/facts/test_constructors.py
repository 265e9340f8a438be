"""The steps are assembled from few parts: a set of back ends is passed whole."""

import inspect
import pkgutil
from importlib import import_module

import pytest

from duetime import jobs, wakeups, worker
from duetime.wakeups.assembly import Steps
from tests.backends import backends

MOST = 6
_FACTS = {"bool", "int", "int | None", "str", "float", "timedelta", "datetime"}
"""Parameters that are no collaborators, by their annotations."""

_CLASSES = {
    found
    for room in (jobs, wakeups, worker)
    for module in pkgutil.iter_modules(room.__path__, f"{room.__name__}.")
    for _, found in inspect.getmembers(import_module(module.name), inspect.isclass)
    if found.__module__ == module.name and inspect.isfunction(vars(found).get("__init__"))
    and not hasattr(found, "__dataclass_fields__")
}  # fmt: skip


def test_no_constructor_of_a_step_takes_more_than_six_collaborators():
    assert len(_CLASSES) > MOST
    taken = {
        found.__qualname__: [kind for kind in found.__init__.__annotations__.values() if kind not in _FACTS]
        for found in _CLASSES
    }
    assert {name: kinds for name, kinds in taken.items() if len(kinds) - 1 > MOST} == {}


@pytest.mark.parametrize("name", Steps.__annotations__)
def test_each_step_is_made_by_the_names_of_its_parameters(name):
    assert type(getattr(Steps(backends()), name)).__name__ == Steps.__annotations__[name]
