# SPDX-License-Identifier: Apache-2.0
"""A model whose replies come in a later session: requests are files, and the run goes on when their replies are there."""

import json
import re
import shutil
import subprocess
import sys
import unittest

from bad_candidates_test import BODY, HONEST, INDEX
from kopt_test import BIN, DATA, FLAGS, SOURCE, KoptTest

WAITS = 7
TUNE = ["--device", "emulated", "--proposers", "llm", "--json"]


class Folder(KoptTest):
    def setUp(self):
        super().setUp()
        text = self.copy(DATA / "scale.cu").read_text()
        self.kernel = re.search(r"__global__.*?\n}\n", text, re.S).group(0)

    def tune(self, *arguments, code=WAITS, model="folder:requests"):
        done = self.kopt("tune", "scale.cu", *TUNE, "--model", model, *arguments, *FLAGS)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return json.loads(done.stdout)["results"][0]

    def requests(self):
        return sorted((self.folder / "requests").glob("*.request.md"), key=lambda path: path.stat().st_mtime_ns)

    def reply(self, text):
        request = self.requests()[-1]
        request.with_name(request.name.replace(".request.", ".reply.")).write_text(text)

    def decisions(self):
        """Of the last run's search, in order; not when sessions ended."""
        events = json.loads(self.kopt_ok("report", "--json").stdout)["results"][0]["decisions"]
        return [event["what"] for event in events if {"ask", "propose", "judged", "accept"} & event["what"].keys()]

    def candidate(self, name, old, new):
        self.assertIn(old, self.kernel)
        return f"```cuda candidate={name} chunk=scale\n{self.kernel.replace(old, new)}```\n"

    def test_a_run_goes_on_when_its_replies_are_there(self):
        first = self.tune()
        self.assertEqual((first["stop"], first["judged"]), ("waits-for-replies", 0))
        task = self.requests()[0].read_text()
        for part in ("cuda chunk=scale", "# Task"):
            self.assertIn(part, task)
        self.assertNotIn("==== tools ====", task, "each use would cost a session")

        self.reply("```json\n" + json.dumps({"candidates": [
            {"id": "rows", "title": "along the rows", "technique": "swap-axes",
             "expects": [{"metric": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "factor": 0.5}]},
            {"id": "wrong", "title": "wrong"}], "plan": ["wider loads"]}) + "\n```\n" +
            self.candidate("rows", INDEX, HONEST[1]) + self.candidate("wrong", BODY, BODY.replace("factor *", "1.5f * factor *")))
        second = self.tune("--resume")
        self.assertEqual((second["run"], second["judged"]), (first["run"], 2))
        self.assertIn("along the rows", second["winner"]["title"])
        evidence = self.requests()[-1].read_text()
        for part in ("along the rows (swap-axes): Faster", "to be 50.0% of what it was; it is ", "wrong (): WrongResult"):
            self.assertIn(part, evidence)
        self.assertTrue(evidence.startswith(task[:task.index("==== user ====")]), "the conversation goes on")

        self.reply('```json\n{"stop": "it moves only what it must"}\n```\n')
        third = self.tune("--resume", code=0)
        self.assertEqual(third["stop"], "exhausted")
        self.assertIn("it moves only what it must", self.kopt_ok("explain").stdout)
        self.assertIn("the model plans: wider loads", self.kopt_ok("explain").stdout)

        # The folder is a recording: another copy of the project takes the same decisions, in one session.
        decided = self.decisions()
        shutil.rmtree(self.folder / ".kopt")
        again = self.tune(code=0)
        self.assertEqual((again["run"], again["judged"], again["stop"]), (first["run"], 2, "exhausted"))
        self.assertEqual(self.decisions(), decided)

    def test_a_command_may_look_before_it_hands_anything_in(self):
        code = self.kernel.replace(INDEX, HONEST[1])
        self.write("reply.1", "```json\n" + json.dumps({"tools": [
            {"name": "compile", "input": {"candidate": {"title": "look", "chunks": {"scale": code}}}},
            {"name": "check", "input": {"candidate": {"title": "look", "chunks": {"scales": code}}}},
            {"name": "launder", "input": {}}]}) + "\n```\n")
        self.write("reply.2", '```json\n{"title": "along the rows"}\n```\n' + self.candidate("1", INDEX, HONEST[1]))
        done = self.tune(model="exec:cat > asked.$KOPT_CALL; cat reply.$KOPT_CALL || echo '{\"stop\": \"nothing more\"}'", code=0)
        self.assertEqual((done["judged"], done["winner"]["title"]), (1, "along the rows"))
        task, looked = ((self.folder / f"asked.{call}").read_text() for call in (1, 2))
        for part in ("==== tools ====", "- compile: "):
            self.assertIn(part, task)
        for part in ("nothing speaks against it", "scales", 'there is no tool "launder"'):
            self.assertIn(part, looked.split("==== user ====")[-1])

    def test_another_device_judges_again_and_takes_the_reply(self):
        first = self.tune("--model-gpu", "H200")
        self.reply('```json\n{"title": "along the rows"}\n```\n' + self.candidate("1", INDEX, HONEST[1]))
        second = self.tune("--resume", "--model-gpu", "A100")
        self.assertNotEqual(second["run"], first["run"])
        self.assertEqual(second["judged"], 1)
        self.assertIn("along the rows", second["winner"]["title"])
        self.assertEqual(len(self.requests()), 2, "the conversation went on")
        wider = HONEST[1].replace("int column", "const int column")
        self.reply('```json\n{"title": "more of it"}\n```\n' + self.candidate("1", INDEX, wider))
        third = self.tune("--resume", "--model-gpu", "V100")
        titles = [trial["candidate"]["title"] for trial in self.records("trials") if trial["purpose"] == "search"]
        self.assertEqual(titles[-3:], ["baseline", "along the rows", "along the rows + more of it"])
        self.assertEqual(third["judged"], 2, "what was best is judged again, then the reply")

    def test_what_a_section_is_worth_is_asked_at_a_recorded_point(self):
        run = self.tune()["run"]
        whole = self.requests()[-1].read_text()
        again = ["--at", f"{run}:1", "--without", "bound", "--samples", "2"]
        self.tune(*again)
        asked = {int(re.search(r"-at-1-1-(\d+)-1-", path.name)[1]): path for path in self.requests()[1:]}
        self.assertEqual(sorted(asked), [1, 2, 3, 4])
        for ask, request in asked.items():
            text = request.read_text()
            self.assertEqual(text == whole, ask % 2 == 1, "the first of two is asked as it was, and the second without")
            self.assertEqual("# What bounds the present version" in text, ask % 2 == 1)

        def answer(ask, text):
            asked[ask].with_name(asked[ask].name.replace(".request.", ".reply.")).write_text(text)

        answer(1, '```json\n{"title": "along the rows"}\n```\n' + self.candidate("1", INDEX, HONEST[1]))
        answer(2, '```json\n{"stop": "it is as fast as it gets"}\n```\n')
        waits = self.tune(*again, "--resume")
        self.assertEqual((waits["run"], waits["judged"], waits["stop"]), (f"{run}-at-1-1", 1, "waits-for-replies"))
        answer(3, '```json\n{"stop": "nothing"}\n```\n')
        answer(4, '```json\n{"title": "wrong"}\n```\n' + self.candidate("1", BODY, BODY.replace("factor *", "1.5f * factor *")))
        done = self.tune(*again, "--resume", code=0)
        self.assertEqual((done["run"], done["judged"]), (f"{run}-at-1-1", 2))
        elsewhere = self.tune(*again, "--resume", "--model-gpu", "A100", code=0)
        self.assertEqual((elsewhere["run"], elsewhere["judged"]), (f"{run}-at-1-2", 2), "its turns are taken over")
        other = self.tune("--at", f"{run}:1", "--without", "rules", "--samples", "2", "--resume")
        self.assertEqual((other["run"], other["judged"]), (f"{run}-at-1-3", 0), "of other turns nothing is")

        self.write("frozen.json", json.dumps({"of": [run, 1], "frozen": done["run"], "waits": False, "variants": [[], ["bound"]],
                                              "samples": 2}))
        table = subprocess.run([sys.executable, SOURCE / "tests" / "benchmarks" / "frozen_points.py", "--kopt", BIN / "kopt", "--table", "--work",
                                self.folder.parent, "--sources", self.folder.parent, "--point", self.folder.name], capture_output=True, text=True)
        self.assertEqual(table.returncode, 0, table.stderr)
        whole, without = (line.split(" | ") for line in table.stdout.splitlines()[2:4])
        self.assertEqual(whole[:5], ["| all of it", "2", "1", "1", "1"])
        self.assertGreater(float(whole[5].split()[0]), 0.05, "the mean of a gain and of nothing")
        self.assertEqual(without[:6], ["| without bound", "2", "1", "0", "0", "0.000 [0.000, 0.000]"])
        refused = self.kopt("tune", "scale.cu", *TUNE, "--model", "folder:requests", "--at", f"{run}:9", *FLAGS)
        self.assertEqual(refused.returncode, 1)
        self.assertIn(f"run {run} has no ask 9 of a model", refused.stdout + refused.stderr)


if __name__ == "__main__":
    unittest.main()
