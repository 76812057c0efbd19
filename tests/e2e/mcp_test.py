# SPDX-License-Identifier: Apache-2.0
"""An agent works on a kernel through kopt mcp, on the emulated device."""

import os
import pathlib
import signal
import time
import unittest

from kopt_test import DATA, KoptTest
from mcp_client import Client
from observe_test import APP, CUDA

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
        self.assertIn("Outputs are compared: ", self.text(kernel))
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
        self.assertIn("beside the original", self.text(profile))
        self.assertTrue(any(row["candidate"] != row["original"] for row in profile["structuredContent"]["contrast"]))
        piece = piece.replace("threadIdx.x;\n  int column", "threadIdx.y;\n  int column").replace(
            "EDGE + threadIdx.y;\n  if", "EDGE + threadIdx.x;\n  if")
        for given in ({"file": "turned.cu"}, {"source": piece}):
            handed = client.call("submit", kernel="scale", seconds=60, **given)
            self.assertIn("the candidate: Faster", self.text(handed))
            self.assertTrue(pathlib.Path(handed["structuredContent"]["results"][0]["winner"]["patch"]).is_file())
        self.assertEqual((self.folder / "scale.cu").read_text(), self.source)
        tried = client.call("history")["structuredContent"]["attempts"]
        self.assertEqual([(attempt["tool"], attempt["verdict"]) for attempt in tried if attempt["tool"] != "submit"],
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


BAD_FRAMES = [
    "", " ", "{", "}", "[]", "null", "1", '"text"', "\x00", "\ufeff{}", "not JSON", "{}", '{"jsonrpc": "2.0"}', "[" * 5000,
    '{"a":' * 3000 + "1" + "}" * 3000, '{"jsonrpc": "1.0", "id": 1, "method": "ping"}', '{"jsonrpc": "2.0", "id": null, "method": "ping"}',
    '{"jsonrpc": "2.0", "id": [1], "method": "ping"}', '{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}',
    '{"jsonrpc": "2.0", "id": 901, "method": 7}', '{"jsonrpc": "2.0", "id": 902, "method": "ping", "params": []}',
    '{"jsonrpc": "2.0", "id": 903, "method": "tools/none"}', '{"jsonrpc": "2.0", "id": 904, "method": "tools/call"}',
    '{"jsonrpc": "2.0", "id": 905, "method": "tools/call", "params": {"name": "none"}}',
    '{"jsonrpc": "2.0", "id": 906, "method": "tools/call", "params": {"name": 5}}',
    '{"jsonrpc": "2.0", "id": 907, "method": "tools/call", "params": {"name": "read", "arguments": null}}',
    '{"jsonrpc": "2.0", "id": 908, "method": "tools/call", "params": {"name": "read", "arguments": []}}',
    '{"jsonrpc": "2.0", "id": 909, "method": "tools/call", "params": {"name": "read", "arguments": {"file": 1}}}',
    '{"jsonrpc": "2.0", "id": 910, "method": "tools/call", "params": {"name": "read", "arguments": {"file": "a\\u0000b"}}}',
    '{"jsonrpc": "2.0", "id": 911, "method": "tools/call", "params": {"name": "read", "arguments": {"file": "scale.cu", "from": 1e300}}}',
    '{"jsonrpc": "2.0", "id": 912, "method": "tools/call", "params": {"name": "read", "arguments": {"file": "scale.cu", "lines": -1}}}',
    '{"jsonrpc": "2.0", "id": 913, "method": "tools/call", "params": {"name": "apply", "arguments": {"run": "\\ud800"}}}',
    '{"jsonrpc": "2.0", "id": 914, "method": "resources/read"}', '{"jsonrpc": "2.0", "id": 915, "method": "resources/read", "params": {"uri": 3}}',
    '{"jsonrpc": "2.0", "id": 916, "method": "resources/read", "params": {"uri": "kopt://report/../../x"}}',
    '{"jsonrpc": "2.0", "id": 917, "method": "resources/read", "params": {"uri": "file:///etc/passwd"}}',
    '{"jsonrpc": "2.0", "id": 918, "method": "tools/list", "params": {"cursor": "x"}}',
    '{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}}',
    '{"jsonrpc": "2.0", "method": "notifications/cancelled"}', '{"jsonrpc": "2.0", "method": "notifications/none"}',
    '{"jsonrpc": "2.0", "id": 5, "result": {}}', '{"jsonrpc": "2.0", "id": 919, "method": "initialize", "params": {}}',
]


class Misbehaviour(McpTest):
    def test_of_frames_is_answered_and_ends_nothing(self):
        client = self.serve()
        self.assertGreaterEqual(len(BAD_FRAMES), 30)
        for frame in BAD_FRAMES:
            client.line(frame)
            client.notes.clear()
            self.assertEqual(client.ask("ping").get("result"), {}, frame[:80])
            for note in client.notes:  # never a result where there is none, and never the text of a file outside
                self.assertTrue("error" in note or note["result"].get("isError") or note["id"] == 913, (frame[:80], note))
        self.assertEqual(client.end(), 0)

    def test_of_calls_changes_no_verdict(self):
        client = self.serve()
        two = [client.begin_call("check", source=text) for text in (self.better, self.source.replace("factor *", "factor +"))]
        client.send({"jsonrpc": "2.0", "id": two[0], "method": "tools/call", "params": {"name": "list", "arguments": {}}})
        gone = client.begin_call("check", source=self.better)
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": gone}})
        last = client.begin_call("history")
        answers = {}
        while last not in answers:
            message = client.receive()
            if "id" in message:
                answers.setdefault(message["id"], []).append(message)
        self.assertEqual(answers[two[0]][0]["error"]["code"], -32600)  # the same id again
        self.assertEqual(answers[two[0]][1]["result"]["structuredContent"]["verdict"], "Passed")
        self.assertEqual(answers[two[1]][0]["result"]["structuredContent"]["verdict"], "WrongResult")
        self.assertNotIn(gone, answers)
        client.process.send_signal(signal.SIGINT)
        self.assertEqual(client.process.wait(timeout=60), 0)
        client.end()

    def test_before_the_handshake_is_refused(self):
        client = Client(self.folder, "scale.cu")
        self.addCleanup(client.process.kill)
        self.assertEqual(client.ask("tools/list")["error"]["code"], -32600)
        self.assertEqual(client.ask("ping")["result"], {})
        client.initialize()
        client.process.stdout.close()  # nobody reads any more
        client.begin("tools/list")
        self.assertEqual(client.process.wait(timeout=60), 0)


@unittest.skipUnless(APP.exists(), "this build has no capture library")
class Program(KoptTest):
    def test_its_kernels_are_listed_by_their_time_and_judged_on_its_launches(self):
        file = self.copy(DATA / "captured.cu")
        client = Client(self.folder, file.name, "--run", f"{APP} scale weigh", env=CUDA)
        self.addCleanup(client.process.kill)
        client.initialize()
        listed = client.call("list")
        self.assertFalse(listed["isError"], listed)
        kernels = listed["structuredContent"]["kernels"]
        self.assertEqual(kernels[0]["name"], "scale")
        shares = [kernel["share"] for kernel in kernels]
        self.assertEqual(shares, sorted(shares, reverse=True))
        self.assertGreater(sum(shares), 0.8)
        kernel = client.call("kernel", kernel="scale")
        self.assertFalse(kernel["isError"], kernel)
        self.assertGreaterEqual(len(kernel["structuredContent"]["launches"]), 1)
        wrong = client.call("check", kernel="scale", source=file.read_text().replace("factor * in", "factor + in"))
        self.assertEqual(wrong["structuredContent"]["verdict"], "WrongResult", wrong)
        self.assertEqual(client.end(), 0)


class Skill(KoptTest):
    def test_a_skill_is_written(self):
        self.kopt_ok("skill", "skills/kopt")
        text = (self.folder / "skills" / "kopt" / "SKILL.md").read_text()
        self.assertTrue(text.startswith("---\nname: kopt\ndescription: "))
        for command in ("trial", "profile", "tune", "observe", "apply"):
            self.assertIn(f"kopt {command}", text)


if __name__ == "__main__":
    unittest.main()
