# SPDX-License-Identifier: Apache-2.0
"""kopt is killed at random moments of tune, of apply in both modes, and of a build that uses variants: the user's files are as
they were, or wholly changed, and the same command afterwards does all of it. tests/device/confirm_kills_test.py kills it while
it confirms."""

import random
import shutil
import signal
import subprocess
import time
import unittest

import session_test
from kopt_test import BIN, FLAGS, KoptTest

SEED = 7
OWN = {".kopt", "kopt.out"}  # what kopt may write beside the user's files


class Killing(KoptTest):
    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)

    def tree(self):
        """The user's files with their contents."""
        return {path.relative_to(self.folder): path.read_bytes() for path in sorted(self.folder.rglob("*"))
                if path.is_file() and path.relative_to(self.folder).parts[0] not in OWN}

    def seconds_of(self, command):
        began = time.monotonic()
        subprocess.run(command, cwd=self.folder, check=True, stdin=subprocess.DEVNULL, capture_output=True)
        return time.monotonic() - began

    def kill(self, command, within, after=0):
        """Starts the command and kills it `after` to `within` seconds later; returns whether that came before its end."""
        child = subprocess.Popen(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        try:
            child.wait(self.random.uniform(after, within))
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
        return child.wait() == -signal.SIGKILL


class Kills(Killing):
    def setUp(self):
        super().setUp()
        (self.folder / "a.cu").write_text(session_test.KERNELS)
        (self.folder / "kopt.toml").write_text(session_test.CLAUSES)

    def restore(self, tree):
        for path in self.tree():
            (self.folder / path).unlink()
        for path, content in tree.items():
            (self.folder / path).parent.mkdir(exist_ok=True)
            (self.folder / path).write_bytes(content)

    def tune_command(self):
        return [BIN / "kopt", "tune", "a.cu", "--kernel", "rows", "columns", "--device", "emulated", "--proposers", "params",
                "--resume", *FLAGS]

    def test_tune(self):
        before = self.tree()
        whole = self.seconds_of(self.tune_command())
        shutil.rmtree(self.folder / ".kopt")
        killed = 0
        for _ in range(15):
            killed += self.kill(self.tune_command(), whole)
            self.assertEqual(self.tree(), before)
        self.assertGreater(killed, 0)
        self.kopt_ok(*self.tune_command()[1:])
        self.kopt_ok("apply", "--modelled")

    def test_apply(self):
        self.kopt_ok(*self.tune_command()[1:])
        for mode in ("patch", "header"):
            with self.subTest(mode=mode):
                command = [BIN / "kopt", "apply", "--modelled", "--mode", mode]
                before = self.tree()
                whole = self.seconds_of(command)
                after = self.tree()
                self.assertNotEqual(before, after)
                killed = 0
                for _ in range(15):
                    self.restore(before)
                    killed += self.kill(command, whole)
                    # What begins with ".", or ends in ".kopt-new.123", is left until the next call.
                    left = {path: content for path, content in self.tree().items()
                            if not path.name.startswith(".") and ".kopt-" not in str(path)}
                    self.assertIn(left, (before, after))
                    self.assertIn(self.kopt(*command[1:]).returncode, (0, 5))  # 5: it is applied already
                    self.assertEqual(self.tree(), after)
                self.assertGreater(killed, 0)
                self.restore(before)

    def test_build_with_variants(self):
        self.kopt_ok(*self.tune_command()[1:])
        self.kopt_ok("apply", "--modelled", "--mode", "header")
        before = self.tree()
        build, seen = self.folder / ".kopt" / "build", self.folder / ".kopt" / "seen.txt"
        command = [BIN / "kopt-overlay", "compile", self.folder / "kopt" / "kopt.lock", build, build / "o", build / "s", "90",
                   "--", "cp", self.folder / "a.cu", seen]
        whole = self.seconds_of(command)
        text = seen.read_text()
        self.assertIn("ROWS = 1;", text)
        killed = 0
        for _ in range(15):
            shutil.rmtree(build)
            killed += self.kill(command, whole)
            self.assertEqual(self.tree(), before)
            seen.unlink(missing_ok=True)
            subprocess.run(command, check=True)
            self.assertEqual(seen.read_text(), text)
        self.assertGreater(killed, 0)


if __name__ == "__main__":
    unittest.main()
