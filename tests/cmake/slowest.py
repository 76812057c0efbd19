#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""slowest.py JUNIT_FILE [COUNT]: the tests of a ctest run that took longest, the slowest last."""
import sys
import xml.etree.ElementTree


def slowest(text, count):
    """(seconds, name) of the `count` slowest tests, rising."""
    cases = xml.etree.ElementTree.fromstring(text).iter("testcase")
    return sorted((float(case.get("time", 0)), case.get("name")) for case in cases)[-count:]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        found = slowest(file.read(), int(sys.argv[2]) if len(sys.argv) > 2 else 25)
    print(f"The {len(found)} slowest tests, in seconds of wall time:")
    for seconds, name in found:
        print(f"{seconds:8.1f}  {name}")


if __name__ == "__main__":
    main()
