// SPDX-License-Identifier: Apache-2.0
#include "driver/integrate/overlay/Overlay.h"

#include "driver/support/FileSystem.h"

#include <gmock/gmock.h>

namespace kopt::overlay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Archs, AVariantOfHostCodeHasToFitAll) {
  Entry entry;
  entry.archs = {"sm_90"};
  EXPECT_EQ(takenBy(entry, parseArchs("90")), Taken::Always);
  EXPECT_EQ(takenBy(entry, parseArchs("none")), Taken::Always);
  EXPECT_EQ(takenBy(entry, parseArchs("80,90")), Taken::Never);
  EXPECT_EQ(takenBy(entry, parseArchs("90a")), Taken::Never);
  EXPECT_EQ(takenBy(entry, parseArchs("unknown")), Taken::Never);
  entry.deviceOnly = true;
  EXPECT_EQ(takenBy(entry, parseArchs("80,90")), Taken::ByArch);
  EXPECT_EQ(takenBy(entry, parseArchs("80")), Taken::Never);
  EXPECT_EQ(takenBy(entry, parseArchs("unknown")), Taken::ByArch);
  entry.archs = {"all"};
  EXPECT_EQ(takenBy(entry, parseArchs("unknown")), Taken::Always);
}

class MakeOverlaysTest : public testing::Test {
protected:
  void write(const std::string &name, const std::string &text) {
    ASSERT_TRUE(writeFileAtomically(folder_.path() / name, text));
  }
  std::string path(const std::string &name) const { return (folder_.path() / name).string(); }
  /// Replaces a text of a file, which is the use.
  static Entry entry(const std::string &kernel, const std::string &file, const std::string &text,
                     const std::string &old, const std::string &fresh) {
    Entry made;
    made.kernel = kernel;
    made.symbol = "_Z" + kernel;
    made.archs = {"sm_90"};
    const std::size_t at = text.find(old);
    made.uses = {{file, at, at + old.size(), lineAt(text, at), "the kernel", contentHash(old)}};
    made.edits = {{0, at, at + old.size(), contentHash(fresh), fresh, old, ""}};
    return made;
  }
  OverlaySet make(const Lock &lock, const std::string &archs = "90", bool isNvcc = true) {
    Sources sources(folder_.path().string(), path("build"));
    return makeOverlays(lock,
                        {path("a.cu"),
                         path("kopt"),
                         path("build/o"),
                         folder_.path().string(),
                         {path("inc")},
                         parseArchs(archs),
                         isNvcc},
                        sources);
  }
  TemporaryDirectory folder_ = std::move(TemporaryDirectory::create("kopt-overlay").value());
};

TEST_F(MakeOverlaysTest, AHeaderIsReachedThroughItsIncluders) {
  const std::string header = "#pragma once\nint h = 1;\n";
  write("a.cu", "#include \"own.h\"\n#include <b.h>\n#include \"none.h\"\nint a;\n");
  write("own.h", "int own;\n");
  write("inc/b.h", "#include \"k.cuh\"\n");
  write("inc/k.cuh", header);
  const OverlaySet set = make({{entry("h", "inc/k.cuh", header, "int h = 1;", "int h = 2;")}});
  ASSERT_EQ(set.texts.size(), 3u);
  EXPECT_THAT(set.texts.at(path("inc/k.cuh")), HasSubstr("int h = 2;"));
  EXPECT_THAT(set.texts.at(path("inc/b.h")),
              HasSubstr("#include \"" + set.places.at(path("inc/k.cuh")) + "\""));
  const std::string &source = set.texts.at(path("a.cu"));
  EXPECT_THAT(source, HasSubstr("#include \"" + set.places.at(path("inc/b.h")) + "\""));
  EXPECT_THAT(source, HasSubstr("#include \"" + path("own.h") + "\"\n"));
  EXPECT_THAT(source, HasSubstr("#include \"none.h\"\n"));
  EXPECT_THAT(set.messages, IsEmpty());
}

