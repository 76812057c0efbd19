# SPDX-License-Identifier: Apache-2.0
"""Several GPUs of one host judge the candidates that one judges, in the same order, and in less time; without two of one
kind it skips."""

import sys
import time
import unittest

from kopt_test import DATA, FLAGS, KoptTest, skip_without_gpu

TIMED = {"Faster", "Same", "Slower", "Ambiguous"}  # what noise may exchange
EDGES = "{2, 4, 8, 12, 16, 20, 24, 32}"


class Pool(KoptTest):
    def tuned(self, gpus):
        folder = self.folder / gpus
        folder.mkdir()
        text = (DATA / "scale.cu").read_text().replace("{8, 16, 32}", EDGES)
        (folder / "scale.cu").write_text(text.replace("rows = 500", "rows = 5000").replace("columns = 300", "columns = 3000"))
        start = time.monotonic()
        self.kopt_ok("tune", "scale.cu", "--device", "cuda", "--proposers", "params", "--gpus", gpus, "--json", *FLAGS, cwd=folder)
        seconds = time.monotonic() - start
        self.folder, before = folder, self.folder
        trials = [(trial["candidate_hash"], trial["verdict"], trial["gpu"]) for trial in self.records("trials")
                  if trial["purpose"] == "search"]
        self.folder = before
        return seconds, trials

    def test_two_decide_what_one_does(self):
        alone, expected = self.tuned("1")
        together, found = self.tuned("2")
        print(f"\none GPU {alone:.1f} s, two {together:.1f} s, {len(expected)} trials", file=sys.stderr)
        self.assertEqual(len({gpu for _, _, gpu in found if gpu}), 2)
        # Which candidates a round offers follows from verdicts: the first round's are the same in any case.
        self.assertEqual([hash for hash, _, _ in found][:7], [hash for hash, _, _ in expected][:7])
        verdicts = {hash: verdict for hash, verdict, _ in expected}
        for hash, verdict, gpu in found:
            if hash in verdicts and not {verdict, verdicts[hash]} <= TIMED:
                self.assertEqual(verdict, verdicts[hash], f"{hash} on {gpu}")


if __name__ == "__main__":
    skip_without_gpu(2)
    unittest.main()
