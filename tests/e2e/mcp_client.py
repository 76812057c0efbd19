# SPDX-License-Identifier: Apache-2.0
"""A client of the Model Context Protocol that can also break it: a kopt mcp, and messages of a line each."""

import json
import os
import subprocess

from kopt_test import BIN, FLAGS


class Client:
    def __init__(self, folder, *arguments, env=None):
        self.log = open(folder / "mcp.log", "w+")
        self.process = subprocess.Popen(
            [str(BIN / "kopt"), "mcp", *map(str, arguments), "--device", "emulated", *FLAGS], cwd=folder, text=True,
            env={**os.environ, **(env or {})}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log)
        self.asked, self.notes = 0, []

    def send(self, message):
        self.line(json.dumps(message))

    def line(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def receive(self):
        """The next message; None at the end. Whatever else is on standard output is an error."""
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def begin(self, method, **params):
        self.asked += 1
        self.send({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params})
        return self.asked

    def answer(self, number):
        while message := self.receive():
            if message.get("id") == number:
                return message
            self.notes.append(message)
        self.log.seek(0)
        raise AssertionError("kopt mcp ended: " + self.log.read())

    def ask(self, method, **params):
        return self.answer(self.begin(method, **params))

    def initialize(self):
        hello = self.ask("initialize", protocolVersion="2025-11-25", capabilities={},
                         clientInfo={"name": "kopt's tests", "version": "1"})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return hello["result"]

    def begin_call(self, name, **arguments):
        return self.begin("tools/call", name=name, arguments=arguments, _meta={"progressToken": self.asked + 1})

    def call(self, name, **arguments):
        return self.answer(self.begin_call(name, **arguments))["result"]

    def end(self):
        """Closes standard input; the exit code."""
        self.process.stdin.close()
        code = self.process.wait(timeout=60)
        self.process.stdout.close()
        self.log.close()
        return code
