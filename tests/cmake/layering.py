#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""layering.py SOURCE_TREE: which folder may include which, and the other rules of DESIGN.md that a script can check.

Prints each finding as FILE:LINE: TEXT and exits with 1 where there is one. layering_test.py shows that each rule finds what
it forbids."""
import functools
import re
import subprocess
import sys
from pathlib import Path

# What each folder includes of the product beside itself: no more, and no less, so that a new edge is a decision. Rooms of
# driver/ stand lowest first: none may include one below it here.
EDGES = {
    "driver/support": "runtime/device",
    "driver/model": "driver/support clang_plugin/output runtime/runner",
    "driver/sandbox": "driver/support clang_plugin/output",
    "driver/source": "driver/support driver/model driver/sandbox clang_plugin/output",
    "driver/workload": "driver/support driver/model driver/source clang_plugin/output runtime/device runtime/runner runtime/trace",
    "driver/device": "driver/support driver/model driver/sandbox driver/workload runtime/cuda runtime/device runtime/runner "
                     "clang_plugin/output clang_plugin/parse",
    "driver/store": "driver/support driver/model",
    "driver/knowledge": "driver/support driver/model driver/store",
    "driver/llm": "driver/support driver/model runtime/device",
    "driver/judge": "driver/support driver/model driver/source driver/workload driver/device driver/store runtime/device runtime/runner "
                    "runtime/trace",
    "driver/diagnose": "driver/support driver/model driver/source driver/device clang_plugin/output",
    "driver/search": "driver/support driver/model driver/source driver/workload driver/store driver/knowledge driver/llm driver/judge "
                     "driver/diagnose",
    "driver/compare": "driver/support driver/model driver/source driver/workload driver/device driver/judge",
    "driver/integrate": "driver/support driver/model driver/source driver/store driver/judge driver/compare",
    "driver/report": "driver/support driver/model driver/source driver/store driver/judge driver/diagnose driver/compare",
    "driver/config": "driver/support driver/model driver/source runtime/device",
    "driver/app": "driver/support driver/model driver/sandbox driver/source driver/workload driver/device driver/store "
                  "driver/knowledge driver/llm driver/judge driver/diagnose driver/search driver/compare driver/integrate "
                  "driver/report driver/config clang_plugin/output runtime/device",
    "driver/cli": "driver/support driver/model driver/source driver/knowledge driver/judge driver/integrate driver/report "
                  "driver/config driver/app",

    "runtime/device": "",
    "runtime/trace": "runtime/device",
    "runtime/include": "",
    "runtime/cuda": "runtime/device",
    "runtime/emulated": "runtime/device",
    "runtime/runner": "runtime/device runtime/trace",
    "runtime/capture": "runtime/device runtime/trace runtime/cuda runtime/runner",

    "clang_plugin/args": "",
    "clang_plugin/attribute": "",
    "clang_plugin/headers": "",
    "clang_plugin/output": "runtime/device",
    "clang_plugin/parallel": "",
    "clang_plugin/parse": "clang_plugin/args",
    "clang_plugin/hostflow": "clang_plugin/parse",
    "clang_plugin/analysis": "clang_plugin/output clang_plugin/parse runtime/device",
    "clang_plugin/proof": "clang_plugin/args clang_plugin/parse",
    "clang_plugin/coverage": "clang_plugin/analysis runtime/device",
    "clang_plugin/emulate": "clang_plugin/analysis clang_plugin/args clang_plugin/output clang_plugin/parse runtime/emulated",
    "clang_plugin/model": "clang_plugin/analysis clang_plugin/output",
    "clang_plugin/mutate": "clang_plugin/analysis",
    "clang_plugin/reference": "clang_plugin/analysis clang_plugin/output runtime/device",
    "clang_plugin/screen": "clang_plugin/analysis clang_plugin/output clang_plugin/parse",
    "clang_plugin/slice": "clang_plugin/analysis clang_plugin/output clang_plugin/parse",
    "clang_plugin/tunables": "clang_plugin/analysis clang_plugin/output clang_plugin/parse",
    "clang_plugin/transform": "clang_plugin/analysis clang_plugin/model runtime/device",
    "clang_plugin/extract": "clang_plugin/analysis clang_plugin/args clang_plugin/attribute clang_plugin/hostflow "
                            "clang_plugin/output clang_plugin/parallel clang_plugin/parse clang_plugin/proof "
                            "clang_plugin/slice clang_plugin/tunables",
    "clang_plugin/cache": "clang_plugin/args clang_plugin/extract clang_plugin/output clang_plugin/parse",
    "clang_plugin/tool": "clang_plugin/analysis clang_plugin/args clang_plugin/cache clang_plugin/coverage clang_plugin/emulate "
                         "clang_plugin/extract clang_plugin/model clang_plugin/mutate clang_plugin/output clang_plugin/parallel "
                         "clang_plugin/parse clang_plugin/reference clang_plugin/screen clang_plugin/transform",
}
# The first of these whose folder a file lies in judges its includes: (folder, what it must not include, why).
FORBIDDEN = [
    ("driver/integrate/overlay/", r"^(?!driver/integrate/overlay/)(driver|clang_plugin|runtime)/|^(nlohmann|fmt|spdlog|tl|boost)/",
     "users' builds compile driver/integrate/overlay: it is C++17 and the standard library alone"),
    ("driver/", r"^(clang|clang-c|llvm)/|^clang_plugin/(?!output/|parse/CudaRoot\.h$)",
     "only clang_plugin includes Clang or LLVM, and driver only what clang_plugin/output and CudaRoot.h declare"),
    ("runtime/include/", r"^(driver|clang_plugin|runtime)/|^(clang|clang-c|llvm|nlohmann|fmt|spdlog|tl)/",
     "runtime/include compiles in any user's project"),
    ("runtime/", r"^(driver|clang_plugin|knowledge)/|^(clang|clang-c|llvm|nlohmann|fmt|spdlog)/",
     "runtime includes nothing of driver or clang_plugin, no JSON, no LLVM"),
    ("clang_plugin/", r"^(driver|knowledge)/", "nothing depends on driver"),
]
PRODUCT = ("driver", "clang_plugin", "runtime")
# What kernels include, in the place of NVIDIA's and other foreign headers: they include each other by their own names.
FOREIGN = ("runtime/emulated/include/", "clang_plugin/headers/shim/")
SOURCE = {".h", ".cpp", ".cu", ".cuh"}
MAX_LINES = 800  # of a file that is no table
MAX_FUNCTION = 80
MAX_MEMBERS = 15
MAX_SOURCES = 14


@functools.cache
def lines_of(path, _modified):
    return path.read_text(encoding="utf-8", errors="replace").splitlines()


@functools.cache
def included_by(line):
    include = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
    return include and include.group(1)


class Tree:
    """The files of a source tree by name: those that git tracks, or all of an unpacked release."""

    def __init__(self, root):
        tracked = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True)
        if tracked.returncode == 0:
            names = [name for name in tracked.stdout.split("\0") if name and (root / name).exists()]
        else:
            names = [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]
            names = [name for name in names if not name.startswith("build/")]
        self.names = sorted(names)
        self.lines = {name: lines_of(root / name, (root / name).stat().st_mtime_ns)
                      for name in self.names if Path(name).suffix in SOURCE}

    def includes(self):
        """(file, line, what it includes) of each #include."""
        for name, lines in self.lines.items():
            for number, line in enumerate(lines, 1):
                if included := included_by(line):
                    yield name, number, included

    def own_sources(self):
        """(file, lines) of the product's own C++."""
        for name, lines in self.lines.items():
            if name.startswith(PRODUCT) and not name.startswith(FOREIGN) and name.endswith((".h", ".cpp")):
                yield name, lines

    def edges(self, depth):
        """(from, to): the first include by which a folder of the product depends on another; folders of at most `depth` names."""
        found = {}
        for name, number, included in self.includes():
            if name.startswith(PRODUCT) and included.split("/")[0] in PRODUCT and not name.startswith(FOREIGN):
                edge = folder_of(name, depth), folder_of(included, depth)
                if edge[0] != edge[1]:
                    found.setdefault(edge, f"{name}:{number}")
        return found


