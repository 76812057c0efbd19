// SPDX-License-Identifier: Apache-2.0
#include "driver/integrate/overlay/Lock.h"

#include "driver/support/FileSystem.h"

#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <limits>

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

Lock fullLock() {
  Entry entry;
  entry.kernel = "ns::k<float, 4>";
  entry.symbol = "_Zk";
  entry.place = "src/a b.cu:2";
  entry.title = "unroll \"i\" \\ 4\nand\r\tmore";
  entry.state = "confirmed";
  entry.reason = "\xc3\xbc \xff # 1";
  entry.variants = "k.cuh";
  entry.device = "NVIDIA H200";
  entry.assurance = "partial";
  entry.run = "k-1";
  entry.session = "session-1";
  entry.tunedUtc = "2026-01-31T12:00:00Z";
  entry.kopt = "0.1.0";
  entry.regressed = "Slower";
  entry.archs = {"sm_90", "sm_80"};
  entry.gaps = {"no sanitizer"};
  entry.options = {"-Xptxas=-dlcm=cg", "--apply-controls={project}/a b"};
  entry.deviceOnly = entry.inProgram = entry.modelled = true;
  entry.speedup = 1.23456789;
  entry.low = 1e-7;
  entry.high = 12345678;
  entry.uses = {{"build:a.cu", 5, 90, 2, "the kernel 'k'", "ab"}, {"b.cu", 0, 9, 1, "", "cd"}};
  entry.edits = {{0, 6, 9, "ef", "x = \"\";", "", ""}, {1, 0, 0, "01", "", "", "text-1"}};
  Lock lock;
  lock.entries = {entry, Entry()};
  lock.entries[1].kernel = "t";
  lock.entries[1].high = std::numeric_limits<double>::infinity();
  return lock;
}

TEST(ParseLock, ReadsBackWhatWasWritten) {
  const std::string text = lockText(fullLock());
  Change problem;
  const auto read = parseLock(text, problem);
  ASSERT_TRUE(read) << problem.line << ": " << problem.what;
  EXPECT_EQ(lockText(*read), text);
  const Entry &entry = read->entries.at(0);
  EXPECT_EQ(entry.title, fullLock().entries[0].title);
  EXPECT_EQ(entry.reason, fullLock().entries[0].reason);
  EXPECT_EQ(entry.speedup, 1.23456789);
  EXPECT_TRUE(entry.deviceOnly && entry.inProgram && entry.modelled);
  EXPECT_THAT(entry.archs, ElementsAre("sm_90", "sm_80"));
  EXPECT_THAT(entry.options, ElementsAre("-Xptxas=-dlcm=cg", "--apply-controls={project}/a b"));
  EXPECT_EQ(entry.uses.at(0).end, 90u);
  EXPECT_EQ(entry.uses.at(1).name, "");
  EXPECT_EQ(entry.edits.at(0).text, "x = \"\";");
  EXPECT_EQ(entry.edits.at(1).section, "text-1");
  EXPECT_EQ(read->entries.at(1).kernel, "t");
  EXPECT_FALSE(read->entries.at(1).modelled);
  EXPECT_TRUE(std::isinf(read->entries.at(1).high));
}

TEST(ParseLock, HasOneFactALine) {
  EXPECT_EQ(lockText(Lock()),
            "kopt-lock 1\n"
            "# Written by kopt; belongs into version control. docs/header-mode.md explains it.\n");
  const std::string text = lockText(fullLock());
  for (const char *line :
       {"\n\nkernel \"ns::k<float, 4>\"\n",
        "\n  title \"unroll \\\"i\\\" \\\\ 4\\nand\\r\tmore\"\n",
        "\n  arch \"sm_90\"\n  arch \"sm_80\"\n", "\n  in-program\n", "\n  speedup 1.23456789\n",
        "\n  use \"build:a.cu\" 5 90 2 \"the kernel 'k'\" ab\n",
        "\n  edit 0 6 9 ef \"\" \"x = \\\"\\\";\"\n", "\n  edit 1 0 0 01 text-1\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(ParseLock, LinesOfAnotherSystemAreNoOtherLines) {
  std::string text = lockText(fullLock());
  for (std::size_t at = 0; (at = text.find('\n', at)) != text.npos; at += 2)
    text.insert(at, "\r");
  Change problem;
  const auto read = parseLock(text, problem);
  ASSERT_TRUE(read) << problem.line << ": " << problem.what;
  EXPECT_EQ(lockText(*read), lockText(fullLock()));
}

TEST(ParseLock, SaysWhatIsWrongAndWhere) {
  const std::string good = "kopt-lock 1\n\nkernel \"k\"\n  use \"k.cu\" 5 9 1 \"\" ab\n";
  Change problem;
  ASSERT_TRUE(parseLock(good, problem));
  for (const auto &[line, what] : std::initializer_list<std::pair<const char *, const char *>>{
           {"<<<<<<< ours", "'<<<<<<<' with 1 values is no fact of a lock"},
           {"  title", "'title' with 0 values"},
           {"  title a b", "'title' with 2 values"},
           {"  title \"a", "without its closing quote"},
           {"  title \"a\\", "without its closing quote"},
           {"  modelled yes", "'modelled' with 1 values"},
           {"  speedup fast", "'fast' is no number"},
           {"  speedup 1.5x", "'1.5x' is no number"},
           {"  use \"k.cu\" 5 9 1 \"\"", "'use' with 5 values"},
           {"  use \"k.cu\" -5 9 1 \"\" ab", "'-5' is no number"},
           {"  use \"k.cu\" 5 1e300 1 \"\" ab", "is no number"},
           {"  use \"k.cu\" 5 99999999999999999999 1 \"\" ab", "is no number"},
           {"  use \"k.cu\" 5 9000000000000000001 1 \"\" ab", "is no number"},
           {"  use \"k.cu\" 5 4 1 \"\" ab", "ends before it begins"},
           {"  edit 1 5 9 ab one", "outside"},
           {"  edit 0 4 9 ab one", "outside"},
           {"  edit 0 6 10 ab one", "outside"},
           {"  edit 0 8 7 ab one", "outside"}}) {
    EXPECT_FALSE(parseLock(good + "\n" + line + "\n  modelled\n", problem)) << line;
    EXPECT_THAT(problem.what, HasSubstr(what));
    EXPECT_EQ(problem.line, 6u) << line;
  }
  EXPECT_FALSE(parseLock("kopt-lock 1\nmodelled\n", problem));
  EXPECT_THAT(problem.what, HasSubstr("a fact of no kernel"));
  for (const char *other : {"", "kopt-lock 2\n", "{\"schema_version\": 1, \"entries\": []}"}) {
    EXPECT_FALSE(parseLock(other, problem));
    EXPECT_EQ(problem.line, 1u);
    EXPECT_THAT(problem.what, HasSubstr("another version of kopt"));
  }
}

TEST(ParseLock, NothingThatIsCutOffOrChangedBreaksIt) {
  const std::string text = lockText(fullLock());
  Change problem;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    (void)parseLock(text.substr(0, i), problem);
    for (const char c : {'\0', '"', '\\', '\n', '9', '\xff'}) {
      changed[i] = c;
      (void)parseLock(changed, problem);
    }
  }
}

} // namespace
} // namespace kopt::overlay
