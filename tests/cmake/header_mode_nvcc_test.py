# SPDX-License-Identifier: Apache-2.0
"""The header mode with nvcc: variants by architecture, separable compilation, nvcc's depfiles. The objects hold uncompressed
PTX, whose constants say which text each architecture was compiled from. No GPU."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from header_lock import Lock

BIN = pathlib.Path(os.environ["KOPT_BIN_DIR"])
NVCC = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"

KERNEL = "__global__ void k(int *out) {\n  out[threadIdx.x] = 11111111 + HELPER;\n}"
VARIANT = "__global__ void k(int *out) {\n  int lane = threadIdx.x;\n  out[lane] = 22222222 + HELPER;\n}"
SINE = "__global__ void s(float *out) { out[threadIdx.x] = sinf(out[0]); }"
FILES = {
    "CMakeLists.txt": """cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX CUDA)
find_package(kopt REQUIRED CONFIG)
add_library(one STATIC k.cu)
set_target_properties(one PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
target_compile_options(one PRIVATE -Xfatbin -compress=false)
kopt_tune_kernels(one MODE header)
add_library(two STATIC a.cu named.cpp plain.cpp b.cu)
kopt_tune_kernels(two)
set_source_files_properties(named.cpp PROPERTIES LANGUAGE CUDA)
""",
    "named.cpp": "__global__ void named(int *out) { out[threadIdx.x] = 1; }\n",
    "a.cu": "int a() { return 1; }\n",
    "b.cu": "int b() { return 1; }\n",
    "plain.cpp": "int plain() { return 1; }\n",
    "k.cu": f'#include "helper.h"\nconstexpr int BLOCK = 64;\n{KERNEL}\n{SINE}\nvoid launch(int *out) {{ k<<<1, BLOCK>>>(out); }}\n',
    "helper.h": "#pragma once\n#define HELPER 0\n",
}


class Nvcc(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="kopt nvcc ")
        self.addCleanup(folder.cleanup)
        self.project = pathlib.Path(folder.name).resolve()
        for name, text in FILES.items():
            (self.project / name).write_text(text)

    def run_ok(self, *command):
        done = subprocess.run([str(word) for word in command], cwd=self.project, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def configure(self, archs):
        self.run_ok("cmake", "-S", ".", "-B", "build", "-G", "Ninja", f"-Dkopt_ROOT={BIN.parent}",
                    f"-DCMAKE_CUDA_COMPILER={NVCC}", "-DCMAKE_CXX_COMPILER=g++", f"-DCMAKE_CUDA_ARCHITECTURES={archs}")

    def build(self):
        return self.run_ok("cmake", "--build", "build")

    def object(self):
        return next((self.project / "build").rglob("k.cu.o"))

    def texts(self):
        content = self.object().read_bytes()
        return b"11111111" in content, b"22222222" in content

    def lock(self, device_only, options=()):
        lock = Lock(self.project)
        lock.add("k", [("k.cu", KERNEL, KERNEL, VARIANT)], [("helper.h", "#define HELPER 0", "the macro 'HELPER'")],
                 device_only=device_only, options=options)
        lock.write()

    def test_which_text_each_architecture_is_compiled_from(self):
        # One build folder: to find out about the compilers takes most of the time.
        self.lock(device_only=False)
        self.configure("80-virtual;90-virtual")
        manifest = json.loads((self.project / "build/kopt/two.json").read_text())
        self.assertEqual(manifest["sources"], [str(self.project / name) for name in ("a.cu", "b.cu", "named.cpp")])
        self.assertRegex(self.build(), r"k\.cu:3: note: the variant of 'k' is for sm_90 and changes host code, and this build is "
                                       r"for sm_80, sm_90")
        self.assertEqual(self.texts(), (True, False))
        self.lock(device_only=True)
        self.assertNotIn("warning", self.build())
        self.assertEqual(self.texts(), (True, True))
        self.configure("80-virtual")
        self.build()
        self.assertEqual(self.texts(), (True, False))
        self.lock(device_only=False)
        self.configure("90-virtual")
        self.build()
        self.assertEqual(self.texts(), (False, True))

        # nvcc's depfiles, in a folder with a space in its name.
        before = self.object().stat().st_mtime_ns
        self.build()
        self.assertEqual(self.object().stat().st_mtime_ns, before, "made again for nothing")
        (self.project / "helper.h").write_text(FILES["helper.h"].replace("HELPER 0", "HELPER 1"))
        self.assertRegex(self.build(), r"helper\.h:2: warning: the macro 'HELPER' changed")
        self.assertEqual(self.texts(), (False, False))  # 11111112
        (self.project / "helper.h").write_text(FILES["helper.h"])
        self.build()
        self.assertEqual(self.texts(), (False, True))

        # A variant that needs an option: the whole file is compiled with it, and without it once the variant is stale.
        self.assertNotIn(b"sin.approx", self.object().read_bytes())
        self.lock(device_only=False, options=["-use_fast_math"])
        self.assertNotIn("warning", self.build())
        self.assertIn(b"sin.approx", self.object().read_bytes())
        (self.project / "helper.h").write_text(FILES["helper.h"].replace("HELPER 0", "HELPER 1"))
        self.build()
        self.assertNotIn(b"sin.approx", self.object().read_bytes())


if __name__ == "__main__":
    if not pathlib.Path(NVCC).exists() or not shutil.which("g++"):
        print("skipped: no nvcc with g++")
        sys.exit(77)
    unittest.main()
