# SPDX-License-Identifier: Apache-2.0
"""kopt ci on a repository of its own, on the emulated device: what each kind of change leads to, and what is printed of it.

The files for others are checked against rules that stand here, where Python has jsonschema. KOPT_SARIF_SCHEMA may name
sarif-schema-2.1.0.json of OASIS, and KOPT_CODE_QUALITY_SCHEMA GitLab's codeclimate.json, which is of one entry: the files are
validated against these as well then."""

import json
import os
import pathlib
import subprocess
import unittest

from kopt_test import SOURCE, KoptTest, find_nvcc

try:
    import jsonschema
except ImportError:
    jsonschema = None

INCLUDE = SOURCE / "runtime" / "include"

KERNELS = {
    ".gitignore": "/.kopt/\n/kopt.out/\n",
    "taps.h": """#pragma once
#define TAPS 3
__device__ inline float weight(int i) { return 1.0f / (1 + i); }
""",
    "src/blur.cu": """#include "../taps.h"
#include <kopt/kopt.h>
KOPT_TUNE("arg n=4000", "extent in=n+64", "extent out=n")
__global__ void blur(float *out, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (int k = 0; k < TAPS; ++k)
    sum += weight(k) * in[i + k];
  out[i] = sum;
}
void runBlur(float *out, const float *in, int n) { blur<<<(n + 255) / 256, 256>>>(out, in, n); }
""",
    "src/scale.cu": """#include <kopt/kopt.h>
KOPT_TUNE("arg n=4096", "arg f=2", "extent in=n", "extent out=n")
__global__ void scale(float *out, const float *in, int n, float f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] * f;
}
void runScale(float *out, const float *in, int n, float f) { scale<<<(n + 255) / 256, 256>>>(out, in, n, f); }
""",
}
NEW = """#include <kopt/kopt.h>
KOPT_TUNE("arg n=4096", "extent out=n")
__global__ void fill(float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = 1;
}
void runFill(float *out, int n) { fill<<<(n + 255) / 256, 256>>>(out, n); }
"""

# What SARIF 2.1.0 and GitLab say of the parts that kopt writes, in few words.
PLACE = {"type": "object", "required": ["artifactLocation"], "properties": {
    "artifactLocation": {"type": "object", "required": ["uri"],
                         "properties": {"uri": {"type": "string", "pattern": "^[^/\\\\ ]"}}},
    "region": {"type": "object", "properties": {"startLine": {"type": "integer", "minimum": 1}}}}}
SARIF = {"type": "object", "required": ["version", "runs"], "properties": {
    "version": {"const": "2.1.0"},
    "runs": {"type": "array", "minItems": 1, "items": {
        "type": "object", "required": ["tool", "results"], "properties": {
            "tool": {"type": "object", "required": ["driver"], "properties": {
                "driver": {"type": "object", "required": ["name", "rules"]}}},
            "results": {"type": "array", "items": {
                "type": "object", "required": ["message", "ruleId", "level", "partialFingerprints"], "properties": {
                    "level": {"enum": ["none", "note", "warning", "error"]},
                    "message": {"type": "object", "required": ["text"]},
                    "ruleIndex": {"type": "integer", "minimum": 0},
                    "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
                    "locations": {"type": "array", "items": {
                        "type": "object", "properties": {"physicalLocation": PLACE}}}}}}}}}}}
CODE_QUALITY = {"type": "array", "items": {
    "type": "object", "required": ["description", "check_name", "fingerprint", "severity", "location"], "properties": {
        "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
        "fingerprint": {"type": "string", "minLength": 16},
        "location": {"type": "object", "required": ["path", "lines"], "properties": {
            "path": {"type": "string", "pattern": "^[^/]"},
            "lines": {"type": "object", "required": ["begin"], "properties": {
                "begin": {"type": "integer", "minimum": 1}}}}}}}}


class Project(KoptTest):
    def setUp(self):
        super().setUp()
        self.repo = self.folder / "project"
        self.repo.mkdir()
        self.git("init", "-q", "-b", "main")
        for name, text in KERNELS.items():
            self.put(name, text)
        self.commit("two kernels")
        self.git("checkout", "-q", "-b", "work")

    def git(self, *arguments):
        done = subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@localhost", *arguments], cwd=self.repo,
                              capture_output=True, text=True, env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def put(self, name, text):
        path = self.repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def edit(self, name, before, after):
        text = (self.repo / name).read_text()
        self.assertIn(before, text)
        self.put(name, text.replace(before, after))

    def commit(self, message):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def database(self):
        """Commands as CMake writes them: absolute paths of the working tree."""
        commands = [{"directory": str(self.repo), "file": str(file),
                     "command": f"nvcc -std=c++17 -I{INCLUDE} -I{self.repo} -c {file} -o {file.name}.o"}
                    for file in sorted((self.repo / "src").rglob("*.cu"))]
        build = self.folder / "build"
        build.mkdir(exist_ok=True)
        (build / "compile_commands.json").write_text(json.dumps(commands))
        return build

    def ci(self, *arguments, code=0, env=None, base="main", toolkit="none"):
        """Without the toolkit everything is quicker; then no machine code but the emulated device's is compared."""
        before = self.git("status", "--porcelain")
        done = self.kopt("ci", "--base", base, "-p", self.database(), "--device", "emulated", "--json", *arguments,
                         cwd=self.repo, env={"GITHUB_ACTIONS": "", "GITHUB_STEP_SUMMARY": "", "KOPT_CUDA_PATH": toolkit, **(env or {})})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual(self.git("status", "--porcelain"), before)
        return json.loads(done.stdout)

    def kernels(self, answer):
        return {one["kernel"]: one for one in answer["results"]}


