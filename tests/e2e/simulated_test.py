# SPDX-License-Identifier: Apache-2.0
"""What kopt does for a GPU, on one that is simulated: nvcc, measured times, and the emulated device's second opinion."""

import fcntl
import json
import subprocess
import sys
import unittest

from installation import install
from kopt_test import DATA, FLAGS, KoptTest, find_nvcc
from observe_test import APP, CUDA

INDEX = """  int row = blockIdx.x * EDGE + threadIdx.x;
  int column = blockIdx.y * EDGE + threadIdx.y;"""
COALESCED = """  int row = blockIdx.x * EDGE + threadIdx.y;
  int column = blockIdx.y * EDGE + threadIdx.x;"""
BODY = "    out[row * columns + column] = factor * in[row * columns + column];"
# The row below is the next block's: as long as that one comes later, nobody sees it.
RACING = """    {
    if ((row + 1) % EDGE == 0 && row + 1 < rows)
      out[(row + 1) * columns + column] = 0;
""" + BODY + """
    }"""

# What a model hands in: a block of ROWS times as many rows, for kopt to choose.
OF_MODEL = """```json
{"title": "a block of more rows", "technique": "coarsen",
 "launch": {"grid": ["(rows + EDGE * ROWS - 1) / (EDGE * ROWS)", "(columns + EDGE - 1) / EDGE"]},
 "tunables": [{"name": "ROWS", "values": [1, 2, 4, 8], "value": 2}]}
```
```cuda chunk=scale
__CODE__
```
"""
MORE_ROWS = """  int column = blockIdx.y * EDGE + threadIdx.x;
  for (int i = 0; i < ROWS; ++i) {
    int row = (blockIdx.x * ROWS + i) * EDGE + threadIdx.y;
    if (row < rows && column < columns)
      out[row * columns + column] = factor * in[row * columns + column];
  }
}
"""

# What knowledge/libraries/transpose.cu does, without a GPU.
TRANSPOSE = """#!/usr/bin/python3 -I
import array, sys
rows, columns = int(sys.argv[2]), int(sys.argv[3])
assert len(sys.argv[1]) > 0 and sys.argv[4] == "in" and sys.argv[7] == "out" and sys.argv[6] == sys.argv[9] == "0", sys.argv
before, after = (array.array("f", open(path, "rb").read()) for path in (sys.argv[5], sys.argv[8]))
for row in range(rows):
    for column in range(columns):
        after[column * rows + row] = before[row * columns + column]
open(sys.argv[10], "wb").write(after.tobytes())
time = '{"seconds": 1e-9, "low": 9e-10, "high": 1.1e-9, "samples": 50}'
print('{"warm": %s, "cold": %s}' % (time, time))
"""


