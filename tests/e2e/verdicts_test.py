# SPDX-License-Identifier: Apache-2.0
"""Honest versions of kernels that were refused once, and wrong ones that were accepted: the verdict is an engineer's."""

import json
import pathlib
import unittest

from kopt_test import FLAGS, KoptTest

RIGHT = {"Faster", "Same", "Slower", "Ambiguous"}
WRONG = {"WrongResult", "RunFailed"}

POOL = """#include <kopt/kopt.h>
KOPT_TUNE("arg count = 1500", "arg width = 3", "extent in = count * width", "extent out = count")
__global__ void pool(const float *in, float *out, int count, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  float most = in[i * width];
  for (int k = 1; k < width; ++k)
    most = fmaxf(most, in[i * width + k]);
  out[i] = most;
}
void run(const float *in, float *out, int count, int width) { pool<<<(count + 127) / 128, 128>>>(in, out, count, width); }
"""
POOL_LOOP = "  float most = in[i * width];\n"
PAIR = "  if (width == 23) {\n    float a = in[i * 23];\n    for (int k = {first}; k < 23; ++k)\n      a = fmaxf(a, in[i * 23 + k]);\n    out[i] = a;\n    return;\n  }\n"

COPY = """#include <kopt/kopt.h>
KOPT_TUNE("arg n = 6000", "extent in = n", "extent out = n")
__global__ void copy(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = 3 * in[i];
}
void run(const float *in, float *out, int n) { copy<<<(n + 127) / 128, 128>>>(in, out, n); }
"""
COPY_LINE = "  if (i < n)\n    out[i] = 3 * in[i];\n"
ALIGNED = """  const bool aligned = ((size_t)in % 16) == 0 && ((size_t)out % 16) == 0 && n % 4 == 0;
  if (aligned) {
    if (i < n / 4) {
      float4 v = reinterpret_cast<const float4 *>(in)[i];
      reinterpret_cast<float4 *>(out)[i] = make_float4(3 * v.x, 3 * v.y, 3 * v.z, 3 * v.w);
    }
    return;
  }
"""
IDLE = "  for (int j = i; j < n; j += gridDim.x * blockDim.x)\n    out[j] = 3 * in[j];\n"

RANGES = """#include <kopt/kopt.h>
KOPT_TUNE("arg rows = 60", "arg columns = 50", "extent in = rows * columns", "extent out = rows", "fill in = uniform(-1, 1)")
__global__ void span(const float *in, float *out, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float low = in[row * columns], high = low;
  for (int k = 1; k < columns; ++k) {
    low = fminf(low, in[row * columns + k]);
    high = fmaxf(high, in[row * columns + k]);
  }
  out[row] = high - low;
}
void run(const float *in, float *out, int rows, int columns) { span<<<(rows + 63) / 64, 64>>>(in, out, rows, columns); }
"""
RANGES_LINE = "  out[row] = high - low;\n"
SMALL = "  const float range = high - low;\n  const bool small = range < 3000000.0f;\n  out[row] = small ? {small} : range;\n"

# Each thread moves a pair, so it may be used in place.
MIRROR = """#include <kopt/kopt.h>
KOPT_TUNE("arg n = 4000", "extent in = n", "extent out = n")
__global__ void mirror(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (n + 1) / 2)
    return;
  float a = in[i], b = in[n - 1 - i];
  out[i] = b;
  out[n - 1 - i] = a;
}
void run(const float *in, float *out, int n) { mirror<<<(n + 127) / 128, 128>>>(in, out, n); }
"""
MIRROR_BODY = MIRROR[MIRROR.index("  if (i >="):MIRROR.index("}\nvoid")]

