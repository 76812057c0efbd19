// SPDX-License-Identifier: Apache-2.0
#include "driver/source/candidate/HostChanges.h"
#include "driver/support/FileSystem.h"

#include <gtest/gtest.h>

namespace kopt {
namespace {

HostItem function(const std::string &file, const std::string &name,
                  const std::vector<std::string> &statements) {
  HostItem item{HostKind::Function, name, file, 100, 200, 10, false, {}};
  for (const std::string &text : statements)
    item.text.push_back({unsigned(10 + item.text.size()), text});
  return item;
}

HostItem macro(const std::string &file, const std::string &name, const std::string &body) {
  return {HostKind::Macro, name, file, 5, 20, 1, false, {{1, "# define " + name + " " + body}}};
}

class HostChangesTest : public testing::Test {
protected:
  std::string change() { return hostChange(before_, original_, after_, changed_).value_or(""); }
  void expectChange(const std::string &words) {
    EXPECT_NE(change().find(words), std::string::npos) << change();
  }

  HostText before_{{function("a.cu", "run()", {"one ( ) ;", "two ( ) ;", "three ( ) ;"})}, {}};
  HostText after_{{function("c.cu", "run()", {"one ( ) ;", "two ( ) ;", "three ( ) ;"})}, {}};
  ExtractionResult original_, changed_;
};

TEST_F(HostChangesTest, TheFirstDifferenceIsNamedWithBothPlaces) {
  EXPECT_EQ(change(), "");
  after_.items[0].text[1].text = "twice ( ) ;";
  expectChange("c.cu:11: in 'run()' the candidate has 'twice ( ) ;' in place of 'two ( ) ;' "
               "(a.cu:11)");
  after_.items[0].text.erase(after_.items[0].text.begin() + 1);
  expectChange("c.cu:12: in 'run()' the candidate leaves out 'two ( ) ;' (a.cu:11)");
  after_ = before_;
  after_.items[0].file = "c.cu";
  after_.items[0].text.push_back({13, "four ( ) ;"});
  expectChange("c.cu:13: in 'run()' the candidate adds 'four ( ) ;'");
}

TEST_F(HostChangesTest, WhatOnlyOneFileHasIsNoChangeUnlessItLaunches) {
  after_.items.push_back(function("c.cu", "helper()", {"return ;"}));
  before_.items.push_back(function("a.cu", "main()", {"run ( ) ;"}));
  EXPECT_EQ(change(), "");
  after_.items.back().launches = true;
  expectChange("c.cu:10: 'helper()' launches the kernel");
}

TEST_F(HostChangesTest, MacrosCountWhereHostCodeUsesThem) {
  before_.items.push_back(macro("a.cu", "COUNT", "10"));
  after_.items.push_back(macro("c.cu", "COUNT", "20"));
  EXPECT_EQ(change(), "");
  before_.items[0].text[0].text = after_.items[0].text[0].text = "for ( i < COUNT ) ;";
  expectChange("c.cu:1: in 'COUNT' the candidate has '# define COUNT 20'");
  // A constant of a launch or a kernel is the judge's to take.
  changed_.kernels.emplace_back().constants = {
      {"COUNT", ConstantKind::Macro, 20, {"c.cu", 14, 16}, 1, false, true}};
  EXPECT_EQ(change(), "");
  changed_.kernels[0].constants[0].usedByLaunch = false;
  EXPECT_NE(change(), "");
}

TEST_F(HostChangesTest, AConstantMayBeDeclaredElsewhere) {
  before_.items[0].text[1] = {11, "fill ( 256 ) ;"}; // a local one
  after_.items[0].text[1] = {11, "fill ( kThreads ) ;", "fill ( 256 ) ;"};
  EXPECT_EQ(change(), "");
  after_.items[0].text[1].values = "fill ( 128 ) ;";
  expectChange("'fill ( kThreads ) ;' in place of 'fill ( 256 ) ;'");
}

TEST_F(HostChangesTest, ChunksOfASliceAreDeviceCode) {
  after_.items[0].text[1].text = "twice ( ) ;";
  Specialization one;
  one.chunks = {{{"c.cu", 90, 210}, 0, 0, ChunkRole::Include, "", false, {}}};
  changed_.kernels.emplace_back().specializations = {one};
  EXPECT_NE(change(), "");
  changed_.kernels[0].specializations[0].chunks[0].role = ChunkRole::Function;
  EXPECT_EQ(change(), "");
}

TEST(SameOutsideKernels, KernelsAndSpacesDoNotCount) {
  const TemporaryDirectory folder = std::move(*TemporaryDirectory::create("host-changes"));
  const std::string a = (folder.path() / "a.cu").string(), c = (folder.path() / "c.cu").string();
  ASSERT_TRUE(writeFileAtomically(a, "kernel int main() {}"));
  ASSERT_TRUE(writeFileAtomically(c, "helper kernel2\nint main() { }\n"));
  ExtractionResult original, changed;
  Specialization one;
  one.chunks = {{{a, 0, 6}, 0, 0, ChunkRole::Kernel, "k", true, {}}};
  original.kernels.emplace_back().specializations = {one};
  one.chunks = {{{c, 0, 6}, 0, 0, ChunkRole::Function, "h", true, {}},
                {{c, 7, 14}, 0, 0, ChunkRole::Kernel, "k", true, {}}};
  changed.kernels.emplace_back().specializations = {one};
  EXPECT_TRUE(sameOutsideKernels(a, original, c, changed));
  ASSERT_TRUE(writeFileAtomically(c, "helper kernel2\nint main() {;}\n"));
  EXPECT_FALSE(sameOutsideKernels(a, original, c, changed));
}

} // namespace
} // namespace kopt
