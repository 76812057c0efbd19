#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""extraction_growth.py [--extract KOPT_EXTRACT]... [--nvcc NVCC] [COUNT...]: what extraction costs beside nvcc, for files with so many
specializations (default 10, 100 and 350): two kernel templates, dispatched over types and column counts.

Prints a row for each file: seconds of nvcc's own compilation, of reading the file without proof, of proving one specialization,
and of proving all, each also as a multiple of nvcc's; in brackets the processor seconds of all processes.

--list FILE measures given files instead, without proofs: each line is a source file and its nvcc flags. With several --extract,
each has its column. The multiple is of processor seconds, which other programs on the machine change little; a command
that takes more than --limit of them is ended."""

import argparse
import json
import os
import pathlib
import resource
import shlex
import signal
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


def seconds(command, limit=None):
    """The time of the command, and the processor time of it and all its children; None past the limit of that."""
    began = time.monotonic()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    allow = (lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))) if limit else None
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=allow)
    if limit and done.returncode == -signal.SIGKILL:
        return None
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed:\n{done.stderr}")
    took = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure_given(options):
    """A row for each file of the list: nvcc, and reading with each kopt-extract."""
    print("| file | specializations | nvcc |" + " read |" * len(options.extract))
    print("|---|---:|---:|" + "---:|" * len(options.extract))
    with tempfile.TemporaryDirectory(prefix="kopt-growth") as folder:
        for line in pathlib.Path(options.list).read_text().splitlines():
            words = shlex.split(line, comments=True)
            if not words:
                continue
            file, flags = words[0], words[1:]
            nvcc = seconds([options.nvcc, *flags, "-c", file, "-o", f"{folder}/f.o"])
            cells, number = [], "?"
            for i, tool in enumerate(options.extract):
                took = seconds([tool, file, "--no-cache", "--no-proof", "-o", f"{folder}/{i}", "--", *flags], options.limit)
                cells.append(f"{took[0]:.1f} s [{took[1]:.1f}], {took[1] / nvcc[1]:.2f}x" if took else f"over {options.limit} s")
                if took:
                    found = json.loads(pathlib.Path(folder, str(i), "kernels.json").read_text())["kernels"]
                    number = sum(len(kernel["specializations"]) for kernel in found)
            print(f"| {pathlib.Path(file).name} | {number} | {nvcc[0]:.1f} s [{nvcc[1]:.1f}] | " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("counts", nargs="*", type=int, default=[10, 100, 350])
    parser.add_argument("--extract", action="append")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--list")
    parser.add_argument("--limit", type=int, default=300)
    options = parser.parse_args()
    options.extract = options.extract or ["kopt-extract"]
    if options.list:
        return measure_given(options)
    flags = ["-arch=sm_90", "-std=c++17"]
    print(f"{len(os.sched_getaffinity(0))} processors")
    print("| specializations | nvcc | read | prove one | prove all |")
    print("|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory(prefix="kopt-growth") as folder:
        for count in options.counts:
            file = pathlib.Path(folder) / f"f{count}.cu"
            file.write_text(source(count))

            def extract(name, *arguments):
                return seconds([options.extract[0], str(file), "--no-cache", "-o", f"{folder}/{name}", *arguments, "--", *flags])

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
