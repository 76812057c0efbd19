// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/observed/TraceCache.h"

#include "driver/model/TuneSubject.h"
#include "driver/support/FileSystem.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace {

using namespace kopt;

class TraceCacheTest : public testing::Test {
protected:
  TraceCacheTest() : folder(std::move(*TemporaryDirectory::create("kopt-cache"))) {
    program = folder.path() / "app";
    data = folder.path() / "data.txt";
    EXPECT_TRUE(writeFileAtomically(program, "#!/bin/sh\n"));
    EXPECT_TRUE(writeFileAtomically(data, "1 2 3\n"));
    subject.specialization.symbol = "_Z1kPf";
    KernelParam param;
    param.type = "float *";
    param.size = 8;
    subject.specialization.params = {param};
    LaunchSite site;
    site.symbol = "_Z1kPf";
    site.grid = {"n / 128", "1", "1"};
    site.args = {"data"};
    subject.kernel.launches = {site};
  }
  std::string key(std::vector<std::string> more = {}) {
    std::vector<std::string> command{program.string(), data.string()};
    command.insert(command.end(), more.begin(), more.end());
    const auto identity = commandIdentity(command);
    EXPECT_TRUE(identity) << identity.error().what;
    return TraceCache::keyOf(identity.value_or(""), {{&subject.kernel, &subject.specialization}})
        .text;
  }
  TemporaryDirectory folder;
  std::filesystem::path program, data;
  TuneSubject subject;
};

TEST_F(TraceCacheTest, EverythingThatDecidesWhatIsLaunchedIsInTheKey) {
  const std::string before = key();
  EXPECT_EQ(key(), before);
  EXPECT_NE(key({"--size"}), before);
  subject.specialization.params[0].size = 4;
  EXPECT_NE(key(), before) << "the signature";
  subject.specialization.params[0].size = 8;
  subject.kernel.launches[0].grid[0] = "n / 256";
  EXPECT_NE(key(), before) << "the launch site";
  subject.kernel.launches[0].grid[0] = "n / 128";
  EXPECT_EQ(key(), before);
  ASSERT_TRUE(writeFileAtomically(data, "1 2 4\n"));
  const std::string otherData = key();
  EXPECT_NE(otherData, before) << "an input file";
  ASSERT_TRUE(writeFileAtomically(program, "#!/bin/sh\n\n"));
  EXPECT_NE(key(), otherData) << "the program";
  EXPECT_FALSE(commandIdentity({"no-such-program-anywhere"}));
}

TEST_F(TraceCacheTest, OnlyWholeTracesAreHeldAndOldOnesGo) {
  const TraceCache cache(folder.path());
  const TraceCache::Key half{"half"};
  ASSERT_TRUE(createDirectories(cache.folderOf(half)));
  EXPECT_FALSE(cache.holds(half));
  for (int i = 0; i < 12; ++i) {
    const TraceCache::Key one{"trace-" + std::to_string(i)};
    ASSERT_TRUE(createDirectories(cache.folderOf(one)));
    ASSERT_TRUE(cache.keep(one));
    EXPECT_TRUE(cache.holds(one));
  }
  std::size_t count = 0;
  for ([[maybe_unused]] const auto &entry :
       std::filesystem::directory_iterator(folder.path() / ".kopt" / "traces"))
    ++count;
  EXPECT_EQ(count, 8u);
}

} // namespace
