# SPDX-License-Identifier: Apache-2.0
"""A candidate that is wrong, reckless or endless costs only itself: each has its verdict, and an honest one after it wins."""

import json
import pathlib
import signal
import subprocess
import tempfile
import unittest

from kopt_test import BIN, DATA, FLAGS, KoptTest

BODY = "    out[row * columns + column] = factor * in[row * columns + column];"
GUARD = "  if (row < rows && column < columns)"
INDEX = """  int row = blockIdx.x * EDGE + threadIdx.x;
  int column = blockIdx.y * EDGE + threadIdx.y;"""

# name: (text replaced, its replacement, verdicts accepted)
CANDIDATES = {
    "wrong value": (BODY, BODY.replace("factor * ", "factor * 1.001f * "), {"WrongResult"}),
    "one wrong element": (BODY, "    out[row * columns + column] = row == rows - 1 && column == columns - 1 ? 0.f : factor * in[row * columns + column];",
                          {"WrongResult"}),
    "not a number": (BODY, "    out[row * columns + column] = row == 3 ? __int_as_float(0x7fffffff) : factor * in[row * columns + column];",
                     {"WrongResult"}),
    "no work": (BODY, "    ;", {"WrongResult"}),
    "part of the work": (GUARD, "  if (row < rows - 1 && column < columns)", {"WrongResult"}),
    "the captured scalar": (BODY, "    out[row * columns + column] = 2.0f * in[row * columns + column];", {"WrongResult"}),
    "out of bounds": (GUARD, "  if (row < rows + 1 && column < columns)", {"RunFailed", "WrongResult"}),
    "far out of bounds": (BODY, "    out[row * columns + column + (1 << 28)] = 0;", {"RunFailed"}),
    # Undefined, so the compiler may drop it: then nothing is written.
    "null pointer": (BODY, "    *(float *)nullptr = factor;", {"RunFailed", "WrongResult"}),
    "endless": (BODY, "    for (volatile int i = 0; i < 2; i = 0) ;", {"TimedOut"}),
    "trap": (BODY, "    __trap();", {"RunFailed"}),
    "writes its input": (BODY, "    { out[row * columns + column] = factor * in[row * columns + column];\n"
                         "    const_cast<float *>(in)[row * columns + column] = 0; }", {"WrongResult", "RunFailed"}),
    "a barrier not all reach": (BODY, "    { if (threadIdx.x < 3) __syncthreads();\n"
                                "    out[row * columns + column] = factor * in[row * columns + column];\n"
                                "    __syncthreads(); }", {"RunFailed"}),
    "does not compile": (BODY, "    out[row * columns + column] = factor * missing;", {"BuildFailed"}),
}
# Judged in the fast lane, and the honest one.
FEW = ("one wrong element", "the captured scalar", "out of bounds", "endless", "trap", "writes its input", "does not compile")
HONEST = (INDEX, """  int row = blockIdx.x * EDGE + threadIdx.y;
  int column = blockIdx.y * EDGE + threadIdx.x;""", {"Faster"})


class BadCandidatesTest(KoptTest):
    def trials_of(self, base, candidates, cases):
        """Judges the candidates and returns the trials by name. Each case has a change and the verdicts that it may have."""
        done = self.kopt_trial(base, *candidates, "--device", "emulated", "--json", *FLAGS)
        trials = {pathlib.Path(trial["candidate"]).stem: trial for trial in json.loads(done.stdout)["results"]}
        for name, (_, verdicts) in cases.items():
            self.assertIn(trials[name]["verdict"], verdicts, trials[name]["reason"])
        return trials

    def each_has_its_verdict(self, names):
        """And the honest one, which is the last, wins."""
        cases = {**{name: CANDIDATES[name] for name in names}, "honest": HONEST}
        base = self.copy(DATA / "scale.cu")
        files, original = [], base.read_text()
        for name, (replaced, replacement, _) in cases.items():
            self.assertIn(replaced, original)
            files += ["--candidate", self.write(f"{name.replace(' ', '_')}.cu", original.replace(replaced, replacement))]
        done = self.kopt_trial(base, *files, "--device", "emulated", "--json", *FLAGS)
        trials = {pathlib.Path(trial["candidate"]).stem: trial for trial in json.loads(done.stdout)["results"]}
        self.assertEqual(len(trials), len(cases))
        for name, (_, _, verdicts) in cases.items():
            with self.subTest(name):
                trial = trials[name.replace(" ", "_")]
                self.assertIn(trial["verdict"], verdicts, trial["reason"])
                self.assertTrue(trial["reason"])
        honest = trials["honest"]
        self.assertTrue(honest["speedup"]["modelled"])
        self.assertGreater(honest["speedup"]["estimate"], 1.1)
        self.assertIn("first-look", {finding["id"] for finding in honest["findings"]}, "a win is confirmed")

    def judge(self, name, replaced, replacement, *more):
        base = self.copy(DATA / "scale.cu")
        text = base.read_text()
        for old, new in ((replaced, replacement), *more):
            self.assertIn(old, text)
            text = text.replace(old, new)
        candidate = self.write("candidate.cu", text)
        done = self.kopt_trial(base, "--candidate", candidate, "--device", "emulated", "--json", *FLAGS, timeout=120)
        return json.loads(done.stdout)["results"][0]


