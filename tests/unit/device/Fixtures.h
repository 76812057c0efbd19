// SPDX-License-Identifier: Apache-2.0
// The recorded listings of tests/unit/device/fixtures.
#pragma once

#include "driver/device/sass/SassListing.h"
#include "driver/support/FileSystem.h"

#include <gtest/gtest.h>

namespace kopt {

inline SassListing recorded(const std::string &arch) {
  const auto text = readFile(std::string(KOPT_SOURCE_DIR "/tests/unit/device/fixtures/classes.") +
                             arch + ".sass");
  EXPECT_TRUE(text);
  auto listing = parseSassListing(text ? *text : std::string());
  EXPECT_TRUE(listing);
  return listing ? std::move(*listing) : SassListing{};
}

inline constexpr const char *kLoops = "_Z5loopsPfPKfi";
inline constexpr const char *kAccidental = "_Z10accidentalPfPKf";
inline constexpr const char *kShared = "_Z6sharedPiPKi";
inline constexpr const char *kIndexed = "_Z7indexedPfPKfi";
inline constexpr const char *kSpilled = "_Z7spilledPfPKfi";
inline constexpr const char *kTensor = "_Z6tensorPfPK6__halfS2_";
inline constexpr const char *kHalves = "_Z6halvesP7__half2PKS_yPKfb";
inline constexpr const char *kSource = "/tmp/kopt-fixtures/classes.cu";

} // namespace kopt
