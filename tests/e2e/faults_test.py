# SPDX-License-Identifier: Apache-2.0
"""Whatever is killed, hangs, talks nonsense, floods or is poisoned at whatever stage: the run goes on, and every other
candidate's verdict is the one that it has without faults. KOPT_FAULT_DEVICE: emulated, cuda, or simulated: with nvcc and all that
kopt does for a GPU, but for the GPU (see fakes/SimulatedGpu.h). KOPT_FAULT_SMOKE: one run with a runner that is killed, one that
talks nonsense and one that hangs, and few candidates."""

import concurrent.futures
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import traceback
import unittest

from installation import install
from kopt_test import DATA, FLAGS, find_nvcc, has_gpu

DEVICE = os.environ.get("KOPT_FAULT_DEVICE", "emulated")
KIND = "emulated" if DEVICE == "emulated" else "cuda"
SMOKE = "KOPT_FAULT_SMOKE" in os.environ
ACCEPTED = {"Faster", "Same", "Slower", "Ambiguous"}
EDGES = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]  # in the order in which they are judged: candidates 1 to 12
if SMOKE:
    EDGES = [4, 8, 9, 12, 13]
SOURCE_STAGES = ["screen", "emulate" if DEVICE == "emulated" else "build"]
RUNNER = ["load", "run", "time", "profile"]


def at_every_stage(fault):
    return [(edge, stage, fault) for edge, stage in zip(EDGES[::2], SOURCE_STAGES + RUNNER)]


# Not for the first candidates: deadlines follow from what was answered before.
HANGS = [(edge, stage, "hang") for edge, stage in zip(EDGES[3:], SOURCE_STAGES + RUNNER)]

# Whole runs of kopt by name: their faults, and the sandbox.
RUNS = {} if SMOKE else {
    "killed": (at_every_stage("kill") + [(EDGES[-1], "unload", "kill")], "auto"),
    "crashed": (at_every_stage("crash") + [(EDGES[-1], "unload", "quit")], "auto"),
    "garbage": (at_every_stage("garbage") + [(EDGES[-1], "unload", "garbage")], "auto"),
    "partial": (at_every_stage("partial") + [(EDGES[1], "run", "forge"), (EDGES[3], "time", "forge"),
                                             (EDGES[5], "unload", "forge"), (EDGES[7], "run", "quit"),
                                             (EDGES[9], "run", "silent")], "auto"),
    "flood": (at_every_stage("flood"), "auto"),
    "poison": ([(3, "run", "poison"), (7, "run", "poison")], "auto"),
    "unheld": ([(2, "load", "kill"), (4, "run", "garbage"), (6, SOURCE_STAGES[1], "kill"), (8, "unload", "kill")], "off"),
}
if SMOKE:
    RUNS = {"smoke": ([(4, "load", "kill"), (9, "run", "garbage"), (12, "emulate", "hang")], "auto")}
elif DEVICE == "emulated":  # one for each, as they wait beside each other
    RUNS |= {f"hang-{hang[1]}": ([hang], "auto") for hang in HANGS}
elif DEVICE == "cuda":  # a GPU they have in turns
    RUNS |= {"hang-sources": (HANGS[:2], "auto"), "hang-runner": (HANGS[2:], "auto")}
