#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kopt and Kernel Tuner beside each other: the same kernel, the same space, the same GPU, one after the other.

    kernel_tuner_beside.py --kopt build/dev/bin/kopt [--repeats 3]

Kernel Tuner (pip install kernel_tuner cupy-cuda13x) times each configuration seven times, as it does by default, and takes
their mean. Without an `answer` it checks no result; with one it compares the output of one launch with it. It draws no
second input, puts no guards around buffers, and profiles nothing. kopt screens, builds, verifies on several inputs, times
against the baseline until its interval decides, and profiles the best: see evaluation_cost.py, which this runs for it.

Prints what each configuration cost, for all of them. Exit status: 0; 1 where something failed; 77 where there is no GPU or no
Kernel Tuner.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
SKIP = 77
COUNT = 16777216


def kernel_source():
    """The kernel of evaluation_cost.cu with its constants left to -D."""
    text = (HERE / "evaluation_cost.cu").read_text()
    body = text[text.index("__global__"):text.index("void relaxAll")]
    body, found = re.subn(r"#pragma unroll UNROLL", "#pragma unroll UNROLL_FACTOR", body)
    if not found:
        sys.exit("kernel_tuner_beside.py: evaluation_cost.cu has no '#pragma unroll UNROLL' any more")
    return "constexpr int UNROLL_FACTOR = UNROLL;\n" + 'extern "C" ' + body


def tune_with_kernel_tuner(answer):
    """Seconds of the whole search, and the configurations it measured."""
    import kernel_tuner
    import numpy

    random = numpy.random.default_rng(1)
    source = random.uniform(-1, 1, COUNT).astype(numpy.float32)
    arguments = [source, numpy.zeros_like(source), numpy.int32(COUNT)]
    expected = None
    if answer:
        value = source.copy()
        for _ in range(140):
            value = value * numpy.float32(0.999) + numpy.float32(0.0005)
        expected = [None, value, None]
    space = {"BLOCK": [64, 128, 256, 512, 1024], "ITEMS": [1, 2, 4, 8], "UNROLL": [1, 2, 4]}
    begun = time.monotonic()
    results, _ = kernel_tuner.tune_kernel(
        "relax", kernel_source(), COUNT, arguments, space, grid_div_x=["BLOCK", "ITEMS"], block_size_names=["BLOCK"],
        restrictions=["UNROLL <= ITEMS"], lang="CUPY", answer=expected, atol=1e-4, verbose=False, quiet=True,
        compiler_options=["--std=c++17"])
    return time.monotonic() - begun, results


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kopt", required=True)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    try:
        import cupy
        import kernel_tuner
    except ImportError as error:
        print(f"{error}: pip install kernel_tuner cupy-cuda13x")
        return SKIP
    try:
        name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        print(f"no GPU: {error}")
        return SKIP
    print(f"{name}; Kernel Tuner {getattr(kernel_tuner, '__version__', '')}, cupy {cupy.__version__}; the space of evaluation_cost.cu, "
          f"{4 * COUNT >> 20} MiB in and out; {options.repeats} searches each\n")
    print("| search | configurations | wall s | s each | a minute | best us |")
    print("|---|---|---|---|---|---|")
    for repeat in range(options.repeats):
        for answer in (False, True):
            seconds, results = tune_with_kernel_tuner(answer)
            times = [result["time"] for result in results if isinstance(result["time"], float)]
            print(f"| Kernel Tuner, {'its answer checked' if answer else 'nothing checked'}, no profile | {len(times)} | {seconds:.1f} | "
                  f"{seconds / len(times):.2f} | {60 * len(times) / seconds:.0f} | {1e3 * min(times):.1f} |", flush=True)
    print("\nkopt, screened, verified, timed until decided, the best profiled:\n", flush=True)
    for repeat in range(options.repeats):
        done = subprocess.run([sys.executable, str(HERE / "evaluation_cost.py"), "--kopt", options.kopt])
        if done.returncode != 0:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
