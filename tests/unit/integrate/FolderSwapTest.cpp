// SPDX-License-Identifier: Apache-2.0
#include "driver/integrate/header/FolderSwap.h"

#include "driver/support/FileSystem.h"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kopt {
namespace {

using Content = std::map<std::string, std::string>;

class FolderSwapTest : public testing::Test {
protected:
  std::filesystem::path target() const { return folder_.path() / "kopt"; }
  static Content contentOf(const std::filesystem::path &folder) {
    Content content;
    if (std::filesystem::exists(folder))
      for (const auto &entry : std::filesystem::directory_iterator(folder))
        content[entry.path().filename().string()] = readFile(entry.path()).value_or("");
    return content;
  }
  TemporaryDirectory folder_ = std::move(TemporaryDirectory::create("kopt-swap").value());
};

TEST_F(FolderSwapTest, ChangesAddsRemovesAndKeeps) {
  ASSERT_TRUE(changeFolder(target(), {{"a", "1"}, {"b", "1"}, {"c", "1"}}));
  const auto before = std::filesystem::last_write_time(target() / "c");
  ASSERT_TRUE(changeFolder(target(), {{"a", "2"}, {"b", ""}, {"d", "2"}}));
  EXPECT_EQ(contentOf(target()), (Content{{"a", "2"}, {"c", "1"}, {"d", "2"}}));
  EXPECT_EQ(std::filesystem::last_write_time(target() / "c"), before);
  EXPECT_EQ(contentOf(folder_.path()).size(), 1u); // nothing is left beside it
}

TEST_F(FolderSwapTest, AFolderWithMoreThanFilesIsRefused) {
  ASSERT_TRUE(createDirectories(target() / "deeper"));
  const auto refused = changeFolder(target(), {{"a", "1"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Usage);
  EXPECT_FALSE(std::filesystem::exists(target() / "a"));
}

TEST_F(FolderSwapTest, AKillLeavesTheOldFolderOrTheNewOne) {
  const auto version = [](int number) {
    Content files;
    for (const char *name : {"kopt.lock", "a.cuh", "b.cuh", "c.cuh"})
      files[name] = std::string(20000, char('a' + number % 26)) + std::to_string(number);
    return files;
  };
  ASSERT_TRUE(changeFolder(target(), version(0)));
  std::mt19937 random(1);
  for (int i = 0; i < 50; ++i) {
    const pid_t writer = fork();
    if (writer == 0) {
      for (int number = i * 1000 + 1;; ++number)
        if (!changeFolder(target(), version(number)))
          _exit(1);
    }
    usleep(useconds_t(random() % 4000));
    kill(writer, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(writer, &status, 0), writer);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer failed";
    const Content now = contentOf(target());
    ASSERT_EQ(now.size(), 4u);
    // All files are of one version.
    const int number = std::stoi(now.at("kopt.lock").substr(20000));
    EXPECT_EQ(now, version(number)) << "version " << number;
  }
  // What the killed ones left goes with the next change.
  ASSERT_TRUE(changeFolder(target(), {{"a.cuh", "x"}}));
  std::size_t beside = 0;
  for (const auto &entry : std::filesystem::directory_iterator(folder_.path()))
    beside += entry.path() != target();
  EXPECT_EQ(beside, 0u);
}

} // namespace
} // namespace kopt
