# SPDX-License-Identifier: Apache-2.0
"""kopt harness: what it writes and refuses; and that a harness finds a wrong kernel, which is compiled for the host here
(tests/fakes/cuda/HostRuntime.h), on launches captured from a program between a fake CUDA driver and a fake CUPTI."""

import os
import re
import shutil
import subprocess
import unittest

from kopt_test import BIN, DATA, SOURCE, KoptTest
from observe_test import APP, CUDA

FLAGS = ["--", "-std=c++17"]
RUNTIME = SOURCE / "tests" / "fakes" / "cuda" / "HostRuntime.h"
COMPILER = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")


class HarnessTest(KoptTest):
    def setUp(self):
        super().setUp()
        self.file = self.copy(DATA / "captured.cu")

    def harness(self, *arguments, env=None):
        return self.kopt("harness", self.file, *arguments, *FLAGS, env={"KOPT_CUDA_PATH": "none", **(env or {})})

    def fails(self, done, code, *words):
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual(done.stdout, "")


class Harness(HarnessTest):
    def test_it_writes_a_folder_for_each_kernel(self):
        done = self.harness("--kernel", "scale", "--kernel", "weigh")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("declared or default values", done.stdout)
        folder = self.folder / "kopt.harness"
        self.assertEqual(sorted(os.listdir(folder)), ["scale", "weigh"])
        self.assertEqual(sorted(os.listdir(folder / "scale")), ["build.sh", "harness.cu", "original.cu"])
        self.assertEqual((folder / "scale" / "harness.cu").read_text(), (folder / "scale" / "original.cu").read_text())

    def test_an_edited_harness_is_not_written_over(self):
        self.assertEqual(self.harness("--kernel", "scale", "-o", "here").returncode, 0)
        edited = self.folder / "here" / "scale" / "harness.cu"
        edited.write_text("edited")
        self.fails(self.harness("--kernel", "scale", "-o", "here"), 1, str(edited), "--force")
        self.assertEqual(edited.read_text(), "edited")
        self.assertEqual(self.harness("--kernel", "scale", "-o", "here", "--force").returncode, 0)
        self.assertIn("factor * in[i]", edited.read_text())

    def test_what_goes_wrong_is_said(self):
        self.fails(self.harness("--kernel", "scael"), 1, "no kernel is named 'scael'", "did you mean 'scale'?")
        self.fails(self.harness(), 1, "no kernel is marked", "--kernel")
        self.fails(self.harness("--kernel", "scale", "--run", "./app", "--trace", "there"), 1, "exclude each other")
        self.fails(self.harness("--kernel", "scale", "--trace", "there"), 1, "there is not a kopt trace")
        self.fails(self.harness("--kernel", "scale", "--run", "./nowhere"), 6, "nowhere")
        self.fails(self.harness("--kernel", "scale", "--launches", "0"), 1, "--launches")
        self.assertFalse((self.folder / "kopt.harness").exists())

    @unittest.skipUnless(APP.exists(), "this build has no capture library")
    def test_without_a_gpu_a_program_is_not_observed(self):
        self.fails(self.harness("--kernel", "scale", "--run", str(APP), env={"LD_LIBRARY_PATH": ""}), 6,
                   "the CUDA driver is missing", "hint:")
        self.assertFalse((self.folder / "kopt.harness").exists())


