#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a part of a model's task is worth: recorded asks, asked again with and without it.

    frozen_points.py --kopt KOPT --work DIR --sources DIR --point PROGRAM... [--without rules --without tools ...] [--samples 8] [--model MODEL]
    frozen_points.py --kopt KOPT --work DIR --sources DIR --point PROGRAM... --table
    frozen_points.py --work tests/benchmarks/frozen --point logprob-cuda --point layout-cuda --point moe-sum-cuda --table

DIR is that of model_seat.py. Each point is the first ask of the program's last run, or PROGRAM:RUN:ASK. One run asks --samples times what
was asked, and as often without each --without (sections of the prompt, comma-separated, or `tools`), and judges the candidates of all these
turns in one session; turns hear nothing of each other. With a folder as the model (the default) a first call writes the requests, and
later ones take the replies: call it with the same arguments until no point waits. --table prints for each variant what was handed in, and the mean
log gain of a turn's best candidate over the version that the model was asked to improve (0 where nothing handed in was right and faster), and what
the part is worth, the difference to the whole task, each with its 95 % interval (bootstrap of the samples of each point, seed 1). It keeps what it read in
DIR/PROGRAM/frozen.json, from which it prints the same again.
"""
import argparse
import json
import math
import pathlib
import random
import statistics
import sys

import model_seat
import strangers

RIGHT = ("Faster", "Same", "Slower", "Ambiguous", "Duplicate")


def report(program, kopt, run=None):
    done, _ = strangers.run([kopt, "report", "--json", *(["--run-id", run] if run else [])], program.folder, 120)
    return json.loads(done.stdout)["results"][0]


def asks_of(run):
    return [event["what"]["ask"] for event in run["decisions"] if "ask" in event["what"] and event["what"]["ask"]["role"] == "llm"]


class Point:
    def __init__(self, options, text):
        name, *recorded = text.split(":")
        self.options, self.program = options, model_seat.Seated(options, options.sources / name)
        self.kept = self.program.folder / "frozen.json"
        state = json.loads(self.kept.read_text()) if self.kept.exists() else {}
        self.variants = state.get("variants") or [[], *(each.split(",") for each in options.without)]
        self.samples = state.get("samples") or options.samples
        self.frozen, self.waits, self.known = state.get("frozen"), state.get("waits", True), state.get("turns")
        self.of, self.ask = state.get("of") or recorded or (None, None)

    def keep(self, **more):
        self.kept.write_text(json.dumps({"of": [self.of, self.ask], "frozen": self.frozen, "waits": self.waits,
                                         "variants": self.variants, "samples": self.samples, **more}) + "\n")

    def ask_again(self):
        options, program = self.options, self.program
        if why := program.why_not():
            return why
        if not self.of:
            run = report(program, options.kopt)
            self.of, self.ask = run["name"], asks_of(run)[0]["id"]
        seat = json.loads(program.kept.read_text())
        command = [options.kopt, "tune", *program.files, "--kernel", seat["kernel"], "--run", " ".join(program.command), "--model", options.model,
                   "--at", f"{self.of}:{self.ask}", "--samples", self.samples, *(f"--without={','.join(each)}" for each in self.variants[1:]),
                   "--roof", "ignore", "--budget-seconds", options.budget_seconds, "--device", options.device, "--json",
                   "--log-file", "frozen.log", *(["--resume"] if self.frozen else []), "--", *program.flags]
        done, seconds = strangers.run(command, program.folder, options.timeout)
        (program.folder / "frozen.err").write_text(done.stderr)
        try:
            # Other specializations of the kernel have no such run.
            result = next(each for each in json.loads(done.stdout)["results"] if (each.get("run") or "").startswith(f"{self.of}-at-"))
        except (json.JSONDecodeError, KeyError, StopIteration):
            return strangers.replay.last_words(done)
        self.frozen, self.waits = result["run"], done.returncode == 7
        self.keep()
        return f"{result['judged']} judged, {result['stop']}, {seconds:.0f} s"

    def turns(self):
        """(variant, log gain of the best, verdicts of what was handed in) of each turn, by sample."""
        if self.known is None:
            self.known = list(self.judged_turns())
            self.keep(turns=self.known)
        return self.known

    def judged_turns(self):
        run = report(self.program, self.options.kopt, self.frozen)
        trials = {trial["candidate_hash"]: trial for trial in run["trials"] if trial["purpose"] == "search"}
        speed = lambda trial: (trial.get("speedup") or {}).get("estimate") or 1.0
        asks = asks_of(run)
        begun = next(i for i, each in enumerate(asks) if each["id"] == int(self.ask))
        parent = speed(trials[asks[begun]["parents"][0]])
        judged = {each["id"]: [] for each in asks[begun:]}
        for event in run["decisions"]:
            if (what := event["what"].get("judged")) and what["ask"] in judged:
                trial = trials[what["candidate"]]
                twin = trials.get(trial.get("duplicate_of") or "", trial)
                judged[what["ask"]].append((trial["verdict"], math.log(speed(twin) / parent) if twin["verdict"] == "Faster" else 0.0))
        for i, found in enumerate(judged.values()):
            yield i % len(self.variants), round(max([0.0, *(gain for _, gain in found)]), 4), [verdict for verdict, _ in found]


def interval(strata, statistic, draw):
    """Of a mean over samples, which are drawn again within each point."""
    means = sorted(statistic([draw.choices(stratum, k=len(stratum)) for stratum in strata]) for _ in range(2000))
    return means[50], means[1949]


def table(points):
    draw = random.Random(1)
    variants = points[0].variants
    samples = [[[] for _ in points] for _ in variants]  # of each variant and point
    for at, point in enumerate(points):
        for variant, gain, verdicts in point.turns():
            samples[variant][at].append((gain, verdicts))
    mean = lambda strata: statistics.fmean(value for stratum in strata for value in stratum)
    print("| what the model was given | turns | handed in | right | faster | mean log gain | it is worth |\n| --- | --- | --- | --- | --- | --- | --- |")
    for variant, strata in zip(variants, samples):
        verdicts = [verdict for stratum in strata for _, found in stratum for verdict in found]
        gains = [[gain for gain, _ in stratum] for stratum in strata]
        low, high = interval(gains, mean, draw)
        pairs = [[full[0] - less[0] for full, less in zip(whole, part)] for whole, part in zip(samples[0], strata)]
        worth_low, worth_high = interval(pairs, mean, draw)
        print(f"| {'without ' + ', '.join(variant) if variant else 'all of it'} | {sum(map(len, strata))} | {len(verdicts)} | "
              f"{sum(each in RIGHT for each in verdicts)} | {sum(each == 'Faster' for each in verdicts)} | {mean(gains):.3f} [{low:.3f}, {high:.3f}] | "
              + (f"{mean(pairs):.3f} [{worth_low:.3f}, {worth_high:.3f}] |" if variant else "|"))
    for at, point in enumerate(points):
        print(f"{point.program.source.name} ({point.of}, ask {point.ask}): "
              + ", ".join(f"{statistics.fmean(gain for gain, _ in strata[at]):.3f}" for strata in samples))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kopt")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--sources", type=pathlib.Path, default=pathlib.Path(), help="folder of the programs")
    parser.add_argument("--point", action="append", required=True)
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--samples", type=int, default=8)
    parser.add_argument("--model", default="folder:requests")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--budget-seconds", type=float, default=60)
    parser.add_argument("--timeout", type=float, default=200)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    options.use_built, options.work = False, options.work.resolve()
    points = [Point(options, each) for each in options.point]
    if options.table:
        if unasked := [each.program.source.name for each in points if not each.frozen]:
            sys.exit(f"not asked yet: {', '.join(unasked)}")
        return table(points)
    for point in points:
        if point.waits:
            print(f"{point.program.source.name}: {point.ask_again()}", flush=True)


if __name__ == "__main__":
    main()
