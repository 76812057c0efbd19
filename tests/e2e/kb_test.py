# SPDX-License-Identifier: Apache-2.0
"""kopt kb: kopt's own texts and folders of the user's are searched; they are kept beyond a project."""

import json
import unittest

from kopt_test import KoptTest


class Kb(KoptTest):
    def kb(self, *arguments, code=0):
        done = self.kopt("kb", *arguments, env={"KOPT_DATA_DIR": str(self.folder / "data")})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def found(self, *words):
        return json.loads(self.kb("search", "--json", *words).stdout)["results"]

    def test_what_was_indexed_is_found_beside_kopts_own(self):
        self.assertEqual(self.found("bank", "conflicts")[0]["file"], "shared-bank-conflicts.md")
        (self.folder / "notes").mkdir()
        self.write("notes/team.md", "# Our GPUs\n\nNever use frobnicated tiles.\n")
        self.assertIn("notes: 1 file read, 0 unchanged, 0 removed", self.kb("index", "notes").stdout)
        self.assertEqual((self.found("frobnicated")[0]["heading"], self.found("frobnicated")[0]["source"]), ("Our GPUs", "notes"))
        self.assertIn("0 files read, 1 unchanged", self.kb("index", "notes").stdout)
        self.assertIn("notes: 1 passage of 1 file, weight 1", self.kb("show").stdout)
        self.kb("forget", "notes")
        self.assertEqual(self.found("frobnicated"), [])
        self.assertFalse((self.folder / ".kopt").exists(), "it is of no project")

    def test_bad_input_says_what_to_do(self):
        self.assertIn("known are kopt", self.kb("forget", "nothing", code=1).stderr)
        self.assertIn("'missing' is no folder", self.kb("index", "missing", code=1).stderr)
        self.assertIn("no passage has any of these words", self.kb("search", "zyzzyva").stdout)


if __name__ == "__main__":
    unittest.main()
