#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ablation.py TEST_JUDGE: each check of the judge is needed: switched off, a test of it fails.

Every judge that the unit tests make leaves out the check that KOPT_TEST_WITHOUT names."""

import os
import re
import subprocess
import sys

FILTER = "Checks/EachCheck.RefusesWhatItIsFor/"


def run(program, tests, without=None):
    environment = {name: value for name, value in os.environ.items() if name != "KOPT_TEST_WITHOUT"}
    if without:
        environment["KOPT_TEST_WITHOUT"] = without
    return subprocess.run([program, f"--gtest_filter={tests}", "--gtest_brief=1"], env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=300)


def main():
    program = sys.argv[1]
    listed = subprocess.run([program, "--gtest_list_tests", f"--gtest_filter={FILTER}*"], capture_output=True, text=True, check=True)
    checks = re.findall(r"^  RefusesWhatItIsFor/(\w+)", listed.stdout, re.M)
    if not checks:
        sys.exit("there are no tests of single checks")
    whole = run(program, FILTER + "*")
    if whole.returncode != 0:
        sys.exit(f"with all checks on:\n{whole.stdout}")
    unneeded = [check for check in checks if f"[  FAILED  ] {FILTER}{check}" not in run(program, FILTER + check, check).stdout]
    for check in unneeded:
        print(f"without {check} no test fails")
    print(f"{len(checks) - len(unneeded)} of {len(checks)} checks: without it a test fails")
    sys.exit(1 if unneeded else 0)


if __name__ == "__main__":
    main()