def folder_of(name, depth):
    return "/".join(Path(name).parts[:-1][:depth])


def check_edges(tree, allowed):
    edges = tree.edges(2)
    for (source, target), where in sorted(edges.items()):
        if source not in allowed:
            yield f"{where}: the folder {source} is missing from the table of tests/cmake/layering.py"
        elif target not in allowed[source].split():
            yield f"{where}: {source} includes {target}, which the table of tests/cmake/layering.py does not allow"
    for source, targets in allowed.items():
        for target in targets.split():
            if (source, target) not in edges:
                yield f"{source}: includes nothing of {target} any more: remove it from the table of tests/cmake/layering.py"


def check_order(allowed):
    rooms = [folder for folder in allowed if folder.startswith("driver/")]
    for index, room in enumerate(rooms):
        for target in allowed[room].split():
            if target in rooms[index:]:
                yield f"{room}: the table of tests/cmake/layering.py allows {target}, which is not a lower room"


def circles_of(edges, kind):
    """One finding for each group that include each other, directly or not."""
    targets = {}
    for source, target in edges:
        targets.setdefault(source, set()).add(target)

    def reached(start):
        seen, waiting = set(), [start]
        while waiting:
            for target in targets.get(waiting.pop(), ()):
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        return seen

    reach = {one: reached(one) for one in targets}
    circles = {tuple(sorted(other for other in seen if one in reach.get(other, ())))
               for one, seen in reach.items() if one in seen}
    for circle in sorted(circles):
        inside = [where for (source, target), where in sorted(edges.items()) if source in circle and target in circle]
        yield f"{inside[0]}: the {kind} {', '.join(circle)} include each other in a circle ({', '.join(inside[1:])})"


