// SPDX-License-Identifier: Apache-2.0
#include "driver/llm/contract/Contract.h"
#include "driver/llm/contract/ReplyText.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopt {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

CodeContract contract() {
  CodeContract contract;
  contract.chunks["scale"] = "__global__ void scale(float *x) { x[threadIdx.x] *= 2; }\n";
  contract.chunks["ns::twice#2"] =
      "__device__ int twice(int a) { return a * 2; } // ... as before\n";
  contract.chunks["operator ()"] = "__device__ int operator()(int a) const;\n";
  contract.constants = {"TILE"};
  return contract;
}

const std::string kHeader =
    "```json\n{\"title\": \"t\", \"technique\": \"Shared Tiling\", \"rationale\": \"r\"}\n```\n";
const std::string kNew = "__global__ void scale(float *x) { x[threadIdx.x] += x[threadIdx.x]; }\n";
const std::string kCode = "```cuda chunk=scale\n" + kNew + "```\n";

std::string fencedJson(const std::string &text) { return "```json\n" + text + "\n```\n"; }
/// A header of one candidate, with these members too.
std::string one(const std::string &members) {
  return fencedJson(R"({"title":"t","technique":"x","rationale":"r",)" + members + "}");
}
/// A header of candidates a, b, …, each with these members.
std::string some(const std::vector<std::string> &members, const std::string &rest = "") {
  std::string list;
  char id = 'a';
  for (const std::string &member : members)
    list += std::string(list.empty() ? "" : ",\n") + R"({"id":")" + id++ + R"(","title":"t")" +
            (member.empty() ? "" : "," + member) + "}";
  return fencedJson(R"({"candidates":[)" + list + "]" + rest + "}");
}
std::string codeOf(const std::string &id, const std::string &text = kNew) {
  return "```cuda candidate=" + id + " chunk=scale\n" + text + "```\n";
}
const std::string kLaunch = R"("launch":{"block":[64]})";

struct Row {
  const char *name;
  std::string reply;
  std::string taken;                                ///< ids
  std::vector<std::array<std::string, 3>> breaches; ///< candidate, where, part of what
};

void expectRows(const std::vector<Row> &rows) {
  for (const Row &row : rows) {
    SCOPED_TRACE(std::string(row.name) + ":\n" + row.reply);
    const CodeReply reply = readReply(row.reply, contract());
    std::string taken;
    for (const ReplyCandidate &candidate : reply.candidates)
      taken += (taken.empty() ? "" : " ") + candidate.id;
    EXPECT_EQ(taken, row.taken);
    std::string all;
    for (const ReplyBreach &breach : reply.breaches)
      all += breach.candidate + " | " + breach.where + " | " + breach.what + "\n";
    ASSERT_EQ(reply.breaches.size(), row.breaches.size()) << all;
    for (std::size_t i = 0; i < row.breaches.size(); ++i) {
      EXPECT_EQ(reply.breaches[i].candidate, row.breaches[i][0]);
      EXPECT_EQ(reply.breaches[i].where, row.breaches[i][1]);
      EXPECT_THAT(reply.breaches[i].what, HasSubstr(row.breaches[i][2]));
    }
  }
}

