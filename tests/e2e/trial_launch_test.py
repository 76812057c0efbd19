# SPDX-License-Identifier: Apache-2.0
"""A candidate is judged as its own file launches it, and what it changes of host code otherwise is refused by name."""

import json
import pathlib
import unittest

from kopt_test import FLAGS, KoptTest

SCALED = """#include <kopt/kopt.h>
#include <cstdio>
template <class T, int PER>
KOPT_TUNE("launch L: n = 6144", "extent in = n", "extent out = n", "require n % PER == 0 && PER <= 8")
__global__ void scaled(const T *in, T *out, int n) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * PER;
  for (int k = 0; k < PER; ++k)
    if (i + k < n)
      out[i + k] = T(2) * in[i + k];
}
void run(const float *in, float *out, int n) {
  const int threads = 256;
  scaled<float, 2><<<(n + threads * 2 - 1) / (threads * 2), threads>>>(in, out, n);
  std::puts("done");
}
"""
LAUNCH = "scaled<float, 2><<<(n + threads * 2 - 1) / (threads * 2), threads>>>"
INDEX = "  int i = (blockIdx.x * blockDim.x + threadIdx.x) * PER;\n"
RIGHT = {"Faster", "Same", "Slower", "Ambiguous"}
OPT_IN = "  cudaFuncSetAttribute(scaled<float, 2>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);\n"
SHARED = ((INDEX, "  extern __shared__ int order[];\n  order[threadIdx.x] = threadIdx.x;\n" + INDEX.replace("threadIdx.x", "order[threadIdx.x]")),
          ("  const int threads = 256;\n", "  const int threads = 256;\n  const int bytes = 65536;\n" + OPT_IN),
          (", threads>>>", ", threads, bytes>>>"))

# name: (replacements, verdicts accepted, words of the reason)
CANDIDATES = {
    "launch_alone": ([("threads = 256", "threads = 128")], RIGHT, ()),
    "coarse": ([(INDEX, "  for (int part = 0; part < 4; ++part) {\n" + INDEX.replace("blockIdx.x", "(blockIdx.x + part * gridDim.x)")),
                ("= T(2) * in[i + k];\n", "= T(2) * in[i + k];\n  }\n"),
                ("  " + LAUNCH, "  int blocks = (n / 4 + threads * 2 - 1) / (threads * 2);\n  if (blocks < (n + 2047) / 2048)\n    ++blocks;\n"
                 "  scaled<float, 2><<<blocks, threads>>>")], RIGHT, ()),
    "impossible": ([(LAUNCH, "scaled<float, 2><<<n / 2, 2048>>>")], {"Rejected"}, ("2048 threads", "1024")),
    "empty": ([(LAUNCH, "scaled<float, 2><<<n / 8192, 256>>>")], {"Rejected"}, ("grid's x", "is 0")),
    "too_few": ([(LAUNCH, "scaled<float, 2><<<(n / 2 + threads * 2 - 1) / (threads * 2), threads>>>")], {"WrongResult"}, ("unwritten",)),
    "capped": ([("threads = 256", "threads = 64"), ("  " + LAUNCH, "  int blocks = (n + threads * 2 - 1) / (threads * 2);\n"
                 "  if (blocks > 48)\n    blocks = 48;\n  scaled<float, 2><<<blocks, threads>>>")], {"WrongResult"}, ("n = ",)),
    "wider": ([(LAUNCH, "scaled<float, 8><<<(n + threads * 8 - 1) / (threads * 8), threads>>>")], RIGHT, ()),
    "past_a_require": ([(LAUNCH, "scaled<float, 16><<<(n + threads * 16 - 1) / (threads * 16), threads>>>")], {"Rejected"},
                       ("require n % PER == 0 && PER <= 8", "PER = 16")),
    "host": ([('"done"', '"finished"')], {"Rejected"}, ("host.cu:14", "finished", "base.cu:14")),
    "another_launch": ([("  std::puts", f"  {LAUNCH}(out, out, n);\n  std::puts")], {"Rejected"}, ("another_launch.cu:14", "adds 'scaled")),
    "as_it_was": ([("void run(", "static int divided(int a, int b) {\n  return (a + b - 1) / b; // rounds up\n}\n\n// Runs it.\nvoid run("),
                   (LAUNCH, "scaled<float, 2>\n    <<<divided(n, threads * 2), threads>>>")], {"Duplicate"}, ()),
    "unknown": ([("void run(", "int blocksOf(const float *);\nvoid run("), (LAUNCH, "scaled<float, 2><<<blocksOf(in), threads>>>")],
                {"Rejected"}, ("grid", "unknown.cu:14", "could not be read")),
    "large": (SHARED, RIGHT, ()),
    "too_large": ([*SHARED, ("bytes = 65536", "bytes = 300000")], {"Rejected"}, ("300000 bytes of shared memory",)),
    "large_unasked": ([SHARED[0], (SHARED[1][0], SHARED[1][1].replace(OPT_IN, "")), SHARED[2]], {"Rejected"}, ("65536", "49152", "cudaFuncSetAttribute")),
}

