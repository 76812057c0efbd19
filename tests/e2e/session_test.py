# SPDX-License-Identifier: Apache-2.0
"""Several kernels of one file in one `kopt tune`: their winners are one patch, which changes nobody who was not asked."""

import json
import subprocess
import unittest

from kopt_test import BIN, FLAGS, KoptTest

KERNELS = """
constexpr int ROWS = 16;
constexpr int COLUMNS = 16;
constexpr int SHARED = 16;
__global__ void rows(float *out, const float *in, int width, int height) {
  int row = blockIdx.x * ROWS + threadIdx.x;
  int column = blockIdx.y * (256 / ROWS) + threadIdx.y;
  if (row < height && column < width) out[row * width + column] = 2 * in[row * width + column];
}
__global__ void columns(float *out, const float *in, int width, int height) {
  int row = blockIdx.x * COLUMNS + threadIdx.x;
  int column = blockIdx.y * (256 / COLUMNS) + threadIdx.y;
  if (row < height && column < width) out[row * width + column] = 3 + in[row * width + column];
}
template <int FACTOR> __global__ void scaled(float *out, const float *in, int width, int height) {
  int row = blockIdx.x * SHARED + threadIdx.x;
  int column = blockIdx.y * (256 / SHARED) + threadIdx.y;
  if (row < height && column < width) out[row * width + column] = FACTOR * in[row * width + column];
}
void launch(float *out, const float *in, int width, int height) {
  rows<<<dim3((height + ROWS - 1) / ROWS, (width + 256 / ROWS - 1) / (256 / ROWS)), dim3(ROWS, 256 / ROWS)>>>(out, in, width, height);
  columns<<<dim3((height + COLUMNS - 1) / COLUMNS, (width + 256 / COLUMNS - 1) / (256 / COLUMNS)), dim3(COLUMNS, 256 / COLUMNS)>>>(out, in, width, height);
  dim3 grid((height + SHARED - 1) / SHARED, (width + 256 / SHARED - 1) / (256 / SHARED));
  scaled<2><<<grid, dim3(SHARED, 256 / SHARED)>>>(out, in, width, height);
  scaled<3><<<grid, dim3(SHARED, 256 / SHARED)>>>(out, in, width, height);
}
"""
CLAUSES = "".join(f"""
[[kernel]]
name = "{name}"
clauses = ["arg width = 512", "arg height = 256", "extent in = width * height", "extent out = width * height",
           "param {constant} in {{1, 16}}"]
""" for name, constant in (("rows", "ROWS"), ("columns", "COLUMNS"), ("scaled<2>", "SHARED")))


# Its transposition has bank conflicts; what takes them away is in the text of all instantiations.
TRANSPOSE = """
template <int FACTOR, typename T> __global__ void transposed(T *out, const T *in, int width) {
  __shared__ T tile[32][32];
  tile[threadIdx.y][threadIdx.x] = FACTOR * in[(blockIdx.y * 32 + threadIdx.y) * width + blockIdx.x * 32 + threadIdx.x];
  __syncthreads();
  out[(blockIdx.x * 32 + threadIdx.y) * width + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
void launch(float *out, const float *in, int width) {
  transposed<2, float><<<dim3(width / 32, width / 32), dim3(32, 32)>>>(out, in, width);
  transposed<3, float><<<dim3(width / 32, width / 32), dim3(32, 32)>>>(out, in, width);
}
"""

# A launch that several types share, as PyTorch's dispatch macros make them.
DISPATCHED = """
#define DISPATCH(TYPE, ...) \\
  [&] { \\
    switch (TYPE) { \\
    case 0: { using scalar_t = float; return __VA_ARGS__(); } \\
    default: { using scalar_t = double; return __VA_ARGS__(); } \\
    } \\
  }()
template <typename scalar_t> __global__ void doubled(scalar_t *out, const scalar_t *in, int width, int height) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < height && column < width) out[row * width + column] = 2 * in[row * width + column];
}
void launch(int type, void *out, const void *in, int width, int height) {
  const dim3 block(4, 64);
  const dim3 grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
  DISPATCH(type, [&] { doubled<scalar_t><<<grid, block>>>((scalar_t *)out, (const scalar_t *)in, width, height); });
}
"""


