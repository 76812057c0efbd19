# SPDX-License-Identifier: Apache-2.0
"""kopt tune in the shortest way: the program chooses the kernels; and what a run does when its time is up, a model fails or it
is interrupted."""

import json
import os
import signal
import subprocess
import time
import unittest

from kopt_test import BIN, DATA, FLAGS, KoptTest
from observe_test import APP, CUDA

EMULATED = ["--device", "emulated"]


class ProgramTest(KoptTest):
    def tune_program(self, *arguments, scenes="scale weigh gather", flags=("--", "-std=c++17"), env=CUDA, code=0):
        done = self.kopt("tune", *arguments, *EMULATED, "--trials", "3", "--json", "--run", f"{APP} {scenes}", *flags, env=env)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done, json.loads(done.stdout)


@unittest.skipUnless(APP.exists(), "this build has no capture library")
class TheProgramChooses(ProgramTest):
    def test_kernels_with_most_of_the_time_are_taken(self):
        file = self.copy(DATA / "captured.cu")
        done, out = self.tune_program(file)
        shares = [(kernel["kernel"], kernel["share"]) for kernel in out["results"]]
        self.assertEqual(shares[0][0], "scale")
        self.assertEqual(shares, sorted(shares, key=lambda pair: -pair[1]))
        self.assertGreaterEqual(sum(share for _, share in shares), 0.8)
        self.assertNotIn("blend", dict(shares), "it was not launched")
        self.assertIn("kernel 1 of", done.stderr)
        self.assertRegex(done.stderr, r"scale, \d+(\.\d)?% of kernel time, \d+ s of 1800 s left")
        for kernel in out["results"]:
            self.assertIsNone(kernel["error"])
            self.assertIn("search", kernel["stages"])
        self.assertGreater(out["details"]["stages"]["observe"], 0)
        self.assertGreater(out["details"]["stages"]["extract"], 0)
        # The same again: the trace is kept, and says the same. No driver is needed for that.
        again, repeated = self.tune_program(file, env={})
        self.assertIn("earlier run", again.stderr)
        self.assertEqual([(kernel["kernel"], kernel["share"]) for kernel in repeated["results"]], shares)
        self.assertIn("Where the time went", self.kopt_ok("report").stdout)

    def test_a_database_is_enough(self):
        self.copy(DATA / "captured.cu")
        self.write("broken.cu", "this is no C++\n")
        self.write("host.cpp", "int main() {}\n")
        commands = [{"directory": str(self.folder), "file": name, "command": f"{compiler} -std=c++17 -c {name}"}
                    for compiler, name in (("nvcc", "captured.cu"), ("nvcc", "broken.cu"), ("g++", "host.cpp"))]
        self.write("compile_commands.json", json.dumps(commands))
        done, out = self.tune_program("-p", ".", scenes="scale", flags=())
        self.assertEqual(out["results"][0]["kernel"], "scale")
        self.assertIn("broken.cu does not compile, so its kernels are left out", done.stderr)
        listed = json.loads(self.kopt_ok("list", "-p", ".", "--json").stdout)["results"]
        self.assertIn("blend", [kernel["kernel"] for kernel in listed])

    def test_a_dry_run_says_that_it_cannot_choose(self):
        done, _ = self.tune_program(self.copy(DATA / "captured.cu"), "--dry-run", code=1)
        self.assertIn("--kernel", done.stderr)

    def test_observe_takes_flags_too(self):
        text = (DATA / "captured.cu").read_text()
        file = self.write("flags.cu", "#ifndef WANTED\n#error WANTED is missing\n#endif\n" + text)
        done = self.kopt_ok("observe", file, "--json", "--run", f"{APP} scale", "--", "-std=c++17", "-DWANTED", env=CUDA)
        self.assertTrue(json.loads(done.stdout)["results"][0]["source"]["file"].endswith("flags.cu"))


@unittest.skipUnless(APP.exists(), "this build has no capture library")
class TheProgramChoosesAgain(ProgramTest):
    """In the soak lane."""

    def test_a_kernel_that_cannot_be_repeated_is_skipped(self):
        # `nothing` is in no file; the node of a graph cannot be launched alone.
        done, out = self.tune_program(self.copy(DATA / "captured.cu"), scenes="graph scale", code=0)
        self.assertEqual([kernel["kernel"] for kernel in out["results"] if not kernel["skipped"]], ["scale"], done.stderr)

    def test_names_still_select_and_unlaunched_ones_are_no_error(self):
        file = self.copy(DATA / "captured.cu")
        _, out = self.tune_program(file, "--kernel", "weigh", "--kernel", "blend")
        self.assertEqual([kernel["kernel"] for kernel in out["results"]], ["weigh"])
        done, _ = self.tune_program(file, "--kernel", "blend", code=1)
        self.assertIn("launched none of the kernels: blend", done.stderr)
        self.assertNotIn("--no-proof", done.stderr, "a note that says nothing about the error")

    def test_what_is_not_in_the_files_is_named(self):
        text = (DATA / "captured.cu").read_text()
        cut = text.index("__global__ void scale"), text.index("__global__ void weigh")
        self.write("part.cu", text[:cut[0]] + text[cut[1]:].replace("  scale<<<", "  // scale<<<"))
        done, out = self.tune_program("part.cu", scenes="scale weigh")
        self.assertEqual([kernel["kernel"] for kernel in out["details"]["not_in_files"]], ["scale"])
        self.assertRegex(done.stderr, r"not in the given files, so not tuned: scale \(\d+\.\d%\)")
        self.assertEqual(out["results"][0]["kernel"], "weigh")


