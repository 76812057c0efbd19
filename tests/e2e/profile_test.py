# SPDX-License-Identifier: Apache-2.0
"""kopt profile on the emulated device: its counters, the rules, and the machine code that nvcc makes of the kernel. Where there is no nvdisasm a
script stands for it that prints a listing of the file it is given."""

import json
import os
import shutil
import unittest

from kopt_test import BIN, DATA, FLAGS, SOURCE, KoptTest

NVCC = shutil.which("nvcc") or (shutil.which("/usr/local/cuda/bin/nvcc"))
FAKES = BIN.parent / "tests" / "fakes" / "cuda"
APP = FAKES / "fake_cuda_app"
CUDA = {"LD_LIBRARY_PATH": str(FAKES / "cuda"), "KOPT_CUPTI": str(FAKES / "cupti" / "libcupti.so"),
        "FAKE_APP_CUBIN": str(SOURCE / "tests" / "unit" / "runtime" / "capture" / "captured.cubin")}
# Lines of the slice: where they are in the user's file is for kopt to find out. 5 is in the kernel whatever its first line is.
LISTING = """\t.section\t.text._Z5scalePKfPffii,"ax",@progbits
_Z5scalePKfPffii:
\t//## File "{slice}", line 5
        /*0000*/                   LDG.E R2, desc[UR4][R2.64] ;
.L_x_1:
        /*0010*/                   STL [R1], R2 ;
        /*0020*/                   LDL.LU R3, [R1] ;
\t//## File "/usr/local/cuda/include/cuda_fp16.hpp", line 9 inlined at "{slice}", line 4
\t//## File "{slice}", line 4
        /*0030*/                   DMUL R4, R4, R6 ;
        /*0040*/              @!P0 BRA `(.L_x_1) ;
        /*0050*/                   EXIT ;
"""


class ProfileTest(KoptTest):
    def profile(self, file, *arguments, env=None):
        done = self.kopt("profile", file, "--device", "emulated", "--json", *arguments, *FLAGS, env=env)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        out = json.loads(done.stdout)
        self.assertEqual(out["schema_version"], 1)
        self.assertEqual(len(out["results"]), 1)
        return out["results"][0]

    def fails(self, code, *words, command):
        done = self.kopt("profile", *command)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual(done.stdout, "")

    def disassembler(self, listing=LISTING):
        """A script that prints a listing of the file whose folder it is given; returns the environment that names it."""
        self.write("listing", listing)
        (self.folder / "bin").mkdir(exist_ok=True)
        tool = self.folder / "bin" / "nvdisasm"
        # The module is the last argument; nvcc read a file beside it.
        tool.write_text('#!/bin/sh\nfor last; do :; done\nwhile IFS= read -r line; do\n'
                        'case "$line" in *"{slice}"*) while :; do case "$line" in *"{slice}"*) '
                        'line="${line%%"{slice}"*}$last.cu${line#*"{slice}"}";; *) break;; esac; done;; esac\n'
                        'printf "%s\\n" "$line"\ndone < "${0%/bin/nvdisasm}/listing"\n')
        tool.chmod(0o755)
        return {"NVDISASM_PATH": str(tool)}


