// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/derive/AliasedBuffers.h"
#include "unit/judge/derive/DerivedLaunchesFixture.h"

using namespace kopt;

namespace {

using AliasedBuffersTest = test::DerivedLaunchesFixture;

TEST_F(AliasedBuffersTest, AnInputThatIsReadAcrossIsNoOutput) {
  Specialization specialization;
  specialization.params.resize(2);
  for (KernelParam &param : specialization.params) {
    param.kind = ParamKind::Pointer;
    param.scalar = "f64";
    param.pointeeSize = 8;
  }
  specialization.params[0].name = "in";
  specialization.params[0].pointeeConst = true;
  specialization.params[1].name = "out";
  Launch launch;
  launch.buffers.resize(2);
  for (Buffer &buffer : launch.buffers) {
    buffer.bytes = 512;
    buffer.scalar = "f64";
  }
  launch.buffers[1].output = true;
  launch.arguments = {BufferArg{0, 0}, BufferArg{1, 0}};
  const auto made = usedInPlace(specialization, launch, {});
  ASSERT_TRUE(made);
  EXPECT_EQ(std::get<BufferArg>(made->launch.arguments[1]).buffer, 0u);
  EXPECT_FALSE(usedInPlace(specialization, launch, {"in"}));
}

TEST_F(AliasedBuffersTest, PointersPassedTwiceAreOneBuffer) {
  kernel_.launches[0].args = {"data", "index", "data", "factor", "n", "steps"};
  const auto placement = only(derive(), Derivation::Alignment);
  ASSERT_EQ(placement.size(), 8u);
  EXPECT_EQ(std::get<BufferArg>(placement[7].launch.arguments[2]).buffer, 0u);
  EXPECT_FALSE(placement[7].launch.buffers[0].readOnly);
}

TEST_F(AliasedBuffersTest, SoAreThoseThatAnotherLaunchSitePassesTwice) {
  kernel_.launches.push_back(kernel_.launches[0]);
  LaunchSite &other = kernel_.launches.back();
  other.file = "/project/src/in_place.cu";
  other.line = 31;
  other.args = {"data", "index", "data", "factor", "n", "steps"};
  auto placement = only(derive(), Derivation::Alignment);
  ASSERT_EQ(placement.size(), 8u);
  EXPECT_EQ(placement[7].title, "pointers that the launch at in_place.cu:31 passes twice");
  EXPECT_EQ(std::get<BufferArg>(placement[7].launch.arguments[2]).buffer, 0u);
  kernel_.launches.push_back(kernel_.launches.back());
  EXPECT_EQ(only(derive(), Derivation::Alignment).size(), 8u) << "once is enough";
  for (std::size_t i = 1; i < 3; ++i)
    kernel_.launches[i].args[0] = kernel_.launches[i].args[2] = "nullptr";
  EXPECT_EQ(only(derive(), Derivation::Alignment).size(), 7u);
  kernel_.launches[1].args[0] = kernel_.launches[1].args[2] = "data";
  kernel_.launches[1].symbol = "another";
  EXPECT_EQ(only(derive(), Derivation::Alignment).size(), 7u);
}

TEST_F(AliasedBuffersTest, PointersOfOneOriginAreOneBufferHoweverTheyAreSpelled) {
  LaunchSite &site = kernel_.launches[0];
  site.args = {"(const float *)data", "index", "&data[0]", "factor", "n", "steps"};
  EXPECT_EQ(only(derive(), Derivation::Alignment).size(), 7u)
      << "what the front end did not say is not guessed";
  site.pointers = {{"data", "0"}, {"index", "0"}, {"data", "0"}, {}, {}, {}};
  const auto placement = only(derive(), Derivation::Alignment);
  ASSERT_EQ(placement.size(), 8u);
  EXPECT_EQ(placement[7].title, "pointers that the launch passes twice");
  EXPECT_EQ(std::get<BufferArg>(placement[7].launch.arguments[2]).buffer, 0u);
  EXPECT_EQ(std::get<BufferArg>(placement[7].launch.arguments[2]).offset, 0u);
  // The elements of a pack, or variables of one name, are not the same.
  site.args[0] = site.args[2] = "data";
  site.pointers[2].root = "data#2";
  EXPECT_EQ(only(derive(), Derivation::Alignment).size(), 7u);
}

TEST_F(AliasedBuffersTest, PointersThatOverlapShareABuffer) {
  LaunchSite &site = kernel_.launches[0];
  site.args = {"data + k + 1", "index", "data + k", "factor", "length", "steps"};
  site.pointers = {{"data", "k * 4 + 4"}, {"index", "0"}, {"data", "k * 4"}, {}, {}, {}};
  auto placement = only(derive(), Derivation::Alignment);
  ASSERT_EQ(placement.size(), 8u);
  EXPECT_EQ(placement[7].title, "pointers that the launch passes into each other's memory");
  const Launch &launch = placement[7].launch;
  EXPECT_EQ(std::get<BufferArg>(launch.arguments[0]).buffer, 0u);
  EXPECT_EQ(std::get<BufferArg>(launch.arguments[0]).offset, 4u)
      << "k, which nobody gave, is the same in both";
  EXPECT_EQ(std::get<BufferArg>(launch.arguments[2]).buffer, 0u);
  EXPECT_EQ(std::get<BufferArg>(launch.arguments[2]).offset, 0u);
  EXPECT_EQ(launch.buffers[0].bytes, (3906u + 1) * 4);
  EXPECT_FALSE(launch.buffers[0].readOnly);
  EXPECT_FALSE(launch.buffers[0].output);
  // By the launch's own names: what the kernel calls n, it calls length.
  site.pointers[0].offset = "(length / 2) * 4";
  site.pointers[2].offset = "0";
  placement = only(derive(), Derivation::Alignment);
  ASSERT_EQ(placement.size(), 8u);
  EXPECT_EQ(std::get<BufferArg>(placement[7].launch.arguments[0]).offset, 3906u / 2 * 4);
}

TEST_F(AliasedBuffersTest, PartsOfOneAllocationThatDoNotOverlapStayApart) {
  LaunchSite &site = kernel_.launches[0];
  site.args = {"data", "index", "data + n", "factor", "n", "steps"};
  site.pointers = {{"data", "0"}, {"index", "0"}, {"data", "n * 4"}, {}, {}, {}};
  const DerivedLaunches all = derive();
  EXPECT_EQ(only(all, Derivation::Alignment).size(), 7u);
  EXPECT_TRUE(std::none_of(all.missing.begin(), all.missing.end(), [](const NotDerived &missing) {
    return missing.kind == Derivation::Alignment;
  }));
}

TEST_F(AliasedBuffersTest, PointersThatMayShareMemoryAreNamedWhereItIsNotTried) {
  LaunchSite &site = kernel_.launches[0];
  site.file = "/project/src/scale.cu";
  site.line = 12;
  site.args = {"data + first", "index", "data", "factor", "n", "steps"};
  site.pointers = {{"data", "first * 4"}, {"index", "0"}, {"data", "0"}, {}, {}, {}};
  const auto why = [&] {
    const DerivedLaunches all = derive();
    EXPECT_EQ(only(all, Derivation::Alignment).size(), 7u);
    std::string text;
    for (const NotDerived &missing : all.missing)
      if (missing.kind == Derivation::Alignment)
        text += missing.why;
    return text;
  };
  EXPECT_EQ(why(), "'in' and 'out' at scale.cu:12 both point into 'data', at an unknown distance");
  site.pointers[0].offset.clear();
  EXPECT_EQ(why(), "'in' and 'out' at scale.cu:12 both point into 'data', at an unknown distance");
  site.pointers[0].offset = "400000"; // of 4000000 bytes, and of 15624 in the small launch
  EXPECT_EQ(why(),
            "'in' and 'out' at scale.cu:12 overlap only in a launch that is too large to run");
  site.pointers[0].offset = "0";
  site.pointers[1].root = "data";
  site.pointers[2].root = "other";
  EXPECT_EQ(why(), "'in' and 'index' at scale.cu:12 point into the same memory as different types");
}

} // namespace
