// SPDX-License-Identifier: Apache-2.0
#include "runtime/capture/Config.h"

#include <gtest/gtest.h>

namespace {

using namespace kopt::runtime::capture;

TEST(CaptureConfig, EverySettingIsRead) {
  Config config;
  std::string why;
  ASSERT_TRUE(parseConfig("trace /tmp/a%20b\ncupti /x/libcupti.so\n\ntiming 0\ncode "
                          "1\nmax-launches 5\nmax-log-bytes 6\n"
                          "max-snapshot-bytes 7\ndepth 2\nwait-seconds 3\nparams _Z1kPf 8,4\n"
                          "snapshot symbol _Z1kPf first 2\nsnapshot kernel ns::k launch 9,3\n",
                          config, why))
      << why;
  EXPECT_EQ(config.trace, "/tmp/a b");
  EXPECT_EQ(config.cupti, std::vector<std::string>{"/x/libcupti.so"});
  EXPECT_FALSE(config.timing);
  EXPECT_TRUE(config.code);
  EXPECT_EQ(config.maxLaunches, 5u);
  EXPECT_EQ(config.maxSnapshotBytes, 7u);
  EXPECT_EQ(config.depth, 2u);
  EXPECT_EQ(config.parameterSizes.at("_Z1kPf"), (std::vector<std::uint32_t>{8, 4}));
  ASSERT_EQ(config.rules.size(), 2u);
  EXPECT_TRUE(config.rules[0].bySymbol);
  EXPECT_EQ(config.rules[1].ordinals, (std::vector<std::uint32_t>{3, 9}));
}

TEST(CaptureConfig, WhatIsWrongIsNamedByItsLine) {
  for (const char *bad :
       {"trace /t\nsnapshot symbol k first 0", "trace /t\nsnapshot symbol k often 1",
        "trace /t\nsnapshot symbol k launch 1,x", "trace /t\nmax-launches many",
        "trace /t\ncolour red", "trace /t\nparams k 8,", "trace /t\ntrace %zz"}) {
    Config config;
    std::string why;
    EXPECT_FALSE(parseConfig(bad, config, why)) << bad;
    EXPECT_NE(why.find("line 2"), std::string::npos) << why;
  }
  Config config;
  std::string why;
  EXPECT_FALSE(parseConfig("timing 1\n", config, why));
  EXPECT_NE(why.find("trace"), std::string::npos);
}

TEST(CaptureConfig, KernelsAreNamedAsPeopleDo) {
  const std::string symbol =
      "_ZN2ns5scaleIfLi4EEEvPT_PKS1_i"; // void ns::scale<float, 4>(float*, float const*, int)
  EXPECT_TRUE(namesKernel("scale", symbol));
  EXPECT_TRUE(namesKernel("ns::scale", symbol));
  EXPECT_TRUE(namesKernel(symbol, symbol));
  EXPECT_FALSE(namesKernel("cale", symbol));
  EXPECT_FALSE(namesKernel("other::scale", symbol));
  EXPECT_TRUE(namesKernel("k", "_ZN12_GLOBAL__N_11kEPf"));
  EXPECT_TRUE(namesKernel("plain", "plain"));
}

} // namespace
