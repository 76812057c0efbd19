#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much of other people's CUDA code kopt-extract takes, and how fast it is.

    front_end.py [options] FOLDER|FILE...

Every .cu file that nvcc itself compiles counts. A file's flags are what its project says (`make -n`, a compile
database), or else the first of a few plain sets with which nvcc takes it (see --try). Against nvcc's own output each
answer is checked: every kernel entry point in the PTX must have been found, and a slice that is called proven is
compiled again, here, to machine code, which must be the original's but for where variables of the module lie
(--recheck says how many).

Prints a Markdown table and writes everything it saw as JSON lines (--out). The original's PTX and cubin are kept under
--work by content, so a second run only pays for kopt-extract.

--speed times, side by side and interleaved, `clang -fsyntax-only` of the host pass against `kopt-extract --no-proof`
with and without its result cache.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
BASE_FLAGS = ["-std=c++17", "-arch=sm_90"]
# Exit codes that kopt-extract documents; anything else is a crash.
DOCUMENTED_EXITS = {0, 1, 4, 6}


def run(command, cwd=None, timeout=900):
    started = time.monotonic()
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, errors="replace", timeout=timeout)
        return done.returncode, done.stdout, done.stderr, time.monotonic() - started
    except subprocess.TimeoutExpired:
        return None, "", "timed out", time.monotonic() - started


# ---- A file's flags --------------------------------------------------------------------------------------------------

VALUED = {"-o", "-I", "-D", "-U", "-isystem", "-include", "-gencode", "-arch", "-code", "-Xcompiler", "-Xptxas",
          "-std", "-x", "-L", "-l", "-MF", "-MT", "--options-file", "-optf", "-ccbin", "-maxrregcount"}


def compile_flags(words, source, folder):
    """The flags of one compile command, without the output, the inputs and what makes it compile."""
    flags, i = [], 0
    while i < len(words):
        word = words[i]
        if word in VALUED and i + 1 < len(words):
            if word not in ("-o", "-x", "-L", "-l", "-MF", "-MT"):
                flags += [word, words[i + 1]]
            i += 2
            continue
        if word in ("-c", "-MD", "-MMD") or re.match(r"-[lL]\w|-o\w", word) or not word.startswith("-"):
            i += 1
            continue
        flags.append(word)
        i += 1
    return flags


def make_flags(source, roots):
    """What `make -n` in the file's folder, or in one above it, would give nvcc."""
    folder = source.parent
    for _ in range(3):
        if (folder / "Makefile").exists():
            _, out, _, _ = run(["make", "-n", "-B", "-i", "ARCH=sm_90", "SM=90", "SMS=90"], cwd=folder, timeout=60)
            for line in out.replace("\\\n", " ").splitlines():
                for part in re.split(r"&&|;", line):
                    try:
                        words = shlex.split(part)
                    except ValueError:
                        continue
                    if not words or "nvcc" not in words[0]:
                        continue
                    inputs = [w for w in words[1:] if w.endswith(".cu")]
                    if any((folder / w).resolve() == source for w in inputs):
                        return compile_flags(words[1:], source, folder), folder
        if folder in roots:
            break
        folder = folder.parent
    return None, None


def database_flags(source, databases):
    for entry in databases:
        if (pathlib.Path(entry["directory"]) / entry["file"]).resolve() == source:
            words = entry.get("arguments") or shlex.split(entry["command"])
            return compile_flags(words[1:], source, None), pathlib.Path(entry["directory"])
    return None, None


def for_sm90(flags):
    """One architecture that nvcc 13 still knows, so that the answer does not hang on the project's choice."""
    result, i = [], 0
    while i < len(flags):
        name = flags[i].split("=")[0]
        if name in ("-gencode", "--generate-code", "-arch", "--gpu-architecture", "-code", "--gpu-code"):
            i += 1 if "=" in flags[i] else 2
            continue
        result.append(flags[i])
        i += 1
    return result + ["-arch=sm_90"]


def candidates(source, args, databases):
    flags, folder = database_flags(source, databases)
    if flags is not None:
        yield for_sm90(flags), folder
    flags, folder = make_flags(source, args.roots)
    if flags is not None:
        yield for_sm90(flags), folder
        if not any("-std" in f for f in flags):
            yield ["-std=c++17"] + for_sm90(flags), folder
    for extra in args.tries:
        yield BASE_FLAGS + extra, source.parent


