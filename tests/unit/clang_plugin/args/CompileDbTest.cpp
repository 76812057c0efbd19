// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/args/CompileDb.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace kopt::frontend {
namespace {

namespace fs = std::filesystem;

class CompileDbTest : public testing::Test {
protected:
  CompileDbTest() : root_(fs::temp_directory_path() / ("kopt-db-" + std::to_string(getpid()))) {
    fs::create_directories(root_ / "src" / "deep");
    fs::create_directories(root_ / "build");
  }
  ~CompileDbTest() override { fs::remove_all(root_); }

  void write(const fs::path &path, const std::string &text) { std::ofstream(path) << text; }

  fs::path root_;
};

TEST_F(CompileDbTest, FindsTheBuildFolderAboveTheFile) {
  write(
      root_ / "build" / "compile_commands.json",
      R"([{"directory": ")" + (root_ / "build").string() +
          R"(", "command": "ccache /usr/bin/nvcc \"-DNAME=a b\" -c ../src/deep/a.cu -o a.o", "file": "../src/deep/a.cu"}])");
  std::string error;
  auto database = loadCompileDatabase("", (root_ / "src" / "deep" / "a.cu").string(), error);
  ASSERT_TRUE(database) << error;
  std::size_t count = 0;
  const CompileCommand *command =
      findCommand(*database, (root_ / "src" / "deep" / "a.cu").string(), "", count);
  ASSERT_TRUE(command);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(command->arguments,
            (std::vector<std::string>{"-DNAME=a b", "-c", "../src/deep/a.cu", "-o", "a.o"}));
  EXPECT_EQ(findCommand(*database, (root_ / "src" / "b.cu").string(), "", count), nullptr);
}

TEST_F(CompileDbTest, OfSeveralCommandsTheTextOrReleaseOrTheOrderDecides) {
  const auto entry = [&](const std::string &output, const std::string &flag) {
    return R"({"directory": ")" + (root_ / "build").string() + R"(", "command": "nvcc )" + flag +
           " -c ../src/a.cu -o CMakeFiles/" + output + R"(/a.o", "file": "../src/a.cu"})";
  };
  const auto chosen = [&](const std::string &entries, const std::string &text) -> std::string {
    write(root_ / "build" / "compile_commands.json", "[" + entries + "]");
    std::string error;
    const auto database = loadCompileDatabase((root_ / "build").string(), "", error);
    std::size_t count = 0;
    const CompileCommand *command =
        findCommand(*database, (root_ / "src" / "a.cu").string(), text, count);
    EXPECT_EQ(count, 2u);
    return command ? command->arguments.front() : "";
  };
  const std::string configurations =
      entry("app.dir/Debug", "-G") + "," + entry("app.dir/Release", "-O3");
  EXPECT_EQ(chosen(configurations, ""), "-O3");
  EXPECT_EQ(chosen(configurations, "Debug"), "-G");
  EXPECT_EQ(chosen(configurations, "MinSizeRel"), "");
  const std::string targets = entry("one.dir", "-DONE") + "," + entry("two.dir", "-DTWO");
  EXPECT_EQ(chosen(targets, ""), "-DONE");
  EXPECT_EQ(chosen(targets, "two.dir"), "-DTWO");
  // Of those with the text, too; a folder may have any case, and flags tell where none does.
  const std::string ofTarget = entry("app.dir/Debug", "-g") + "," + entry("app.dir/Release", "-O3");
  EXPECT_EQ(chosen(ofTarget, "app.dir"), "-O3");
  EXPECT_EQ(chosen(entry("dbg", "-DA -O0 -G") + "," + entry("build-release", "-DB"), ""), "-DB");
  EXPECT_EQ(chosen(entry("x", "-DA -O0 -G") + "," + entry("y", "-O3"), ""), "-O3");
  EXPECT_EQ(chosen(entry("x", "-G") + "," + entry("y", "-DB"), ""), "-DB");
  EXPECT_EQ(chosen(entry("RelWithDebInfo", "-O2") + "," + entry("MinSizeRel", "-O1"), ""), "-O2");
}

TEST_F(CompileDbTest, KoptsOwnLauncherIsNoPartOfTheCommand) {
  write(
      root_ / "build" / "compile_commands.json",
      R"([{"directory": ")" + (root_ / "build").string() +
          R"(", "file": "../src/a.cu", "command": "/opt/kopt-overlay compile l b w s 90 -- ccache nvcc -DA -c ../src/a.cu"}])");
  std::string error;
  const auto database = loadCompileDatabase((root_ / "build").string(), "a.cu", error);
  ASSERT_TRUE(database) << error;
  EXPECT_EQ(database->commands.at(0).arguments,
            (std::vector<std::string>{"-DA", "-c", "../src/a.cu"}));
}

TEST_F(CompileDbTest, SaysWhichFolderHasNone) {
  std::string error;
  EXPECT_FALSE(loadCompileDatabase((root_ / "src").string(), "a.cu", error));
  EXPECT_NE(error.find((root_ / "src").string()), std::string::npos);
  EXPECT_NE(error.find("CMAKE_EXPORT_COMPILE_COMMANDS"), std::string::npos);
}

TEST_F(CompileDbTest, RefusesWhatIsNotADatabase) {
  write(root_ / "build" / "compile_commands.json", R"([{"directory": "/x"}])");
  std::string error;
  EXPECT_FALSE(loadCompileDatabase((root_ / "build").string(), "a.cu", error));
  EXPECT_NE(error.find("is not a compile database"), std::string::npos);
}

TEST_F(CompileDbTest, AFolderOfThatNameIsNone) {
  fs::create_directories(root_ / "build" / "compile_commands.json");
  std::string error;
  EXPECT_FALSE(loadCompileDatabase((root_ / "build").string(), "a.cu", error));
  EXPECT_NE(error.find("no " + (root_ / "build").string()), std::string::npos) << error;
}

} // namespace
} // namespace kopt::frontend
