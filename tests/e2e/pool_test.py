# SPDX-License-Identifier: Apache-2.0
"""Several devices judge candidates at a time: what is recorded is what one records, in the same order, also after a kill of
kopt or of a runner, and where a device is lost in the middle."""

import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
import unittest

from installation import install
from kopt_test import BIN, DATA, FLAGS, KoptTest

EDGES = "2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 32"
OF_ONE_EXECUTION = ("id", "gpu", "seconds", "stages", "findings")  # of a trial: where it ran and how long that took



class Pool(KoptTest):
    reference = None

    def setUp(self):
        super().setUp()
        text = (DATA / "scale.cu").read_text()
        for old, new in (("rows = 500", "rows = 96"), ("columns = 300", "columns = 64"), ("{8, 16, 32}", "{%s}" % EDGES)):
            self.assertIn(old, text)
            text = text.replace(old, new)
        self.write("scale.cu", text)
        if Pool.reference is None:
            start = time.monotonic()
            self.kopt_ok(*self.command("1"))
            Pool.whole = time.monotonic() - start
            Pool.reference = self.state()
            self.assertGreater(len(Pool.reference[0]), 10)
            self.assertEqual(self.gpus(), ["0 emulated"])
            self.restart()

    def command(self, gpus, *more):
        return ["tune", "scale.cu", "--device", "emulated", "--seed", "7", "--trials", "14", "--json", "--build-jobs", "2",
                "--gpus", gpus, *more, *FLAGS]

    def restart(self):
        for name in (".kopt", "kopt.out"):
            shutil.rmtree(self.folder / name, ignore_errors=True)

    def state(self):
        # Hot lines name the file in this test's own folder.
        trials = json.loads(json.dumps(self.records("trials")).replace(str(self.folder), "FOLDER"))
        for trial in trials:
            for name in OF_ONE_EXECUTION:
                del trial[name]
        events = [event for event in self.records("events") if "time" not in event["what"]]  # the clock's
        runs = [(run["winner_hash"], run["stop_text"], run["state"]) for run in self.records("runs")]
        return [trials, events, runs]

    def gpus(self):
        return sorted({trial["gpu"] for trial in self.records("trials")} - {""})

    def check(self):
        for found, expected in zip(self.state(), Pool.reference):
            self.assertEqual(found, expected)

    def test_two_record_what_one_does(self):
        self.records_what_one_does("2")

    def test_a_list_of_three_records_what_one_does(self):
        self.records_what_one_does("3,1,0")

    def records_what_one_does(self, gpus):
        self.kopt_ok(*self.command(gpus))
        self.check()
        self.assertGreater(len(self.gpus()), 1)
        first = gpus[0] if "," in gpus else "0"
        confirmed = {trial["gpu"] for trial in self.records("trials")
                     if trial["purpose"] == "confirmation" or trial["candidate"]["proposer"] == "baseline"}
        self.assertEqual(confirmed, {f"{first} emulated"})
        report = next(self.folder.glob("kopt.out/*/report.md")).read_text()
        self.assertIn("| on GPU |", report)

    def test_killed_it_goes_on_with_as_many_as_it_is_given(self):
        for part, gpus in ((0.4, "2"), (0.6, "1"), (0.8, "3")):
            child = subprocess.Popen([str(BIN / "kopt"), *self.command("2")], cwd=self.folder, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                child.wait(timeout=part * Pool.whole)
            except subprocess.TimeoutExpired:
                os.kill(child.pid, signal.SIGKILL)
                child.wait()
            self.kopt_ok(*self.command(gpus, "--resume"))
            self.check()
            self.restart()

    def judged(self):
        """Trials on record; none while the database is being made."""
        try:
            return len(self.rows("SELECT id FROM trials"))
        except sqlite3.OperationalError:
            return 0

    def runners(self, kopt):
        parents = {}
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                stat, command = (folder / "stat").read_text(), (folder / "cmdline").read_bytes().split(b"\0")[0]
            except OSError:
                continue
            parents[int(folder.name)] = (int(stat.rsplit(")", 1)[1].split()[1]), command)
        found = []
        for pid, (parent, command) in parents.items():
            if not command.endswith(b"kopt-runner"):
                continue
            while parent in parents and parent != kopt:
                parent = parents[parent][0]
            if parent == kopt:
                found.append(pid)
        return sorted(found)

    def test_runners_that_are_killed_change_no_verdict(self):
        child = subprocess.Popen([str(BIN / "kopt"), *self.command("2")], cwd=self.folder, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        errors = []
        reader = threading.Thread(target=lambda: errors.append(child.stderr.read()))
        reader.start()
        killed = []
        while child.poll() is None:
            time.sleep(0.02)
            # Each once, after the baseline: two that fail in a row while they start are a machine that is broken.
            if len(killed) < 2 and self.judged() > len(killed):
                runners = [pid for pid in self.runners(child.pid) if pid not in killed]
                if runners:
                    os.kill(runners[0], signal.SIGKILL)
                    killed.append(runners[0])
        reader.join()
        child.stderr.close()
        self.assertEqual(child.returncode, 0, errors)
        self.assertGreater(len(killed), 0)
        self.check()

    def test_a_device_that_is_lost_leaves_its_candidate_to_another(self):
        kopt, _ = install(self.folder / "installed", "emulated")
        folder = kopt.parent
        (folder / "faults.1").write_text("* run kill\n- probe quit\n")
        done = subprocess.run([str(kopt), *self.command("2")], cwd=self.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, "GPU 1 emulated leaves the pool, 1 left: .*failed the probe")
        self.check()
        self.assertEqual(self.gpus(), ["0 emulated"])
        notes = [trial for trial in self.records("trials") if "left the pool" in str(trial["findings"])]
        self.assertEqual(len(notes), 1)

        # Where none is left the run ends, and goes on where one is again.
        self.restart()
        (folder / "faults.0").write_text("* time kill\n- probe quit\n")
        done = subprocess.run([str(kopt), *self.command("2")], cwd=self.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600)
        self.assertEqual(done.returncode, 6, done.stdout + done.stderr)
        self.assertIn("--resume", done.stderr)
        self.kopt_ok(*self.command("1", "--resume"))
        self.check()

    def test_what_is_no_pool_is_said(self):
        for gpus, words in (("0", "a single number is a count"), ("0,0", "named twice"), ("x", "'x' is not a valid GPU ordinal"),
                            ("all", "give a number")):
            done = self.kopt(*self.command(gpus))
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
