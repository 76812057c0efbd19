# SPDX-License-Identifier: Apache-2.0
"""kopt is killed at random moments of a session that confirms its win in the program: the user's files are as they were, and the
same command afterwards confirms and applies it. Skips without a GPU."""

import json
import shutil
import subprocess
import sys
import time
import unittest

from kills_test import Killing
from kopt_test import BIN, DATA, FLAGS, find_nvcc, skip_without_gpu

KILLS = 6
MAIN = """
#include <cstdio>
int main() {
  int rows = 4096, columns = 4096;
  float *in, *out, last = 0;
  cudaMalloc(&in, 4ul * rows * columns);
  cudaMalloc(&out, 4ul * rows * columns);
  cudaMemset(in, 64, 4ul * rows * columns);
  for (int i = 0; i < 20; ++i)
    run(in, out, 2.5f, rows, columns);
  cudaMemcpy(&last, out + rows * columns - 1, 4, cudaMemcpyDeviceToHost);
  std::printf("%g\\n", last);
  return cudaGetLastError();
}
"""


class KillsWhileConfirming(Killing):
    def setUp(self):
        super().setUp()
        # Blocks of 4 x 4 are slower than any of the others.
        text = (DATA / "scale.cu").read_text().replace("EDGE = 16", "EDGE = 4").replace("{8, 16, 32}", "{4, 8, 16}")
        self.write("scale.cu", text + MAIN)
        self.build()

    def build(self):
        subprocess.run([find_nvcc(), *FLAGS[1:], "-o", "app", "scale.cu"], cwd=self.folder, check=True)
        return subprocess.run(["./app"], cwd=self.folder, check=True, capture_output=True, text=True).stdout

    def states(self, tuned):
        return [win["state"] for win in json.loads(tuned.stdout)["details"]["session"]["wins"]]

    def test_confirm(self):
        command = [BIN / "kopt", "tune", "scale.cu", "--device", "cuda", "--proposers", "params", "--run", "./app",
                   "--budget-seconds", "25", "--trials", "3", "--json", *FLAGS]
        said, before = self.build(), self.tree()
        began = time.monotonic()
        undisturbed = self.kopt_ok(*command[1:])
        whole = time.monotonic() - began
        self.assertEqual(self.states(undisturbed), ["confirmed"], undisturbed.stdout)
        confirming = killed = 0
        for _ in range(KILLS):
            shutil.rmtree(self.folder / ".kopt", ignore_errors=True)
            if self.kill(command, whole, after=0.6 * whole):
                killed += 1
                confirming += bool(self.rows("SELECT 1 FROM trials WHERE purpose = 'confirmation'"))
            self.assertEqual(self.tree(), before)
        print(f"\nkilled {killed} times within {whole:.1f} s, {confirming} of them after a winner was confirmed alone", file=sys.stderr)
        self.assertGreater(confirming, 0)
        done = self.kopt_ok(*command[1:-len(FLAGS)], "--resume", *FLAGS)
        self.assertEqual(self.states(done), ["confirmed"], done.stdout)
        self.kopt_ok("apply")
        self.assertNotEqual(self.tree(), before)
        self.assertEqual(self.build(), said)


if __name__ == "__main__":
    skip_without_gpu(needs_nvcc=True)
    unittest.main()
