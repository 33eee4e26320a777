"""The cases of `run` that get dovetail by a package manager, by pkg-config or as one header. A case whose tool is not on this machine
says so. Those of managers only show that the headers are found and of the right version: they compile no launch layer."""
import functools
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

from project import call, cmake, compiler, configure, failure, here, installed, not_run, root, says

recipes = root / ".packaging"
probe = recipes / "conan" / "test_package" / "version.cpp"  # takes the version that its headers should have


@functools.cache
def version():
    return call(sys.executable, root / "tests/support/version").strip()


def needs(tool):
    if not shutil.which(tool):
        raise not_run(f"no {tool} on this machine")


def check_version(program):
    call(program, version())
    call(program, version() + "9", fails=True)


def build_version(build):
    call(cmake, "--build", build)
    check_version(build / "version")


@functools.cache
def repository(top):
    """The tree as a git repository with the tag of a release: its address and the tag."""
    needs("git")
    copy = top / "repository"
    shutil.copytree(root, copy, ignore=shutil.ignore_patterns("build*", ".git", "__pycache__", "fail", "golden"))
    git = ["git", "-C", copy, "-c", "user.name=a", "-c", "user.email=a@example.com"]
    call(*git, "init", "--quiet")
    call(*git, "add", "--all")
    call(*git, "commit", "--quiet", "--message", "All")
    call(*git, "tag", f"v{version()}")
    return copy.as_uri(), f"v{version()}"


def fetch_content(work, prefix):
    address, tag = repository(work.parent)
    configure("version", work, f"-DREPOSITORY={address}", f"-DTAG={tag}")
    build_version(work)


def cpm(work, prefix):
    """The script is that of the environment variable CPM_SCRIPT, or it is downloaded."""
    script = os.environ.get("CPM_SCRIPT", work / "CPM.cmake")
    if not os.path.exists(script):
        address = "https://github.com/cpm-cmake/CPM.cmake/releases/latest/download/CPM.cmake"
        (work / "get.cmake").write_text(f'file(DOWNLOAD {address} "{script}" TIMEOUT 20 STATUS status)\nmessage("${{status}}")\n')
        if not call(cmake, "-P", work / "get.cmake").startswith("0;"):
            raise not_run("no CPM.cmake: CPM_SCRIPT does not name it, and it cannot be downloaded")
    address, tag = repository(work.parent)
    configure("version", work / "build", f"-DCPM={script}", f"-DREPOSITORY={address}", f"-DTAG={tag}")
    build_version(work / "build")


def meson_wrap(work, prefix):
    for tool in ("meson", "ninja"):
        needs(tool)
    address, tag = repository(work.parent)
    project = work / "project"
    shutil.copytree(here / "version", project)
    shutil.copy(probe, project)
    (project / "subprojects").mkdir()
    wrap = re.sub("(?m)^url = .*", f"url = {address}", (recipes / "dovetail.wrap").read_text())
    (project / "subprojects" / "dovetail.wrap").write_text(wrap)
    call("env", f"CXX={compiler}", "meson", "setup", work / "build", project)
    call("ninja", "-C", work / "build")
    check_version(work / "build" / "version")
    if shutil.which("pkg-config"):
        call("meson", "configure", work / "build", f"-Dprefix={work / 'installed'}")
        call("meson", "install", "-C", work / "build")
        check_pkg_config(work, work / "installed")


def check_pkg_config(work, prefix):
    """A compiler that knows only what dovetail.pc says."""
    pkg_config = ["env", f"PKG_CONFIG_PATH={prefix / 'share/pkgconfig'}", "pkg-config"]
    call(*pkg_config, "--validate", "--print-errors", "dovetail")
    if call(*pkg_config, "--modversion", "dovetail").strip() != version():
        raise failure("dovetail.pc has another version")
    flags = call(*pkg_config, "--cflags", "--libs", "dovetail").split()
    if "-pthread" not in flags:
        raise failure(f"dovetail.pc says nothing of threads: {flags}")
    call(compiler, "-std=c++20", probe, *flags, "-o", work / "by_pkg_config")
    check_version(work / "by_pkg_config")


def pkg_config(work, prefix):
    needs("pkg-config")
    check_pkg_config(work, prefix)


