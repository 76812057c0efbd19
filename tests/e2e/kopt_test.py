# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: running kopt in a folder of its own."""

import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["KOPT_SOURCE_DIR"])
BIN = pathlib.Path(os.environ["KOPT_BIN_DIR"])
DATA = SOURCE / "tests" / "e2e" / "data"
os.environ.setdefault("KOPT_EXPERIENCE", "off")  # what one test teaches changes no other, nor the user's database
FLAGS = ["--", "-std=c++17", "-I", str(SOURCE / "runtime" / "include")]

REFUSED = {"Rejected", "BuildFailed", "RunFailed", "WrongResult", "TimedOut", "Suspect"}


def has_gpu():
    """Whether this machine has an NVIDIA GPU. One that kopt cannot use is no reason to skip a test."""
    return any(pathlib.Path("/dev").glob("nvidia[0-9]*")) or pathlib.Path("/dev/dxg").exists()


def find_nvcc():
    """nvcc in PATH or where it is installed by default, or None."""
    usual = pathlib.Path(os.environ.get("CUDA_PATH", "/usr/local/cuda")) / "bin" / "nvcc"
    found = shutil.which("nvcc") or (usual if usual.exists() else None)
    return pathlib.Path(found).resolve() if found else None


def skip_without_gpu(count=1, needs_nvcc=False):
    """Ends the test program as skipped where kopt finds fewer GPUs than that, or the test itself finds no nvcc."""
    probe = KoptTest()
    probe.setUp()
    probe.copy(DATA / "scale.cu")
    more = ["--gpus", str(count)] if count > 1 else []
    there = probe.kopt("tune", "scale.cu", "--device", "cuda", *more, "--dry-run", *FLAGS)
    probe.doCleanups()
    # kopt ends with 1 where it has GPUs, but fewer than --gpus.
    if there.returncode == 6 or (count > 1 and there.returncode == 1) or (needs_nvcc and not find_nvcc()):
        print(there.stderr)
        sys.exit(77)


class KoptTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kopt-e2e-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def copy(self, path, name=None):
        target = self.folder / (name or pathlib.Path(path).name)
        shutil.copy(path, target)
        return target

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return self.folder / name

    def kopt(self, *arguments, env=None, cwd=None, timeout=600):
        return subprocess.run(
            [str(BIN / "kopt"), *map(str, arguments)], cwd=cwd or self.folder, env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=timeout)

    def kopt_ok(self, *arguments, **more):
        done = self.kopt(*arguments, **more)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def kopt_trial(self, *arguments, **more):
        """kopt trial --json; its exit code says whether a candidate is refused."""
        done = self.kopt("trial", *arguments, **more)
        self.assertIn(done.returncode, (0, 2), done.stdout + done.stderr)
        refused = {trial["verdict"] for trial in json.loads(done.stdout)["results"]} & REFUSED
        self.assertEqual(done.returncode, 2 if refused else 0, done.stdout + done.stderr)
        return done

    def tune(self, file, *arguments, **more):
        """Tunes on the emulated device and returns the outcomes."""
        done = self.kopt_ok("tune", file, "--device", "emulated", "--json", *arguments, *FLAGS, **more)
        return json.loads(done.stdout)["results"]

    def rows(self, query):
        with sqlite3.connect(self.folder / ".kopt" / "kopt.db") as database:
            return database.execute(query).fetchall()

    def records(self, table, run=None):
        """What the database has in a table, oldest first."""
        of = f"WHERE run_id = {run}" if run else ""
        return [json.loads(record) for (record,) in self.rows(f"SELECT record FROM {table} {of} ORDER BY rowid")]
