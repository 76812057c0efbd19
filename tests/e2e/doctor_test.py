# SPDX-License-Identifier: Apache-2.0
"""kopt doctor, and which CUDA toolkit kopt uses, on machines that lack something or have two of it."""

import json
import os
import unittest

from kopt_test import DATA, FLAGS, KoptTest, find_nvcc

# Variables that lead to a toolkit, or to a part of one.
LOOKED_AT = ("KOPT_CUDA_PATH", "CUDACXX", "CUDA_PATH", "CUDA_HOME", "NVDISASM_PATH", "KOPT_CUPTI", "LD_LIBRARY_PATH")
CUDA_PARTS = ("nvcc", "CUPTI", "Nsight Compute", "nvdisasm", "compute-sanitizer")


class Doctor(KoptTest):
    def program(self, name, text="#!/bin/sh\n"):
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)
        return file

    def toolkit(self, name, text="#!/bin/sh\necho 'Cuda compilation tools, release 12.6, V12.6.85'\n"):
        """All parts of a toolkit, empty but for nvcc."""
        for tool in ("nvdisasm", "ncu", "compute-sanitizer"):
            self.program(f"{name}/bin/{tool}")
        self.program(f"{name}/bin/nvcc", text)
        for file in ("include/cuda_runtime.h", "include/cuda.h", "lib64/libcupti.so"):
            self.program(f"{name}/{file}")
        return self.folder / name

    def doctor(self, **env):
        cleared = {name: "" for name in LOOKED_AT}
        done = self.kopt_ok("doctor", "--json", env={**cleared, **env})
        return {check["check"]: check for check in json.loads(done.stdout)["results"]}

    def test_each_part_of_the_toolkit_is_named(self):
        toolkit = self.toolkit("cuda")
        checks = self.doctor(CUDA_PATH=str(toolkit))
        self.assertIn(f"{toolkit} (chosen by CUDA_PATH)", checks["CUDA toolkit"]["detail"])
        self.assertEqual(checks["nvcc"]["detail"], f"nvcc 12.6.85 ({toolkit}/bin/nvcc)")
        for part in CUDA_PARTS:
            self.assertTrue(checks[part]["ok"], checks[part])
            self.assertIn(str(toolkit), checks[part]["detail"])

    def test_none_hides_every_part(self):
        toolkit = self.toolkit("cuda")
        checks = self.doctor(KOPT_CUDA_PATH="none", CUDA_PATH=str(toolkit), PATH=f"{toolkit}/bin:{os.environ['PATH']}",
                             LD_LIBRARY_PATH=f"{toolkit}/lib64")
        for part in CUDA_PARTS:
            self.assertFalse(checks[part]["ok"], checks[part])
            self.assertIn("CUDA is hidden by KOPT_CUDA_PATH=none", checks[part]["detail"])
            self.assertIn("unset KOPT_CUDA_PATH", checks[part]["remedy"])

    def test_a_wrong_toolkit_is_named_and_not_replaced(self):
        toolkit = self.toolkit("cuda")
        checks = self.doctor(KOPT_CUDA_PATH="/nonexistent", CUDA_PATH=str(toolkit),
                             PATH=f"{toolkit}/bin:{os.environ['PATH']}")
        for part in CUDA_PARTS:
            self.assertFalse(checks[part]["ok"], checks[part])
            self.assertIn("KOPT_CUDA_PATH=/nonexistent is not a CUDA toolkit", checks[part]["detail"])
            self.assertIn("bin/nvcc", checks[part]["remedy"])

    def test_commands_refuse_a_wrong_toolkit(self):
        self.copy(DATA / "scale.cu")
        for command in (["list", "scale.cu"], ["tune", "scale.cu", "--device", "emulated"]):
            done = self.kopt(*command, *FLAGS, env={"KOPT_CUDA_PATH": "/nonexistent"})
            self.assertEqual(done.returncode, 6, done.stdout + done.stderr)
            self.assertIn("KOPT_CUDA_PATH=/nonexistent is not a CUDA toolkit", done.stderr)
            self.assertIn("bin/nvcc", done.stderr)

    @unittest.skipUnless(find_nvcc(), "there is no nvcc")
    def test_of_two_toolkits_one_is_used_for_everything(self):
        real = find_nvcc().parent.parent
        log = self.folder / "log"
        for name in ("first", "second"):
            self.program(f"{name}/bin/nvcc", f'#!/bin/sh\necho {name} "$@" >> {log}\nexec {real}/bin/nvcc "$@"\n')
            for place in real.iterdir():
                if place.name != "bin":
                    (self.folder / name / place.name).symlink_to(place)
        self.copy(DATA / "scale.cu")
        cleared = {name: "" for name in LOOKED_AT}
        # Not contained, so that the compilers can write to the log. The emulated device needs nvcc for proofs; profile also
        # builds the kernel with it, to read its machine code.
        self.kopt_ok("profile", "scale.cu", "--device", "emulated", "--sandbox", "off", *FLAGS, env={
            **cleared, "CUDA_PATH": str(self.folder / "first"), "PATH": f"{self.folder}/second/bin:{os.environ['PATH']}",
            "KOPT_CACHE_DIR": str(self.folder / "cache")})
        lines = log.read_text().splitlines()
        self.assertEqual({line.split()[0] for line in lines}, {"first"}, lines)
        self.assertTrue([line for line in lines if "-ptx" in line], lines) # a slice was proven
        self.assertTrue([line for line in lines if "-cubin" in line], lines) # a candidate was built


if __name__ == "__main__":
    unittest.main()