TEST_F(MakeOverlaysTest, OptionsComeWithTheirVariantOrNeitherDoes) {
  const std::string text = "int a = 0;\nint b = 0;\n";
  write("a.cu", text);
  Lock lock{{entry("a", "a.cu", text, "int a = 0;", "int a = 1;"),
             entry("b", "a.cu", text, "int b = 0;", "int b = 1;")}};
  lock.entries[0].options = {"-Xptxas=-dlcm=cg"};
  EXPECT_THAT(make(lock).options, ElementsAre("-Xptxas=-dlcm=cg"));
  EXPECT_THAT(make(lock, "none").options, IsEmpty()); // of host code
  const auto overlaid = [&](const OverlaySet &set) { return set.texts.at(path("a.cu")); };
  const OverlaySet clang = make(lock, "90", false);
  EXPECT_THAT(clang.options, IsEmpty());
  EXPECT_THAT(overlaid(clang), HasSubstr("int a = 0;\nint b = 1;"));
  ASSERT_EQ(clang.messages.size(), 1u);
  EXPECT_THAT(clang.messages[0].text, HasSubstr("-Xptxas=-dlcm=cg, and this compiler is not nvcc"));
  lock.entries[1].options = {"-use_fast_math"};
  const OverlaySet both = make(lock);
  EXPECT_THAT(both.options, ElementsAre("-Xptxas=-dlcm=cg"));
  EXPECT_THAT(overlaid(both), HasSubstr("int a = 1;\nint b = 0;"));
  write("a.cu", "int a = 7;\nint b = 0;\n"); // stale
  lock.entries.pop_back();
  EXPECT_THAT(make(lock).options, IsEmpty());
}

TEST_F(MakeOverlaysTest, WhatTheCompilationDoesNotSeeDoesNotMatter) {
  write("a.cu", "int a;\n");
  write("b.cu", "int b;\n");
  const OverlaySet set = make({{entry("b", "b.cu", "int b = 0;\n", "int b = 0;", "int b = 2;")}});
  EXPECT_THAT(set.texts, IsEmpty());
  EXPECT_THAT(set.messages, IsEmpty());
  EXPECT_THAT(set.seen, ElementsAre(path("a.cu")));
}

TEST_F(MakeOverlaysTest, AllOfAStaleVariantIsLeftOut) {
  const std::string text = "int a = 1;\nint b = 1;\n";
  write("a.cu", "int a = 1;\nint b = 9;\n");
  Entry two = entry("a", "a.cu", text, "int a = 1;", "int a = 2;");
  const Entry b = entry("b", "a.cu", text, "int b = 1;", "int b = 2;");
  two.uses.push_back(b.uses[0]);
  two.edits.push_back(b.edits[0]);
  two.edits[1].use = 1;
  const OverlaySet set = make({{two}});
  EXPECT_THAT(set.texts, IsEmpty());
  ASSERT_EQ(set.messages.size(), 1u);
  EXPECT_EQ(set.messages[0].file, path("a.cu"));
  EXPECT_EQ(set.messages[0].line, 2u);
  EXPECT_TRUE(set.messages[0].isWarning);
}

TEST_F(MakeOverlaysTest, TwoVariantsNeverShareBytes) {
  const std::string text = "int a = 1;\n";
  write("a.cu", text);
  const OverlaySet set = make({{entry("a", "a.cu", text, "int a = 1;", "int a = 2;"),
                                entry("b", "a.cu", text, "a = 1", "a = 3")}});
  EXPECT_THAT(set.texts.at(path("a.cu")), HasSubstr("int a = 2;"));
  ASSERT_EQ(set.messages.size(), 1u);
  EXPECT_THAT(set.messages[0].text, HasSubstr("tune both kernels again"));
}

TEST_F(MakeOverlaysTest, AnotherArchitectureGetsTheOriginalWithANote) {
  const std::string text = "int a = 1;\n";
  write("a.cu", text);
  const OverlaySet set = make({{entry("a", "a.cu", text, "int a = 1;", "int a = 2;")}}, "80,90");
  EXPECT_THAT(set.texts, IsEmpty());
  ASSERT_EQ(set.messages.size(), 1u);
  EXPECT_FALSE(set.messages[0].isWarning);
  EXPECT_THAT(set.messages[0].text,
              HasSubstr("is for sm_90 and changes host code, and this build is for sm_80, sm_90"));
  Entry regressed = entry("a", "a.cu", text, "int a = 1;", "int a = 2;");
  regressed.regressed = "0.9x in run 7";
  EXPECT_THAT(make({{regressed}}).messages.at(0).text,
              HasSubstr("no longer faster (0.9x in run 7)"));
}

} // namespace
} // namespace kopt::overlay
