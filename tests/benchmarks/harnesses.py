#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the harnesses of kernels that nobody prepared, and prints those that do not build.

    harnesses.py --kopt-extract build/dev/bin/kopt-extract FOLDER... [--draw 100 --seed 1] [--jobs 2] [--run]
        [--include DIR] [--arch sm_90] [--json FILE] [--keep FOLDER]

Each folder is one program, as for strangers.py. kopt-extract writes a harness for each of its kernels; --draw takes that many of
all of them. Each is built with its own build.sh. With --run, on a machine with a GPU, each is also run: as it is, and with a
kernel that does nothing, which it has to notice. The exit code is 1 if one does not build, fails or notices nothing.
"""

import argparse
import concurrent.futures
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

SECONDS = 120


def run(command, folder):
    try:
        return subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, errors="replace",
                              timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"error: no end within {SECONDS} s")


def extract(options, source, target):
    """Returns the folders of the harnesses of one program."""
    files = sorted(file.name for file in source.glob("*.cu"))
    flags = ["-std=c++17", "-O3", f"-arch={options.arch}", f"-I{source}",
             *[f"-I{(source.parent / include).resolve()}" for include in options.include]]
    done = run([options.kopt_extract, *files, "-o", target, "--keep-going", "--", *flags], source)
    if done.returncode != 0:
        print(f"not extracted: {source.name}: {first_error(done)}")
    return sorted(file.parent for file in target.glob("*/harness.cu"))


def first_error(done):
    lines = (done.stdout + done.stderr).strip().splitlines()
    return next((line for line in lines if "error" in line), lines[-1] if lines else f"exit code {done.returncode}")


def without_body(text):
    """The harness with a kernel that returns at once."""
    section = text.index("// ==== harness section")
    kernel = re.search(r"(\w+)(?:<[^;]*?>)?<<<", text[section:])
    if not kernel:
        return None
    name = re.escape(kernel.group(1))
    defined = list(re.finditer(rf"\b{name}\s*\([^;{{}}]*\)\s*\{{", text[:section]))
    if not defined:
        return None
    at = defined[-1].end()
    return text[:at] + " return;" + text[at:]


def judge(options, folder):
    built = run(["sh", "build.sh"], folder)
    row = {"harness": f"{folder.parent.name}/{folder.name}", "builds": built.returncode == 0}
    if not row["builds"]:
        return {**row, "why": first_error(built)}
    if not options.run:
        return row
    ran = run(["./harness"], folder)
    row["runs"] = ran.returncode == 0
    if not row["runs"]:
        return {**row, "why": first_error(ran)}
    text = without_body((folder / "harness.cu").read_text())
    if text is None:
        return {**row, "notices": None, "why": "its kernel is not found in the text"}
    wrong = folder / "wrong"
    wrong.mkdir(exist_ok=True)
    (wrong / "harness.cu").write_text(text)
    (wrong / "build.sh").write_text((folder / "build.sh").read_text())
    for beside in folder.iterdir():
        if beside.is_file() and beside.name not in ("harness.cu", "build.sh", "harness"):
            (wrong / beside.name).symlink_to(beside)
    if run(["sh", "build.sh"], wrong).returncode != 0:
        return {**row, "notices": None, "why": "with an empty kernel it does not build"}
    row["notices"] = run(["./harness"], wrong).returncode != 0
    return row if row["notices"] else {**row, "why": "it does not notice a kernel that does nothing"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--kopt-extract", required=True, type=pathlib.Path)
    parser.add_argument("--draw", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--include", action="append", default=["include"], help="relative to a program's folder")
    parser.add_argument("--run", action="store_true", help="also run them: needs a GPU")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the harnesses; default: a temporary one")
    options = parser.parse_args()
    options.kopt_extract = options.kopt_extract.resolve()
    with tempfile.TemporaryDirectory(prefix="kopt-harnesses-") as temporary:
        work = options.keep.resolve() if options.keep else pathlib.Path(temporary)
        folders = sorted({folder.resolve() for folder in options.folders if folder.is_dir()})
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            found = pool.map(lambda source: extract(options, source, work / source.name), folders)
            all_of = [folder for some in found for folder in some]
            drawn = random.Random(options.seed).sample(all_of, min(options.draw, len(all_of)))
            rows = list(pool.map(lambda folder: judge(options, folder), drawn))
        bad = [row for row in rows if "why" in row]
        for row in bad:
            print(f"{row['harness']}: {row['why']}")
        counts = {key: sum(bool(row.get(key)) for row in rows) for key in ("builds", "runs", "notices")}
        print(f"of {len(all_of)} harnesses {len(rows)} were drawn (seed {options.seed}): {counts['builds']} build"
              + (f", {counts['runs']} run, {counts['notices']} notice a kernel that does nothing" if options.run else ""))
        if options.json:
            options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
