#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_table.py FILE.json...: which checks ran, by program, from what `kopt trial --json` printed for each.

A row is a check, a column a program (the file's name). `ran`: it ran (passed, or refused the candidate); `-`: it does not apply
to the kernel or to the device; `no 2`: it applies and did not run, for the reason 2 below the table. The last line is the share
of applicable checks that ran. What stands behind a refusal was not asked: use candidates that are right, or --keep-going."""
import argparse
import json
from pathlib import Path

# Reasons for which a check has nothing to look at. Any other is a check that should have run.
NOT_APPLICABLE = (
    "this is the emulated device",
    "the emulated device checks every launch itself",
    "the order of threads cannot be chosen on a GPU",
    "no integer argument decides how much the launch computes",
    "no argument decides the launch's size",
    "the kernel has no scalar argument but those that are sizes",
    "the launch has no buffers",
    "the kernel computes with integers only",
    "the kernel has no floating-point output",
    "the tolerance is '",
    "there are no wrong versions to try",
    "it runs only for winners",
)


def records_of(document):
    """The check records of each trial of one document, the last of a name."""
    results = document.get("results", document if isinstance(document, list) else [])
    for result in results:
        for part in result.get("specializations") or [result]:
            yield {record["check"]: record for record in part.get("checks", [])}


def applies(record):
    return not any(reason in record["detail"] for reason in NOT_APPLICABLE)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    files = parser.parse_args().files
    columns, reasons, order, applicable, ran = [], [], [], 0, 0
    for file in files:
        for number, records in enumerate(records_of(json.loads(file.read_text()))):
            cells = {}
            for name, record in records.items():
                if name not in order:
                    order.append(name)
                if record["state"] != "not run":
                    cells[name] = "ran"
                elif not applies(record):
                    cells[name] = "-"
                    continue
                else:
                    reason = f"{name}: {record['detail']}"
                    if reason not in reasons:
                        reasons.append(reason)
                    cells[name] = f"no {reasons.index(reason) + 1}"
                applicable += 1
                ran += cells[name] == "ran"
            columns.append((file.stem if number == 0 else f"{file.stem}/{number + 1}", cells))
    if not columns:
        parser.error("no file holds a trial")
    print("| check | " + " | ".join(name for name, _ in columns) + " |")
    print("| --- |" + " --- |" * len(columns))
    for check in order:
        print(f"| {check} | " + " | ".join(cells.get(check, "") for _, cells in columns) + " |")
    print()
    for number, reason in enumerate(reasons, 1):
        print(f"{number}. {reason}")
    print(f"\n{ran} of {applicable} applicable checks ran" + (f" ({100 * ran / applicable:.0f} %)" if applicable else ""))


if __name__ == "__main__":
    main()