# Takes any number of blocks.
ROLL = """#include <kopt/kopt.h>
KOPT_TUNE("arg n = 3000", "extent in = n + 1", "extent out = n")
__global__ void roll(const float *in, float *out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = in[i] + in[i + 1];
}
void run(const float *in, float *out, int n) { roll<<<(n + 127) / 128, 128>>>(in, out, n); }
"""
ROLL_BODY = ROLL[ROLL.index("  for (int i"):ROLL.index("}\nvoid")]
ROLL_TILE = """  __shared__ float tile[129];
  for (int first = blockIdx.x * blockDim.x; first < n; first += gridDim.x * blockDim.x) {{
    const int i = first + threadIdx.x;
    tile[threadIdx.x] = i <= n ? in[i] : 0;
    if (threadIdx.x == 0)
      tile[128] = first + 128 <= n ? in[first + 128] : 0;
    __syncthreads();
    if (i < n)
      out[i] = tile[threadIdx.x] + tile[threadIdx.x + 1];
{last}  }}
"""

# Variances of rows.
SPREAD = """#include <kopt/kopt.h>
KOPT_TUNE("arg rows = 40", "arg columns = 100", "extent in = rows * columns", "extent out = rows")
__global__ void spread(const float *in, float *out, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  const float *mine = in + row * columns;
  float sum = 0;
  for (int k = 0; k < columns; ++k)
    sum += mine[k];
  const float mean = sum / columns;
  float squares = 0;
  for (int k = 0; k < columns; ++k)
    squares += (mine[k] - mean) * (mine[k] - mean);
  out[row] = squares / columns;
}
void run(const float *in, float *out, int rows, int columns) { spread<<<(rows + 63) / 64, 64>>>(in, out, rows, columns); }
"""
SPREAD_BODY = SPREAD[SPREAD.index("  float sum"):SPREAD.index("}\nvoid")]
TWO_SUMS = """  float a = 0, b = 0;
  int k = 0;
  for (; k + 1 < columns; k += 2) {
    a += mine[k];
    b += mine[k + 1];
  }
  const float mean = (a + b + (k < columns ? mine[k] : 0)) / columns;
  float squares = 0;
  for (k = columns - 1; k >= 0; --k)
    squares += (mine[k] - mean) * (mine[k] - mean);
  out[row] = squares / columns;
"""
ONE_PASS = """  float sum = 0, squares = 0;
  for (int k = 0; k < columns; ++k) {
    sum += mine[k];
    squares += mine[k] * mine[k];
  }
  const float mean = sum / columns;
  out[row] = fmaxf(squares / columns - mean * mean, 0.0f);
"""

LENGTHS = """#include <kopt/kopt.h>
KOPT_TUNE("arg keys = 30", "arg longest = 64", "extent text = keys * longest", "extent lengths = keys", "extent out = keys")
__global__ void digest(const unsigned char *text, const unsigned *lengths, unsigned *out, int keys, int longest) {
  int key = blockIdx.x * blockDim.x + threadIdx.x;
  if (key >= keys)
    return;
  const unsigned length = min(lengths[key], (unsigned)longest);
  unsigned sum = 1;
  for (unsigned k = 0; k < length; ++k)
    sum = sum * 31 + text[key * longest + k];
  out[key] = sum;
}
void run(const unsigned char *text, const unsigned *lengths, unsigned *out, int keys, int longest) {
  digest<<<(keys + 31) / 32, 32>>>(text, lengths, out, keys, longest);
}
"""

