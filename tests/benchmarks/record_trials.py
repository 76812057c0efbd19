#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what rewrites do on each other, drawn at random, for kernels of unprepared programs: what strategies are compared on.

    record_trials.py --kopt KOPT --out DIR FOLDER... [--trials 200] [--budget-seconds 200] [--within SECONDS] [--device cuda]

Each folder is one program as strangers.py takes them. Its kernel with most of the time is searched with `--strategy survey`,
and DIR/<program>.json gets one line a trial: the parent that the candidate was made from, its technique, its verdict, its
speedup over the baseline with the interval, and the seconds that it took; what each parent had left that was not tried; and the
counters of the baseline and of the parents with most trials. A program that DIR has already is passed over. For several GPUs, call it
once for each with other folders and CUDA_VISIBLE_DEVICES.
"""
import argparse
import collections
import json
import pathlib
import sys
import tempfile
import time

import judge_cases
import strangers

PARENTS_WITH_COUNTERS = 6


def heaviest(program):
    """The name of the kernel with most of the program's time."""
    done, _ = strangers.run([program.options.kopt, "observe", "--json", "--", *program.command], program.folder, 120)
    kernels = json.loads(done.stdout)["results"] if done.returncode == 0 else []
    return strangers.base_name(max(kernels, key=lambda each: each["seconds"])["name"]) if kernels else ""


def rounded(value):
    return float(f"{value:.6g}") if isinstance(value, float) else value


def fixture_of(run, program, kernel):
    """The recording of one run, from `kopt report --json`."""
    searched = [trial for trial in run["trials"] if trial["purpose"] == "search"]
    number, trials = {}, []
    for trial in searched:
        candidate, speedup = trial["candidate"], trial.get("speedup") or {}
        number[trial["candidate_hash"]] = len(trials)
        parents = [number[parent] for parent in candidate["parents"] if parent in number]
        trials.append({"parent": parents[0] if parents else None, "proposer": candidate["proposer"], "technique": candidate["technique"],
                       "title": candidate["title"], "verdict": trial["verdict"], "seconds": rounded(trial["seconds"]),
                       **{key: rounded(speedup[key]) for key in ("estimate", "low", "high") if key in speedup}})
    asks, left = {}, {}
    for event in run["decisions"]:
        what = event["what"]
        if "ask" in what:
            asks[what["ask"]["id"]] = what["ask"]
        elif "propose" in what:
            ask = asks[what["propose"]["ask"]]
            left[number[ask["parents"][0]], ask["role"]] = what["propose"].get("left", {})
    tried = collections.Counter(trial["parent"] for trial in trials)
    expanded = [parent for parent, _ in tried.most_common() if parent is not None]
    counters = {index: {name: rounded(value) for name, value in searched[index]["counters"].items()}
                for index in sorted({0, *expanded[:PARENTS_WITH_COUNTERS]})}
    return {"program": program.source.name, "kernel": kernel, "device": run["device"].get("name", ""), "arch": run["device"].get("arch", ""),
            "trials": trials, "counters": counters,
            "left": [{"parent": parent, "proposer": role, "techniques": techniques} for (parent, role), techniques in sorted(left.items())
                     if techniques]}


def record(options, source, out):
    with tempfile.TemporaryDirectory(prefix="kopt-record-") as name:
        program = strangers.Program(options, source, pathlib.Path(name))
        why = program.why_not() if options.device == "cuda" else ""
        if why:
            return why
        kernel = options.kernel or heaviest(program)
        command = [options.kopt, "tune", *program.files, "--strategy", "survey", "--trials", options.trials, "--budget-seconds",
                   options.budget_seconds, "--device", options.device, *(["--kernel", kernel] if kernel else []),
                   *(["--run", " ".join(program.command)] if options.device == "cuda" else []), *options.kopt_option, "--", *program.flags]
        done, seconds = strangers.run(command, program.folder, 2 * options.budget_seconds + 120)
        reported, _ = strangers.run([options.kopt, "report", "--json"], program.folder, 120)
        runs = json.loads(reported.stdout)["results"] if reported.returncode == 0 else []
        if not runs:
            return "no run: " + strangers.replay.last_words(done)
        fixture = fixture_of(max(runs, key=lambda each: len(each["trials"])), program, kernel)
        fixture["seconds"] = rounded(seconds)
        lines = ",\n  ".join(json.dumps(trial) for trial in fixture.pop("trials"))
        out.write_text(json.dumps(fixture, indent=None)[:-1] + ', "trials": [\n  ' + lines + "\n]}\n")
        return f"{lines.count(chr(10)) + 1} trials in {seconds:.0f} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--kopt", required=True)
    parser.add_argument("--kopt-option", action="append", default=[], help="another option of kopt tune")
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--device", default="cuda", choices=["cuda", "emulated"])
    parser.add_argument("--kernel", help="this kernel, in place of the one with most of the time")
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--budget-seconds", type=float, default=200)
    parser.add_argument("--within", type=float, default=float("inf"), help="no program is begun after these seconds")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--include", action="append", default=["include"])
    parser.add_argument("--use-built", action="store_true")
    options = parser.parse_args()
    options.kopt = str(pathlib.Path(options.kopt).resolve())
    options.out.mkdir(parents=True, exist_ok=True)
    print(f"machine: {judge_cases.describe_machine(options.device)}", flush=True)
    end, failed = time.monotonic() + options.within, []
    for folder in options.folders:
        out = options.out / f"{folder.name}.json"
        if out.exists() or time.monotonic() >= end:
            continue
        said = record(options, folder.resolve(), out)
        failed += [folder.name] if "trials in" not in said else []
        print(f"{folder.name}: {said}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