class Ci(Project):
    def test_a_regression_is_caught_and_told_in_every_format(self):
        self.edit("taps.h", "TAPS 3", "TAPS 40")
        self.commit("more taps")
        out = self.folder / "out"
        summary = self.folder / "summary.md"
        files = ["--markdown", out / "c.md", "--sarif", out / "s.json", "--code-quality", out / "q.json"]
        answer = self.ci(*files, code=2, env={"GITHUB_STEP_SUMMARY": str(summary)})
        kernels = self.kernels(answer)
        self.assertEqual(set(kernels), {"blur"})  # through a macro of a header; 'scale' does not see it
        blur = kernels["blur"]
        self.assertEqual((blur["verdict"], blur["change"], blur["measured"], blur["confirmed"]),
                         ("slower", "modified", True, True))
        self.assertEqual(blur["place"], {"file": "src/blur.cu", "line": 4})
        self.assertLess(blur["speedup"]["estimate"], 0.9)
        self.assertTrue(blur["speedup"]["modelled"] and answer["details"]["modelled"])
        self.assertGreater(blur["lost_seconds"], 0)
        self.assertEqual(answer["details"]["headline"], "1 kernel is slower")

        markdown = (out / "c.md").read_text()
        self.assertTrue(markdown.startswith("<!-- kopt-ci: default -->\n"))
        self.assertIn("**modelled**", markdown)
        self.assertIn("`src/blur.cu:4`", markdown)
        self.assertEqual(summary.read_text().strip(), markdown.strip())
        sarif = self.valid(out / "s.json", SARIF, "KOPT_SARIF_SCHEMA")
        result = sarif["runs"][0]["results"][0]
        self.assertEqual((result["ruleId"], result["level"]), ("kopt/regression", "error"))
        self.assertEqual(sarif["runs"][0]["tool"]["driver"]["rules"][result["ruleIndex"]]["id"], result["ruleId"])
        place = result["locations"][0]["physicalLocation"]
        self.assertEqual((place["artifactLocation"]["uri"], place["region"]["startLine"]), ("src/blur.cu", 4))
        quality = self.valid(out / "q.json", CODE_QUALITY, "KOPT_CODE_QUALITY_SCHEMA")
        self.assertEqual((quality[0]["severity"], quality[0]["location"]["path"]), ("critical", "src/blur.cu"))

        # Names that stay: a second run, after lines moved, says the same of the same thing.
        self.edit("src/blur.cu", "#include <kopt", "// a comment\n#include <kopt")
        done = self.kopt("ci", "--base", "main", "-p", self.database(), "--device", "emulated", *files, "--fail-on", "never",
                         cwd=self.repo, env={"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": "", "KOPT_CUDA_PATH": "none"})
        self.assertEqual(done.returncode, 0, done.stderr)
        again = json.loads((out / "q.json").read_text())
        self.assertEqual(again[0]["fingerprint"], quality[0]["fingerprint"])
        self.assertEqual(again[0]["location"]["lines"]["begin"], 5)
        self.assertRegex(done.stdout, r"(?m)^::error file=src/blur\.cu,line=5,title=kopt%3A blur is slower by [\d.]+%25::")

    def valid(self, path, rules, variable):
        document = json.loads(path.read_text())
        if jsonschema is None:
            return document
        jsonschema.validate(document, rules)
        if schema := os.environ.get(variable):
            public = json.loads(pathlib.Path(schema).read_text())
            for part in document if isinstance(document, list) else [document]:
                jsonschema.validate(part, public)
        return document

    def test_what_changes_nothing_raises_no_alarm(self):
        # A file with another name, a kernel in another file, comments, another name of a variable, a new kernel.
        self.git("mv", "src/scale.cu", "src/multiply.cu")
        self.edit("src/multiply.cu", "#include <kopt/kopt.h>", "// renamed\n#include <kopt/kopt.h>")
        self.edit("src/blur.cu", "float sum = 0;", "float total = 0; // the sum")
        self.edit("src/blur.cu", "sum += weight(k)", "total += weight(k)")
        self.edit("src/blur.cu", "out[i] = sum;", "out[i] = total;")
        self.put("src/fill.cu", NEW)
        self.commit("refactor")
        nvcc = find_nvcc()
        answer = self.ci("--fail-on", "regression,win", toolkit=str(nvcc.parent.parent) if nvcc else "none")
        kernels = self.kernels(answer)
        self.assertEqual(kernels["blur"]["measured"], nvcc is None)  # nvcc makes the same machine code of both
        self.assertEqual({name: (one["change"], one["verdict"]) for name, one in kernels.items()},
                         {"blur": ("modified", "same"), "fill": ("new", "not measured")})
        self.assertEqual(answer["details"]["unchanged"], 1)  # the renamed file
        self.assertIn("it is new", kernels["fill"]["reason"])

    def test_moved_renamed_and_with_another_signature(self):
        blur = (self.repo / "src/blur.cu").read_text()
        self.git("rm", "-q", "src/blur.cu")
        scale = (self.repo / "src/scale.cu").read_text()
        # Moved into the other file; and there one more parameter, and eight times the work.
        self.put("src/scale.cu", blur + scale.replace("int n, float f)", "int n, float f, float offset)").replace(
            "out[i] = in[i] * f;", "{ float x = in[i];\n#pragma unroll 1\n    for (int k = 0; k < 64; ++k) x = x * f + offset;\n    out[i] = x; }")
            .replace('"arg f=2"', '"arg f=2", "arg offset=1"').replace("(out, in, n, f)", "(out, in, n, f, 1)"))
        self.commit("move a kernel, change another")
        kernels = self.kernels(self.ci(code=2))
        self.assertEqual({name: (one["change"], one["verdict"]) for name, one in kernels.items()},
                         {"blur": ("moved", "same"), "scale": ("signature", "slower")})
        self.assertEqual(kernels["blur"]["base_file"], "src/blur.cu")
        self.assertFalse(kernels["blur"]["measured"])

    def test_nothing_touched_a_dry_run_and_a_version_that_fails(self):
        self.put("README.md", "words\n")
        self.commit("words")
        answer = self.ci()
        self.assertEqual((answer["results"], answer["details"]["unchanged"]), ([], 2))
        self.assertEqual(answer["details"]["headline"], "the change touches no kernel")

        self.edit("src/blur.cu", "i >= n", "i > n")  # not committed
        blur = self.kernels(self.ci("--dry-run"))["blur"]
        self.assertEqual(blur["verdict"], "not measured")
        self.assertIn("dry run: 1 launch of both versions would be timed", blur["reason"])
        error = self.ci(base="nowhere", code=1)["error"]
        self.assertEqual(error["what"], "there is no commit 'nowhere'")

        blur = self.kernels(self.ci(code=2))["blur"]
        self.assertEqual((blur["verdict"], blur["broken"], blur["confirmed"]), ("not measured", True, True))
        self.assertRegex(blur["reason"], r"out of bounds write .* at blur\.cu:11\b")