else:  # what is not on the emulated device: nvcc, and a runner that measures
    RUNS = {
        "compiler": ([(edge, "build", fault) for edge, fault in
                      zip(EDGES[::2], ("kill", "crash", "garbage", "partial", "flood", "hang"))], "auto"),
        "runner": ([(2, "load", "kill"), (4, "run", "garbage"), (6, "time", "crash"), (7, "time", "partial"),
                    (9, "unload", "forge"), (10, "run", "poison"), (12, "profile", "kill"), (13, "time", "hang")], "auto"),
    }


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.top = pathlib.Path(tempfile.mkdtemp(prefix="kopt-faults-"))
        cls.addClassCleanup(shutil.rmtree, cls.top, ignore_errors=True)
        # All copies first: a child of another thread that has one open for writing makes it "text file busy".
        cls.installations = {name: cls.installation(name, faults)
                             for name, (faults, _) in {"reference": ([], ""), **RUNS}.items()}
        cls.reference = cls.verdicts("reference", "auto")
        # All at once: they wait more than they compute.
        pool = concurrent.futures.ThreadPoolExecutor(len(RUNS))
        cls.addClassCleanup(pool.shutdown, cancel_futures=True)
        cls.runs = {name: pool.submit(cls.verdicts, name, sandbox) for name, (_, sandbox) in RUNS.items()}

    @classmethod
    def installation(cls, name, faults):
        """Programs that go wrong: `faults` are (edge, stage, fault). Returns kopt and its environment."""
        return install(
            cls.top / name, DEVICE, expression="scale",
            runner_faults="".join(f"{EDGES.index(edge) + 1} {stage} {fault}\n"
                                  for edge, stage, fault in faults if stage not in SOURCE_STAGES),
            source_faults="".join(f"EDGE = {edge};|{stage}|{fault}\n"
                                  for edge, stage, fault in faults if stage in SOURCE_STAGES))

    @classmethod
    def run_kopt(cls, name, sandbox):
        kopt, environment = cls.installations[name]
        folder = cls.top / name / "project"
        folder.mkdir()
        text = (DATA / "scale.cu").read_text()
        text = text.replace("EDGE in {8, 16, 32}", "EDGE in {%s}" % ", ".join(map(str, EDGES + [16])))
        (folder / "scale.cu").write_text(text.replace("rows = 500", "rows = 320").replace("columns = 300", "columns = 240"))
        done = subprocess.run(
            [str(kopt), "tune", "scale.cu", "--device", KIND, "--proposers", "params", "--build-jobs", "0",
             "--patience", "100", "--sandbox", sandbox, "--json", *FLAGS], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600)
        return done, folder

    @classmethod
    def verdicts(cls, name, sandbox):
        done, folder = cls.run_kopt(name, sandbox)
        assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"
        with sqlite3.connect(folder / ".kopt" / "kopt.db") as database:
            rows = database.execute("SELECT record FROM trials ORDER BY id").fetchall()
        found = {}
        for trial in (json.loads(record) for (record,) in rows):
            edge = trial["candidate"]["constants"].get("EDGE")
            if edge is not None and edge not in found:  # the first: a confirmation comes last
                found[edge] = trial
        return found

    def check(self, name):
        try:
            return self.checked(name)
        except BaseException:
            traceback.print_exc()  # at once: the others take minutes
            raise

    def checked(self, name):
        found = self.runs[name].result()
        faults = RUNS[name][0]
        self.assertEqual(sorted(found), sorted(EDGES), name)
        victims = {edge: (stage, fault) for edge, stage, fault in faults}
        for edge, trial in found.items():
            if edge in victims and victims[edge][0] not in ("unload", "profile"):
                self.assertNotIn(trial["verdict"], ACCEPTED, f"{name}: {edge} {victims[edge]}: {trial}")
                self.assertTrue(trial["reason"], f"{name}: {edge} {victims[edge]}")
            elif KIND == "cuda" and self.reference[edge]["verdict"] in ACCEPTED:
                # Measured times are not the same twice, and a verdict on them may be another near a limit.
                self.assertIn(trial["verdict"], ACCEPTED, f"{name}: {edge}: {trial}")
            else:
                for key in ("verdict", "stage", "reason", "speedup"):
                    self.assertEqual(trial[key], self.reference[edge][key], f"{name}: {edge}: {key}: {trial}")
        return found

    def test_the_reference_judges_every_candidate(self):
        self.assertEqual(sorted(self.reference), sorted(EDGES))
        self.assertTrue(any(trial["verdict"] == "Faster" for trial in self.reference.values()), "one is faster")

    def test_every_other_verdict_is_the_same(self):
        for name in RUNS:
            with self.subTest(name):
                found = self.check(name)
                if name == "killed":
                    self.assertIn("signal 9", found[EDGES[6]]["reason"] + found[EDGES[4]]["reason"])
                if name == "poison":
                    self.assertEqual(found[3]["verdict"], "WrongResult")


if __name__ == "__main__":
    if (DEVICE == "cuda" and not has_gpu()) or (KIND == "cuda" and not find_nvcc()):
        print("no GPU, or no nvcc")
        sys.exit(77)
    unittest.main()
