#!/usr/bin/python3 -IB
# SPDX-License-Identifier: Apache-2.0
"""kopt-frontend that goes wrong where the file `faults` beside it says: lines of "MARK STAGE FAULT"; the mark is a text
in the candidate's source. Stages: screen, emulate. Put into the place of kopt-frontend in a copy of an installation."""

import json
import os
import pathlib
import signal
import sys

HERE = pathlib.Path(__file__).resolve().parent
REAL = str(HERE / "real-frontend")


def fault_of(stage, text):
    for line in (HERE / "frontend-faults").read_text().splitlines():
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


def main():
    if len(sys.argv) == 2 and sys.argv[1] in ("screen", "emulate"):
        asked = sys.stdin.buffer.read()
        request = json.loads(asked)
        fault = fault_of(sys.argv[1], request["candidate" if sys.argv[1] == "screen" else "slice"])
        if fault:
            go(fault)
        read, write = os.pipe()
        if os.fork() == 0:
            os.close(read)
            with os.fdopen(write, "wb") as out:
                out.write(asked)
            os._exit(0)
        os.close(write)
        os.dup2(read, 0)
    os.execv(REAL, [str(HERE / "kopt-frontend"), *sys.argv[1:]])  # it knows by its name what it is


main()
