// SPDX-License-Identifier: Apache-2.0
#include "driver/compare/versions/Repository.h"

#include "driver/support/FileSystem.h"
#include "fakes/FakeProcessRunner.h"
#include "tests/fakes/Results.h"

#include <gmock/gmock.h>

namespace {

using namespace kopt;
using testing::HasSubstr;
using namespace std::string_literals;
namespace fs = std::filesystem;

TEST(NameStatus, EveryKindOfChangeIsRead) {
  const auto files = must(parseNameStatus("M\0a.cu\0R087\0old b.cu\0new b.cu\0D\0c.h\0"s));
  ASSERT_EQ(files.size(), 3u);
  EXPECT_EQ(files[0].path, "a.cu");
  EXPECT_EQ(files[1].status, 'R');
  EXPECT_EQ(files[1].oldPath, "old b.cu");
  EXPECT_EQ(files[1].path, "new b.cu");
  EXPECT_EQ(files[2].status, 'D');
  EXPECT_TRUE(parseNameStatus("")->empty());
  EXPECT_FALSE(parseNameStatus("R100\0only one\0"s));
}

TEST(RepositoryErrors, SayWhatToDo) {
  fakes::FakeProcessRunner git;
  git.on({"--show-toplevel"}, 0, "/project\n");
  git.on({"rev-parse", "--end-of-options", "gone"}, 1, "");
  git.on({"rev-parse", "--end-of-options"}, 0, "1234\n");
  git.on({"merge-base"}, 1, "");
  const auto repository = must(Repository::open(git, "/project"));
  EXPECT_THAT(repository.mergeBase("gone"), fails({.what = HasSubstr("no commit 'gone'")}));
  EXPECT_THAT(repository.mergeBase("main"), fails({.hint = HasSubstr("fetch-depth: 0")}));

  fakes::FakeProcessRunner none;
  none.on({"--show-toplevel"}, 128, "", "fatal: not a git repository\n");
  EXPECT_THAT(Repository::open(none, "/tmp"), fails({.code = ErrorCode::Usage}));
}

/// With the real git.
class RepositoryTest : public testing::Test {
protected:
  void SetUp() override {
    if (!findProgram("git"))
      GTEST_SKIP() << "there is no git here";
    git({"init", "-q", "-b", "main"});
    put("src/a.cu", "one\n");
    put("b.h", std::string(400, 'x') + "\n");
    git({"add", "-A"});
    git({"commit", "-q", "-m", "first"});
    git({"checkout", "-q", "-b", "work"});
  }
  std::string git(std::vector<std::string> arguments) {
    ProcessSpec spec;
    spec.argv = {"git", "-c", "user.name=t", "-c", "user.email=t@localhost"};
    spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
    spec.cwd = folder_.path();
    spec.env["GIT_CONFIG_GLOBAL"] = "/dev/null";
    const auto result = processes_->run(spec);
    EXPECT_TRUE(result && result->ok()) << (result ? result->err : result.error().what);
    return result ? result->out : "";
  }
  void put(const std::string &name, const std::string &text) {
    ASSERT_TRUE(writeFileAtomically(folder_.path() / name, text));
  }

  TemporaryDirectory folder_ = std::move(*TemporaryDirectory::create("kopt-repository"));
  std::unique_ptr<ProcessRunner> processes_ = makeProcessRunner();
};

TEST_F(RepositoryTest, TheBaseIsWhereTheBranchBegan) {
  const auto repository = must(Repository::open(*processes_, folder_.path() / "src"));
  const std::string first = *repository.head();
  put("src/a.cu", "two\n");
  git({"commit", "-q", "-am", "second"});
  git({"checkout", "-q", "main"});
  put("c.h", "\n");
  git({"add", "-A"});
  git({"commit", "-q", "-m", "on main"});
  git({"checkout", "-q", "work"});
  git({"mv", "b.h", "d.h"});
  put("new.cu", "\n");
  EXPECT_EQ(repository.mergeBase("main").value(), first);
  EXPECT_TRUE(repository.isDirty().value());
  const auto changes = must(repository.changes(first));
  std::string list;
  for (const ChangedFile &file : changes)
    list += file.status + (file.oldPath.empty() ? "" : " " + file.oldPath) + " " + file.path + "\n";
  EXPECT_EQ(list, "R b.h d.h\nM src/a.cu\n? new.cu\n");

  const fs::path out = folder_.path() / ".git" / "out";
  ASSERT_TRUE(repository.checkOut(first, out));
  EXPECT_EQ(readFile(out / "src/a.cu").value(), "one\n");
  EXPECT_TRUE(fs::exists(out / "b.h"));
  EXPECT_FALSE(fs::exists(out / "d.h"));
  EXPECT_EQ(readFile(folder_.path() / "src/a.cu").value(), "two\n");
  EXPECT_THAT(git({"status", "--porcelain"}), HasSubstr("R  b.h -> d.h")); // the index is its own
}

TEST_F(RepositoryTest, ANameThatBeginsWithADashIsAName) {
  const auto repository = must(Repository::open(*processes_, folder_.path()));
  EXPECT_THAT(repository.mergeBase("--all"), fails({.what = HasSubstr("no commit '--all'")}));
}

} // namespace
