// SPDX-License-Identifier: Apache-2.0
#include "driver/integrate/overlay/Lock.h"

#include "driver/support/FileSystem.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace kopt::overlay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kKernel = "void k() { x = 1; }";

Entry entryOf(const std::string &text, const std::vector<std::string> &uses) {
  Entry entry;
  entry.kernel = "k";
  for (const std::string &use : uses) {
    const std::size_t at = text.find(use);
    EXPECT_NE(at, std::string::npos);
    entry.uses.push_back(
        {"k.cu", at, at + use.size(), lineAt(text, at), "the text", contentHash(use)});
  }
  return entry;
}

class LocateTest : public testing::Test {
protected:
  Located locateIn(const Entry &entry, const std::string &now) {
    EXPECT_TRUE(writeFileAtomically(folder_.path() / "k.cu", now));
    Sources sources(folder_.path().string(), "");
    return locate(entry, sources);
  }
  TemporaryDirectory folder_ = std::move(TemporaryDirectory::create("kopt-lock").value());
};

TEST(ContentHash, IsStoredInLocksAndStaysWhatItIs) {
  EXPECT_EQ(contentHash(""), "00000000000000000000000000000000");
  EXPECT_EQ(contentHash("1"), "00000000000000320000000000000032");
  EXPECT_EQ(contentHash("constexpr int W = 4;").size(), 32u);
  EXPECT_NE(contentHash("ab"), contentHash("ba"));
  EXPECT_NE(contentHash(std::string_view("\0", 1)), contentHash(""));
}

TEST(ContentHash, FindsEveryPlaceOfAText) {
  const std::string text = "a kernel, a kernel, and a colonel";
  EXPECT_THAT(findByHash(text, 8, contentHash("a kernel")), ElementsAre(0, 10));
  EXPECT_THAT(findByHash(text, 9, contentHash("a colonel")), ElementsAre(24));
  EXPECT_THAT(findByHash(text, 8, contentHash("A kernel")), IsEmpty());
  EXPECT_THAT(findByHash("ab", 8, contentHash("a kernel")), IsEmpty());
}

TEST_F(LocateTest, TextThatMovedIsFoundAgain) {
  const std::string was = "int a;\n" + kKernel + "\nint b;\n";
  const Entry entry = entryOf(was, {kKernel, "int b;"});
  EXPECT_THAT(locateIn(entry, was).begins, ElementsAre(7, 27));
  const Located moved = locateIn(entry, "// one line more\nint a;\n" + kKernel + "\n\nint b;\n");
  EXPECT_THAT(moved.changes, IsEmpty());
  EXPECT_THAT(moved.begins, ElementsAre(24, 45));
}

TEST_F(LocateTest, OfSeveralCopiesTheOneThatMovedWithItsNeighboursCounts) {
  const std::string was = kKernel + "\nint b;\n";
  const Entry entry = entryOf(was, {kKernel, "int b;"});
  const Located moved = locateIn(entry, "int b;\n\n" + was);
  EXPECT_THAT(moved.changes, IsEmpty());
  EXPECT_THAT(moved.begins, ElementsAre(8, 28));
  const Located unclear = locateIn(entry, "int b;int b;/**/\n" + kKernel + "\n\nint b;\n");
  ASSERT_EQ(unclear.changes.size(), 1u);
  EXPECT_THAT(unclear.changes[0].what, HasSubstr("more than once"));
}

TEST_F(LocateTest, NothingMayBeAddedToAWholeFile) {
  const std::string was = "#define RADIUS 1\n";
  Entry entry = entryOf(was, {was});
  const std::string now = was + "#undef RADIUS\n#define RADIUS 3\n";
  EXPECT_THAT(locateIn(entry, now).changes, IsEmpty());
  entry.uses[0].name = kWholeFile;
  EXPECT_THAT(locateIn(entry, was).changes, IsEmpty());
  EXPECT_EQ(locateIn(entry, now).changes.at(0).what, "the file changed");
  EXPECT_EQ(locateIn(entry, "// how far\n" + was).changes.size(), 1u);
  EXPECT_EQ(locateIn(entry, "#define RADIUS 3\n").changes.at(0).what, "the file changed");
}

TEST_F(LocateTest, AChangeIsNamedWithItsLine) {
  const std::string was = "int a;\n" + kKernel + "\nint b;\n";
  const Located located =
      locateIn(entryOf(was, {"int a;", kKernel}), "\n\nint a;\nvoid k() { x = 2; }\nint b;\n");
  ASSERT_EQ(located.changes.size(), 1u);
  EXPECT_EQ(located.changes[0].line, 4u);
  EXPECT_EQ(located.changes[0].what, "the text changed");
  std::filesystem::remove(folder_.path() / "k.cu");
  Sources sources(folder_.path().string(), "");
  EXPECT_EQ(locate(entryOf(was, {kKernel}), sources).changes.at(0).what, "the file is missing");
}

TEST(ParseLock, SaysWhatIsWrongAndWhere) {
  std::string problem;
  EXPECT_FALSE(parseLock("{\n\"schema_version\": 1,\n<<<<<<< ours\n", problem));
  EXPECT_THAT(problem, HasSubstr("line 3"));
  EXPECT_FALSE(parseLock(R"({"schema_version": 2, "entries": []})", problem));
  EXPECT_THAT(problem, HasSubstr("newer kopt"));
  const std::string form = R"({{"schema_version": 1, "entries": [{{"kernel": "k", "symbol": "_k",
    "device_only": false, "archs": ["sm_90"], "uses": [{{"file": "k.cu", "begin": 5, "end": 9, "line": 1,
    "hash": "x"}}], "edits": [{{"use": 0, "begin": {}, "end": {}, "hash": "y"}}]}}]}})";
  const auto lock = parseLock(fmt::format(fmt::runtime(form), 6, 9), problem);
  ASSERT_TRUE(lock) << problem;
  EXPECT_EQ(lock->entries.at(0).edits.at(0).begin, 6u);
  for (const auto &[begin, end] : {std::pair(4, 9), {6, 10}, {8, 7}}) {
    EXPECT_FALSE(parseLock(fmt::format(fmt::runtime(form), begin, end), problem));
    EXPECT_THAT(problem, HasSubstr("outside"));
  }
  EXPECT_FALSE(parseLock(std::string(100000, '['), problem));
}

TEST(ParseLock, ReadsEveryEscape) {
  std::string problem;
  const auto lock = parseLock(
      R"({"schema_version": 1, "entries": [{"kernel": "\"\\\n\u00dc\ud83d\ude00", "symbol":
    "", "device_only": true, "archs": [], "uses": [], "edits": [], "regressed": null}]})",
      problem);
  ASSERT_TRUE(lock) << problem;
  EXPECT_EQ(lock->entries[0].kernel, "\"\\\n\u00dc\U0001F600");
}

} // namespace
} // namespace kopt::overlay