class Init(KoptTest):
    def test_what_init_writes_is_enough_to_begin(self):
        text = (DATA / "captured.cu").read_text()
        self.write("captured.cu", text[:text.index("void launchAll")] + "void run(float *out, const float *in, int count) {\n"
                   "  scale<<<(count + 127) / 128, 128>>>(out, in, 2, count);\n}\n")
        done = self.kopt_ok("init", "captured.cu", "--kernel", "scale", "--json", "--", "-std=c++17")
        clauses = {clause["clause"]: clause["check"] for clause in json.loads(done.stdout)["results"][0]["clauses"]}
        self.assertEqual(clauses, {"arg factor = 2": False, "arg n = 1048576": True, "extent out = n": True, "extent in = n": True})
        self.assertIn("check: not known here: the launch at captured.cu", (self.folder / "kopt.toml").read_text())
        ready = self.kopt_ok("tune", "captured.cu", *EMULATED, "--dry-run", "--", "-std=c++17")
        self.assertIn("scale: ready to tune", ready.stdout)
        again = self.kopt_ok("init", "captured.cu", "--kernel", "scale", "--", "-std=c++17")
        self.assertIn("every kernel has the clauses", again.stdout)

    def test_its_sizes_fit_each_other_and_its_last_line_is_a_command(self):
        self.write("rows.cu", """#include <vector>
__global__ void rowSums(const float *in, float *out, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float sum = 0;
  for (int col = 0; col < cols; ++col)
    sum += in[row * cols + col];
  out[row] = sum;
}
void run(const std::vector<float> &host, int rows, int cols) {
  float *in, *out;
  cudaMalloc(&in, host.size() * sizeof(float));
  cudaMalloc(&out, rows * sizeof(float));
  cudaMemcpy(in, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
  rowSums<<<(rows + 255) / 256, 256>>>(in, out, rows, cols);
}
__global__ void columns(const float *in, float *out, int rows, int cols) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  for (int row = 0; row < rows && col < cols; ++row)
    out[row * cols + col] = 2 * in[row * cols + col];
}
void runColumns(const float *in, float *out, int rows, int cols) { columns<<<(cols + 255) / 256, 256>>>(in, out, rows, cols); }
""")
        done = self.kopt_ok("init", "rows.cu", "--", "-std=c++17")
        text = (self.folder / "kopt.toml").read_text()
        for clause in ("arg rows = 1024", "arg cols = 1024", "arg host.size() = rows * cols", "extent in = host.size()", "extent out = rows",
                       "extent in = cols * rows"):
            self.assertIn(f'"{clause}",', text)
        command = done.stdout.rsplit("then type '", 1)[1].rstrip("'\n").split()
        self.assertEqual(command, ["kopt", "tune", "rows.cu", "--", "-std=c++17"])
        self.kopt_ok(*command[1:3], *EMULATED, "--trials", "2", *command[3:])


    def test_a_kernel_that_no_clause_can_give_is_left_out(self):
        self.write("lambda.cu", """#include <vector>
template <class F> __global__ void forEach(F f, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    f(i);
}
__global__ void outer(const double *a, const double *b, double *m, int rows, int cols) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (col < cols)
    m[row * cols + col] = a[row] * b[col];
}
struct Times2 { float *p; __device__ void operator()(int i) const { p[i] *= 2; } };
void run(float *p, int n) { forEach<<<(n + 255) / 256, 256>>>(Times2{p}, n); }
void run(const std::vector<double> &ha, const std::vector<double> &hb) {
  double *a, *b, *m;
  int rows = ha.size(), cols = hb.size();
  cudaMalloc(&a, ha.size() * sizeof(double));
  cudaMalloc(&b, hb.size() * sizeof(double));
  cudaMalloc(&m, rows * cols * sizeof(double));
  outer<<<dim3((cols + 127) / 128, rows), 128>>>(a, b, m, rows, cols);
}
""")
        done = self.kopt_ok("init", "lambda.cu", "--", "-std=c++17")
        text = (self.folder / "kopt.toml").read_text()
        self.assertIn("# kernel 'forEach' takes the struct 'f'", text)
        self.assertNotIn('name = "forEach"', text)
        for clause in ("arg rows = 1024", "arg cols = 1024", "arg ha.size() = rows", "arg hb.size() = cols", "extent a = ha.size()"):
            self.assertIn(f'"{clause}",', text)
        command = done.stdout.rsplit("then type '", 1)[1].rstrip("'\n").split()
        self.kopt_ok(*command[1:3], *EMULATED, "--dry-run", *command[3:])
        self.assertIn("every kernel has", self.kopt_ok("init", "lambda.cu", "--", "-std=c++17").stdout)
        self.assertEqual((self.folder / "kopt.toml").read_text(), text)