# Judged in the fast lane: a launch that is another, one that cannot be, other template arguments, host code, shared memory.
FEW = ("coarse", "impossible", "wider", "past_a_require", "host", "large_unasked")

TURNED = """#include <kopt/kopt.h>
#define EDGE 32
KOPT_TUNE("launch L: width = 96, height = 64", "extent in = width * height", "extent out = width * height",
          "require width % 32 == 0 && height % 32 == 0")
__global__ void turned(const float *in, float *out, int width, int height) {
  int x = blockIdx.x * EDGE + threadIdx.x, y = blockIdx.y * EDGE + threadIdx.y;
  out[x * height + y] = in[y * width + x];
}
void run(const float *in, float *out, int width, int height) {
  dim3 block(EDGE, EDGE), grid(width / EDGE, height / EDGE);
  turned<<<grid, block>>>(in, out, width, height);
}
"""
ROWS = """  __shared__ float tile[EDGE][EDGE + 1];
  int x = blockIdx.x * EDGE + threadIdx.x, y = blockIdx.y * EDGE + threadIdx.y;
  for (int row = 0; row < EDGE; row += 8)
    tile[threadIdx.y + row][threadIdx.x] = in[(y + row) * width + x];
  __syncthreads();
  x = blockIdx.y * EDGE + threadIdx.x, y = blockIdx.x * EDGE + threadIdx.y;
  for (int row = 0; row < EDGE; row += 8)
    out[(y + row) * height + x] = tile[threadIdx.x][threadIdx.y + row];
"""

CHAIN = """#include <kopt/kopt.h>
#include <cstdio>
KOPT_TUNE("arg n = 6144", "extent in = n", "extent out = n")
__global__ void doubled(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = 2 * in[i];
}
KOPT_TUNE("arg n = 6144", "extent in = n", "extent out = n")
__global__ void raised(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = 1 + in[i];
}
__global__ void same(const float *in, float *out, int n) {
  if (threadIdx.x < n)
    out[threadIdx.x] = in[threadIdx.x];
}
void run(const float *in, float *mid, float *out, int n) {
  doubled<<<(n + 255) / 256, 256>>>(in, mid, n);
  raised<<<(n + 255) / 256, 256>>>(mid, out, n);
  same<<<1, 256>>>(mid, out, n);
  std::puts("done");
}
"""
BOTH = [("    out[i] = 2 * in[i];", "    out[i] = in[i] + in[i];"), ("    out[i] = 1 + in[i];", "    out[i] = in[i] + 1.0f;"),
        ("doubled<<<(n + 255) / 256, 256>>>", "doubled<<<(n + 63) / 64, 64>>>"), ("raised<<<(n + 255) / 256, 256>>>", "raised<<<(n + 127) / 128, 128>>>")]

REPEATED = """#include <kopt/kopt.h>
KOPT_TUNE("arg n = 2048", "arg rounds = 4000", "extent in = n", "extent out = n")
__global__ void summed(const float *in, float *out, int n, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float last = 0;
  for (int round = 0; round < rounds; ++round)
    last = ((volatile const float *)in)[i];
  out[i] = rounds > 0 ? last : 0;
}
void run(const float *in, float *out, int n, int rounds) { summed<<<(n + 255) / 256, 256>>>(in, out, n, rounds); }
"""


