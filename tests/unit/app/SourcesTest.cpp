// SPDX-License-Identifier: Apache-2.0
#include "driver/app/services/Sources.h"

#include "driver/support/FileSystem.h"

#include <gmock/gmock.h>

namespace {

using namespace kopt;
using testing::ElementsAre;
using testing::HasSubstr;

class SourcesTest : public testing::Test {
protected:
  SourcesTest() : folder(std::move(*TemporaryDirectory::create("kopt-sources"))) {
    for (const char *name : {"a.cu", "b.cpp", "c.cpp", "d.cpp"})
      EXPECT_TRUE(writeFileAtomically(folder.path() / "src" / name, "\n"));
    sources.buildDirectory = folder.path() / "build";
  }
  Result<SourceSettings> read(const std::string &database) {
    EXPECT_TRUE(writeFileAtomically(sources.buildDirectory / "compile_commands.json", database));
    return withDatabaseFiles(sources);
  }
  TemporaryDirectory folder;
  SourceSettings sources;
};

TEST_F(SourcesTest, WithoutFilesAllCudaFilesOfTheDatabaseAreMeant) {
  const auto all = read(R"([
    {"directory": "../src", "file": "a.cu", "command": "nvcc -c a.cu"},
    {"directory": "../src", "file": "a.cu", "command": "nvcc -DTWICE -c a.cu"},
    {"directory": "../src", "file": "b.cpp", "command": "nvcc -O3 -x cu -c b.cpp"},
    {"directory": "../src", "file": "c.cpp", "command": "g++ -O3 -xcuda.h -c c.cpp"},
    {"directory": "../src", "file": "d.cpp", "arguments": ["clang++", "-x", "cuda", "d.cpp"]},
    {"directory": "../src", "file": "generated_later.cu", "command": "nvcc -c generated_later.cu"}])");
  ASSERT_TRUE(all) << all.error().what;
  std::vector<std::string> names;
  for (const auto &file : all->files)
    names.push_back(file.filename());
  EXPECT_THAT(names, ElementsAre("a.cu", "b.cpp", "d.cpp"));
  EXPECT_TRUE(all->wholeDatabase);
}

TEST_F(SourcesTest, FilesThatAreNamedAreMeantAlone) {
  sources.files = {folder.path() / "src" / "a.cu"};
  const auto same = withDatabaseFiles(sources); // there is no database
  ASSERT_TRUE(same);
  EXPECT_EQ(same->files.size(), 1u);
  EXPECT_FALSE(same->wholeDatabase);
}

TEST_F(SourcesTest, WhatIsMissingIsSaid) {
  EXPECT_THAT(withDatabaseFiles(sources).error().what, HasSubstr("compile_commands.json"));
  EXPECT_THAT(read("{}").error().what, HasSubstr("is not a compile database"));
  EXPECT_THAT(read("[{}, 7]").error().what, HasSubstr("no command for a CUDA file"));
  EXPECT_THAT(withDatabaseFiles({}).error().hint, HasSubstr("-p"));
}

} // namespace
