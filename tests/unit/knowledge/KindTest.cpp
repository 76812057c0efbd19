// SPDX-License-Identifier: Apache-2.0
#include "driver/knowledge/Kind.h"

#include <gmock/gmock.h>

namespace kopt {
namespace {

using testing::ElementsAre;

using Features = std::map<std::string, double>;

const Features kCopy = {{"sass__inst_global_load", 4},
                        {"sass__inst_global_store", 4},
                        {"sass__inst_integer", 20},
                        {"sass__inst_control", 10},
                        {"code: global load, lanes adjacent", 1},
                        {"code: guard", 1},
                        {"f32 parameters", 2},
                        {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 90}};

Features scaled(Features features, const std::string &prefix, double by) {
  for (auto &[name, value] : features)
    if (name.starts_with(prefix))
      value *= by;
  return features;
}

TEST(Kind, AlikeIsWhatDoesTheSameWhateverItsSize) {
  EXPECT_DOUBLE_EQ(likeness(kCopy, kCopy), 1);
  EXPECT_DOUBLE_EQ(likeness(kCopy, scaled(kCopy, "sass__inst_", 5)), 1) << "shares count";
  Features sines = {{"sass__inst_special", 30},
                    {"sass__inst_fp64", 60},
                    {"sass__inst_control", 10},
                    {"code: loop", 2},
                    {"code: shared load, lanes same", 4},
                    {"f64 parameters", 1},
                    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 2}};
  EXPECT_LT(likeness(kCopy, sines), 0.2);
  Features other = kCopy;
  other["code: guard"] = 2;
  other["sass__inst_fp32"] = 6;
  EXPECT_GT(likeness(kCopy, other), kOfAKind);
  EXPECT_LT(likeness(kCopy, other), 1);
  EXPECT_DOUBLE_EQ(likeness(kCopy, other), likeness(other, kCopy));
}

TEST(Kind, OnlyWhatIsKnownOfBothCounts) {
  Features withoutCounters = kCopy;
  std::erase_if(withoutCounters, [](const auto &each) { return each.first.starts_with("sass"); });
  EXPECT_DOUBLE_EQ(likeness(kCopy, withoutCounters), 1);
  EXPECT_DOUBLE_EQ(likeness({{"f32 parameters", 2}}, kCopy), 0) << "parameters tell too little";
  EXPECT_DOUBLE_EQ(likeness({}, {}), 0);
}

TEST(Kind, AVariantNamesNothingOfTheUsers) {
  for (const auto &[title, variant] :
       {std::pair("launch in blocks of 32x8", "launch 32x8"),
        {"unroll by 4, line 69: for (int i = 7; i < n; i += 2)", "unroll 4"},
        {"do not unroll, line 9: for (;;)", "do"},
        {"add __launch_bounds__(256, 4)", "add 256 4"},
        {"add __restrict__ to secret2", "add"},
        {"load through __ldg(): a, b", "load"},
        {"specialise for secret == 512", ""},
        {"give each thread 2 elements of its block along y", "give 2 along y"},
        {"launch a block for 4 of today's", "launch 4"},
        {"intrinsics for sincosf below 48", ""}})
    EXPECT_EQ(variantOf(title), variant) << title;
  EXPECT_EQ(variantOf("unroll by 4 + launch in blocks of 64", "unroll by 4"), "launch 64");
  EXPECT_EQ(variantOf("secret 2 + unroll by 4, without line 9", "secret 2 + unroll by 4"), "");
}

} // namespace
} // namespace kopt
