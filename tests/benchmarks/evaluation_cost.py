#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the evaluation of one candidate costs, stage by stage, and how many kopt judges a minute.

    evaluation_cost.py --kopt build/dev/bin/kopt [--device cuda] [--trials 44] [--max-median 3] [--min-rate 40]

Tunes evaluation_cost.cu in a folder of its own. Only candidates that got as far as being timed count. A candidate's time is
its whole evaluation, building included where that was done while another one ran; the rate is over the wall clock from the
measured baseline to the last verdict, with rounds, records, profiles and all other candidates in it. Exit status: 0; 1 where a limit is missed; 77 where there is no such device or no compiler for it.
"""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SKIP = 77
ENVIRONMENT = 6
VERDICTS = ("Faster", "Same", "Slower", "Ambiguous", "Rejected", "BuildFailed", "WrongResult", "RunFailed", "TimedOut",
            "Duplicate")


def tune(options, folder):
    """Runs kopt. Returns its exit code, what it said, and when: (seconds, line)."""
    command = [options.kopt, "tune", "cost.cu", "--device", options.device, "--proposers", "params", "--trials",
               str(options.trials), "--patience", "1000", "--rounds", "1000", "--budget-seconds", "500", "--json"]
    if options.build_jobs is not None:
        command += ["--build-jobs", str(options.build_jobs)]
    command += ["--", "-std=c++17", "-O3", "-I", str(HERE.parent.parent / "runtime" / "include")]
    child = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True)
    lines = [(time.monotonic(), line.rstrip("\n")) for line in child.stderr]
    return child.wait(), lines


def table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  " + row[0].ljust(widths[0]) + "".join(cell.rjust(width + 2) for cell, width in zip(row[1:], widths[1:])))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kopt", required=True)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--trials", type=int, default=44)
    parser.add_argument("--build-jobs", type=int)
    parser.add_argument("--max-median", type=float, help="seconds of a candidate's whole evaluation")
    parser.add_argument("--min-rate", type=float, help="candidates a minute")
    options = parser.parse_args()
    options.kopt = str(pathlib.Path(options.kopt).resolve())

    with tempfile.TemporaryDirectory(prefix="kopt-cost-") as name:
        folder = pathlib.Path(name)
        shutil.copy(HERE / "evaluation_cost.cu", folder / "cost.cu")
        code, lines = tune(options, folder)
        if code != 0:
            print("\n".join(line for _, line in lines[-20:]))
            there = options.device != "cuda" or any(pathlib.Path("/dev").glob("nvidia[0-9]*"))
            return SKIP if code == ENVIRONMENT and not there else 1
        report = json.loads(subprocess.run([options.kopt, "report", "--json"], cwd=folder, check=True,
                                           capture_output=True, text=True).stdout)["results"][0]

    judged = [trial for trial in report["trials"]
              if trial["candidate"]["proposer"] != "baseline" and trial["purpose"] == "search"]
    trials = [trial for trial in judged if trial["timings"]]
    begun = next(when for when, line in lines if ": baseline" in line)
    ended = max(when for when, line in lines if line.split(" ")[0] in VERDICTS)
    rate = 60 * len(trials) / (ended - begun)
    whole = [trial["seconds"] for trial in trials]
    median = statistics.median(whole)
    baseline = report["trials"][0]["timings"][0]["baseline_seconds"]
    print(f"{report['device']['name']}: baseline {1e6 * baseline:.0f} us, {len(judged)} candidates, "
          + ", ".join(f"{count} {verdict}" for verdict, count in
                      sorted({v: sum(t['verdict'] == v for t in judged) for v in VERDICTS}.items()) if count))
    print(f"whole evaluation of {len(trials)}: median {median:.3f} s, longest {max(whole):.3f} s; {rate:.0f} candidates a minute "
          f"({ended - begun:.1f} s from the baseline to the last verdict)")
    confirmed = [trial["seconds"] for trial in report["trials"] if trial["purpose"] == "confirmation"]
    print(f"baseline: {report['trials'][0]['seconds']:.1f} s; confirmations: "
          + (", ".join(f"{seconds:.1f} s" for seconds in confirmed) or "none"))
    stages = {}
    for trial in trials:
        for stage, seconds in trial["stages"].items():
            stages.setdefault(stage, []).append(seconds)
    table([("stage", "candidates", "median ms", "longest ms", "together s")]
          + [(stage, str(len(seconds)), f"{1e3 * statistics.median(seconds):.1f}", f"{1e3 * max(seconds):.1f}",
              f"{sum(seconds):.2f}") for stage, seconds in sorted(stages.items())])

    missed = []
    if options.max_median is not None and median > options.max_median:
        missed.append(f"the median is above {options.max_median} s")
    if options.min_rate is not None and rate < options.min_rate:
        missed.append(f"fewer than {options.min_rate:.0f} candidates a minute")
    for text in missed:
        print("missed:", text)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
