// SPDX-License-Identifier: Apache-2.0
#include "driver/app/tools/ProjectFiles.h"

#include "driver/support/FileSystem.h"
#include "tests/fakes/Results.h"

namespace kopt {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ProjectFilesTest : public testing::Test {
protected:
  ProjectFilesTest() {
    for (const char *name : {"src/a.cu", ".git/config", "src/.env", "server.pem", "ID_RSA.txt",
                             "prod.env", "my_secrets.json"})
      EXPECT_TRUE(writeFileAtomically(project_ / name, "one\ntwo\nthree\n"));
    EXPECT_TRUE(writeFileAtomically(folder_.path() / "outside.cu", "no"));
    fs::create_symlink(folder_.path() / "outside.cu", project_ / "link.cu");
    fs::create_directory_symlink(folder_.path(), project_ / "up");
    fs::create_symlink(project_ / "src" / "a.cu", project_ / "inside.cu");
  }

  TemporaryDirectory folder_ = must(TemporaryDirectory::create("kopt-project-files"));
  fs::path project_ = folder_.path() / "project";
};

TEST_F(ProjectFilesTest, AreFoundByTheirRealPath) {
  const fs::path real = fs::canonical(project_ / "src" / "a.cu");
  for (const std::string &name : {std::string("src/a.cu"), std::string("src/../src/a.cu"),
                                  std::string("inside.cu"), (project_ / "src/a.cu").string()})
    EXPECT_EQ(must(projectFile(project_, name)), real) << name;
}

TEST_F(ProjectFilesTest, AreRefusedOutsideAndWhereKeysMayBe) {
  for (const char *name : {"../outside.cu", "link.cu", "up/outside.cu", "/etc/hostname", "..", "."})
    EXPECT_THAT(projectFile(project_, name).error().what, HasSubstr("outside")) << name;
  for (const char *name :
       {".git/config", "src/.env", "server.pem", "ID_RSA.txt", "prod.env", "my_secrets.json"})
    EXPECT_THAT(projectFile(project_, name).error().what, HasSubstr("hidden, or may hold a key"))
        << name;
  EXPECT_THAT(projectFile(project_, "none.cu").error().what, HasSubstr("does not exist"));
  EXPECT_THAT(projectFile(project_, "src").error().what, HasSubstr("is no file"));
  EXPECT_THAT(projectFile(project_, "").error().what, HasSubstr("names no file"));
  EXPECT_FALSE(projectFile(project_, std::string("src/a.cu\0.txt", 13)));
}

TEST_F(ProjectFilesTest, AreReadByLines) {
  EXPECT_EQ(must(projectLines(project_, "src/a.cu", 2, 1)),
            "    2  two\n[2 lines follow: from = 3]\n");
  EXPECT_EQ(must(projectLines(project_, "src/a.cu", 3, 9)), "    3  three\n    4  \n");
  EXPECT_EQ(must(projectLines(project_, "src/a.cu", 50, 9)), "");
  EXPECT_TRUE(writeFileAtomically(project_ / "binary", std::string("a\0b", 3)));
  EXPECT_THAT(projectLines(project_, "binary", 1, 9).error().what, HasSubstr("is no text"));
}

} // namespace
} // namespace kopt
