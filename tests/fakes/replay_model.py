#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A model command (kopt tune --model 'exec:python3 replay_model.py DIR') that answers with recorded replies.

The reply to call N is DIR/NN_*.md: two digits, then any name. The prompt is read, and written to PROMPTS/NN.txt where
a second argument names a folder. A call without a recorded reply is an error.
"""
import os
import pathlib
import sys


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: replay_model.py DIR [PROMPTS]")
    prompt = sys.stdin.read()
    call = int(os.environ.get("KOPT_CALL", "0"))
    if len(sys.argv) == 3:
        folder = pathlib.Path(sys.argv[2])
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{call:02d}.txt").write_text(prompt)
    replies = sorted(pathlib.Path(sys.argv[1]).glob(f"{call:02d}_*.md"))
    if len(replies) != 1:
        sys.exit(f"replay_model: {len(replies)} recorded replies to call {call} in {sys.argv[1]}")
    sys.stdout.write(replies[0].read_text())


if __name__ == "__main__":
    main()
