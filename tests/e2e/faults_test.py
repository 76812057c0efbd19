# SPDX-License-Identifier: Apache-2.0
"""Whatever is killed, hangs, talks nonsense, floods or is poisoned at whatever stage: the run goes on, and every other
candidate's verdict is the one that it has without faults."""

import concurrent.futures
import json
import os
import pathlib
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import unittest

from kopt_test import BIN, DATA, FLAGS, SOURCE, has_gpu

DEVICE = os.environ.get("KOPT_FAULT_DEVICE", "emulated")
ACCEPTED = {0, 1, 2, 3}  # Faster, Same, Slower, Ambiguous
EDGES = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]  # in the order in which they are judged: candidates 1 to 12
FRONTEND = ["screen", "emulate"]
RUNNER = ["load", "run", "time", "profile"]


def at_every_stage(fault):
    return [(edge, stage, fault) for edge, stage in zip(EDGES[::2], FRONTEND + RUNNER)]


# Whole runs of kopt by name: their faults, and the sandbox.
RUNS = {
    "killed": (at_every_stage("kill") + [(EDGES[-1], "unload", "kill")], "auto"),
    "crashed": (at_every_stage("crash") + [(EDGES[-1], "unload", "quit")], "auto"),
    "garbage": (at_every_stage("garbage") + [(EDGES[-1], "unload", "garbage")], "auto"),
    "partial": (at_every_stage("partial") + [(EDGES[1], "run", "forge"), (EDGES[3], "time", "forge"),
                                             (EDGES[5], "unload", "forge"), (EDGES[7], "run", "quit"),
                                             (EDGES[9], "run", "silent")], "auto"),
    "flood": (at_every_stage("flood"), "auto"),
    "poison": ([(3, "run", "poison"), (7, "run", "poison")], "auto"),
    "unheld": ([(2, "load", "kill"), (4, "run", "garbage"), (6, "emulate", "kill"), (8, "unload", "kill")], "off"),
    # Not for the first candidates: deadlines follow from what was answered before.
    **{f"hang-{stage}": ([(edge, stage, "hang")], "auto") for edge, stage in zip(EDGES[3:], FRONTEND + RUNNER)},
}


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.top = pathlib.Path(tempfile.mkdtemp(prefix="kopt-faults-"))
        cls.addClassCleanup(shutil.rmtree, cls.top, ignore_errors=True)
        cls.reference = cls.verdicts("reference", [], "auto")
        # All at once: they wait more than they compute.
        pool = concurrent.futures.ThreadPoolExecutor(len(RUNS))
        cls.addClassCleanup(pool.shutdown, cancel_futures=True)
        cls.runs = {name: pool.submit(cls.verdicts, name, *RUNS[name]) for name in RUNS}

    @classmethod
    def installation(cls, name, faults):
        """Programs that go wrong: `faults` are (edge, stage, fault)."""
        folder = cls.top / name / "bin"
        folder.mkdir(parents=True)
        for program in ("kopt", "kopt-sandbox"):
            shutil.copy(BIN / program, folder)
        shutil.copy(BIN / "kopt-frontend", folder / "real-frontend")
        shutil.copy(SOURCE / "tests/e2e/faulty_frontend.py", folder / "kopt-frontend")
        shutil.copy(os.environ["KOPT_FAULTY_RUNNER"], folder / "kopt-runner")
        os.chmod(folder / "kopt-frontend", 0o755)
        (folder / "faults").write_text("".join(
            f"{EDGES.index(edge) + 1} {stage} {fault}\n" for edge, stage, fault in faults if stage not in FRONTEND))
        (folder / "frontend-faults").write_text("".join(
            f"EDGE = {edge};|{stage}|{fault}\n" for edge, stage, fault in faults if stage in FRONTEND))
        return folder / "kopt"

    @classmethod
    def run_kopt(cls, name, faults, sandbox):
        kopt = cls.installation(name, faults)
        folder = cls.top / name / "project"
        folder.mkdir()
        text = (DATA / "scale.cu").read_text()
        text = text.replace("EDGE in {8, 16, 32}", "EDGE in {%s}" % ", ".join(map(str, EDGES + [16])))
        (folder / "scale.cu").write_text(text.replace("rows = 500", "rows = 240").replace("columns = 300", "columns = 160"))
        done = subprocess.run(
            [str(kopt), "tune", "scale.cu", "--device", DEVICE, "--proposers", "params", "--build-jobs", "0",
             "--sandbox", sandbox, "--json", *FLAGS], cwd=folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600)
        return done, folder

    @classmethod
    def verdicts(cls, name, faults, sandbox):
        done, folder = cls.run_kopt(name, faults, sandbox)
        assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"
        with sqlite3.connect(folder / ".kopt" / "kopt.db") as database:
            rows = database.execute(
                "SELECT change, verdict, layer, reason, speedup, findings FROM trials ORDER BY id").fetchall()
        found = {}
        for change, verdict, layer, reason, speedup, findings in rows:
            edge = json.loads(change).get("constants", {}).get("EDGE")
            if edge is not None and edge not in found:  # the first: a confirmation comes last
                found[edge] = {"verdict": verdict, "layer": layer, "reason": reason, "speedup": speedup,
                               "findings": findings}
        return found

    def check(self, name):
        found = self.runs[name].result()
        faults = RUNS[name][0]
        self.assertEqual(sorted(found), sorted(EDGES), name)
        victims = {edge: (stage, fault) for edge, stage, fault in faults}
        for edge, trial in found.items():
            if edge in victims and victims[edge][0] not in ("unload", "profile"):
                self.assertNotIn(trial["verdict"], ACCEPTED, f"{name}: {edge} {victims[edge]}: {trial}")
                self.assertTrue(trial["reason"], f"{name}: {edge} {victims[edge]}")
            elif DEVICE == "cuda" and self.reference[edge]["verdict"] in ACCEPTED:
                # Measured times are not the same twice, and a verdict on them may be another near a limit.
                self.assertIn(trial["verdict"], ACCEPTED, f"{name}: {edge}: {trial}")
            else:
                for key in ("verdict", "layer", "reason", "speedup"):
                    self.assertEqual(trial[key], self.reference[edge][key], f"{name}: {edge}: {key}: {trial}")
        return found

    def test_the_reference_judges_every_candidate(self):
        self.assertEqual(sorted(self.reference), sorted(EDGES))
        self.assertTrue(any(trial["verdict"] == 0 for trial in self.reference.values()), "one is faster")

    def test_killed(self):
        found = self.check("killed")
        self.assertIn("signal 9", found[EDGES[6]]["reason"] + found[EDGES[4]]["reason"])

    def test_crashed(self):
        self.check("crashed")

    def test_garbage(self):
        self.check("garbage")

    def test_partial_and_forged_replies(self):
        self.check("partial")

    def test_flood(self):
        self.check("flood")

    def test_poisoned_results(self):
        self.assertEqual(self.check("poison")[3]["verdict"], 6)  # WrongResult

    def test_hangs(self):
        for stage in FRONTEND + RUNNER:
            with self.subTest(stage):
                self.check(f"hang-{stage}")

    def test_without_a_sandbox_too(self):
        self.check("unheld")


if __name__ == "__main__":
    if DEVICE == "cuda" and not has_gpu():
        print("no GPU")
        sys.exit(77)
    unittest.main()
