"""The guarded change that each method of `RowChanges` makes, and its rendering for DynamoDB."""

from duetime.aws import conditions
from duetime.model.lease import Applied
from duetime.ports.action_store import RowChanges


class NotingChanges(RowChanges):
    """Applies each change to no back end, and notes it."""

    made = None

    def swap(self, read, after, guard):
        self.made = read, after, guard
        return Applied(after)


def swap_of(method, *args, **options):
    """Return the row as read, the row after it, and the guard of a change."""
    changes = NotingChanges()
    getattr(changes, method)(*args, **options)
    return changes.made


def update_of(method, *args, **options):
    """Return the conditional update of a change."""
    return conditions.swap(*swap_of(method, *args, **options))
