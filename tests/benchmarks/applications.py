#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Judges every offer of every rewrite on kernels of unprepared programs, with derived launches, and counts wrong applications.

    applications.py --kopt build/dev/bin/kopt FOLDER... [--draw 150 --seed 1] [--jobs 4] [--gpus 1] [--within SECONDS]
        [--json FILE] [--list] [--search] [--device cuda|emulated]

Folders and draw are those of rewrites.py: the same seed gives the same order of kernels. Kernels that cannot be judged are named and
passed over, until --draw kernels are judged: those of programs that do not build, end with an error or run longer than 20 s
(--own-seconds), and those that their program does not launch. A program is built with nvcc, run once, and judged, at most four of
its kernels in one turn, with

    kopt tune FILES --run './main ARGUMENTS' --kernel KERNELS --proposers transform --verify-all --min-gain 100 -- FLAGS

Nothing is 100 times as fast, so the kernel as it is stays the parent of all candidates, and the search ends when every offer was judged
at each point of its domain (at most eight). --verify-all gives each candidate the checks of one that is faster: the program's own
launches, those derived from them, as many as take 0.3 s, and fresh inputs. A refusal on a derived launch alone gets a condition, as in
every search; what comes of that is a candidate, too. A candidate is faster if the whole interval lies above 1.02. Programs that run at
once on one GPU disturb each other's times: kopt takes turns, the programs do not.

--search leaves out --min-gain and the other limits: the search composes rewrites within --timeout, and a win is confirmed. The table
then says which rewrites are in a winner. --json keeps the order of the draw and every turn; with the same file what is decided already
is not judged again. --list draws, writes the file and ends: it needs no GPU. --within begins no turn later (0: only the tables).
--device emulated runs no program (without --use-built) and judges declared launches. A launch that the driver refuses for want of
registers or shared memory counts as refused (NotLaunched). The exit code is 1 if a candidate was wrong (marked with !).
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shlex
import sys
import tempfile
import threading
import time

import judge_cases
import replay
import rewrites
import strangers

A_TURN = 4  # kernels
WRONG = {"WrongResult", "RunFailed", "TimedOut"}
NOT_LAUNCHED = re.compile("the launch was refused|shared memory are too much|dynamic shared memory beside")  # nothing ran
REFUSED = WRONG | {"Rejected", "Suspect", "NotLaunched"}
DERIVED = {"scalars", "sizes", "contents", "alignment"}


class Program(strangers.Program):
    def __init__(self, options, source, work):
        super().__init__(options, source, work)
        makefile = (self.folder / "Makefile").read_text(errors="replace") if (self.folder / "Makefile").exists() else ""
        listed = re.search(r"^source\s*=((?:.*\\\n)*.*)", makefile, re.MULTILINE)
        named = [word for word in (listed.group(1).split() if listed else []) if (self.folder / word).is_file()]
        self.files = (named or self.files + sorted(file.name for file in self.folder.glob("*.cpp"))) + re.findall(r"(?<=\s)-l\w+", makefile)
        self.turn, self.why, self.runs = threading.Lock(), None, options.device == "cuda" or options.use_built

    def why_not(self, gpu):
        """Why it cannot be judged; empty if it can. The first who asks builds and runs it."""
        with self.turn:
            if self.why is None and not self.runs:
                self.why = ""
            elif self.why is None:
                is_built = self.options.use_built and (self.folder / "main").exists()
                built = None if is_built else self.build()
                done = built if built and built.returncode else strangers.run([*gpu, *self.command], self.folder, self.options.own_seconds)[0]
                self.why = "" if not done.returncode else f"{'does not build' if done is built else 'does not run'}: {last_words(done)}"
            return self.why


def last_words(done):
    lines = (done.stderr.strip() or done.stdout.strip()).splitlines() or [f"ends with {done.returncode}"]
    return next((line for line in lines if re.search("error|undefined", line, re.IGNORECASE)), lines[-1]).strip()[:160]