def check_circles(tree):
    yield from circles_of(tree.edges(3), "folders")
    # X.h and X.cpp count as one file.
    stems, edges = {name.rsplit(".", 1)[0] for name in tree.lines}, {}
    for name, number, included in tree.includes():
        edge = name.rsplit(".", 1)[0], included.rsplit(".", 1)[0]
        if name.startswith(PRODUCT) and not name.startswith(FOREIGN) and edge[1] in stems and edge[0] != edge[1]:
            edges.setdefault(edge, f"{name}:{number}")
    yield from circles_of(edges, "files")


def code_of(lines):
    """The lines without comments and texts, so that brackets in them do not count."""
    return [re.sub(r'"(\\.|[^"\\])*"|//.*', '""', line) for line in lines]


def functions_of(lines):
    """(first line, number of lines) of each function as clang-format lays it out: its } stands as far to the left as it begins."""
    control = re.compile(r"\s*(if|for|while|switch|do|else|case|try|catch|namespace|class|struct|enum|union|extern|return)\b")
    code, start, inside, begin = code_of(lines), 0, None, 0
    for index, line in enumerate(code):
        if inside is not None:
            if len(line) - len(line.lstrip()) == inside and line.strip().startswith("}"):
                yield begin + 1, index - begin + 1
                inside, start = None, index + 1
            continue
        header = " ".join(code[start:index + 1])
        if line.rstrip().endswith("{"):
            if "(" in header and not control.match(header) and "=" not in header.split("(")[0]:
                begin = next(number for number in range(start, index + 1) if code[number].strip())
                inside = len(code[begin]) - len(code[begin].lstrip())
            start = index + 1
        elif not line.strip() or line.rstrip().endswith((";", "}", ":", '""')) or line.startswith("#"):
            start = index + 1


def check_functions(tree):
    for name, lines in tree.own_sources():
        for begin, length in functions_of(lines):
            if length > MAX_FUNCTION:
                yield f"{name}:{begin}: a function of {length} lines; at most {MAX_FUNCTION}"


# Classes with more data members than MAX_MEMBERS, and why.
MANY_MEMBERS = {
    "CudaDevice": "what the driver holds for one device: its context, streams, events and the caches of what was allocated",
}