# Far more work than elements: what a larger size costs is not told by their number.
WAVES = """#include <kopt/kopt.h>
KOPT_TUNE("arg points = 300", "arg waves = 200", "extent at = points", "extent by = waves", "extent out = waves", "fill at = uniform(0, 1)")
__global__ void waves(const float *at, const float *by, float *out, int points, int count) {
  int wave = blockIdx.x * blockDim.x + threadIdx.x;
  if (wave >= count)
    return;
  float sum = 0;
  for (int k = 0; k < points; ++k)
    sum += at[k] * by[wave];
  out[wave] = sum;
}
void run(const float *at, const float *by, float *out, int points, int waves_) {
  waves<<<(waves_ + 63) / 64, 64>>>(at, by, out, points, waves_);
}
""".replace('"arg waves = 200"', '"arg waves_ = 200"').replace("extent by = waves", "extent by = waves_").replace("extent out = waves", "extent out = waves_")
KEPT = [("  float sum = 0;\n", "  extern __shared__ float kept[];\n  for (int k = threadIdx.x; k < points; k += blockDim.x)\n    kept[k] = at[k];\n"
         "  __syncthreads();\n  if (wave >= count)\n    return;\n  float sum = 0;\n"),
        ("  if (wave >= count)\n    return;\n  extern", "  extern"), ("sum += at[k]", "sum += kept[k]"), (", 64>>>", ", 64, points * sizeof(float)>>>")]

# One sum in any order, most of which cancels, so it shows each rounding.
TOTAL = """#include <kopt/kopt.h>
KOPT_TUNE("arg n = 3000", "extent in = n", "extent out = 1", "fill in = uniform(0, 1)", "fill out = zero")
__global__ void total(const double *in, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(out, (i < n / 2 ? in[i] : -in[n - 1 - i]) + 3.0 / n);
}
void run(const double *in, double *out, int n) { total<<<(n + 127) / 128, 128>>>(in, out, n); }
"""
TOTAL_INDEX = "blockIdx.x * blockDim.x + threadIdx.x;"

STRUCT = """#include <kopt/kopt.h>
struct Box { float low; int steps; float weight[2]; };
KOPT_TUNE("arg n = 3000", "arg box = {0.5, n / 1000, 2.0, 3.0}", "arg scale = {1.0, 2.0, 3.0}", "extent out = n")
__global__ void boxed(float *out, Box box, float3 scale, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = box.low + box.steps * box.weight[i % 2] + scale.x + scale.y * i + scale.z;
}
void run(float *out, Box box, float3 scale, int n) { boxed<<<(n + 127) / 128, 128>>>(out, box, scale, n); }
"""

SCOPED = """#include <kopt/kopt.h>
KOPT_TUNE("arg n = 3000", "extent in = n", "extent most = 1", "fill in = uniform(0, 100000)")
__global__ void largest(const int *in, int *most, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int known = __nv_atomic_load_n(most, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  while (in[i] > known &&
         !__nv_atomic_compare_exchange_n(most, &known, in[i], false, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE))
    ;
}
void run(const int *in, int *most, int n) { largest<<<(n + 127) / 128, 128>>>(in, most, n); }
"""
SCOPED_BODY = SCOPED[SCOPED.index("  int known"):SCOPED.index("}\nvoid")]

PLACED = """#include <kopt/kopt.h>
template <int PER>
KOPT_TUNE("arg n = 6000", "extent in = n", "extent out = n")
__global__ void placed(const float *in, float *out, int n) {
  for (int k = 0; k < PER; ++k)
    if (int i = (blockIdx.x * PER + k) * blockDim.x + threadIdx.x; i < n)
      out[i] = 2 * in[i];
}
__global__ void other(float *out) { out[threadIdx.x] = 0; }
void run(const float *in, float *out, int n) {
  static const int Threads = 128;
  static const int RowsPerThread = 4;
  static const int RowsPerBlock = Threads * RowsPerThread;
  other<<<1, Threads>>>(out);
  placed<RowsPerThread><<<(n + RowsPerBlock - 1) / RowsPerBlock, Threads>>>(in, out, n);
}
"""
CONSTANTS = PLACED[PLACED.index("  static const int Threads"):PLACED.index("  other<<<")]
MOVED = [(CONSTANTS, ""), ("template <int PER>", CONSTANTS.replace("  static", "static") + "template <int PER>")]

