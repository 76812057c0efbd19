#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""new_rewrite_test.py SOURCE_TREE COMPILER FLAGS...: runs tests/new_rewrite.py on a copy of what it changes, and has the
compiler read the new rewrite."""
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT, COMPILE = Path(sys.argv[1]), sys.argv[2:]
CHANGED = {
    "clang_plugin/transform/Catalogue.cpp": ['Offers},\n                   {"loop-interchange", loopInterchangeOffers}};'],
    "clang_plugin/output/Variants.h": ["    \"loop-interchange\"};\n"],
    "clang_plugin/transform/CMakeLists.txt": ["  LaunchBounds.cpp\n  LoopInterchange.cpp\n"],
    "clang_plugin/transform/README.md": ["| `loop-interchange` | "],
    "clang_plugin/transform/Transformation.h": ["std::vector<Offer> loopInterchangeOffers(const KernelView &view, Refusals &refusals);\n"],
    "tests/unit/clang_plugin/CMakeLists.txt": ["    transform/LoopInterchangeTest.cpp\n"],
}
WRITTEN = ["clang_plugin/transform/LoopInterchange.cpp", "tests/unit/clang_plugin/transform/LoopInterchangeTest.cpp"]


class NewRewrite(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = Path(folder.name)
        for name in CHANGED:
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.tree / name)
        (self.tree / WRITTEN[1]).parent.mkdir(parents=True)

    def generate(self, name):
        return subprocess.run([sys.executable, "-B", ROOT / "tests/new_rewrite.py", name, self.tree], capture_output=True, text=True)

    def test_it_writes_a_rewrite_that_compiles(self):
        done = self.generate("loop-interchange")
        self.assertEqual(done.stdout.split(), WRITTEN, done.stderr)
        for name, lines in CHANGED.items():
            text = (self.tree / name).read_text()
            before = (ROOT / name).read_text().splitlines()
            self.assertGreaterEqual(len(text.splitlines()), len(before) + 1, name)
            for line in lines:
                self.assertIn(line, text, name)
        self.assertIn("TEST(LoopInterchange, ", (self.tree / WRITTEN[1]).read_text())
        # The header declares what the file defines.
        read = subprocess.run([*COMPILE, f"-I{self.tree}", f"-I{ROOT}", "-fsyntax-only", "-Werror=missing-prototypes",
                               self.tree / WRITTEN[0]], capture_output=True, text=True)
        self.assertEqual(read.returncode, 0, read.stderr)

    def test_it_refuses_what_is_no_new_name(self):
        for name in ("unroll", "Unroll", "two words", ""):
            self.assertNotEqual(self.generate(name).returncode, 0, name)
        self.assertFalse((self.tree / "clang_plugin/transform/Unroll.cpp").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
