// SPDX-License-Identifier: Apache-2.0
// captured.cubin: nvcc 13.0 -arch=sm_90 -cubin tests/e2e/data/captured.cu
#include "runtime/capture/CubinVariables.h"

#include <fstream>
#include <gmock/gmock.h>

namespace {

using namespace kopt::runtime::capture;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

std::string image() {
  std::ifstream file(KOPT_SOURCE_DIR "/tests/unit/runtime/capture/captured.cubin",
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(CubinVariables, KernelsAndVariablesOfARealCubin) {
  const CubinSymbols symbols = readCubinSymbols(image());
  EXPECT_THAT(symbols.kernels,
              UnorderedElementsAre("_Z6gatherPfPKPKfi", "_Z5weigh4SpanPKf", "_Z5scalePfPKffi"));
  EXPECT_THAT(symbols.variables, ElementsAre("_ZN3app7weightsE"));
  CubinVariables variables;
  variables.add(symbols);
  variables.add(symbols);
  EXPECT_THAT(variables.of("_Z5weigh4SpanPKf"), ElementsAre("_ZN3app7weightsE"));
  EXPECT_TRUE(variables.of("other").empty());
  EXPECT_EQ(variables.codeOf("_Z5weigh4SpanPKf").size(), 32u);
  EXPECT_NE(variables.codeOf("_Z5weigh4SpanPKf"), variables.codeOf("_Z5scalePfPKffi"));
  EXPECT_TRUE(variables.codeOf("other").empty());
}

TEST(CubinVariables, AnythingElseHasNone) {
  const std::string good = image();
  ASSERT_GT(good.size(), 1000u);
  readCubinSymbols("");
  readCubinSymbols("\x7f"
                   "ELF");
  for (std::size_t size = 0; size < good.size(); size += 13)
    readCubinSymbols(std::string_view(good).substr(0, size));
  std::uint64_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    std::string bad = good;
    for (int flips = 0; flips < 8; ++flips) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      // Half of them in the header and the section table, where the offsets are.
      const std::size_t at = flips % 2 ? (state >> 33) % 64 : (state >> 33) % bad.size();
      bad[at] = char(state >> 20);
    }
    const CubinSymbols symbols = readCubinSymbols(bad);
    for (const std::string &name : symbols.variables)
      ASSERT_LE(name.size(), bad.size());
  }
}

} // namespace