TEST(Contract, TakesLibertiesOfForm) {
  const std::string both = some({kLaunch, kLaunch});
  expectRows({
      {"one candidate, short", kHeader + kCode, "1", {}},
      {"prose around it",
       "Here is it.\n" + kHeader + "The kernel:\n" + kCode + "Good luck.",
       "1",
       {}},
      {"two candidates", some({"", ""}) + codeOf("a") + codeOf("b"), "a b", {}},
      {"blocks in another order", some({"", ""}) + codeOf("b") + codeOf("a"), "a b", {}},
      {"code before the header", kCode + kHeader, "1", {}},
      {"a header for each candidate", kHeader + kCode + kHeader + kCode, "1 2", {}},
      {"a list as header",
       fencedJson(R"([{"id":"a","title":"t","constants":{"TILE":8}}])"),
       "a",
       {}},
      {"ids that are numbers",
       fencedJson(R"({"candidates":[{"id":7,"title":"t"},{"id":8,"title":"u",)" + kLaunch + "}]}") +
           codeOf("7"),
       "7 8",
       {}},
      {"no ids: their places",
       fencedJson(R"({"candidates":[{"title":"t"},{"title":"u"}]})") + codeOf("2") + codeOf("1"),
       "1 2",
       {}},
      {"one candidate without an id, whose block has one", kHeader + codeOf("a"), "1", {}},
      {"the candidate behind the chunk",
       some({""}) + "```cuda chunk=scale candidate=a\nint x;\n```\n",
       "a",
       {}},
      {"comments",
       fencedJson(
           "// idea\n{\"title\": \"t\", /* \"no\": */ \"constants\": {\"TILE\": 8 // don't\n}}"),
       "1",
       {}},
      {"trailing commas",
       fencedJson("{\"title\": \"a,}\", \"constants\": {\"TILE\": 8, // x\n},\n}"),
       "1",
       {}},
      {"line ends in a text",
       fencedJson("{\"title\": \"t\", \"rationale\": \"one\ntwo\", \"constants\": {\"TILE\": 8}}"),
       "1",
       {}},
      {"no info", "```\n{\"title\": \"t\", \"constants\": {\"TILE\": 8}}\n```", "1", {}},
      {"no fence around the header",
       "I do this: {\"title\": \"t\"} as follows.\n" + kCode,
       "1",
       {}},
      {"only JSON", R"({"title":"t","chunks":{"scale":"int x;\n"}})", "1", {}},
      {"a header that is not closed",
       "```json\n{\"title\": \"t\", \"constants\": {\"TILE\": 8}}",
       "1",
       {}},
      {"unknown members", one(R"("host":"code","base":3,"launch":{"block":[64]})"), "1", {}},
      {"no technique, no rationale", fencedJson(R"({"title":"t"})") + kCode, "1", {}},
      {"CRLF",
       "```json\r\n{\"title\": \"t\"}\r\n```\r\n```cuda chunk=scale\r\nint x;\r\n```\r\n",
       "1",
       {}},
      {"a byte order mark", "\xef\xbb\xbf" + kHeader + kCode, "1", {}},
      {"tildes",
       "~~~json\n{\"title\": \"t\"}\n~~~\n~~~~cuda chunk=scale\nint x;\n~~~\n~~~~\n",
       "1",
       {}},
      {"in a list",
       "1. ```json\n   {\"title\": \"t\"}\n   ```\n- Code:\n  ```cuda chunk=scale\n  int x;\n  "
       "```\n",
       "1",
       {}},
      {"longer fences", kHeader + "````cuda chunk=scale\n/* \n```\n */\nint x;\n````", "1", {}},
      {"quoted code first",
       "Now it is\n```cuda\nx[threadIdx.x] *= 2;\n```\n" + kHeader + kCode,
       "1",
       {}},
      {"quoted code between",
       kHeader + "In place of\n```cuda\nx[threadIdx.x] *= 2;\n```\n" + kCode,
       "1",
       {}},
      {"quoted JSON", fencedJson(R"({"dram__bytes.sum": 5})") + kHeader + kCode, "1", {}},
      {"a quoted body", kHeader + "not\n```\n{ f(); }\n```\n" + kCode, "1", {}},
      {"quoted code that is no part of it", kHeader + "```cuda\nint x;\n```\n" + kCode, "1", {}},
      {"quoted JSON after the second header",
       kHeader + kCode + kHeader + fencedJson(R"({"registers": 5})") + kCode,
       "1 2",
       {}},
      {"a diff beside it", kHeader + kCode + "```diff\n- x\n+ y\n```\n", "1", {}},
      {"a quoted label", kHeader + "```cuda  chunk= scale \nint x;\n```\n", "1", {}},
      {"a block of one number", one(R"("launch":{"block":256})"), "1", {}},
      {"a whole number with a point", one(R"("constants":{"TILE":16.0})"), "1", {}},
      {"expects of the wrong form",
       one(R"("expects":[{"metric":"m","factor":-1},{"metric":3},"fewer"],"constants":{"TILE":8})"),
       "1",
       {}},
      {"stop beside candidates", some({kLaunch, ""}, R"(,"stop":"no more")"), "a", {}},
      {"stop", fencedJson(R"({"stop": "at the roof"})"), "", {}},
      {"stop without a fence", R"({"stop": "at the roof"})", "", {}},
      {"stop with other members",
       fencedJson(R"({"stop": "at the roof", "rationale": "r"})"),
       "",
       {}},
      {"a plan alone", fencedJson(R"({"plan": ["later"]})"), "", {}},
  });
}

