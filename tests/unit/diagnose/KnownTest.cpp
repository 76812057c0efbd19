// SPDX-License-Identifier: Apache-2.0
#include "driver/diagnose/Known.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopt {
namespace {

using testing::ElementsAre;
using testing::Pair;

/// A launch with buffers of 100 bytes: for each parameter, which of them it points to.
struct KnownLaunch {
  Launch launch;
  Specialization kernel;

  explicit KnownLaunch(const std::vector<std::size_t> &pointsTo) {
    for (const std::size_t buffer : pointsTo) {
      KernelParam param;
      param.name = std::string(1, char('a' + kernel.params.size()));
      kernel.params.push_back(param);
      launch.arguments.push_back(BufferArg{buffer, 0});
      launch.buffers.resize(std::max(launch.buffers.size(), buffer + 1));
    }
    for (Buffer &buffer : launch.buffers)
      buffer.bytes = 100;
  }
};

TEST(Known, EachBufferOnceToBeReadAndOnceToBeWritten) {
  const KnownLaunch one({0, 1, 2});
  EXPECT_THAT(knownOf(one.launch, one.kernel, ParameterUses{{"a", "b"}, {"b", "c"}}),
              ElementsAre(Pair("known__buffer_bytes", 400), Pair("known__temporary_bytes", 0),
                          Pair("known__written_bytes", 200)));
}

TEST(Known, WhatIsNotKnownCountsForBoth) {
  KnownLaunch one({0, 1});
  EXPECT_THAT(knownOf(one.launch, one.kernel, std::nullopt),
              ElementsAre(Pair("known__buffer_bytes", 400)));
  one.launch.buffers[0].readOnly = true;
  one.launch.buffers[1].output = true;
  EXPECT_THAT(knownOf(one.launch, one.kernel, std::nullopt),
              ElementsAre(Pair("known__buffer_bytes", 200)));
  one.launch.arguments[1] = ValueArg(); // a struct that has the pointer
  one.launch.buffers[1].output = false;
  EXPECT_THAT(knownOf(one.launch, one.kernel, ParameterUses{{"a"}, {"b"}}),
              ElementsAre(Pair("known__buffer_bytes", 300)));
}

TEST(Known, ParametersMayBeOneBuffer) {
  const KnownLaunch inPlace({0, 0});
  EXPECT_THAT(knownOf(inPlace.launch, inPlace.kernel, ParameterUses{{"a"}, {"b"}}),
              ElementsAre(Pair("known__buffer_bytes", 200), Pair("known__temporary_bytes", 0),
                          Pair("known__written_bytes", 100)));
}

TEST(Known, AnOutputThatIsReadIsATemporary) {
  KnownLaunch one({0, 1});
  one.launch.buffers[1].output = true;
  EXPECT_THAT(knownOf(one.launch, one.kernel, ParameterUses{{"a", "b"}, {"b"}}),
              ElementsAre(Pair("known__buffer_bytes", 200), Pair("known__temporary_bytes", 100),
                          Pair("known__written_bytes", 100)));
}

} // namespace
} // namespace kopt
