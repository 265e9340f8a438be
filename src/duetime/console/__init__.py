"""The console of a deployment and of the local cloud: the built page and its configuration.

The page's own source is in ``console/``; ``make setup`` builds it into `BUILT`, which is not committed.
"""

from duetime.console.site import BUILT, ConsoleConfig, FileResponse, SignIn, Site

__all__ = ["BUILT", "ConsoleConfig", "FileResponse", "SignIn", "Site"]
