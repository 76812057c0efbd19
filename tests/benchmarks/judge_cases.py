#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Judges honest and wrong versions of kernels and counts the verdicts that an engineer would not share.

judge_cases.py --kopt KOPT --device emulated|cuda [--out FOLDER] [--limit-refused N] CASE...

A CASE is a folder with one CUDA program and versions of one of its kernels:

  case.json    {"file": "main.cu", "kernel": "scale", "flags": ["-O3"], "args": "1000 10",
                "sources": ["other files of the program"],
                "versions": {"honest-1": "what it does", "wrong-1": "what is wrong with it"}}
  kopt.toml    the clauses of small launches, for the emulated device
  honest-*.cu  versions of the file that are right wherever the original is: each should be accepted
  wrong-*.cu   versions that are wrong for some launch that the kernel allows: none may be Faster

On the emulated device the launches are the declared ones; on a GPU the program is built and its own launches
are captured (kopt trial --run). An honest version that is refused and accepted once a condition repairs it counts as
accepted. The exit code is 1 where a wrong version is Faster, or where more honest versions are
refused than --limit-refused allows.
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

REFUSED = {"Rejected", "BuildFailed", "RunFailed", "WrongResult", "TimedOut", "Suspect"}


def describe_machine(device):
    if device == "cuda":
        query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
        return subprocess.run(query, capture_output=True, text=True, check=False).stdout.strip()
    return f"emulated device, {os.cpu_count()} CPUs"


def program_of(case, description, folder):
    """Builds the case's program; its path."""
    program = folder / f"{case.name}-program"
    files = [description["file"], *description.get("sources", [])]
    subprocess.run(["nvcc", *description["flags"], "-o", program, *files], cwd=case, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return program


def run(command, folder, timeout):
    """What a command printed and said. After the timeout it may end what it is at, for a minute: then its results are those so far."""
    late = ""
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        for seconds, end in ((timeout, signal.SIGINT), (60, signal.SIGKILL), (None, None)):
            try:
                output, error = child.communicate(timeout=seconds)
                return output, error + late
            except subprocess.TimeoutExpired:
                late = f"\nno answer within {timeout} s"
                child.send_signal(end)
    return "", late


def judge(args, case, folder):
    """The trials of a case's versions, by version; what kopt said where it gave none."""
    description = json.loads((case / "case.json").read_text())
    versions = [name for name in sorted(description["versions"]) if (case / f"{name}.cu").exists()
                and (not args.only or name.startswith(args.only))]
    command = [args.kopt, "trial", description["file"], "--kernel", description["kernel"], "--device", args.device,
               "--json", "--fail-on", "never", *args.kopt_option]
    for name in versions:
        command += ["--candidate", f"{name}.cu"]
    if args.device == "cuda":
        command += ["--run", f"{program_of(case, description, folder)} {description['args']}"]
    command += ["--", *description["flags"]]
    began = time.monotonic()
    output, error = run(command, case, args.timeout)
    seconds = time.monotonic() - began
    try:
        results = json.loads(output)["results"]
    except (json.JSONDecodeError, KeyError):
        results = []
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / f"{case.name}.json").write_text(json.dumps({"case": case.name, "seconds": seconds, "error": error[-4000:],
                                                               "results": results}, indent=1))
    trials = {pathlib.Path(trial["candidate"]).stem: trial for trial in results}
    return versions, trials, error.strip().splitlines()[-1:] or [""], seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="+", type=pathlib.Path)
    parser.add_argument("--kopt", required=True)
    parser.add_argument("--device", choices=["emulated", "cuda"], default="emulated")
    parser.add_argument("--only", default="", help="versions whose names begin so: honest, wrong")
    parser.add_argument("--out", type=pathlib.Path, help="folder for each case's trials as JSON")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for a case")
    parser.add_argument("--limit-refused", type=int, default=10**9, help="honest versions that may be refused")
    parser.add_argument("--kopt-option", action="append", default=[], help="passed on to kopt trial")
    args = parser.parse_args()
    args.kopt = str(pathlib.Path(args.kopt).resolve())
    print(f"judged on: {describe_machine(args.device)}")
    refused, faster, missing, counts = [], [], [], {"honest": 0, "wrong": 0}
    with tempfile.TemporaryDirectory(prefix="kopt-cases-") as folder:
        for case in sorted(args.cases):
            if not (case / "case.json").exists():
                continue
            versions, trials, error, seconds = judge(args, case.resolve(), pathlib.Path(folder))
            print(f"{case.name}: {seconds:.0f} s{'' if trials else ': ' + error[0]}", flush=True)
            for name in versions:
                kind = name.split("-")[0]
                trial = trials.get(name)
                if trial is None:
                    missing.append(f"{case.name}/{name}")
                    continue
                counts[kind] += 1
                verdict, check = trial["verdict"], trial.get("check") or ""
                repaired = trial.get("repaired") or {"verdict": verdict}
                isBad = {verdict, repaired["verdict"]} <= REFUSED if kind == "honest" else verdict == "Faster"
                if isBad:
                    (refused if kind == "honest" else faster).append(f"{case.name}/{name}")
                print(f"  {'!' if isBad else ' '} {name:10} {verdict:12} {check:12} {trial['reason'].splitlines()[0][:150] if trial['reason'] else ''}",
                      flush=True)
                if "title" in repaired:
                    print(f"    repaired   {repaired['verdict']:12} {repaired['title']}: {repaired['reason'][:120]}", flush=True)
    print(f"\nhonest: {len(refused)} of {counts['honest']} refused: {', '.join(refused)}")
    print(f"wrong: {len(faster)} of {counts['wrong']} Faster: {', '.join(faster)}")
    print(f"no verdict: {len(missing)}: {', '.join(missing)}")
    return 1 if faster or len(refused) > args.limit_refused else 0


if __name__ == "__main__":
    sys.exit(main())
