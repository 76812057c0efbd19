# SPDX-License-Identifier: Apache-2.0
"""The templates of examples/ci keep code of a fork apart from what may write, and the comment is posted once and then updated."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

CI = pathlib.Path(os.environ["KOPT_SOURCE_DIR"]) / "examples" / "ci"
MARKER = "<!-- kopt-ci: default -->"

# Answers as GitHub would, and keeps what it is asked to post.
GH = r"""#!/bin/bash
printf '%q ' "$@" >> "$LOG"; echo >> "$LOG"
case "$*" in
  "run download"*) mkdir -p in; test -f "$REPORT" && cp "$REPORT" in/comment.md ;;
  *"/pulls "*) echo "$PULL" ;;
  *"--paginate"*) echo "$COMMENT" ;;
  *body=@body.md*) cp body.md "$POSTED" ;;
esac
"""


def script_of(file):
    """The text of the only `run: |`."""
    lines = file.read_text().splitlines()
    start, = [index for index, line in enumerate(lines) if line.strip() == "run: |"]
    indent = len(lines[start]) - len(lines[start].lstrip())
    body = []
    for line in lines[start + 1:]:
        if line.strip() and len(line) - len(line.lstrip()) <= indent:
            break
        body.append(line)
    return "\n".join(body)


class Templates(unittest.TestCase):
    def test_what_runs_the_change_may_write_nothing(self):
        text = (CI / "github" / "kopt.yml").read_text()
        self.assertIn("\npermissions:\n  contents: read\n", text)
        self.assertIn("persist-credentials: false", text)
        for bad in ("secrets.", "pull_request_target", ": write", "github.token", "_KEY"):
            self.assertNotIn(bad, text)
        # What a fork may choose is no part of a shell command.
        for line in re.findall(r"run: .*|^          kopt ci.*", text, re.M):
            self.assertNotIn("${{", line)

    def test_what_may_write_runs_nothing_of_the_change(self):
        text = (CI / "github" / "kopt-comment.yml").read_text()
        self.assertIn("workflow_run:", text)
        for bad in ("actions/checkout", "secrets.", "contents: write", "kopt ci", "cmake"):
            self.assertNotIn(bad, text)
        self.assertNotIn("${{", script_of(CI / "github" / "kopt-comment.yml"))
        gitlab = (CI / "gitlab" / "kopt.gitlab-ci.yml").read_text()
        measure, comment = gitlab.split("\nkopt-comment:")
        self.assertNotIn("TOKEN", measure.split("\nkopt:")[1].split("# The comment.")[0])
        self.assertIn("GIT_STRATEGY: none", comment)
        self.assertIn('$CI_COMMIT_REF_PROTECTED == "true"', comment)

    def post(self, report, pull="7", comment=""):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "gh").write_text(GH)
            (folder / "gh").chmod(0o755)
            if report is not None:
                (folder / "report").write_text(report)
            done = subprocess.run(
                ["bash", "-c", script_of(CI / "github" / "kopt-comment.yml")], cwd=folder, capture_output=True, text=True,
                env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "LOG": str(folder / "log"), "TMPDIR": str(folder),
                     "REPORT": str(folder / "report"), "POSTED": str(folder / "posted"), "PULL": pull, "COMMENT": comment,
                     "REPOSITORY": "o/r", "RUN": "5", "HEAD": "abc", "FROM": "fork:x; touch bad", "GH_TOKEN": "t"})
            posted = folder / "posted"
            self.assertFalse(list(folder.rglob("bad")))
            return done, (folder / "log").read_text(), posted.read_text() if posted.exists() else None

    def test_a_comment_is_posted_and_later_updated(self):
        done, log, posted = self.post(MARKER + "\nhello @everyone $(touch bad) `touch bad`\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("POST repos/o/r/issues/7/comments", log)
        self.assertEqual(posted, MARKER + "\nhello &#64;everyone $(touch bad) `touch bad`\n")
        done, log, posted = self.post(MARKER + "\nagain\n", comment="99")
        self.assertIn("PATCH repos/o/r/issues/comments/99", log)
        self.assertIn("again", posted)

    def test_what_is_no_report_is_not_posted(self):
        for report, code in ((None, 0), ("no marker\n", 1)):
            done, log, posted = self.post(report)
            self.assertEqual((done.returncode, posted), (code, None), done.stdout + done.stderr)
        done, log, posted = self.post(MARKER + "\n", pull="")
        self.assertEqual((done.returncode, posted), (0, None))
        done, log, posted = self.post(MARKER + "\n" + "x" * 100_000)
        self.assertLessEqual(len(posted), 60_000)


if __name__ == "__main__":
    unittest.main()
