"""A recipe for Conan 2: `conan create .packaging/conan -s compiler.cppstd=20` packages the tree that this file is in, and builds test_package with it."""
import os
import subprocess
import sys

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain
from conan.tools.files import copy


class Dovetail(ConanFile):
    name = "dovetail"
    license = "BSL-1.0"
    description = "Static graphs of GPU compute and communication, planned by the compiler"
    package_type = "header-library"
    settings = "os", "compiler", "build_type", "arch"

    def _tree(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        script = os.path.join(self._tree(), "tests/support/version")
        self.version = subprocess.check_output([sys.executable, script], text=True).strip()

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "include/*", ".packaging/gdb/*"):
            copy(self, pattern, self._tree(), self.export_sources_folder)

    def requirements(self):
        self.requires("boost/[>=1.74]", options={"header_only": True})

    def validate(self):
        check_min_cppstd(self, 20)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.variables["DOVETAIL_BUILD_TESTS"] = False
        toolchain.variables["DOVETAIL_BUILD_EXAMPLES"] = False
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        CMake(self).configure()

    def package(self):
        CMake(self).install()

    def package_id(self):
        self.info.clear()

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        self.cpp_info.set_property("cmake_find_mode", "none")  # dovetail's own package, with its functions
        self.cpp_info.builddirs = ["share/cmake/dovetail"]