def judge(options, program, kernels, folder, gpu):
    """A row: what became of each of the kernels, which are (expression, symbol, file)."""
    command = [*gpu, options.kopt, "tune", *sorted({file for _, _, file in kernels}), "--kernel", *[name for name, _, _ in kernels],
               "--device", options.device, "--json", "--proposers", "transform", "--verify-all", "--build-jobs", options.build_jobs]
    if program.runs:
        command += ["--run", shlex.join(program.command)]
    seconds = options.timeout * (1 + len(kernels))
    command += ["--budget-seconds", seconds] if options.search else ["--budget-seconds", 10**7, "--min-gain", 100, "--trials", 2000,
                                                                     "--rounds", 10**6, "--patience", 10**6]
    command += [*options.kopt_option, "--", *program.flags]
    output, error = judge_cases.run(list(map(str, command)), folder, 3 * seconds if options.search else seconds)
    try:
        answer = json.loads(output)
    except json.JSONDecodeError:
        answer = {}
    whole = (answer.get("error") or {}).get("what") or (
        "the program does not launch it" if answer.get("results") else (error.strip().splitlines() or ["no answer"])[-1])
    reports = {}
    for run in [each["run"] for each in answer.get("results", []) if each.get("run")] + ["latest"]:  # the last: what was interrupted
        printed = strangers.run([options.kopt, "report", "--run-id", run, "--json"], folder, 60)[0].stdout
        for report in json.loads(printed).get("results", []) if printed else []:
            reports[report.get("symbol")] = report
    rows = []
    for name, symbol, _ in kernels:
        result = next((each for each in answer.get("results", []) if same_name(each["kernel"], name)), {})
        why = result.get("skipped") or (result.get("error") or {}).get("what") or ("" if result else whole)
        trials = reports[symbol]["trials"] if symbol in reports else []
        by_hash = {trial["candidate_hash"]: trial for trial in trials}
        winner, parts = (result.get("winner") or {}).get("candidate"), []
        while winner in by_hash and by_hash[winner]["candidate"]["parents"]:
            parts.append(by_hash[winner]["candidate"]["technique"])
            winner = by_hash[winner]["candidate"]["parents"][0]
        ended = "" if options.search or result.get("stop_reason", "").startswith("no proposer has") else result.get("stop_reason") or "interrupted"
        made = [made_of(trial) for trial in trials if trial["candidate"]["parents"] and trial["purpose"] == "search"
                and ", without " not in trial["candidate"]["title"]]  # a winner's parts are no applications
        rows.append({"kernel": name, "why": "" if made else why or "nothing is offered", "ended": ended, "candidates": made, "winner": parts})
    return rows


def same_name(one, other):
    return re.sub(r"\s", "", one).endswith(re.sub(r"\s", "", other))


def made_of(trial):
    verdict = "NotLaunched" if trial["verdict"] == "RunFailed" and NOT_LAUNCHED.search(trial["reason"]) else trial["verdict"]
    return {"technique": trial["candidate"]["technique"], "title": trial["candidate"]["title"], "verdict": verdict,
            "check": trial["check"], "reason": (trial["reason"].splitlines() or [""])[0],
            "derived": sum(check["check"] in DERIVED and check["state"] in ("passed", "failed") for check in trial["checks"]),
            "speedup": trial["speedup"] and [trial["speedup"]["low"], trial["speedup"]["estimate"]]}


def take(options, state, begun):
    """The next turn: a program and at most four of its kernels, the first in the order that may be needed; none if nothing is."""
    decided = {(row["program"], kernel["kernel"]): kernel for row in state["rows"] for kernel in row["kernels"]}
    wanted = (options.draw or len(state["order"])) - sum(not kernel["why"] for kernel in decided.values()) - len(begun)
    entries = [entry for entry in state["order"] if (entry[0], entry[1]) not in decided and (entry[0], entry[1]) not in begun]
    entries = [entry for entry in entries[:max(0, wanted)] if entry[0] == entries[0][0]][:A_TURN]
    begun.update((entry[0], entry[1]) for entry in entries)
    return entries


def judge_all(options, state, work):
    """Judges until enough kernels are judged or the time is over."""
    programs, begun, turn = {}, set(), threading.Lock()
    sources = {folder.name: folder.resolve() for folder in options.folders}

    def judge_next(worker):
        gpu = ["env", f"CUDA_VISIBLE_DEVICES={worker % options.gpus}"] if options.device == "cuda" else []
        while time.monotonic() < options.end:
            with turn:
                entries = take(options, state, begun)
                if not entries and not begun:
                    return
                name = entries[0][0] if entries else ""
                if entries and name not in programs:
                    programs[name] = Program(options, sources[name], work)
            if not entries:  # those that are being judged may fail
                time.sleep(0.2)
                continue
            began = time.monotonic()
            why = programs[name].why_not(gpu)
            folder = work / f"turn-{worker}" / name
            if not why:
                strangers.run(["sh", "-c", 'rm -rf "$1" && mkdir -p "$1" && cp -a "$0/." "$1"', programs[name].folder, folder], work, 60)
            kernels = ([{"kernel": entry[1], "why": why, "ended": "", "candidates": [], "winner": []} for entry in entries] if why
                       else judge(options, programs[name], [entry[1:] for entry in entries], folder, gpu))
            with turn:
                state["rows"].append({"program": name, "seconds": time.monotonic() - began, "kernels": kernels})
                begun.difference_update((entry[0], entry[1]) for entry in entries)
                save(options, state)
                print(f"{name}: {time.monotonic() - began:.0f} s: " + "; ".join(
                    f"{each['kernel']}: {each['why'] or len(each['candidates'])}" for each in kernels), file=sys.stderr, flush=True)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for worker in [pool.submit(judge_next, index) for index in range(options.jobs)]:
            worker.result()


def save(options, state):
    if options.json:
        options.json.with_suffix(".new").write_text(json.dumps(state))
        options.json.with_suffix(".new").replace(options.json)


