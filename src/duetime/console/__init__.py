"""The console as a deployment and the local cloud serve it: the built page, and what it must know of where it is.

The page's own source is in ``console/``; ``make setup`` builds it into `BUILT`, which is not committed.
"""

from duetime.console.config import ConsoleConfig, SignIn
from duetime.console.site import BUILT, FileResponse, Site

__all__ = ["BUILT", "ConsoleConfig", "FileResponse", "SignIn", "Site"]
