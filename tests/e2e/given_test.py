# SPDX-License-Identifier: Apache-2.0
"""Candidates that a person or an agent hands in go through the whole of kopt tune."""

import json
import subprocess
import unittest

from bad_candidates_test import BODY, INDEX, HONEST
from kopt_test import DATA, FLAGS, KoptTest

TUNE = ["--device", "emulated", "--json"]
ONLY = ["--proposers", "given"]


class GivenTest(KoptTest):
    def setUp(self):
        super().setUp()
        self.text = self.copy(DATA / "scale.cu").read_text()

    def candidate(self, name, old, new, *more):
        text = self.text
        for before, after in ((old, new), *more):
            self.assertIn(before, text)
            text = text.replace(before, after)
        return "--candidate", self.write(name, text)

    def fast(self, name="fast.cu"):
        return self.candidate(name, INDEX, HONEST[1])

    def tune(self, *arguments, code=0, files=("scale.cu",)):
        done = self.kopt("tune", *files, *arguments, *TUNE, *FLAGS)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done, json.loads(done.stdout)

    def titles(self):
        return [trial["candidate"]["title"] for trial in self.records("trials") if trial["purpose"] == "search"]


class Given(GivenTest):
    def test_the_faster_one_wins_and_what_is_wrong_says_why(self):
        _, out = self.tune(*self.candidate("wrong.cu", BODY, BODY.replace("factor *", "1.5f * factor *")), *self.fast(),
                           *self.candidate("broken.cu", BODY, BODY.replace("factor", "missing")),
                           "--candidate", self.write("same.cu", self.text), *ONLY)
        kernel = out["results"][0]
        self.assertEqual([(one["file"], one["verdict"]) for one in kernel["given"]],
                         [(str(self.folder / "wrong.cu"), "WrongResult"), (str(self.folder / "fast.cu"), "Faster")])
        self.assertIn("out[0] is ", kernel["given"][0]["reason"])
        self.assertEqual((kernel["winner"]["title"], kernel["winner"]["technique"]), ("fast", "person"))
        self.assertEqual((kernel["judged"], kernel["stop"]), (2, "exhausted"), "nothing else is tried")
        broken, same = kernel["notes"]
        self.assertRegex(broken, r"broken\.cu:14:\d+: .*undeclared identifier 'missing'")
        self.assertIn("same.cu changes none of the kernels", same)
        told = self.kopt_ok("explain").stdout
        self.assertIn("what was handed in is tried first", told)
        self.assertIn("undeclared identifier 'missing'", told)
        report = self.kopt_ok("report", "--run-id", kernel["run"]).stdout
        self.assertIn(f"--candidate {self.folder / 'fast.cu'}", report, "the command that does it again")
        self.assertIn("person", report)
        self.kopt_ok("apply", "--modelled", "--run-id", kernel["run"])
        self.assertEqual((self.folder / "scale.cu").read_text(), (self.folder / "fast.cu").read_text())

    def test_nothing_is_written_where_nothing_can_be_tried(self):
        broken = self.candidate("broken.cu", BODY, BODY.replace("factor", "missing"))
        for arguments, what in (((*broken, *ONLY), r"no candidate can be tried: .*broken\.cu:14:\d+: "),
                                (("--candidate", "none.cu"), r"none\.cu does not exist"),
                                (ONLY, "'given' has no candidates")):
            with self.subTest(what):
                done, _ = self.tune(*arguments, code=1)
                self.assertRegex(done.stderr, what)
                self.assertFalse((self.folder / ".kopt").exists())

    def test_others_go_on_from_it_and_a_broken_one_stops_nobody(self):
        slow = self.candidate("slow.cu", BODY, "    for (volatile int i = 0; i < 9; ++i)\n  " + BODY)
        broken = self.candidate("broken.cu", BODY, BODY.replace("factor", "missing"))
        for strategy in ("auto", "greedy", "survey"):
            with self.subTest(strategy):
                subprocess.run(["rm", "-rf", str(self.folder / ".kopt")], check=True)
                self.tune(*broken, *slow, *self.fast(), "--strategy", strategy, "--trials", "7")
                titles = self.titles()
                self.assertEqual(titles[1:3], ["slow", "fast"])
                self.assertEqual(len(titles), 7)
                if strategy != "survey":
                    self.assertTrue(any(title.startswith("fast + ") for title in titles), titles)

    def test_another_text_is_another_run(self):
        arguments = [*self.fast(), *ONLY, "--resume"]
        resumed = []
        for change in (False, False, True):
            if change:
                self.candidate("fast.cu", INDEX, HONEST[1], (BODY, BODY.replace("factor *", "1.0f * factor *")))
            resumed.append("resuming" in self.tune(*arguments)[0].stderr)
        self.assertEqual(resumed, [False, True, False])
        self.assertEqual(self.rows("SELECT COUNT(*) FROM runs"), [(2,)])

    def test_a_kernel_that_is_changed_and_not_tuned_is_named(self):
        two = self.text + self.text[self.text.index("KOPT_TUNE"):].replace("scale", "shift").replace("void run", "void shifted")
        self.write("two.cu", two)
        mine = "--candidate", self.write("mine.cu", two.replace("factor * in", "in"))
        done, out = self.tune(*mine, *ONLY, "--kernel", "scale", files=("two.cu",))
        self.assertEqual([one["verdict"] for one in out["results"][0]["given"]], ["WrongResult"])
        self.assertIn("mine.cu changes shift, which is not tuned: name it with --kernel", out["results"][0]["notes"][0])
        only = "--candidate", self.write("only.cu", two.replace("factor * in", "in").replace("= in[", "= factor * in[", 1))
        done, _ = self.tune(*only, *ONLY, "--kernel", "scale", files=("two.cu",), code=1)
        self.assertIn("only.cu changes shift, which is not tuned", done.stderr)

    def test_each_kernel_gets_what_changes_it(self):
        other = self.text.replace("scale", "shift").replace("factor * in", "factor + in")
        self.write("shift.cu", other)
        shift = self.write("mine.cu", other.replace(INDEX, HONEST[1]))
        done, out = self.tune(*self.fast(), "--candidate", shift, *ONLY, files=("scale.cu", "shift.cu"))
        self.assertEqual({kernel["kernel"]: [one["verdict"] for one in kernel["given"]] for kernel in out["results"]},
                         {"scale": ["Faster"], "shift": ["Faster"]}, done.stderr)
        _, out = self.tune("--candidate", shift, *ONLY, files=("scale.cu", "shift.cu"))
        kernels = {kernel["kernel"]: kernel for kernel in out["results"]}
        self.assertIn("no candidate", kernels["scale"]["skipped"])
        self.assertEqual(kernels["shift"]["winner"]["title"], "mine")


if __name__ == "__main__":
    unittest.main()
