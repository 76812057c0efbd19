#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs candidates that try to cheat, and honest ones, through `kopt trial`, and tells which check noticed.

  adversarial.py                 every candidate once; exit 1 where one has another verdict than its file expects
  adversarial.py --matrix        the same, and a Markdown table: the checks that would have noticed each attack
  adversarial.py --assurance standard  the same where a win may be partial: no attack may win there either
  adversarial.py --list FILE     those that the file names, and each attack decided by the check that stands beside it
  adversarial.py --ablate CHECK  every candidate with that check left out; prints the attacks that get through

A candidate is a file of attacks/ or controls/: edits of a file of bases/, as README.md describes them. Its comments name its base
and what is expected of it:
  // base: copyscale
  // expect: WrongResult|RunFailed by sizes|unwritten
  // expect on cuda: WrongResult|TimedOut
`accepted` stands for Faster, Same, Slower and Ambiguous. A GPU shows other things first than the emulated device does (which has its
say there too), and nvcc is another compiler: where that matters a file says what is expected there. An attack that "gets
through" is one with an accepted verdict that its file does not expect.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
ACCEPTED = {"Faster", "Same", "Slower", "Ambiguous"}
AT_ONCE = 12  # candidates of one base that one process judges, after it has measured the base


def edited(path, base):
    """The text of the base with the edits of a candidate's file."""
    text, lines, edits = base.read_text(), path.read_text().splitlines(keepends=True), []  # edits: [begin, end, by what]
    for number, line in enumerate(lines, 1):
        if not line.startswith("@@"):
            if not edits and not line.startswith("//") or edits and edits[-1][2][-1:] not in ("", "\n"):
                sys.exit(f"{path}:{number}: this line follows no edit that takes lines: write '@@ TEXT OF THE BASE' before it")
            if edits:
                edits[-1][2] += line
            continue
        if not (match := re.fullmatch(r"@@(\+?) (.+?)(?: \.\. (.+?))?(?: => (.+))?\n", line)):
            sys.exit(f"{path}:{number}: no edit: write '@@ TEXT', '@@ FROM .. TO', '@@+ TEXT' or '@@ TEXT => OTHER TEXT'")
        isAfter, first, last, by = match.groups()
        if text.count(first) != 1:
            sys.exit(f"{path}:{number}: {base} has '{first}' {text.count(first)} times: name a text that it has once")
        begin = text.index(first)
        end = begin + len(first)
        if last and (end := text.find(last, end) + len(last)) < len(last):
            sys.exit(f"{path}:{number}: {base} does not have '{last}' after '{first}': name a text that follows")
        if by is None:  # whole lines
            begin, end = text.rfind("\n", 0, begin) + 1, text.index("\n", end) + 1
        begin = end if isAfter else begin
        if any(begin < other[1] and other[0] < end for other in edits):
            sys.exit(f"{path}:{number}: changes what an edit before it changes: make them one")
        edits.append([begin, end, by or ""])
    for begin, end, by in sorted(edits, key=lambda edit: edit[:2])[::-1]:
        text = text[:begin] + by + text[end:]
    return text


class Case:
    def __init__(self, path, device):
        text = path.read_text()
        self.path = path
        self.name = path.stem
        self.kind = path.parent.name
        self.base = re.search(r"^// base: (\w+)$", text, re.M).group(1)
        self.text = edited(path, HERE / "bases" / f"{self.base}.cu")
        expect = (re.search(rf"^// expect on {device}: (\S+)(?: by (\S+))?$", text, re.M)
                  or re.search(r"^// expect: (\S+)(?: by (\S+))?$", text, re.M))
        self.verdicts = set()
        for verdict in expect.group(1).split("|"):
            self.verdicts |= ACCEPTED if verdict == "accepted" else {verdict}
        self.checks = set(expect.group(2).split("|")) if expect.group(2) else set()
        if self.checks and device == "cuda":
            self.checks.add("emulated")  # it has all checks of the other device
        # An attack on what standard takes as an assumption: its win must say so, and strict refuses it.
        assumed = re.search(r"^// under standard it may win, assuming: (.+)$", text, re.M)
        self.assumption = assumed.group(1) if assumed else ""

    def problem(self, trial, assurance="strict"):
        """What is not as expected; nothing where all is. By default an attack may be a line of the report, but no win."""
        if assurance == "standard" and self.kind == "attacks":
            gaps = " ".join(gap["what"] for gap in trial["assurance"]["gaps"])
            isTold = self.assumption and self.assumption in gaps
            return "it won" if trial["verdict"] == "Faster" and "Faster" not in self.verdicts and not isTold else ""
        if trial["verdict"] not in self.verdicts:
            return f"{trial['verdict']} instead of {' or '.join(sorted(self.verdicts))}"
        if self.checks and trial["verdict"] not in ACCEPTED and trial["check"] not in self.checks:
            return f"by {trial['check'] or trial['stage']} instead of {' or '.join(sorted(self.checks))}"
        if not trial["reason"]:
            return "without a reason"
        return ""


def load(kinds=("attacks", "controls"), only=None, device="emulated"):
    cases = [Case(path, device) for kind in kinds for path in sorted((HERE / kind).glob("*.edit"))]
    return [case for case in cases if not only or re.search(only, case.name)]


