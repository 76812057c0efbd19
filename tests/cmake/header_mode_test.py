# SPDX-License-Identifier: Apache-2.0
"""The header mode in users' builds: one project with every kind of target, configured in each way in which a project takes
kopt. No GPU, no CUDA: the .cu files are C++ for the host, so the programs run and say which text they were built from.

header_mode_test.py WAY    one of WAYS"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from header_lock import Lock

SOURCE = pathlib.Path(os.environ["KOPT_SOURCE_DIR"])
BIN = pathlib.Path(os.environ["KOPT_BIN_DIR"])
WAYS = {  # generator, how the project gets kopt_tune_kernels()
    "package": ("Ninja", "find_package(kopt REQUIRED CONFIG)"),
    "installed": ("Ninja", "find_package(kopt REQUIRED CONFIG)"),
    "subdirectory": ("Ninja Multi-Config", f'add_subdirectory("{SOURCE}" kopt-source EXCLUDE_FROM_ALL)'),
    "fetchcontent": ("Unix Makefiles", f'include(FetchContent)\nFetchContent_Declare(kopt SOURCE_DIR "{SOURCE}")\n'
                                       "FetchContent_MakeAvailable(kopt)"),
    "vendored": ("Ninja", "include(kopt/kopt.cmake)"),
}

FILES = {
    "CMakeLists.txt": """cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
@GET_KOPT@
set(CMAKE_CXX_STANDARD 17)
# What stands here for nvcc.
function(host_kernels target)
  foreach(source IN LISTS ARGN)
    set_source_files_properties("${source}" PROPERTIES LANGUAGE CXX)
  endforeach()
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/include")
  kopt_tune_kernels(TARGET ${target} MODE header ARCHS sm_90)
endfunction()
add_custom_command(OUTPUT generated.cu COMMAND ${CMAKE_COMMAND} -E copy "${PROJECT_SOURCE_DIR}/generated.in" generated.cu
  DEPENDS generated.in VERBATIM)
add_library(static_one STATIC static.cu)
host_kernels(static_one static.cu)
add_library(shared_one SHARED shared.cu)
host_kernels(shared_one shared.cu)
add_library(object_one OBJECT object.cu)
host_kernels(object_one object.cu)
add_library(generated_one STATIC generated.cu)
host_kernels(generated_one generated.cu)
add_library(header_one STATIC first_user.cu)
host_kernels(header_one first_user.cu)
add_library(header_two STATIC second_user.cu)
host_kernels(header_two second_user.cu)
add_library(unity_one STATIC unity_a.cu unity_b.cu)
set_target_properties(unity_one PROPERTIES UNITY_BUILD ON)
host_kernels(unity_one unity_a.cu unity_b.cu)
# A launcher that the user has.
set_target_properties(shared_one PROPERTIES CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND};-E;env")
add_library(untouched STATIC untouched.cu)
host_kernels(untouched untouched.cu)
add_subdirectory("der Ordner mit Ümlaut")
add_executable(app main.cpp)
target_link_libraries(app PRIVATE static_one shared_one object_one generated_one header_one header_two untouched folder_one unity_one)
""",
    "main.cpp": """#include <cstdio>
int static_kernel(); int shared_kernel(); int object_kernel(); int generated_kernel(); int folder_kernel();
int first_user(); int second_user(); int untouched(); int unity_kernel(); const char *static_file();
int main() {
  std::printf("static %d shared %d object %d generated %d first %d second %d folder %d unity %d untouched %d\\n%s\\n", static_kernel(),
              shared_kernel(), object_kernel(), generated_kernel(), first_user(), second_user(), folder_kernel(), unity_kernel(), untouched(),
              static_file());
}
""",
    # A line that is edited within; an include of its own folder; __FILE__.
    "static.cu": """#include "beside.h"
constexpr int TILE = 1;
int static_kernel() { return TILE + BESIDE; }
const char *static_file() { return __FILE__; }
""",
    "beside.h": "#pragma once\n#define BESIDE 0\n",
    # Whole lines, with more lines than before; what follows is on its own lines again.
    "shared.cu": """// a comment
int shared_kernel() {
  return 1;
}
int shared_after() { return __LINE__; }
""",
    "object.cu": "int object_kernel() {\n  return 1;\n}\n",
    "generated.in": "int generated_kernel() {\n  return 1;\n}\n",
    "first_user.cu": '#include "between.h"\nint first_user() { return header_kernel<1>(); }\n',
    "second_user.cu": '#include <between.h>\nint second_user() { return header_kernel<1>(); }\n',
    "include/between.h": '#pragma once\n#include "kernel.cuh"\n',
    "include/kernel.cuh": """#pragma once
