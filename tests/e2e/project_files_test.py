# SPDX-License-Identifier: Apache-2.0
"""What a kernel is compiled with lies in a project: its headers, options, commands, line ends, and the folders around it."""

import json
import os
import re
import subprocess
import unittest

from kopt_test import BIN, FLAGS, KoptTest

KERNEL = """#include <kopt/kopt.h>
{includes}
constexpr int ROWS = 16;
KOPT_TUNE("arg width = 512", "arg height = 256", "extent in = width * height + 8", "extent out = width * height",
          "param ROWS in {{1, 16}}")
__global__ void blur(float *out, const float *in, int width, int height) {{
  int row = blockIdx.x * ROWS + threadIdx.x, column = blockIdx.y * (256 / ROWS) + threadIdx.y;
  if (row < height && column < width)
    out[row * width + column] = {value};
}}
void launch(float *out, const float *in, int width, int height) {{
  blur<<<dim3((height + ROWS - 1) / ROWS, (width + 256 / ROWS - 1) / (256 / ROWS)), dim3(ROWS, 256 / ROWS)>>>(out, in, width, height);
}}
"""
TUNE = ["--device", "emulated", "--proposers", "params"]


class Project(KoptTest):
    def put(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def kernel(self, includes="", value="in[row * width + column] + RADIUS", name="src/blur.cu"):
        return self.put(name, KERNEL.format(includes=includes, value=value))

    def git(self, *arguments, cwd=None):
        done = subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@localhost", *arguments], cwd=cwd or self.folder,
                              capture_output=True, text=True, env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def commit(self):
        self.git("init", "-q", "-b", "main")
        self.put(".gitignore", "/.kopt/\n/kopt.out/\n")
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "all")

    def touched(self, flags):
        done = self.kopt_ok("ci", "--base", "HEAD", "src/blur.cu", "--device", "emulated", "--dry-run", "--json", "--fail-on", "never",
                            *FLAGS, *flags)
        return [kernel["change"] for kernel in json.loads(done.stdout)["results"]]

    def states(self):
        done = self.kopt("check", "--json", "--fail-on", "never")
        return [(kernel["state"], kernel["changes"]) for kernel in json.loads(done.stdout)["results"]]