def read_list(path):
    """What a list of names wants: the deciding check of each, or nothing. Text after # is for people."""
    lines = [line.split("#")[0].split() for line in pathlib.Path(path).read_text().splitlines()]
    return {words[0]: words[1] if len(words) > 1 else "" for words in lines if words}


def judge(kopt, device, base, cases, extra):
    """The trials of all candidates of one base, in one process."""
    command = [kopt, "trial", str(HERE / "bases" / f"{base}.cu"), "--device", device, "--json", "--fail-on", "never", *extra]
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            (candidate := pathlib.Path(folder) / f"{case.name}.cu").write_text(case.text)
            command += ["--candidate", str(candidate)]
        command += ["--", "-std=c++17", "-I", str(SOURCE / "runtime" / "include")]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=1500)
    if done.returncode != 0:
        raise RuntimeError(f"kopt trial of {base} ended with {done.returncode}:\n{done.stderr[-3000:]}")
    return {pathlib.Path(trial["candidate"]).stem: trial for trial in json.loads(done.stdout)["results"]}


def judge_all(kopt, device, cases, extra, jobs, tell=lambda cases, trials: None):
    """The trials by name. `tell` hears of those of one process when they are done."""
    by_base = {}
    for case in cases:
        by_base.setdefault(case.base, []).append(case)
    parts = [(base, group[i:i + AT_ONCE]) for base, group in by_base.items() for i in range(0, len(group), AT_ONCE)]
    parts.sort(key=lambda part: -len(part[1]))
    trials = {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        running = {pool.submit(judge, kopt, device, base, group, extra): group for base, group in parts}
        for done in concurrent.futures.as_completed(running):
            trials.update(done.result())
            tell(running[done], trials)
    return trials


def matrix(cases, trials):
    """One line an attack: who decided, and who would have, had the one before been left out."""
    lines = ["| Candidate | Verdict | Decided by | Then |", "| --- | --- | --- | --- |"]
    for case in cases:
        trial = trials[case.name]
        fired = []
        for record in trial["checks"]:
            if record["state"] == "failed" and record["check"] not in fired:
                fired.append(record["check"])
        decided = trial["check"] or trial["stage"]
        if trial["verdict"] in ACCEPTED or not fired:
            decided, fired = ("" if trial["verdict"] in ACCEPTED else decided), []
        lines.append(f"| {case.name} | {trial['verdict']} | {decided} | {', '.join(f for f in fired if f != decided)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kopt", default=os.environ.get("KOPT_BIN_DIR", str(SOURCE / "build/dev/bin")) + "/kopt")
    parser.add_argument("--device", default="emulated")
    parser.add_argument("--only", help="regular expression of names")
    parser.add_argument("--list", help="file of names, each with the check that must decide")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--record", help="file for all trials, as JSON")
    parser.add_argument("--assurance", choices=["standard", "strict"], default="strict",
                        help="of kopt trial (default strict)")
    parser.add_argument("--matrix", action="store_true")
    parser.add_argument("--ablate", action="append", default=[])
    arguments = parser.parse_args()

    if arguments.device == "cuda" and not any(pathlib.Path("/dev").glob("nvidia[0-9]*")):
        print("no GPU")
        sys.exit(77)
    cases = load(only=arguments.only, device=arguments.device)
    if arguments.list:
        wanted = read_list(arguments.list)
        if unknown := set(wanted) - {case.name for case in cases}:
            sys.exit(f"{arguments.list} names what there is not: {', '.join(sorted(unknown))}")
        cases = [case for case in cases if case.name in wanted]
        for case in cases:
            case.checks = {wanted[case.name]} if wanted[case.name] else case.checks
    if not cases:
        sys.exit("no candidate has such a name")
    policy = ["--assurance", arguments.assurance]
    extra = policy + (["--keep-going"] if arguments.matrix else [])
    def tell(done, trials):
        for case in done:
            if problem := case.problem(trials[case.name], arguments.assurance):
                print(f"FAILED {case.name}: {problem}: {trials[case.name]['reason']}", file=sys.stderr, flush=True)
        print(f"{len(trials)} of {len(cases)} judged, {done[0].base} too", file=sys.stderr, flush=True)

    trials = judge_all(arguments.kopt, arguments.device, cases, extra, arguments.jobs, tell)
    if arguments.record:
        pathlib.Path(arguments.record).write_text(json.dumps(trials, indent=1))
    failed = sum(bool(case.problem(trials[case.name], arguments.assurance)) for case in cases)
    if arguments.matrix:
        print(matrix(cases, trials))
    for layer in arguments.ablate:
        attacks = [case for case in cases if case.kind == "attacks"]
        without = judge_all(arguments.kopt, arguments.device, attacks, [*policy, "--without", layer], arguments.jobs)
        through = [case.name for case in attacks if not case.verdicts & ACCEPTED
                   and (without[case.name]["verdict"] in ACCEPTED
                        or without[case.name]["reason"].startswith("not a verdict"))]
        print(f"without {layer}: {len(through)} of {len(attacks)} get through: {', '.join(through) or 'none'}")
    print(f"{len(cases) - failed} of {len(cases)} as expected", file=sys.stderr)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