#include "helper.h"
template <int N> static int header_kernel() {
  return N * helper();
}
""",
    "include/helper.h": "#pragma once\ninline int helper() { return 1; }\n",
    "unity_a.cu": "int unity_kernel() {\n  return 1;\n}\n",
    "unity_b.cu": "int unity_other() { return 1; }\n",
    "untouched.cu": "int untouched() { return 1; }\n",
    "der Ordner mit Ümlaut/CMakeLists.txt": "add_library(folder_one STATIC kernel.cu)\nhost_kernels(folder_one kernel.cu)\n",
    "der Ordner mit Ümlaut/kernel.cu": "int folder_kernel() {\n  return 1;\n}\n",
}
TUNED = "static 2 shared 2 object 2 generated 2 first 2 second 2 folder 2 unity 2 untouched 1"


def kernel(name, value):
    return f"int {name}() {{\n  return {value};\n}}"


class HeaderMode(unittest.TestCase):
    way = "package"

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="kopt header ")
        self.addCleanup(folder.cleanup)
        self.project = pathlib.Path(folder.name).resolve() / "project"
        self.build = self.project / "build"
        self.generator, get = WAYS[self.way]
        for name, text in FILES.items():
            path = self.project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("@GET_KOPT@", get))
        self.args = []
        if self.way == "package":
            self.args = [f"-Dkopt_ROOT={BIN.parent}"]
        elif self.way == "installed":
            prefix = pathlib.Path(folder.name).resolve() / "moved"
            self.run_ok("cmake", "--install", BIN.parent, "--component", "development", "--prefix", prefix)
            self.args = [f"-Dkopt_ROOT={prefix}"]
        elif self.way == "vendored":
            (self.project / "kopt").mkdir()
            for name in ("kopt.cmake", "kopt-overlay.cpp", "kopt.h"):
                shutil.copy(BIN.parent / "headermode" / name, self.project / "kopt" / name)
            self.args = ["-DKOPT_EXECUTABLE=KOPT_EXECUTABLE-NOTFOUND"]
        # One shows that the program compiles in a user's project, which takes longer than all the rest.
        if self.way != "vendored" or "errors" in self.id():
            self.args += [f"-DKOPT_OVERLAY_EXECUTABLE={BIN}/kopt-overlay"]

    def run_ok(self, *command, fails=False):
        done = subprocess.run([str(word) for word in command], cwd=self.project if self.project.exists() else None,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode != 0, fails, done.stdout)
        return done.stdout

    def configure(self, *args):
        return self.run_ok("cmake", "-S", ".", "-B", self.build, "-G", self.generator, *self.args, *args)

    def make(self, fails=False):
        return self.run_ok("cmake", "--build", self.build, "-j", "2", fails=fails)

    def app(self):
        return self.run_ok(next(path for path in (self.build / "app", self.build / "Debug" / "app") if path.exists()))

    def objects(self):
        return {path.name: path.stat().st_mtime_ns for path in self.build.rglob("*.o") if "kopt" not in path.parts[-4:]}

    def rebuilt(self, before):
        return sorted(name for name, time in self.objects().items() if before.get(name) != time)

    def write(self, name, text):
        (self.project / name).write_text(text)

    def lock(self):
        lock = Lock(self.project, self.build)
        lock.add("static_kernel", [("static.cu", "constexpr int TILE = 1;", "1", "2")],
                 [("static.cu", "int static_kernel() { return TILE + BESIDE; }", "the kernel 'static_kernel'")])
        for name, file in (("shared", "shared.cu"), ("object", "object.cu"), ("unity", "unity_a.cu")):
            old = kernel(name + "_kernel", 1)
            lock.add(name + "_kernel", [(file, old, old, old.replace("1", "0 +\n         2"))])
        old = kernel("generated_kernel", 1)
        lock.add("generated_kernel", [("build:generated.cu", old, old, old.replace("  return 1", "  int two = 2;\n  return two"))])
        old = "template <int N> static int header_kernel() {\n  return N * helper();\n}"
        lock.add("header_kernel", [("include/kernel.cuh", old, old, old.replace("return N", "int n = N + 1;\n  return n"))],
                 [("include/helper.h", "inline int helper() { return 1; }", "the function 'helper'")])
        old = kernel("folder_kernel", 1)
        lock.add("folder_kernel", [("der Ordner mit Ümlaut/kernel.cu", old, old, old.replace("  return 1", "  int two = 2;\n  return two"))])
        return lock

    def test_the_variants_are_built(self):
        """In few words what the next test tells; of some ways the fast lane has nothing else."""
        self.build.mkdir()
        (self.build / "generated.cu").write_text(FILES["generated.in"])
        self.lock().write()
        self.configure()
        self.assertNotIn("warning", self.make())
        self.assertIn(TUNED + f"\n{self.project}/static.cu", self.app())
        before = self.objects()
        self.write("shared.cu", FILES["shared.cu"].replace("return 1", "return 7"))
        self.assertRegex(self.make(), r"shared\.cu:2: warning: the kernel 'shared_kernel' changed since kopt tuned")
        self.assertEqual(self.rebuilt(before), ["shared.cu.o"])
        self.assertIn(TUNED.replace("shared 2", "shared 7"), self.app())

    def test_the_variants_are_built_and_rebuilt_exactly(self):
        # Before anything was tuned: the originals.
        self.configure()
        self.make()
        self.assertIn(TUNED.replace("2", "1"), self.app())
        # The lock appears, and the next build has its variants.
        lock = self.lock()
        lock.write()
        before = self.objects()
        said = self.make()
        self.assertNotIn("warning", said)
        self.assertIn(TUNED + f"\n{self.project}/static.cu", self.app())
        self.assertFalse({"main.cpp.o", "untouched.cu.o"} & set(self.rebuilt(before)))
        commands = (self.build / "compile_commands.json").read_text()
        self.assertNotIn("kopt-overlay", commands)
        self.assertIn(f"{self.project}/static.cu", commands)
        before = self.objects()
        self.make()
        self.assertEqual(self.rebuilt(before), [])

        # Text that is no part of the kernel: the variant stays, and moves with its lines.
        self.write("static.cu", "// a new line\n" + FILES["static.cu"])
        self.assertNotIn("warning", self.make())
        self.assertEqual(self.rebuilt(before), ["static.cu.o"])
        self.assertIn(TUNED, self.app())

        # The kernel's own text: a warning at the user's line, and the original.
        before = self.objects()
        self.write("shared.cu", FILES["shared.cu"].replace("return 1", "return 7"))
        self.assertRegex(self.make(), r"shared\.cu:2: warning: the kernel 'shared_kernel' changed since kopt tuned")
        self.assertEqual(self.rebuilt(before), ["shared.cu.o"])
        self.assertIn(TUNED.replace("shared 2", "shared 7"), self.app())
        self.write("shared.cu", FILES["shared.cu"])

        # What a header's kernel depends on, in another header: both users.
        self.make()
        before = self.objects()
        self.write("include/helper.h", FILES["include/helper.h"].replace("return 1", "return 5"))
        self.assertRegex(self.make(), r"helper\.h:2: warning: the function 'helper' changed")
        self.assertEqual(self.rebuilt(before), ["first_user.cu.o", "second_user.cu.o"])
        self.assertIn("first 5 second 5", self.app())
        self.write("include/helper.h", FILES["include/helper.h"])
        self.make()
        self.assertIn(TUNED, self.app())

        # The lock: the object whose entry goes.
        before = self.objects()
        lock.entries = [entry for entry in lock.entries if entry["kernel"] != "object_kernel"]
        lock.write()
        self.make()
        self.assertEqual(self.rebuilt(before), ["object.cu.o"])
        self.assertIn(TUNED.replace("object 2", "object 1"), self.app())

        # The variants of one kernel: a text that nobody measured is not built.
        before = self.objects()
        variants = self.project / "kopt" / "generated_kernel.cuh"
        variants.write_text(variants.read_text().replace("two = 2", "two = 9"))
        self.assertRegex(self.make(), r"generated_kernel\.cuh:3: warning: the variant was changed by hand")
        self.assertEqual(self.rebuilt(before), ["generated.cu.o"])
        self.assertIn("generated 1", self.app())
        before = self.objects()
        self.make()
        self.assertEqual(self.rebuilt(before), [])

        # A lock that a merge has broken: a message, and the originals.
        text = (self.project / "kopt" / "kopt.lock").read_text()
        self.write("kopt/kopt.lock", "<<<<<<< ours\n" + text)
        self.assertRegex(self.make(), r"kopt\.lock:1: warning: kopt cannot read it")
        self.assertIn(TUNED.replace("2", "1"), self.app())
        self.write("kopt/kopt.lock", text)
        self.make()

        self.configure("-DKOPT_OVERLAY=OFF")
        if "Makefiles" in self.generator:  # these do not see that the command of a unity build has changed
            self.run_ok("cmake", "--build", self.build, "--target", "clean")
        self.make()
        self.assertIn(TUNED.replace("2", "1"), self.app())

    def test_errors_name_the_lines_of_the_user(self):
        self.build.mkdir()
        (self.build / "generated.cu").write_text(FILES["generated.in"])
        self.lock().write()
        self.configure()
        self.write("shared.cu", FILES["shared.cu"].replace("return __LINE__", "return unknown_name"))
        said = self.make(fails=True)
        self.assertRegex(said, r"shared\.cu:5(:\d+)?: error: .*unknown_name")
        self.assertNotIn("overlay/", said.replace("kopt-overlay", "").split("error:")[0].rsplit("\n", 1)[-1])
        self.write("shared.cu", FILES["shared.cu"])
        # In a kernel that is no longer the tuned one.
        self.write("object.cu", "int object_kernel() {\n  return nothing;\n}\n")
        self.assertRegex(self.make(fails=True), r"object\.cu:2(:\d+)?: error: .*nothing")


if __name__ == "__main__":
    HeaderMode.way = sys.argv.pop(1)
    unittest.main()
