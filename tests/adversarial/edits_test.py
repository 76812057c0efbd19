#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Edits of a base: what each form does, and what is said of one that does not apply."""

import pathlib
import tempfile
import unittest

from adversarial import edited

BASE = "int first;\nif (a < b)\n  work(a);\nend(a);\n"


class EditsTest(unittest.TestCase):
    def edit(self, text):
        with tempfile.TemporaryDirectory() as folder:
            base, path = pathlib.Path(folder) / "base.cu", pathlib.Path(folder) / "candidate.edit"
            base.write_text(BASE)
            path.write_text("// What it does.\n" + text)
            return edited(path, base)

    def refused(self, text, where, what):
        with self.assertRaises(SystemExit) as end:
            self.edit(text)
        self.assertIn(f"candidate.edit:{where}: ", str(end.exception))
        self.assertIn(what, str(end.exception))

    def test_each_form(self):
        self.assertEqual(self.edit(""), BASE)
        self.assertEqual(self.edit("@@ a < b => a <= b\n"), BASE.replace("<", "<="))
        self.assertEqual(self.edit("@@ work\n  play(a);\n\n@@ end\n"), "int first;\nif (a < b)\n  play(a);\n\n")
        self.assertEqual(self.edit("@@ a < b .. (a)\n{}\n"), "int first;\n{}\nend(a);\n")
        self.assertEqual(self.edit("@@+ first\nint second;\n@@+ a < b .. ;\nmore();\n"),
                         BASE.replace("first;\n", "first;\nint second;\n").replace("work(a);\n", "work(a);\nmore();\n"))

    def test_edits_in_any_order_in_one_line(self):
        self.assertEqual(self.edit("@@ < b => < c\n@@ if (a => if (b\n@@+ first\n1\n@@+ first\n2\n"),
                         "int first;\n1\n2\nif (b < c)\n  work(a);\nend(a);\n")

    def test_what_does_not_apply(self):
        self.refused("@@ nowhere => x\n", 2, "'nowhere' 0 times")
        self.refused("@@ a < b => x\n@@ (a) => x\n", 3, "'(a)' 2 times")
        self.refused("@@ work .. first\n", 2, "'first' after 'work'")
        self.refused("@@ a < b\nx\n@@ b) => c)\n", 4, "an edit before it")
        self.refused("@@ a < b => x\nmore\n", 3, "follows no edit")
        self.refused("more\n", 2, "follows no edit")
        self.refused("@@\n", 2, "no edit")


if __name__ == "__main__":
    unittest.main()
