# SPDX-License-Identifier: Apache-2.0
"""variants.py FRONTEND mutate|reference|coverage|host|model FILE KERNEL [--member=JSON]... [--nvcc=NVCC]: asks kopt-frontend about a kernel of
FILE, as the driver does, and prints the answer as lines for FileCheck. --member adds to the request, as in
--operators='["comparison"]'. With --nvcc what came back is compiled too."""
import difflib
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "benchmarks"))
from clones import apply, batches  # noqa: E402

frontend, command, path, kernel = sys.argv[1:5]
source = pathlib.Path(path)
text = source.read_text()
request = {"slice": text, "kernel": kernel.split("<")[0], "expression": kernel, "flags": ["-arch=sm_90"],
           "directory": str(source.parent), "arch": ""}
wanted = {"at_most": 24, "seed": 1, "operators": []}
if command == "mutate":
    request = {"source": request, "wanted": wanted, "file": ""}
if command == "model":
    request = {"source": request, "launches": []}
if command == "host":
    request = {"file": path, "flags": ["-arch=sm_90"], "directory": str(source.parent), "kernels": [kernel]}
nvcc = None
for option in sys.argv[5:]:
    name, value = option[2:].split("=", 1)
    if name == "nvcc":
        nvcc = value
    else:
        (wanted if name in wanted else request)[name] = json.loads(value)
done = subprocess.run([frontend, command], input=json.dumps(request), capture_output=True, text=True)
reply = json.loads(done.stdout)
if "error" in reply:
    print("error:", reply["error"]["what"])
    sys.exit(done.returncode)


def build(variant):
    if not nvcc:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "variant.cu"
        file.write_text(variant)
        built = subprocess.run([nvcc, "-arch=sm_90", "-w", "-cubin", str(file), "-o", str(file) + ".cubin"],
                               capture_output=True, text=True)
        return built.stdout + built.stderr if built.returncode else ""


def show_changes(variant):
    for line in list(difflib.unified_diff(text.splitlines(), variant.splitlines(), n=0, lineterm=""))[2:]:
        if line[0] in "+-":
            print(line[0], line[1:].strip())


failures = 0
if command == "host":
    for item in reply["items"]:
        print(item["kind"], item["name"] + (" launches" if item["launches"] else ""))
        for statement in item["text"]:
            print("  " + statement["text"])
    for name in reply["large_shared"]:
        print("large shared memory:", name)
elif command == "model":
    for fact in reply["facts"]:
        print(f"{fact['line']}:{fact['column']} {fact['text']}")
    print("read across:", *reply["read_across"])
    uses = reply.get("uses")
    print("uses:", "read", *uses["read"], "written", *uses["written"]) if uses else print("uses: unknown")
elif command == "mutate":
    for mutant in reply["mutations"]:
        print(f"{mutant['op']} ({mutant['kind']}): {mutant['title']}")
        show_changes(apply(text, mutant["edits"]))
        if mutant["may_be_equal"]:
            print("note:", mutant["may_be_equal"])
    for batch in batches(reply["mutations"]):
        log = build(apply(text, sorted((e for m in batch for e in m["edits"]), key=lambda e: e["begin"])))
        if log:
            print("DOES NOT COMPILE:", [m["title"] for m in batch], log)
            failures += 1
    print(f"chosen {len(reply['mutations'])} of {reply['found']}, {reply['in_macros']} places in macros")
elif command == "coverage":
    show_changes(reply["slice"])
    for mark in reply["marks"]:
        names = ' or '.join(mark['names'])
        special = ", special" if mark["special"] else ""
        print(f"mark {mark['at']} at line {mark['line']}: {mark['what']} [{names}]{special}" if mark["required"] else f"may be: [{names}]")
    for mark in reply["marks"]:
        if mark["required"]:
            by = [f"{number:g}" for number in mark["numbers"]] + [f"${param}" for param in mark["params"]]
            print(f"decided: {mark['what']} by {', '.join(by + [w for w in ('blocks', 'data', 'assumed') if mark[w]])}")
    print(f"{reply['bytes']} bytes of {reply['variable']}, {reply['in_macros']} conditions in macros")
    log = build(reply["slice"])
    if log:
        print("DOES NOT COMPILE:", log)
        failures += 1
elif reply["refusals"]:
    for refusal in reply["refusals"]:
        print(f"refused: {refusal['id']} at line {refusal['line']}: {refusal['message']}")
else:
    show_changes(reply["slice"])
    print("kernel:", reply["expression"], reply["symbol"])
    for kind in ("params", "variables"):
        for item in reply[kind]:
            element = item["element"]
            fields = " ".join(f"{f['scalar']}@{f['offset']}->{f['new_scalar']}@{f['new_offset']}" for f in element["fields"])
            shape = "*" if item.get("pointer") else f"[{item['count']}]" if "count" in item else ""
            print(f"{kind[:-1]}: {item['name']}{shape} {element['size']} -> {element['new_size']} bytes: {fields or 'unchanged'}")
    print("shared factor:", reply["shared_factor"])
    for note in reply["notes"]:
        print(f"note: {note['id']} at line {note['line']}: {note['message']}")
    log = build(reply["slice"])
    if log:
        print("DOES NOT COMPILE:", log)
        failures += 1
sys.exit(1 if failures else 0)
