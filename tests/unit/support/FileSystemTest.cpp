// SPDX-License-Identifier: Apache-2.0
#include "driver/support/FileSystem.h"

#include "driver/support/Hash.h"
#include "tests/fakes/Results.h"

#include <csignal>
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kopt {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class FileSystemTest : public testing::Test {
protected:
  void SetUp() override {
    auto folder = must(TemporaryDirectory::create("kopt-files"));
    folder_ = std::make_unique<TemporaryDirectory>(std::move(folder));
  }
  const fs::path &root() const { return folder_->path(); }
  std::unique_ptr<TemporaryDirectory> folder_;
};

TEST_F(FileSystemTest, WritesAndReadsBytesInNewFolders) {
  std::string content("a\0b\n", 4);
  ASSERT_TRUE(writeFileAtomically(root() / "x/y/file", content).has_value());
  EXPECT_EQ(readFile(root() / "x/y/file").value(), content);
}

TEST_F(FileSystemTest, KeepsTheModeAndTheLink) {
  fs::path file = root() / "script", link = root() / "link";
  ASSERT_TRUE(writeFileAtomically(file, "old").has_value());
  ASSERT_EQ(::chmod(file.c_str(), 0750), 0);
  fs::create_symlink("script", link);
  ASSERT_TRUE(writeFileAtomically(link, "new").has_value());
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(readFile(file).value(), "new");
  EXPECT_EQ(fs::status(file).permissions(), fs::perms(0750));
}

TEST_F(FileSystemTest, AWriteThatDoesNotFitLeavesTheOldFile) {
  fs::path file = root() / "file";
  ASSERT_TRUE(writeFileAtomically(file, "old").has_value());
  // A child with a limit on file sizes stands for a full disk: write() fails half way in both.
  pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    Status status = writeFileAtomically(file, std::string(1 << 20, 'n'));
    bool named = !status && status.error().code == ErrorCode::Environment &&
                 status.error().what.find(file.string()) != std::string::npos;
    ::_exit(named ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(readFile(file).value(), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(root()), fs::directory_iterator()), 1);
}

TEST_F(FileSystemTest, AFullDiskIsNamedAndLeavesTheOldFile) {
  if (::mount("tmpfs", root().c_str(), "tmpfs", 0, "size=64k") != 0)
    GTEST_SKIP() << "mounting a small file system is not permitted here";
  fs::path file = root() / "file";
  EXPECT_TRUE(writeFileAtomically(file, "old").has_value());
  Status status = writeFileAtomically(file, std::string(1 << 20, 'n'));
  auto content = readFile(file);
  EXPECT_EQ(std::distance(fs::directory_iterator(root()), fs::directory_iterator()), 1);
  EXPECT_EQ(::umount(root().c_str()), 0);
  EXPECT_THAT(status, fails({.code = ErrorCode::Environment,
                             .what = HasSubstr(file.string() + ": No space left on device"),
                             .hint = HasSubstr("disk space")}));
  EXPECT_EQ(content.value(), "old");
}

TEST_F(FileSystemTest, NamesAFolderThatCannotBeMade) {
  Status status = writeFileAtomically("/proc/kopt-no-such/file", "x");
  EXPECT_THAT(status,
              fails({.code = ErrorCode::Environment, .what = HasSubstr("/proc/kopt-no-such")}));
}

TEST_F(FileSystemTest, NamesAFileThatIsMissing) {
  EXPECT_THAT(readFile(root() / "none"),
              fails({.code = ErrorCode::Environment,
                     .what = HasSubstr((root() / "none").string() + ": No such file")}));
}

TEST(TemporaryDirectory, RemovesItselfAndItsContent) {
  fs::path path;
  {
    auto folder = must(TemporaryDirectory::create("kopt-gone"));
    TemporaryDirectory moved = std::move(folder);
    path = moved.path();
    ASSERT_TRUE(writeFileAtomically(path / "a/b", "x").has_value());
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(Hash, IsTheCanonicalXxh3) {
  // From the reference implementation's command line tool (xxhsum -H128).
  EXPECT_EQ(hashHex(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hashHex("abc"), "06b05ab6733a618578af5f94892f3950");
}

TEST(Hash, KeepsFieldsApart) {
  EXPECT_NE(hashFields(std::string("ab"), std::string("c")),
            hashFields(std::string("a"), std::string("bc")));
}

} // namespace
} // namespace kopt
