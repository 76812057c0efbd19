#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""new_rewrite.py NAME [SOURCE_TREE]: begins a rewrite of the catalogue, for example `new_rewrite.py loop-interchange`.

Writes a rewrite that offers nothing yet, its unit test, and its line in each list that names the rewrites. What is left to
do: the first lines of the new file say what the rewrite does and refuses, as its line in transform/README.md does."""
import re
import sys
from pathlib import Path

TRANSFORM, TESTS = "clang_plugin/transform", "tests/unit/clang_plugin/transform"

SOURCE = """// SPDX-License-Identifier: Apache-2.0
// NAME: what it does, in one sentence. Matches which kernels. Refuses which of them.
#include "clang_plugin/analysis/KernelView.h"
#include "clang_plugin/transform/Transformation.h"

namespace kopt::frontend {

std::vector<Offer> FUNCTION(const KernelView &view, Refusals &refusals) {
  std::vector<Offer> offers;
  // What matches in view.pattern() becomes an offer: edits of view.text(), or another launch. What is in the way goes to
  // `refusals`, with its place.
  return offers;
}

} // namespace kopt::frontend
"""

TEST = """// SPDX-License-Identifier: Apache-2.0
#include "Offers.h"

#include <gmock/gmock.h>

namespace kopt::frontend::test {
namespace {

using testing::IsEmpty;

Question askCLASS(std::string slice) { return {.technique = "NAME", .slice = std::move(slice)}; }

TEST(CLASS, RefusesAKernelWithoutLaunches) {
  Question question = askCLASS("__global__ void k(float *a) { a[0] = 1; }\\n");
  question.launches.clear();
  EXPECT_THAT(offersFor(question), IsEmpty());
}

} // namespace
} // namespace kopt::frontend::test
"""


def insert(path, pattern, line, in_order=False):
    """Puts the line behind the last one that matches, or, `in_order`, where the alphabet wants it among those."""
    lines = path.read_text().splitlines()
    places = [index for index, text in enumerate(lines) if re.match(pattern, text)]
    if not places:
        sys.exit(f"{path}: no line is like '{pattern}'")
    later = [index for index in places if lines[index] > line] if in_order else []
    lines.insert(later[0] if later else places[-1] + 1, line)
    path.write_text("\n".join(lines) + "\n")


def main():
    if not 2 <= len(sys.argv) <= 3 or not re.fullmatch(r"[a-z]+(-[a-z]+)*", sys.argv[1]):
        sys.exit("usage: new_rewrite.py NAME [SOURCE_TREE]; NAME is words in small letters with hyphens between them")
    name, root = sys.argv[1], Path(sys.argv[2] if len(sys.argv) == 3 else Path(__file__).parent.parent)
    class_name = "".join(word.capitalize() for word in name.split("-"))
    function = class_name[0].lower() + class_name[1:] + "Offers"
    source, test = root / TRANSFORM / f"{class_name}.cpp", root / TESTS / f"{class_name}Test.cpp"
    catalogue = root / TRANSFORM / "Catalogue.cpp"
    if source.exists() or test.exists() or f'{{"{name}"' in catalogue.read_text():
        sys.exit(f"{name}: there is a rewrite of that name already")
    for path, text in ((source, SOURCE), (test, TEST)):
        path.write_text(text.replace("FUNCTION", function).replace("CLASS", class_name).replace("NAME", name))
    # The last line of the list ends it, so the new one stands before it.
    text = catalogue.read_text()
    catalogue.write_text(re.sub(r'(\n +)(\{"[a-z-]+", \w+Offers\})\};', rf'\1\2,\1{{"{name}", {function}}}}};', text))
    ids = root / "clang_plugin/output/Variants.h"
    ids.write_text(re.sub(r'(kRewriteIds\[\] = \{[^}]*")\};', rf'\1,\n    "{name}"}};', ids.read_text()))
    insert(root / TRANSFORM / "Transformation.h", r"std::vector<Offer> \w+Offers\(", f"std::vector<Offer> {function}(const KernelView &view, Refusals &refusals);")
    insert(root / TRANSFORM / "CMakeLists.txt", r"  \w+\.cpp", f"  {class_name}.cpp", in_order=True)
    insert(root / TRANSFORM / "README.md", r"\| `", f"| `{name}` | what it does | what it refuses |")
    insert(root / TESTS / "../CMakeLists.txt", r"    transform/\w+\.cpp", f"    transform/{class_name}Test.cpp", in_order=True)
    print(f"{source.relative_to(root)}\n{test.relative_to(root)}")


if __name__ == "__main__":
    main()