class Profile(ProfileTest):
    def test_counters_and_rules_of_the_emulated_device(self):
        file = self.copy(DATA / "scale.cu")
        kernel = self.profile(file, env={"KOPT_CUDA_PATH": "none"})
        self.assertEqual(kernel["kernel"], "scale")
        self.assertTrue(kernel["modelled"])
        self.assertEqual(kernel["counter_source"], "emulated")
        self.assertEqual(kernel["launch"]["block"], [16, 16, 1])
        self.assertGreater(kernel["counters"]["smsp__inst_executed.sum"], 0)
        # Threads lie across the rows: 16 lanes touch a sector each.
        self.assertIn("partial-sectors-global-loads", [rule["rule"] for rule in kernel["rules"]])
        # A few microseconds: no change of the kernel makes the launch faster.
        self.assertEqual((kernel["state"], kernel["bound"]["kind"]), ("launch-overhead", "latency"))
        self.assertLess(kernel["headroom"], 1.4)
        self.assertEqual((kernel["contrast"], kernel["stalls"]), ([], []))
        self.assertIsNone(kernel["ncu"])
        # What there is not is named, never zero.
        self.assertIsNone(kernel["code_arch"])
        self.assertEqual(kernel["lines"], [])
        hot = kernel["hot_lines"]
        self.assertEqual(hot["source"], "emulated")
        self.assertEqual(hot["instructions"], kernel["counters"]["smsp__inst_executed.sum"])
        store = next(number for number, line in enumerate(file.read_text().splitlines(), 1) if "factor * in[" in line)
        self.assertEqual((hot["lines"][0]["file"], hot["lines"][0]["line"]), (str(file), store))
        self.assertEqual(hot["lines"][0]["sectors"], hot["sectors"])
        self.assertIn(f"scale.cu:{store}  out[row * columns + column] = factor",
                      self.kopt_ok("profile", file, "--device", "emulated", *FLAGS, env={"KOPT_CUDA_PATH": "none"}).stdout)
        self.assertFalse([name for name in kernel["counters"] if name.startswith(("sass__", "ptxas__"))])
        missing = "\n".join(kernel["missing"])
        self.assertIn("hardware counters: the device is emulated", missing)
        self.assertIn("CUDA is hidden by KOPT_CUDA_PATH=none", missing)
        self.assertTrue(any(text.startswith("double-in-float-code: metric") for text in kernel["rules_skipped"]))
        self.assertEqual(sorted(os.listdir(self.folder)), ["scale.cu"])

    def test_where_accesses_go(self):
        file = self.copy(DATA / "scale.cu")
        kernel = self.profile(file, "--access", env={"KOPT_CUDA_PATH": "none"})
        self.assertEqual(sorted(kernel), ["accesses", "file", "kernel", "launch", "line"])
        store = next(number for number, line in enumerate(file.read_text().splitlines(), 1) if "factor * in[" in line)
        self.assertEqual([(access["file"], access["line"]) for access in kernel["accesses"]], [(str(file), store)] * 2)
        # Threads lie across the rows: 16 lanes touch a sector each.
        self.assertIn(f"scale.cu:{store}  in[row * columns + column]: load of 4 bytes from global memory, lanes are 1200 bytes apart, "
                      "rows of 16 lanes 4 bytes, 16 sectors a request where 4 would do\n",
                      self.kopt_ok("profile", file, "--device", "emulated", "--access", *FLAGS,
                                   env={"KOPT_CUDA_PATH": "none"}).stdout)

    @unittest.skipUnless(NVCC, "there is no nvcc")
    def test_machine_code_by_class_and_by_the_users_own_lines(self):
        file = self.copy(DATA / "scale.cu")
        kernel = self.profile(file, env=self.disassembler())
        counters = kernel["counters"]
        self.assertEqual(counters["sass__inst"], 6)
        self.assertEqual(counters["sass__inst_fp64"], 1)
        self.assertEqual(counters["sass__spill_store_bytes"], 4)
        self.assertEqual(counters["sass__loop_inst"], 4)
        self.assertGreater(counters["ptxas__registers"], 0)
        self.assertIn("spills-in-code", [rule["rule"] for rule in kernel["rules"]])
        self.assertEqual(kernel["code_arch"], "sm_90")
        lines = {line["line"]: line for line in kernel["lines"]}
        text = file.read_text().splitlines()
        body = next(number for number, line in enumerate(text, 1) if "int row = " in line)
        self.assertEqual({line["file"] for line in kernel["lines"]}, {str(file)})
        self.assertEqual(len(lines), 2)
        self.assertTrue(set(lines) <= set(range(body - 2, body + 5)), lines)
        first = kernel["lines"][0]
        self.assertEqual(first["loop_depth"], 1)
        self.assertIsNone(first["executed"])
        self.assertEqual(sum(line["instructions"] for line in kernel["lines"]), 6)
        self.assertGreater(len(kernel["hot_lines"]["lines"]), 2)  # what was executed stays beside the code
        self.assertTrue(any(line["classes"].get("fp64") == 1 for line in kernel["lines"])) # of a header, for its caller

    def test_a_named_candidate(self):
        file = self.copy(DATA / "scale.cu")
        text = file.read_text()
        other = self.write("other.cu", text.replace("EDGE = 16", "EDGE = 8"))
        kernel = self.profile(file, "--candidate", other, env={"KOPT_CUDA_PATH": "none"})
        self.assertEqual(kernel["launch"]["block"], [8, 8, 1])
        before = self.profile(file, env={"KOPT_CUDA_PATH": "none"})
        self.assertNotEqual(kernel["counters"]["launch__block_size"], before["counters"]["launch__block_size"])
        moved = {row["counter"]: (row["candidate"], row["original"]) for row in kernel["contrast"]}
        self.assertEqual(moved["launch__block_size"], (64, 256))
        self.assertNotIn("launch__thread_count", moved)  # the same in both
        self.assertIn("beside the original\n", self.kopt_ok("profile", file, "--candidate", other, "--device", "emulated", *FLAGS,
                                                            env={"KOPT_CUDA_PATH": "none"}).stdout)

    def test_planted_causes_are_named(self):
        done = self.kopt("profile", self.copy(DATA / "planted.cu"), "--device", "emulated", "--model-gpu", "L4", "--json", *FLAGS,
                         env={"KOPT_CUDA_PATH": "none"})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        kernels = {kernel["kernel"]: kernel for kernel in json.loads(done.stdout)["results"]}
        self.assertEqual(len(kernels), 11)
        for name, kernel in kernels.items():
            self.assertEqual(kernel["state"], name.replace("_", "-"), kernel["finding"])
        self.assertEqual(kernels["dram_bound"]["bound"]["resource"], "DRAM")
        self.assertLess(kernels["dram_bound"]["headroom"], 1.1)  # the roof: nothing is left
        for name in ("bank_conflicts", "atomics", "small_grid"):
            self.assertGreater(kernels[name]["headroom"], 2)

    def test_nsight_compute_is_asked_for_by_name(self):
        kernel = self.profile(self.copy(DATA / "scale.cu"), "--ncu", "--sections", "Occupancy,SourceCounters",
                              env={"KOPT_CUDA_PATH": "none"})
        self.assertFalse(kernel["ncu"]["ran"])
        self.assertIn("does not support this device", kernel["ncu"]["detail"])
        self.assertIn("Nsight Compute's sections and advice", "\n".join(kernel["missing"]))

    def test_wrong_flags(self):
        file = self.copy(DATA / "scale.cu")
        emulated = ["--device", "emulated"]
        self.fails(1, "--sections requires --ncu", command=[file, *emulated, "--sections", "Occupancy", *FLAGS])
        self.fails(1, "'--export=x' is not a section name", "--list-sections",
                   command=[file, *emulated, "--ncu", "--sections=--export=x", *FLAGS])
        self.fails(1, "--lines", command=[file, *emulated, "--lines", "-1", *FLAGS])
        self.fails(1, "--candidat", "--candidate", command=[file, *emulated, "--candidat", file, *FLAGS])
        self.fails(1, "absent.cu does not exist", command=[file, *emulated, "--candidate", "absent.cu", *FLAGS])
        self.fails(1, "has no launch '500x3'", "there are: launch", command=[file, *emulated, "--launch", "500x3", *FLAGS])
        self.fails(1, "files", command=emulated)
        self.fails(1, "no kernel is named 'scael'", command=[file, *emulated, "--kernel", "scael", *FLAGS])

    def test_a_kernel_that_does_not_run(self):
        text = (DATA / "scale.cu").read_text()
        self.write("scale.cu", text.replace("out[row * columns + column] = ", "out[row * columns + column + (row == 499 ? 1 : 0)] = "))
        self.fails(4, "does not run through", "scale.cu:", command=["scale.cu", "--device", "emulated", *FLAGS])


