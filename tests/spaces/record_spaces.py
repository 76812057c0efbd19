#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures every point of the kernels in kernels/, at two sizes, for kopt simulate.

    record_spaces.py --out FOLDER [--kernel convolution]... [--samples 16]

nvcc builds all points on all processors first. Then each runs alone: once against the answer, then --samples times with a warm
L2 cache. Writes FOLDER/KERNEL-SIZE.json, a cache file of Kernel Tuner. Needs a GPU, nvcc and cupy; 77 without.
"""

import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from kernel_tuner_beside import SIZES, SKIP, Problem


def points_of(problem):
    names = list(problem.params)
    for values in itertools.product(*problem.params.values()):
        point = dict(zip(names, values))
        if all(eval(requirement, {}, point) for requirement in problem.requirements):
            yield point


def build(job):
    source, arch, point, out = job
    begun = time.monotonic()
    done = subprocess.run(["nvcc", "-cubin", f"-arch={arch}", "-std=c++17", "-O3", *(f"-D{key}={value}" for key, value in point.items()),
                           str(source), "-o", str(out)], capture_output=True)
    return done.returncode == 0, time.monotonic() - begun


def measure(cupy, problem, point, cubin, arguments, answer, samples):
    """Milliseconds of launches, or the name of an error."""
    module = cupy.cuda.function.Module()
    try:
        module.load_file(str(cubin))
        function = module.get_function(problem.name)
        grid, block = problem.grid(point), (point["BLOCK_X"], point["BLOCK_Y"], 1)
        out = arguments[2]
        out.fill(0)
        function(grid + (1,), block, tuple(arguments))
        cupy.cuda.runtime.deviceSynchronize()
    except (cupy.cuda.driver.CUDADriverError, cupy.cuda.runtime.CUDARuntimeError):
        return "RuntimeFailedConfig"
    if not bool(cupy.allclose(out, answer, rtol=1e-3, atol=1e-3)):
        return "RuntimeFailedConfig"
    times = []
    for _ in range(samples + 2):
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        function(grid + (1,), block, tuple(arguments))
        end.record()
        end.synchronize()
        times.append(float(cupy.cuda.get_elapsed_time(start, end)))
    return times[2:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--kernel", action="append", choices=SIZES)
    parser.add_argument("--samples", type=int, default=16)
    options = parser.parse_args()
    try:
        import cupy
        import numpy
        properties = cupy.cuda.runtime.getDeviceProperties(0)
    except Exception as error:  # no cupy, or no GPU
        print(error)
        return SKIP
    options.out.mkdir(parents=True, exist_ok=True)
    arch = f"sm_{properties['major']}{properties['minor']}"
    with tempfile.TemporaryDirectory() as name:
        for kernel in options.kernel or SIZES:
            problems = [Problem(kernel, size) for size in SIZES[kernel]]
            points = list(points_of(problems[0]))
            source = pathlib.Path(name) / f"{kernel}.cu"
            source.write_text(problems[0].source)
            cubins = [pathlib.Path(name) / f"{kernel}-{i}.cubin" for i in range(len(points))]
            begun = time.monotonic()
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                built = list(pool.map(build, [(source, arch, point, out) for point, out in zip(points, cubins)]))
            print(f"{kernel}: {len(points)} points, built in {time.monotonic() - begun:.0f} s", flush=True)
            for index, problem in enumerate(problems):
                begun = time.monotonic()
                arguments = [cupy.asarray(value) if isinstance(value, numpy.ndarray) else value for value in problem.arguments]
                answer = cupy.asarray(problem.answer[2])
                cache = {}
                for point, cubin, (is_built, seconds) in zip(points, cubins, built):
                    start = time.monotonic()
                    times = measure(cupy, problem, point, cubin, arguments, answer, options.samples) if is_built \
                        else "CompilationFailedConfig"
                    own = dict(point, time=times if isinstance(times, str) else sum(times) / len(times), compile_time=round(1e3 * seconds),
                               verification_time=0, benchmark_time=round(1e3 * (time.monotonic() - start), 1))
                    if not isinstance(times, str):
                        own["times"] = [round(value, 5) for value in times]
                    cache[",".join(map(str, point.values()))] = own
                file = options.out / f"{kernel}-{index}.json"
                file.write_text(json.dumps({"device_name": properties["name"].decode(), "kernel_name": problem.name,
                                            "problem_size": list(problem.size), "tune_params_keys": list(problem.params),
                                            "tune_params": problem.params, "objective": "time", "cache": cache}, separators=(",", ":")))
                good = [entry["time"] for entry in cache.values() if not isinstance(entry["time"], str)]
                print(f"{file.name}: {len(good)} of {len(cache)} ran, {1e3 * min(good):.1f} to {1e3 * max(good):.1f} us; "
                      f"{time.monotonic() - begun:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