class Session(KoptTest):
    def setUp(self):
        super().setUp()
        self.file = self.folder / "a.cu"
        self.file.write_text(KERNELS)
        (self.folder / "kopt.toml").write_text(CLAUSES)

    def test_winners_of_one_file_are_one_patch_that_changes_nobody_else(self):
        done = self.kopt_ok("tune", "a.cu", "--device", "emulated", "--json", "--proposers", "params", *FLAGS)
        session = json.loads(done.stdout)["details"]["session"]
        wins = {win["kernel"]: win for win in session["wins"]}
        self.assertEqual(set(wins), {"rows", "columns", "scaled<2>"}, session)
        self.assertEqual((wins["rows"]["state"], wins["columns"]["state"]), ("modelled", "modelled"), session)
        # The constant is scaled<3>'s, too, and nothing says how to judge that.
        self.assertEqual(wins["scaled<2>"]["state"], "dropped", session)
        self.assertRegex(wins["scaled<2>"]["reason"], r"'SHARED'.*'scaled<3>' \(.*a\.cu:\d+\)")
        self.assertEqual(self.kopt("apply").returncode, 1)
        self.header_mode()
        self.kopt_ok("apply", "--modelled")
        self.assertEqual(self.file.read_text(), KERNELS.replace("ROWS = 16;", "ROWS = 1;").replace("COLUMNS = 16;", "COLUMNS = 1;"))
        summary = self.folder / "kopt.out" / session["name"] / "summary.md"
        page = (self.folder / "kopt.out" / session["name"] / "summary.html").read_text()
        self.assertIn("In the program", page)
        explained = self.kopt("explain", session["name"])
        self.assertEqual(explained.returncode, 1)
        self.assertIn("name one of its runs: ", explained.stderr)
        self.assertEqual(summary.read_text(), self.kopt_ok("report", "--run-id", session["name"]).stdout)
        for win in session["wins"]:
            report = self.folder / "kopt.out" / win["run_name"] / "report.md"
            self.assertEqual(report.read_text(), self.kopt_ok("report", "--run-id", win["run_name"]).stdout)
            self.assertIn("## In the program", report.read_text())
        # To the variants of the header mode this is other text than what was tuned.
        stale = self.kopt("check", "--json")
        self.assertEqual(stale.returncode, 5)
        self.assertEqual({kernel["state"] for kernel in json.loads(stale.stdout)["results"]}, {"stale"})
        self.assertEqual(self.kopt("check", "--fail-on", "never").returncode, 0)
        # Applied once, the patch is there: a second time is refused.
        self.assertEqual(self.kopt("apply", "--modelled").returncode, 5)

    def test_a_win_that_others_share_and_nobody_can_judge_is_a_specialization_of_its_own(self):
        self.file.write_text(TRANSPOSE)
        (self.folder / "kopt.toml").write_text("""
[[kernel]]
name = "transposed<2, float>"
clauses = ["arg width = 128", "extent in = width * width", "extent out = width * width", "require width % 32 == 0"]
""")
        done = self.kopt_ok("tune", "a.cu", "--kernel", "transposed<2, float>", "--device", "emulated", "--json", "--proposers",
                            "transform", "--rounds", "1", *FLAGS)
        [win] = json.loads(done.stdout)["details"]["session"]["wins"]
        self.assertEqual(win["state"], "modelled", win)
        self.assertTrue(win["own_specialization"], win)
        self.kopt_ok("apply", "--modelled")
        text = self.file.read_text()
        self.assertIn("template <>\n__global__ void transposed<2, float>(float *out, const float *in, int width) {", text)
        self.assertIn("constexpr int FACTOR = 2;", text)
        self.assertIn("__shared__ T tile[32][32 + 1];", text)
        self.assertTrue(text.startswith(TRANSPOSE[:TRANSPOSE.index("void launch")].rstrip()), "the template is as it was")

    def test_a_launch_that_a_dispatch_macro_shares_depends_on_the_type(self):
        self.file.write_text(DISPATCHED)
        (self.folder / "kopt.toml").write_text("""
[[kernel]]
name = "doubled<float>"
clauses = ["arg width = 512", "arg height = 256", "extent in = width * height", "extent out = width * height"]
""")
        done = self.kopt_ok("tune", "a.cu", "--kernel", "doubled<float>", "--device", "emulated", "--json", "--proposers",
                            "transform", "--rounds", "1", *FLAGS)
        [win] = json.loads(done.stdout)["details"]["session"]["wins"]
        self.assertEqual(win["state"], "modelled", win)
        self.assertTrue(win["own_specialization"], win)
        self.kopt_ok("apply", "--modelled")
        text = self.file.read_text()
        self.assertRegex(text, r"doubled<scalar_t><<<\(std::is_same<scalar_t, float>::value\) \? .* : grid, "
                               r"\(std::is_same<scalar_t, float>::value\) \? .* : block>>>")
        # It compiles, with the launch of the other type as it was.
        listed = json.loads(self.kopt_ok("list", "a.cu", "--json", *FLAGS).stdout)
        self.assertIn("doubled<double>", json.dumps(listed))

    def test_a_win_that_is_wrong_for_another_instantiation_leaves_that_one_alone(self):
        self.file.write_text(TRANSPOSE)
        (self.folder / "kopt.toml").write_text("".join(f"""
[[kernel]]
name = "transposed<{factor}, float>"
clauses = ["arg width = 128", "extent in = width * width", "extent out = width * width", "require width % 32 == 0"]
""" for factor in (2, 3)))
        # Two of its factors are one: right for the instantiation that is tuned.
        better = TRANSPOSE[:TRANSPOSE.index("void launch")].strip().replace("tile[32][32];", "tile[32][33];").replace("= FACTOR *", "= 2 *")
        self.write("reply.md", '```json\n{"title": "padded", "technique": "padding", "rationale": "banks"}\n```\n'
                   f"```cuda chunk=transposed\n{better}\n```\n")
        done = self.kopt_ok("tune", "a.cu", "--kernel", "transposed<2, float>", "--device", "emulated", "--json", "--proposers", "llm",
                            "--model", f"exec:cat {self.folder / 'reply.md'}", "--rounds", "1", *FLAGS)
        [win] = json.loads(done.stdout)["details"]["session"]["wins"]
        self.assertEqual(win["state"], "modelled", win)
        self.assertIn("transposed<3, float>: judging it with the composed text", done.stderr)
        self.assertTrue(win["own_specialization"], win)
        self.kopt_ok("apply", "--modelled")
        text = self.file.read_text()
        self.assertTrue(text.startswith(TRANSPOSE[:TRANSPOSE.index("void launch")].rstrip()), "the template is as it was")
        self.assertIn("template <>\n__global__ void transposed<2, float>(float *out, const float *in, int width) {", text)
        self.assertIn("tile[32][33];", text)

    def header_mode(self):
        """The same wins as variants: the file stays, and a compiler is given what the patch makes of it."""
        self.assertEqual(self.kopt("apply", "--mode", "header").returncode, 1)
        self.assertEqual(self.kopt("check").returncode, 1)
        self.assertFalse((self.folder / "kopt").exists())
        self.kopt_ok("apply", "--mode", "header", "--modelled")
        self.assertEqual(self.file.read_text(), KERNELS)
        self.assertIn("2 tuned, 0 stale, 0 regressed", self.kopt_ok("check").stdout)
        path = self.folder / "kopt" / "kopt.lock"
        lock = path.read_text()
        path.write_text(lock.replace("\n  symbol ", '\n  regressed "0.9x in run 7"\n  symbol ', 1))
        self.assertIn("0.9x in run 7", self.kopt("check").stdout)
        self.assertEqual([self.kopt("check", "--fail-on", on).returncode for on in ("stale", "regressed", "never")], [2, 2, 0])
        path.write_text(lock)
        self.measured(path)
        seen = self.folder / "seen.txt"
        subprocess.run([BIN / "kopt-overlay", "compile", self.folder / "kopt" / "kopt.lock", self.folder / "b",
                        self.folder / "b" / "o", self.folder / "b" / "s", "90", "--", "cp", self.file, seen], check=True)
        self.assertEqual(seen.read_text(), f'#line 1 "{self.file}"\n' +
                         KERNELS.replace("ROWS = 16;", "ROWS = 1;").replace("COLUMNS = 16;", "COLUMNS = 1;"))

    def measured(self, path):
        """A narrow matrix has most threads of the variants idle: they leave the build, and come back with the wide one."""
        lock = path.read_text()
        clauses = self.folder / "kopt.toml"
        clauses.write_text(CLAUSES.replace("width = 512", "width = 2").replace("height = 256", "height = 4000"))
        command = ["check", "--measure", "--device", "emulated", "--json", *FLAGS]
        slower = self.kopt(*command)
        self.assertEqual(slower.returncode, 2, slower.stderr)
        for kernel in json.loads(slower.stdout)["results"]:
            self.assertEqual((kernel["state"], kernel["measured"]["verdict"]), ("regressed", "Slower"), kernel)
            self.assertRegex(kernel["regressed"], r"^Slower on .*, \d{4}-\d\d-\d\d: ")
        self.assertIn("0 tuned, 0 stale, 2 regressed", self.kopt("check").stdout)
        clauses.write_text(CLAUSES)
        faster = self.kopt_ok(*command)
        self.assertEqual({kernel["measured"]["verdict"] for kernel in json.loads(faster.stdout)["results"]}, {"Faster"})
        self.assertEqual(path.read_text(), lock)
        text = self.file.read_text()
        self.file.write_text(text.replace("2 * in[row", "4 * in[row"))
        stale = json.loads(self.kopt(*command).stdout)["results"]
        self.assertEqual([kernel["measured"].get("not_measured") for kernel in stale if kernel["state"] == "stale"], ["it is stale"])
        self.file.write_text(text)


if __name__ == "__main__":
    unittest.main()
