#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the harnesses of kernels that nobody prepared, and prints those that do not build.

    harnesses.py --kopt-extract build/dev/bin/kopt-extract FOLDER... [--draw 100 --seed 1] [--jobs 2]
        [--include DIR] [--arch sm_90] [--json FILE] [--keep FOLDER]
    harnesses.py --run --kopt build/dev/bin/kopt FOLDER... [--within 240] [--seconds 20] [--program-seconds 5] [--gpus 1] ...

Each folder is one program, as for strangers.py. kopt-extract writes a harness for each of its kernels; --draw takes that many of
all of them. Each is built with its own build.sh.

With --run, on a machine with a GPU, each program is built and run by `kopt harness --run`, with the arguments of its Makefile,
and the kernels are those that it launches, with a launch as the program made it. Each harness is run as it is, and with a wrong
kernel, which it has to notice: one that does nothing, or, where the kernel changes nothing itself, one that changes a number.
Programs are taken in the order of the seed, for 40 % of the time of --within; those that run longer than --program-seconds are
left out. A last argument over 10, of repetitions, is made 2. Of runs --at-a-time are made on each of the --gpus, that of a harness for at
most --seconds. What goes wrong is printed as it happens. The exit code is 1 if a harness does not build, fails or notices nothing.
"""

import argparse
import concurrent.futures
import json
import pathlib
import queue
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zlib

from replay import arguments_of

SECONDS = 120


def run(command, folder, seconds=SECONDS):
    try:
        return subprocess.run(list(map(str, command)), cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"error: no end within {seconds} s")


def flags_of(options, source):
    return ["-std=c++17", "-O3", f"-arch={options.arch}", f"-I{source}",
            *[f"-I{(source.parent / include).resolve()}" for include in options.include]]


def extract(options, source, target):
    """Returns the folders of the harnesses of one program."""
    files = sorted(file.name for file in source.glob("*.cu"))
    flags = flags_of(options, source)
    done = run([options.kopt_extract, *files, "-o", target, "--keep-going", "--", *flags], source)
    if done.returncode != 0:
        print(f"not extracted: {source.name}: {first_error(done)}")
    return sorted(file.parent for file in target.glob("*/harness.cu"))


def first_error(done):
    lines = (done.stdout + done.stderr).strip().splitlines()
    return next((line for line in lines if "error" in line), lines[-1] if lines else f"exit code {done.returncode}")


def ended(done):
    return "no end within --seconds" if done.returncode == 124 else first_error(done)


def left(options):
    """The longest that a step may take: what is left of --within, and ten minutes at most."""
    return max(1, min(600, options.end - time.monotonic()))


def limited(options, turn, seconds, command):
    return ["env", f"CUDA_VISIBLE_DEVICES={turn % options.gpus}", "timeout", seconds, *command]


def on_its_gpu(options, name, seconds, command):
    """The command, on the GPU that `name` has and for at most so long; waiting for its turn is not counted."""
    turn = zlib.crc32(name.encode()) % (options.gpus * options.at_a_time)
    return ["flock", f"{options.lock}{turn}", *limited(options, turn, seconds, command)]


def run_in_turn(options, folder):
    """Runs the harness in a folder as soon as one of the GPUs has a place for it."""
    turn = options.turns.get()
    try:
        return run(limited(options, turn, options.seconds, ["./harness"]), folder, left(options))
    finally:
        options.turns.put(turn)


class Draw:
    """As many of all harnesses as are drawn: each has a number by the seed, and the least numbers win. Others are removed at once,
    with their data."""

    def __init__(self, options):
        self.options, self.found, self.seen, self.lock = options, [], 0, threading.Lock()

    def add(self, folders):
        with self.lock:
            self.seen += len(folders)
            self.found = sorted(self.found + [(self.number(folder), folder) for folder in folders])
            for _, folder in self.found[self.options.draw:]:
                shutil.rmtree(folder)
            self.found = self.found[:self.options.draw]

    def number(self, folder):
        return random.Random(f"{self.options.seed} {folder.parent.name}/{folder.name}").random()


def few(arguments):
    """The arguments with hardly a repetition: a launch of each kernel is enough."""
    is_count = arguments and arguments[-1].isdigit() and int(arguments[-1]) > 10
    return [*arguments[:-1], "2"] if is_count else arguments


def observe(options, source, work, draw):
    """Writes the harnesses of the kernels that a program launches; returns why there are none."""
    if time.monotonic() > options.observe_until:
        return "no time"
    folder = work / "programs" / source.name / source.name
    folder.parent.mkdir(parents=True)
    for beside in source.parent.iterdir():  # programs read files of each other
        if beside.name != source.name:
            (folder.parent / beside.name).symlink_to(beside)
    try:
        shutil.copytree(source, folder, symlinks=True)
        files = sorted(file.name for file in folder.glob("*.cu"))
        flags = flags_of(options, folder)
        built = run(["nvcc", *flags, "-o", "main", *files, *sorted(file.name for file in folder.glob("*.cpp"))], folder)
        if built.returncode:
            return "does not build: " + first_error(built)
        if time.monotonic() > options.observe_until:
            return "no time"
        program = shlex.join(map(str, on_its_gpu(options, source.name, options.program_seconds, ["./main", *few(arguments_of(folder))])))
        target = work / "harnesses" / source.name
        done = run([options.kopt, "harness", *files, "--kernel", "*", "--launches", "1", "--run", program, "-o", target, "--json",
                    "--", *flags], folder, left(options))
        if done.returncode:
            done.stdout = ""  # what is there is JSON
            return f"no harness ({done.returncode}): " + first_error(done)
        draw.add([pathlib.Path(harness["folder"]) for harness in json.loads(done.stdout)["results"]])
        return None
    except OSError as problem:
        return f"not copied: {problem}"
    finally:
        shutil.rmtree(folder.parent, ignore_errors=True)  # with its trace


def writable(parameters):
    """The parameters that point to something that is not const, as the places of a byte of each that is worth changing: the last
    of an element, where a floating-point number has its exponent."""
    found = (re.match(r"([^*\[]*)(?:\*.*?|(?=\w+\s*\[))(\w+)\s*(?:\[\s*\])?\s*$", one, re.DOTALL) for one in parameters.split(","))
    return [f"((unsigned char *){one.group(2)})[{0 if 'void' in one.group(1).split() else f'sizeof(*{one.group(2)}) - 1'}]"
            for one in found if one and "const" not in one.group(1).split()]


def planted(text, flips):
    """The harness with a wrong kernel: one that returns at once, or, where `flips`, that before it does so makes the first
    number that it could write to another one: a huge one, or a small one where that is huge."""
    section = text.index("// ==== harness section")
    kernel = re.search(r"(\w+)(?:<[^;]*?>)?<<<", text[section:])
    if not kernel:
        return None
    name = re.escape(kernel.group(1))
    defined = list(re.finditer(rf"\b{name}\s*\(([^;{{}}]*)\)\s*\{{", text[:section]))
    if not defined:
        return None
    body = " return;"
    if flips:
        places = writable(defined[-1].group(1))
        if not places:
            return None
        first = " + ".join(f"{index}.{axis}" for index in ("threadIdx", "blockIdx") for axis in "xyz")
        body = f" if ({first} == 0) {places[0]} = {places[0]} == 127 ? 0 : 127; return;"
    at = defined[-1].end()
    return text[:at] + body + text[at:]


def run_planted(options, folder, flips):
    """Builds and runs the harness with a wrong kernel; returns what ran, or why it did not, in words."""
    text = planted((folder / "harness.cu").read_text(), flips)
    if text is None:
        return None, "its kernel has nothing to change" if flips else "its kernel is not found in the text"
    wrong = folder / ("flips" if flips else "empty")
    wrong.mkdir(exist_ok=True)
    (wrong / "harness.cu").write_text(text)
    (wrong / "build.sh").write_text((folder / "build.sh").read_text())
    for beside in folder.iterdir():
        if beside.name not in ("harness.cu", "build.sh", "harness", "flips", "empty"):
            (wrong / beside.name).symlink_to(beside)
    if run(["sh", "build.sh"], wrong).returncode != 0:
        return None, "with a wrong kernel it does not build"
    return run_in_turn(options, wrong), ""


def judge(options, folder):
    row = {"harness": f"{folder.parent.name}/{folder.name}", "builds": None}
    if time.monotonic() > options.end:
        return {**row, "why": "no time for it", "late": True}
    built = run(["sh", "build.sh"], folder)
    row["builds"] = built.returncode == 0
    if not row["builds"]:
        return {**row, "why": first_error(built)}
    if not options.run:
        return row
    ran = run_in_turn(options, folder)
    row["runs"] = ran.returncode == 0
    if not row["runs"]:
        return {**row, "output": (ran.stdout + ran.stderr)[-2000:], "why": ended(ran)}
    ran, why = run_planted(options, folder, flips=False)
    if ran and "the kernel changes nothing here" in ran.stdout:  # so one that does nothing is right
        row["idle"] = True
        ran, why = run_planted(options, folder, flips=True)
    if ran is None:
        return {**row, "notices": None, "why": why}
    row["notices"], row["output"] = ran.returncode == 1, (ran.stdout + ran.stderr)[-2000:]
    if ran.returncode not in (0, 1):
        return {**row, "why": "with a wrong kernel: " + ended(ran)}
    return row if row["notices"] else {**row, "why": "it does not notice a wrong kernel"}


def judged(options, folder):
    row = judge(options, folder)
    return {**row, "late": True, "why": "no time for all of it"} if "why" in row and time.monotonic() > options.end else row


def told(row):
    if "why" in row:
        print(f"{row['harness']}: {row['why']}", flush=True)
    return row


def draw_extracted(options, folders, work, pool):
    found = pool.map(lambda source: extract(options, source, work / source.name), folders)
    all_of = [folder for some in found for folder in some]
    return random.Random(options.seed).sample(all_of, min(options.draw, len(all_of))), len(all_of)


def draw_launched(options, folders, work, pool):
    draw = Draw(options)
    random.Random(options.seed).shuffle(folders)

    def observed(source):
        problem = observe(options, source, work, draw)
        if problem and problem != "no time":
            print(f"{source.name}: {problem}", flush=True)
        return problem

    problems = list(pool.map(observed, folders))
    print(f"{problems.count(None)} of {len(folders)} programs were observed, {problems.count('no time')} not for lack of time", flush=True)
    return [folder for _, folder in draw.found], draw.seen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--kopt-extract", type=pathlib.Path)
    parser.add_argument("--draw", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--include", action="append", default=["include"], help="relative to a program's folder")
    parser.add_argument("--run", action="store_true", help="also run them, on the programs' own launches: needs a GPU")
    parser.add_argument("--kopt", type=pathlib.Path, help="with --run")
    parser.add_argument("--within", type=float, default=240, help="with --run: seconds of the whole")
    parser.add_argument("--seconds", type=int, default=60, help="with --run: the longest that a harness may run")
    parser.add_argument("--program-seconds", type=int, default=10, help="with --run: the longest that a program may run")
    parser.add_argument("--at-a-time", type=int, default=4, help="with --run: runs at once on each GPU")
    parser.add_argument("--gpus", type=int, default=1, help="with --run: how many GPUs to use")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the harnesses; default: a temporary one")
    options = parser.parse_args()
    if not (options.kopt if options.run else options.kopt_extract):
        parser.error("--run needs --kopt" if options.run else "--kopt-extract is needed")
    options.kopt, options.kopt_extract = (path and path.resolve() for path in (options.kopt, options.kopt_extract))
    begin = time.monotonic()
    options.end = begin + options.within if options.run else float("inf")
    options.observe_until = begin + 0.4 * options.within
    with tempfile.TemporaryDirectory(prefix="kopt-harnesses-") as temporary:
        work = options.keep.resolve() if options.keep else pathlib.Path(temporary)
        options.lock = pathlib.Path(temporary) / "gpu.lock"
        options.turns = queue.Queue()
        for turn in range(options.gpus * options.at_a_time):
            options.turns.put(turn)
        folders = sorted({folder.resolve() for folder in options.folders if folder.is_dir()})
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            drawn, count = (draw_launched if options.run else draw_extracted)(options, folders, work, pool)
            rows = list(pool.map(lambda folder: told(judged(options, folder)), drawn))
        bad = [row for row in rows if "why" in row]
        counts = {key: sum(bool(row.get(key)) for row in rows) for key in ("builds", "runs", "notices")}
        late, idle = (sum(key in row for row in rows) for key in ("late", "idle"))
        print(f"of {count} harnesses {len(rows)} were drawn (seed {options.seed}): {counts['builds']} build"
              + (f", {counts['runs']} run, {counts['notices']} notice a wrong kernel ({idle} of the kernels change nothing themselves)" if options.run else "")
              + (f"; there was no time for {late}" if late else ""))
        if options.json:
            options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 1 if bad or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
