// SPDX-License-Identifier: Apache-2.0
#include "runtime/runner/LaunchSpec.h"

#include <gtest/gtest.h>

namespace kopt::runtime {
namespace {

LaunchSpec fullLaunch() {
  LaunchSpec launch;
  launch.module = 3;
  launch.grid = {4, 2, 1};
  launch.block = {32, 8, 2};
  launch.sharedBytes = 128;
  launch.cooperative = true;
  launch.stackBytes = 2048;
  for (const auto &[kind, name] : kFillKinds) {
    BufferSpec buffer;
    buffer.name = std::string("odd, name = ") + name;
    buffer.bytes = 4096;
    buffer.scalar = "f64";
    buffer.fill = kind;
    buffer.low = 1.0 / 3;
    buffer.high = 1e300;
    launch.buffers.push_back(buffer);
  }
  launch.buffers[1].readOnly = true;
  launch.buffers[2].output = true;
  launch.buffers[3].symbol = "_Z5table";
  launch.buffers[4].contents = "trace/buffer 7.bin";
  launch.buffers[4].address = 0x7f0000001000;
  launch.buffers[4].holdsPointers = true;
  launch.buffers[4].period = 64;
  launch.buffers[4].factor = 1.0 / 3;
  launch.buffers[5].drawnAs = "f32";
  launch.buffers.back().values = std::string("\x29\0\xff", 3);
  launch.buffers.push_back(launch.buffers.back());
  launch.buffers.back().values.clear();
  launch.buffers.back().contents = "data/shape of it.bin";
  const std::vector<std::byte> zeros(8);
  launch.arguments = {{zeros, {{0, 1, 64}}},
                      {{std::byte(0), std::byte(255), std::byte(64)}, {}},
                      {std::vector<std::byte>(24, std::byte(7)), {{0, 0, 8}, {16, 2, 0}}}};
  return launch;
}

TEST(LaunchSpec, IsReadAsItWasWritten) {
  const LaunchSpec launch = fullLaunch();
  protocol::Message request("run");
  addLaunch(request, "a.", launch);
  const auto received = protocol::Message::parse(request.format());
  ASSERT_TRUE(received);
  LaunchSpec read;
  std::string why;
  ASSERT_TRUE(parseLaunch(*received, "a.", read, why)) << why;
  EXPECT_EQ(read, launch);
  EXPECT_FALSE(parseLaunch(*received, "b.", read, why));
}

TEST(LaunchSpec, ValuesAreHexadecimalDigitsOfABufferThatTakesThem) {
  const auto reads = [](const std::string &fields) {
    const auto request = protocol::Message::parse(
        "run a.module=0 a.grid=1,1,1 a.block=1,1,1 a.shared=0 "
        "a.buffer=shape,12,i32,values,0,0,in a.buffer=x,4,f32,zero,0,0,in " +
        fields);
    LaunchSpec read;
    std::string why;
    return request && parseLaunch(*request, "a.", read, why);
  };
  EXPECT_TRUE(reads("a.values=0,290d"));
  EXPECT_FALSE(reads("a.values=0,29g"));
  EXPECT_FALSE(reads("a.values=0,290"));
  EXPECT_FALSE(reads("a.values=1,290d")); // it is filled with zeros
  EXPECT_FALSE(reads("a.contents=1,data.bin"));
}

TEST(FillKind, EachHasANameThatIsRead) {
  for (const auto &[kind, name] : kFillKinds) {
    EXPECT_STREQ(toString(kind), name);
    EXPECT_EQ(parseFillKind(name), kind);
  }
  EXPECT_FALSE(parseFillKind("odd"));
}

} // namespace
} // namespace kopt::runtime
