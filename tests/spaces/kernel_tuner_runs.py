#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Searches recorded spaces with Kernel Tuner's own strategies, for kopt simulate --runs.

    kernel_tuner_runs.py --out DIR [--repeats 100] [--strategy NAME]... [--seconds N] SPACE.json...

Needs kernel_tuner (PyPI). Each search is Kernel Tuner's simulation on the cache file, with the strategy's default
options and a new Searchspace, which would otherwise remember neighbours from search to search. DIR gets one file a
strategy: the times of the different points in the order in which each was tried first. A search ends after as many as
kopt simulate scores, where the strategy itself ends, or after --seconds, as some never come to so many.
"""
import argparse
import contextlib
import io
import json
import math
import multiprocessing
import random
import signal
import warnings
from pathlib import Path

STRATEGIES = ["adaptive_tabu_greywolf", "genetic_algorithm", "pso", "simulated_annealing", "hybrid_vndx", "dual_annealing",
              "diff_evo", "firefly_algorithm", "greedy_ils", "greedy_mls", "mls", "random_sample"]


def trials_of(cache):
    """As SearchScale of kopt simulate, and 200 at least."""
    times = sorted(e["time"] for e in cache["cache"].values() if isinstance(e["time"], (int, float)))
    target = times[0] + 0.05 * (times[len(times) // 2] - times[0])
    return max(200, math.ceil((len(times) + 1) / (sum(t <= target for t in times) + 1)))


class OutOfTime(BaseException):
    pass


def search(job):
    strategy, path, seed, seconds = job
    import numpy
    from kernel_tuner import tune_kernel
    from kernel_tuner.runners.simulation import SimulationRunner

    cache = json.loads(Path(path).read_text())
    keys = cache["tune_params_keys"]
    recorded = {tuple(entry[key] for key in keys): entry["time"] for entry in cache["cache"].values()}
    tried = {}
    run = SimulationRunner.run

    def noting(self, parameter_space, tuning_options):
        results = []
        for element in parameter_space:
            result = run(self, [element], tuning_options)
            if result and result[0] is not None and tuple(element) in recorded:
                time = recorded[tuple(element)]
                tried.setdefault(tuple(element), time if isinstance(time, (int, float)) else None)
            results.extend(result or [])
        return results

    def is_recorded(point):
        return tuple(point[key] for key in keys) in recorded

    def stop(*_):
        raise OutOfTime()

    random.seed(seed)
    numpy.random.seed(seed)
    SimulationRunner.run = noting
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tune_kernel(cache["kernel_name"], "", cache.get("problem_size", 1), [],
                        {key: list(dict.fromkeys(cache["tune_params"][key])) for key in keys},
                        restrictions=is_recorded, cache=str(path),
                        simulation_mode=True, strategy=strategy, strategy_options={"max_fevals": trials_of(cache)},
                        quiet=True, verbose=False)
    except OutOfTime:
        pass
    finally:
        signal.alarm(0)
        SimulationRunner.run = run
    return list(tried.values())


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--repeats", type=int, default=100)
    options.add_argument("--strategy", action="append")
    options.add_argument("--seconds", type=int, default=60, help="of one search at most")
    options.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    options.add_argument("spaces", type=Path, nargs="+")
    options = options.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for strategy in options.strategy or STRATEGIES:
        runs = {"name": "Kernel Tuner: " + strategy}
        with multiprocessing.Pool(options.jobs) as pool:
            for path in options.spaces:
                jobs = [(strategy, path, seed, options.seconds) for seed in range(1, options.repeats + 1)]
                runs[path.name] = pool.map(search, jobs, chunksize=1)
                print(f"{strategy} {path.name}: {len(jobs)} searches", flush=True)
        (options.out / (strategy + ".json")).write_text(json.dumps(runs))


if __name__ == "__main__":
    main()
