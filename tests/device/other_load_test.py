# SPDX-License-Identifier: Apache-2.0
"""While another program computes on the GPU no candidate is Faster or Slower: it is Ambiguous, and says who it was. Skips
without a GPU and nvcc."""

import json
import shutil
import subprocess
import unittest

from kopt_test import DATA, FLAGS, KoptTest, find_nvcc, skip_without_gpu

BUSY = """#include <cstdio>
__global__ void spin(volatile int *stop) { for (int i = 0; i < 100000 && !*stop; ++i) {} }
int main() {
  int *stop;
  if (cudaMalloc(&stop, sizeof(int)) || cudaMemset(stop, 0, sizeof(int)))
    return 1;
  puts("busy");
  fflush(stdout);
  for (;;) {  // short ones, so that others get their turn
    spin<<<1, 1>>>(stop);
    cudaMemsetAsync(stop, 0, sizeof(int));
  }
}
"""


class OtherLoad(KoptTest):
    def tuned(self):
        for name in (".kopt", "kopt.out"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        text = (DATA / "scale.cu").read_text()
        self.write("scale.cu", text.replace("rows = 500", "rows = 5000").replace("columns = 300", "columns = 3000"))
        self.kopt_ok("tune", "scale.cu", "--device", "cuda", "--proposers", "params", "--json", *FLAGS)
        for event in self.records("events"):
            checked = event["what"].get("checked", {"shown": True})
            if not checked["shown"] and checked["text"].startswith("whether others computed"):
                self.skipTest(checked["text"])
        return [(trial["verdict"], trial["reason"]) for trial in self.records("trials")
                if trial["candidate"]["proposer"] != "baseline" and trial["speedup"]]

    def doctor(self):
        """What kopt doctor says of other programs; none of it blocks."""
        checks = {check["check"]: check for check in json.loads(self.kopt("doctor", "--json").stdout)["results"]}
        return checks["GPU: other programs"]

    def test_times_beside_another_program_are_no_evidence(self):
        for verdict, reason in self.tuned():
            self.assertNotIn("other processes used", reason, "kopt takes itself, or who only holds the GPU, for another")
        source = self.write("busy.cu", BUSY)
        subprocess.run([find_nvcc(), str(source), "-o", str(self.folder / "busy")], check=True)
        with subprocess.Popen([str(self.folder / "busy")], stdout=subprocess.PIPE, text=True) as busy:
            try:
                self.assertEqual(busy.stdout.readline(), "busy\n")
                trials = self.tuned()
                told = self.doctor()
            finally:
                busy.kill()
        self.assertEqual(told["state"], "optional", told)
        self.assertIn("busy", told["detail"])
        self.assertEqual(self.doctor()["state"], "ok")
        self.assertTrue(trials)
        for verdict, reason in trials:
            self.assertEqual(verdict, "Ambiguous", reason)
            self.assertIn("other processes used the GPU", reason)


if __name__ == "__main__":
    skip_without_gpu(needs_nvcc=True)
    unittest.main()