# Right for multiples of its own four elements only, as it says.
QUADS = """#include <kopt/kopt.h>
template <int PER>
KOPT_TUNE("arg n = 6000", "extent in = n", "extent out = n", "require n % 4 == 0")
__global__ void quads(const float *in, float *out, int n) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * PER;
  if (i < n)
    for (int k = 0; k < PER; ++k)
      out[i + k] = 2 * in[i + k];
}
void run(const float *in, float *out, int n) { quads<4><<<(n + 511) / 512, 128>>>(in, out, n); }
"""
QUADS_LAUNCH = "quads<4><<<(n + 511) / 512"

# The last step of its loop adds nothing, so a wrong version that leaves it out is as right.
SCAN = """#include <kopt/kopt.h>
KOPT_TUNE("arg n = 4096", "extent in = n", "extent out = n", "require n % 128 == 0")
__global__ void sums(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int lane = threadIdx.x % 32, value = in[i];
  for (int step = 1; step <= 32; step *= 2) {
    int other = __shfl_up_sync(0xffffffffu, value, step, 32);
    if (lane >= step)
      value += other;
  }
  out[i] = value;
}
void run(const int *in, int *out, int n) { sums<<<n / 128, 128>>>(in, out, n); }
"""
SCAN_LOOP = SCAN[SCAN.index("  for (int step"):SCAN.index("  out[i]")]
UNROLLED = "  int other;\n" + "".join(f"  other = __shfl_up_sync(0xffffffffu, value, {step});\n  if (lane >= {step})\n    value += other;\n"
                                      for step in (1, 2, 4, 8, 16))

TILES = """#include <kopt/kopt.h>
constexpr int TILE = 32;
KOPT_TUNE("param TILE in {16, 32}", "arg n = 3000", "extent in = n", "extent out = n")
__global__ void tiles(const float *in, float *out, int n) {
  __shared__ float tile[TILE];
  int i = blockIdx.x * TILE + threadIdx.x;
  tile[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  if (i < n)
    out[i] = tile[threadIdx.x] + tile[TILE - 1 - threadIdx.x];
}
void run(const float *in, float *out, int n) { tiles<<<(n + TILE - 1) / TILE, TILE>>>(in, out, n); }
"""

