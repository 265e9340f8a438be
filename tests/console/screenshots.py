"""Pictures of every screen, with the example app's own data.

``python -m tests.console.screenshots [DIRECTORY]``.

Each is taken at three widths, in light and in dark. With ``--readme`` the README's pictures are put into
docs/images.
"""

from __future__ import annotations

import argparse
import importlib
import shutil
import time
from pathlib import Path

from playwright.sync_api import Page

from duetime.local import LocalCloud, LocalOptions
from tests.console.browser import Reader, chromium

ROOT = Path(__file__).parents[2]
IN_README = {"overview-light.png": "overview.png", "action-dark.png": "action.png"}
SCREENS = {
    "overview": "#/",
    "jobs": "#/jobs",
    "job": "#/jobs/{job}",
    "job-editor": "#/job-editor",
    "actions": "#/actions",
    "action": "#/actions/{action}",
    "batches": "#/batches",
    "dead-letters": "#/dead-letters",
    "pauses": "#/pauses",
    "limits": "#/limits",
    "undelivered": "#/undelivered",
    "notifications": "#/notifications",
    "preferences": "#/preferences",
    "cadences": "#/cadences?cadence=30 2 * * *&tz=Europe/Paris&from=2027-03-25",
}
WIDTHS = {"": (1280, 900), "tablet-": (820, 1100), "phone-": (390, 844)}
SIZES = {f"{width}{scheme}": (size, scheme) for width, size in WIDTHS.items() for scheme in ("light", "dark")}


def main() -> None:
    """Take them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", nargs="?", default=".cache/screens", type=Path)
    parser.add_argument("--app", default="examples.shop:app")
    parser.add_argument("--job", default="shop-count-stock")
    parser.add_argument("--seconds", type=float, default=75, help="how long the app runs before")
    parser.add_argument("--readme", action="store_true", help="put the README's into docs/images")
    options = parser.parse_args()
    options.directory.mkdir(parents=True, exist_ok=True)
    module, _, name = options.app.partition(":")
    app = getattr(importlib.import_module(module), name)
    with LocalCloud(app, LocalOptions(mail_to="ops@acme.example")) as cloud, chromium() as browser:
        print(f"{options.app} runs for {options.seconds:g} s first")
        time.sleep(options.seconds)
        for look, ((width, height), scheme) in SIZES.items():
            reader = Reader(
                browser,
                cloud.url,
                color_scheme=scheme,
                viewport={"width": width, "height": height},
                device_scale_factor=1,
            )
            places = {"job": options.job, "action": _interesting(reader)}
            for screen, place in SCREENS.items():
                page = reader.go(place.format(**places))
                _settle(page)
                file = options.directory / f"{screen}-{look}.png"
                page.screenshot(path=file, full_page=not look.startswith(("light", "dark")))
                print(file)
            if reader.complaints:
                raise SystemExit("\n".join(reader.complaints))
            reader.close()
    if options.readme:
        images = ROOT / "docs" / "images"
        images.mkdir(exist_ok=True)
        for taken, picture in IN_README.items():
            shutil.copyfile(options.directory / taken, images / picture)


def _interesting(reader: Reader) -> str:
    """An action whose road has several attempts."""
    listed = reader.page.request.get(f"{reader.url}/api/v1/actions/query?limit=100").json()["items"]
    return max(listed, key=lambda action: (len(action["attempts"]), action["status"] == "executed"))["id"]


def _settle(page: Page) -> None:
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(600)


if __name__ == "__main__":
    main()
