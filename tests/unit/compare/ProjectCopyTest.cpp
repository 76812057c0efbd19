// SPDX-License-Identifier: Apache-2.0
// Copies of real folders, in each view that this machine has.
#include "driver/compare/program/ProjectCopy.h"
#include "driver/support/FileSystem.h"
#include "tests/fakes/Results.h"

#include <gtest/gtest.h>

namespace kopt {
namespace {

namespace fs = std::filesystem;

class ProjectCopyTest : public testing::TestWithParam<CopyView> {
protected:
  void SetUp() override {
    project_ = fs::canonical(folder_.path()) / "top/project";
    scratch_ = folder_.path() / "scratch";
    for (const char *name : {"src/a.txt", ".git/config", ".kopt/kopt.db", "tool.sh", "../side.txt"})
      ASSERT_TRUE(writeFileAtomically(project_ / name, name));
    ASSERT_TRUE(createDirectories(scratch_));
    if (!allows(*processes_, GetParam(), scratch_))
      GTEST_SKIP() << "this machine does not have that view";
  }
  Result<ProjectCopy> copy() {
    CopyRequest request;
    request.folders = {project_, project_ / "src"};
    request.left = {project_ / ".git", project_ / ".kopt"};
    request.scratch = scratch_;
    return ProjectCopy::make(*processes_, GetParam(), request);
  }
  std::string shell(const ProjectCopy &copy, const std::string &command) {
    ProcessSpec spec;
    spec.argv = {"/bin/sh", "-c", command};
    spec.cwd = project_ / "src";
    const auto result = processes_->run(copy.inside(spec));
    return result ? result->out + result->err : result.error().what;
  }
  std::string read(const fs::path &file) { return readFile(file).value_or("none"); }

  TemporaryDirectory folder_ = std::move(TemporaryDirectory::create("kopt-copy").value());
  std::unique_ptr<ProcessRunner> processes_ = makeProcessRunner();
  fs::path project_, scratch_;
};

TEST_P(ProjectCopyTest, CommandsChangeTheCopyAndNeverTheProject) {
  const auto made = must(copy());
  EXPECT_EQ(shell(made, "echo new > a.txt; cat a.txt ../../side.txt"), "new\n../side.txt");
  EXPECT_EQ(read(project_ / "src/a.txt"), "src/a.txt");
  EXPECT_EQ(read(made.fileOf(project_ / "src/a.txt")), "new\n");
  EXPECT_FALSE(fs::exists(made.fileOf(project_ / ".kopt")));
  EXPECT_EQ(fs::last_write_time(project_ / "tool.sh"),
            fs::last_write_time(made.fileOf(project_ / "tool.sh")));
}

TEST_P(ProjectCopyTest, ACopyOfACopyHasWhatWasBuilt) {
  const auto first = must(copy());
  shell(first, "echo built > ../out");
  ASSERT_TRUE(createDirectories(folder_.path() / "second"));
  const auto second = must(first.again(*processes_, folder_.path() / "second"));
  EXPECT_EQ(shell(second, "cat ../out; echo changed > ../out"), "built\n");
  EXPECT_EQ(shell(first, "cat ../out"), "built\n");
  EXPECT_FALSE(fs::exists(project_ / "out"));
}

TEST_P(ProjectCopyTest, AbsolutePathsLeadToTheCopyWhereItIsMounted) {
  const auto made = must(copy());
  ProcessSpec spec;
  spec.argv = {"/bin/cp", (project_ / "tool.sh").string(), (project_ / "made").string()};
  spec.cwd = "/";
  ASSERT_TRUE(processes_->run(made.inside(spec))->ok());
  EXPECT_FALSE(fs::exists(project_ / "made"));
  EXPECT_TRUE(fs::exists(made.fileOf(project_ / "made")));
  EXPECT_EQ(made.nameOf(project_) == project_, GetParam() != CopyView::Moved);
}

INSTANTIATE_TEST_SUITE_P(Views, ProjectCopyTest,
                         testing::Values(CopyView::Bubblewrap, CopyView::Unshare, CopyView::Moved),
                         [](const auto &info) {
                           return info.param == CopyView::Bubblewrap ? "Bubblewrap"
                                  : info.param == CopyView::Unshare  ? "Unshare"
                                                                     : "Moved";
                         });

} // namespace
} // namespace kopt