class Read(Project):
    """What comes in by -isystem, -include and --options-file is the kernel's, if it lies in the project."""

    def test_a_change_of_what_flags_bring_in_touches_the_kernel(self):
        for where, includes, flags in (("third/r.h", "#include <r.h>", ["-isystem", "third"]),
                                       ("late/r.h", "#include <r.h>", ["-idirafter", "late"]),
                                       ("third/r.h", "#include <r.h>", ["-isystem", "src,third"]),
                                       ("third/r.h", "#include <r.h>", ["-Isrc,third"]),
                                       ("third/r.h", "#include <r.h>", ["-Xcompiler", "-isystem,third,-Wall"]),
                                       ("third/r.h", "#include <r.h>", ["-Xcompiler", "-isystem", "-Xcompiler", "third"]),
                                       ("third/r.h", "", ["-include", "src/s.h,third/r.h"]),
                                       ("third/r.h", "", ["-Ithird", "-include", "r.h"]),
                                       ("third/r.h", "", ["-include", "third/r.h"])):
            with self.subTest(flags=flags):
                self.kernel(includes)
                self.put(where, "#define RADIUS 1\n")
                self.put("src/s.h", "#define S 1\n")
                self.commit()
                self.put(where, "// how far\n#define RADIUS   1\n")
                self.assertEqual(self.touched(flags), [])
                self.put(where, "#define RADIUS 3\n")
                self.assertEqual(self.touched(flags), ["modified"])
        self.kernel()
        self.put("kopt.opt", "-DRADIUS=1 -Isrc\n")
        self.commit()
        self.put("src/blur.cu", (self.folder / "src/blur.cu").read_text() + "// more\n")
        self.assertEqual(self.touched(["--options-file", "kopt.opt"]), [])
        self.put("kopt.opt", "-DRADIUS=3 -Isrc\n")
        self.assertEqual(self.touched(["--options-file", "kopt.opt"]), ["modified"])

    def test_a_change_of_a_header_ends_what_was_tuned_with_it(self):
        self.kernel("#include <r.h>\n#include \"s.h\"", "S * in[row * width + column] + RADIUS")
        self.put("third/r.h", "#define RADIUS 1\n")
        self.put("src/s.h", "#define S 2\n")
        self.commit()
        tune = ["tune", "src/blur.cu", *TUNE, *FLAGS, "-isystem", "third"]
        self.kopt_ok(*tune)
        self.kopt_ok("apply", "--mode", "header", "--modelled")
        self.assertEqual(self.states()[0][0], "tuned")
        self.kopt_ok("apply", "--modelled", "--check")
        for name, before, after in (("src/s.h", "#define S 2\n", "#define S 3\n"),
                                    ("third/r.h", "#define RADIUS 1\n", "#define RADIUS 3\n"),
                                    ("third/r.h", "#define RADIUS 1\n", "#define RADIUS 1\n#undef RADIUS\n#define RADIUS 3\n")):
            with self.subTest(name=name, after=after):
                self.put(name, after)
                for run in ([], ["--run-id", "blur-1"]):
                    done = self.kopt("apply", "--modelled", *run)
                    self.assertEqual(done.returncode, 5, done.stderr)
                    self.assertIn(name + " changed since it was tuned", done.stderr)
                state, changes = self.states()[0]
                self.assertEqual((state, [os.path.relpath(change["file"], self.folder) for change in changes]), ("stale", [name]))
                self.put(name, before)
        self.assertIn("resuming", self.kopt_ok(*tune[:6], "--resume", *tune[6:]).stderr)
        self.put("third/r.h", "#define RADIUS 3\n")
        self.assertNotIn("resuming", self.kopt_ok(*tune[:6], "--resume", *tune[6:]).stderr)
        self.kopt_ok("apply", "--modelled")
        self.assertIn("ROWS = 1;", (self.folder / "src/blur.cu").read_text())


