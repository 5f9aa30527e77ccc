"""The package of acre for Conan 2: headers only. `conan create .` makes and tests it; docs/install.md shows its use."""
import pathlib
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy


class Acre(ConanFile):
    name = "acre"
    description = "Memory management for C++20: arenas, pools, heaps, and a command that advises which to use"
    license = "MIT"
    topics = ("memory", "allocator", "arena", "pool", "pmr")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    exports = "CMakeLists.txt"
    exports_sources = "include/*", "LICENSE"
    no_copy_source = True
    test_package_folder = "packaging/conan"

    def set_version(self):
        text = pathlib.Path(self.recipe_folder, "CMakeLists.txt").read_text(encoding="utf-8")
        self.version = re.search(r"project\(acre VERSION ([0-9.]+)", text)[1]

    def validate(self):
        if self.settings.get_safe("compiler.cppstd"):
            check_min_cppstd(self, 20)

    def package_id(self):
        self.info.clear()

    def package(self):
        copy(self, "LICENSE", self.source_folder, f"{self.package_folder}/licenses")
        copy(self, "*", f"{self.source_folder}/include", f"{self.package_folder}/include")

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
