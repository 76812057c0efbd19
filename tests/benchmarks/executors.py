#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a link costs: one search here, over ssh on loopback, and over a link of 100 ms and 10 Mbit/s.

    KOPT_SOURCE_DIR=. KOPT_BIN_DIR=build/dev/bin executors.py [--repeats 3] [--trials 20]

Emulated device, no GPU. The slow link is a relay in user space (--relay, which ssh starts as its ProxyCommand): each way, bytes arrive 50 ms
after they were sent, at most 1.25 MB a second. Prints the seconds until the first candidate, and of each further one.
"""
import argparse
import json
import os
import pathlib
import platform
import socket
import statistics
import sys
import threading
import time

DELAY, RATE = 0.05, 1.25e6  # seconds one way; bytes a second


def pump(read, write, close):
    """Passes on what is read, later and no faster than the link."""
    queue, ready, over = [], threading.Condition(), False

    def deliver():
        while True:
            with ready:
                while not queue and not over:
                    ready.wait()
                if not queue:
                    return close()
                due, piece = queue.pop(0)
            time.sleep(max(0, due - time.monotonic()))
            write(piece)

    threading.Thread(target=deliver, daemon=True).start()
    free = time.monotonic()
    while piece := read():
        free = max(free, time.monotonic()) + len(piece) / RATE
        with ready:
            queue.append((free + DELAY, piece))
            ready.notify()
        time.sleep(max(0, free - time.monotonic() - 0.05))
    with ready:
        over = True
        ready.notify()


def relay(host, port):
    link = socket.create_connection((host, int(port)))
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    back = threading.Thread(target=pump, args=(lambda: link.recv(65536), lambda piece: os.write(1, piece), lambda: os._exit(0)))
    back.start()
    pump(lambda: os.read(0, 65536), link.sendall, lambda: link.shutdown(socket.SHUT_WR))
    back.join()


def measure(test, trials, *options):
    """Seconds until the first candidate is on record, and of each further one."""
    import json
    import shutil
    import sqlite3
    import subprocess
    from kopt_test import BIN, FLAGS
    for name in (".kopt", "kopt.out"):
        shutil.rmtree(test.folder / name, ignore_errors=True)
    start, times = time.monotonic(), {}
    child = subprocess.Popen([str(BIN / "kopt"), "tune", "scale.cu", "--device", "emulated", "--seed", "7", "--trials", str(trials),
                              "--strategy", "survey", *options, *FLAGS], cwd=test.folder, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while child.poll() is None:
        try:
            with sqlite3.connect(f"file:{test.folder}/.kopt/kopt.db?mode=ro", uri=True) as database:
                for number, record in database.execute("SELECT id, record FROM trials"):
                    if number not in times and json.loads(record)["purpose"] == "search":
                        times[number] = time.monotonic()
        except sqlite3.OperationalError:
            pass
        time.sleep(0.01)
    if child.returncode:
        sys.exit(f"kopt tune {' '.join(options)} ended with {child.returncode}")
    times = sorted(times.values())[1:]  # the first is the baseline
    return times[0] - start, (times[-1] - times[0]) / (len(times) - 1)


def main():
    if sys.argv[1:2] == ["--relay"]:
        return relay(*sys.argv[2:4])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--trials", type=int, default=20)
    options = parser.parse_args()
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
    import executor_test
    test = executor_test.Ssh("test_a_trial_there")
    test.setUp()
    config = test.folder / "ssh" / "config"
    with config.open("a") as more:
        more.write(f"Host slow\n  HostName 127.0.0.1\n  ProxyCommand {sys.executable} {pathlib.Path(__file__).resolve()} --relay %h %p\n"
                   + "".join(line for line in config.read_text().splitlines(True)[2:]))
    there = ["--executor-program", str(test.program)]
    ways = {"here": [], "ssh on loopback": ["--executor", "ssh:one", *there], "100 ms, 10 Mbit/s": ["--executor", "ssh:slow", *there]}
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} processors, emulated device, {options.repeats} repeats, "
          f"{options.trials} trials: median (lowest to highest)")
    print("| where | seconds until the first candidate | seconds of each further one |\n|---|---|---|")
    found = {way: [] for way in ways}
    for _ in range(options.repeats):  # in turns, as the machine's speed changes
        for way, flags in ways.items():
            found[way].append(measure(test, options.trials, *flags))
    for way, figures in found.items():
        print(f"| {way} | " + " | ".join(f"{statistics.median(each):.2f} ({min(each):.2f} to {max(each):.2f})" for each in zip(*figures)) + " |")
    test.doCleanups()


if __name__ == "__main__":
    main()