# ---- nvcc as the judge -----------------------------------------------------------------------------------------------


def nvcc_flags(flags):
    """For an nvcc command of our own: -dc compiles relocatable code, and so does -rdc=true without saying what to make."""
    return ["-rdc=true" if f in ("-dc", "--device-c") else f for f in flags if f not in ("-dw", "-cubin", "-ptx")]


class Nvcc:
    def __init__(self, program, work):
        self.program, self.work = program, work / "nvcc"
        self.work.mkdir(parents=True, exist_ok=True)

    def build(self, kind, source, flags, folder, keep=True):
        """(ok, bytes, log) of `nvcc -ptx|-cubin|-c`, no bytes for -c; kept by name, flags and content where keep is set."""
        text = source.read_bytes()
        key = hashlib.sha256(repr((kind, str(source), flags, str(folder))).encode() + text).hexdigest()[:32]
        product, log = self.work / f"{key}.{kind}", self.work / f"{key}.{kind}.log"
        if keep and product.exists():
            return True, product.read_bytes(), ""
        if keep and log.exists():
            return False, b"", log.read_text()
        with tempfile.TemporaryDirectory() as scratch:
            out = pathlib.Path(scratch) / "out"
            command = [self.program, *nvcc_flags(flags), "-I", str(TOP / "runtime/include"), "-w", "-x", "cu",
                       f"-{kind}", str(source), "-o", str(out)]
            code, stdout, stderr, _ = run(command, cwd=folder)
            ok = code == 0 and out.exists()
            data = out.read_bytes() if ok and kind != "c" else b""
        if keep:
            product.write_bytes(data) if ok else log.write_text(stdout + stderr)
        return ok, data, stdout + stderr


def entry_points(ptx):
    return re.findall(r"\.entry\s+([\w$.]+)", ptx.decode(errors="replace"))


def kernel_code(cubin):
    """The machine code of each kernel of a cubin: the ELF sections .text.<symbol>."""
    if cubin[:4] != b"\x7fELF":
        return {}
    offset, = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", cubin, offset + i * size) for i in range(count)]
    strings = headers[names][4]
    code = {}
    for name, _, _, _, start, length in headers:
        text = cubin[strings + name:cubin.index(b"\0", strings + name)].decode()
        if text.startswith(".text."):
            code[text[6:]] = cubin[start:start + length]
    return code


def assembly(program, cubin):
    """Each kernel's instructions by nvdisasm, with the slots and symbols of module variables numbered as they come: another
    module has them elsewhere."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        code, text, _, _ = run([program, "-c", file.name])
    kernels, name = {}, None
    for line in text.splitlines() if code == 0 else []:
        section = re.match(r"\s*\.section\s+\.text\.([\w$.]+)", line)
        if section:
            name = section.group(1)
            kernels[name] = []
        elif name and re.match(r"\s+/\*[0-9a-f]{4,}\*/", line):
            kernels[name].append(re.sub(r"/\*[^*]*\*/", "", line).strip())
    result = {}
    for name, lines in kernels.items():
        numbers = {}
        number = lambda m: f"#{numbers.setdefault(m.group(0), len(numbers))}"
        result[name] = [re.sub(r"c\[0x4\]\[[^\]]*\]|`?\([^()]*\)", number, line) for line in lines]
    return result


# ---- One file --------------------------------------------------------------------------------------------------------


def accept(source, args, databases, nvcc):
    """The flags with which nvcc compiles the file, host code and all, and its PTX; None where there are none."""
    for flags, folder in candidates(source, args, databases):
        ok, _, _ = nvcc.build("c", source, flags, folder)
        if ok:
            ok, ptx, _ = nvcc.build("ptx", source, flags, folder)
        if ok:
            return flags, folder, ptx
    return None


def recheck(record, document, source, flags, folder, nvcc, args):
    """Compiles slices again, to machine code: what is called proven must be the original's kernel."""
    proven = [s for k in document["kernels"] for s in k["specializations"] if s["route"] == "slice"]
    chosen = [s for s in proven if random.Random(args.seed + s["symbol"]).random() < args.recheck]
    if not chosen:
        return
    ok, whole, log = nvcc.build("cubin", source, flags, folder)
    if not ok:
        record["unchecked"] = len(chosen)
        return
    original = kernel_code(whole)
    for specialization in chosen:
        ok, cubin, log = nvcc.build("cubin", pathlib.Path(specialization["slice"]), flags, folder, keep=False)
        if not ok:
            record["defects"].append(f"slice of {specialization['symbol']} does not compile: {log.strip()[:300]}")
            continue
        mine = kernel_code(cubin)
        code = mine.get(specialization["symbol"])
        if code is None and len(mine) == 1:
            code = next(iter(mine.values()))  # a file-local name has the file's name in it
        same = original.get(specialization["symbol"]) == code
        if not same and args.nvdisasm:
            left, right = assembly(args.nvdisasm, whole), assembly(args.nvdisasm, cubin)
            mine = right.get(specialization["symbol"]) or (next(iter(right.values())) if len(right) == 1 else None)
            same = bool(mine) and left.get(specialization["symbol"]) == mine
            record["same_but_slots"] += same
        record["rechecked"] += 1
        record["same_code"] += same
        if not same:
            record["different"].append(specialization["symbol"])


