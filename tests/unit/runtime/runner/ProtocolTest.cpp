// SPDX-License-Identifier: Apache-2.0
#include "runtime/runner/Protocol.h"
#include "runtime/runner/LaunchSpec.h"

#include <gtest/gtest.h>
#include <limits>

namespace {

using namespace kopt::runtime;
using protocol::Message;

TEST(Protocol, AnyBytesSurviveTheLine) {
  std::string all;
  for (int c = 0; c < 256; ++c)
    all += char(c);
  Message message("run");
  message.add("text", all);
  message.addList("list", {"a,b", "", "c d\n"});
  const std::string line = message.format();
  EXPECT_EQ(line.find('\n'), line.npos);
  const auto parsed = Message::parse(line);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->verb(), "run");
  EXPECT_EQ(parsed->text("text"), all);
  EXPECT_EQ(parsed->list("list"), (std::vector<std::string>{"a,b", "", "c d\n"}));
}

TEST(Protocol, DoublesAreExact) {
  for (const double value : {0.1, 1e-300, -1.0 / 3, std::numeric_limits<double>::max()})
    EXPECT_EQ(protocol::parseNumber<double>(protocol::formatDouble(value)), value);
}

TEST(Protocol, RepeatedKeysStayInOrder) {
  const auto parsed = Message::parse("run b=1,x b= b=2");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->lists("b"), (std::vector<std::vector<std::string>>{{"1", "x"}, {}, {"2"}}));
}

TEST(Protocol, RefusesWhatIsNoMessage) {
  for (const char *line : {"", "a=1", "run x", "run =1", "run a=%4", "run a=%zz", "run  a=1"})
    EXPECT_FALSE(Message::parse(line)) << line;
}

TEST(Protocol, NumbersAreWhole) {
  const auto parsed = Message::parse("run n=12 bad=12x negative=-1");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->number<unsigned>("n"), 12u);
  EXPECT_FALSE(parsed->number<unsigned>("bad"));
  EXPECT_FALSE(parsed->number<unsigned>("negative"));
  EXPECT_FALSE(parsed->number<unsigned>("absent"));
}

constexpr const char *kLaunch =
    "run a.module=3 a.grid=8,4,1 a.block=32,8,1 a.shared=128 a.cooperative=1 a.stack=4096 "
    "a.buffer=in,64,f32,uniform,-1,1,in "
    "a.buffer=out,32,f16,constant,7,1,out "
    "a.arg=buffer,1,16 a.arg=value,0a00ff7f";

TEST(LaunchSpec, ReadsEveryField) {
  LaunchSpec launch;
  std::string why;
  ASSERT_TRUE(parseLaunch(*Message::parse(kLaunch), "a.", launch, why)) << why;
  EXPECT_EQ(launch.module, 3u);
  EXPECT_EQ(launch.grid, (std::array<std::uint32_t, 3>{8, 4, 1}));
  EXPECT_EQ(launch.block, (std::array<std::uint32_t, 3>{32, 8, 1}));
  EXPECT_EQ(launch.sharedBytes, 128u);
  EXPECT_TRUE(launch.cooperative);
  EXPECT_EQ(launch.stackBytes, 4096u);
  ASSERT_EQ(launch.buffers.size(), 2u);
  EXPECT_TRUE(launch.buffers[0].readOnly);
  EXPECT_TRUE(launch.buffers[1].output);
  EXPECT_EQ(launch.buffers[1].fill, FillKind::Constant);
  ASSERT_EQ(launch.arguments.size(), 2u);
  EXPECT_EQ(launch.arguments[0].pointers.at(0).buffer, 1u);
  EXPECT_EQ(launch.arguments[0].pointers.at(0).offset, 16u);
  EXPECT_EQ(launch.arguments[1].value, (std::vector<std::byte>{std::byte{0x0a}, std::byte{0},
                                                               std::byte{0xff}, std::byte{0x7f}}));
}

TEST(LaunchSpec, NamesTheFieldItCannotRead) {
  const std::pair<const char *, const char *> cases[] = {
      {"a.grid=8,4,1", "a.grid=8,0,1"},
      {"a.block=32,8,1", "a.block=32,8"},
      {"a.shared=128", "a.shared=-1"},
      {"a.arg=buffer,1,16", "a.arg=buffer,2,0"},
      {"a.arg=buffer,1,16", "a.arg=buffer,1,33"},
      {"a.arg=value,0a00ff7f", "a.arg=value,0a0"},
      {"f32,uniform,-1,1,in", "f32,uniform,2,1,in"},
      {"1,out ", "1,elsewhere "},
      {"constant,7", "constant,nan"}};
  for (const auto &[from, to] : cases) {
    std::string line = kLaunch;
    line.replace(line.find(from), std::string(from).size(), to);
    LaunchSpec launch;
    std::string why;
    EXPECT_FALSE(parseLaunch(*Message::parse(line), "a.", launch, why)) << line;
    EXPECT_NE(why.find("a."), why.npos);
  }
}

} // namespace
