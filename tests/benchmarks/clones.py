#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many of other people's kernels get a double-precision clone and mutants, and whether nvcc takes them.

    clones.py [options] FOLDER|FILE...

Takes every specialization that kopt-extract slices out of the .cu files (at most --per-file of each) and whose slice nvcc
compiles to a cubin with the file's flags (see front_end.py for how they are found). For each it asks `kopt-frontend
reference` and `kopt-frontend mutate`. What comes back is compiled by nvcc with the same flags: the clone by itself, mutants
that touch different places together, and one by one only where that fails. The clone of a kernel that the emulated device
takes must be taken by it too. A clone or a mutant that does not compile is a defect, and makes the exit status 1.

Prints Markdown tables and writes everything it saw as JSON lines (--out).
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
import shutil
import subprocess
import sys
import tempfile

from front_end import TOP, candidates, nvcc_flags, project_of, run


def ask(args, command, request):
    try:
        done = subprocess.run([args.frontend, command], input=json.dumps(request), capture_output=True, text=True,
                              errors="replace", timeout=args.timeout)
        return json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return {"error": {"what": f"kopt-frontend {command} did not end within {args.timeout} s"}}
    except ValueError:
        return {"error": {"what": f"kopt-frontend {command} ended with {done.returncode}: {done.stderr[-500:]}"}}


def compiles(args, text, flags, folder):
    """nvcc's errors, or nothing where it makes a cubin of the text."""
    with tempfile.TemporaryDirectory() as scratch:
        source = pathlib.Path(scratch) / "slice.cu"
        source.write_text(text)
        code, stdout, stderr, _ = run([args.nvcc, *nvcc_flags(flags), "-I", str(TOP / "runtime/include"), "-w", "-cubin",
                                       str(source), "-o", str(source.with_suffix(".cubin"))], cwd=folder)
        return "" if code == 0 else (stdout + stderr or "nvcc failed")


def emulates(args, text, expression, flags, folder):
    with tempfile.TemporaryDirectory() as scratch:
        reply = ask(args, "emulate", {"slice": text, "expression": expression, "flags": flags, "directory": str(folder),
                                      "output": f"{scratch}/module.so"})
    return "" if reply.get("ok") else reply.get("log") or str(reply.get("error"))


def apply(text, edits):
    data, done, out = text.encode(errors="surrogateescape"), 0, b""
    for edit in edits:
        out += data[done:edit["begin"]] + edit["text"].encode()
        done = edit["end"]
    return (out + data[done:]).decode(errors="surrogateescape")


def batches(mutants):
    """Mutants that touch different places together."""
    rest = list(mutants)
    while rest:
        batch, taken, later = [], [], []
        for mutant in rest:
            places = [(e["begin"], e["end"]) for e in mutant["edits"]]
            if any(a <= d and c <= b for a, b in places for c, d in taken):
                later.append(mutant)
            else:
                batch.append(mutant)
                taken += places
        yield batch
        rest = later


def check_mutants(args, text, mutants, flags, folder):
    broken = []
    for batch in batches(mutants):
        edits = sorted((e for m in batch for e in m["edits"]), key=lambda e: e["begin"])
        if not compiles(args, apply(text, edits), flags, folder):
            continue
        for mutant in batch:
            log = compiles(args, apply(text, mutant["edits"]), flags, folder)
            if log:
                broken.append({"title": mutant["title"], "operator": mutant["op"], "log": log[:600]})
    return broken


def examine_kernel(args, kernel, specialization, flags, folder):
    text = pathlib.Path(specialization["slice"]).read_text(errors="surrogateescape")
    record = {"kernel": specialization["expression"], "defects": []}
    if compiles(args, text, flags, folder):
        return None
    request = {"slice": text, "kernel": kernel["name"], "expression": specialization["expression"], "flags": flags,
               "directory": str(folder), "arch": ""}
    clone = ask(args, "reference", request)
    if "error" in clone:
        record["defects"].append("reference: " + clone["error"]["what"])
    elif not clone["refusals"]:
        record["clone"] = "made"
        record["notes"] = [note["id"] for note in clone["notes"]]
        log = compiles(args, clone["slice"], flags, folder)
        if log:
            record["defects"].append("the clone does not compile: " + log[:1000])
        if not emulates(args, text, specialization["expression"], flags, folder):
            record["emulated"] = True
            log = emulates(args, clone["slice"], clone["expression"], flags, folder)
            if log:
                record["defects"].append("the emulated device does not take the clone: " + log[:1000])
    else:
        record["clone"] = "refused"
        record["refusals"] = clone["refusals"]

    if args.mutants:
        mutants = ask(args, "mutate", {"source": request, "file": "",
                                        "wanted": {"at_most": args.mutants, "seed": 1, "operators": []}})
        if "error" in mutants:
            record["defects"].append("mutate: " + mutants["error"]["what"])
        else:
            record["found"], record["in_macros"] = mutants["found"], mutants["in_macros"]
            record["mutants"] = [[m["op"], m["kind"], bool(m["may_be_equal"])] for m in mutants["mutations"]]
            record["broken"] = check_mutants(args, text, mutants["mutations"], flags, folder)
            record["defects"] += [f"mutant does not compile: {b['title']}: {b['log']}" for b in record["broken"]]
    return record


def examine(args, source):
    """One record for each kernel of the file, or nothing where no flags fit."""
    for flags, folder in candidates(source, args, []):
        with tempfile.TemporaryDirectory() as out:
            code, stdout, _, _ = run([args.extract, str(source), "--json", "--no-proof", "-o", out, "--", *flags], cwd=folder,
                                     timeout=args.timeout)
            try:
                document = json.loads(stdout)
            except ValueError:
                continue
            records = []
            for kernel in document.get("kernels", []):
                for specialization in kernel["specializations"]:
                    if len(records) < args.per_file and specialization.get("slice"):
                        record = examine_kernel(args, kernel, specialization, flags, folder)
                        if record:
                            record["file"] = str(source)
                            records.append(record)
            if records:
                return records
    return []


def tables(records, roots, files):
    rows = collections.OrderedDict()
    for record in records:
        for name in (project_of(pathlib.Path(record["file"]), roots), "all"):
            row = rows.setdefault(name, collections.Counter())
            row["slices"] += 1
            row[record.get("clone", "failed")] += 1
            row["uncompiled"] += any(d.startswith("the clone does not compile") for d in record["defects"])
            row["emulated"] += record.get("emulated", False)
            row["noted"] += bool(record.get("notes"))
            row["found"] += record.get("found", 0)
            row["macros"] += record.get("in_macros", 0)
            row["mutants"] += len(record.get("mutants", []))
            row["broken"] += len(record.get("broken", []))
    if "all" in rows:
        rows.move_to_end("all")
    print("| project | slices | clones made | of which nvcc takes | originals that the emulated device takes | refused | failed "
          "| mutants found | compiled | of which nvcc takes | places in macros |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for name, row in rows.items():
        print(f"| {name} | {row['slices']} | {row['made']} | {row['made'] - row['uncompiled']} | {row['emulated']} | "
              f"{row['refused']} | {row['failed']} | {row['found']} | {row['mutants']} | {row['mutants'] - row['broken']} | {row['macros']} |")
    print(f"\n{files} files with such kernels.\n")
    reasons, examples = collections.Counter(), {}
    for record in records:
        if record.get("refusals"):
            first = record["refusals"][0]
            reasons[first["id"]] += 1
            examples.setdefault(first["id"], first["message"])
    print("| refused because | kernels | for example |\n|---|---|---|")
    for reason, count in reasons.most_common():
        print(f"| `{reason}` | {count} | {examples[reason][:100]} |")
    operators = collections.Counter(m[0] for r in records for m in r.get("mutants", []))
    print("\n| operator | mutants compiled |\n|---|---|")
    for operator, count in operators.most_common():
        print(f"| `{operator}` | {count} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--extract", default=str(TOP / "build/dev/bin/kopt-extract"))
    parser.add_argument("--frontend", default=str(TOP / "build/dev/bin/kopt-frontend"))
    parser.add_argument("--nvcc", default=shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
    parser.add_argument("--match", default="", help="only files whose path has this regular expression")
    parser.add_argument("--sample", type=int, help="at most so many files, drawn with --seed")
    parser.add_argument("--seed", default="kopt")
    parser.add_argument("--per-file", type=int, default=3, help="at most so many specializations of a file")
    parser.add_argument("--mutants", type=int, default=12, help="mutants to ask for of each kernel; 0: none")
    parser.add_argument("--try", dest="tries", action="append", type=shlex.split, default=[],
                        help="one more set of flags to try where a project says none; may be repeated")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=int, default=300)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("/tmp/kopt-clones.jsonl"))
    args = parser.parse_args()
    args.roots = [f.resolve() for f in args.folders]
    args.tries = [[]] + args.tries

    sources = []
    for root in args.roots:
        sources += [root] if root.is_file() else sorted(root.rglob("*.cu"))
    sources = [s.resolve() for s in sources if re.search(args.match, str(s))]
    if args.sample and args.sample < len(sources):
        sources = sorted(random.Random(args.seed).sample(sources, args.sample))
    if not sources:
        sys.exit("clones.py: no .cu file there")

    records, files = [], 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool, open(args.out, "w") as stream:
        for done, found in enumerate(pool.map(lambda source: examine(args, source), sources)):
            files += bool(found)
            for record in found:
                stream.write(json.dumps(record) + "\n")
                for defect in record["defects"]:
                    print(f"{record['file']}: {record['kernel']}: {defect}", file=sys.stderr)
            stream.flush()
            records += found
            print(f"[{done + 1}/{len(sources)}] {sources[done]}: "
                  f"{dict(collections.Counter(r.get('clone', 'failed') for r in found))}", file=sys.stderr, flush=True)
    tables(records, args.roots, files)
    return 1 if any(record["defects"] for record in records) else 0


if __name__ == "__main__":
    sys.exit(main())