class Simulated(KoptTest):
    def setUp(self):
        super().setUp()
        self.program, self.environment = install(self.folder / "installed", "simulated", expression="scale")
        self.base = self.copy(DATA / "scale.cu")

    def run_kopt(self, *arguments):
        return subprocess.run([str(self.program), *map(str, arguments), *FLAGS], cwd=self.folder, env=self.environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)

    def trial(self, *changes):
        text = self.base.read_text()
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        done = self.run_kopt("trial", self.base, "--candidate", self.write("candidate.cu", text), "--device", "cuda", "--json",
                             "--fail-on", "never")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        trial = json.loads(done.stdout)["results"][0]
        return trial, {record["check"]: record for record in trial["checks"]}

    def test_a_win_is_measured_confirmed_and_has_the_second_opinion(self):
        trial, checks = self.trial((INDEX, COALESCED))
        self.assertEqual(trial["verdict"], "Faster", trial["reason"])
        self.assertFalse(trial["speedup"]["modelled"])
        self.assertEqual(trial["speedup"]["processes"], 5)
        self.assertIn("first-look", {finding["id"] for finding in trial["findings"]})
        self.assertEqual(checks["emulated"]["state"], "passed", checks["emulated"])
        self.assertEqual(checks["coverage"]["state"], "passed", checks["coverage"])
        self.assertEqual(checks["schedule"]["state"], "not applicable", checks["schedule"])

    def test_a_claim_allows_for_the_number_of_candidates(self):
        text = self.base.read_text().replace(INDEX, COALESCED)
        other = text.replace(BODY, "    out[row * columns + column] = in[row * columns + column] * factor;")
        self.assertNotEqual(other, text)
        files = [self.write("one.cu", text), self.write("two.cu", other)]
        done = self.run_kopt("trial", self.base, "--candidate", files[0], "--candidate", files[1], "--device", "cuda", "--json")
        trial = json.loads(done.stdout)["results"][0]
        self.assertEqual(trial["verdict"], "Faster", trial["reason"])
        self.assertAlmostEqual(trial["speedup"]["confidence"], 1 - 0.01 / 2)

    def test_a_race_that_the_gpu_does_not_show_is_one(self):
        text = self.base.read_text()
        self.assertIn("float *out", text)  # restricted: on one buffer for both, the results of the race are wrong on the GPU as well
        self.base.write_text(text.replace("float *out", "float *__restrict__ out"))
        trial, checks = self.trial((INDEX, COALESCED), (BODY, RACING))
        self.assertEqual((trial["verdict"], trial["check"]), ("RunFailed", "emulated"), trial)
        self.assertIn("on the emulated device", trial["reason"])
        self.assertEqual(checks["outputs"]["state"], "passed")

    def test_what_is_wrong_on_the_gpu_is_found_there(self):
        trial, _ = self.trial((BODY, BODY.replace("factor *", "1.0001f * factor *")))
        self.assertEqual(trial["verdict"], "WrongResult", trial)
        self.assertNotEqual(trial["check"], "emulated")

    def test_a_change_is_measured_and_confirmed(self):
        def git(*words):
            subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@localhost", *words], cwd=self.folder, check=True,
                           capture_output=True)

        text = self.base.read_text()
        git("init", "-q", "-b", "main")
        self.base.write_text(text.replace(INDEX, COALESCED))
        git("add", "scale.cu")
        git("commit", "-q", "-m", "coalesced")
        for change, code, verdict in ((INDEX, 2, "slower"), (COALESCED + " // the same", 0, None)):
            self.base.write_text(text.replace(INDEX, change))
            done = self.run_kopt("ci", "--base", "main", self.base, "--device", "cuda", "--json")
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
            kernels = json.loads(done.stdout)["results"]
            self.assertEqual([one["verdict"] for one in kernels], [verdict] if verdict else [], kernels)
            for one in kernels:
                self.assertTrue(one["measured"] and one["confirmed"] and not one["speedup"]["modelled"], one)
                self.assertEqual(one["speedup"]["processes"], 8)

    def explained(self, *arguments):
        """The trials of a run, and what is said of it while it runs and afterwards."""
        done = self.run_kopt("tune", self.base, "--device", "cuda", "--trials", "2", "--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        run = json.loads(done.stdout)["results"][0]["run"]
        explain, report = (subprocess.run([str(self.program), *words], cwd=self.folder, env=self.environment, capture_output=True,
                                          text=True, check=True).stdout
                           for words in (("explain", run), ("report", "--run-id", run, "--format", "json")))
        return json.loads(report)["trials"], explain, done.stderr

    def test_the_call_of_a_library_that_computes_the_same_is_measured(self):
        self.assertIn("no call of cuBLAS or CUB", self.explained()[1])
        text = self.base.read_text()
        self.base.write_text(text.replace("out[row * columns + column] = factor *", "out[column * rows + row] ="))
        self.assertRegex(self.explained()[1], r"cublasSgeam failed: error: (cudaGetDeviceCount|no GPU)")
        program = self.folder / "installed" / "cuda" / "bin" / "program"
        program.write_text(TRANSPOSE)
        program.chmod(0o755)
        trials, explain, progress = self.explained()
        hit = trials[0]["diagnosis"]["hits"][0]
        self.assertEqual(hit["id"], "library-call")
        self.assertRegex(hit["finding"], r"^cublasSgeam computes launch .* in 1 ns \[0\.9 ns, 1\.1 ns\] \(the same output within the tolerance\)"
                         r": it is \d+\.\d\dx as fast$")
        self.assertGreater(trials[0]["diagnosis"]["headroom"], 100)
        for said in (explain, progress):
            self.assertIn(hit["finding"], said)
        self.assertNotIn("cublas", "".join(self.explained("--roof", "ignore")[1:]))
        program.write_text(TRANSPOSE.replace("in range(columns)", "in range(columns - 1)"))
        trials, explain, _ = self.explained()
        self.assertIn("cublasSgeam gives another output", explain)
        self.assertNotIn("library-call", [hit["id"] for hit in trials[0]["diagnosis"]["hits"]])

    def doctor(self, *arguments, code=0, env=None):
        done = subprocess.run([str(self.program), "doctor", "--json", *arguments], cwd=self.folder, env={**self.environment, **(env or {})},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        answer = json.loads(done.stdout)
        return answer["details"], {check["check"]: check for check in answer["results"]}

    def test_the_doctor_says_that_tuning_can_start_on_it(self):
        details, checks = self.doctor()
        self.assertRegex(details["conclusion"], "^tuning can start: on the GPU .* sm_90$")
        self.assertEqual((details["device"]["kind"], details["device"]["modelled"]), ("cuda", False))
        self.assertEqual(checks["GPU: another kopt"]["state"], "ok")
        # Nobody can say of it who else uses it.
        self.assertEqual(checks["GPU: other programs"]["state"], "optional")
        self.assertIn("NVML", checks["GPU: other programs"]["detail"])

        lock = self.folder / "installed" / "bin" / "kopt-GPU-simulated.lock"
        with open(lock, "w", encoding="utf-8") as held:
            held.write("4711\n")
            held.flush()
            fcntl.flock(held, fcntl.LOCK_EX)
            _, checks = self.doctor()
        self.assertEqual(checks["GPU: another kopt"]["state"], "optional")
        self.assertIn("another kopt (process 4711)", checks["GPU: another kopt"]["detail"])
        _, checks = self.doctor()
        self.assertEqual(checks["GPU: another kopt"]["state"], "ok")

    def test_a_gpu_without_nvcc_is_none_to_tune_on(self):
        without = {"KOPT_CUDA_PATH": "none"}
        details, checks = self.doctor(code=6, env=without)
        self.assertFalse(details["can_start"])
        self.assertEqual((checks["cuda device"]["state"], checks["nvcc"]["state"]), ("ok", "blocking"))
        self.assertIn("--device emulated", checks["nvcc"]["remedy"])
        self.assertEqual(self.kopt_tune(without), 6)  # which is what the command does
        _, checks = self.doctor("--device", "emulated", env=without)
        self.assertEqual(checks["nvcc"]["state"], "optional")

    def test_more_gpus_than_there_are_is_a_mistake_of_the_configuration(self):
        _, checks = self.doctor(code=1, env={"KOPT_GPUS": "2"})
        self.assertEqual(checks["cuda device"]["state"], "blocking")
        self.assertIn("same device", checks["cuda device"]["detail"])

    def kopt_tune(self, env):
        return subprocess.run([str(self.program), "tune", str(self.base), "--trials", "2", *FLAGS], cwd=self.folder,
                              env={**self.environment, **env}, stdin=subprocess.DEVNULL, capture_output=True, timeout=300).returncode

    def test_the_whole_loop(self):
        done = self.run_kopt("tune", self.base, "--device", "cuda", "--proposers", "params", "--json")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        outcome = json.loads(done.stdout)["results"][0]
        self.assertFalse(outcome["winner"]["speedup"]["modelled"] if outcome.get("winner") else False)
        verdicts = [trial["verdict"] for trial in self.records("trials") if trial["purpose"] == "confirmation"]
        self.assertIn("Faster", verdicts, done.stderr)
        # The report tells of the winner what the confirmation asked, not what its first look left out.
        checked = [event["what"]["checked"] for event in self.records("events") if "checked" in event["what"]]
        said = {kind: [check["text"] for check in checked if check["shown"] == shown]
                for kind, shown in (("verified", True), ("unchecked", False))}
        for layer in ("emulated", "coverage"):
            self.assertTrue([text for text in said["verified"] if text.startswith(layer + ":")], said)
            self.assertFalse([text for text in said["unchecked"] if text.startswith(layer + ":")], said)


    def test_one_search_mixes_declared_numbers_rewrites_a_models_numbers_and_the_compilers_options(self):
        text = self.base.read_text()
        kernel = text[text.index("__global__"):text.index(INDEX)] + MORE_ROWS
        self.write("reply.md", OF_MODEL.replace("__CODE__", kernel))
        done = self.run_kopt("tune", self.base, "--device", "cuda", "--model", "exec:cat > asked; cat reply.md", "--trials", "24", "--json")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        trials = {trial["candidate_hash"]: trial["candidate"] for trial in self.records("trials") if trial["purpose"] == "search"}

        def kinds(candidate):
            """Of the changes that it is made of."""
            of = {"transform": "engine", "llm": "model", "controls": "compiler"}.get(candidate["proposer"])
            if candidate["proposer"] == "params":
                of = "declared" if "EDGE" in candidate["title"] else "of the model"
            return {of} - {None} | set().union(*(kinds(trials[parent]) for parent in candidate["parents"]))

        mixed = [kinds(each) for each in trials.values()]
        self.assertEqual(set.union(*mixed), {"declared", "engine", "model", "of the model", "compiler"})


@unittest.skipUnless(APP.exists(), "this build has no capture library")
class Captured(KoptTest):
    def test_captured_launches_are_checked_at_their_size(self):
        program, environment = install(self.folder / "installed", "simulated", expression="blend")
        base = self.copy(DATA / "captured.cu")

        def trial(name, new):
            candidate = self.write(name, base.read_text().replace("factor * in[i] + add[i]", new))
            done = subprocess.run([str(program), "trial", base, "--kernel", "blend", "--candidate", candidate, "--device", "cuda",
                                   "--json", "--fail-on", "never", "--run", f"{APP} blend", *FLAGS], cwd=self.folder, env=environment | CUDA,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            return json.loads(done.stdout)["results"][0]

        # What is added was 0 in the program.
        dropped = trial("dropped.cu", "factor * in[i]")
        self.assertEqual((dropped["verdict"], dropped["check"]), ("WrongResult", "contents"), dropped)
        right = trial("right.cu", "factor * __ldg(in + i) + add[i]")
        states = {record["check"]: (record["state"], record["detail"]) for record in right["checks"]}
        for check in ("fresh", "scalars", "sizes", "contents", "alignment", "repeat", "reference", "coverage", "emulated"):
            self.assertEqual(states[check][0], "passed", (check, states[check]))


if __name__ == "__main__":
    if not find_nvcc():
        print("no nvcc")
        sys.exit(77)
    unittest.main()