def examine(source, args, databases, nvcc):
    record = {"file": str(source), "defects": [], "rechecked": 0, "same_code": 0, "same_but_slots": 0,
              "different": [], "unchecked": 0}
    accepted = accept(source, args, databases, nvcc)
    record["accepted"] = accepted is not None
    if not accepted:
        return record
    flags, folder, ptx = accepted
    record["flags"], record["folder"] = flags, str(folder)
    entries = entry_points(ptx)
    record["entries"] = len(entries)
    out = args.work / "slices" / hashlib.sha256(str(source).encode()).hexdigest()[:16]
    shutil.rmtree(out, ignore_errors=True)
    command = [args.extract, str(source), "--json", "-o", str(out), "-j", "1", *args.extract_args, "--", *flags]
    code, stdout, stderr, seconds = run(command, cwd=folder, timeout=args.timeout)
    record["seconds"], record["exit"] = round(seconds, 2), code
    if code is None:
        record["defects"].append(f"hang: no answer in {args.timeout} s")
        return record
    if code not in DOCUMENTED_EXITS:
        record["defects"].append(f"crash: exit {code}: {stderr.strip()[-300:]}")
        return record
    if code != 0:
        record["refused_file"] = stderr.strip().splitlines()[:3]
        record["kernels"], record["specializations"] = len(entries), []
        return record
    document = json.loads(stdout)
    if args.schema:
        args.schema.validate(document)
    known = set()
    record["specializations"], record["launches"] = [], []
    for kernel in document["kernels"]:
        for s in kernel["specializations"]:
            known.add(s["symbol"])
            record["specializations"].append(
                {"kernel": kernel["name"], "symbol": s["symbol"], "route": s["route"], "proven": s.get("proven"),
                 "reason": s.get("reason", "")})
        for launch in kernel["launches"]:
            record["launches"].append({"at": f"{launch['file']}:{launch['line']}", "geometry": launch["geometry"],
                                       "grid": launch["grid"], "block": launch["block"],
                                       "shared": launch.get("shared_bytes", "")})
    for library in document["library_kernels"]:
        known.add(library["symbol"])
    for launch in document.get("unresolved_launches", []):
        record["launches"].append({"at": f"{launch['file']}:{launch['line']}", "geometry": "unresolved",
                                   "grid": [launch.get("reason", "")], "block": [], "shared": ""})
    record["missing_entries"] = [e for e in entries if e not in known]
    record["notes"] = document["notes"]
    recheck(record, document, source, flags, folder, nvcc, args)
    return record


# ---- The table -------------------------------------------------------------------------------------------------------


def percent(part, whole):
    return f"{100 * part / whole:.1f}%" if whole else "-"


def project_of(path, roots):
    for root in roots:
        if path.is_relative_to(root):
            return root.name
    return path.parent.name


