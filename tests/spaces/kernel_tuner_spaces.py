#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What space_speed measures, of Kernel Tuner's own Searchspace (PyPI: kernel_tuner).

    kernel_tuner_spaces.py [--repeats 5] [--space NAME]... tuning_spaces.json
"""
import argparse
import json
import random
import re
import statistics
import time
from pathlib import Path

POINTS = 1000


def parameters_of(space):
    parameters = dict(space.get("lists", {}))
    for name, (first, last, step) in space.get("ranges", {}).items():
        parameters[name] = list(range(first, last + 1, step))
    return parameters


def in_python(requirement):
    return re.sub(r"(?<![/])/(?![/])", "//", requirement.replace("||", "or").replace("&&", "and"))


def measure(space):
    from kernel_tuner.searchspace import Searchspace

    start = time.perf_counter()
    searchspace = Searchspace(parameters_of(space), [in_python(r) for r in space["requirements"]], 10**9)
    size = searchspace.size
    counted = time.perf_counter() - start
    neighbours = 0
    for point in searchspace.get_random_sample(min(POINTS, size)):
        neighbours += len(searchspace.get_neighbors(tuple(point), neighbor_method="Hamming"))
    return counted, time.perf_counter() - start, size


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--repeats", type=int, default=5)
    options.add_argument("--space", action="append")
    options.add_argument("file", type=Path)
    options = options.parse_args()
    random.seed(1)
    for name, space in json.loads(options.file.read_text())["spaces"].items():
        if options.space and name not in options.space:
            continue
        all_runs = [measure(space) for _ in range(options.repeats)]
        counted, drawn = (statistics.median(run[i] for run in all_runs) for i in (0, 1))
        print(f"{name:20} {all_runs[0][2]:14} points | {counted:.4f} | {drawn:.4f}", flush=True)


if __name__ == "__main__":
    main()
