#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""extraction_growth.py [--extract KOPT_EXTRACT] [--nvcc NVCC] [COUNT...]: what extraction costs beside nvcc, for files with so many
specializations (default 10, 100 and 350): two kernel templates, dispatched over types and column counts.

Prints a row for each file: seconds of nvcc's own compilation, of reading the file without proof, of proving one specialization,
and of proving all, each also as a multiple of nvcc's; in brackets the processor seconds of all processes."""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

TYPES = ["float", "half", "__nv_bfloat16", "int", "short", "char", "double", "unsigned", "long long", "unsigned char", "unsigned short"]
KERNELS = """#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T, int COLUMNS> static __global__ void multiply(const T *w, const float *x, float *y, int n) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  float sum[COLUMNS] = {};
  for (int i = threadIdx.x; i < n; i += 32)
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c)
      sum[c] += float(w[row * n + i]) * x[c * n + i];
#pragma unroll
  for (int c = 0; c < COLUMNS; ++c)
    y[row * COLUMNS + c] = sum[c];
}
template <class T, int COLUMNS> static __global__ void widen(const T *w, float *y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c)
      y[i * COLUMNS + c] = float(w[i]) * c;
}
"""


def source(count):
    """A file with about `count` specializations, half of each kernel."""
    pairs = [(kind, columns) for columns in range(1, 33) for kind in TYPES][: count // 2]
    text = KERNELS + "void run(const void *w, const float *x, float *y, int n, int type, int columns) {\n"
    for kind, columns in pairs:
        text += (f"  if (type == {TYPES.index(kind)} && columns == {columns}) {{\n"
                 f"    multiply<{kind}, {columns}><<<n / 4, dim3(32, 4)>>>((const {kind} *)w, x, y, n);\n"
                 f"    widen<{kind}, {columns}><<<(n + 127) / 128, 128>>>((const {kind} *)w, y, n);\n  }}\n")
    return text + "}\n"


def seconds(command):
    """The time of the command, and the processor time of it and all its children."""
    began = time.monotonic()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed:\n{done.stderr}")
    took = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("counts", nargs="*", type=int, default=[10, 100, 350])
    parser.add_argument("--extract", default="kopt-extract")
    parser.add_argument("--nvcc", default="nvcc")
    options = parser.parse_args()
    flags = ["-arch=sm_90", "-std=c++17"]
    print(f"{len(os.sched_getaffinity(0))} processors")
    print("| specializations | nvcc | read | prove one | prove all |")
    print("|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory(prefix="kopt-growth") as folder:
        for count in options.counts:
            file = pathlib.Path(folder) / f"f{count}.cu"
            file.write_text(source(count))

            def extract(name, *arguments):
                return seconds([options.extract, str(file), "--no-cache", "-o", f"{folder}/{name}", *arguments, "--", *flags])

            nvcc = seconds([options.nvcc, *flags, "-c", str(file), "-o", f"{folder}/f.o"])
            read = extract("read", "--no-proof")
            found = json.loads(pathlib.Path(folder, "read", "kernels.json").read_text())["kernels"]
            one = extract("one", "--prove", found[0]["specializations"][0]["symbol"])
            every = extract("every")
            number = sum(len(kernel["specializations"]) for kernel in found)
            print(f"| {number} | {nvcc[0]:.1f} s [{nvcc[1]:.1f}] | " +
                  " | ".join(f"{took:.1f} s [{processor:.1f}], {took / nvcc[0]:.1f}x" for took, processor in (read, one, every)) + " |",
                  flush=True)


if __name__ == "__main__":
    main()
