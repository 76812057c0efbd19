# SPDX-License-Identifier: Apache-2.0
"""Five programs whose kernels are a library's job (a matrix product, a transpose, sums of rows, scans, a sort) are told which call
computes the same, and in what time. In a copy of the tests beside an installed kopt:

    KOPT_SOURCE_DIR=$PWD KOPT_BIN_DIR=/path/to/bin PYTHONPATH=tests/e2e python3 -B tests/device/library_test.py -v
"""

import json
import shlex
import shutil
import subprocess
import sys
import unittest

from kopt_test import SOURCE, KoptTest, find_nvcc, skip_without_gpu

NAIVE = SOURCE / "tests" / "benchmarks" / "naive"


class Library(KoptTest):
    def tuned(self, program, arguments=""):
        """The run's trials and what explains it."""
        shutil.copytree(NAIVE / program, self.folder, dirs_exist_ok=True)
        subprocess.run([find_nvcc(), "-O3", "-arch=native", "-o", "main", "main.cu"], cwd=self.folder, check=True)
        done = self.kopt_ok("tune", "main.cu", "--run", shlex.join(["./main", *arguments.split()]), "--device", "cuda", "--trials", "3",
                            "--budget-seconds", "60", "--json", "--", "-O3")
        run = json.loads(done.stdout)["results"][0]["run"]
        explained = self.kopt_ok("explain", run).stdout
        report = json.loads(self.kopt_ok("report", "--run-id", run, "--format", "json").stdout)
        return report["trials"], explained, done.stderr

    def check(self, program, call, arguments="", faster=None):
        trials, explained, progress = self.tuned(program, arguments)
        lines = [line for line in progress.splitlines() if "same output within" in line]
        print("", program, *lines, sep="\n  ", file=sys.stderr)
        hits = [hit for hit in trials[0]["diagnosis"]["hits"] if hit["id"] == "library-call"]
        self.assertEqual(len(hits), 1, explained + progress)
        self.assertTrue(hits[0]["finding"].startswith(call + " computes launch"), hits[0])
        self.assertIn(hits[0]["finding"], explained)
        seconds = dict(hits[0]["evidence"])
        ratio = seconds["own_seconds"] / seconds["library_seconds"]
        self.assertGreaterEqual(trials[0]["diagnosis"]["headroom"], ratio * 0.999)
        if faster:
            self.assertGreater(ratio, faster)

    def test_a_matrix_product(self):
        self.check("sgemm", "cublasSgemm", "2048", faster=2)

    def test_a_transpose(self):
        self.check("transpose", "cublasSgeam", "8192 4096")

    def test_sums_of_rows(self):
        self.check("row_sums", "cub::DeviceSegmentedReduce::Sum", "100000 100")

    def test_scans_of_blocks(self):
        self.check("block_scan", "cub::DeviceScan::InclusiveSumByKey")

    def test_a_sort(self):
        self.check("bitonic_sort", "cub::DeviceRadixSort::SortKeys", faster=1.5)

    def test_nothing_is_said_if_the_user_does_not_ask(self):
        shutil.copytree(NAIVE / "transpose", self.folder, dirs_exist_ok=True)
        subprocess.run([find_nvcc(), "-O3", "-arch=native", "-o", "main", "main.cu"], cwd=self.folder, check=True)
        done = self.kopt_ok("tune", "main.cu", "--run", "./main 4096 4096", "--roof", "ignore", "--device", "cuda", "--trials", "1", "--", "-O3")
        self.assertNotIn("cublas", done.stdout + done.stderr)


if __name__ == "__main__":
    skip_without_gpu(needs_nvcc=True)
    unittest.main()
