# SPDX-License-Identifier: Apache-2.0
"""kopt observe, replay and --run, on a program between a fake CUDA driver and a fake CUPTI (tests/fakes/cuda), whose outputs
were computed by host code of the same kernels; replayed on the emulated device."""

import json
import os
import shutil
import unittest

from kopt_test import BIN, DATA, SOURCE, KoptTest

FAKES = BIN.parent / "tests" / "fakes" / "cuda"
APP = FAKES / "fake_cuda_app"
CUDA = {"LD_LIBRARY_PATH": str(FAKES / "cuda"), "KOPT_CUPTI": str(FAKES / "cupti" / "libcupti.so"),
        "FAKE_APP_CUBIN": str(SOURCE / "tests" / "unit" / "runtime" / "capture" / "captured.cubin")}
FLAGS = ["--", "-std=c++17"]


@unittest.skipUnless(APP.exists(), "this build has no capture library")
class ObserveTest(KoptTest):
    def observe(self, *arguments, scenes=("scale", "weigh", "gather"), app=APP, **more):
        return self.kopt("observe", *arguments, "--", app, *scenes, env={**CUDA, **more.pop("env", {})}, **more)

    def observed(self, *arguments, **more):
        done = self.observe("--json", *arguments, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def replay(self, file, *arguments, trace="kopt.trace"):
        return self.kopt("replay", trace, file, "--device", "emulated", *arguments, *FLAGS, timeout=300)

    def fails(self, done, code, *words):
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        if done.stdout: # the error, as JSON
            self.assertEqual(json.loads(done.stdout)["results"], [])


class Observe(ObserveTest):
    def test_kernels_are_ranked_by_their_time(self):
        out = self.observed(self.copy(DATA / "captured.cu"))
        names = [kernel["name"] for kernel in out["results"]]
        self.assertEqual(names, ["scale", "weigh", "gather"])
        scale = out["results"][0]
        self.assertEqual(scale["launches"], 13)
        self.assertAlmostEqual(scale["seconds"], (12 * 8 + 40) * 1e-6, places=9)
        self.assertAlmostEqual(scale["mean_seconds"] * 13, scale["seconds"])
        self.assertEqual([kind["grid"] for kind in scale["kinds"]], [[8, 1, 1], [40, 1, 1]])
        self.assertTrue(scale["source"]["file"].endswith("captured.cu"))
        self.assertFalse(scale["source"]["annotated"])
        self.assertAlmostEqual(sum(kernel["share"] for kernel in out["results"]), 1)
        self.assertIsNone(out["details"]["trace"])
        self.assertEqual(sorted(os.listdir(self.folder)), ["captured.cu"])

    def test_the_table_for_people(self):
        done = self.observe()
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0].split(), ["launches", "total", "share", "mean", "kinds", "kernel"])
        self.assertRegex(lines[1], r"^ +13 .* 2  scale$")
        self.assertIn("checksum", done.stderr)

    def test_a_program_without_times_is_counted(self):
        out = self.observed(scenes=("many", "50"))
        self.assertEqual(out["results"][0]["launches"], 50)

    def test_snapshots_of_what_is_named(self):
        out = self.observed("--kernel", "scale", "--output", "here")
        scale = next(kernel for kernel in out["results"] if kernel["name"] == "scale")
        self.assertEqual([kind["snapshots"] for kind in scale["kinds"]], [2, 1])
        self.assertTrue(scale["snapshotted"])
        self.assertEqual(out["details"]["trace"], str(self.folder / "here"))
        again = self.observe("--kernel", "scale", "--output", "here")
        self.fails(again, 1, "here exists and is not empty", "--output")

    def test_the_cap_is_said(self):
        done = self.observe("--kernel", "scale", "--max-bytes", "30k")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("limit of", done.stderr)

    def test_graphs_children_and_threads(self):
        out = self.observed(scenes=("graph", "threads", "child"))
        self.assertEqual(len(out["details"]["processes"]), 2)
        self.assertEqual(sum(kernel["launches"] for kernel in out["results"]), 4 + 3 + 4000 + 13)

    def test_a_program_that_ends_with_another_code_is_observed_with_a_warning(self):
        done = self.observe("--json", scenes=("many", "50", "exit", "7"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("ended with exit code 7: its launches before that are used", done.stderr)
        self.assertEqual(json.loads(done.stdout)["results"][0]["launches"], 50)

    def test_what_goes_wrong_is_said_clearly(self):
        self.fails(self.observe("--kernel", "scael"), 1, "scael", "scale", "it launched")
        self.fails(self.observe(app="./nowhere"), 1, "nowhere")
        self.fails(self.observe(scenes=("exit", "7")), 4, "exit code 7")
        self.fails(self.observe(scenes=("killed",)), 4, "137")
        self.fails(self.observe(env={"FAKE_APP_WITHOUT_CUDA": "1"}), 4, "never used CUDA")
        self.fails(self.observe(scenes=("fails",)), 4, "launched no kernel")
        self.fails(self.observe("--snapshot", "3"), 1, "--kernel")
        self.fails(self.kopt("observe"), 1, "program")
        self.fails(self.observe(env={"LD_LIBRARY_PATH": ""}), 6, "the CUDA driver is missing", "replayed")
        nothing = self.write("libcupti.so", "no library")
        self.fails(self.observe(env={"KOPT_CUPTI": str(nothing), "CUDA_HOME": "/nowhere", "CUDA_PATH": "/nowhere"}),
                   6, "CUPTI", "KOPT_CUPTI")

    def test_doctor_speaks_of_it(self):
        done = self.kopt("doctor", "--json", env=CUDA)
        checks = {check["check"]: check for check in json.loads(done.stdout)["results"]}
        self.assertTrue(checks["capture library"]["ok"])
        self.assertTrue(checks["CUPTI"]["ok"])


class Replay(ObserveTest):
    def test_replayed_launches_give_what_the_program_had(self):
        file = self.copy(DATA / "captured.cu")
        self.observed("--kernel", "*")
        # One of the launches of gather is cooperative; one has clusters and is left out.
        for kernel, launches in (("scale", 3), ("weigh", 2), ("gather", 2)):
            done = self.replay(file, "--kernel", kernel, "--json")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            outcome = json.loads(done.stdout)["results"][0]
            self.assertEqual([launch["match"] for launch in outcome["launches"]], ["identical"] * launches, outcome)

    def test_another_kernel_gives_something_else(self):
        file = self.write("captured.cu", (DATA / "captured.cu").read_text().replace("factor * in[i]", "factor * in[i] + 1"))
        self.observed("--kernel", "scale")
        done = self.replay(file, "--kernel", "scale")
        self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
        self.assertIn("differs", done.stdout)
        self.assertIn("0 of 3", done.stdout)
        self.assertIn("(emulated H200)", done.stdout)

    def test_a_stale_trace_is_never_used(self):
        app = shutil.copy(APP, self.folder / "app")
        self.observed("--kernel", "weigh", app=app)
        text = (DATA / "captured.cu").read_text()
        longer = self.write("longer.cu", text.replace("  int count;", "  int count;\n  double extra[2];"))
        self.fails(self.replay(longer, "--kernel", "weigh"), 5, "signature", "observe the program again")
        with open(app, "ab") as file:
            file.write(b"rebuilt")
        self.fails(self.replay(self.copy(DATA / "captured.cu"), "--kernel", "weigh"), 5, "has changed since", "app")

    def test_what_is_no_trace_is_named(self):
        file = self.copy(DATA / "captured.cu")
        self.fails(self.replay(file, "--kernel", "scale", trace="nowhere"), 1, "nowhere", "kopt observe")
        self.observed("--kernel", "scale")
        log = next((self.folder / "kopt.trace").glob("process-*/launches.klog"))
        content = bytearray(log.read_bytes())
        content[4096 + 16] = 13
        log.write_bytes(content)
        self.fails(self.replay(file, "--kernel", "scale"), 5, "byte 4112")


class Run(ObserveTest):
    def trial(self, candidate, run=f"{APP} scale weigh", env=CUDA, kernel="scale"):
        done = self.kopt("trial", self.copy(DATA / "captured.cu"), "--kernel", kernel, "--candidate", candidate,
                         "--device", "emulated", "--json", "--run", run, *FLAGS, env=env, timeout=600)
        return done, json.loads(done.stdout)["results"][0] if done.returncode in (0, 2) else None

    def changed(self, old, new, name="candidate.cu"):
        text = (DATA / "captured.cu").read_text()
        self.assertIn(old, text)
        return self.write(name, text.replace(old, new))

    def test_a_trial_on_the_programs_own_launches(self):
        wrong = self.changed("factor * in[i]", "(i == 4321 ? 0 : factor) * in[i]")
        done, verdict = self.trial(wrong)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(verdict["verdict"], "WrongResult", verdict)
        self.assertIn("4321", verdict["reason"])
        self.assertIn("grid 40", verdict["reason"])
        # The trace is kept: without a driver too it serves, until the program changes.
        right = self.changed("factor * in[i]", "in[i] * factor", "right.cu")
        done, verdict = self.trial(right, env={})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("earlier run", done.stderr)
        self.assertIn(verdict["verdict"], ("Same", "Duplicate", "Faster"), verdict)
        done, _ = self.trial(right, run=f"{APP} scale", env={})
        self.fails(done, 6, "the CUDA driver is missing")

    def test_captured_launches_are_checked_as_declared_ones_are(self):
        # What is added was 0 in the program: who leaves it out is right on what was captured, and nowhere else.
        dropped = self.changed("factor * in[i] + add[i]", "factor * in[i]", "dropped.cu")
        done, verdict = self.trial(dropped, run=f"{APP} blend", kernel="blend")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual((verdict["verdict"], verdict["check"]), ("WrongResult", "contents"), verdict)
        self.assertIn("constant ones replaced", verdict["reason"])
        # The original may be used in place, as each element depends on itself alone.
        cleared = self.changed("out[i] = factor * in[i];", "out[i] = 0, out[i] = factor * in[i];", "cleared.cu")
        done, verdict = self.trial(cleared)
        self.assertEqual((verdict["verdict"], verdict["check"]), ("WrongResult", "alignment"), verdict)
        self.assertIn("'in' and 'out' one buffer", verdict["reason"])
        right = self.changed("factor * in[i] + add[i]", "factor * __ldg(in + i) + add[i]", "right.cu")
        done, verdict = self.trial(right, run=f"{APP} blend", kernel="blend")
        self.assertEqual(done.returncode, 0, done.stderr)
        states = {record["check"]: (record["state"], record["detail"]) for record in verdict["checks"]}
        for check in ("outputs", "fresh", "scalars", "sizes", "contents", "alignment", "repeat", "reference", "coverage"):
            self.assertEqual(states[check][0], "passed", (check, states[check]))

    def test_tune_takes_the_launches_of_the_program(self):
        file = self.copy(DATA / "captured.cu")
        done = self.kopt("tune", file, "--kernel", "scale", "--device", "emulated", "--json", "--trials", "3", "--run",
                         f"{APP} scale", *FLAGS, env=CUDA, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("grid 40 block 128", done.stderr)

    def test_a_command_that_needs_a_shell_is_refused(self):
        done, _ = self.trial(self.copy(DATA / "captured.cu", "same.cu"), run="./app | tee log")
        self.fails(done, 1, "needs a shell", "script")


if __name__ == "__main__":
    unittest.main()