def table(records, roots):
    rows = collections.OrderedDict()
    for record in records:
        row = rows.setdefault(project_of(pathlib.Path(record["file"]), roots), collections.Counter())
        for target in (row, rows.setdefault("all", collections.Counter())):
            target["files"] += 1
            target["taken"] += record["accepted"]
            target["defects"] += len(record["defects"])
            if not record["accepted"]:
                continue
            target["refused"] += len(record.get("refused_file", [])) and record["kernels"]
            for s in record.get("specializations", []):
                target["specializations"] += 1
                target[s["route"] if s["route"] != "slice" or s["proven"] else "unproven"] += 1
            target["specializations"] += len(record.get("refused_file", [])) and record["kernels"]
            for launch in record.get("launches", []):
                target["launches"] += 1
                target["geometry"] += launch["geometry"] != "unresolved"
            target["entries"] += record.get("entries", 0)
            target["missing"] += len(record.get("missing_entries", []))
            target["rechecked"] += record["rechecked"]
            target["same"] += record["same_code"]
    if "all" in rows:
        rows.move_to_end("all")
    print("| project | files nvcc takes | specializations | sliced and proven | proven or in place | launch geometry "
          "resolved | entry points found | same machine code | defects |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, row in rows.items():
        total = row["specializations"]
        print(f"| {name} | {row['taken']} of {row['files']} | {total} | {percent(row['slice'], total)} | "
              f"{percent(row['slice'] + row['in-place'], total)} | "
              f"{percent(row['geometry'], row['launches'])} of {row['launches']} | "
              f"{row['entries'] - row['missing']} of {row['entries']} | {row['same']} of {row['rechecked']} | "
              f"{row['defects']} |")


def reasons(records):
    kinds = collections.Counter()
    for record in records:
        for line in record.get("refused_file", [])[:1]:
            kinds["file: " + re.sub(r"^\S+:\d+:\d+: ", "", line)[:110]] += 1
        for s in record.get("specializations", []):
            if s["route"] != "slice" or not s["proven"]:
                kinds[f"{s['route']}: " + re.sub(r"\S*\.cu[h]?\(\d+\):|'[^']*'", "", s["reason"])[:110]] += 1
    return kinds


# ---- Speed -----------------------------------------------------------------------------------------------------------


def cpu_of(command, cwd, env=None):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.monotonic()
    subprocess.run(command, cwd=cwd, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall = time.monotonic() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def interval(values, repeats=2000, seed=1):
    """Median with a 95% bootstrap interval."""
    draw = random.Random(seed)
    medians = sorted(statistics.median(draw.choices(values, k=len(values))) for _ in range(repeats))
    return statistics.median(values), medians[int(repeats * 0.025)], medians[int(repeats * 0.975)]


def speed(sources, args, databases, nvcc):
    clang = shutil.which(args.clang)
    if not clang:
        sys.exit(f"front_end.py: {args.clang} was not found; --clang names Clang's driver")
    walls, cpus, cached = [], [], []
    for source in sources:
        accepted = accept(source, args, databases, nvcc)
        if not accepted:
            continue
        flags, folder, _ = accepted
        code, stdout, _, _ = run([args.extract, str(source), "--print-clang-args", "--", *flags], cwd=folder)
        # The plain parse: what kopt adds for itself (records of the preprocessor, embedded headers) stays out.
        plain, words = [], stdout.splitlines()
        i = 0
        while i < len(words):
            if words[i] == "-Xclang" and words[i + 1] == "-detailed-preprocessing-record":
                i += 2
            elif words[i] in ("-isystem", "-include") and ("kopt" in words[i + 1]):
                i += 2
            else:
                plain.append(words[i])
                i += 1
        # CUDA 13 has no texture_fetch_functions.h any more; Clang 19 includes it.
        header = args.work / "reference" / "texture_fetch_functions.h"
        header.parent.mkdir(exist_ok=True)
        header.touch()
        reference = [clang, *plain, "-isystem", str(header.parent), "-w", str(source)]
        with tempfile.TemporaryDirectory() as cache:
            fresh = [args.extract, str(source), "--json", "--no-proof", "--no-cache", "-j", str(args.jobs), "--", *flags]
            kept = [args.extract, str(source), "--json", "--no-proof", "--", *flags]
            env = dict(os.environ, KOPT_CACHE_DIR=cache)
            subprocess.run(kept, cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            pairs = []
            for _ in range(args.repeats):
                a, b = cpu_of(reference, folder), cpu_of(fresh, folder)
                pairs.append((b[0] / a[0], b[1] / a[1]))
                cached.append(cpu_of(kept, folder, env)[0])
        walls.append(statistics.median(p[0] for p in pairs))
        cpus.append(statistics.median(p[1] for p in pairs))
        print(f"{source}: wall {walls[-1]:.2f}x, CPU {cpus[-1]:.2f}x, kept {statistics.median(cached):.3f} s", flush=True)
    machine = pathlib.Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*: (.*)", machine)
    print(f"\nmachine: {model.group(1) if model else 'unknown'}, {os.cpu_count()} processors; "
          f"{len(walls)} files, {args.repeats} interleaved pairs each; medians of files, 95% intervals")
    for name, values, unit in (("kopt-extract / clang -fsyntax-only, CPU", cpus, "x"),
                               ("kopt-extract / clang -fsyntax-only, wall", walls, "x"),
                               ("an unchanged file again", cached, " s")):
        middle, low, high = interval(values)
        print(f"| {name} | {middle:.3f}{unit} [{low:.3f}, {high:.3f}] | worst {max(values):.3f}{unit} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--extract", default=str(TOP / "build/dev/bin/kopt-extract"))
    parser.add_argument("--extract-args", type=shlex.split, default=[])
    parser.add_argument("--nvcc", default=shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
    parser.add_argument("--nvdisasm", default=shutil.which("nvdisasm"),
                        help="where the bytes differ, instructions are compared with module variables' slots numbered")
    parser.add_argument("--clang", default="clang++-19")
    parser.add_argument("--match", default="", help="only files whose path has this regular expression")
    parser.add_argument("--list", type=pathlib.Path, help="only the files named in this file, as path endings")
    parser.add_argument("--sample", type=int, help="at most so many files, drawn with --seed")
    parser.add_argument("--seed", default="kopt")
    parser.add_argument("--try", dest="tries", action="append", type=shlex.split, default=[],
                        help="one more set of flags to try where a project says none; may be repeated")
    parser.add_argument("--recheck", type=float, default=0.2, help="share of proven slices to compile again (0 to 1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=int, default=900)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("/tmp/kopt-front-end"))
    parser.add_argument("--out", type=pathlib.Path, help="JSON lines, one a file (default: records.jsonl in --work)")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    args.roots = [f.resolve() for f in args.folders]
    args.tries = [[]] + args.tries
    args.extract = str(pathlib.Path(args.extract).resolve())
    args.work = args.work.resolve()
    args.work.mkdir(parents=True, exist_ok=True)
    try:
        import jsonschema
        text = (TOP / "clang_plugin/output/kernels.schema.json").read_text()
        args.schema = jsonschema.Draft202012Validator(json.loads(text))
    except ImportError:
        args.schema = None
        print("jsonschema is not installed: the answers are not held against the schema", file=sys.stderr)

    sources, databases = [], []
    for root in args.roots:
        sources += [root] if root.is_file() else sorted(root.rglob("*.cu"))
        for database in [] if root.is_file() else root.rglob("compile_commands.json"):
            databases += json.loads(database.read_text())
    sources = [s.resolve() for s in sources if re.search(args.match, str(s))]
    if args.list:
        endings = [line.strip() for line in args.list.read_text().splitlines() if line.strip()]
        sources = [s for s in sources if any(str(s).endswith("/" + e) for e in endings)]
    if args.sample and args.sample < len(sources):
        sources = sorted(random.Random(args.seed).sample(sources, args.sample))
    if not sources:
        sys.exit("front_end.py: no .cu file there")
    nvcc = Nvcc(args.nvcc, args.work)
    if args.speed:
        return speed(sources, args, databases, nvcc)

    records = []
    out = args.out or args.work / "records.jsonl"
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool, open(out, "w") as stream:
        futures = {pool.submit(examine, s, args, databases, nvcc): s for s in sources}
        for done in concurrent.futures.as_completed(futures):
            try:
                record = done.result()
            except Exception as error:  # this script's own failure must not pass for a file without kernels
                raise RuntimeError(f"{futures[done]}: {error}") from error
            records.append(record)
            stream.write(json.dumps(record) + "\n")
            stream.flush()
            routes = collections.Counter(s["route"] for s in record.get("specializations", []))
            print(f"[{len(records)}/{len(sources)}] {record['file']}: "
                  + ("nvcc does not take it" if not record["accepted"] else
                     f"{dict(routes)} {'REFUSED' if 'refused_file' in record else ''} "
                     f"missing {len(record.get('missing_entries', []))} {record['defects'] or ''}"),
                  file=sys.stderr, flush=True)
    table(records, args.roots)
    print()
    for reason, count in reasons(records).most_common():
        print(f"{count:5} {reason}")
    return 1 if any(r["defects"] for r in records) else 0


if __name__ == "__main__":
    sys.exit(main())
