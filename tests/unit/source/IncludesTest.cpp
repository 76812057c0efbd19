// SPDX-License-Identifier: Apache-2.0
#include "driver/source/Includes.h"
#include "driver/support/FileSystem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopt {
namespace {

using testing::ElementsAre;

std::vector<std::string> headersOf(const std::string &text) {
  std::vector<std::string> headers;
  for (const IncludeDirective &include : includesIn(text))
    headers.push_back((include.isPlain ? "" : "if ") + include.header);
  return headers;
}

TEST(Includes, AreReadAsTheyAreSpelled) {
  EXPECT_THAT(headersOf("#include <cstdint>\n  # \t include \"user.cuh\" // <not>\n// #include "
                        "<map>\n/* #include <set>\n#include <list> */ #include <array>\nint "
                        "include;\n#if 1\n#include<cub/cub.cuh>\r\n#endif\n#include WHAT\n#define "
                        "X\n#"),
              ElementsAre("<cstdint>", "\"user.cuh\"", "<array>", "if <cub/cub.cuh>"));
  EXPECT_THAT(headersOf("#ifndef A_H\n#define A_H\n#include <a>\n#ifdef B\n#include <b>\n#endif\n"
                        "#endif\n"),
              ElementsAre("<a>", "if <b>"));
}

std::string with(const std::string &text, const std::vector<std::string> &headers,
                 const std::string &before = "kernel") {
  const SourceEdit edit = includeEdit("a.cu", text, text.find(before), headers);
  EXPECT_EQ(edit.range.begin, edit.range.end);
  return text.substr(0, edit.range.begin) + edit.text + text.substr(edit.range.begin);
}

TEST(Includes, ANewOneStandsBehindTheOthers) {
  EXPECT_EQ(with("// top\n#include <a>\n#include \"b.h\"\n#if X\n#include <c>\n#endif\nkernel\n"
                 "#include <late>\n",
                 {"<new>", "<a>", "<new>", "<late>"}),
            "// top\n#include <a>\n#include \"b.h\"\n#include <new>\n#include <late>\n#if "
            "X\n#include <c>\n#endif\nkernel\n#include <late>\n");
  EXPECT_EQ(with("#include <a>\nkernel\n", {"<a>"}), "#include <a>\nkernel\n");
}

TEST(Includes, TheFirstOneStandsBehindCommentAndGuard) {
  EXPECT_EQ(with("// top\n/* and\nmore */\n\nkernel\n", {"<new>"}),
            "// top\n/* and\nmore */\n\n#include <new>\n\nkernel\n");
  EXPECT_EQ(with("// top\n#pragma once\nkernel\n", {"<new>"}),
            "// top\n#pragma once\n#include <new>\n\nkernel\n");
  EXPECT_EQ(with("#ifndef A\n#define A\nkernel\n#endif\n", {"<new>"}),
            "#ifndef A\n#define A\n#include <new>\n\nkernel\n#endif\n");
  EXPECT_EQ(with("#define N 3\nkernel\n", {"<new>"}), "#include <new>\n\n#define N 3\nkernel\n");
}

TEST(Includes, FoldersAreThoseOfTheFlags) {
  EXPECT_THAT(includeFolders({"-O3", "-I", ".", "-I../lib", "-isystem=/usr/x", "-DI", "-arch=sm_90",
                              "--include-path", "deep/er/"},
                             "/src/app"),
              ElementsAre("/src/app", "/src/lib", "/usr/x", "/src/app/deep/er"));
}

TEST(Includes, HeadersAreFollowedBelowTheGivenFoldersAlone) {
  const TemporaryDirectory scratch = std::move(*TemporaryDirectory::create("includes"));
  const auto write = [&](const std::string &name, const std::string &text) {
    const auto path = scratch.path() / name;
    std::filesystem::create_directories(path.parent_path());
    EXPECT_TRUE(writeFileAtomically(path, text));
    return path;
  };
  const auto candidate =
      write("other/c.cu", "#include \"tile.cuh\"\n#include \"../secret.txt\"\n#include <cmath>\n");
  const auto tile = write("project/tile.cuh", "#include \"detail/more.cuh\"\n");
  const auto more = write("project/detail/more.cuh", "#include \"../tile.cuh\"\n");
  write("secret.txt", "");
  EXPECT_THAT(headersNamedBy(candidate, {scratch.path() / "project", scratch.path() / "other"}),
              testing::UnorderedElementsAre(tile, more));
}

TEST(Includes, OfAnOriginalAreThoseOfAllItsFiles) {
  const TemporaryDirectory folder = std::move(*TemporaryDirectory::create("includes"));
  const auto file = folder.path() / "user.cu", header = folder.path() / "user.cuh";
  ASSERT_TRUE(writeFileAtomically(file, "#include \"user.cuh\"\n"));
  ASSERT_TRUE(writeFileAtomically(header, "#include <cooperative_groups/reduce.h>\n"));
  ExtractionResult original;
  original.fileHashes = {{file.string(), ""}, {header.string(), ""}, {"/nowhere/gone.cu", ""}};
  EXPECT_EQ(includesOf(original),
            (std::set<std::string>{"\"user.cuh\"", "<cooperative_groups/reduce.h>"}));
}

} // namespace
} // namespace kopt
