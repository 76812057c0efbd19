#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""layering.py finds what it forbids: each test plants one mistake into a copy of the source tree."""

import os
import pathlib
import shutil
import tempfile
import unittest

import layering

SOURCE = pathlib.Path(os.environ["KOPT_SOURCE_DIR"])


class Layering(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.top = pathlib.Path(tempfile.mkdtemp(prefix="kopt-layering-"))
        cls.addClassCleanup(shutil.rmtree, cls.top, ignore_errors=True)
        for folder in (*layering.PRODUCT, "tests/unit"):
            shutil.copytree(SOURCE / folder, cls.top / folder)
        cls.before = set(layering.check(cls.top))

    def plant(self, name, text):
        path = self.top / name
        old = path.read_text() if path.exists() else None
        self.addCleanup(lambda: path.write_text(old) if old is not None else path.unlink())
        path.write_text((old or "// SPDX-License-Identifier: Apache-2.0\n") + text)

    def finds(self, *words, allowed=layering.EDGES):
        new = [finding for finding in layering.check(self.top, allowed) if finding not in self.before]
        self.assertTrue([finding for finding in new if all(word in finding for word in words)], f"{words} not in {new}")

    def test_the_tree_has_no_findings(self):
        self.assertEqual(self.before, set())

    def test_an_edge_outside_the_table(self):
        self.plant("driver/support/Clock.h", '#include "driver/model/Trial.h"\n')
        self.finds("driver/support/Clock.h:", "driver/support includes driver/model")

    def test_the_overlay_is_the_standard_library_alone(self):
        self.plant("driver/integrate/overlay/Lock.h", '#include "driver/support/Text.h"\n')
        self.finds("driver/integrate/overlay/Lock.h:", "the standard library alone")

    def test_search_and_integrate_do_not_know_each_other(self):
        for one, other in (("search", "integrate"), ("integrate", "search")):
            self.assertNotIn(f"driver/{other}", layering.EDGES[f"driver/{one}"].split())

    def test_an_edge_that_nothing_uses(self):
        self.finds("driver/support: includes nothing of runtime/cuda",
                   allowed={**layering.EDGES, "driver/support": "runtime/cuda"})

    def test_a_table_that_allows_a_higher_room(self):
        self.finds("driver/model: the table", "allows driver/app",
                   allowed={**layering.EDGES, "driver/model": "driver/support driver/app"})

    def test_a_folder_that_the_table_does_not_know(self):
        (self.top / "driver/more").mkdir()
        self.addCleanup(shutil.rmtree, self.top / "driver/more")
        self.plant("driver/more/More.h", '#include "driver/support/Text.h"\n')
        self.finds("driver/more/More.h:2", "driver/more is missing from the table")

    def test_a_circle_of_folders_below_a_room(self):
        self.plant("driver/device/sass/SassClass.h", '#include "driver/device/runner/RunnerClient.h"\n')
        self.plant("driver/device/runner/DeviceLock.h", '#include "driver/device/sass/SassClass.h"\n')
        self.finds("driver/device/runner, driver/device/sass", "in a circle")

    def test_a_circle_of_files(self):
        self.plant("driver/support/Clock.h", '#include "driver/support/Terminal.h"\n')
        self.plant("driver/support/Terminal.cpp", '#include "driver/support/Clock.h"\n')
        self.finds("the files driver/support/Clock, driver/support/Terminal", "in a circle")

    def test_a_function_that_is_too_long(self):
        body = "  if (value) {\n    ++value; // }\n  }\n"
        self.plant("driver/support/Hash.cpp", f"int more(\n    int value) {{\n{body * 25}}}\n")
        self.assertFalse([finding for finding in layering.check(self.top) if "a function of" in finding])
        self.plant("driver/support/Hash.cpp", f"int most(\n    int value) {{\n{body * 26}}}\n")
        self.finds("driver/support/Hash.cpp:", "a function of 81 lines; at most 80")

    def test_a_class_of_many_members(self):
        members = "".join(f"  int member{number}_ = f(0), other{number}_;\n" for number in range(7))
        self.plant("driver/support/Hash.h", f"class Fourteen {{\n  int f() {{ return here_; }}\n{members}}};\n")
        self.assertFalse([finding for finding in layering.check(self.top) if "data members" in finding])
        self.plant("driver/support/Hash.h", f"class Sixteen {{\n  std::vector<int> a_{{}}, b_;\n{members}}};\n")
        self.finds("driver/support/Hash.h:", "Sixteen has 16 data members; at most 15")

    def test_an_exception_that_nothing_needs(self):
        layering.MANY_MEMBERS["NoSuchClass"] = "no reason"
        self.addCleanup(layering.MANY_MEMBERS.pop, "NoSuchClass")
        self.finds("NoSuchClass: ", "any more: take it out of")

    def test_a_fifteenth_source(self):
        count = len(list((self.top / "driver/support").glob("*.cpp")))
        for number in range(count, layering.MAX_SOURCES):
            self.plant(f"driver/support/More{number}.cpp", "")
        self.assertFalse([finding for finding in layering.check(self.top) if ".cpp files" in finding])
        self.plant("driver/support/OneMore.cpp", "")
        self.finds("driver/support: has 15 .cpp files")

    def test_a_test_in_another_room(self):
        self.plant("tests/unit/store/RuleBookTest.cpp", "")
        self.finds("tests/unit/store/RuleBookTest.cpp: driver/store has no RuleBook.h")

    def test_a_test_of_a_file_that_does_not_exist(self):
        self.plant("tests/unit/runtime/trace/NoSuchFileTest.cpp", "")
        self.finds("runtime/trace has no NoSuchFile.h")

    def test_a_folder_without_a_readme(self):
        readme = self.top / "driver/store/README.md"
        text = readme.read_text()
        readme.unlink()
        self.addCleanup(readme.write_text, text)
        self.finds("driver/store: has no README.md")

    def test_a_file_that_is_too_long(self):
        self.plant("driver/support/Clock.cpp", "\n" * layering.MAX_LINES)
        self.finds("driver/support/Clock.cpp: has", "lines; at most 800")

    def test_a_file_without_a_licence(self):
        path = self.top / "runtime/device/Unlicensed.h"
        self.addCleanup(path.unlink)
        path.write_text("#pragma once\n")
        self.finds("runtime/device/Unlicensed.h:1: has no SPDX line")

    def test_clang_outside_clang_plugin(self):
        self.plant("driver/source/Frontend.cpp", "#include <clang/AST/Decl.h>\n")
        self.finds("driver/source/Frontend.cpp:", "clang/AST/Decl.h", "only clang_plugin includes Clang")

    def test_what_of_clang_plugin_driver_may_include(self):
        self.plant("driver/source/Frontend.cpp", '#include "clang_plugin/parse/ParseCuda.h"\n')
        self.finds("driver/source/Frontend.cpp:", "clang_plugin/parse/ParseCuda.h", "clang_plugin/output")

    def test_nothing_depends_on_driver(self):
        for file in ("clang_plugin/args/CompileDb.h", "runtime/trace/Trace.h", "runtime/include/kopt/kopt.h"):
            with self.subTest(file):
                self.plant(file, '#include "driver/support/Text.h"\n')
                self.finds(file, "driver/support/Text.h, but")


if __name__ == "__main__":
    unittest.main()
