#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a part of a model's task is worth: recorded asks, asked again with and without it.

    frozen_points.py --kopt KOPT --work DIR --point PROGRAM:RUN:ASK... [--without hot-lines --without tools ...] [--samples 8] [--model MODEL]
    frozen_points.py --work DIR --point PROGRAM:RUN:ASK... [--without ...] [--samples 8] --table

DIR is that of model_seat.py, with a run that asked its model. Each point is asked --samples times as it was, and as often without each
--without (sections of the prompt, comma-separated, or `tools`); the candidates of one turn are judged. With a folder as the model (the
default) a first call writes the requests, and a second one takes the replies. --table prints the mean log gain over the version that
the model was asked to improve (0 where nothing handed in was right and faster) with its 95 % interval over the samples (bootstrap, seed 1), and
the difference to the whole task.
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


def name_of(run, ask, without, sample):
    """As FrozenPoint::name() has it."""
    return f"{run}-at-{ask}{'-without-' + '-'.join(sorted(without)) if without else ''}-{sample}"


def ask_again(options, program, run, ask, without, sample):
    seat = json.loads(program.kept.read_text())
    is_begun = (program.folder / "kopt.out" / name_of(run, ask, without, sample)).exists()
    command = [options.kopt, "tune", *program.files, "--kernel", seat["kernel"], "--run", " ".join(program.command), "--model", options.model,
               "--at", f"{run}:{ask}:{sample}", *(["--without", ",".join(without)] if without else []), "--roof", "ignore",
               "--budget-seconds", options.budget_seconds, "--device", options.device, "--json", *(["--resume"] if is_begun else []),
               "--", *program.flags]
    done, _ = strangers.run(command, program.folder, options.timeout)
    return done.returncode


def log_gain(program, kopt, run, ask, without, sample):
    """Of the best candidate of the turn over what it was made from; nothing if the run is not there."""
    done, _ = strangers.run([kopt, "report", "--json", "--run-id", name_of(run, ask, without, sample)], program.folder, 60)
    if done.returncode:
        return None
    trials = json.loads(done.stdout)["results"][0]["trials"]
    speed = {trial["candidate_hash"]: (trial.get("speedup") or {}).get("estimate", 1.0) for trial in trials}
    asked = [event["what"]["ask"] for event in json.loads(done.stdout)["results"][0]["decisions"] if "ask" in event["what"]]
    parent = next(each["parents"][0] for each in asked if each["id"] == ask)
    gains = [math.log(speed[trial["candidate_hash"]] / speed[parent]) for trial in trials
             if trial["candidate"]["proposer"] == "llm" and trial["candidate"]["parents"] == [parent] and trial["verdict"] == "Faster"]
    return max([0.0, *gains])


def interval(values, draw=random.Random(1)):
    means = sorted(statistics.fmean(draw.choices(values, k=len(values))) for _ in range(2000))
    return means[50], means[1949]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kopt", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--sources", type=pathlib.Path, required=True, help="folder of the programs")
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
    variants = [[], *([part for part in each.split(",")] for each in options.without)]
    gains = {tuple(variant): [] for variant in variants}
    for point in options.point:
        name, run, ask = point.rsplit(":", 2)
        program = model_seat.Seated(options, options.sources / name)
        if not options.table:
            program.build()
        for variant in variants:
            for sample in range(1, options.samples + 1):
                if not options.table:
                    code = ask_again(options, program, run, int(ask), variant, sample)
                    print(f"{name_of(run, ask, variant, sample)}: {'waits for its reply' if code == 7 else code}", flush=True)
                else:
                    gains[tuple(variant)].append(log_gain(program, options.kopt, run, int(ask), variant, sample))
    if options.table:
        whole = gains[()]
        for variant, values in gains.items():
            known = [value for value in values if value is not None]
            pairs = [full - less for full, less in zip(whole, values) if full is not None and less is not None]
            if not known or not pairs:
                sys.exit(f"nothing was judged without {', '.join(variant) or 'anything'}")
            low, high = interval(known)
            line = f"{'without ' + ', '.join(variant) if variant else 'whole'}: mean log gain {statistics.fmean(known):.3f} [{low:.3f}, {high:.3f}], n = {len(known)}"
            if variant:
                low, high = interval(pairs)
                line += f"; it is worth {statistics.fmean(pairs):.3f} [{low:.3f}, {high:.3f}]"
            print(line)


if __name__ == "__main__":
    main()