TEST(Contract, ABreachEndsItsCandidateAlone) {
  expectRows({
      {"launch out of range",
       some({"", R"("launch":{"block":[32,2048]})"}) + codeOf("a"),
       "a",
       {{"b", "/candidates/1/launch/block/1", "at most 1024"}}},
      {"wrong type in the first",
       some({R"("launch":[64])", kLaunch}),
       "b",
       {{"a", "/candidates/0/launch", "object is expected, not array"}}},
      {"no such constant",
       some({R"("constants":{"N":4})", R"("constants":{"TILE":4})"}),
       "b",
       {{"a", "/candidates/0/constants/N", "these are: TILE"}}},
      {"a candidate that is none",
       fencedJson(R"({"candidates":[3,{"id":"b","title":"t","constants":{"TILE":4}}]})"),
       "b",
       {{"1", "/candidates/0", "object is expected"}}},
      {"no title",
       fencedJson(R"({"candidates":[{"id":"a"},{"id":"b","title":"t","constants":{"TILE":4}}]})"),
       "b",
       {{"a", "/candidates/0", "\"title\" is missing"}}},
      {"nothing changed", some({"", kLaunch}), "b", {{"a", "/candidates/0", "changes nothing"}}},
      {"elision",
       some({"", ""}) + codeOf("a", "// ... rest unchanged\n") + codeOf("b"),
       "b",
       {{"a", "cuda candidate=a chunk=scale", "leaves code out"}}},
      {"elision within the JSON",
       some({R"("chunks":{"scale":"// ..."})", kLaunch}),
       "b",
       {{"a", "/candidates/0/chunks/scale", "leaves code out"}}},
      {"no such chunk",
       some({"", ""}) + codeOf("a") + "```cuda candidate=b chunk=gone\nint x;\n```\n",
       "a",
       {{"b", "cuda candidate=b chunk=gone",
         "labels are: chunk=ns::twice#2, chunk=operator (), chunk=scale"}}},
      {"no such chunk, without the key",
       kHeader + kCode + "```cuda gone\nint x;\n```",
       "",
       {{"1", "cuda gone", "no editable chunk"}}},
      {"empty chunk",
       some({"", ""}) + codeOf("a") + codeOf("b", "\n"),
       "a",
       {{"b", "cuda candidate=b chunk=scale", "is empty"}}},
      {"chunk twice",
       some({"", ""}) + codeOf("a") + codeOf("b") + codeOf("b"),
       "a",
       {{"b", "cuda candidate=b chunk=scale", "appears twice"}}},
      {"the last block is not closed",
       some({"", ""}) + codeOf("a") + "```cuda candidate=b chunk=scale\nint x;\n",
       "a",
       {{"b", "cuda candidate=b chunk=scale", "not closed"}}},
      {"a block within is not closed",
       some({"", ""}) + "```cuda candidate=a chunk=scale\nint x;\n" + codeOf("b"),
       "b",
       {{"a", "cuda candidate=a chunk=scale", "not closed"}}},
      {"an id twice",
       fencedJson(
           R"({"candidates":[{"id":"a","title":"t"},{"id":"a","title":"u"},{"id":"c","title":"v"}]})") +
           codeOf("c"),
       "c",
       {{"a", "/candidates/0/id", "two candidates"}, {"a", "/candidates/1/id", "two candidates"}}},
      {"two breaches of one",
       some({R"("constants":{"N":1,"M":2})", kLaunch}),
       "b",
       {{"a", "/candidates/0/constants/M", "not a constant"},
        {"a", "/candidates/0/constants/N", "not a constant"}}},
      {"a block without a chunk",
       some({"", kLaunch}) + "```cuda candidate=a\nint x;\n```\n",
       "b",
       {{"a", "cuda candidate=a", "no editable chunk"}}},
      {"a block of a candidate that is not there",
       some({"", kLaunch}) + codeOf("a") + codeOf("z"),
       "a",
       {{"", "cuda candidate=z chunk=scale", "no candidate that there is"},
        {"b", "/candidates/1", "has no block"}}},
      {"a block of no candidate",
       some({"", ""}) + codeOf("a") + kCode,
       "a",
       {{"", "cuda chunk=scale", "label it"}, {"b", "/candidates/1", "has no block"}}},
      {"a mistake of JSON after the first",
       fencedJson(R"({"candidates":[{"id":"a","title":"t"},{"id":"b","title":"say "x" }]})") +
           codeOf("a"),
       "a",
       {{"", "the JSON header", "line 1"}}},
      {"five candidates",
       some({kLaunch, "", kLaunch, kLaunch, ""}) + codeOf("b") + codeOf("e"),
       "a b c d",
       {}},
      {"one header of two is broken",
       kHeader + kCode + fencedJson("{\"title\": }") + kCode,
       "1",
       {{"", "the JSON header", "not JSON"}}},
  });
}

