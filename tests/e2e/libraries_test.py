# SPDX-License-Identifier: Apache-2.0
"""The programs that call cuBLAS and CUB are built by nvcc with each kind of types that kopt asks them for."""

import concurrent.futures
import pathlib
import shutil
import subprocess
import sys
import unittest

from kopt_test import SOURCE, KoptTest

PROGRAMS = {
    "product": ["IN=f32 OUT=f32", "IN=f64 OUT=f64", "IN=f16 OUT=f16", "IN=bf16 OUT=f32"],
    "transpose": ["IN=f32", "IN=f64"],
    "reduction": ["IN=f32 OUT=f64 CALL=Sum", "IN=i32 OUT=i64 CALL=Max", "IN=u64 OUT=u64 CALL=Min"],
    "scan": ["IN=f32 CALL=InclusiveSum", "IN=i64 CALL=ExclusiveSum"],
    "sort": ["IN=u8 CALL=SortKeys", "IN=f32 VALUE=i32 CALL=SortPairsDescending", "IN=f16 VALUE=f64 CALL=SortPairs"],
}


class Libraries(KoptTest):
    def test_each_program_is_built(self):
        folder = SOURCE / "knowledge" / "libraries"
        self.assertEqual(sorted(PROGRAMS), sorted(file.stem for file in folder.glob("*.cu")))
        toolkit = pathlib.Path(shutil.which("nvcc")).resolve().parent.parent

        def build(case):
            program, macros = case
            built = self.folder / "-".join([program, *macros.split()]).replace("=", "")
            command = ["nvcc", "-std=c++17", "-arch=sm_80", "-o", built, folder / f"{program}.cu", *(f"-D{one}" for one in macros.split())]
            if program in ("product", "transpose"):
                command += ["-lcublas", f"-Xlinker=-rpath={toolkit / 'lib64'}"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                return done.stderr
            # Where there is no such GPU it says so, after its libraries were found.
            run = subprocess.run([built, "00"], capture_output=True, text=True, check=False)
            return "" if run.returncode == 1 and run.stderr.startswith("error: ") else f"{run.returncode} {run.stderr}"

        cases = [(program, macros) for program, each in PROGRAMS.items() for macros in each]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for case, problem in zip(cases, pool.map(build, cases)):
                self.assertEqual(problem, "", case)


if __name__ == "__main__":
    if not shutil.which("nvcc"):
        print("skipped: there is no nvcc")
        sys.exit(77)
    unittest.main()
