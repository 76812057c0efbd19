# SPDX-License-Identifier: Apache-2.0
"""The transpose example as a user's CMake project: its tuning target finds a patch, its apply target puts it in, and
nvcc builds the patched program."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

from kopt_test import BIN, SOURCE, KoptTest


@unittest.skipUnless(shutil.which("nvcc") or pathlib.Path("/usr/local/cuda/bin/nvcc").exists(), "needs nvcc")
class CmakeTarget(KoptTest):
    def run_ok(self, *command):
        done = subprocess.run(command, cwd=self.folder, env={**os.environ, "KOPT_TRIALS": "20", "KOPT_DEVICE": "emulated"},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=600)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def test_tune_apply_and_build(self):
        for file in (SOURCE / "examples" / "transpose").iterdir():
            self.copy(file)
        before = {file.name: file.read_bytes() for file in self.folder.iterdir()}
        self.run_ok("cmake", "-S", ".", "-B", "build", "-G", "Ninja", f"-Dkopt_ROOT={BIN.parent}")
        self.assertNotIn("kopt-tune", self.run_ok("ninja", "-C", "build", "-n"), "tuning is part of ALL")
        self.assertIn("modelled", self.run_ok("ninja", "-C", "build", "kopt-tune-transpose"))
        report = next(self.folder.glob("kopt.out/*/report.md")).read_text()
        # Why it is faster: a warp's store touched a sector a lane, and touches the fewest it can.
        row = re.search(r"sectors per global store request \* \| ([\d.]+) \| ([\d.]+)", report)
        self.assertIsNotNone(row, report)
        self.assertGreater(float(row[1]), 30)
        self.assertLess(float(row[2]), 6)
        # Nothing was measured here, so the target applies nothing and says how to do it all the same.
        refused = subprocess.run(["ninja", "-C", "build", "kopt-apply-transpose"], cwd=self.folder, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("--modelled", refused.stdout)
        self.run_ok(BIN / "kopt", "apply", "--modelled")
        changed = [name for name, text in before.items() if (self.folder / name).read_bytes() != text]
        self.assertEqual(changed, ["transpose.cu"])
        self.run_ok("ninja", "-C", "build")
        checked = subprocess.run([self.folder / "build" / "transpose"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertIn(checked.returncode, (0, 77), checked.stdout)  # 77: no GPU here to check it on


if __name__ == "__main__":
    unittest.main()
