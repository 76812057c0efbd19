#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""case_totals.py [--winners FOLDER] RESULTS...: totals over what judge_cases.py left in its --out folder.

Prints a row for each folder of results: how many honest and wrong versions were judged, how many of them were refused or
Faster, and seconds a case; then the least, median and most seconds of its baselines, of versions that are Faster, and of the
others. With two folders, of two GPUs or two builds, also how many versions have the same verdict in both, and those that have
not. --winners writes, for each case of the first folder, the trial of an honest version that passed every check to FOLDER, for
check_table.py: one that is Faster if there is one.
"""

import argparse
import json
import pathlib
import statistics
import sys

from judge_cases import REFUSED


def verdicts_of(folder):
    """The trials of a folder by case and version, and the seconds of each case."""
    trials, seconds = {}, {}
    for file in sorted(folder.glob("*.json")):
        case = json.loads(file.read_text())
        if case["results"]:
            seconds[case["case"]] = case["seconds"]
        for trial in case["results"]:
            version = pathlib.Path(trial["candidate"]).stem
            if version.startswith("honest") and trial["verdict"] in REFUSED and trial.get("repaired"):
                trial["verdict"] = trial["repaired"]["verdict"]
            trials[case["case"], version] = trial
    return trials, seconds


def row(folder, trials, seconds):
    of = {kind: {name: trial["verdict"] for name, trial in trials.items() if name[1].startswith(kind)}
          for kind in ("honest", "wrong")}
    bad = {"honest": [name for name, verdict in of["honest"].items() if verdict in REFUSED],
           "wrong": [name for name, verdict in of["wrong"].items() if verdict == "Faster"]}
    times = sorted(seconds.values())
    print(f"| {folder.name} | {len(seconds)} | {len(of['honest'])} | {len(bad['honest'])} | {len(of['wrong'])} | {len(bad['wrong'])} | "
          + (f"{times[0]:.0f} to {times[-1]:.0f}, median {times[len(times) // 2]:.0f} |" if times else "- |"))
    return [f"{folder.name}: {'refused' if kind == 'honest' else 'Faster'}: {case}/{version}"
            for kind, names in bad.items() for case, version in names]


def print_seconds(folder, trials):
    """What judging took: a baseline counts once for its case."""
    kinds = {"baselines": {case: trial["baseline"]["seconds"] for (case, _), trial in trials.items() if trial.get("baseline")}.values(),
             "winners": [trial["seconds"] for trial in trials.values() if trial["verdict"] == "Faster"],
             "other versions": [trial["seconds"] for trial in trials.values() if trial["verdict"] != "Faster"]}
    for kind, seconds in kinds.items():
        if seconds:
            print(f"{folder.name}: {len(seconds)} {kind}: {min(seconds):.1f} to {max(seconds):.1f} s, median {statistics.median(seconds):.1f}")


def compare(one, other):
    both = sorted(one.keys() & other.keys())
    differing = [name for name in both if one[name]["verdict"] != other[name]["verdict"]]
    refusals = [name for name in differing if (one[name]["verdict"] in REFUSED) != (other[name]["verdict"] in REFUSED)]
    print(f"\n{len(both)} versions were judged in both: {len(both) - len(differing)} have the same verdict, "
          f"{len(refusals)} are refused in one of them only")
    for case, version in differing:
        pair = [f"{trial['verdict']} ({trial.get('check') or 'no check'}: {(trial['reason'].splitlines() or [''])[0][:120]})"
                for trial in (one[case, version], other[case, version])]
        print(f"  {case}/{version}: {pair[0]} and {pair[1]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", type=pathlib.Path)
    parser.add_argument("--winners", type=pathlib.Path)
    args = parser.parse_args()
    print("| results | cases | honest | refused | wrong | Faster | seconds a case |\n|---|---|---|---|---|---|---|")
    known = [verdicts_of(folder) for folder in args.results]
    lines = [line for folder, (trials, seconds) in zip(args.results, known) for line in row(folder, trials, seconds)]
    print("\n" + "\n".join(lines))
    for folder, (trials, _) in zip(args.results, known):
        print_seconds(folder, trials)
    if len(known) == 2:
        compare(known[0][0], known[1][0])
    if args.winners:
        args.winners.mkdir(parents=True, exist_ok=True)
        best = {}
        for (case, version), trial in known[0][0].items():
            if version.startswith("honest") and trial["verdict"] not in REFUSED:
                best[case] = max(best.get(case, trial), trial, key=lambda one: one["verdict"] == "Faster")
        for case, trial in best.items():
            (args.winners / f"{case}.json").write_text(json.dumps({"results": [trial]}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
