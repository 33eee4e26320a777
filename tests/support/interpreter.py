"""The Python that has the packages of a test: the one that runs this, or the environment build/python, which the phase `python` of
tests/run makes."""
import pathlib
import subprocess
import sys

own = pathlib.Path(__file__).resolve().parents[2] / "build" / "python" / "bin" / "python"


def imports(python, modules):
    return subprocess.run([python, "-c", f"import {', '.join(modules)}"], stderr=subprocess.DEVNULL).returncode == 0


def with_packages(title, *modules):
    """Its path; if there is none, says that `title` is not here, and ends the test as one that was not run."""
    for python in (sys.executable, own):
        if pathlib.Path(python).is_file() and imports(python, modules):
            return str(python)
    print(f"not run: no {title} on this machine")
    sys.exit(77)
