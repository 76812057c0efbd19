# SPDX-License-Identifier: Apache-2.0
"""kopt report and kopt explain of a run on the emulated device: the page, the command that makes the run again, the words of
each decision."""

import html
import json
import os
import re
import subprocess
import time
import unittest

from kopt_test import BIN, DATA, KoptTest


class Report(KoptTest):
    def test_a_run_is_opened_explained_and_made_again(self):
        self.folder = self.folder / "my kernels"
        self.folder.mkdir()
        # A small launch is as good for this, and its checks are over sooner.
        text = (DATA / "scale.cu").read_text()
        self.write("scale.cu", text.replace("rows = 500", "rows = 100").replace("columns = 300", "columns = 60"))
        # The seed comes from the environment, which nobody has later.
        self.tune("scale.cu", "--kernel", "scale", "--rounds", 1, "--trials", 4, "--min-gain", 1.03, env={"KOPT_SEED": "7"})
        name = self.rows("SELECT name FROM runs")[0][0]
        self.page_and_words(name)
        self.made_again(name)

    def made_again(self, name):
        page = (self.folder / "kopt.out" / name / "report.html").read_text()
        markdown = (self.folder / "kopt.out" / name / "report.md").read_text()
        command = re.search(r"## How to reproduce it\n\n```sh\n(.*)\n```", markdown).group(1)
        self.assertTrue(command in html.unescape(page), command)
        self.assertIn("--seed 7", command)
        done = subprocess.run(["sh", "-c", command], cwd="/", env={"PATH": f"{BIN}:/usr/bin:/bin", "HOME": str(self.folder)},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        runs = self.rows("SELECT id, inputs_hash FROM runs ORDER BY id")
        self.assertEqual(len(runs), 2)
        self.assertEqual(runs[0][1], runs[1][1])
        trials = [self.rows("SELECT candidate_hash, purpose, verdict FROM trials "
                            f"WHERE run_id = {run} ORDER BY id") for run, _ in runs]
        self.assertGreater(len(trials[0]), 2)
        self.assertEqual(trials[0], trials[1])

    def profiled(self, page):
        command = html.unescape(re.search(r"<pre>([^<]*kopt profile [^<]*)</pre>", page).group(1))
        done = subprocess.run(["sh", "-c", command], cwd="/", env={**os.environ, "PATH": f"{BIN}:/usr/bin:/bin"},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("sectors per global load request", done.stdout)

    def page_and_words(self, name):
        folder = self.folder / "kopt.out" / name
        page = (folder / "report.html").read_text()
        start = time.monotonic()
        self.assertTrue(self.kopt_ok("report", "--run-id", name, "--format", "html").stdout == page, "another page")
        self.assertLess(time.monotonic() - start, 5)
        self.assertEqual(json.loads(self.kopt_ok("report", "--run-id", name, "--format", "json").stdout),
                         json.loads((folder / "run.json").read_text()))

        self.profiled(page)

        said = self.kopt_ok("explain").stdout
        titles = self.rows("SELECT title FROM trials WHERE proposer != 'baseline' AND purpose = 0")
        self.assertGreater(len(titles), 1)
        for number, (title,) in enumerate(titles, 1):
            self.assertIn(f"#{number} '{title}'", said)
            self.assertTrue(title in html.unescape(page), title)
        self.assertIn("Round 1: '", said)
        self.assertIn("The search stopped after", said)
        self.assertEqual(self.kopt_ok("explain", name).stdout, said)

        answer = json.loads(self.kopt_ok("explain", name, "--json").stdout)
        self.assertEqual(answer["command"], "explain")
        self.assertEqual(answer["details"]["run"], name)
        self.assertEqual([each["kind"] for each in answer["results"]][:2], ["start", "baseline"])
        self.assertIn("stop", [each["kind"] for each in answer["results"]])
        one = self.kopt_ok("explain", name, 1).stdout
        self.assertIn(f"#1 '{titles[0][0]}'", one)
        self.assertIn("Verdict: ", one)
        unknown = self.kopt("explain", name, 99)
        self.assertEqual(unknown.returncode, 1)
        self.assertIn("has no trial '99'", unknown.stderr)
        self.assertEqual(self.kopt("explain", "no-such-run").returncode, 1)

        # The page is opened, and written again where it was lost.
        (folder / "report.html").unlink()
        browser = self.write("browser", '#!/bin/sh\nprintf %s "$1" > "$(dirname "$0")/opened"\n')
        browser.chmod(0o755)
        opened = self.kopt_ok("report", "--run-id", name, "--open", env={"BROWSER": f"'{browser}'"})
        self.assertEqual(opened.stdout, f"{folder / 'report.html'}\n")
        for _ in range(100):
            if (self.folder / "opened").exists() and (self.folder / "opened").read_text():
                break
            time.sleep(0.1)
        self.assertEqual((self.folder / "opened").read_text(), str(folder / "report.html"))
        self.assertTrue((folder / "report.html").read_text() == page, "another page")
        nothing = self.kopt("report", "--run-id", name, "--open", env={"BROWSER": "", "DISPLAY": "", "WAYLAND_DISPLAY": ""})
        self.assertEqual(nothing.returncode, 6)
        self.assertIn("no browser to open", nothing.stderr)
        self.assertIn("report.html", nothing.stdout)


if __name__ == "__main__":
    unittest.main()
