"""What the cases of `run` share: the compiler, and commands that configure, build and run a user's project."""
import os
import pathlib
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
root = here.parents[1]
compiler = sys.argv[1]
nvcc = os.path.basename(compiler) == "nvcc"
cmake = os.environ.get("CMAKE", "cmake")
os.environ.pop("BOOST_ROOT", None)
os.environ["CMAKE_GENERATOR"] = "Ninja"  # make may not be there
only_headers = ["-DDOVETAIL_BUILD_TESTS=OFF", "-DDOVETAIL_BUILD_EXAMPLES=OFF"]
languages = ["-DCMAKE_CUDA_COMPILER=" + compiler, "-DCMAKE_CUDA_ARCHITECTURES=90"] if nvcc else ["-DCMAKE_CXX_COMPILER=" + compiler]


class failure(Exception):
    pass


class not_run(Exception):
    """Says what this machine lacks for a case."""


def call(*words, folder=None, fails=False):
    """What a command prints; a failure where it ends otherwise than it should."""
    words = [str(w) for w in words]
    done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
    if (done.returncode != 0) != fails:
        raise failure(f"{'does not fail' if fails else 'fails'}: {' '.join(words)}\n{done.stdout[-3000:]}")
    return done.stdout


def says(text, *parts):
    squeezed = " ".join(text.split())  # CMake breaks lines
    for part in parts:
        if part not in squeezed:
            raise failure(f"does not say `{part}`:\n{text[-3000:]}")


def configure(project, build, *settings, fails=False):
    """Configures a project of this folder, from scratch but for what CMake knows about the compilers."""
    (build / "CMakeCache.txt").unlink(missing_ok=True)
    return call(cmake, "-S", here / project, "-B", build, *languages, *settings, fails=fails)


def build_and_run(build, target="consumer", run=True):
    call(cmake, "--build", build, "--target", target)
    if run:
        call(build / target)


def installed(prefix):
    return f"-DCMAKE_PREFIX_PATH={prefix}"
