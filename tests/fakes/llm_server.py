#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A language-model service that follows a script: Anthropic Messages and chat completions on loopback.

    llm_server.py SCRIPT.json [--log FILE]

SCRIPT is a list of steps, one for each request in order:
    {"text": "...", "cut_off": false, "usage": [input, output, cached]}   a reply in the shape that the path asks for
    {"use": ["NAME", {...}], "usage": …}                                  a use of a tool; with "text" both
    {"status": 429, "headers": {"retry-after": "0"}, "error": "..."}      an error
    {"raw": "..."}                                                        a body that is sent as it is, with status 200
    {"drop": true}                                                        the connection is closed without an answer
    {"seconds": 9}                                                        no answer for that long, then as "drop"
GET takes its steps from the same list. After the last step every request fails with status 400. The first line on standard
output is the port. --log writes one JSON object a request: path, headers (lower case), body (null for GET).
"""
import argparse
import http.server
import json
import threading
import time


def reply_body(path, step, request):
    usage = step.get("usage", [0, 0, 0])
    cut_off = step.get("cut_off", False)
    if path.endswith("/v1/messages"):
        return {
            "type": "message",
            "role": "assistant",
            "model": request.get("model", ""),
            "content": ([{"type": "text", "text": step["text"]}] if "text" in step else [])
            + ([{"type": "tool_use", "id": "toolu_1", "name": step["use"][0], "input": step["use"][1]}] if "use" in step else []),
            "stop_reason": "max_tokens" if cut_off else "tool_use" if "use" in step else "end_turn",
            "usage": {
                "input_tokens": usage[0] - usage[2],
                "output_tokens": usage[1],
                "cache_read_input_tokens": usage[2],
                "cache_creation_input_tokens": 0,
            },
        }
    return {
        "object": "chat.completion",
        "model": request.get("model", ""),
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": step.get("text")}
                | ({"tool_calls": [{"id": "call_1", "type": "function",
                                    "function": {"name": step["use"][0], "arguments": json.dumps(step["use"][1])}}]} if "use" in step else {}),
                "finish_reason": "length" if cut_off else "tool_calls" if "use" in step else "stop",
            }
        ],
        "usage": {
            "prompt_tokens": usage[0],
            "completion_tokens": usage[1],
            "prompt_tokens_details": {"cached_tokens": usage[2]},
        },
    }


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        self.follow("null")

    def do_POST(self):
        self.follow(self.rfile.read(int(self.headers.get("content-length", 0))).decode())

    def follow(self, body):
        with self.server.lock:
            step = self.server.steps.pop(0) if self.server.steps else {"status": 400, "error": "the script has ended"}
            if self.server.log:
                record = {
                    "path": self.path,
                    "headers": {name.lower(): value for name, value in self.headers.items()},
                    "body": json.loads(body),
                }
                self.server.log.write(json.dumps(record) + "\n")
                self.server.log.flush()
        if "seconds" in step:
            time.sleep(step["seconds"])
        if step.get("drop") or "seconds" in step:
            self.close_connection = True
            return
        if "raw" in step:
            self.answer(200, {}, step["raw"])
        elif "text" in step or "use" in step:
            self.answer(200, {}, json.dumps(reply_body(self.path, step, json.loads(body))))
        else:
            error = {"type": "error", "error": {"type": "scripted", "message": step.get("error", "")}}
            self.answer(step["status"], step.get("headers", {}), json.dumps(error))

    def answer(self, status, headers, body):
        data = body.encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("script")
    parser.add_argument("--log")
    options = parser.parse_args()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    with open(options.script) as file:
        server.steps = json.load(file)
    server.lock = threading.Lock()
    server.log = open(options.log, "w") if options.log else None
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
