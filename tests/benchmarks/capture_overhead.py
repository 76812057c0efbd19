#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the capture library costs a program of many launches, snapshots off.

    capture_overhead.py --library build/dev/lib/kopt/libkopt-capture.so [--launches 100000] [--repeats 25] [--max-overhead 0.05]

Builds a program that launches a small kernel so often, and runs it with and without the library in random order. Reported are, for
the loop of launches and for the whole process, the median of the paired ratios with its 95 % interval by order statistics,
with CUPTI's kernel times and without them; beside them, for comparison, a library whose CUPTI callback for launches does nothing: less no
library of that kind can cost. That for several sizes of the kernel, from one that does nothing but be launched to one that takes longer
than a launch. Exit status: 0; 1 where for the last size the upper end of
an interval is over the limit; 77 where there is no GPU or no nvcc.
"""

import argparse
import math
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAM = """#include <chrono>
#include <cstdio>
#include <cstdlib>
__global__ void step(float *data, float by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = data[i] * by + 1;
}
int main(int argc, char **argv) {
  long launches = std::atol(argv[1]);
  int n = 1 << std::atoi(argv[2]);
  float *data;
  if (cudaMalloc(&data, n * sizeof(float)) != cudaSuccess) return 3;
  step<<<(n + 255) / 256, 256>>>(data, 0.5f, n);
  cudaDeviceSynchronize();
  auto begin = std::chrono::steady_clock::now();
  for (long i = 0; i < launches; ++i) step<<<(n + 255) / 256, 256>>>(data, 0.5f, n);
  if (cudaDeviceSynchronize() != cudaSuccess) return 4;
  std::printf("%.9f\\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}
"""

EMPTY = """#include <cstdint>
#include <dlfcn.h>
#include <initializer_list>
static void callback(void *, int, std::uint32_t, const void *) {}
extern "C" int InitializeInjection() {
  void *cupti = nullptr;
  for (const char *name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so", BELOW "/extras/CUPTI/lib64/libcupti.so", BELOW "/lib64/libcupti.so"})
    cupti = cupti ? cupti : dlopen(name, RTLD_NOW);
  if (!cupti) return 0;
  void *subscriber = nullptr;
  using Subscribe = int (*)(void **, void (*)(void *, int, std::uint32_t, const void *), void *);
  using Enable = int (*)(std::uint32_t, void *, int, std::uint32_t);
  if (reinterpret_cast<Subscribe>(dlsym(cupti, "cuptiSubscribe"))(&subscriber, callback, nullptr) != 0) return 0;
  const auto enable = reinterpret_cast<Enable>(dlsym(cupti, "cuptiEnableCallback"));
  int failed = 0;
  for (std::uint32_t launch : {307u, 442u, 652u, 653u}) // cuLaunchKernel, cuLaunchKernelEx, and of per-thread streams
    failed |= enable(1, subscriber, 1, launch);         // of the driver API
  return failed == 0;
}
"""


def interval(values):
    """Median and its 95 % interval by order statistics: how many of n lie below the true median is binomial (n, 1/2). It takes
    6 values or more, and is all of them where they are fewer than 9."""
    ordered = sorted(values)
    n = len(ordered)
    low = 0
    while 2 * sum(math.comb(n, below) for below in range(low + 2)) <= 0.05 * 2**n:
        low += 1
    return statistics.median(ordered), ordered[low], ordered[n - 1 - low]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", required=True)
    parser.add_argument("--launches", type=int, default=100_000)
    parser.add_argument("--log-size", type=int, nargs="+", default=[10, 20, 22],
                        help="log2 of the elements a launch works on (default 10 20 22)")
    parser.add_argument("--repeats", type=int, default=25, help="of each, for each size (default 25)")
    parser.add_argument("--max-overhead", type=float, default=None, help="for the last size, of the loop and of the process")
    options = parser.parse_args()
    if options.repeats < 6:
        parser.error("--repeats: an interval of 95 % takes 6 or more")
    if not shutil.which("nvcc") or not any(pathlib.Path("/dev").glob("nvidia[0-9]*")):
        print("no GPU, or no nvcc")
        return 77
    library = str(pathlib.Path(options.library).resolve())
    with tempfile.TemporaryDirectory(prefix="kopt-overhead-") as name:
        folder = pathlib.Path(name)
        (folder / "many.cu").write_text(PROGRAM)
        subprocess.run(["nvcc", "-arch=native", "-O2", "-o", "many", "many.cu"], cwd=folder, check=True)

        (folder / "empty.cpp").write_text(EMPTY)
        toolkit = pathlib.Path(shutil.which("nvcc")).resolve().parents[1]
        subprocess.run(["g++", "-shared", "-fPIC", "-O2", f'-DBELOW="{toolkit}"', "-o", "empty.so", "empty.cpp", "-ldl"], cwd=folder, check=True)

        def run(mode, log_size):
            """Seconds of the loop and of the process."""
            environment = dict(os.environ)
            if mode == "empty":
                environment["CUDA_INJECTION64_PATH"] = str(folder / "empty.so")
            elif mode != "without":
                trace = folder / "trace"
                shutil.rmtree(trace, ignore_errors=True)
                trace.mkdir()
                cupti = "".join(f"cupti {path}\n" for part in ("extras/CUPTI/lib64", "lib64")
                                if (path := toolkit / part / "libcupti.so").exists())
                (folder / "config").write_text(f"trace {trace}\n{cupti}timing {int(mode == 'times')}\n")
                environment |= {"CUDA_INJECTION64_PATH": library, "KOPT_CAPTURE_CONFIG": str(folder / "config")}
            begin = time.monotonic()
            done = subprocess.run([str(folder / "many"), str(options.launches), str(log_size)], env=environment,
                                  capture_output=True, text=True, check=True)
            whole = time.monotonic() - begin
            if mode not in ("without", "empty"):
                logs = list((folder / "trace").glob("process-*/launches.klog"))
                if len(logs) != 1 or logs[0].stat().st_size < 50 * options.launches:
                    raise SystemExit("the launches were not recorded: is this CUPTI one for this driver?")
            return float(done.stdout), whole

        for log_size in options.log_size:
            highest = measure(run, log_size, options)
        if options.max_overhead is not None and highest > options.max_overhead:
            print(f"the highest upper end for the last size, {highest:+.2%}, is over the limit of {options.max_overhead:.2%}")
            return 1
        return 0


def measure(run, log_size, options):
    """Prints the overheads for one size; returns the highest upper end of an interval."""
    modes = ["without", "empty", "launches", "times"]
    for mode in modes:
        run(mode, log_size)  # files and clocks are warm from here on
    samples = {mode: [] for mode in modes}
    for _ in range(options.repeats):
        for mode in random.sample(modes, len(modes)):
            samples[mode].append(run(mode, log_size))
    loop, process = (interval([s[i] for s in samples["without"]])[0] for i in (0, 1))
    print(f"{options.launches} launches of 2^{log_size} elements, {options.repeats} runs each; {1e6 * loop / options.launches:.1f} us a "
          f"launch, a loop takes {loop:.3f} s, the process {process:.3f} s")
    highest = 0
    for mode in modes[1:]:
        for which, index in (("loop", 0), ("process", 1)):
            ratios = [a[index] / b[index] - 1 for a, b in zip(samples[mode], samples["without"])]
            middle, low, high = interval(ratios)
            if mode != "empty":
                highest = max(highest, high)
            print(f"  {mode:<9} {which:<8} {middle:+8.2%}  [{low:+.2%}, {high:+.2%}]", flush=True)
    return highest


if __name__ == "__main__":
    sys.exit(main())