TEST(Contract, SaysWhatIsWrongWithAWholeReply) {
  const auto launch = [](const std::string &members) {
    return one("\"launch\":{" + members + "}") + kCode;
  };
  expectRows({
      {"nothing", "", "", {{"", "/", "no JSON header"}}},
      {"no code at all", "no code at all", "", {{"", "/", "no JSON header"}}},
      {"no header", kCode, "", {{"", "/", "no JSON header"}}},
      {"an empty header", fencedJson("{}"), "", {{"", "/", "no JSON header"}}},
      {"no candidates", fencedJson(R"({"candidates":[]})"), "", {{"", "/", "no JSON header"}}},
      {"candidates that are no list",
       fencedJson(R"({"candidates":"two"})"),
       "",
       {{"", "/candidates", "a list"}}},
      {"no JSON", fencedJson("{\"title\": }"), "", {{"", "the JSON header", "line 1, column 11"}}},
      {"JSON that is cut off",
       "```json\n{\"title\": \"t",
       "",
       {{"", "the JSON header", "not JSON"}}},
      {"JSON too deep",
       fencedJson("{\"title\":" + std::string(100000, '[')),
       "",
       {{"", "/", "no JSON header"}}},
      {"a number too large",
       one(R"("constants":{"TILE":1e999})"),
       "",
       {{"", "the JSON header", "not JSON"}}},
      {"title of the wrong type",
       fencedJson(R"({"title":1,"technique":"b"})"),
       "",
       {{"1", "/title", "string is expected"}}},
      {"blank title", fencedJson(R"({"title":" "})") + kCode, "", {{"1", "/title", "a text"}}},
      {"changes nothing", kHeader, "", {{"1", "/", "changes nothing"}}},
      {"tunables change nothing",
       one(R"("tunables":{"W":[1]})"),
       "",
       {{"1", "/", "changes nothing"}}},
      {"block without a label",
       kHeader + "```cuda\nint x;\n```",
       "",
       {{"1", "/", "labels are: chunk=ns::twice#2, chunk=operator (), chunk=scale"}}},
      {"a diff alone", kHeader + "```diff\n- x\n```", "", {{"1", "/", "changes nothing"}}},
      {"no threads", launch(R"("block":[0])"), "", {{"1", "/launch/block/0", "at least 1"}}},
      {"half a thread",
       launch(R"("block":[1.5])"),
       "",
       {{"1", "/launch/block/0", "integer or string"}}},
      {"no extents", launch(R"("block":[])"), "", {{"1", "/launch/block", "at least 1 elements"}}},
      {"four extents",
       launch(R"("block":[1,1,1,1])"),
       "",
       {{"1", "/launch/block", "at most 3 elements"}}},
      {"an empty expression", launch(R"("grid":["n"," "])"), "", {{"1", "/launch", "is empty"}}},
      {"a grid too large",
       launch(R"("grid":[4294967296])"),
       "",
       {{"1", "/launch/grid/0", "at most 2147483647"}}},
      {"cover without a block",
       launch(R"("grid":"cover")"),
       "",
       {{"1", "/launch/grid", "without numbers"}}},
      {"cover with an expression",
       launch(R"("grid":"cover","block":["ROWS"])"),
       "",
       {{"1", "/launch/grid", "without numbers"}}},
      {"shared memory below 0",
       launch(R"("shared_bytes":-4)"),
       "",
       {{"1", "/launch/shared_bytes", "at least 0"}}},
      {"too much shared memory",
       launch(R"("shared_bytes":300000)"),
       "",
       {{"1", "/launch/shared_bytes", "at most 232448"}}},
      {"a launch member that there is not",
       launch(R"("stream":1)"),
       "",
       {{"1", "/launch", "\"stream\""}}},
      {"a constant beyond 64 bits",
       one(R"("constants":{"TILE":18446744073709551615})"),
       "",
       {{"1", "/constants/TILE", "at most 9223372036854775807"}}},
      {"a constant that is a text",
       one(R"("constants":{"TILE":"4"})"),
       "",
       {{"1", "/constants/TILE", "integer is expected, not string"}}},
      {"a tunable without a name in C",
       one(R"("tunables":[{"name":"2x","values":[1]}],"constants":{"TILE":8})"),
       "",
       {{"1", "/tunables/0", "no name in C"}}},
      {"a tunable without values",
       one(R"("tunables":{"W":[]})"),
       "",
       {{"1", "/tunables/W", "at least 1 elements"}}},
      {"a tunable's value of another type",
       one(R"("tunables":[{"name":"W","values":[1,"2"]}])"),
       "",
       {{"1", "/tunables/0/values/1", "integer is expected"}}},
      {"a value that is none of them",
       one(R"("tunables":[{"name":"W","values":[1],"value":3}],"constants":{"TILE":8})"),
       "",
       {{"1", "/tunables/0/value", "not one of its values"}}},
      {"a chunk too long",
       kHeader + "```cuda chunk=scale\n" + std::string(300000, 'x') + "\n```",
       "",
       {{"1", "cuda chunk=scale", "256 KiB"}}},
  });
}

