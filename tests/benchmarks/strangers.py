#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tunes whole programs that nobody prepared, each with one command, and prints a table.

    strangers.py --kopt build/dev/bin/kopt FOLDER... [--draw 30 --seed 1] [--budget-seconds 40] [--within SECONDS]
        [--at-a-time 1] [--json FILE] [--log FOLDER]

Each folder is one program as HeCBench has them: one .cu file that nvcc builds, and a Makefile whose `run` target says with
which arguments it is run. --draw takes that many of the folders that qualify: those with one .cu file that builds and runs
within 20 s. The command is

    kopt tune main.cu --run './main ARGUMENTS' --budget-seconds 40 -- FLAGS

A row has the program's own seconds, those of kopt, the verdict, how many candidates were judged, each win's speedup in isolation
and in the program, and whether the patch applies, builds, and leaves the program's exit code; then how much faster each tuned
kernel is in a second confirmation, in which `kopt observe` times the old and the patched program by turns, three times each
(once where a run takes 4 s or more). A patch with a kernel that is not faster then does not hold. "nothing held" has wins in isolation alone; a program none of whose
kernels had a candidate judged has no verdict. In time is what ends within 100 s and three times
the program's own seconds. --at-a-time tunes several programs at once on the one GPU, which makes each of them slower: kopt's
processes take turns on the GPU. A second table says where the seconds went; then come each program's time of all its kernels before over
after its patch, and their geometric mean. The exit code is 1 where a patch does not hold.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import replay

os.environ.setdefault("KOPT_EXPERIENCE", "off")  # each program for itself

OWN_SECONDS = 20
MOST = 5  # what one program counts for in the mean


def run(command, folder, timeout):
    began = time.monotonic()
    try:
        done = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, errors="replace",
                              timeout=max(1, timeout), check=False)
    except subprocess.TimeoutExpired as late:
        done = subprocess.CompletedProcess(command, 124, "", f"error: no end within {late.timeout:.0f} s")
    except OSError as error:
        done = subprocess.CompletedProcess(command, 127, "", f"error: {error}")
    return done, time.monotonic() - began


