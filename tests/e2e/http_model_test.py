# SPDX-License-Identifier: Apache-2.0
"""A run with a model over HTTP, in either protocol: a tool, two candidates, evidence, and a bill that is right to the token."""

import json
import re
import subprocess
import sys
import unittest

from bad_candidates_test import BODY, HONEST, INDEX
from kopt_test import DATA, FLAGS, SOURCE, KoptTest

KEY = "a-key-that-nobody-may-see"


class HttpModel(KoptTest):
    def setUp(self):
        super().setUp()
        text = self.copy(DATA / "scale.cu").read_text()
        self.kernel = re.search(r"__global__.*?\n}\n", text, re.S).group(0)

    def serve(self, steps):
        """The address of a service that answers so."""
        script = self.write("script.json", json.dumps(steps))
        server = subprocess.Popen([sys.executable, SOURCE / "tests/fakes/llm_server.py", script, "--log", self.folder / "served"],
                                  stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        return f"http://127.0.0.1:{server.stdout.readline().strip()}"

    def served(self):
        return [json.loads(line) for line in (self.folder / "served").read_text().splitlines()]

    def check(self, model, environment, path=""):
        fast = self.kernel.replace(INDEX, HONEST[1])
        wrong = self.kernel.replace(BODY, BODY.replace("factor *", "1.5f * factor *"))
        header = json.dumps({"candidates": [{"id": "a", "title": "along the rows"}, {"id": "b", "title": "wrong"}]})
        address = self.serve([
            {"use": ["compile", {"candidate": {"title": "look", "chunks": {"scale": fast}}}], "usage": [1000, 100, 0]},
            {"text": f"```json\n{header}\n```\n```cuda candidate=a chunk=scale\n{fast}```\n```cuda candidate=b chunk=scale\n{wrong}```\n",
             "usage": [1500, 200, 1000]},
            {"text": '```json\n{"stop": "nothing is left"}\n```\n', "usage": [2000, 50, 1500]}])
        done = self.kopt_ok("tune", "scale.cu", "--device", "emulated", "--proposers", "llm", "--model", model, "--max-dollars", "5",
                            "--json", "--log-file", "kopt.log", *FLAGS, env={name: value + path if value == address else value
                                                                           for name, value in environment(address).items()})
        result = json.loads(done.stdout)["results"][0]
        self.assertEqual((result["judged"], result["stop"]), (2, "exhausted"))
        self.assertIn("along the rows", result["winner"]["title"])
        bodies = [each["body"] for each in self.served()]
        self.assertEqual([len(body["tools"]) for body in bodies], [6, 6, 6])
        self.assertIn("nothing speaks against it", json.dumps(bodies[1]["messages"][-1]))
        self.assertIn("along the rows: Faster", json.dumps(bodies[2]["messages"][-1]).replace(" ()", ""))
        self.assertEqual(bodies[2]["messages"][:2], bodies[1]["messages"][:2], "what was said stays as it was")
        calls = self.records("model_calls")
        self.assertEqual([(call["input_tokens"], call["output_tokens"], call["cached_tokens"]) for call in calls],
                         [(1000, 100, 0), (1500, 200, 1000), (2000, 50, 1500)])
        prices = next(each for each in json.loads((SOURCE / "knowledge/prices.json").read_text()) if each["model"] == model.split(":")[1])
        expected = (2000 * prices["input"] + 2500 * prices["cached"] + 350 * prices["output"]) / 1e6
        self.assertAlmostEqual(sum(call["dollars"] for call in calls), expected, 12)
        report = self.kopt_ok("report").stdout
        self.assertRegex(report, r"coder, ask 1 \| \S+ \| 2 \| 2500 \| 300 \| 1000 \| \d+\.\d{4} \|")
        for file in self.folder.rglob("*"):
            if file.is_file() and file.name != "served":
                self.assertNotIn(KEY.encode(), file.read_bytes(), file)
        self.assertNotIn(KEY, done.stdout + done.stderr)

    def test_anthropic_messages(self):
        self.check("anthropic:claude-opus-4-5", lambda address: {"KOPT_ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": KEY})

    def test_chat_completions(self):
        self.check("openai:gpt-4.1", lambda address: {"KOPT_OPENAI_BASE_URL": address, "OPENAI_API_KEY": KEY}, path="/v1")

    def test_a_limit_in_dollars_needs_a_price_and_is_kept(self):
        address = self.serve([])
        environment = {"KOPT_OPENAI_BASE_URL": address + "/v1"}
        arguments = ["tune", "scale.cu", "--device", "emulated", "--proposers", "llm", *FLAGS]
        refused = self.kopt(*arguments[:-len(FLAGS)], "--model", "openai:my-own", "--max-dollars", "1", *FLAGS, env=environment)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("no price is known for the model openai:my-own", refused.stderr)
        kept = self.kopt_ok(*arguments[:-len(FLAGS)], "--model", "openai:gpt-4.1", "--max-dollars", "0.01", *FLAGS, env=environment)
        self.assertIn("of 0.01 dollars are used, and the next call may cost", kept.stderr)
        self.assertEqual(self.served(), [])


if __name__ == "__main__":
    unittest.main()