ReplyCandidate theOne(const std::string &reply) {
  const CodeReply read = readReply(reply, contract());
  for (const ReplyBreach &breach : read.breaches)
    ADD_FAILURE() << breach.where << ": " << breach.what << " of " << reply;
  return read.candidates.size() == 1 ? read.candidates[0] : ReplyCandidate();
}

TEST(Contract, ReadsHeaderAndChunks) {
  const ReplyCandidate candidate = theOne("Here is it.\n" + kHeader + "The kernel:\n" + kCode);
  EXPECT_EQ(candidate.title, "t");
  EXPECT_EQ(candidate.technique, "shared-tiling");
  EXPECT_EQ(candidate.rationale, "r");
  EXPECT_EQ(candidate.chunks, (std::map<std::string, std::string>{{"scale", kNew}}));
  EXPECT_FALSE(candidate.block || candidate.grid || candidate.sharedBytes);
}

TEST(Contract, KeepsTheTextOfEachCandidateAsItIs) {
  const CodeReply reply = readReply("\xef\xbb\xbf" + some({"", ""}) +
                                        "  ~~~cuda candidate=b chunk=operator ()\r\n"
                                        "  if (a)\r\n      ```\r\n\r\n b();\r\n  ~~~\r\n" +
                                        codeOf("a"),
                                    contract());
  ASSERT_EQ(reply.candidates.size(), 2u);
  EXPECT_EQ(reply.candidates[0].chunks.at("scale"), kNew);
  EXPECT_EQ(reply.candidates[1].chunks.at("operator ()"), "if (a)\n    ```\n\nb();\n");
}

