#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts on which kernels of unprepared programs each rewrite of the catalogue is offered, and why not on the others.

    rewrites.py --kopt build/dev/bin/kopt FOLDER... [--draw 150 --seed 1] [--block 256] [--build] [--keep FOLDER]

Each folder is one program as HeCBench has them (.cu files that compile with `-I. -I../include`). --draw takes that many of all
kernels. A kernel is asked about as one launch of 4096 blocks (64 x 64 where it names blockIdx.y), in blocks that its launch site spells
as numbers, or else of --block threads, with 1024 for its whole scalars and 0.5 for the others. --build compiles what each offer writes at the ends of its domain with nvcc, at most four
points an offer, and counts what fails. A row has a rewrite's kernels, its offers and its commonest refusals. The last lines say on how
many kernels at least one rewrite is offered beyond the hints (launch-bounds, unroll, readonly-loads) and other launches of the same code (block-size, grid-size, trim-grid), also without specialise, and how long an answer takes.
"""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

FLAGS = ["-std=c++17", "-O3", "-arch=sm_90", "-I.", "-I../include"]
HINTS = {"launch-bounds", "unroll", "readonly-loads", "block-size", "grid-size", "trim-grid"}  # the last three change the launch alone


def kernels_of(options, folder, out):
    """(folder, slice, spec) for each specialization that the front end extracts."""
    files = sorted(file.name for file in folder.glob("*.cu"))
    done = subprocess.run([options.bin / "kopt-extract", "--json", "--no-proof", "--keep-going", "-o", out, *files, "--", *FLAGS], cwd=folder,
                          capture_output=True, text=True, errors="replace", check=False)
    try:
        kernels = json.loads(done.stdout).get("kernels", [])
    except json.JSONDecodeError:
        return []
    return [(folder, pathlib.Path(spec["slice"]).read_text(), kernel, spec) for kernel in kernels for spec in kernel["specializations"]
            if spec.get("slice")]


def block_of(options, kernel):
    """The numbers of the first launch site's block."""
    for site in kernel.get("launches", []):
        block = site.get("block", [])
        if len(block) == 3 and all(re.fullmatch(r"\d+", str(extent)) for extent in block):
            return [int(extent) for extent in block]
    return [options.block, 1, 1]


def scalars_of(spec):
    literals = {"f32": "0.5f", "f64": "0.5", "bool": "true"}
    scalars = [scalar for param in spec["params"] for scalar in ([param] if param["kind"] == "scalar" else [])]
    return [{"name": scalar["name"], "literal": literals.get(scalar["scalar"], "1024")} for scalar in scalars]


def points_of(offer):
    """At most four points: the ends of each parameter's domain."""
    points = [{}]
    for parameter in offer["parameters"]:
        ends = dict.fromkeys([parameter["values"][0], min(parameter["values"]), max(parameter["values"])])
        points = [{**point, parameter["name"]: value} for point in points for value in ends]
    return points[:4]


def written(text, offer, point):
    made, at, text = b"", 0, text.encode()
    for edit in offer["edits"]:
        new = edit["text"]
        for name, value in point.items():
            new = new.replace("${%s}" % name, str(value))
        made += text[at:edit["begin"]] + new.encode()
        at = edit["end"]
    return made + text[at:]


def ask(options, entry):
    folder, text, kernel, spec = entry
    request = {"source": {"slice": text, "expression": spec["expression"], "kernel": kernel["name"], "flags": FLAGS, "directory": str(folder),
                          "arch": "sm_90"},
               "launches": [{"grid": [64, 64, 1] if "blockIdx.y" in text else [4096, 1, 1], "block": block_of(options, kernel),
                             "shared_bytes": 0, "weight": 1, "scalars": scalars_of(spec)}],
               "techniques": []}
    began = time.monotonic()
    done = subprocess.run([options.bin / "kopt-frontend", "transforms"], input=json.dumps(request), capture_output=True, text=True, errors="replace",
                          check=False)
    seconds = time.monotonic() - began
    name = f"{folder.name}/{spec['expression']}"
    try:
        reply = json.loads(done.stdout)
    except json.JSONDecodeError:
        reply = {"error": {"what": done.stderr[-200:]}}
    if "error" in reply:
        return name, seconds, {"offers": [], "refusals": []}, [f"{name}: {reply['error']['what']}"]
    broken = []
    if options.build:
        for offer in reply["offers"]:
            for point in points_of(offer) if offer["edits"] else []:
                with tempfile.NamedTemporaryFile(suffix=".cu", dir=options.keep) as file:
                    file.write(written(text, offer, point))
                    file.flush()
                    built = subprocess.run(["nvcc", *FLAGS, "-c", "-o", "/dev/null", file.name], cwd=folder, capture_output=True, text=True,
                                           errors="replace", check=False)
                if built.returncode:
                    broken.append(f"{name}: {offer['title']} {point}: {built.stderr.strip()[:300]}")
    return name, seconds, reply, broken


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--kopt", required=True, type=pathlib.Path)
    parser.add_argument("--draw", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--block", type=int, default=256)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--build", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the texts that are built")
    options = parser.parse_args()
    options.bin = options.kopt.resolve().parent
    with tempfile.TemporaryDirectory(prefix="kopt-rewrites-") as work, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        folders = sorted(folder.resolve() for folder in options.folders)
        lists = pool.map(lambda each: kernels_of(options, each, pathlib.Path(work) / each.name), folders)
        entries = [entry for found in lists for entry in found]
        random.Random(options.seed).shuffle(entries)
        answers = list(pool.map(lambda entry: ask(options, entry), entries[:options.draw]))
    offered, offers, refused = collections.Counter(), collections.Counter(), collections.defaultdict(collections.Counter)
    beyond = others = 0
    for _, _, reply, _ in answers:
        techniques = {offer["technique"] for offer in reply["offers"]}
        offered.update(techniques)
        offers.update(offer["technique"] for offer in reply["offers"])
        beyond += bool(techniques - HINTS)
        others += bool(techniques - HINTS - {"specialise"})
        for technique, why in {(refusal["technique"], re.sub(r"'[^']*'", "'…'", refusal["why"])) for refusal in reply["refusals"]}:
            if technique not in techniques:
                refused[technique][why] += 1
    print("| rewrite | kernels | offers | refused on kernels without an offer |\n|---|---|---|---|")
    for technique in sorted(set(offered) | set(refused), key=lambda each: -offered[each]):
        reasons = "; ".join(f"{why} {count}" for why, count in refused[technique].most_common(6))
        print(f"| {technique} | {offered[technique]} | {offers[technique]} | {reasons} |")
    seconds = [answer[1] for answer in answers]
    print(f"\n{len(answers)} of {len(entries)} kernels, seed {options.seed}: a rewrite beyond hints on {beyond} ({100 * beyond / max(1, len(answers)):.0f} %), "
          f"without specialise on {others} ({100 * others / max(1, len(answers)):.0f} %); an "
          f"answer takes {statistics.median(seconds):.2f} s at the median, {max(seconds):.2f} s at most")
    broken = [line for answer in answers for line in answer[3]]
    for line in broken:
        print("broken:", line)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
