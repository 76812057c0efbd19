# SPDX-License-Identifier: Apache-2.0
"""What users get wrong, and what machines lack: a clear message, the documented exit code, nothing half written."""

import json
import os
import subprocess
import unittest

from kopt_test import DATA, FLAGS, KoptTest, find_nvcc

# What __COUNTER__ is depends on what stands before it: the kernel's slice is something else.
COUNTED = """int before = __COUNTER__;
constexpr int kBlock = 128;
__global__ void counted(int *p) { *p = __COUNTER__; }
void run(int *p) { counted<<<1, kBlock>>>(p); }
"""
NO_TOOLKIT = {"KOPT_CUDA_PATH": "none"}
NVCC = find_nvcc()
TOOLKIT = {"KOPT_CUDA_PATH": str(NVCC.parent.parent)} if NVCC else {}


class ErrorsTest(KoptTest):
    def fails(self, code, *words, command, env=None, untouched=True):
        done = self.kopt(*command, env=env)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual(done.stdout, "")
        if untouched:
            self.assertFalse((self.folder / "kopt.out").exists())
            self.assertFalse((self.folder / ".kopt").exists())
        return done

    def scale(self, old="", new=""):
        text = (DATA / "scale.cu").read_text()
        self.assertIn(old, text)
        return self.write("scale.cu", text.replace(old, new))

    def tune(self, *more):
        return ["tune", "scale.cu", "--device", "emulated", *more, *FLAGS]


