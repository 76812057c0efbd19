// SPDX-License-Identifier: Apache-2.0
// PTX text, as nvcc prints it.
#include "clang_plugin/proof/Ptx.h"
#include "tests/fuzz/Fuzz.h"

#include <algorithm>

using namespace kopt::frontend;
using kopt::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string_view text = kopt::fuzz::textOf(data, size);
  std::string indented;
  for (const char c : text)
    indented += c == '\n' ? std::string("\n\t") : std::string{c};
  const PtxModule module(text), same(indented);
  const std::vector<std::string> entries = module.entries();
  require(same.entries() == entries, "blanks before a line do not count");
  for (std::size_t i = 0; i < std::min<std::size_t>(entries.size(), 4); ++i) {
    const auto kernel = module.normalised(entries[i]), other = same.normalised(entries[i]);
    require(kernel && other, "a kernel that is listed can be had");
    require(firstDifference(*kernel, *other).empty(), "blanks before a line make no difference");
    require(!firstDifference(*kernel, *kernel + "ret;").empty(),
            "one more instruction is a difference");
    require(!firstDifference(*kernel + "ret;", *kernel).empty(),
            "one instruction less is a difference");
  }
  require(entries.end() != std::find(entries.begin(), entries.end(), "no such kernel") ||
              !module.normalised("no such kernel"),
          "a kernel that is not there is not found");
  return 0;
}
