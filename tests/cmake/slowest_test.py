#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What slowest.py makes of ctest's report."""

import unittest

import slowest

REPORT = """<testsuite name="x" tests="3"><testcase name="a" time="1.5"/><testcase name="b" time="12.25"/>
<testcase name="c" time="0.1"><failure/></testcase></testsuite>"""


class Slowest(unittest.TestCase):
    def test_the_slowest_come_last_and_the_fastest_are_left_out(self):
        self.assertEqual(slowest.slowest(REPORT, 2), [(1.5, "a"), (12.25, "b")])

    def test_fewer_tests_than_wanted(self):
        self.assertEqual([name for _, name in slowest.slowest(REPORT, 25)], ["c", "a", "b"])


if __name__ == "__main__":
    unittest.main()
