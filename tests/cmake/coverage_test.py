#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/coverage.md names only tests and commands that exist."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
QUOTED = re.findall(r"`([^`]+)`", "\n".join(
    line for line in (ROOT / "docs/coverage.md").read_text().splitlines() if line.startswith("| ")))


class Coverage(unittest.TestCase):
    def test_each_unit_test_is_there(self):
        known = set()
        for file in (ROOT / "tests").rglob("*.cpp"):
            known |= {".".join(pair) for pair in re.findall(r"\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)", file.read_text())}
        named = {name for name in QUOTED if re.fullmatch(r"\w+\.[A-Z]\w+", name)}
        self.assertGreater(len(named), 40)
        self.assertEqual(named - known, set())

    def test_each_file_is_there(self):
        for name in QUOTED:
            if name.startswith("tests/"):
                self.assertTrue((ROOT / name).is_file(), name)

    def test_each_command_and_option_is_there(self):
        source = "".join(file.read_text() for room in ("driver/cli", "driver/config") for file in (ROOT / room).rglob("*.[ch]*"))
        for name in QUOTED:
            if name.startswith("kopt "):
                for word in name.split()[1:]:
                    self.assertIn('"' + word.removeprefix("--"), source.replace('"--', '"'), name)


if __name__ == "__main__":
    unittest.main()
