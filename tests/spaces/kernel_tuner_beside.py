#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kopt and Kernel Tuner beside each other: the same kernel, the same space, the same GPU, one after the other.

    kernel_tuner_beside.py --kopt build/dev/bin/kopt [--kernel convolution] [--size 0]
                           [--strategy adaptive_tabu_greywolf --evaluations 200]

Kernel Tuner (pip install kernel_tuner cupy-cuda13x) tries every configuration, as it does by default, or `--evaluations` with
`--strategy`. It times each seven times and compares one answer. Then `kopt tune --proposers params` gets half of the wall time
that Kernel Tuner took: everything is in it, the baseline and the confirmation too. At the end the two winners are timed by
turns in one process, 200 launches each, with a warm L2 cache (which is how both searches timed).
Exit status: 0; 1 where something failed; 77 where there is no GPU or no Kernel Tuner.
"""

import argparse
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SKIP = 77
SIZES = {"convolution": [(4096, 2048), (1920, 1080)], "sgemm": [(1024, 1024, 1024), (2048, 512, 768)]}


class Problem:
    """A kernel of kernels/, its space as the clauses declare it, and inputs of one size with the answer."""

    def __init__(self, name, size):
        import numpy
        text = (HERE / "kernels" / f"{name}.cu").read_text()
        self.name, self.size = {"convolution": "convolve"}.get(name, name), size
        self.params = {key: [int(value) for value in values.split(",")]
                       for key, values in re.findall(r'"param (\w+) in \{([^}]*)\}"', text)}
        self.requirements = re.findall(r'"require ([^"]*)"', text)
        body = text[text.index("__global__"):text.rindex("\n}\n\nvoid") + 2]
        # A macro is not expanded in a pragma, a constant is.
        body = body.replace("#pragma unroll UNROLL", "#pragma unroll UNROLL_FACTOR")
        constant = "constexpr int UNROLL_FACTOR = UNROLL;\n" if "UNROLL_FACTOR" in body else ""
        self.source = constant + 'extern "C" ' + body
        random = numpy.random.default_rng(1)
        draw = lambda count: random.uniform(-1, 1, count).astype(numpy.float32)
        if name == "convolution":
            width, height = size
            image, weights = draw((height + 8) * (width + 8)), draw(81)
            answer = sum(weights[9 * i + j] * image.reshape(height + 8, width + 8)[i:i + height, j:j + width]
                         for i in range(9) for j in range(9)).astype(numpy.float32).ravel()
            self.extent = (width, height)
            self.arguments = [image, weights, numpy.zeros(width * height, numpy.float32), numpy.int32(width), numpy.int32(height)]
        else:
            m, n, k = size
            a, b = draw(m * k), draw(k * n)
            answer = (a.reshape(m, k) @ b.reshape(k, n)).ravel()
            self.extent = (n, m)
            self.arguments = [a, b, numpy.zeros(m * n, numpy.float32)] + [numpy.int32(value) for value in size]
        self.answer = [None, None, answer] + [None] * (len(self.arguments) - 3)

    def grid(self, point):
        return tuple(-(-self.extent[axis] // (point[f"BLOCK_{'XY'[axis]}"] * point[f"TILE_{'XY'[axis]}"])) for axis in (0, 1))


def search_with_kernel_tuner(problem, options):
    """Seconds of the whole search, and the configurations that ran."""
    import kernel_tuner
    more = {"strategy": options.strategy, "strategy_options": {"max_fevals": options.evaluations}} if options.strategy else {}
    begun = time.monotonic()
    results, _ = kernel_tuner.tune_kernel(
        problem.name, problem.source, problem.extent, problem.arguments, dict(problem.params),
        grid_div_x=["BLOCK_X", "TILE_X"], grid_div_y=["BLOCK_Y", "TILE_Y"], block_size_names=["BLOCK_X", "BLOCK_Y"],
        restrictions=problem.requirements, lang="CUPY", answer=problem.answer, atol=1e-3, verbose=False, quiet=True,
        compiler_options=["--std=c++17"], **more)
    seconds = time.monotonic() - begun
    return seconds, [result for result in results if isinstance(result.get("time"), float)]


def search_with_kopt(options, seconds):
    """Seconds of the whole run, the points that were timed, and the winner."""
    with tempfile.TemporaryDirectory(prefix="kopt-beside-") as name:
        folder = pathlib.Path(name)
        source = (HERE / "kernels" / f"{options.kernel}.cu").read_text()
        numbers = iter(SIZES[options.kernel][options.size])
        source = re.sub(r'("launch \w+: )([^"]*)( on cuda")',
                        lambda found: found[1] + re.sub(r"=\d+", lambda _: f"={next(numbers)}", found[2]) + found[3], source)
        (folder / "kernel.cu").write_text(source)
        begun = time.monotonic()
        done = subprocess.run(
            [options.kopt, "tune", "kernel.cu", "--device", options.device, "--proposers", "params", "--controls", "none", "--trials",
             "2000", "--patience", "1000", "--rounds", "1000", "--cache-mode", "warm", "--budget-seconds", f"{seconds:.1f}", "--",
             "-std=c++17", "-O3", "-I", str(HERE.parent.parent / "runtime" / "include")],
            cwd=folder, capture_output=True, text=True)
        spent = time.monotonic() - begun
        if done.returncode not in (0, 3):
            sys.exit(f"kopt: {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
        result = json.loads(subprocess.run([options.kopt, "report", "--json"], cwd=folder, check=True, capture_output=True,
                                           text=True).stdout)["results"][0]
        if options.keep:
            shutil.copytree(folder, options.keep, dirs_exist_ok=True)
        trials = [trial for trial in result["trials"] if trial["candidate"]["proposer"] != "baseline"]
        timed = [trial for trial in trials if trial["purpose"] == "search" and trial["timings"]]
        confirmed = [trial for trial in trials if trial["purpose"] == "confirmation" and trial["verdict"] == "Faster"]
        defaults = {key: int(value) for key, value in re.findall(r"constexpr int (\w+) = (\d+);", source)}
        winner = dict(defaults, **{key: int(value) for key, value in confirmed[-1]["candidate"]["constants"].items()}) if confirmed else None
        print("\n".join(line for line in done.stderr.splitlines()[-6:]))
        return spent, len(timed), winner


def time_by_turns(problem, points):
    """Microseconds at the median of 200 launches each, by turns."""
    import cupy
    import numpy
    arguments = [cupy.asarray(value) if isinstance(value, numpy.ndarray) else value for value in problem.arguments]
    kernels = [cupy.RawKernel("".join(f"#define {key} {point[key]}\n" for key in problem.params) +
                              problem.source, problem.name, options=("--std=c++17",)) for point in points]
    times = [[] for _ in points]
    for turn in range(220):
        for index, (kernel, point) in enumerate(zip(kernels, points)):
            start, end = cupy.cuda.Event(), cupy.cuda.Event()
            start.record()
            kernel(problem.grid(point), (point["BLOCK_X"], point["BLOCK_Y"]), tuple(arguments))
            end.record()
            end.synchronize()
            if turn >= 20:
                times[index].append(1e3 * cupy.cuda.get_elapsed_time(start, end))
    return [statistics.median(values) for values in times]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kopt", default="kopt")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--kernel", choices=SIZES, default="convolution")
    parser.add_argument("--size", type=int, choices=(0, 1), default=0)
    parser.add_argument("--strategy", help="of Kernel Tuner; without it every configuration is tried")
    parser.add_argument("--evaluations", type=int, default=200)
    parser.add_argument("--seconds", type=float, help="for kopt, instead of half of what Kernel Tuner took")
    parser.add_argument("--keep", type=pathlib.Path, help="keeps kopt's folder there")
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
    options.kopt = str(pathlib.Path(shutil.which(options.kopt) or options.kopt).resolve())
    problem = Problem(options.kernel, SIZES[options.kernel][options.size])
    spent, results = search_with_kernel_tuner(problem, options)
    best = min(results, key=lambda result: result["time"])
    print(f"{name}; {options.kernel} {'x'.join(map(str, problem.size))}; Kernel Tuner "
          f"{getattr(kernel_tuner, '__version__', '')}, {options.strategy or 'brute force'}\n")
    rows = [("Kernel Tuner", len(results), spent, {key: best[key] for key in problem.params})]
    seconds, judged, winner = search_with_kopt(options, options.seconds or spent / 2)
    rows.append(("kopt", judged, seconds, winner))
    found = [row for row in rows if row[3]]
    times = dict(zip([row[0] for row in found], time_by_turns(problem, [row[3] for row in found])))
    print("| search | configurations | wall s | a minute | best, by turns, us | which |")
    print("|---|---|---|---|---|---|")
    for name, count, seconds, point in rows:
        print(f"| {name} | {count} | {seconds:.1f} | {60 * count / seconds:.0f} | "
              + (f"{times[name]:.2f} | {' '.join(f'{key}={value}' for key, value in point.items())} |" if point else "- | none |"),
              flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
