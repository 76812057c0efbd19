// SPDX-License-Identifier: Apache-2.0
#include "driver/app/doctor/ProjectChecks.h"

#include "driver/store/Database.h"
#include "driver/store/Store.h"
#include "driver/support/FileSystem.h"
#include "tests/fakes/FakeProcessRunner.h"

#include <gmock/gmock.h>

namespace kopt {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class ProjectChecksTest : public testing::Test {
protected:
  const fs::path &root() const { return folder_.path(); }
  void write(const std::string &file, const std::string &text) {
    ASSERT_TRUE(writeFileAtomically(root() / file, text));
  }
  std::vector<MachineCheck> check() { return checkProject(processes, places); }
  MachineCheck only(const std::string &name) {
    const std::vector<MachineCheck> checks = check();
    EXPECT_EQ(checks.size(), 1u);
    if (checks.empty())
      return {};
    EXPECT_EQ(checks.front().name, name);
    return checks.front();
  }

  TemporaryDirectory folder_ = std::move(*TemporaryDirectory::create("kopt-project"));
  ProjectPlaces places{root(), root() / "kopt", {}, false};
  fakes::FakeProcessRunner processes;
};

TEST_F(ProjectChecksTest, AFolderWithoutAProjectIsInOrder) { EXPECT_TRUE(check().empty()); }

TEST_F(ProjectChecksTest, TheRunsOfADatabaseAreCounted) {
  ASSERT_TRUE(openStore(root() / ".kopt/kopt.db"));
  const MachineCheck runs = only("database");
  EXPECT_TRUE(runs.ok());
  EXPECT_THAT(runs.detail, HasSubstr(": 0 runs"));
}

TEST_F(ProjectChecksTest, ADatabaseOfAnotherVersionBlocks) {
  ASSERT_TRUE(openStore(root() / ".kopt/kopt.db"));
  ASSERT_TRUE((*Database::open(root() / ".kopt/kopt.db"))->execute("PRAGMA user_version = 9999"));
  const MachineCheck other = only("database");
  EXPECT_EQ(other.outcome, CheckOutcome::Blocking);
  EXPECT_THAT(other.detail, HasSubstr("another version of kopt"));
  EXPECT_THAT(other.remedy, HasSubstr("move the file away"));
}

TEST_F(ProjectChecksTest, ADamagedDatabaseBlocks) {
  write(".kopt/kopt.db", std::string(4096, 'x'));
  EXPECT_EQ(only("database").outcome, CheckOutcome::Blocking);
}

TEST_F(ProjectChecksTest, ACompileDatabaseIsFoundInItsUsualPlacesOrWhereTheUserSays) {
  write("a.cu", "");
  const std::string commands =
      R"([{"directory": ")" + root().string() + R"(", "file": "a.cu", "command": "nvcc -c a.cu"}])";
  write("build/compile_commands.json", commands);
  EXPECT_THAT(only("compile database").detail, HasSubstr("build: 1 CUDA file"));
  write("other/compile_commands.json", "{");
  places.buildFolder = root() / "other";
  const MachineCheck known = only("compile database");
  EXPECT_EQ(known.outcome, CheckOutcome::Optional); // by a manifest: files may be given
  EXPECT_THAT(known.detail, HasSubstr("not a compile database"));
  places.buildGiven = true;
  EXPECT_EQ(only("compile database").outcome, CheckOutcome::Blocking);
  EXPECT_EQ(only("compile database").code, ErrorCode::Usage);
  places.buildFolder = root() / "nowhere";
  EXPECT_EQ(only("compile database").outcome, CheckOutcome::Blocking);
}

TEST_F(ProjectChecksTest, ALockSaysHowItsKernelsAre) {
  write("kopt/kopt.lock", "kopt-lock 1\n");
  EXPECT_THAT(only("kopt.lock").detail, HasSubstr("0 tuned, 0 stale, 0 regressed"));
  write("kopt/kopt.lock", "{");
  EXPECT_EQ(only("kopt.lock").outcome, CheckOutcome::Optional);
}

TEST_F(ProjectChecksTest, ARepositoryMayHaveChanges) {
  ASSERT_TRUE(createDirectories(root() / ".git"));
  processes.on({"--show-toplevel"}, 0, "/project\n");
  processes.on({"status"}, 0, "");
  EXPECT_EQ(only("git").detail, "/project, nothing uncommitted");
  fakes::FakeProcessRunner dirty;
  dirty.on({"--show-toplevel"}, 0, "/project\n");
  dirty.on({"status"}, 0, " M a.cu\n");
  const auto checks = checkProject(dirty, places);
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_TRUE(checks[0].ok());
  EXPECT_THAT(checks[0].detail, HasSubstr("not committed"));
}

TEST_F(ProjectChecksTest, WithoutGitARepositoryIsOptional) {
  ASSERT_TRUE(createDirectories(root() / ".git"));
  const MachineCheck missing = only("git");
  EXPECT_EQ(missing.outcome, CheckOutcome::Optional);
  EXPECT_THAT(missing.detail, HasSubstr("program not found in PATH: git"));
  EXPECT_THAT(missing.remedy, HasSubstr("kopt ci"));
  places.root = root() / "below"; // also from a folder in it
  ASSERT_TRUE(createDirectories(places.root));
  EXPECT_EQ(check().size(), 1u);
}

} // namespace
} // namespace kopt