class Roots(Project):
    """The root of a patch is the project."""

    HEADER = KERNEL[:KERNEL.index("void launch")].format(includes="#pragma once", value="2 * in[row * width + column]")
    MAIN = '#include "kern.cuh"\n' + KERNEL[KERNEL.index("void launch"):].format()

    def build(self, root="."):
        self.put(root + "/include/kern.cuh", self.HEADER)
        self.put(root + "/src/main.cu", self.MAIN)

    def tune_and_apply(self, file, *flags, cwd=None, edited="include/kern.cuh"):
        self.kopt_ok("tune", file, *TUNE, *FLAGS, *flags, cwd=cwd)
        for more in ([], ["--run-id", "blur-1"]):
            self.kopt_ok("apply", "--modelled", "--check", *more, cwd=cwd)
        self.kopt_ok("apply", "--modelled", cwd=cwd)
        self.assertIn("ROWS = 1;", (self.folder / edited).read_text())

    def test_without_git_it_is_the_folder_where_kopt_was_started(self):
        self.build()
        self.tune_and_apply("src/main.cu", "-Iinclude")
        self.assertEqual((self.folder / ".kopt/.gitignore").read_text(), "*\n")
        self.assertEqual((self.folder / "kopt.out/.gitignore").read_text(), "*\n")

    def test_git_am_takes_the_patch_as_the_output_says(self):
        for ends in ("\n", "\r\n"):
            with self.subTest(ends=ends):
                self.kernel(name="src/am.cu")
                source = self.folder / "src/am.cu"
                text = source.read_text().replace("RADIUS", "2").replace("\n", ends)
                source.write_bytes(text.encode())
                if ends == "\n":
                    self.commit()
                else:
                    self.git("commit", "-qam", "line ends")
                said = self.kopt_ok("tune", "src/am.cu", *TUNE, *FLAGS).stdout
                self.assertEqual("(apply with git am --keep-cr, or git am where" in said, ends == "\r\n", said)
                patch = re.search(r"patch: +(\S+winner\.patch)", said).group(1)
                self.git("am", "-q", *(["--keep-cr"] if ends == "\r\n" else []), patch)
                self.assertEqual(source.read_bytes().decode(), text.replace("ROWS = 16;", "ROWS = 1;"))

    def test_it_is_the_source_folder_of_the_build(self):
        self.build("project")
        build = self.folder / "project/build"
        source = self.folder / "project/src/main.cu"
        self.put("project/build/CMakeCache.txt", f"CMAKE_HOME_DIRECTORY:INTERNAL={self.folder / 'project'}\n")
        self.put("project/build/compile_commands.json", json.dumps([
            {"directory": str(build), "file": str(source), "arguments": ["nvcc", *FLAGS[1:], "-I../include", "-c", str(source)]}]))
        self.kopt_ok("tune", source, *TUNE, "-p", build, cwd=build)
        self.assertIn("--- a/include/kern.cuh", next(build.glob("kopt.out/session-1/*.patch")).read_text())
        self.kopt_ok("apply", "--modelled", cwd=build)

    def test_a_header_of_a_submodule_is_edited_in_it(self):
        self.put("lib/.git", "gitdir: ../.git/modules/lib\n")
        self.put(".git/HEAD", "ref: refs/heads/main\n")
        self.put("lib/kern.cuh", self.HEADER)
        self.put("src/main.cu", self.MAIN)
        self.tune_and_apply("src/main.cu", "-Ilib", edited="lib/kern.cuh")