# base: {name: (replacements, verdicts)}
CASES = {
    "quads": (QUADS, {
        "pairs": ([(QUADS_LAUNCH, "quads<2><<<(n + 255) / 256")], RIGHT),
        "eights": ([(QUADS_LAUNCH, "quads<8><<<(n + 1023) / 1024")], WRONG)}),
    "scan": (SCAN, {
        "unrolled": ([(SCAN_LOOP, UNROLLED)], RIGHT),
        "short": ([("step <= 32", "step < 16")], WRONG)}),
    "tiles": (TILES, {
        "outside": ([("TILE = 32", "TILE = 48")], {"Rejected"})}),
    "pool": (POOL, {
        "value": ([(POOL_LOOP, PAIR.replace("{first}", "1") + POOL_LOOP)], RIGHT),
        "wrong_value": ([(POOL_LOOP, PAIR.replace("{first}", "2") + POOL_LOOP)], WRONG)}),
    "copy": (COPY, {
        "aligned": ([(COPY_LINE, ALIGNED + COPY_LINE)], RIGHT),
        "idle": ([(COPY_LINE, IDLE), ("(n + 127) / 128, 128", "4096, 256")], RIGHT),
        "wrong_aligned": ([(COPY_LINE, ALIGNED.replace("3 * v.w", "v.w") + COPY_LINE)], WRONG)}),
    "ranges": (RANGES, {
        "small": ([(RANGES_LINE, SMALL.replace("{small}", "1 * range"))], RIGHT),
        "wrong_large": ([(RANGES_LINE, SMALL.replace("{small}", "range").replace(": range", ": 0"))], WRONG)}),
    "spread": (SPREAD, {
        "two_sums": ([(SPREAD_BODY, TWO_SUMS)], RIGHT),
        "one_pass": ([(SPREAD_BODY, ONE_PASS)], WRONG)}),
    "lengths": (LENGTHS, {"cut": ([("const unsigned length =", "const unsigned short length =")], WRONG)}),
    "mirror": (MIRROR, {
        "later": ([("  out[i] = b;\n  out[n - 1 - i] = a;\n", "  out[n - 1 - i] = a;\n  out[i] = b;\n")], RIGHT),
        "one_way": ([(MIRROR_BODY, "  if (i < n)\n    out[i] = in[n - 1 - i];\n")], WRONG)}),
    "roll": (ROLL, {
        "tile": ([(ROLL_BODY, ROLL_TILE.format(last="    __syncthreads();\n"))], RIGHT),
        "one_barrier": ([(ROLL_BODY, ROLL_TILE.format(last=""))], WRONG)}),
    "waves": (WAVES, {"kept": (KEPT, WRONG)}),
    "total": (TOTAL, {
        "last_block_first": ([(TOTAL_INDEX, "(gridDim.x - 1 - blockIdx.x) * blockDim.x + threadIdx.x;")], RIGHT),
        "lanes_back": ([(TOTAL_INDEX, "blockIdx.x * blockDim.x + (blockDim.x - 1 - threadIdx.x);")], RIGHT),
        "by_lanes": ([(TOTAL_INDEX, "threadIdx.x * gridDim.x + blockIdx.x;")], RIGHT),
        "not_the_last": ([("i < n)", "i < n - 1)")], WRONG),
        "not_of_odd_ones": ([("i < n)", "i < n - n % 2)")], WRONG),
        "a_little_more": ([("3.0 / n", "3.00001 / n")], WRONG)}),
    "struct": (STRUCT, {
        "same": ([("scale.x + scale.y * i + scale.z;", "(scale.x + scale.z) + scale.y * i;")], RIGHT),
        "of_the_declaration": ([("scale.x +", "1.0f +")], WRONG)}),
    "scoped": (SCOPED, {
        "at_once": ([(SCOPED_BODY, "  __nv_atomic_max(most, in[i], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);\n")], RIGHT),
        "plain": ([(SCOPED_BODY, "  if (in[i] > *most)\n    *most = in[i];\n")], WRONG)}),
    "placed": (PLACED, {
        "moved": (MOVED, RIGHT | {"Duplicate"}),
        "other_number": ([("RowsPerThread = 4", "RowsPerThread = 2")], RIGHT),
        "of_another_launch": ([("Threads = 128", "Threads = 64")], {"Rejected"})}),
}


class Verdicts(KoptTest):
    def judge(self, name):
        base, candidates = CASES[name]
        original, files = self.write(f"{name}.cu", base), []
        for candidate, (changes, _) in candidates.items():
            text = base
            for old, new in changes:
                self.assertIn(old, text)
                text = text.replace(old, new)
            files += ["--candidate", self.write(f"{candidate}.cu", text)]
        kernel = ["--kernel", "placed"] if name == "placed" else []
        done = self.kopt_trial(original, *files, *kernel, "--device", "emulated", "--json", *FLAGS)
        trials = {pathlib.Path(trial["candidate"]).stem: trial for trial in json.loads(done.stdout)["results"]}
        for candidate, (_, verdicts) in candidates.items():
            with self.subTest(candidate):
                self.assertIn(trials[candidate]["verdict"], verdicts, trials[candidate]["reason"])

    def test_a_struct_by_value_names_the_fields_that_are_missing(self):
        base = self.write("base.cu", STRUCT.replace(', 2.0, 3.0}", "arg scale', '}", "arg scale'))
        done = self.kopt("trial", base, "--candidate", base, "--device", "emulated", *FLAGS)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("weight[0], weight[1]", done.stderr)
        self.assertIn("arg box = {1.0, 1, 1.0, 1.0}", done.stderr)


for case in CASES:
    setattr(Verdicts, f"test_{case}", lambda self, name=case: self.judge(name))

if __name__ == "__main__":
    unittest.main()