class Long(ProfileTest):
    """In the soak lane."""

    @unittest.skipUnless(NVCC, "there is no nvcc")
    def test_the_table_for_people(self):
        file = self.copy(DATA / "scale.cu")
        done = self.kopt_ok("profile", file, "--device", "emulated", "--lines", "1", *FLAGS, env=self.disassembler())
        self.assertIn("scale (scale.cu:", done.stdout)
        self.assertIn("emulated H200", done.stdout)
        self.assertIn("double instructions in the code", done.stdout)
        self.assertIn("(spills-in-code)", done.stdout)
        self.assertRegex(done.stdout, r"lines with most instructions \(sm_90.*\n.*\n +\d+ +1  scale\.cu:\d+  1 double operation")
        self.assertEqual(done.stdout.count("scale.cu:"), 3)  # the kernel, and a line of each table

    @unittest.skipUnless(NVCC, "there is no nvcc")
    def test_a_disassembler_that_fails_is_named(self):
        env = self.disassembler()
        (self.folder / "bin" / "nvdisasm").write_text("#!/bin/sh\necho 'nvdisasm fatal: no such machine' >&2\nexit 3\n")
        kernel = self.profile(self.copy(DATA / "scale.cu"), env=env)
        self.assertIn("exit code 3", "\n".join(kernel["missing"]))
        self.assertIn("no such machine", "\n".join(kernel["missing"]))
        self.assertFalse([name for name in kernel["counters"] if name.startswith("sass__")])
        self.assertGreater(kernel["counters"]["ptxas__registers"], 0) # nvcc said that

    @unittest.skipUnless(APP.exists(), "this build has no capture library")
    def test_a_launch_of_the_program(self):
        file = self.copy(DATA / "captured.cu")
        done = self.kopt("profile", file, "--kernel", "scale", "--device", "emulated", "--json", "--run", f"{APP} scale",
                         "--", "-std=c++17", env=CUDA)
        self.assertEqual(done.returncode, 0, done.stderr)
        kernel = json.loads(done.stdout)["results"][0]
        self.assertEqual(len(kernel["launches"]), 2)
        self.assertEqual(kernel["launch"]["block"], [128, 1, 1])
        self.assertGreater(kernel["launch"]["weight"], 0)
        other = next(name for name in kernel["launches"] if name != kernel["launch"]["name"])
        named = self.kopt("profile", file, "--kernel", "scale", "--device", "emulated", "--json", "--run", f"{APP} scale",
                          "--launch", other, "--", "-std=c++17", env={"KOPT_CUDA_PATH": "none"})
        self.assertEqual(named.returncode, 0, named.stderr) # the trace is kept: no driver is needed
        self.assertEqual(json.loads(named.stdout)["results"][0]["launch"]["name"], other)


if __name__ == "__main__":
    unittest.main()
