// SPDX-License-Identifier: Apache-2.0
#include "driver/compare/versions/BaseCommands.h"

#include "driver/support/FileSystem.h"
#include "tests/fakes/Results.h"

#include <gmock/gmock.h>

namespace {

using namespace kopt;
using testing::ElementsAre;
namespace fs = std::filesystem;

class BaseCommandsTest : public testing::Test {
protected:
  BaseCommandsTest() {
    for (const char *name : {"head/src/a.cu", "head/inc/a.h", "head/build/gen/g.h", "head/new/n.h",
                             "base/src/old.cu", "base/inc/a.h"})
      EXPECT_TRUE(writeFileAtomically(top_ / name, "\n"));
  }
  std::string head(const std::string &name) const { return (top_ / "head" / name).string(); }
  std::string base(const std::string &name) const { return (top_ / "base" / name).string(); }
  std::vector<std::string> rewrite(const std::vector<std::string> &arguments) {
    const CompileCommand command{head("build"), head("src/a.cu"), arguments};
    const auto made = commandInBase(command, trees_, base("src/old.cu"));
    EXPECT_TRUE(made) << made.error().what;
    return made->arguments;
  }

  TemporaryDirectory folder_ = std::move(*TemporaryDirectory::create("kopt-commands"));
  fs::path top_ = fs::canonical(folder_.path());
  TreePair trees_{top_ / "head", top_ / "base", {{"src/a.cu", "src/old.cu"}}};
};

TEST_F(BaseCommandsTest, TheProjectsOwnPathsAreThoseOfTheBase) {
  EXPECT_THAT(
      rewrite({"nvcc", "-I" + head("inc"), "-I../inc", "-isystem", "../inc", "-c", "../src/a.cu"}),
      ElementsAre("nvcc", "-I" + base("inc"), "-I" + base("inc"), "-isystem", base("inc"), "-c",
                  base("src/old.cu")));
}

TEST_F(BaseCommandsTest, WhatTheBaseDoesNotHaveIsAsInTheHead) {
  EXPECT_THAT(
      rewrite({"nvcc", "-Igen", "-I" + head("new"), "-I/usr/include", "-O3"}),
      ElementsAre("nvcc", "-I" + head("build/gen"), "-I" + head("new"), "-I/usr/include", "-O3"));
}

TEST_F(BaseCommandsTest, PathsWithinAWordAreFound) {
  EXPECT_THAT(rewrite({"nvcc", "-Xcompiler=-I" + head("inc") + ",-Wall"}),
              ElementsAre("nvcc", "-Xcompiler=-I" + base("inc") + ",-Wall"));
}

TEST_F(BaseCommandsTest, ListsOfPathsAreTakenApart) {
  ASSERT_TRUE(writeFileAtomically(top_ / "head/src/b.h", "\n"));
  ASSERT_TRUE(writeFileAtomically(top_ / "base/src/b.h", "\n"));
  const std::string both = base("inc") + "," + base("src");
  EXPECT_THAT(rewrite({"nvcc", "-I", "../inc,../src", "-isystem", "../inc,../src", "-idirafter",
                       "../inc,../src", "-I../inc,gen", "-isystem=../inc,../src"}),
              ElementsAre("nvcc", "-I", both, "-isystem", both, "-idirafter", both,
                          "-I" + base("inc") + "," + head("build/gen"), "-isystem=" + both));
  EXPECT_THAT(rewrite({"nvcc", "-include", "../inc/a.h,../src/b.h", "--pre-include=../inc/a.h,"}),
              ElementsAre("nvcc", "-include", base("inc/a.h") + "," + base("src/b.h"),
                          "--pre-include=" + base("inc/a.h") + ","));
}

TEST_F(BaseCommandsTest, TheHostCompilersWordsAreTakenApart) {
  EXPECT_THAT(
      rewrite({"nvcc", "-Xcompiler", "-isystem,../inc", "-Xcompiler=-Wall,-I../inc,-I,../inc",
               "--compiler-options", "-DX=1", "-Xcompiler", "-idirafter", "-Xcompiler", "../inc"}),
      ElementsAre("nvcc", "-Xcompiler", "-isystem," + base("inc"),
                  "-Xcompiler=-Wall,-I" + base("inc") + ",-I," + base("inc"), "--compiler-options",
                  "-DX=1", "-Xcompiler", "-idirafter", "-Xcompiler", base("inc")));
  // Both versions have such a flag, with different paths.
  EXPECT_TRUE(namesPath("-isystem,inc"));
  EXPECT_TRUE(namesPath("-Wall,-Iinc"));
  EXPECT_TRUE(namesPath("-Xcompiler=-Iinc"));
  EXPECT_FALSE(namesPath("-Xcompiler=-O2,-Wall"));
}

TEST_F(BaseCommandsTest, AHeaderThatOnlyTheFoldersFindKeepsItsName) {
  EXPECT_THAT(rewrite({"nvcc", "-I../inc", "-include", "a.h"}),
              ElementsAre("nvcc", "-I" + base("inc"), "-include", "a.h"));
}

TEST_F(BaseCommandsTest, AFolderMayHaveACommaInItsName) {
  ASSERT_TRUE(writeFileAtomically(top_ / "head/a,b/c.h", "\n"));
  ASSERT_TRUE(writeFileAtomically(top_ / "base/a,b/c.h", "\n"));
  EXPECT_THAT(rewrite({"clang++", "-I../a,b", "-I", "/opt/x,y"}),
              ElementsAre("clang++", "-I" + base("a,b"), "-I", "/opt/x,y"));
}

TEST_F(BaseCommandsTest, OptionFilesArePutIn) {
  ASSERT_TRUE(writeFileAtomically(head("build/x.rsp"), "-I" + head("inc") + " -DA=1\n"));
  EXPECT_THAT(rewrite({"nvcc", "--options-file", "x.rsp", "-O3"}),
              ElementsAre("nvcc", "-I" + base("inc"), "-DA=1", "-O3"));
  ASSERT_TRUE(writeFileAtomically(head("build/y.rsp"), "-DB=2\n"));
  EXPECT_THAT(rewrite({"nvcc", "-optf=y.rsp,x.rsp"}),
              ElementsAre("nvcc", "-DB=2", "-I" + base("inc"), "-DA=1"));
  const CompileCommand missing{head("build"), head("src/a.cu"), {"nvcc", "-optf=none.rsp"}};
  EXPECT_FALSE(commandInBase(missing, trees_, base("src/old.cu")));
}

TEST_F(BaseCommandsTest, DatabasesAreReadAndWritten) {
  const fs::path file = top_ / "compile_commands.json";
  ASSERT_TRUE(writeFileAtomically(file, R"([
    {"directory": "head/build", "file": "../src/a.cu", "command": "nvcc -DA='x y' -c ../src/a.cu"},
    {"directory": "/d", "file": "/d/b.cu", "arguments": ["nvcc", "-c", "b.cu"]}, 7])"));
  const auto read = must(readCompileCommands(file));
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].file, head("src/a.cu"));
  EXPECT_THAT(read[0].arguments, ElementsAre("nvcc", "-DA=x y", "-c", "../src/a.cu"));
  ASSERT_TRUE(writeFileAtomically(file, formatCompileCommands(read)));
  const auto again = must(readCompileCommands(file));
  EXPECT_EQ(again[0].arguments, read[0].arguments);
  ASSERT_TRUE(writeFileAtomically(file, "{}"));
  EXPECT_FALSE(readCompileCommands(file));
}

TEST_F(BaseCommandsTest, NamesFollowRenames) {
  EXPECT_EQ(trees_.fromBase(base("src/old.cu")), "src/a.cu");
  EXPECT_EQ(trees_.fromBase(base("inc/a.h")), "inc/a.h");
  EXPECT_EQ(trees_.counterpart(head("src/a.cu")), base("src/old.cu"));
  EXPECT_EQ(trees_.counterpart(head("new/n.h")), "");
  EXPECT_EQ(trees_.inHead("/elsewhere"), "");
}

} // namespace
