"""Back ends of a memory cloud with hooks, so that a test can make single calls fail."""

from dataclasses import replace
from functools import partial


class Hooked:
    """A back end; `hooks` replace its methods, and receive the method and its arguments."""

    def __init__(self, backend):
        self.backend, self.hooks = backend, {}

    def __getattr__(self, name):
        method = getattr(self.backend, name)
        return partial(self.hooks[name], method) if name in self.hooks else method


def hook_backend(memory, name, app):
    """Wrap a back end of a memory cloud, restart its steps and workers, and return the wrapped back end."""
    hooked = Hooked(getattr(memory.backends, name))
    memory.backends = replace(memory.backends, **{name: hooked})
    memory.wire(app)
    return hooked


def switch(memory, app, *, on):
    """Set the global switch, and restart the steps and workers of a memory cloud."""
    memory.settings = replace(memory.settings, enabled=on)
    memory.backends = replace(memory.backends, settings=memory.settings)
    memory.wire(app)
