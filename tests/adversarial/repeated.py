#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Judges the honest candidates of controls/ again and again, each time with another seed, and counts verdicts that change.

  repeated.py --judgements 10000 --jobs 16         that many, or as many as --within allows

The seed changes the contents of every buffer, the sizes and scalars that are tried, and the order of timed launches. A
verdict has changed where a candidate's verdict is not the one that most of its judgements have. Exit 1 where one has.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import time

from adversarial import ACCEPTED, AT_ONCE, SOURCE, judge, load


def rounds(by_base, judgements):
    """The processes to start: a seed, a base and candidates of it, all candidates once before any comes again."""
    count = sum(map(len, by_base.values()))
    parts = [(base, group[i:i + AT_ONCE]) for base, group in by_base.items() for i in range(0, len(group), AT_ONCE)]
    for seed in range(1, -(-judgements // count) + 1):
        for base, group in parts:
            yield seed, base, group


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kopt", default=os.environ.get("KOPT_BIN_DIR", str(SOURCE / "build/dev/bin")) + "/kopt")
    parser.add_argument("--device", default="emulated")
    parser.add_argument("--judgements", type=int, default=10000)
    parser.add_argument("--only", help="regular expression of names")
    parser.add_argument("--together", type=int, default=1,
                        help="only candidates whose base has so many: most of the time is the base's")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--within", type=float, default=1e9, help="seconds; what has not begun by then is left out")
    parser.add_argument("--record", type=pathlib.Path, help="file for the verdicts, as JSON")
    arguments = parser.parse_args()

    by_base = collections.defaultdict(list)
    for case in load(kinds=("controls",), only=arguments.only, device=arguments.device):
        by_base[case.base].append(case)
    by_base = {base: cases for base, cases in by_base.items() if len(cases) >= arguments.together}
    if not by_base:
        sys.exit("no candidate has such a name")
    end = time.monotonic() + arguments.within
    seen = collections.defaultdict(list)  # of each candidate: (seed, verdict, check, reason)
    failures = []

    def run(seed, base, group):
        if time.monotonic() >= end:
            return
        extra = ["--assurance", "standard", "--seed", str(seed + arguments.first_seed - 1)]
        try:
            trials = judge(arguments.kopt, arguments.device, base, group, extra)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            failures.append(f"seed {extra[-1]}: {error}")
            return
        for case in group:
            trial = trials[case.name]
            seen[case.name].append((int(extra[-1]), trial["verdict"], trial["check"] or "", trial["reason"]))

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for done in [pool.submit(run, *part) for part in rounds(by_base, arguments.judgements)]:
            done.result()

    changed = refused = 0
    for name, judgements in sorted(seen.items()):
        counts = collections.Counter(verdict for _, verdict, _, _ in judgements)
        usual = counts.most_common(1)[0][0]
        for seed, verdict, check, reason in judgements:
            if verdict != usual:
                changed += 1
                refused += verdict not in ACCEPTED | {"Duplicate"}
                print(f"{name}: {verdict} with seed {seed} and {usual} in {counts[usual]} of {len(judgements)}"
                      f"{': ' + check if check else ''}: {reason.splitlines()[0][:200]}")
    for failure in failures:
        print(failure)
    total = sum(map(len, seen.values()))
    print(f"{total} judgements of {len(seen)} honest candidates: {changed} changed verdicts, of which {refused} refuse; "
          f"{len(failures)} processes failed")
    if arguments.record:
        arguments.record.write_text(json.dumps(seen))
    sys.exit(1 if changed or failures or not total else 0)


if __name__ == "__main__":
    main()
