// SPDX-License-Identifier: Apache-2.0
#include "driver/knowledge/Passages.h"
#include "driver/diagnose/RuleBook.h"
#include "driver/support/FileSystem.h"
#include "tests/fakes/Results.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kopt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class PassagesTest : public testing::Test {
protected:
  void write(const std::string &name, const std::string &text) {
    const std::filesystem::path file = texts() / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::filesystem::path texts() const { return folder_.path() / "texts"; }
  Passages open() { return must(Passages::open(folder_.path() / "data" / "passages.db")); }
  Indexed index(Passages &passages, const std::string &source = "notes", double weight = 1) {
    return must(passages.index(texts(), source, weight));
  }
  static std::vector<std::string> headings(Passages &passages, const std::string &words) {
    std::vector<std::string> found;
    for (const Passage &passage : must(passages.search(words, 5)))
      found.push_back(passage.heading);
    return found;
  }

private:
  TemporaryDirectory folder_ = must(TemporaryDirectory::create("kopt-passages-"));
};

TEST_F(PassagesTest, AreTheSectionsOfADocument) {
  write("banks.md", "# Shared memory\n\nThirty-two banks.\n\n## Conflicts\n\nTwo lanes of one bank "
                    "wait.\n```\n# no heading\n```\n\n## Empty\n\n## Padding\n\nA column more.\n");
  Passages passages = open();
  EXPECT_EQ(index(passages).read, 1);
  EXPECT_THAT(headings(passages, "padding"), ElementsAre("Shared memory: Padding"));
  const Passage conflicts = must(passages.search("lanes", 5)).at(0);
  EXPECT_EQ(conflicts.heading, "Shared memory: Conflicts");
  EXPECT_EQ(conflicts.file, "banks.md");
  EXPECT_EQ(conflicts.line, 5);
  EXPECT_THAT(conflicts.text, HasSubstr("# no heading"));
  EXPECT_EQ(must(passages.sources()).at(0).passages, 3) << "a heading alone is none";
}

TEST_F(PassagesTest, OfCodeEndAtABlankLine) {
  std::string code;
  for (int i = 0; i < 150; ++i)
    code += "int value" + std::to_string(i) + ";\n" + (i % 10 == 9 ? "\n" : "");
  const std::vector<Passage> parts = passagesIn("long.cu", code);
  ASSERT_THAT(parts, SizeIs(3));
  EXPECT_EQ(parts[1].line, 66);
  EXPECT_EQ(parts[1].heading, "long");
}

TEST_F(PassagesTest, AreFoundByPartsOfIdentifiers) {
  EXPECT_EQ(partsOfIdentifiers("maxThreadsPerBlock and __shfl_down_sync, CUDAKernel plain"),
            "max Threads Per Block shfl down sync CUDA Kernel");
  write("a.cu", "auto x = __shfl_down_sync(mask, sum, offset);\n");
  write("b.cu", "int limit = prop.maxThreadsPerBlock;\n");
  Passages passages = open();
  index(passages);
  EXPECT_THAT(headings(passages, "how do I shuffle with shfl?"), ElementsAre("a"));
  EXPECT_THAT(headings(passages, "threads"), ElementsAre("b"));
  EXPECT_THAT(headings(passages, "maxThreadsPerBlock"), ElementsAre("b"));
  EXPECT_THAT(headings(passages, "what is the"), IsEmpty()) << "these words are everywhere";
}

TEST_F(PassagesTest, AreReadAgainWhereTheirFileChanged) {
  write("one.md", "coalesced loads\n");
  write("two.md", "bank conflicts\n");
  write(".git/three.md", "coalesced secrets\n");
  write("data.bin", "coalesced bytes\n");
  Passages passages = open();
  EXPECT_EQ(index(passages).read, 2);
  EXPECT_EQ(index(passages).unchanged, 2);
  write("one.md", "uncoalesced loads, and more of them\n");
  std::filesystem::remove(texts() / "two.md");
  const Indexed again = index(passages);
  EXPECT_EQ(again.read, 1);
  EXPECT_EQ(again.removed, 1);
  EXPECT_THAT(headings(passages, "uncoalesced conflicts coalesced"), ElementsAre("one"));
  Passages other = open(); // it is on disk
  EXPECT_THAT(headings(other, "loads"), ElementsAre("one"));
}

TEST_F(PassagesTest, OfAHeavierSourceComeFirst) {
  write("a.md", "vector loads of float4\n");
  Passages passages = open();
  index(passages, "light", 1);
  index(passages, "heavy", 3);
  EXPECT_EQ(must(passages.search("float4", 5)).at(0).source, "heavy");
  EXPECT_TRUE(passages.forget("heavy"));
  EXPECT_EQ(must(passages.search("float4", 5)).at(0).source, "light");
  const Status unknown = passages.forget("heavy");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().hint, HasSubstr("light"));
}

TEST_F(PassagesTest, BadInputChangesNothing) {
  write("a.md", "text\n");
  write("zero.txt", std::string("a\0b", 3));
  Passages passages = open();
  EXPECT_THAT(index(passages).skipped, ElementsAre("zero.txt"));
  EXPECT_FALSE(passages.index(texts() / "missing", "notes", 1));
  EXPECT_FALSE(passages.index(texts(), "notes", 0));
  EXPECT_THAT(headings(passages, "text"), ElementsAre("a"));
  EXPECT_THAT(headings(passages, "\"text\" OR (NEAR * ^ a:b"), ElementsAre("a"))
      << "the syntax of queries is no concern of the user's";
}

/// Questions of engineers, by an author who had not read the documents, with those that answer
/// them: tests/unit/knowledge/questions.json.
TEST_F(PassagesTest, OfKoptItselfAnswerQuestions) {
  Passages passages = open();
  std::vector<NamedDocument> skills;
  for (auto &[name, text] : must(RuleBook::load()).documents())
    skills.push_back({name + ".md", text});
  ASSERT_TRUE(passages.put("kopt", 1, skills));
  const auto before = must(passages.sources()).at(0);
  ASSERT_TRUE(passages.put("kopt", 1, skills));
  EXPECT_EQ(must(passages.sources()).at(0).passages, before.passages);
  const auto filesFor = [&](const std::string &question) {
    std::vector<std::string> files;
    for (const Passage &passage : must(passages.search(question, 5)))
      files.push_back(passage.file);
    return files;
  };
  EXPECT_EQ(filesFor("bank conflicts of a shared tile").at(0), "shared-bank-conflicts.md");
  const auto questions = nlohmann::json::parse(must(
      readFile(std::filesystem::path(KOPT_SOURCE_DIR) / "tests/unit/knowledge/questions.json")));
  int answered = 0;
  for (const auto &each : questions) {
    const std::vector<std::string> files = filesFor(each.at("question"));
    answered += std::ranges::any_of(each.at("skills"), [&](const std::string &skill) {
      return std::ranges::count(files, skill + ".md") > 0;
    });
  }
  EXPECT_EQ(questions.size(), 40u);
  EXPECT_GE(answered, 34);
  RecordProperty("answered", answered);
}

TEST_F(PassagesTest, TheBestOfAFileStandsForIt) {
  write("both.md", "# Tiles\n\nrows of a tile\n\n## More\n\na tile, padded\n");
  write("one.md", "# Halo\n\nrows, padded\n");
  write("none.md", "# Other\n\nsomething else\n");
  Passages passages = open();
  index(passages);
  EXPECT_THAT(headings(passages, "padded tile"), ElementsAre("Tiles: More", "Halo"));
}

} // namespace
} // namespace kopt