def check_members(tree):
    """Data members of classes, which end with an underscore here. Records have none that do."""
    stale = set(MANY_MEMBERS)
    for name, lines in tree.own_sources():
        text = "\n".join(code_of(lines))
        for match in re.finditer(r"\b(?:class|struct)\s+(\w+)(?:\s+final)?(?:\s*:\s*[^{;]+)?\s*\{", text):
            depth, body, at = 1, "", match.end()
            while depth and at < len(text):
                depth += {"{": 1, "}": -1}.get(text[at], 0)
                body += text[at] if depth <= 1 or text[at] == "{" and depth == 2 else ""
                at += 1
            members = {member for statement in body.split(";") if not re.search(r"\breturn\b", statement)
                       for member in re.findall(r"(?<![\w.>])([a-z]\w*_)\s*(?=$|=|\{|\[|,)", statement.strip())}
            if len(members) > MAX_MEMBERS:
                stale.discard(match.group(1))
            if len(members) > MAX_MEMBERS and match.group(1) not in MANY_MEMBERS:
                line = text.count("\n", 0, match.start()) + 1
                yield f"{name}:{line}: {match.group(1)} has {len(members)} data members; at most {MAX_MEMBERS}"
    for name in sorted(stale):
        yield f"{name}: no class of that name has many members any more: take it out of MANY_MEMBERS of tests/cmake/layering.py"


def check_forbidden(tree):
    for name, number, included in tree.includes():
        rule = next((rule for rule in FORBIDDEN if name.startswith(rule[0])), None)
        if rule and re.search(rule[1], included):
            yield f"{name}:{number}: includes {included}, but {rule[2]}"


def check_files(tree):
    for name, lines in tree.lines.items():
        # Inputs of tests are what a user would write, byte for byte.
        is_input = name.startswith(("tests/lit/", "tests/e2e/data/"))
        if not is_input and not any("SPDX-License-Identifier" in line for line in lines[:5]):
            yield f"{name}:1: has no SPDX line"
        if len(lines) > MAX_LINES and name.startswith((*PRODUCT, "tests/unit/", "tests/component/")):
            yield f"{name}: has {len(lines)} lines; at most {MAX_LINES}"


def check_folders(tree):
    folders, sources = {}, {}
    for name in tree.names:
        path = Path(name)
        if path.parts[0] not in PRODUCT:
            continue
        if len(path.parts) > 2:
            folders.setdefault("/".join(path.parts[:2]), set()).add("/".join(path.parts[2:]))
        if path.suffix == ".cpp":
            sources[str(path.parent)] = sources.get(str(path.parent), 0) + 1
    for folder, files in sorted(folders.items()):
        if "README.md" not in files and files - {"CMakeLists.txt"}:
            yield f"{folder}: has no README.md"
    for folder, count in sorted(sources.items()):
        if count > MAX_SOURCES:
            yield f"{folder}: has {count} .cpp files; at most {MAX_SOURCES}"


def check_unit_tests(tree):
    """tests/unit/ROOM/XTest.cpp tests driver/ROOM/.../X.{h,cpp}; tests/unit/runtime/FOLDER and clang_plugin/FOLDER alike."""
    subjects = {}
    for name in tree.lines:
        if name.startswith(PRODUCT):
            subjects.setdefault("/".join(Path(name).parts[:2]), set()).add(Path(name).stem)
    for name in tree.lines:
        parts = Path(name).parts
        if not name.startswith("tests/unit/") or not name.endswith("Test.cpp"):
            continue
        home = "/".join(parts[2:4]) if parts[2] in PRODUCT else f"driver/{parts[2]}"
        subject = Path(name).stem[:-len("Test")]
        if subject not in subjects.get(home, ()):
            yield f"{name}: {home} has no {subject}.h or {subject}.cpp that this could test"


def check(root, allowed=EDGES):
    tree = Tree(root)
    for rule in (check_forbidden(tree), check_edges(tree, allowed), check_order(allowed), check_circles(tree),
                 check_functions(tree), check_members(tree), check_files(tree), check_folders(tree), check_unit_tests(tree)):
        yield from rule


if __name__ == "__main__":
    findings = list(check(Path(sys.argv[1]).resolve()))
    print("\n".join(findings) if findings else "layering: no findings")
    sys.exit(1 if findings else 0)
