// SPDX-License-Identifier: Apache-2.0
#include "driver/diagnose/Techniques.h"
#include "clang_plugin/output/Variants.h"
#include "driver/diagnose/RuleBook.h"
#include "driver/search/proposers/ControlsProposer.h"
#include "driver/search/proposers/LaunchClasses.h"
#include "driver/search/proposers/TwoBodies.h"
#include "driver/support/Text.h"
#include "tests/fakes/Results.h"

#include <gtest/gtest.h>

namespace kopt {
namespace {

TEST(Techniques, HaveEveryNameThatIsUsed) {
  const Techniques techniques = must(Techniques::load());
  for (const std::string_view id : kRewriteIds)
    EXPECT_TRUE(techniques.has(std::string(id))) << id;
  for (const char *id : {"params", kClassTechnique, kRepairTechnique})
    EXPECT_TRUE(techniques.has(id)) << id;
  for (const char *id : ControlsProposer::kTechniques)
    EXPECT_TRUE(techniques.has(id)) << id;
  EXPECT_TRUE(RuleBook::load()); // fails where a rule names another one
  for (const auto &[skill, text] : must(RuleBook::load()).documents()) {
    constexpr std::string_view kLine = "\nTechniques: ";
    const std::size_t at = text.find(kLine);
    if (at == text.npos)
      continue;
    const std::size_t begin = at + kLine.size();
    for (const std::string &name : split(text.substr(begin, text.find(".\n", begin) - begin), ','))
      EXPECT_TRUE(techniques.has(std::string(trim(name)))) << skill << ": " << name;
  }
}

TEST(Techniques, FoldOtherNames) {
  const Techniques techniques = must(Techniques::load());
  EXPECT_EQ(techniques.named("unroll"), "unroll");
  EXPECT_EQ(techniques.named("Loop Unrolling"), "unroll");
  EXPECT_EQ(techniques.named("shared_memory_tiling"), "stage");
  EXPECT_EQ(techniques.named("float4"), "vectorize");
  EXPECT_EQ(techniques.named("something-new"), "something-new");
}

TEST(Techniques, EachSaysWhatItIsInOneLine) {
  for (const Technique &technique : must(Techniques::load()).all())
    EXPECT_LT(technique.what.size(), 110u) << technique.id;
}

} // namespace
} // namespace kopt
