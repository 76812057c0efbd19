#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium for tests, spoken to over two pipes (the DevTools protocol, no port): files only, nothing is loaded
from a network."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


def find():
    """The browser's path, or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    def __init__(self, seconds=60):
        self.deadline = time.monotonic() + seconds
        self.profile = tempfile.TemporaryDirectory(prefix="kopt-browser-")
        to_read, self.write_end = os.pipe()
        self.read_end, to_write = os.pipe()
        # Away from 3 and 4, where the browser expects them.
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (to_read, to_write)]
        os.close(to_read)
        os.close(to_write)
        def place():
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [find(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
             "--disable-background-networking", "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND",
             f"--user-data-dir={self.profile.name}", "--remote-debugging-pipe", "about:blank"],
            pass_fds=(3, 4), preexec_fn=place, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env={**os.environ, "HOME": self.profile.name})
        for fd in high:
            os.close(fd)
        self.buffer, self.last, self.events = b"", 0, []
        self.session = None
        target = next(each for each in self.call("Target.getTargets")["targetInfos"] if each["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        self.profile.cleanup()

    def _receive(self):
        while b"\0" not in self.buffer:
            left = self.deadline - time.monotonic()
            if left <= 0 or not select.select([self.read_end], [], [], left)[0]:
                raise TimeoutError("the browser did not answer in time")
            piece = os.read(self.read_end, 1 << 20)
            if not piece:
                raise EOFError("the browser ended")
            self.buffer += piece
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method, **parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write_end, data):]
        while True:
            answer = self._receive()
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, file, width=1240, height=1000, scheme="light", media="screen", scripts=True):
        """Opens a file; what the console said of it is in `complaints()`."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.events = []
        self.call("Page.navigate", url=file.resolve().as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._receive())

    def complaints(self):
        self.evaluate("1")  # what is under way has arrived before the answer
        return [event["params"] for event in self.events
                if event.get("method") in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")]

    def requests(self):
        return [event["params"]["request"]["url"] for event in self.events
                if event.get("method") == "Network.requestWillBeSent"]

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def screenshot(self, file, clip=None):
        parameters = {"clip": {**clip, "scale": clip.get("scale", 1)}} if clip else {}
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, **parameters)["data"]
        file.write_bytes(base64.b64decode(data))

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])