class Program:
    """One folder's program in a copy of its own."""

    def __init__(self, options, source, work):
        self.options, self.source, self.folder, self.figure = options, source, work / source.name, 1.0
        subprocess.run(["cp", "-a", source, self.folder], check=True)
        self.files = sorted(file.name for file in self.folder.glob("*.cu"))
        self.flags = ["-std=c++17", "-O3", f"-arch={options.arch}", "-I.",
                      *[f"-I{(source.parent / include).resolve()}" for include in options.include]]
        self.command = ["./main", *replay.arguments_of(self.folder)]

    def build(self):
        return run(["nvcc", *self.flags, "-o", "main", *self.files], self.folder, 300)[0]

    def why_not(self):
        """Why it does not qualify; empty where it does."""
        if len(self.files) != 1:
            return f"{len(self.files)} .cu files"
        is_built = self.options.use_built and (self.folder / "main").exists()
        if not is_built and self.build().returncode:
            return "does not build"
        done, self.seconds = run(self.command, self.folder, OWN_SECONDS)
        self.exit_code = done.returncode
        self.printed = done.stdout.strip().splitlines()[-1:]
        return "" if done.returncode == 0 else f"ends with {done.returncode}"

    def tune(self):
        options = self.options
        command = [options.kopt, "tune", self.files[0], "--run", " ".join(self.command), "--budget-seconds",
                   options.budget_seconds, "--json", "--device", "cuda"]
        if options.log:
            options.log.mkdir(parents=True, exist_ok=True)
            command += ["--log-file", (options.log / f"{self.source.name}.log").resolve()]
        done, seconds = run([*command, *options.kopt_option, "--", *self.flags], self.folder, options.timeout)
        row = {"program": self.source.name, "own_seconds": self.seconds, "seconds": seconds, "exit_code": done.returncode,
               "in_time": seconds <= 100 + 3 * self.seconds}
        try:
            answer = json.loads(done.stdout)
        except json.JSONDecodeError:
            answer = {}
        if options.log:
            (options.log / f"{self.source.name}.json").write_text(done.stdout)
            (options.log / f"{self.source.name}.err").write_text(done.stderr)
        kernels = answer.get("results", [])
        row["kernels"] = kernels
        row["stages"] = collections.Counter((answer.get("details") or {}).get("stages", {}))
        for kernel in kernels:
            row["stages"].update(kernel.get("stages") or {})
        row["judged"] = sum(kernel.get("judged") or 0 for kernel in kernels)
        row["wins"] = ((answer.get("details") or {}).get("session") or {}).get("wins", [])
        if any(win["state"] == "confirmed" for win in row["wins"]):
            row["verdict"] = "win"
            row["patch"] = self.check_patch([win["kernel"] for win in row["wins"] if win["state"] == "confirmed"])
        elif row["judged"]:
            row["verdict"] = "nothing held" if row["wins"] else "nothing faster"
        else:
            errors = [answer.get("error"), *(kernel.get("error") for kernel in kernels)]
            reasons = [error["what"] for error in errors if error] + [k["stop_reason"] for k in kernels if k.get("stop_reason")]
            row["verdict"] = "none"
            row["problem"] = reasons[0] if reasons else replay.last_words(done)
        row["printed"] = self.printed
        row["figure"] = self.figure if row.get("patch", "").startswith("holds") else 1.0
        return row

    def kernel_seconds(self, program):
        """Seconds of a launch, by kernel and by template, of one run of the program, and of all launches under ""; empty where
        it fails."""
        done, _ = run([self.options.kopt, "observe", "--json", "--", program, *self.command[1:]], self.folder, 6 * OWN_SECONDS)
        if done.returncode:
            return {}
        seconds, launches = collections.Counter(), collections.Counter()
        answer = json.loads(done.stdout)["results"]
        for kernel in answer:
            for name in {kernel["name"], base_name(kernel["name"])}:
                seconds[name] += kernel["seconds"]
                launches[name] += kernel["launches"]
        return {name: seconds[name] / launches[name] for name in seconds} | {"": sum(each["seconds"] for each in answer)}

    def check_patch(self, kernels):
        """Whether what was found applies, builds, runs, and is faster once more; in words."""
        done, _ = run([self.options.kopt, "apply"], self.folder, 60)
        if done.returncode:
            return "not applied: " + replay.last_words(done)
        (self.folder / "main").rename(self.folder / "main.unpatched")
        if self.build().returncode:
            return "does not build"
        done, _ = run(self.command, self.folder, 3 * OWN_SECONDS)
        if done.returncode != self.exit_code:
            return f"the program ends with {done.returncode}"
        self.printed += done.stdout.strip().splitlines()[-1:]
        turns = 3 if self.seconds < 4 else 1
        pairs = [(self.kernel_seconds("./main.unpatched"), self.kernel_seconds("./main")) for _ in range(turns)]
        again = {}
        for kernel in sorted(kernels):
            if not all(kernel in before and kernel in after for before, after in pairs):
                kernel = base_name(kernel)  # a patch may give it another name
            ratios = [before[kernel] / after[kernel] for before, after in pairs if kernel in before and after.get(kernel)]
            if not ratios:
                return f"{kernel} was not timed again"
            again[kernel] = statistics.median(ratios)
        self.figure = statistics.median(before[""] / after[""] for before, after in pairs)
        lost = [kernel for kernel, ratio in again.items() if ratio <= 1]
        if lost:
            return "not faster again: " + ", ".join(f"{kernel} {again[kernel]:.3f}x" for kernel in lost)
        return "holds; again " + ", ".join(f"{ratio:.3f}x" for ratio in again.values())


def base_name(kernel):
    """The name without template arguments, parameters and return type: specializations of a kernel count together."""
    return re.split(r"[<(]", kernel.removeprefix("void ").replace("(anonymous namespace)::", ""))[0].split("::")[-1].strip()


def estimate(speedup):
    return f"{speedup['estimate']:.3f}x" if speedup else "-"


def print_row(row):
    wins = "; ".join(f"{win['kernel']} {estimate(win['isolated'])} alone, {estimate((win['program'] or {}).get('speedup'))} in the program"
                     f"{'' if win['state'] == 'confirmed' else ' (' + win['state'] + ')'}" for win in row["wins"])
    print(f"| {row['program']} | {row['own_seconds']:.1f} | {row['seconds']:.0f}{'' if row['in_time'] else ' (late)'} | {row['verdict']} "
          f"| {row['judged']} | {wins or row.get('problem', '')} | {row.get('patch', '')} |", flush=True)


