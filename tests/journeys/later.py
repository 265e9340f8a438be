"""What a simulated cloud's handlers are given for a scheduler.

The cloud's own, which is there only when the cloud is.
"""

from duetime.testing import SimulatedCloud


class Later:
    """Does what the scheduler of a cloud does, once it has one."""

    def __init__(self):
        self._made = None

    def __getattr__(self, name):
        return getattr(self._made, name)

    def is_of(self, scheduler):
        self._made = scheduler


def cloud_of(app, named, resources=None, **options):
    """A cloud whose handlers schedule with its own scheduler, where they ask for `named`."""
    later = Later()
    cloud = SimulatedCloud(app, resources={**(resources or {}), named: later}, **options)
    later.is_of(cloud.scheduler)
    return cloud
