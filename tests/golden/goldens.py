#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tells whether this build still derives, renders and decides as the one that wrote the goldens.

    goldens.py launches [BASE...]   the launches derived from each adversarial base, declared and as if captured, and the slice,
                                    the patch and the launch of each candidate; needs the target golden_dump
    goldens.py runs [NAME...]       the trials of whole runs on the emulated device
    goldens.py ... --write          writes what this build gives as the goldens
    goldens.py ... --dump FOLDER    leaves in FOLDER what is compared: give it for two builds and use diff

For launches a line of launches.txt has the number of lines of a base and their hash: where they differ, dump them with this build and
with that of the commit that wrote the line. Exit status 1 where anything differs.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
sys.path.insert(0, str(SOURCE / "tests/adversarial"))
import adversarial

# Each a file that declares its workload; their rewrites and tunables are tried.
RUNS = {name: f"tests/adversarial/bases/{name}.cu"
        for name in ("gemm", "reduce", "rowmax", "smooth", "spmv", "transpose", "jacobi")}
RUNS |= {f"example-{name}": f"examples/{name}/{name}.cu" for name in ("reduction", "stencil", "transpose")}
FLAGS = ["-std=c++17", "-I", str(SOURCE / "runtime/include")]


def launches_of(base, binaries):
    cases = [case for case in adversarial.load() if case.base == base]
    with tempfile.TemporaryDirectory(prefix="kopt-golden-") as folder:
        files = [pathlib.Path(folder) / f"{case.name}.cu" for case in cases]
        for file, case in zip(files, cases):
            file.write_text(case.text)
        command = [binaries.parent / "tests/golden/golden_dump", binaries / "kopt-frontend", folder,
                   SOURCE / f"tests/adversarial/bases/{base}.cu", *files]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{base}: {done.stderr}")
        return done.stdout.replace(folder, "FOLDER")


def run_of(name, binaries):
    """The trials of a run, a line each, and the patch, without what the clock decides."""
    with tempfile.TemporaryDirectory(prefix="kopt-golden-") as folder:
        file = pathlib.Path(folder) / pathlib.Path(RUNS[name]).name
        file.write_text((SOURCE / RUNS[name]).read_text())
        for command in (["tune", file.name, "--device", "emulated", "--trials", "12", "--", *FLAGS], ["report", "--json"]):
            done = subprocess.run([binaries / "kopt", *command], cwd=folder, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"{name}: {done.stderr}")
        run = json.loads(done.stdout)["results"][0]
        lines = [f"stop: {run['stop']}: {run['stop_reason']}"]
        lines += [f"decision: {one['kind']} {one['text']}" for one in run["decisions"] if one["kind"] not in ("judged", "profiled")]
        for trial in run["trials"]:
            of = [trial["candidate"]["title"], trial["verdict"], trial["stage"], trial["check"], trial["reason"]]
            of += [f"{one['check']} {one['state']} {one['detail']}" for one in trial["checks"]]
            of += [f"{one['id']} {one['message']}" for one in trial["findings"]]
            of += [one["what"] for one in trial["assurance"]["gaps"]]
            lines.append("trial: " + " | ".join(of))
        patches = sorted(pathlib.Path(folder, "kopt.out").rglob("*.patch"))
        lines += [f"{patch.relative_to(folder)}: {hashlib.sha256(without_times(patch.read_text()).encode()).hexdigest()[:16]}"
                  for patch in patches]
        return without_times("\n".join(lines).replace(folder, "FOLDER")) + "\n"


def without_times(text):
    text = re.sub(r"^(Date|From|index) .*$", "", text, flags=re.M)
    return re.sub(r"\b[0-9a-f]{16,}\b", "HASH", re.sub(r"\b[\d.]+ s\b", "N s", text))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["launches", "runs"])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path(os.environ.get("KOPT_BIN_DIR", SOURCE / "build/dev/bin")))
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--dump", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    make = launches_of if arguments.what == "launches" else run_of
    names = arguments.names or (sorted({case.base for case in adversarial.load()}) if arguments.what == "launches" else list(RUNS))
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        texts = dict(zip(names, pool.map(lambda name: make(name, arguments.bin), names)))
    if arguments.dump:
        arguments.dump.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (arguments.dump / f"{name}.txt").write_text(text)
    if arguments.what == "launches":
        # Sorted: the order is that of the derivations, which may change.
        found = {name: f"{text.count(chr(10))} {hashlib.sha256(''.join(sorted(text.splitlines(True))).encode()).hexdigest()[:16]}"
                 for name, text in texts.items()}
        file = HERE / "launches.txt"
        known = dict(line.split(" ", 1) for line in file.read_text().splitlines()) if file.exists() else {}
        if arguments.write:
            file.write_text("".join(f"{name} {of}\n" for name, of in sorted({**known, **found}.items())))
    else:
        (HERE / "runs").mkdir(exist_ok=True)
        known = {path.stem: path.read_text() for path in (HERE / "runs").glob("*.txt")}
        found = texts
        if arguments.write:
            for name, text in texts.items():
                (HERE / f"runs/{name}.txt").write_text(text)
    different = [name for name in names if not arguments.write and found[name] != known.get(name)]
    for name in different:
        print(f"{name}: {'differs' if name in known else 'no golden'}")
    print(f"{len(names) - len(different)} of {len(names)} equal" if not arguments.write else f"{len(names)} written")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