class Errors(ErrorsTest):
    def test_no_annotated_kernel(self):
        text = (DATA / "scale.cu").read_text()
        begin, end = text.index("KOPT_TUNE("), text.index("__global__")
        self.write("scale.cu", text[:begin] + text[end:])
        self.fails(1, "no kernel is marked for tuning", "--kernel", "scale", command=self.tune())

    def test_a_kernel_that_does_not_compile(self):
        self.scale("factor * in", "factor * inn")
        self.fails(4, "scale.cu:14", "inn", command=self.tune())

    def test_what_the_emulated_device_cannot_run_is_a_limit_of_it(self):
        self.write("kopt.toml", '[[kernel]]\nname = "k"\nclauses = ["arg n = 64", "extent x = n", "extent y = n"]\n')
        command = ["tune", "k.cu", "--device", "emulated", "--", "-std=c++17"]
        kernel = "__global__ void k(const %s *x, float *y, int n) { y[threadIdx.x] = float(%s); }\n" \
                 "void run(const %s *x, float *y, int n) { k<<<n / 64, 64, 256>>>(x, y, n); }\n"
        self.write("k.cu", "#include <cuda_fp8.h>\n" + kernel % (("__nv_fp8_e4m3", "x[threadIdx.x]", "__nv_fp8_e4m3")))
        limit = "kernels that use cuda_fp8.h cannot run on the emulated device: they need the CUDA toolkit and a GPU"
        self.fails(4, limit, "install the toolkit", command=command, env=NO_TOOLKIT)
        if TOOLKIT:
            self.fails(4, "kernel 'k' needs a GPU: ", limit, command=command, env=TOOLKIT, untouched=False)
        self.write("k.cu", "struct S { float v[64]; };\nextern __shared__ S s;\n" + kernel % ("float", "s.v[threadIdx.x] = x[0]", "float"))
        done = self.fails(4, "kernel 'k' needs a GPU: ", "as an array alone", command=command, env=NO_TOOLKIT, untouched=False)
        self.assertNotIn("does not build", done.stderr)

    def test_a_tunable_with_an_empty_range(self):
        self.scale("param EDGE in {8, 16, 32}", "param EDGE in 64..32")
        self.fails(1, "scale.cu:", "EDGE", "64..32", command=self.tune())

    def test_a_tunable_that_is_no_constant(self):
        self.scale("param EDGE in", "param EGDE in")
        self.fails(1, "EGDE", "EDGE", command=self.tune())

    def test_a_workload_without_extents(self):
        self.scale('"extent in = rows * columns", ')
        self.fails(1, "scale.cu:", "'in'", "extent in", command=self.tune())

    def test_a_workload_without_a_scalar(self):
        self.scale('"arg rows = 500", ')
        self.fails(1, "scale.cu:", "no value for rows", "arg rows", command=self.tune())

    def test_an_unknown_flag(self):
        self.scale()
        self.fails(1, "--trails", "--trials", command=self.tune("--trails", "3"))

    def test_an_unknown_command(self):
        self.fails(1, "tnue", "tune", command=["tnue"])

    def test_a_command_of_a_later_version_says_so(self):
        self.fails(1, "simulate", command=["simulate"])

    def test_a_run_of_kopt_is_not_a_program(self):
        self.fails(1, "--run-id", command=["report", "--run", "scale-1"])

    def test_the_version(self):
        self.assertRegex(self.kopt_ok("--version").stdout, r"^kopt \d+\.\d+\.\d+\n$")

    def test_an_error_is_json_where_json_is_asked_for(self):
        self.scale()
        for command, name in ((["report", "--json"], "report"), (["tnue", "--json"], None), (["tune", "--json", "--trails"], "tune"),
                              (["tune", "nowhere.cu", "--json"], "tune"), (["trial", "--json"], "trial")):
            with self.subTest(command=command):
                done = self.kopt(*command)
                answer = json.loads(done.stdout)
                self.assertEqual(set(answer), {"schema_version", "kopt", "command", "results", "details", "notes", "error"})
                self.assertEqual((answer["schema_version"], answer["command"], answer["results"]), (1, name, []))
                self.assertEqual((answer["error"]["code"], answer["error"]["exit_code"]), ("usage", done.returncode))
                self.assertIn(answer["error"]["what"], done.stderr)

    def test_without_a_folder_for_temporary_files(self):
        self.scale()
        gone = {"TMPDIR": "/proc/nope"}
        for command in (self.tune(), ["list", "scale.cu", *FLAGS], ["observe", "--", "true"]):
            self.fails(6, "/proc/nope", "TMPDIR", command=command, env=gone)
        done = self.kopt("doctor", "--json", env=gone)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("set TMPDIR", done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["error"]["code"], "environment")
        self.assertEqual([check["ok"] for check in answer["results"] if check["check"] == "temporary folder"], [False])

    def test_the_log_has_every_command_that_ran_and_every_stage_but_no_key(self):
        self.scale()
        key = {"ANTHROPIC_API_KEY": "sk-never-logged"}
        done = self.kopt_ok("tune", "scale.cu", "--device", "emulated", "--trials", "2", "--log-file", "kopt.log", *FLAGS, env=key)
        self.assertNotIn("kopt-frontend", done.stderr)
        log = (self.folder / "kopt.log").read_text()
        self.assertRegex(log, r"Z \d+ kopt \d+\.\d+\.\d+: tune scale\.cu --device emulated")
        self.assertRegex(log, r"ran: \S*kopt-frontend .*\(.*s, exit code 0\)")
        self.assertRegex(log, r"started: .*kopt-runner")
        self.assertRegex(log, r"ended: .*kopt-runner .*exit code \d+")
        for stage in ("read the sources", "open the device", "measure the baseline", "search"):
            self.assertRegex(log, f"stage: .*{stage} \\(.*s\\)")
        self.assertNotIn("sk-never-logged", log)
        loud = self.kopt_ok("list", "scale.cu", "--verbose", *FLAGS)
        self.assertRegex(loud.stderr, r"log: ran: \S*kopt-frontend ")
        self.assertEqual(loud.stdout, self.kopt_ok("list", "scale.cu", *FLAGS).stdout)

    def test_every_command_takes_a_log_file(self):
        for command, *words in (["observe", "--", "true"], ["replay", "trace", "a.cu"], ["tune", "a.cu"],
                                ["trial", "a.cu", "--candidate", "b.cu"], ["profile", "a.cu"], ["list", "a.cu"], ["report"], ["apply"],
                                ["doctor"]):
            self.fails(6, "/proc/nope/log", command=[command, "--log-file", "/proc/nope/log", *words])

    def test_colour(self):
        escape = "\x1b["
        plain = {"NO_COLOR": "", "CLICOLOR_FORCE": ""}
        self.assertNotIn(escape, self.kopt("tnue", env=plain).stderr) # not a terminal
        for command in (["--color=always", "tnue"], ["--color", "always", "tnue"], ["report", "--color=always"]):
            self.assertIn(escape + "31merror:", self.kopt(*command, env={"NO_COLOR": "1"}).stderr, command)
        self.assertIn(escape, self.kopt("tnue", env={"NO_COLOR": "", "CLICOLOR_FORCE": "1"}).stderr)
        for command, env in ((["--color=never", "tnue"], {"CLICOLOR_FORCE": "1"}), (["tnue"], {"NO_COLOR": "1", "CLICOLOR_FORCE": "1"})):
            self.assertNotIn(escape, self.kopt(*command, env=env).stderr, command)

    def test_a_missing_file(self):
        self.fails(1, "nowhere.cu", command=["tune", "nowhere.cu", "--device", "emulated"])

    def test_no_such_kernel(self):
        self.scale()
        self.fails(1, "scael", "scale", command=self.tune("--kernel", "scael"))

    def test_no_gpu(self):
        self.scale()
        done = self.kopt("tune", "scale.cu", "--device", "cuda", *FLAGS, env=TOOLKIT)
        if done.returncode == 0:
            self.skipTest("there is a GPU")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("--device emulated", done.stderr)

    def test_an_unknown_model_gpu(self):
        self.scale()
        self.fails(1, "H2000", "H200", command=self.tune("--model-gpu", "H2000"))

    def test_a_broken_config(self):
        self.scale()
        self.write("kopt.toml", "[tune]\nround = 3\n")
        self.fails(1, "kopt.toml:2", "rounds", command=self.tune())

    def test_a_path_is_named_once(self):
        (self.folder / ".kopt").mkdir()
        self.write(".kopt/kopt.db", "no database at all" * 100)
        error = self.kopt("report").stderr.splitlines()[0]
        self.assertIn("is damaged", error)
        self.assertEqual(error.count("kopt.db"), 1, error)

    def test_a_repository_may_not_set_commands(self):
        self.scale()
        self.write("kopt.toml", "[tune]\nmodel = \"exec:rm -rf /\"\n")
        self.fails(1, "kopt.toml:2", command=self.tune())

    def test_a_full_disk(self):
        small = self.folder / "small"
        small.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96k", "tmpfs", small], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("cannot mount a small file system here")
        self.addCleanup(subprocess.run, ["umount", str(small)])
        (small / "scale.cu").write_text((DATA / "scale.cu").read_text())
        before = (small / "scale.cu").read_bytes()
        done = self.kopt("tune", "scale.cu", "--device", "emulated", *FLAGS, cwd=small)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertRegex(done.stderr, "(?i)disk is full|no space|full")
        self.assertEqual((small / "scale.cu").read_bytes(), before)
        self.assertEqual(list(small.glob("kopt.out/**/*.patch")), [])