class CiTuning(Project):
    """What takes a tuning."""

    def add_it_up(self):
        """A constant that costs time, and may have another value."""
        self.edit("src/scale.cu", 'KOPT_TUNE("arg', 'constexpr int TIMES = 64;\nKOPT_TUNE("param TIMES in {1, 64}", "arg')
        self.edit("src/scale.cu", "out[i] = in[i] * f;", """{
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < TIMES; ++k)
      sum += in[i] * f;
    out[i] = sum / TIMES;
  }""")

    def test_a_variant_that_the_change_made_stale_is_named(self):
        self.git("checkout", "-q", "main")
        self.add_it_up()
        self.kopt_ok("tune", "-p", self.database(), "--kernel", "scale", "--device", "emulated", "--proposers", "params",
                     cwd=self.repo)
        self.kopt_ok("apply", "--mode", "header", "--modelled", cwd=self.repo)
        self.commit("a tuned kernel")
        self.git("checkout", "-q", "-B", "work")
        self.assertEqual(self.ci("--fail-on", "stale")["details"]["variants"], [])
        self.edit("src/scale.cu", "in[i] * f", "f * in[i]")
        self.commit("swap")
        variant, = self.ci("--fail-on", "regression,stale", code=5)["details"]["variants"]
        self.assertEqual((variant["kernel"], variant["place"]["file"], variant["is_new"]), ("scale", "src/scale.cu", True))
        # Of a later change it is not the fault.
        self.git("branch", "-f", "main")
        self.edit("taps.h", "TAPS 3", "TAPS (3)")
        variant, = self.ci("--fail-on", "stale")["details"]["variants"]
        self.assertFalse(variant["is_new"])

    def test_a_regression_that_kopt_mends_is_proposed_back(self):
        self.add_it_up()
        self.commit("add it up")
        answer = self.ci("--fail-on", "regression,win", "--propose", "--proposers", "params", "--max-proposals", "1",
                         "--budget-seconds", "120", code=2)
        scale = self.kernels(answer)["scale"]
        self.assertEqual((scale["verdict"], scale["change"]), ("slower", "modified"))
        proposal, = answer["details"]["proposals"]
        self.assertEqual((proposal["kernel"], proposal["title"]), ("scale", "TIMES = 1"))
        patch = pathlib.Path(proposal["patch"])
        self.assertEqual(patch, self.repo / "kopt.out" / "ci" / "scale.patch")
        self.assertIn("Kopt-", patch.read_text())
        self.git("am", "-q", str(patch))
        self.assertIn("TIMES = 1;", (self.repo / "src/scale.cu").read_text())


if __name__ == "__main__":
    unittest.main()