STAGES = ["extract", "observe", "device", "workload", "baseline", "search", "confirm", "confirm in the program"]


def print_stages(rows):
    """Where the seconds of each program went. Stages that overlap count in each."""
    print(f"\n| program | {' | '.join(STAGES)} | all | candidates a minute of search |\n|{'---|' * (len(STAGES) + 3)}")
    for row in rows:
        seconds = row["stages"]
        rate = f"{60 * row['judged'] / seconds['search']:.0f}" if seconds["search"] and row["judged"] else ""
        print(f"| {row['program']} | {' | '.join(f'{seconds[name]:.1f}' for name in STAGES)} | {row['seconds']:.0f} | {rate} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--kopt", required=True)
    parser.add_argument("--kopt-option", action="append", default=[], help="another option of kopt tune")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--include", action="append", default=["include"], help="folder beside the programs (default include)")
    parser.add_argument("--use-built", action="store_true", help="do not build what is built as 'main' already")
    parser.add_argument("--in-order", action="store_true", help="take the folders as they are given")
    parser.add_argument("--draw", type=int, help="how many of the folders that qualify; all if left out")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget-seconds", type=float, default=40)
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one program")
    parser.add_argument("--at-a-time", type=int, default=1, help="programs tuned at once on the one GPU")
    parser.add_argument("--within", type=float, default=float("inf"), help="seconds for all; no program is begun after them")
    parser.add_argument("--json", type=pathlib.Path, help="also write all rows here")
    parser.add_argument("--printed", action="store_true", help="also show the last line that each program prints, before and with its patch")
    parser.add_argument("--log", type=pathlib.Path, help="folder for each program's log and answer")
    options = parser.parse_args()
    options.kopt = str(pathlib.Path(options.kopt).resolve())
    end = time.monotonic() + options.within
    folders = list(options.folders)
    if not options.in_order:
        folders.sort()
        random.Random(options.seed).shuffle(folders)
    rows, skipped = [], []

    def tune_next():
        """Takes folders until enough rows are there; the order of the rows is that of the ends."""
        while folders and time.monotonic() < end:
            with turn:
                if not folders or (options.draw and len(rows) + len(begun) >= options.draw):
                    return
                source = folders.pop(0).resolve()
                begun.add(source)
            with tempfile.TemporaryDirectory(prefix="kopt-stranger-") as name:
                program = Program(options, source, pathlib.Path(name))
                why = program.why_not()
                row = None if why else program.tune()
            with turn:
                begun.discard(source)
                if why:
                    skipped.append(f"{source.name} ({why})")
                    continue
                rows.append(row)
                print_row(row)
                if options.json:
                    options.json.write_text(json.dumps(rows, indent=1))

    begun, turn = set(), threading.Lock()
    print("| program | own s | kopt s | verdict | judged | wins, or the reason | patch |\n|---|---|---|---|---|---|---|")
    with concurrent.futures.ThreadPoolExecutor(options.at_a_time) as pool:
        for worker in [pool.submit(tune_next) for _ in range(options.at_a_time)]:
            worker.result()
    print_stages(rows)
    if options.printed:
        for row in rows:
            print(f"{row['program']}: {' -> '.join(row['printed'])}")
    figures = [min(row["figure"], MOST) for row in rows]
    if figures:
        each = ", ".join(f"{row['program']} {row['figure']:.2f}x" for row in rows)
        print(f"\nkernel time before over after: {each}\n"
              f"geometric mean {statistics.geometric_mean(figures):.3f}x (losers 1.0, at most {MOST}x each), "
              f"{sum(figure >= 1.05 for figure in figures)} of {len(figures)} by 1.05x or more")
    judged = [row for row in rows if row["verdict"] != "none" and row["in_time"]]
    broken = [row for row in rows if not row.get("patch", "holds").startswith("holds")]
    print(f"\n{len(judged)} of {len(rows)} programs have a verdict in time, {sum(row['verdict'] == 'win' for row in rows)} a win; "
          f"{len(broken)} patches do not hold; not taken: {', '.join(skipped) or 'none'}; seed {options.seed}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
