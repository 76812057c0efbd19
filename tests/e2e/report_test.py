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


SUMS = """#include <kopt/kopt.h>

constexpr int BLOCK = 64;

KOPT_TUNE("arg rows = 9600", "arg columns = 64", "extent in = rows * columns", "extent out = rows",
          "param BLOCK in {32, 64}")
__global__ void sums(const float *in, float *out, int rows, int columns) {
  int row = blockIdx.x * BLOCK + threadIdx.x;
  if (row >= rows)
    return;
  float sum = 0;
  for (int i = 0; i < columns; ++i)
    sum += in[row * columns + i];
  out[row] = sum;
}

void run(const float *in, float *out, int rows, int columns) {
  sums<<<(rows + BLOCK - 1) / BLOCK, BLOCK>>>(in, out, rows, columns);
}
"""


class Report(KoptTest):
    def test_the_inner_loop_is_the_hot_line(self):
        file = self.write("sums.cu", SUMS)
        self.tune("sums.cu", "--proposers", "params", "--trials", 2)
        number, text = next((number, line.strip()) for number, line in enumerate(SUMS.splitlines(), 1) if "sum +=" in line)
        run = json.loads(self.kopt_ok("report", "--format", "json").stdout)
        with_lines = [trial for trial in run["trials"] if trial["hot_lines"]["lines"]]
        self.assertEqual([trial["purpose"] for trial in with_lines], ["search", "confirmation"])
        self.assertEqual(with_lines[0], run["trials"][0])
        for trial in with_lines:
            hot = trial["hot_lines"]
            self.assertEqual(hot["source"], "emulated")
            first = hot["lines"][0]
            self.assertEqual((first["file"], first["line"], first["text"]), (str(file), number, text))
            self.assertGreater(first["instructions"], 0.4 * hot["instructions"])
            # 9600 rows of 64 elements, each in a sector of its own; eight sums are a sector.
            self.assertEqual(first["sectors"], 9600 * 64)
            self.assertEqual(hot["sectors"], 9600 * 64 + 1200)
            self.assertLessEqual(sum(line["instructions"] for line in hot["lines"]), hot["instructions"])
        self.assertEqual(with_lines[0]["hot_lines"]["instructions"], run["trials"][0]["counters"]["smsp__inst_executed.sum"])

        markdown = self.kopt_ok("report").stdout
        rows = re.findall(rf"\| sums\.cu:{number} \| ([0-9.]+)% \| 99\.8% \| `(.*)` \|", markdown)
        self.assertEqual([text for _, text in rows], [text, text])
        page = self.kopt_ok("report", "--format", "html").stdout
        section = html.unescape(re.search(r'<section id="lines" .*?</section>', page, re.S).group(0))
        self.assertIn("Counted on the emulated device", section)
        self.assertIn("Winner, in the file as its patch leaves it", section)
        self.assertEqual(section.count(f">sums.cu:{number}</th>"), 2)
        self.assertEqual(section.count(f"<code>{text}</code>"), 2)
        self.assertIn(f"hot line (emulated): sums.cu:{number} has ", self.kopt_ok("explain").stdout)
        self.assertIn(f"sums.cu:{number} has ", self.kopt_ok("explain", "latest", 1).stdout)

        # The winner's lines are those of the patched file.
        self.kopt_ok("apply", "--modelled")
        patched = file.read_text().splitlines()
        for line in with_lines[1]["hot_lines"]["lines"]:
            self.assertEqual(patched[line["line"] - 1].strip(), line["text"])

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
        runs = self.records("runs")
        self.assertEqual(len(runs), 2)
        self.assertEqual(runs[0]["inputs_hash"], runs[1]["inputs_hash"])
        trials = [[(trial["candidate_hash"], trial["purpose"], trial["verdict"]) for trial in self.records("trials", run)]
                  for run in (1, 2)]
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
        titles = [trial["candidate"]["title"] for trial in self.records("trials")
                  if trial["candidate"]["proposer"] != "baseline" and trial["purpose"] == "search"]
        self.assertGreater(len(titles), 1)
        for number, title in enumerate(titles, 1):
            self.assertIn(f"#{number} '{title}'", said)
            self.assertTrue(title in html.unescape(page), title)
        self.assertIn("Round 1: '", said)
        self.assertIn("The search stopped after", said)
        self.assertEqual(self.kopt_ok("explain", name).stdout, said)
        self.assertIn('<section id="lines" ', page)

        answer = json.loads(self.kopt_ok("explain", name, "--json").stdout)
        self.assertEqual(answer["command"], "explain")
        self.assertEqual(answer["details"]["run"], name)
        self.assertEqual([each["kind"] for each in answer["results"]][:2], ["start", "baseline"])
        self.assertIn("stop", [each["kind"] for each in answer["results"]])
        one = self.kopt_ok("explain", name, 1).stdout
        self.assertIn(f"#1 '{titles[0]}'", one)
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
