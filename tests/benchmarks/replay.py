#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures and replays the kernels of whole programs.

    replay.py --kopt build/dev/bin/kopt FOLDER... [--arch sm_90] [--jobs 1] [--json FILE] [--timeout 300]
        [--max-bytes 2G] [--within SECONDS]

Each folder is one program as HeCBench has them: .cu files that nvcc links into one executable, and a Makefile whose `run` target
says with which arguments it is run. Builds it, observes it with every kernel, replays each kernel that one of its files
defines, and prints a table: launches that were replayed, those that gave what the program had bit by bit, those that vary from run
to run by themselves, those that differ or failed and why, and the size of the snapshots in memory and on the disk.
"""

import argparse
import concurrent.futures
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time


def run(command, folder, options):
    timeout = min(options.timeout, options.end - time.monotonic())
    try:
        if timeout <= 0:
            raise subprocess.TimeoutExpired(command, 0)
        return subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"error: no end after {max(0, timeout):.0f} s: {command[0]}")


def last_words(done):
    """The error and its hint in one line."""
    lines = done.stderr.strip().splitlines()
    first = next((i for i, line in enumerate(lines) if "error:" in line), max(0, len(lines) - 1))
    return " ".join(line.strip() for line in lines[first:first + 2])[:240]


def arguments_of(folder):
    """What the Makefile's run target gives the program."""
    makefile = next((folder / name for name in ("Makefile", "makefile") if (folder / name).exists()), None)
    if not makefile:
        return []
    match = re.search(r"^run:.*\n((?:\t.*\n?)+)", makefile.read_text(errors="replace"), re.MULTILINE)
    for line in match.group(1).splitlines() if match else []:
        words = shlex.split(line.replace("$(LAUNCHER)", "").replace("$(program)", "./main").strip().lstrip("@-"))
        if words and words[0].startswith("./"):
            return [word for word in words[1:] if not word.startswith("$")]
    return []


def symbols_of(options, folder, file, flags):
    done = run([options.kopt, "list", file, "--json", "--", *flags], folder, options)
    return {entry["symbol"]: entry["kernel"] for entry in json.loads(done.stdout)["results"]} if done.returncode == 0 else {}


def measure(options, source, work):
    """Rows of one program: dictionaries."""
    folder = work / source.name
    shutil.copytree(source, folder, symlinks=True)
    files = sorted(file.name for file in folder.glob("*.cu"))
    row = {"program": source.name}
    if not files:
        return [row | {"problem": "no .cu file"}]
    flags = ["-std=c++17", "-O3", "-I.", *[f"-I{source.parent / include}" for include in options.include]]
    built = run(["nvcc", *flags, f"-arch={options.arch}", "-o", "main", *files,
                 *sorted(file.name for file in folder.glob("*.cpp"))], folder, options)
    if built.returncode:
        return [row | {"problem": "does not build: " + (built.stderr.strip().splitlines() or ["?"])[-1][:100]}]
    observed = run([options.kopt, "observe", "--json", "--kernel", "*", "--max-bytes", options.max_bytes, "--output", "trace",
                    "--", "./main", *arguments_of(folder)], folder, options)
    if observed.returncode:
        return [row | {"problem": f"not observed ({observed.returncode}): " + last_words(observed)}]
    kernels = json.loads(observed.stdout)["results"]
    disk = sum(file.stat().st_size for file in (folder / "trace" / "contents").rglob("*.kbuf")) if (folder / "trace" / "contents").exists() else 0
    defined = {}
    for file in files:
        for symbol in symbols_of(options, folder, file, flags):
            defined.setdefault(symbol, file)
    rows = []
    for kernel in kernels:
        one = row | {"kernel": kernel["name"], "launches": kernel["launches"], "share": kernel["share"], "disk_bytes": disk}
        rows.append(one)
        if kernel["symbol"] not in defined:
            one["problem"] = "in none of its files"
            continue
        plain = kernel["name"].split("<")[0]
        done = run([options.kopt, "replay", "trace", defined[kernel["symbol"]], "--kernel", plain, "--device", "cuda", "--json",
                    "--", *flags], folder, options)
        if not done.stdout:
            one["problem"] = f"not replayed ({done.returncode}): " + last_words(done)
            continue
        outcomes = [o for o in json.loads(done.stdout)["results"]]
        launches = [launch for outcome in outcomes for launch in outcome["launches"]]
        for match in ("identical", "varies", "differs", "failed"):
            one[match] = sum(launch["match"] == match for launch in launches)
        one["replayed"] = len(launches)
        one["memory_bytes"] = max((launch["bytes"] for launch in launches), default=0)
        wrong = [launch["detail"] for launch in launches if launch["match"] in ("differs", "failed")]
        if wrong:
            one["problem"] = wrong[0][:120]
    return rows or [row | {"problem": "launched nothing"}]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--kopt", required=True)
    parser.add_argument("--arch", default="native")
    parser.add_argument("--include", action="append", default=["include"], help="folder beside the programs (default include)")
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time")
    parser.add_argument("--timeout", type=int, default=300, help="seconds of each step")
    parser.add_argument("--within", type=float, default=float("inf"), help="seconds of the whole; what has no end by then says so")
    parser.add_argument("--max-bytes", default="2G")
    parser.add_argument("--json", type=pathlib.Path, help="also write all rows here")
    options = parser.parse_args()
    options.kopt = str(pathlib.Path(options.kopt).resolve())
    options.end = time.monotonic() + options.within
    rows = []
    print(f"{'program':<24}{'kernel':<36}{'share':>7}{'replayed':>9}{'identical':>10}{'varies':>7}{'differs':>8}{'failed':>7}"
          f"{'MiB':>9}  problem")

    def measured(source):
        with tempfile.TemporaryDirectory(prefix="kopt-replay-") as name:
            return measure(options, source.resolve(), pathlib.Path(name))

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for done in concurrent.futures.as_completed([pool.submit(measured, source) for source in options.folders]):
            for row in done.result():
                rows.append(row)
                cell = lambda key: str(row.get(key, "-"))
                print(f"{row['program'][:23]:<24}{row.get('kernel', '')[:35]:<36}{row.get('share', 0):>7.1%}{cell('replayed'):>9}"
                      f"{cell('identical'):>10}{cell('varies'):>7}{cell('differs'):>8}{cell('failed'):>7}"
                      f"{row.get('memory_bytes', 0) / 2**20:>9.1f}  {row.get('problem', '')}", flush=True)
    done = [row for row in rows if row.get("replayed")]
    exact = [row for row in done if row["identical"] == row["replayed"]]
    print(f"{len(done)} kernels of {len({row['program'] for row in done})} programs were replayed; {len(exact)} gave what the "
          f"program had in every launch, bit by bit; {sum(row['varies'] > 0 for row in done)} vary by themselves")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