def draw(options, work):
    """All kernels as [program, expression, symbol, file], in the order of the seed."""
    options.bin = pathlib.Path(options.kopt).parent
    folders = sorted(folder.resolve() for folder in options.folders)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        entries = [entry for found in pool.map(lambda each: rewrites.kernels_of(options, each, work / "draw" / each.name), folders)
                   for entry in found]
    random.Random(options.seed).shuffle(entries)
    return [[folder.name, spec["expression"], spec["symbol"], os.path.relpath(kernel["unit"], folder)]
            for folder, _, kernel, spec in entries]


def print_tables(options, state):
    """True if a candidate was wrong."""
    kernels = [(row["program"], kernel) for row in state["rows"] for kernel in row["kernels"]]
    judged = [(program, kernel) for program, kernel in kernels if not kernel["why"]]
    made = [(f"{program}/{kernel['kernel']}", each) for program, kernel in judged for each in kernel["candidates"]]
    print("| rewrite | kernels | candidates | on derived launches | right | faster | kernels faster | in a winner | refused | wrong | not built |\n"
          f"|{'---|' * 11}")
    for technique in sorted({each["technique"] for _, each in made}):
        mine = [(kernel, each) for kernel, each in made if each["technique"] == technique]
        verdicts = collections.Counter(each["verdict"] for _, each in mine)
        faster = [kernel for kernel, each in mine if each["speedup"] and each["speedup"][0] > 1.02 and each["verdict"] not in REFUSED]
        winners = sum(technique in kernel["winner"] for _, kernel in judged)
        refused, wrong = (sum(verdicts[verdict] for verdict in each) for each in (REFUSED - WRONG, WRONG))
        print(f"| {technique} | {len({kernel for kernel, _ in mine})} | {len(mine)} | {sum(each['derived'] > 0 for _, each in mine)} "
              f"| {len(mine) - refused - wrong - verdicts['BuildFailed']} | {len(faster)} | {len(set(faster))} "
              f"| {winners if options.search else ''} | {refused} | {wrong} | {verdicts['BuildFailed']} |")
    print()
    for kernel, each in made:
        if each["verdict"] in REFUSED | {"BuildFailed"}:
            print(f"{'!' if each['verdict'] in WRONG else ' '} {each['verdict']} {each['check']}: {kernel}: {each['title']}: {each['reason'][:300]}")
    for program, kernel in judged:
        if kernel["ended"]:
            print(f"  not to the end: {program}/{kernel['kernel']}: {kernel['ended']}")
    for program, kernel in kernels:
        if kernel["why"]:
            print(f"  not judged: {program}/{kernel['kernel']}: {kernel['why']}")
    wrong = sum(each["verdict"] in WRONG for _, each in made)
    print(f"\n{len(judged)} kernels of {len({program for program, _ in judged})} programs judged, {len(kernels) - len(judged)} passed over, "
          f"of {len(state['order'])}, seed {options.seed}; {len(made)} candidates, {wrong} of them wrong; "
          f"{state.get('machine', 'nothing was judged')}")
    return wrong > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--kopt", required=True)
    parser.add_argument("--kopt-option", action="append", default=[], help="another option of kopt tune")
    parser.add_argument("--device", choices=["cuda", "emulated"], default="cuda")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--include", action="append", default=["include"], help="folder beside the programs (default include)")
    parser.add_argument("--use-built", action="store_true", help="do not build what is built as 'main' already")
    parser.add_argument("--draw", type=int, help="kernels that are to be judged; all if left out")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=4, help="turns at a time, on the GPUs in turn")
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--build-jobs", type=int, help="compilers of each turn (default: the CPUs, divided)")
    parser.add_argument("--own-seconds", type=float, default=20, help="the most that a program may run by itself")
    parser.add_argument("--timeout", type=float, default=60, help="seconds for one kernel; a turn has one more for its program")
    parser.add_argument("--within", type=float, default=float("inf"), help="seconds; no turn is begun after them")
    parser.add_argument("--json", type=pathlib.Path, help="file with what was decided, read and written")
    parser.add_argument("--list", action="store_true", help="only draw, and write --json")
    parser.add_argument("--search", action="store_true", help="search, and confirm wins")
    options = parser.parse_args()
    options.kopt = str(pathlib.Path(options.kopt).resolve())
    options.end = time.monotonic() + options.within
    options.build_jobs = options.build_jobs or max(1, os.cpu_count() // options.jobs)
    state = json.loads(options.json.read_text()) if options.json and options.json.exists() else {}
    with tempfile.TemporaryDirectory(prefix="kopt-applications-") as name:
        state.setdefault("order", state.get("order") or draw(options, pathlib.Path(name)))
        state.setdefault("rows", [])
        save(options, state)
        if options.list:
            print(f"{len(state['order'])} kernels of {len({entry[0] for entry in state['order']})} programs")
            return 0
        if options.within > 0:
            cpus = f", {os.cpu_count()} CPUs" if options.device == "cuda" else ""
            state["machine"] = judge_cases.describe_machine(options.device).replace("\n", "; ") + cpus
            judge_all(options, state, pathlib.Path(name))
    return 1 if print_tables(options, state) else 0


if __name__ == "__main__":
    sys.exit(main())
