# SPDX-License-Identifier: Apache-2.0
"""The examples of the skills are code that nvcc builds, each before with its after."""

import concurrent.futures
import re
import shutil
import subprocess
import sys
import unittest

from kopt_test import SOURCE, KoptTest


class Skills(KoptTest):
    def test_examples_build(self):
        examples = []
        for file in sorted((SOURCE / "knowledge" / "skills").glob("*.md")):
            blocks = re.findall(r"^( *)```cuda(?: (sm_\w+))?\n(.*?)^ *```", file.read_text(), re.DOTALL | re.MULTILINE)
            self.assertEqual(len(blocks) % 2, 0, f"{file.name}: a before without an after")
            for number, (indentation, arch, block) in enumerate(blocks):
                text = re.sub(f"^{indentation}", "", block, flags=re.MULTILINE)
                examples.append((f"{file.stem} {number}", arch or "sm_80", self.write(f"{file.stem}-{number}.cu", text)))
        self.assertGreaterEqual(len(examples), 36)

        def build(example):
            _, arch, source = example
            return subprocess.run(["nvcc", "-std=c++17", f"-arch={arch}", "-cubin", "-o", "/dev/null", source], capture_output=True,
                                  text=True, check=False)

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for (name, _, _), built in zip(examples, pool.map(build, examples)):
                self.assertEqual(built.returncode, 0, f"{name}: {built.stderr}")


if __name__ == "__main__":
    if not shutil.which("nvcc"):
        print("skipped: there is no nvcc")
        sys.exit(77)
    unittest.main()