@unittest.skipUnless(APP.exists() and COMPILER, "this build has no capture library, or there is no compiler")
class Captured(HarnessTest):
    """Harnesses with captured launches, built for the host."""

    def write(self, *arguments, scenes="scale weigh gather"):
        done = self.kopt("harness", self.file, "--run", f"{APP} {scenes}", "-o", "out", *arguments, *FLAGS, env=CUDA)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def build(self, kernel, *programs):
        folder = self.folder / "out" / kernel
        (self.folder / "include").mkdir(exist_ok=True)
        (self.folder / "include" / "cuda_runtime.h").write_text("")
        for program in programs:
            if program == "original" and (folder / "original.cu").read_text() == (folder / "harness.cu").read_text():
                shutil.copy(folder / "harness", folder / "original")
                continue
            text = (folder / f"{program}.cu").read_text()
            text = text.replace("// The launch where", f"FAKE_KERNEL({kernel})\n// The launch where")
            (folder / f"{program}.cpp").write_text(text)
            subprocess.run([COMPILER, "-std=c++17", "-O0", "-w", "-I", self.folder / "include", "-include", RUNTIME,
                            folder / f"{program}.cpp", "-o", folder / program], check=True, timeout=120)
        return folder

    def edit(self, name, old, new):
        path = self.folder / "out" / name
        text = path.read_text()
        self.assertTrue(old in text, f"{name} has no {old}")
        path.write_text(text.replace(old, new))

    def run_harness(self, folder, *options):
        return subprocess.run([folder / "harness", *options], cwd=self.folder, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120)

    def runs(self, folder, code, *words, options=()):
        done = self.run_harness(folder, *options)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        for word in words:
            self.assertRegex(done.stdout + done.stderr, word)
        return done

    def test_launches_are_run_as_the_program_made_them(self):
        self.write("--kernel", "*")
        self.assertEqual(sorted(name for name in os.listdir(self.folder / "out" / "scale" / "data")
                                if name.endswith(".txt")), ["launch-1.txt", "launch-2.txt"])
        # weigh has a struct with a pointer and a __constant__ variable, gather pointers in a buffer.
        for kernel, launches in (("scale", 2), ("weigh", 1), ("gather", 1)):
            with self.subTest(kernel=kernel):
                done = self.runs(self.build(kernel, "harness", "original"), 0, "compared with what the program had",
                                 r"time: min 250\.000 us, median 250\.000 us")
                self.assertEqual(len(re.findall("compared with what the program had", done.stdout)), launches)

    def test_a_wrong_kernel_is_found(self):
        self.write("--kernel", "weigh")
        self.edit("weigh/harness.cu", "out.data[i] = app", "out.data[i] = 1.01f * app")
        folder = self.build("weigh", "harness", "original")
        done = self.runs(folder, 1, r"out\[\d+\] is -?[\d.]+, expected -?[\d.]+; \d+ of 2000 elements differ")
        self.assertNotIn("time:", done.stdout)
        self.edit("weigh/harness.cu", "1.01f *", "1.000001f *")
        self.runs(self.build("weigh", "harness"), 0, "all . buffers are the same")

    def test_a_repeated_launch_shows_a_kernel_that_writes_nothing(self):
        self.write("--kernel", "scale", "--launches", "1")
        launch = self.folder / "out" / "scale" / "data" / "launch-1.txt"
        text = launch.read_text()
        launch.write_text(re.sub(r"before (\S+)\nafter (\S+)", r"before \2\nafter \2", text))
        folder = self.build("scale", "harness", "original")
        self.runs(folder, 0, "with other contents of 'out' before it, compared with the unedited kernel")
        self.edit("scale/harness.cu", "out[i] = factor", "if (n < 0) out[i] = factor")
        self.runs(self.build("scale", "harness"), 1, r"out\[\d+\] is 0, expected")

    def test_what_varies_is_compared_by_how_far_it_does(self):
        self.write("--kernel", "scale", "--launches", "1")
        for name in ("scale/harness.cu", "scale/original.cu"):  # one element is the time
            self.edit(name, "out[i] = factor * in[i];",
                      "out[i] = i == 5 ? (float)(clock64() & 1048575) : factor * in[i];")
        folder = self.build("scale", "harness", "original")
        varies = r"out: 1 of \d+ elements differ, as from run to run of the unedited kernel"
        self.runs(folder, 0, varies)
        self.edit("scale/harness.cu", ": factor", ": 2 * factor")
        self.runs(self.build("scale", "harness"), 1, varies, r"out\[0\] is")
        self.edit("scale/harness.cu", ": 2 * factor", ": factor")
        self.edit("scale/harness.cu", "(float)(clock64()", "1e9f + (float)(clock64()")
        self.runs(self.build("scale", "harness"), 1, r"out\[5\] is 1\.\d+e\+09, expected")

    def test_errors_of_a_harness(self):
        self.write("--kernel", "scale")
        folder = self.build("scale", "harness")
        self.runs(folder, 1, "error: .* is refused: an error of the fake runtime", options=["--block_x=2048"])
        self.runs(folder, 1, "--n is not an option here", options=["--n=5"])
        self.runs(folder, 1, "fast: expected --NAME=VALUE", options=["fast"])
        self.edit("scale/data/launch-1.txt", "parameter n = bytes", "parameter n = bytes 00")
        self.runs(folder, 1, "launch-1.txt is of a kernel with other parameters")

    def test_declared_values_are_compared_with_the_unedited_kernel(self):
        done = self.kopt("harness", self.file, "--kernel", "weigh", "-o", "out", *FLAGS)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("weigh/harness.cu", "weigh/original.cu"):  # the members that a person would set
            self.edit(name, "// a structure: set its members here", "kopt_launch.buffers.clear();")
        self.edit("weigh/harness.cu", "out.data[i] = app", "out.data[i] = 1.01f * app")
        folder = self.build("weigh", "harness")
        self.runs(folder, 1, "there is no .*original to compare with: build.sh builds it")
        folder = self.build("weigh", "original")
        self.runs(folder, 0, "launch with declared or default values, compared with the unedited kernel",
                  "the kernel changes nothing here", options=["--elements=1000"])


if __name__ == "__main__":
    unittest.main()
