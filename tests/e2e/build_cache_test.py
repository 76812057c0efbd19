# SPDX-License-Identifier: Apache-2.0
"""What one run has compiled, no later run compiles again."""

import json
import re
import shutil
import unittest

from kopt_test import DATA, FLAGS, KoptTest

TUNE = ["--device", "emulated", "--seed", "7", "--proposers", "params,transform", "--trials", "12", "--build-jobs", "0", "--json"]


class BuildCache(KoptTest):
    def setUp(self):
        super().setUp()
        text = self.copy(DATA / "scale.cu").read_text()
        self.write("scale.cu", '#include "factor.h"\n' + text.replace("= factor *", "= TIMES * factor *").replace(
            "rows = 500", "rows = 96").replace("columns = 300", "columns = 64"))
        self.write("factor.h", "#define TIMES 2\n")
        self.env = {"KOPT_CACHE_DIR": str(self.folder / "cache")}
        self.logs = 0

    def tune(self, *more, flags=()):
        """A run that finds nothing of an earlier one but the cache: what it built, took and found."""
        for name in (".kopt", "kopt.out"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        self.logs += 1
        log = self.folder / f"{self.logs}.log"
        done = self.kopt_ok("tune", "scale.cu", "--log-file", log, *TUNE, *more, *FLAGS, *flags, env=self.env)
        counts = json.loads(done.stdout)["details"]["builds"]
        lines = log.read_text()
        self.assertEqual(len(re.findall("build: compiled in", lines)), counts["compiled"], lines)
        self.assertEqual(len(re.findall("build: from the cache", lines)), counts["from_cache"], lines)
        found = [[trial[name] for name in ("candidate_hash", "verdict", "reason", "module_hash")] for trial in self.records("trials")]
        return counts["compiled"], counts["from_cache"], found

    def kept(self):
        done = self.kopt("doctor", "--device", "emulated", "--json", env=self.env)
        check, = [check for check in json.loads(done.stdout)["results"] if check["check"] == "build cache"]
        self.assertIn(str(self.folder / "cache/builds"), check["detail"])
        return int(re.search(r" in (\d+) builds?, of at most 1.0 GiB", check["detail"]).group(1))

    def test_a_second_run_compiles_nothing_that_the_first_did(self):
        compiled, taken, found = self.tune()
        self.assertGreater(compiled, 5)
        self.assertEqual(taken, 0)
        self.assertEqual(self.kept(), compiled)
        self.assertEqual(self.tune(), (0, compiled, found))

        # Each of these may give other code.
        self.assertEqual(self.tune(flags=["-DANOTHER"])[1], 0)
        self.write("factor.h", "#define TIMES 3\n")
        again, taken, other = self.tune()
        self.assertGreater(again, 5)
        self.assertNotEqual(other, found)
        self.write("factor.h", "#define TIMES 2\n")
        self.assertEqual(self.tune(), (0, compiled, found))

        self.assertEqual(self.tune("--build-cache", "0"), (compiled, 0, found))
        self.assertIn("kept builds", self.kopt_ok("clean", "--builds", "--dry-run", env=self.env).stdout)
        self.assertGreater(self.kept(), compiled)
        self.kopt_ok("clean", "--builds", env=self.env)
        self.assertEqual(self.kept(), 0)
        self.assertEqual(self.tune(), (compiled, 0, found))


if __name__ == "__main__":
    unittest.main()
