# SPDX-License-Identifier: Apache-2.0
"""The packages that cpack makes of the build tree, unpacked into an empty root: kopt runs from there, on its own front end,
and its manuals lie where the shells look. Skipped where a tool for that is missing."""

import json
import os
import shutil
import subprocess
import sys
import unittest

from kopt_test import BIN, KoptTest

MANUALS = ["share/man/man1/kopt.1", "share/bash-completion/completions/kopt", "share/zsh/site-functions/_kopt",
           "share/fish/vendor_completions.d/kopt.fish"]


class Package(KoptTest):
    def pack(self, generator):
        subprocess.run(["cpack", "-G", generator, "-B", str(self.folder / "packed")], cwd=BIN.parent, check=True,
                       stdout=subprocess.DEVNULL)

    def use(self, prefix):
        kopt = prefix / "bin" / "kopt"

        def run(*words):
            done = subprocess.run([str(kopt), *words], cwd=self.folder, text=True, capture_output=True,
                                  env={**os.environ, "PATH": "/usr/bin:/bin"})
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            return done.stdout

        self.assertEqual(run("--version"), self.kopt_ok("--version").stdout)
        self.write("kernel.cu", "__global__ void fill(float *out, int n) { if (int(threadIdx.x) < n) out[threadIdx.x] = 1; }\n")
        listed = json.loads(run("list", "kernel.cu", "--json", "--", "-std=c++17"))["results"]
        self.assertEqual([each["kernel"] for each in listed], ["fill"])
        for manual in MANUALS:
            self.assertIn("explain", (prefix / manual).read_text(), manual)

    def test_the_archive(self):
        self.pack("TGZ")
        archive = next((self.folder / "packed").glob("kopt-*.tar.gz"))
        root = self.folder / "anywhere"
        root.mkdir()
        subprocess.run(["tar", "-xzf", str(archive), "-C", str(root), "--strip-components=1"], check=True)
        self.use(root)

    def test_the_debian_package(self):
        self.pack("DEB")
        package = next((self.folder / "packed").glob("kopt_*.deb"))
        fields = subprocess.run(["dpkg-deb", "-f", str(package)], check=True, text=True, capture_output=True).stdout
        self.assertIn("Package: kopt\n", fields)
        self.assertRegex(fields, "Depends: .*libc6")
        root = self.folder / "root"
        subprocess.run(["dpkg-deb", "-x", str(package), str(root)], check=True)
        self.use(root / "usr")


if __name__ == "__main__":
    missing = [tool for tool in ("cpack", "dpkg-deb", "tar") if not shutil.which(tool)]
    if missing:
        print("skipped: there is no " + " and no ".join(missing))
        sys.exit(77)
    unittest.main()
