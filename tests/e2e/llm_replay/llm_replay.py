#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""llm_replay.py SOURCE BIN FOLDER: a whole run with a language model, whose replies are recorded.

The model first writes a wrong kernel, repairs it into one that does not compile, repairs that, and improves the result.
Half way the model becomes unreachable; the run is resumed and must ask nothing again. What is checked: the order of
the calls, what each prompt said, that keys and paths stay out of them, and that the patch applies.
"""
import os
import pathlib
import shutil
import subprocess
import sys

EXIT_ENVIRONMENT = 6


def fail(message):
    sys.exit(f"llm_replay: {message}")


def check(condition, message):
    if not condition:
        fail(message)


def run(arguments, folder, environment):
    print("$", " ".join(map(str, arguments)), flush=True)
    result = subprocess.run(arguments, cwd=folder, env=environment, text=True, capture_output=True)
    print(result.stdout, result.stderr, f"exit status {result.returncode}", sep="\n", flush=True)
    return result


def prepare(source, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(source / "examples/transpose/transpose.cu", folder)
    for command in (["init", "-q"], ["add", "transpose.cu"],
                    ["-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "-m", "example"]):
        subprocess.run(["git", *command], cwd=folder, check=True)


def copy_replies(source, replies, numbers):
    replies.mkdir(exist_ok=True)
    for number in numbers:
        for reply in (source / "tests/e2e/data/transpose_llm").glob(f"{number:02d}_*.md"):
            shutil.copy(reply, replies)


def prompt_numbers(prompts):
    return sorted(path.name for path in prompts.glob("*.txt"))


def main():
    if len(sys.argv) != 4:
        fail("usage: llm_replay.py SOURCE BIN FOLDER")
    source, binaries, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    prepare(source, folder)
    replies, prompts = folder / "replies", folder / "prompts"
    model = f"exec:python3 {source}/tests/fakes/replay_model.py {replies} {prompts}"
    environment = dict(os.environ, ANTHROPIC_API_KEY="key-that-must-not-leak", NO_COLOR="1")
    tune = [binaries / "kopt", "tune", "transpose.cu", "--device", "emulated", "--model-gpu", "H200",
            "--proposers", "llm", "--model", model]
    flags = ["--", "-std=c++17", "-arch=sm_90", "-I", source / "runtime/include"]

    copy_replies(source, replies, (1, 2))
    stopped = run([*tune, *flags], folder, environment)
    check(stopped.returncode == EXIT_ENVIRONMENT, "a model that cannot be reached ends the run with status 6")
    check("0 recorded replies to call 3" in stopped.stdout + stopped.stderr, "the error holds the command's own words")
    check(prompt_numbers(prompts) == ["01.txt", "02.txt", "03.txt"], "three calls were made")
    check(not list(folder.glob("kopt.out/**/winner.patch")), "nothing was won yet")

    copy_replies(source, replies, (3, 4, 5))
    first = (prompts / "01.txt").stat().st_mtime_ns
    third = (prompts / "03.txt").read_text()
    finished = run([*tune, "--resume", *flags], folder, environment)
    check(finished.returncode == 0, "the resumed run ends well")
    check((prompts / "01.txt").stat().st_mtime_ns == first, "the first call was made again")
    check((prompts / "03.txt").read_text() == third, "the third request is the same before and after the resumption")
    check(prompt_numbers(prompts) == [f"{n:02d}.txt" for n in range(1, 6)], "five calls were made in all")

    check(not list(folder.glob("kopt.out/*/calls")), "transcripts are in the database alone")
    written = run([binaries / "kopt", "report", "--transcripts"], folder, environment)
    check(written.returncode == 0 and "5 calls of models in " in written.stdout, "the transcripts are written when asked for")
    requests, replies_of = ([path.read_text() for path in sorted(folder.glob(f"kopt.out/*/calls/*.{part}"))] for part in ("request", "reply"))
    check(len(requests) == len(replies_of) == 5 and "transpose" in requests[0] and requests[0] != requests[4], "each call has both parts")
    check("key-that-must-not-leak" not in "".join(requests), "no key is in them")

    said = {n: (prompts / f"{n:02d}.txt").read_text() for n in range(1, 6)}
    check("uncoalesced-global-stores" in said[1], "the first prompt names what the rules found")
    check("Document: global-coalescing" in said[1], "the first prompt quotes the skill")
    check(said[2].startswith(said[1].rstrip()), "the second prompt continues the conversation")
    check("# What came of it" in said[2] and "stage the tile in shared memory (stage): WrongResult" in said[2],
          "the second prompt says that the result was wrong")
    check("use of undeclared identifier 'line'" in said[3], "the third prompt holds the compiler's diagnostics")
    check("shared-bank-conflicts-loads" in said[4], "the fourth prompt names the bank conflicts of the incumbent")
    check(said[4].rindex("# The present version") > said[4].rindex("# What came of it"), "the fourth prompt shows what was accepted")
    for number, text in said.items():
        check("key-that-must-not-leak" not in text, f"prompt {number} holds a key")
        check(str(folder) not in text and "/tmp/" not in text, f"prompt {number} holds a path of this machine")

    patches = list(folder.glob("kopt.out/**/winner.patch"))
    check(len(patches) >= 1, "an accepted candidate gives a patch")
    for action in (["apply", "--check", patches[0]], ["apply", patches[0]]):
        check(run(["git", *action], folder, environment).returncode == 0, "git takes the patch")
    patched = (folder / "transpose.cu").read_text()
    check("__shared__ float tile[TILE][TILE + 1];" in patched, "the patch holds the padded tile")
    for written in folder.glob("kopt.out/**/*"):
        if written.is_file():
            check(b"key-that-must-not-leak" not in written.read_bytes(), f"{written} holds a key")
    check(b"key-that-must-not-leak" not in (folder / ".kopt/kopt.db").read_bytes(), "the database holds a key")
    print("llm_replay: passed")


if __name__ == "__main__":
    main()