class OneRun(KoptTest):
    def test_a_model_that_fails_costs_its_turn(self):
        file = self.copy(DATA / "scale.cu")
        outcome = self.tune(file, "--proposers", "llm,params", "--model", "exec:echo rate limited >&2; exit 3")[0]
        self.assertGreater(outcome["judged"], 0)
        self.assertIsNotNone(outcome["winner"])
        report = self.kopt_ok("report").stdout
        self.assertIn("'llm' failed and lost its turn: the model command ended with exit code 3", report)
        self.assertIn("'llm' failed and is not asked again", report)

    def test_a_model_alone_that_fails_is_an_error(self):
        done = self.kopt("tune", self.copy(DATA / "scale.cu"), *EMULATED, "--proposers", "llm", "--model", "exec:exit 3", *FLAGS)
        self.assertEqual(done.returncode, 6, done.stdout + done.stderr)
        self.assertIn("ended with exit code 3", done.stderr)


    def test_a_rewrite_is_left_out(self):
        file = self.copy(DATA / "scale.cu")
        tried = {}
        for proposers in ("transform", "transform,-swap-axes"):
            self.tune(file, "--proposers", proposers, "--trials", "6")
            run = json.loads(self.kopt_ok("report", "--json").stdout)["results"][0]
            tried[proposers] = {trial["candidate"]["technique"] for trial in run["trials"]}
        self.assertIn("swap-axes", tried["transform"])
        self.assertNotIn("swap-axes", tried["transform,-swap-axes"])
        self.assertGreater(len(tried["transform,-swap-axes"]), 1)

    def test_what_is_not_faster_is_verified_too(self):
        file = self.copy(DATA / "scale.cu")
        for options, verified in (((), False), (("--verify-all",), True)):
            self.tune(file, "--proposers", "transform", "--trials", "4", "--min-gain", "100", *options)
            trials = json.loads(self.kopt_ok("report", "--json").stdout)["results"][0]["trials"][1:]
            same = [trial for trial in trials if trial["verdict"] == "Same"]
            self.assertTrue(same)
            for trial in same:
                passed = {record["check"] for record in trial["checks"] if record["state"] == "passed"}
                self.assertEqual("sizes" in passed, verified, trial["candidate"]["title"])


    def test_each_strategy_searches(self):
        for strategy in ("auto", "navigator", "beam", "memory", "survey"):
            outcome = self.tune(self.copy(DATA / "scale.cu"), "--strategy", strategy, "--trials", "6")[0]
            self.assertEqual(outcome["judged"], 5)
            asks = [what["ask"] for what in (event["what"] for event in self.records("events")) if "ask" in what]
            self.assertTrue(all(ask["limit"] == 1 for ask in asks if ask["role"] == "transform"), asks)
        self.assertIn("beams not in", self.kopt("tune", "scale.cu", "--strategy", "beams", *FLAGS).stderr)
        explained = self.kopt_ok("tune", "scale.cu", "--strategy", "navigator", "--explain-config", *FLAGS).stdout
        self.assertRegex(explained, "strategy one best candidate.*: width 1, .*gates on")


class LongRun(KoptTest):
    """In the soak lane."""

    def test_the_budget_holds(self):
        file = self.copy(DATA / "scale.cu")
        self.tune(file, "--trials", "2")  # what the first run keeps for the next is not measured here
        start = time.monotonic()
        done = self.kopt("tune", file, *EMULATED, "--json", "--budget-seconds", "12", "--trials", "1000", "--patience", "1000", *FLAGS)
        took = time.monotonic() - start
        self.assertIn(done.returncode, (0, 3), done.stderr)
        details = json.loads(done.stdout)["details"]
        self.assertLess(details["used_seconds"], 17)
        self.assertLess(took, 17 + details["stages"]["extract"])

    def test_a_budget_that_judges_nothing_has_an_exit_code_of_its_own(self):
        done = self.kopt("tune", self.copy(DATA / "scale.cu"), *EMULATED, "--budget-seconds", "0.01", *FLAGS)
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)

    def test_an_interrupted_run_is_reported(self):
        self.copy(DATA / "scale.cu")
        self.tune("scale.cu", "--trials", "2")
        child = subprocess.Popen([str(BIN / "kopt"), "tune", "scale.cu", *EMULATED, "--seed", "2", *FLAGS], cwd=self.folder,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while child.poll() is None and len(self.rows("SELECT id FROM trials WHERE run_id = 2")) < 2:
            time.sleep(0.02)
        self.assertIsNone(child.poll(), "the run was over before it was killed")
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        report = self.kopt_ok("report").stdout
        self.assertIn("No verdict yet", report)
        self.assertIn("run `scale-2`", report)
        self.assertIn("--resume", report)


if __name__ == "__main__":
    unittest.main()
