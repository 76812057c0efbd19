# SPDX-License-Identifier: Apache-2.0
"""An agent works on a kernel through kopt mcp, on the emulated device."""

import os
import time
import unittest

from kopt_test import DATA, KoptTest
from mcp_client import Client

TURNED = (("EDGE + threadIdx.x;\n  int column", "EDGE + threadIdx.y;\n  int column"),
          ("int column = blockIdx.y * EDGE + threadIdx.y", "int column = blockIdx.y * EDGE + threadIdx.x"))


class McpTest(KoptTest):
    def setUp(self):
        super().setUp()
        self.source = self.copy(DATA / "scale.cu").read_text()
        self.better = self.source
        for old, new in TURNED:
            self.assertIn(old, self.better)
            self.better = self.better.replace(old, new)

    def serve(self, *arguments, **more):
        client = Client(self.folder, "scale.cu", *arguments, **more)
        self.addCleanup(client.process.kill)
        client.hello = client.initialize()
        return client

    def text(self, result, fails=False):
        self.assertEqual(result["isError"], fails, result)
        return result["content"][0]["text"]


class Agent(McpTest):
    def test_from_the_list_to_a_trial(self):
        client = self.serve()
        self.assertIn("submit", client.hello["instructions"])
        names = {tool["name"] for tool in client.ask("tools/list")["result"]["tools"]}
        self.assertEqual(names, {"list", "kernel", "compile", "check", "time", "profile", "sass", "read", "search",
                                 "history", "tune", "submit", "apply"})
        self.assertEqual([kernel["name"] for kernel in client.call("list")["structuredContent"]["kernels"]], ["scale"])
        kernel = client.call("kernel", kernel="scale")
        self.assertIn("factor = 2.5", self.text(kernel))
        self.assertIn("kopt://skill/global-coalescing", self.text(kernel))
        self.write("turned.cu", self.better)
        first = time.monotonic()
        self.assertEqual(client.call("compile", file="turned.cu")["structuredContent"]["verdict"], "Passed")
        self.assertEqual(client.call("check", file="turned.cu")["structuredContent"]["verdict"], "Passed")
        # The slice, as `kernel` has it, is a candidate, too.
        piece = kernel["structuredContent"]["source"]
        wrong = client.call("check", source=piece.replace("factor * in", "factor + in"))
        self.assertEqual(wrong["structuredContent"]["verdict"], "WrongResult")
        self.assertIn("out[0] is", self.text(wrong))
        timed = client.call("time", file="turned.cu")
        self.assertEqual(timed["structuredContent"]["verdict"], "Faster", timed)
        self.assertGreater(timed["structuredContent"]["speedup"]["estimate"], 1.1)
        self.assertTrue(timed["structuredContent"]["modelled"])
        begin = time.monotonic()
        self.assertIn("timed before", self.text(client.call("time", source=self.better)))
        self.assertLess(time.monotonic() - begin, (begin - first) / 2)
        profile = client.call("profile", source=self.better)
        self.assertIn("Beside the original", self.text(profile))
        self.assertIn("sectors per global load request", profile["structuredContent"]["contrast"])
        tried = client.call("history")["structuredContent"]["attempts"]
        self.assertEqual([(attempt["tool"], attempt["verdict"]) for attempt in tried],
                         [("compile", "Ambiguous"), ("check", "Ambiguous"), ("check", "WrongResult"), ("time", "Faster")])
        steps = [note["params"]["progress"] for note in client.notes if note["params"]["progressToken"] == 3]
        self.assertEqual(steps, sorted(set(steps)))
        self.assertEqual(client.end(), 0)

    def test_what_cannot_be_is_said_and_ends_nothing(self):
        client = self.serve("--budget-seconds", "0.001")
        self.write(".env", "KEY=1")
        self.write("deploy.key", "1")
        os.symlink("/etc/hostname", self.folder / "linked.cu")
        for name, why in ((".env", "hidden"), ("deploy.key", "hidden"), ("linked.cu", "outside"), ("/etc/hostname", "outside"),
                          ("../none-such.cu", "not exist"), ("none.cu", "not exist"), (".", "outside")):
            self.assertIn(why, self.text(client.call("read", file=name), fails=True), name)
        self.assertIn("    3  #include <kopt/kopt.h>", self.text(client.call("read", file="scale.cu", lines=3)))
        self.assertIn("outside", self.text(client.call("compile", file="linked.cu"), fails=True))
        self.assertIn("no candidate", self.text(client.call("compile"), fails=True))
        self.assertIn("not as both", self.text(client.call("compile", source="", file="scale.cu"), fails=True))
        self.assertIn("no kernel 'other'", self.text(client.call("compile", kernel="other", file="scale.cu"), fails=True))
        self.assertIn("there is no \"depth\"", self.text(client.call("check", depth=1), fails=True))
        refused = client.call("compile", source=self.source.replace("factor * in", "factor * inn"))
        self.assertEqual(refused["structuredContent"]["verdict"], "BuildFailed")
        self.assertIn(":14:", refused["structuredContent"]["build_log"])
        self.assertIn("in[", self.text(client.call("kernel")))  # the budget ends with the call that uses it up
        self.assertIn("--budget-seconds", self.text(client.call("time", source=self.better), fails=True))
        self.assertIn("kopt apply --run-id scale-1", self.text(client.call("apply", run="scale-1")))
        client.line("{")
        self.assertEqual(client.receive()["error"]["code"], -32700)
        client.line("x" * (17 << 20))
        self.assertEqual(client.receive()["error"]["code"], -32700)
        self.assertEqual(client.ask("ping")["result"], {})
        self.assertEqual(client.end(), 0)

    def test_a_search_is_cancelled_and_a_report_is_read(self):
        client = self.serve()
        client.call("list")
        begun = client.begin_call("tune", seconds=300)
        while "search" not in (note := client.receive())["params"].get("message", ""):
            self.assertEqual(note["method"], "notifications/progress")
        begin = time.monotonic()
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": begun}})
        self.assertIn("nothing was tried", self.text(client.call("history")))  # it waits for the tool before it
        self.assertLess(time.monotonic() - begin, 20)
        self.assertNotIn(begun, [note.get("id") for note in client.notes])
        found = client.call("tune", seconds=10)
        run = found["structuredContent"]["results"][0]["run"]
        self.assertIn(f"kopt://report/{run}", self.text(found))
        listed = {resource["uri"] for resource in client.ask("resources/list")["result"]["resources"]}
        self.assertLessEqual({f"kopt://report/{run}", "kopt://skill/global-coalescing"}, listed)
        report = client.ask("resources/read", uri=f"kopt://report/{run}")["result"]["contents"][0]["text"]
        self.assertIn("scale", report)
        client.begin_call("tune", seconds=300)
        begin = time.monotonic()
        self.assertEqual(client.end(), 0)  # the end of standard input ends what is under way
        self.assertLess(time.monotonic() - begin, 20)


class Skill(KoptTest):
    def test_a_skill_is_written(self):
        self.kopt_ok("skill", "skills/kopt")
        text = (self.folder / "skills" / "kopt" / "SKILL.md").read_text()
        self.assertTrue(text.startswith("---\nname: kopt\ndescription: "))
        for command in ("trial", "profile", "tune", "observe", "apply"):
            self.assertIn(f"kopt {command}", text)


if __name__ == "__main__":
    unittest.main()