class Long(ErrorsTest):
    """In the soak lane."""

    @unittest.skipUnless(NVCC, "there is no toolkit")
    def test_what_no_launch_of_kopts_can_have_is_named(self):
        self.write("fetch.cu", """__global__ void fetch(float *out, cudaTextureObject_t image, int n) {
  if (threadIdx.x < n) out[threadIdx.x] = tex1Dfetch<float>(image, threadIdx.x);
}
void run(float *out, cudaTextureObject_t image, int n) { fetch<<<1, 64>>>(out, image, n); }
""")
        self.fails(4, "fetch.cu:1", "texture object 'image'", "pointer",
                   command=["tune", "fetch.cu", "--kernel", "fetch", "--device", "emulated", *FLAGS], env=TOOLKIT)
        self.write("whole.cu", """#include <cooperative_groups.h>
__global__ void whole(int *out) {
  cooperative_groups::this_grid().sync();
  out[threadIdx.x] = 1;
}
void run(int *out) { whole<<<1, 64>>>(out); }
""")
        self.fails(4, "whole.cu:3", "cooperative_groups::this_grid().sync()", "cooperative launch",
                   command=["profile", "whole.cu", "--kernel", "whole", "--device", "emulated", *FLAGS], env=TOOLKIT)

    @unittest.skipUnless(NVCC, "there is no nvcc")
    def test_a_kernel_that_must_stay_in_its_file(self):
        self.write("counted.cu", COUNTED)
        self.fails(4, "counted.cu:3", "could not be lifted out", "--device cuda",
                   command=["tune", "counted.cu", "--kernel", "counted", "--device", "emulated", *FLAGS], env=TOOLKIT)

    def test_a_modelled_win_is_applied_with_its_flag_alone_and_to_the_file_that_was_tuned(self):
        file = self.scale()
        before = file.read_text()
        self.kopt_ok(*self.tune("--trials", "6"), env=NO_TOOLKIT)
        # The emulated device needs no toolkit, and the report says what was not checked.
        report = next(self.folder.glob("kopt.out/*/report.md")).read_text()
        self.assertIn("nvcc", report)
        self.assertIn("modelled", report)
        for arguments in ([], ["--unconfirmed"], ["--run-id", "session-1"]):
            done = self.kopt("apply", *arguments)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("--modelled", done.stderr)
        self.assertEqual(file.read_text(), before)
        changed = before.replace("constexpr int EDGE = 16;", "constexpr int EDGE = 24;").replace("int row =", "const int row =")
        changed = changed.replace("int column =", "const int column =")
        file.write_text(changed)
        done = self.kopt("apply", "--modelled")
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("scale.cu", done.stderr)
        self.assertEqual(file.read_text(), changed)
        file.write_text(before)
        self.kopt_ok("apply", "--modelled")
        self.assertNotEqual(file.read_text(), before)


class NoToolkit(KoptTest):
    def test_cuda_device_without_nvcc_or_gpu_names_what_is_missing(self):
        self.copy(DATA / "scale.cu")
        done = self.kopt("tune", "scale.cu", "--device", "cuda", *FLAGS, env=NO_TOOLKIT)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertRegex(done.stderr, "nvcc|GPU|CUDA")


if __name__ == "__main__":
    unittest.main()