class TrialLaunch(KoptTest):
    def judge(self, base, candidates, *arguments):
        """The trials by name."""
        original, files = self.write("base.cu", base), []
        for name, changes in candidates.items():
            text = base
            for old, new in changes:
                self.assertIn(old, text)
                text = text.replace(old, new)
            files += ["--candidate", self.write(f"{name}.cu", text)]
        done = self.kopt_trial(original, *files, "--device", "emulated", "--json", *arguments, *FLAGS)
        return {pathlib.Path(trial["candidate"]).stem: trial for trial in json.loads(done.stdout)["results"]}

    def test_each_is_judged_as_it_is_launched(self):
        self.judged_as_launched(FEW)

    def test_the_others_are_too(self):
        self.judged_as_launched([name for name in CANDIDATES if name not in FEW])

    def judged_as_launched(self, names):
        trials = self.judge(SCALED, {name: CANDIDATES[name][0] for name in names})
        for name in names:
            _, verdicts, words = CANDIDATES[name]
            with self.subTest(name):
                self.assertIn(trials[name]["verdict"], verdicts, trials[name]["reason"])
                for word in words:
                    self.assertIn(word, trials[name]["reason"])

    def test_a_tile_with_fewer_rows_of_threads(self):
        body = TURNED.split("height) {\n", 1)[1].split("}\n", 1)[0]
        trials = self.judge(TURNED, {"rows": [(body, ROWS), ("block(EDGE, EDGE)", "block(EDGE, 8)")],
                                     "too_many": [("block(EDGE, EDGE)", "block(EDGE, EDGE, 2)")]})
        self.assertIn(trials["rows"]["verdict"], RIGHT, trials["rows"]["reason"])
        self.assertIn("x 8 x 1", " ".join(note["message"] for note in trials["rows"]["findings"] if note["id"] == "launch"))
        self.assertEqual(trials["too_many"]["verdict"], "Rejected", trials["too_many"]["reason"])

    def test_each_kernel_that_a_file_changes_is_judged(self):
        trials = self.judge(CHAIN, {
            "both": BOTH, "one": BOTH[::2], "wrong": [*BOTH[:3], ("raised<<<(n + 255) / 256, 256>>>", "raised<<<n / 512, 256>>>")],
            "unknown": [*BOTH[::2], ("same<<<1, 256>>>", "same<<<1, 512>>>")], "host": [*BOTH, ('"done"', '"finished"')]},
            "--kernel", "doubled")
        verdicts = {name: {one["kernel"]: one["verdict"] for one in trial.get("specializations", [trial])} for name, trial in trials.items()}
        self.assertEqual({name: sorted(of) for name, of in verdicts.items()},
                         {"both": ["doubled", "raised"], "one": ["doubled"], "wrong": ["doubled", "raised"],
                          "unknown": ["doubled", "same"], "host": ["doubled", "raised"]})
        for name, kernel in (("both", "doubled"), ("both", "raised"), ("one", "doubled"), ("wrong", "doubled"), ("unknown", "doubled")):
            self.assertIn(verdicts[name][kernel], RIGHT | {"Duplicate"}, (name, trials[name]["reason"]))
        self.assertEqual((verdicts["wrong"]["raised"], trials["wrong"]["verdict"]), ("WrongResult", "WrongResult"))
        self.assertEqual(verdicts["unknown"]["same"], "Rejected")
        self.assertIn("cannot be judged: kernel 'same' has no", trials["unknown"]["reason"])
        self.assertEqual(set(verdicts["host"].values()), {"Rejected"})

    def test_a_gain_that_is_hard_to_believe_says_what_vanished(self):
        trial = self.judge(REPEATED, {"once": [("round < rounds", "round < (rounds > 0)")]})["once"]
        self.assertEqual(trial["verdict"], "Faster", trial["reason"])
        self.assertGreater(trial["speedup"]["estimate"], 10)
        self.assertRegex(trial["reason"], r"warp instructions fell from \d+ to \d+")
        self.assertRegex(trial["reason"], r"the loop at .*base\.cu:8, 'for \(int round = 0; round < rounds; \+\+round\)', fell from")

    def test_scripts_choose_what_fails(self):
        base = self.write("base.cu", SCALED)
        bad = self.write("bad.cu", SCALED.replace('"done"', '"finished"'))
        arguments = (base, "--device", "emulated", "--candidate")
        for more, code in (((bad, "--fail-on", "never"), 0), ((base, "--fail-on", "not-faster"), 2)):
            done = self.kopt("trial", *arguments, *more, *FLAGS)
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