class Chosen(Project):
    """What stands in a build folder, in kopt.toml and in the records."""

    def test_of_several_commands_for_a_file_release_or_the_text_is_used(self):
        source = self.kernel(value="in[row * width + column] * FACTOR")
        build = self.folder / "build"
        self.put("build/compile_commands.json", json.dumps([
            {"directory": str(build), "file": str(source),
             "arguments": ["nvcc", *FLAGS[1:], *more, "-c", str(source), "-o", f"CMakeFiles/app.dir/{name}/blur.cu.o"]}
            for name, more in (("Debug", ["-DWRONG"]), ("Release", ["-DFACTOR=2"]), ("RelWithDebInfo", ["-DFACTOR=3"]))]))
        tune = ["tune", "-p", build, *TUNE, "--dry-run"]
        for command in (tune, [*tune, "--command", "app.dir"], ["list", "-p", build]):
            said = self.kopt_ok(*command).stderr
            self.assertRegex(said, r"3 commands for .*src/blur\.cu; --command TEXT .*app\.dir/Release/blur")
        self.assertRegex(self.kopt_ok(*tune, "--command", "RelWithDebInfo").stderr, r"used: .*RelWithDebInfo/blur")
        self.assertEqual(self.kopt(*tune, "--command", "Debug").returncode, 4)
        missing = self.kopt(*tune, "--command", "MinSizeRel")
        self.assertEqual(missing.returncode, 1)
        self.assertIn("no command with 'MinSizeRel'", missing.stderr)

    def test_a_misspelt_kernel_of_kopt_toml_is_named_with_its_line(self):
        self.kernel(value="in[row * width + column]")
        self.put("kopt.toml", '[[kernel]]\nname = "blurr"\nclauses = ["arg width = 512"]\n')
        for command in (["tune", "src/blur.cu", *TUNE], ["init", "src/blur.cu"]):
            done = self.kopt(*command, *FLAGS)
            self.assertEqual(done.returncode, 1, command)
            self.assertRegex(done.stderr, r"kopt\.toml:2: .*no kernel is named 'blurr'")
            self.assertIn("did you mean 'blur'?", done.stderr)
        # Of a file that is not given.
        self.put("kopt.toml", '[[kernel]]\nname = "blur"\nclauses = []\n[[kernel]]\nname = "blur2"\nclauses = []\n')
        self.kopt_ok("init", "src/blur.cu", *FLAGS)

    def test_a_kernel_of_kopt_toml_that_no_file_has_is_noted(self):
        self.kernel(value="in[row * width + column]")
        self.put("kopt.toml", '[[kernel]]\nname = "blur"\nclauses = []\n[[kernel]]\nname = "ns::sharpenRows"\nclauses = []\n'
                              '[[kernel]]\nname = "maxRow"\nclauses = []\n')
        for command in (["tune", "src/blur.cu", *TUNE, "--dry-run"], ["init", "src/blur.cu", "--dry-run"]):
            notes = [line for line in self.kopt_ok(*command, *FLAGS).stderr.splitlines() if "maxRow" in line]
            self.assertEqual(len(notes), 1, notes)
            self.assertRegex(notes[0], r"note: .*kopt\.toml:5: these files have no kernel named 'ns::sharpenRows' or 'maxRow'; "
                                       r"the kernels are: blur \(")

    def test_errors_of_clauses_name_the_line_of_kopt_toml(self):
        text = KERNEL.format(includes="", value="in[row * width + column]")
        self.put("src/blur.cu", text[:text.index("KOPT_TUNE")] + text[text.index("__global__"):])
        table = '[[kernel]]\nname = "blur"\nclauses = [\n"arg width = 256",\n"arg height = 128",\n{}\n"extent out = width * height"]\n'
        for clause, what in (('"extent in = width * depth",', "depth"), ('"extent in = width - 256",', "is 0 elements"), ("", "extent")):
            self.put("kopt.toml", table.format(clause))
            done = self.kopt("tune", "src/blur.cu", *TUNE, *FLAGS)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("kopt.toml:6: " if clause else "src/blur.cu:", done.stderr)
            self.assertIn(what, done.stderr)
            self.assertNotIn("KOPT_TUNE", done.stderr)

    def test_a_baseline_that_fails_names_its_parameter_and_line(self):
        text = KERNEL.format(includes="", value="in[row * width + column]")
        self.put("src/blur.cu", text.replace("extent in = width * height + 8", "extent in = width"))
        for command in (["tune", *TUNE], ["trial", *TUNE[:2], "--candidate", "src/blur.cu"]):
            done = self.kopt(command[0], "src/blur.cu", *command[1:], *FLAGS)
            self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
            self.assertRegex(done.stderr, r"of the buffer of 'in' .* at blur\.cu:9")
            self.assertNotIn("slice.cu", done.stderr)

    def test_progress_has_the_users_lines_and_ends_with_counts(self):
        self.put("src/all.cu", """#include <kopt/kopt.h>
KOPT_TUNE("arg n = 1280", "extent in = n", "extent out = n")
__global__ void all(float *out, const float *in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n + 64) out[i] = in[i] * 2;
}
void launch(float *out, const float *in, int n) {
  const int threads = 256;
  all<<<(n + threads - 1) / threads, threads>>>(out, in, n);
}
""")
        tune = ["tune", "src/all.cu", "--device", "emulated", "--proposers", "transform", "--rounds", "2", *FLAGS]
        done = self.kopt_ok(*tune)
        self.assertRegex(done.stderr, r"RunFailed .*out of bounds .* at all\.cu:5")
        self.assertNotIn("slice.cu", done.stderr + self.kopt_ok("report").stdout)
        self.assertRegex(done.stderr, r"note: \d+% of this launch \(\d\.\d us\) is the launch itself")
        self.assertRegex(done.stderr, r"all: best 1\.\d\dx, \d+ s left: launch in blocks of ")
        self.assertRegex(done.stdout.splitlines()[-1], r"^\d+ candidates judged: .*\d+ RunFailed")
        self.assertEqual(self.kopt_ok("-q", *tune).stderr, "")

    def test_modelled_gains_are_called_so(self):
        self.kernel(value="expf(in[row * width + column])")
        self.kopt_ok("tune", "src/blur.cu", *TUNE, *FLAGS)
        self.kopt_ok("apply", "--mode", "header", "--modelled")
        self.assertRegex(self.kopt_ok("check").stdout, r"\d\.\d\dx \(modelled\)")
        self.assertIs(json.loads(self.kopt_ok("check", "--json").stdout)["results"][0]["modelled"], True)
        self.assertRegex((self.folder / "kopt/blur.cuh").read_text(), r"times as fast \(modelled, not measured\) in isolation on")

    def test_approximations_stand_among_what_was_not_shown(self):
        kernel = """__global__ void summed(float *out, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 64 && i < n; ++k)
    sum += expf(-fabsf(((volatile const float *)in)[i]));
  if (i < n)
    out[i] = sum;
}"""
        self.put("sum.cu", f'''#include <kopt/kopt.h>
KOPT_TUNE("arg n = 65536", "extent in = n", "extent out = n")
{kernel}
void launch(float *out, const float *in, int n) {{ summed<<<(n + 255) / 256, 256>>>(out, in, n); }}
''')
        self.put("reply.md", '```json\n{"title": "fast", "technique": "approximation", "rationale": "fewer instructions"}\n```\n'
                 "```cuda chunk=summed\n" + kernel.replace("expf(-fabsf(((volatile const float *)in)[i]))", "__expf(-fabsf(in[i]))") + "\n```\n")
        self.kopt_ok("tune", "sum.cu", "--device", "emulated", "--proposers", "llm", "--model", f"exec:cat {self.folder / 'reply.md'}",
                     "--rounds", "1", *FLAGS)
        self.assertRegex(self.kopt_ok("report").stdout, r"the error of \\?_\\?_expf on a GPU")

    def test_records_on_a_read_only_disk_are_read(self):
        self.kernel(value="in[row * width + column]")
        self.kopt_ok("tune", "src/blur.cu", *TUNE, *FLAGS)
        self.kopt_ok("apply", "--mode", "header", "--modelled")
        where = str(self.folder)
        for command, code in (("report", 0), ("explain", 0), ("apply --modelled --check", 0), ("check", 0), ("apply --modelled", 6),
                              ("tune src/blur.cu " + " ".join([*TUNE, *FLAGS]), 6)):
            done = subprocess.run(["unshare", "-m", "sh", "-c", f"mount --bind {where} {where} && mount -o remount,ro,bind {where} || exit 99; "
                                   f"cd {where} && exec {BIN / 'kopt'} {command}"], capture_output=True, text=True)
            if done.returncode in (1, 99) and "mount" in done.stderr or "unshare" in done.stderr:
                self.skipTest("no mount namespace here: " + done.stderr)
            self.assertEqual(done.returncode, code, command + done.stdout + done.stderr)

    def test_a_full_cache_folder_is_done_without(self):
        self.kernel(value="in[row * width + column]")
        full = self.folder / "full"
        full.mkdir()
        for size in ("16k", "2m"):
            done = subprocess.run(["unshare", "-m", "sh", "-c", f"mount -t tmpfs -o size={size} none {full} || exit 99; "
                                   f"dd if=/dev/zero of={full}/x bs=4k 2>/dev/null; cd {self.folder} && exec {BIN / 'kopt'} tune src/blur.cu "
                                   + " ".join([*TUNE, *FLAGS])], capture_output=True, text=True, env={**os.environ, "KOPT_CACHE_DIR": str(full)})
            if done.returncode == 99 or "unshare" in done.stderr:
                self.skipTest("no mount namespace here: " + done.stderr)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
