#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a model adds: programs that nobody prepared, with a model in a folder.

    model_seat.py --kopt KOPT --work DIR FOLDER... [--budget-seconds 60] [--timeout 300] [--within SECONDS]
    model_seat.py --work DIR --table [--alone OTHER]

Each folder is one program as strangers.py takes them; its kernel with most of the time is tuned with `--model folder:requests`.
The first session searches without the model and ends with a request. Whoever sits in the seat reads DIR/PROGRAM/requests/*.request.md
and writes the reply beside it; the next session judges it, and asks again. Everything that travels is in DIR: sources, .kopt, requests.
Sessions of one program are kept in DIR/PROGRAM/seat.json: what was confirmed, alone and in the program, and each candidate of the model with
what it expected of counters and what was measured. --table prints them; with --alone, beside them the first sessions of another such folder, which
had as long without a model. For several GPUs, call it once for each with other folders.
"""
import argparse
import json
import math
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

import record_trials
import strangers


class Seated(strangers.Program):
    """One program in a folder that stays."""

    def __init__(self, options, source):
        self.options, self.source, self.folder, self.figure = options, source, options.work / source.name, 1.0
        if not self.folder.exists():
            subprocess.run(["cp", "-a", source, self.folder], check=True)
        self.files = sorted(file.name for file in self.folder.glob("*.cu"))
        self.flags = ["-std=c++17", "-O3", f"-arch={options.arch}", "-I.", f"-I{(source.parent / 'include').resolve()}"]
        self.command = ["./main", *strangers.replay.arguments_of(self.folder)]
        self.kept = self.folder / "seat.json"

    def session(self):
        seat = json.loads(self.kept.read_text()) if self.kept.exists() else {"kernel": "", "sessions": []}
        if why := self.why_not():
            seat["problem"] = why
        else:
            seat["kernel"] = seat["kernel"] or record_trials.heaviest(self)
            seat["sessions"].append(self.tuned(seat["kernel"], seat["sessions"]))
            seat["candidates"] = [each for run in seat["sessions"][-1].get("runs", []) for each in self.candidates(run)]
        self.kept.write_text(json.dumps(seat, indent=1))
        return seat

    def tuned(self, kernel, sessions):
        options = self.options
        command = [options.kopt, "tune", *self.files, "--kernel", kernel, "--run", " ".join(self.command), "--model", "folder:requests",
                   "--budget-seconds", options.budget_seconds, "--json", "--device", options.device, "--log-file", "seat.log",
                   *(["--resume"] if sessions else []), *options.kopt_option, "--", *self.flags]
        done, seconds = strangers.run(command, self.folder, options.timeout)
        (self.folder / "seat.err").write_text(done.stderr)
        try:
            answer = json.loads(done.stdout)
        except json.JSONDecodeError:
            return {"seconds": seconds, "exit_code": done.returncode, "error": strangers.replay.last_words(done)}
        result = (answer.get("results") or [{}])[0]
        wins = ((answer.get("details") or {}).get("session") or {}).get("wins") or [{}]
        return {"seconds": round(seconds, 1), "exit_code": done.returncode, "judged": result.get("judged"), "stop": result.get("stop"),
                "run": result.get("run"), "runs": [each["run"] for each in answer.get("results") or [] if each.get("run")],
                "error": (answer.get("error") or result.get("error") or {}).get("what"),
                "title": (result.get("winner") or {}).get("title"), "proposer": (result.get("winner") or {}).get("proposer"),
                "state": wins[0].get("state"), "isolated": wins[0].get("isolated"),
                "program": (wins[0].get("program") or {}).get("speedup")}

    def candidates(self, run):
        """What the model handed in, in a run, with what it expected and what was measured."""
        done, _ = strangers.run([self.options.kopt, "report", "--run-id", run, "--json"], self.folder, 120)
        runs = json.loads(done.stdout)["results"] if done.returncode == 0 else []
        if not runs:
            return []
        trials = [trial for trial in runs[0]["trials"] if trial["purpose"] == "search"]
        counters = {trial["candidate_hash"]: trial["counters"] for trial in trials}
        found = []
        for trial in trials:
            candidate = trial["candidate"]
            if candidate["proposer"] != "llm" or candidate["expects"] is None:  # the latter: what a search left out of one
                continue
            parent = counters.get((candidate["parents"] or [""])[0], {})
            expects = [{**each, "measured": trial["counters"][each["metric"]] / parent[each["metric"]]
                        if parent.get(each["metric"]) and each["metric"] in trial["counters"] else None}
                       for each in candidate.get("expects") or []]
            found.append({"title": candidate["title"], "verdict": trial["verdict"], "reason": trial["reason"][:200],
                          "speedup": trial.get("speedup"), "expects": expects})
        return found


def best(session):
    """How much faster the kernel is in its program, after a session; 1 where nothing was confirmed."""
    chosen = session.get("program") or session.get("isolated")
    return chosen["estimate"] if chosen and session.get("state") == "confirmed" else 1.0


def shown(session):
    figure = session.get("program") or session.get("isolated")
    if session.get("error"):
        return session["error"][:80]
    return f"{figure['estimate']:.3f}x [{figure['low']:.3f}, {figure['high']:.3f}]" if figure and session.get("state") == "confirmed" else "-"


def table(work, alone):
    """The best without a model is that of the first session, and of the first one in `alone`, which had more time."""
    rows = []
    for kept in sorted(work.glob("*/seat.json")):
        seat = json.loads(kept.read_text())
        sessions, candidates = seat["sessions"], seat.get("candidates", [])
        if not sessions:
            print(f"| {kept.parent.name} | {seat.get('problem')} |")
            continue
        longer = []
        if alone and (alone / kept.parent.name / "seat.json").exists():
            longer = json.loads((alone / kept.parent.name / "seat.json").read_text())["sessions"][:1]
        right = sum(each["verdict"] in ("Faster", "Same", "Slower", "Ambiguous", "Duplicate") for each in candidates)
        rows.append((max(map(best, sessions[:1] + longer)), max(map(best, sessions + longer))))
        print(f"| {kept.parent.name} | {seat['kernel']} | {' | '.join(shown(each) for each in sessions)} | "
              f"{''.join(f'alone for longer {shown(each)} | ' for each in longer)}"
              f"{len(candidates)} judged, {right} right |")
        for each in candidates:
            speedup = f"{each['speedup']['estimate']:.3f}x" if each["speedup"] else ""
            expects = "; ".join(f"{e['metric'][:40]} x{e['factor']:.2g}, measured {'-' if e['measured'] is None else format(e['measured'], '.2g')}"
                                for e in each["expects"])
            print(f"    {each['verdict']} {speedup} {each['title']}{' (' + expects + ')' if expects else ''}")
    if rows:
        mean = lambda values: math.exp(statistics.fmean(map(math.log, values)))
        print(f"\ngeometric mean over {len(rows)}: {mean([last for _, last in rows]):.3f}x over the original, "
              f"{mean([last / first for first, last in rows]):.3f}x over the best that was found without a model")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    parser.add_argument("--kopt")
    parser.add_argument("--kopt-option", action="append", default=[])
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--alone", type=pathlib.Path)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--budget-seconds", type=float, default=60)
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--within", type=float, default=math.inf, help="no program is begun after so many seconds")
    options = parser.parse_args()
    options.use_built = False
    options.work = options.work.resolve()
    if options.table:
        table(options.work, options.alone)
        return
    options.kopt = shutil.which(options.kopt) or sys.exit(f"there is no program {options.kopt}")
    options.work.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    for folder in options.folders:
        if time.monotonic() - start > options.within:
            print(f"{folder.name} was not begun")
            continue
        seat = Seated(options, folder.resolve()).session()
        last = seat["sessions"][-1] if seat["sessions"] else {"error": seat.get("problem")}
        print(f"{folder.name}: {seat['kernel']}: {shown(last)}, {last.get('judged')} judged, {last.get('seconds')} s, {last.get('stop')}", flush=True)


if __name__ == "__main__":
    main()