class BadCandidates(BadCandidatesTest):
    def test_each_has_its_verdict_and_an_honest_one_after_it_wins(self):
        self.each_has_its_verdict(FEW)

    def test_an_interrupt_ends_after_the_candidate_at_hand(self):
        base = self.copy(DATA / "scale.cu")
        candidates = [self.write(f"{name}.cu", base.read_text()) for name in ("first", "second", "third")]
        child = subprocess.Popen(
            [str(BIN / "kopt"), "trial", base, *(word for file in candidates for word in ("--candidate", file)), "--device", "emulated",
             "--json", *FLAGS], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for line in child.stderr:
            if "judging first.cu" in line:
                child.send_signal(signal.SIGINT)
                break
        said, error = child.communicate(timeout=300)
        answer = json.loads(said)
        self.assertEqual(child.returncode, 130, error)
        self.assertEqual([pathlib.Path(trial["candidate"]).stem for trial in answer["results"]], ["first"])
        self.assertIn("2 of 3 candidates were not judged", answer["error"]["what"])

    def test_what_is_added_keeps_its_namespaces_and_its_class(self):
        trial = self.judge("scaled", "KOPT_TUNE(", """namespace outer { namespace inner {
struct Scale { float by; __device__ float of(float value) const; };
__device__ float Scale::of(float value) const { return by * value; }
__device__ float scaled(float value, float factor) { return Scale{factor}.of(value); }
} }
KOPT_TUNE(""", (BODY, "    out[row * columns + column] = outer::inner::scaled(in[row * columns + column], factor);"))
        self.assertIn(trial["verdict"], {"Same", "Duplicate", "Faster", "Slower"}, trial["reason"])

    def test_of_several_specializations_the_verdict_is_the_worst(self):
        base = self.write("several.cu", """#include <kopt/kopt.h>
template <class T, int Step>
KOPT_TUNE("arg n = 3000", "extent in = n", "extent out = n")
__global__ void twice(const T *in, T *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] * T(2) + T(Step);
}
void run(const float *a, float *b, const double *c, double *d, int n) {
  twice<float, 1><<<(n + 127) / 128, 128>>>(a, b, n);
  twice<double, 3><<<(n + 127) / 128, 128>>>(c, d, n);
}
""")
        cases = {"right": ("in[i] + in[i] + T(Step)", {"Same", "Duplicate", "Faster", "Slower"}),
                 "wrong": ("in[i] * T(2) + T(Step < 2 ? Step : 1)", {"WrongResult"})}
        files = []
        for name, (change, _) in cases.items():
            text = base.read_text().replace("in[i] * T(2) + T(Step)", change)
            files += ["--candidate", self.write(f"{name}.cu", text)]
        for name, trial in self.trials_of(base, files, cases).items():
            each = {one["kernel"]: one["verdict"] for one in trial["specializations"]}
            self.assertEqual(len(each), 2, each)
            self.assertEqual(name == "wrong", len(set(each.values()) & {"WrongResult"}) == 1 and len(set(each.values())) == 2, each)


class Long(BadCandidatesTest):
    """In the soak lane."""

    def test_the_others_have_theirs(self):
        self.each_has_its_verdict([name for name in CANDIDATES if name not in FEW])

    def test_the_current_folder_need_not_be_the_projects(self):
        base = self.copy(DATA / "scale.cu")
        with tempfile.TemporaryDirectory(prefix="kopt-elsewhere-") as elsewhere:
            self.kopt_trial(base, "--candidate", base, "--device", "emulated", "--json", *FLAGS, cwd=elsewhere)

    def test_types_are_added_but_not_changed(self):
        base = self.copy(DATA / "scale.cu")
        scaled = "struct Scale { float by; };\n"
        use = BODY.replace("factor *", "Scale{factor}.by *")
        head, plain = base.read_text().split("KOPT_TUNE", 1)
        base.write_text(head + scaled + "KOPT_TUNE" + plain.replace(BODY, use))
        cases = {"changed": (("float by;", "float by, more;"), {"Rejected"}),
                 "added": (("struct Scale", "struct Twice { float v; };\nstruct Scale"), {"Same", "Duplicate", "Faster", "Slower"})}
        files = []
        for name, (change, _) in cases.items():
            text = base.read_text().replace(*change)
            if "Twice" in text:
                text = text.replace(use, use.replace("Scale{factor}.by", "Twice{factor}.v"))
            files += ["--candidate", self.write(f"{name}.cu", text)]
        for name, trial in self.trials_of(base, files, cases).items():
            self.assertTrue(trial["verdict"] != "Rejected" or "'Scale'" in trial["reason"], trial["reason"])


if __name__ == "__main__":
    unittest.main()
