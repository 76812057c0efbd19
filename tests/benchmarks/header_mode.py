#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the header mode costs: the overlay of a file, `kopt check`, and the configuration of a target.

    header_mode.py --bin build/dev/bin [--repeats 30] [--max-overlay 20] [--max-check 50] [--max-configure 50]

No GPU and no CUDA compiler. A compilation is `kopt-overlay compile` with a compiler that does nothing, less that compiler
alone: what the header mode adds. The configuration is that of a project with 20 targets that use a lock, less the same
project without kopt_tune_kernels(), for each target. Limits are milliseconds at the upper end of the interval; exit status 1
where one is missed.
"""
import argparse
import os
import pathlib
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cmake"))
from header_lock import Lock  # noqa: E402

KERNELS, TARGETS = 100, 20


def median_interval(values, draws=2000):
    """Median with a 95 % bootstrap interval."""
    generator = random.Random(1)
    medians = sorted(statistics.median(generator.choices(values, k=len(values))) for _ in range(draws))
    return statistics.median(values), medians[int(0.025 * draws)], medians[int(0.975 * draws)]


def milliseconds(command, cwd):
    begin = time.perf_counter()
    subprocess.run([str(word) for word in command], cwd=cwd, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return (time.perf_counter() - begin) * 1000


def difference(with_it, without, repeats, cwd):
    """Interleaved, so that both see the same machine."""
    for command in (with_it, without):
        milliseconds(command, cwd)
    return [milliseconds(with_it, cwd) - milliseconds(without, cwd) for _ in range(repeats)]


def kernel(index, value=1):
    body = "".join(f"  x[{line}] += {line} * factor;\n" for line in range(20))
    return f"void kernel{index}(float *x, float factor) {{\n{body}  x[0] = {value};\n}}\n"


def project(folder):
    """100 kernels in 10 files of 230 lines and more, each with its entry; 10 headers."""
    lock = Lock(folder)
    for file in range(10):
        (folder / f"h{file}.h").write_text("#pragma once\n" + "".join(f"// line {i}\n" for i in range(500)))
        text = "".join(f'#include "h{i}.h"\n' for i in range(10))
        (folder / f"f{file}.cu").write_text(text + "".join(kernel(file * 10 + i) for i in range(10)))
        for i in range(file * 10, file * 10 + 10):
            lock.add(f"kernel{i}", [(f"f{file}.cu", kernel(i), kernel(i), kernel(i, 2))])
    lock.write()


def configure_cost(folder, binaries, repeats):
    # The targets are in the C++ of the host, and nothing is built.
    targets = "".join(f"add_library(t{i} STATIC f{i % 10}.cu)\nset_source_files_properties(f{i % 10}.cu PROPERTIES LANGUAGE CXX)\n"
                      for i in range(TARGETS))
    calls = "".join(f"if(USE_KOPT)\n  kopt_tune_kernels(t{i} MODE header)\nendif()\n" for i in range(TARGETS))
    (folder / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES CXX)\n"
                                           f"find_package(kopt REQUIRED CONFIG)\n{targets}{calls}")
    commands = []
    for use in ("ON", "OFF"):
        commands.append(["cmake", "-G", "Ninja", "-S", ".", "-B", f"build-{use}", f"-DUSE_KOPT={use}", f"-Dkopt_ROOT={binaries.parent}"])
        subprocess.run(commands[-1], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return [value / TARGETS for value in difference(*commands, repeats, folder)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--repeats", type=int, default=30)
    for name in ("overlay", "check", "configure"):
        parser.add_argument(f"--max-{name}", type=float)
    options = parser.parse_args()
    binaries = pathlib.Path(options.bin).resolve()
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {options.repeats} repeats; "
          "median [95 % interval]")
    missed = False
    with tempfile.TemporaryDirectory(prefix="kopt-header-") as name:
        folder = pathlib.Path(name)
        project(folder)
        compiler = ["true", "-c", folder / "f3.cu", "-o", "f3.o", "-MF", "none.d"]
        overlay = [binaries / "kopt-overlay", "compile", folder / "kopt" / "kopt.lock", folder / "build",
                   folder / "build" / "o", folder / "build" / "s", "90", "--", *compiler]
        measured = {
            "overlay": ("overlay of a file with 10 of 100 tuned kernels, 10 headers of 500 lines",
                        difference(overlay, compiler, options.repeats, folder)),
            "check": (f"kopt check of {KERNELS} kernels in 10 files",
                      [milliseconds([binaries / "kopt", "check"], folder) for _ in range(options.repeats + 1)][1:]),
            "configure": ("configuring a target (a lock of 100 kernels)", configure_cost(folder, binaries, options.repeats)),
        }
    for key, (what, values) in measured.items():
        middle, low, high = median_interval(values)
        limit = getattr(options, f"max_{key}")
        bad = limit is not None and high > limit
        missed |= bad
        print(f"{what}: {middle:.1f} ms [{low:.1f}, {high:.1f}]{f', over the limit of {limit:g} ms' if bad else ''}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
