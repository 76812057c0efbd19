#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fuzz.py BUILD_FOLDER [TARGET ...]: runs the fuzz targets built there, each on its corpus, and prints one line each:
runs, runs a second, coverage (edges), findings. New inputs stay in BUILD_FOLDER; what broke a target is kept there too
and named. Exits with 1 where something was found."""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def number(pattern, text):
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def fuzz(program, options):
    name = program.name.removeprefix("fuzz_")
    grown, broken = program.parent / "grown" / name, program.parent / "findings" / name
    for folder in (grown, broken):
        folder.mkdir(parents=True, exist_ok=True)
    before = set(broken.iterdir())
    command = [str(program), f"-max_total_time={options.seconds}", f"-max_len={options.max_len}",
               f"-timeout={options.timeout}", f"-rss_limit_mb={options.memory}", "-print_final_stats=1",
               f"-artifact_prefix={broken}/", str(grown), str(HERE / "corpus" / name)]
    environment = dict(os.environ)
    if os.access("/dev/shm", os.W_OK):
        environment["TMPDIR"] = "/dev/shm"  # targets whose readers take a file write it for every run
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                            env=environment, preexec_fn=lambda: os.nice(options.nice))
    log = result.stderr.decode("utf-8", "replace")
    (broken.parent / f"{name}.log").write_text(log)
    runs = number(r"stat::number_of_executed_units:\s*(\d+)", log) or number(r"#(\d+)\s", log)
    findings = sorted(str(path) for path in set(broken.iterdir()) - before)
    rate, coverage = number(r"average_exec_per_sec:\s*(\d+)", log), number(r"cov: (\d+)", log)
    line = f"{name:18} {runs:>11} runs  {rate:>7}/s  cov {coverage:>5}  {len(findings)} findings"
    if result.returncode != 0:
        reason = re.findall(r"(?:SUMMARY|broken promise|runtime error): .*", log)
        line += f"  exit code {result.returncode}: {reason[0] if reason else 'see the log'}"
    print("\n    ".join([line] + findings), flush=True)
    return result.returncode == 0 and not findings


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--seconds", type=int, default=600, help="of each target")
    parser.add_argument("--jobs", type=int, default=2, help="targets at a time")
    parser.add_argument("--nice", type=int, default=15)
    parser.add_argument("--max-len", type=int, default=4096)
    parser.add_argument("--timeout", type=int, default=10, help="seconds of one input")
    parser.add_argument("--memory", type=int, default=2048, help="MiB")
    options = parser.parse_args()
    names = options.targets or sorted(path.name for path in (HERE / "corpus").iterdir())
    programs = [options.folder / f"fuzz_{name}" for name in names]
    missing = [str(program) for program in programs if not program.exists()]
    if missing:
        sys.exit("not built: " + " ".join(missing))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        good = list(pool.map(lambda program: fuzz(program.resolve(), options), programs))
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