TEST(Contract, ReadsLaunchAndConstants) {
  const ReplyCandidate candidate = theOne(one(
      R"("launch":{"block":[64,2],"grid":"cover","shared_bytes":4096},"constants":{"TILE":16.0})"));
  EXPECT_EQ(*candidate.block, (std::array<std::string, 3>{"64", "2", "1"}));
  EXPECT_TRUE(candidate.coverGrid);
  EXPECT_FALSE(candidate.grid);
  EXPECT_EQ(*candidate.sharedBytes, "4096");
  EXPECT_EQ(candidate.constants.at("TILE"), 16);
  EXPECT_EQ(*theOne(one(R"("launch":{"grid":"n / 4"})")).grid,
            (std::array<std::string, 3>{"n / 4", "1", "1"}));
  EXPECT_FALSE(theOne(one(R"("launch":{"grid":"keep","block":"TILE"})")).grid);
}

TEST(Contract, ReadsLaunchExpressionsAndTunables) {
  const ReplyCandidate candidate = theOne(
      one(
          R"("launch":{"grid":["(n + 31) / 32","m / ROWS"],"block":[32,"ROWS"],"shared_bytes":"4 * ROWS"},
         "tunables":[{"name":"ROWS","values":[4,8,4],"value":8,"requires":["ROWS <= 16"]},
                     {"name":"STEP","values":[2],"requires":"STEP > 1"}])") +
      kCode);
  EXPECT_EQ(*candidate.grid, (std::array<std::string, 3>{"(n + 31) / 32", "m / ROWS", "1"}));
  EXPECT_EQ(*candidate.block, (std::array<std::string, 3>{"32", "ROWS", "1"}));
  EXPECT_EQ(*candidate.sharedBytes, "4 * ROWS");
  ASSERT_EQ(candidate.tunables.size(), 2u);
  EXPECT_EQ(candidate.tunables[0].values, (std::vector<std::int64_t>{4, 8}));
  EXPECT_EQ(candidate.tunables[0].value, 8);
  EXPECT_THAT(candidate.tunables[0].requirements, ElementsAre("ROWS <= 16"));
  EXPECT_EQ(candidate.tunables[1].value, 2) << "the first, if none is said";
  EXPECT_THAT(candidate.tunables[1].requirements, ElementsAre("STEP > 1"));
  const ReplyCandidate brief = theOne(one(R"("tunables":{"BLOCK":[256,512]})") + kCode);
  ASSERT_EQ(brief.tunables.size(), 1u);
  EXPECT_EQ(brief.tunables[0].name, "BLOCK");
  EXPECT_EQ(brief.tunables[0].value, 256);
}

TEST(Contract, ReadsWhatIsExpectedPlannedAndWhyToStop) {
  const CodeReply reply = readReply(
      some({kLaunch +
            R"(,"expects":[{"metric":"dram__bytes.sum","factor":0.5},{"metric":"m","factor":0},
            {"metric":"registers","factor":2}],"check":[1])"},
           R"(,"plan":["split k","then\nclusters",3],"stop":"no more","mood":"good")"),
      contract());
  ASSERT_EQ(reply.candidates.size(), 1u);
  ASSERT_EQ(reply.candidates[0].expects.size(), 2u);
  EXPECT_EQ(reply.candidates[0].expects[0].metric, "dram__bytes.sum");
  EXPECT_EQ(reply.candidates[0].expects[0].factor, 0.5);
  EXPECT_EQ(reply.candidates[0].expects[1].metric, "registers");
  EXPECT_THAT(reply.plan, ElementsAre("split k", "then clusters"));
  EXPECT_EQ(reply.stop, "no more");
  EXPECT_THAT(reply.notes, ElementsAre(HasSubstr("\"mood\" of the header"),
                                       HasSubstr("\"check\" of candidate a"),
                                       HasSubstr("\"expects\" of candidate a")));
}

TEST(Contract, NotesWhatWasPassedOver) {
  EXPECT_THAT(readReply("```text\nx\n```\n" + kHeader + kCode, contract()).notes,
              ElementsAre(HasSubstr("without the label of a chunk")));
  EXPECT_THAT(readReply(some({kLaunch, kLaunch, kLaunch, kLaunch, kLaunch}), contract()).notes,
              ElementsAre(HasSubstr("candidate e is not read: a reply has at most 4")));
}

