#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""format.py CLANG_FORMAT SOURCE_TREE: fails where clang-format would change a source of ours."""
import concurrent.futures
import os
import subprocess
import sys
from pathlib import Path

# Inputs of tests are what a user would write, byte for byte; the headers stand in for NVIDIA's.
EXEMPT = ("tests/lit/", "tests/e2e/data/", "runtime/emulated/include/")
FOLDERS = ("clang_plugin", "driver", "runtime", "tests")


def sources(root):
    tracked = subprocess.run(["git", "-C", root, "ls-files", "-z", *FOLDERS], capture_output=True, text=True)
    if tracked.returncode == 0:
        names = [name for name in tracked.stdout.split("\0") if name and (root / name).exists()]
    else:  # an unpacked release
        names = [str(path.relative_to(root)) for folder in FOLDERS for path in (root / folder).rglob("*")]
    return [str(root / name) for name in names if name.endswith((".h", ".cpp")) and not name.startswith(EXEMPT)]


def main():
    program, root = sys.argv[1], Path(sys.argv[2]).resolve()
    files = sources(root)
    jobs = os.cpu_count() or 1
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        done = list(pool.map(lambda part: subprocess.run([program, "--dry-run", "-Werror", *part], capture_output=True, text=True),
                             [files[start::jobs] for start in range(jobs)]))
    print("".join(one.stderr for one in done) or f"{len(files)} files are formatted", end="\n")
    sys.exit(1 if any(one.returncode for one in done) else 0)


if __name__ == "__main__":
    main()