def vcpkg(work, prefix):
    """The port in vcpkg, where that is on this machine: from its own registry but for Boost, and without network. The port alone before,
    as a script beside stand-ins for vcpkg's functions."""
    port, packages = recipes / "vcpkg" / "dovetail", work / "packages"
    call(cmake, f"-DPORT_FOLDER={port}", f"-DCURRENT_PACKAGES_DIR={packages}", f"-DBUILD={work / 'dovetail'}",
         "-P", here / "vcpkg/stand_in.cmake")
    if not (packages / "share/dovetail/copyright").is_file() or (packages / "share/licenses").exists() or (packages / "debug").exists():
        raise failure("the port leaves files where vcpkg does not want them")
    configure("version", work / "user", installed(packages))
    build_version(work / "user")
    if not shutil.which("vcpkg"):
        raise not_run("vcpkg itself, which is not on this machine; its port ran beside stand-ins")
    tree, ports = work / "installed", f"--overlay-ports={port.parent}"
    said = call("env", "VCPKG_FORCE_SYSTEM_BINARIES=1", "vcpkg", "install", "dovetail", ports, f"--overlay-ports={here / 'vcpkg'}",
                "--classic", f"--x-install-root={tree}", f"--x-packages-root={work / 'built'}", f"--x-buildtrees-root={work / 'trees'}",
                f"--downloads-root={work / 'downloads'}", "--binarysource=clear")
    says(said, "find_package(dovetail CONFIG REQUIRED)", "COMPONENTS cuda")  # the port's own words for the user
    if "warning: " in said:
        raise failure(f"vcpkg warns of the port:\n{said}")
    top = pathlib.Path(os.environ.get("VCPKG_ROOT") or pathlib.Path(shutil.which("vcpkg")).resolve().parent)
    configure("version", work / "by_toolchain", f"-DCMAKE_TOOLCHAIN_FILE={top / 'scripts/buildsystems/vcpkg.cmake'}",
              f"-DVCPKG_INSTALLED_DIR={tree}", "-DVCPKG_MANIFEST_MODE=OFF")
    build_version(work / "by_toolchain")


def conan_command():
    """Conan of this machine, or of PyPI, put under build/."""
    if shutil.which("conan"):
        return ["conan"]
    folder = root / "build" / "conan"
    python = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries=1", f"--target={folder}", "conan==2.*"]
    if not folder.exists() and (not importlib.util.find_spec("pip") or subprocess.run(python, capture_output=True, timeout=120).returncode != 0):
        shutil.rmtree(folder, ignore_errors=True)
        raise not_run("no Conan on this machine, and PyPI does not bring it")
    return ["env", f"PYTHONPATH={folder}", sys.executable, folder / "bin" / "conan"]


def conan(work, prefix):
    """The recipe and its test package, with the Boost of this machine and no network."""
    command = conan_command()
    os.environ["CONAN_HOME"] = str(work / "home")
    call(*command, "profile", "detect", "--name", "here")
    (work / "profile").write_text("include(here)\n[settings]\ncompiler.cppstd=20\nbuild_type=Release\n[platform_requires]\nboost/1.81.0\n"
                                  f"[conf]\ntools.cmake.cmake_layout:test_folder={work / 'build'}\ntools.cmake.cmaketoolchain:user_presets=\n"
                                  "tools.cmake.cmaketoolchain:generator=Ninja\n")
    call(*command, "create", recipes / "conan", "-s", "compiler.cppstd=20", f"-pr:a={work / 'profile'}", "--no-remote")


def one_header(work, *options):
    call(sys.executable, recipes / "single_header", work / "dovetail.hpp", *options)
    first = (work / "dovetail.hpp").read_text().splitlines()[:4]
    if version() not in first[0] or "Boost Software License" not in "".join(first):
        raise failure(f"the single header begins with {first}")


def with_one_header(source):
    """A program with the single header in place of those that it is made of."""
    return '#include "dovetail.hpp"\n' + re.sub("#include <dovetail/.*\n", "", source.read_text())


def single_header(work, prefix):
    """The first program of the README, with the single header and nothing else."""
    one_header(work)
    (work / "first.cpp").write_text(with_one_header(root / "examples" / "00_first.cpp"))
    call(compiler, "-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "first.cpp", "-pthread", "-o", "first", folder=work)
    if call("./first", folder=work) != "262144 elements of 128\n":
        raise failure("the program prints something else with the single header")


def cuda_single_header(work, prefix):
    """Both passes of nvcc's front end."""
    one_header(work, "--cuda")
    (work / "engine.cu").write_text(with_one_header(here / "cuda" / "engine.cu"))
    call(compiler, "--cuda", "--fdevice-syntax-only", "-arch=sm_90", "-Werror=all-warnings", "-std=c++20", "-o", os.devnull, "engine.cu", folder=work)


cases = [pkg_config, fetch_content, cpm, meson_wrap, vcpkg, conan, single_header]