TEST(Contract, AcceptsTheUsualWaysToLabelABlock) {
  for (const char *info :
       {"cuda scale", "cpp chunk=scale", "scale", "chunk=scale", "cuda   chunk=scale", "c++ scale"})
    EXPECT_EQ(theOne(kHeader + "```" + info + "\nint x;\n```").chunks.count("scale"), 1u) << info;
  EXPECT_EQ(theOne(kHeader + "````cuda chunk=ns::twice#2\n// ```\nint x;\n````")
                .chunks.count("ns::twice#2"),
            1u);
  EXPECT_EQ(theOne(kHeader + "```operator ()\nint x;\n```").chunks.count("operator ()"), 1u);
}

TEST(Contract, AToolTakesTheSameObject) {
  const json candidate =
      json::parse(R"({"id":"a","title":"t","technique":"x","constants":{"TILE":8},
      "launch":{"block":[32,"TILE"]},"chunks":{"scale":"int x;\n"}})");
  const CodeReply reply = readCandidate(candidate, contract());
  ASSERT_EQ(reply.candidates.size(), 1u);
  EXPECT_EQ(reply.candidates[0].id, "a");
  EXPECT_EQ(reply.candidates[0].chunks.at("scale"), "int x;\n");
  EXPECT_EQ(reply.candidates[0].constants.at("TILE"), 8);
  EXPECT_THAT(
      readCandidate(json::parse(R"({"title":"t","chunks":{"gone":"x"}, "base": 1})"), contract()),
      AllOf(Field(&CodeReply::candidates, IsEmpty()),
            Field(&CodeReply::breaches, ElementsAre(Field(&ReplyBreach::where, "/chunks/gone"))),
            Field(&CodeReply::notes, ElementsAre(HasSubstr("\"base\" of candidate 1")))));
  EXPECT_THAT(readCandidate(json(3), contract()).breaches,
              ElementsAre(Field(&ReplyBreach::where, "/")));
  EXPECT_EQ(candidateSchema()["properties"]["launch"]["properties"]["block"]["maximum"], 1024);
}

TEST(Contract, RefusesElisions) {
  for (const char *line :
       {"// ... rest unchanged", "/* ... existing code ... */", "// …", "  ...",
        "// rest of the kernel", "// the rest of the code stays", "// Omitted for brevity",
        "// ... same as before", "// original implementation here", "// body unchanged"})
    EXPECT_THAT(
        readReply(kHeader + "```cuda chunk=scale\nint x;\n" + line + "\n```", contract()).breaches,
        ElementsAre(Field(&ReplyBreach::what, HasSubstr("leaves code out"))))
        << line;
}

TEST(Contract, DoesNotMistakeCodeOrOldCommentsForElisions) {
  for (const char *line :
       {"template <class... Args> void f(Args... args);", "// sum of 0, 1, ..., n - 1",
        "int rest = n % 4; // the rest is added by one thread",
        "x = y; // keep the value in a register"})
    EXPECT_EQ(findElision(line, ""), "") << line;
  EXPECT_EQ(findElision("// ... as before", contract().chunks["ns::twice#2"]), "");
  EXPECT_EQ(findElision(std::string(100000, '.'), ""), "");
}

TEST(Contract, KeepsTitlesToOneShortLine) {
  const ReplyCandidate candidate = theOne(
      fencedJson("{\"title\":\"a\\nb\\u0007" + std::string(500, 'x') + "\",\"technique\":\"b\"}") +
      kCode);
  EXPECT_EQ(candidate.title.find('\n'), std::string::npos);
  EXPECT_EQ(candidate.title.size(), 120u);
}

TEST(Contract, MakesStrictJson) {
  EXPECT_EQ(strictJson("{\"a\": [1, 2,], // x \"\n/* } */ }"), "{\"a\": [1, 2 ]  \n  }");
  EXPECT_EQ(strictJson("\"a\tb\\\"c // d, }\""), "\"a\\u0009b\\\"c // d, }\"");
  EXPECT_EQ(json::parse(strictJson("\"f(a, \\\n b)\"")), "f(a, \\\n b)");
  EXPECT_EQ(strictJson("/* not closed"), " ");
  EXPECT_EQ(strictJson(std::string(40, '[')), "");
}

} // namespace
} // namespace kopt
