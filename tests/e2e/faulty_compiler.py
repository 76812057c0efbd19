#!/usr/bin/python3 -IB
# SPDX-License-Identifier: Apache-2.0
"""kopt-frontend or nvcc that goes wrong where the file `source-faults` beside it says: lines of "MARK|STAGE|FAULT"; the mark is a
text in the candidate's source. Stages: screen and emulate of kopt-frontend, build of nvcc. Put into the place of the one in a
copy of an installation, or of the other in a copy of a toolkit, beside `real`, which has the path of what it stands for. As
nvcc it also makes FILE.so of a module FILE for the emulated device where `expression` is beside it, the kernel's, and a
kopt-frontend (see SimulatedGpu.h); and `program` beside it stands for the program that calls a library."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
REAL = (HERE / "real").read_text()


def fault_of(stage, text):
    for line in (HERE / "source-faults").read_text().splitlines():
        mark, at, fault = line.split("|")
        if at == stage and mark in text:
            return fault
    return None


def go(fault):
    if fault == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if fault == "hang":
        os.kill(os.getpid(), signal.SIGSTOP)
    if fault == "garbage":
        sys.stdout.buffer.write(b"\x00\xff{no JSON\x1b[2J")
        sys.exit(0)
    if fault == "partial":
        sys.stdout.write('{"ok": tr')
        sys.exit(0)
    if fault == "flood":
        try:
            while True:
                os.write(1, b"x" * 65536)
                os.write(2, b"x" * 65536)
        except OSError:
            sys.exit(1)


def ask_as_if_first(asked):
    """The request again, for who reads it next."""
    read, write = os.pipe()
    if os.fork() == 0:
        os.close(read)
        with os.fdopen(write, "wb") as out:
            out.write(asked)
        os._exit(0)
    os.close(write)
    os.dup2(read, 0)


def build_for_simulation(arguments):
    """Leaves nothing where the source does not compile: nvcc says why."""
    output, source = arguments[arguments.index("-o") + 1], arguments[-1]
    flags = arguments[:arguments.index("-cubin")]
    text = pathlib.Path(source).read_text()
    expression = "kopt_nothing" if "kopt_nothing" in text else (HERE / "expression").read_text()  # kopt's own
    request = {"slice": text, "expression": expression, "flags": flags,
               "directory": os.getcwd(), "output": output + ".so", "unoptimized": False}
    subprocess.run([str(HERE / "kopt-frontend"), "emulate"], input=json.dumps(request).encode(), stdout=subprocess.DEVNULL)


def main():
    fault = None
    if "-cubin" in sys.argv:
        fault = fault_of("build", pathlib.Path(sys.argv[-1]).read_text())
    elif len(sys.argv) == 2 and sys.argv[1] in ("screen", "emulate"):
        asked = sys.stdin.buffer.read()
        request = json.loads(asked)
        fault = fault_of(sys.argv[1], request["candidate" if sys.argv[1] == "screen" else "slice"])
        ask_as_if_first(asked)
    if fault:
        go(fault)
    if "program" in sys.argv and (HERE / "program").exists():
        shutil.copy(HERE / "program", "program")
        return
    if "-cubin" in sys.argv and (HERE / "expression").exists():
        build_for_simulation(sys.argv[1:])
    name = str(HERE / "kopt-frontend") if REAL.endswith("frontend") else REAL  # they know by it where and what they are
    os.execv(REAL, [name, *sys.argv[1:]])


main()
