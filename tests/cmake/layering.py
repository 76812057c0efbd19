#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""layering.py SOURCE_TREE: who may include whom, and the other house rules of DESIGN.md that a script can see."""
import re
import subprocess
import sys
from pathlib import Path

# The first rule whose folder a file lies in judges it: (folder, what its #include must not match, why).
FORBIDDEN = [
    ("driver/support/", r"^driver/(?!support/)|^runtime/|^clang_plugin/|^(clang|clang-c|llvm)/",
     "driver/support knows nothing of kopt"),
    ("driver/cli/", r"^clang_plugin/|^(clang|clang-c|llvm)/", "only clang_plugin includes Clang or LLVM"),
    ("driver/app/", r"^driver/cli/|^clang_plugin/|^(clang|clang-c|llvm)/", "nothing includes driver/cli"),
    ("driver/", r"^driver/(cli|app)/|^clang_plugin/|^(clang|clang-c|llvm)/",
     "nothing below driver/app includes it, and only clang_plugin includes Clang or LLVM"),
    ("runtime/include/", r"^(driver|clang_plugin|runtime)/|^(clang|clang-c|llvm|nlohmann|fmt|spdlog|tl)/",
     "runtime/include compiles in any user's project"),
    ("runtime/", r"^(driver|clang_plugin|knowledge)/|^(clang|clang-c|llvm|nlohmann|fmt|spdlog)/",
     "runtime includes nothing of ours, no JSON, no LLVM"),
    ("clang_plugin/", r"^(driver|knowledge)/", "nothing depends on driver"),
]
SOURCE = {".h", ".cpp", ".cu", ".cuh"}
MAX_LINES = 600
LAYERED = ("clang_plugin", "runtime", "driver")


def check(root):
    tracked = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True)
    if tracked.returncode == 0:
        names = [n for n in tracked.stdout.split("\0") if n and (root / n).exists()]
    else:  # an unpacked release
        names = [str(p.relative_to(root)) for p in root.rglob("*") if p.is_file() and p.parts[len(root.parts)] != "build"]
    for name in names:
        path = root / name
        if path.suffix not in SOURCE:
            continue
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        # Inputs of tests are what a user would write, byte for byte.
        is_input = name.startswith(("tests/lit/", "tests/e2e/data/"))
        if not is_input and not any("SPDX-License-Identifier" in line for line in lines[:5]):
            yield f"{name}:1: has no SPDX line"
        if len(lines) > MAX_LINES and name.startswith(LAYERED):
            yield f"{name}: has {len(lines)} lines; at most {MAX_LINES}"
        rule = next((r for r in FORBIDDEN if name.startswith(r[0])), None)
        for number, line in enumerate(lines, 1):
            include = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
            if rule and include and re.search(rule[1], include.group(1)):
                yield f"{name}:{number}: includes {include.group(1)}, but {rule[2]}"
    yield from check_folders(names)


def check_folders(names):
    folders = {}
    for name in names:
        parts = Path(name).parts
        if len(parts) == 3 and parts[0] in LAYERED:
            folders.setdefault("/".join(parts[:2]), []).append(parts[2])
    for folder, files in sorted(folders.items()):
        sources = [f for f in files if f != "CMakeLists.txt"]
        if sources and "README.md" not in files:
            yield f"{folder}: has no README.md"


if __name__ == "__main__":
    findings = list(check(Path(sys.argv[1]).resolve()))
    print("\n".join(findings) if findings else "layering: nothing to say")
    sys.exit(1 if findings else 0)
