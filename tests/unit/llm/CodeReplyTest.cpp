// SPDX-License-Identifier: Apache-2.0
#include "driver/llm/CodeReply.h"
#include "tests/fakes/Results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopt {
namespace {

using testing::HasSubstr;

CodeContract contract() {
  CodeContract contract;
  contract.chunks["scale"] = "__global__ void scale(float *x) { x[threadIdx.x] *= 2; }\n";
  contract.chunks["ns::twice#2"] =
      "__device__ int twice(int a) { return a * 2; } // ... as before\n";
  contract.constants = {"TILE"};
  return contract;
}

const std::string kHeader =
    "```json\n{\"title\": \"t\", \"technique\": \"Shared Tiling\", \"rationale\": \"r\"}\n```\n";
const std::string kCode = "```cuda chunk=scale\n__global__ void scale(float *x) { x[threadIdx.x] "
                          "+= x[threadIdx.x]; }\n```\n";

std::string breach(const std::string &reply) {
  auto parsed = parseCodeReply(reply, contract());
  EXPECT_FALSE(parsed) << reply;
  return parsed ? "" : parsed.error();
}

TEST(CodeReply, ReadsHeaderAndChunks) {
  auto reply =
      must(parseCodeReply("Here is it.\n" + kHeader + "The kernel:\n" + kCode, contract()));
  EXPECT_EQ(reply.title, "t");
  EXPECT_EQ(reply.technique, "shared-tiling");
  EXPECT_EQ(reply.chunks.at("scale"),
            "__global__ void scale(float *x) { x[threadIdx.x] += x[threadIdx.x]; }\n");
  EXPECT_FALSE(reply.block);
}

TEST(CodeReply, ReadsLaunchAndConstants) {
  auto reply = must(
      parseCodeReply("```json\n{\"title\":\"a\",\"technique\":\"b\",\"rationale\":\"c\",\"launch\":"
                     "{\"block\":[64,2],"
                     "\"grid\":\"cover\",\"shared_bytes\":4096},\"constants\":{\"TILE\":16}}\n```",
                     contract()));
  EXPECT_EQ(*reply.block, (std::array<std::string, 3>{"64", "2", "1"}));
  EXPECT_TRUE(reply.coverGrid);
  EXPECT_EQ(*reply.sharedBytes, "4096");
  EXPECT_EQ(reply.constants.at("TILE"), 16);
}

TEST(CodeReply, ReadsLaunchExpressionsAndTunables) {
  const auto withHeader = [](const std::string &members) {
    return "```json\n{\"title\":\"a\",\"technique\":\"b\",\"rationale\":\"c\"," + members +
           "}\n```\n" + kCode;
  };
  const auto reply = must(parseCodeReply(
      withHeader(
          "\"launch\":{\"grid\":[\"(n + 31) / 32\",\"m / ROWS\"],\"block\":[32,\"ROWS\"],"
          "\"shared_bytes\":\"4 * ROWS\"},\"tunables\":[{\"name\":\"ROWS\",\"values\":[4,8,4],"
          "\"value\":8,\"requires\":[\"ROWS <= 16\"]},{\"name\":\"STEP\",\"values\":[2]}]"),
      contract()));
  EXPECT_EQ(*reply.grid, (std::array<std::string, 3>{"(n + 31) / 32", "m / ROWS", "1"}));
  EXPECT_EQ(*reply.block, (std::array<std::string, 3>{"32", "ROWS", "1"}));
  EXPECT_EQ(*reply.sharedBytes, "4 * ROWS");
  ASSERT_EQ(reply.tunables.size(), 2u);
  EXPECT_EQ(reply.tunables[0].values, (std::vector<std::int64_t>{4, 8}));
  EXPECT_EQ(reply.tunables[0].value, 8);
  EXPECT_EQ(reply.tunables[0].requirements, std::vector<std::string>{"ROWS <= 16"});
  EXPECT_EQ(reply.tunables[1].value, 2) << "the first, if none is said";
  EXPECT_THAT(breach(withHeader("\"tunables\":[{\"name\":\"2x\",\"values\":[1]}]")),
              HasSubstr("a name in C"));
  EXPECT_THAT(breach(withHeader("\"tunables\":[{\"name\":\"W\",\"values\":[]}]")),
              HasSubstr("\"values\" of the tunable \"W\""));
  EXPECT_THAT(breach(withHeader("\"tunables\":[{\"name\":\"W\",\"values\":[1],\"value\":3}]")),
              HasSubstr("not one of its values"));
  EXPECT_THAT(breach(withHeader("\"launch\":{\"block\":[\"ROWS\"],\"grid\":\"cover\"}")),
              HasSubstr("without numbers"));
}

TEST(CodeReply, AcceptsTheUsualWaysToLabelABlock) {
  for (const char *info :
       {"cuda scale", "cpp chunk=scale", "scale", "chunk=scale", "cuda   chunk=scale"})
    EXPECT_TRUE(parseCodeReply(kHeader + "```" + info + "\nint x;\n```", contract())) << info;
  EXPECT_TRUE(
      parseCodeReply(kHeader + "````cuda chunk=ns::twice#2\n// ```\nint x;\n````", contract()));
}

TEST(CodeReply, AModelMayStop) {
  auto reply = must(parseCodeReply("```json\n{\"stop\": \"at the memory roof\"}\n```", contract()));
  EXPECT_EQ(reply.stop, "at the memory roof");
}

TEST(CodeReply, SaysWhatBreaksTheContract) {
  EXPECT_THAT(breach("no code at all"), HasSubstr("no fenced block"));
  EXPECT_THAT(breach(kCode), HasSubstr("not the JSON header"));
  EXPECT_THAT(breach("```json\n{\"title\": }\n```"), HasSubstr("not one JSON object"));
  EXPECT_THAT(breach("```json\n{\"title\":\"a\",\"technique\":\"b\"}\n```\n" + kCode),
              HasSubstr("\"rationale\""));
  EXPECT_THAT(breach("```json\n{\"title\":1,\"technique\":\"b\",\"rationale\":\"c\"}\n```"),
              HasSubstr("\"title\""));
  EXPECT_THAT(breach(kHeader), HasSubstr("changes nothing"));
  EXPECT_THAT(breach(kHeader + "```cuda\nint x;\n```"),
              HasSubstr("labels are: chunk=ns::twice#2, chunk=scale"));
  EXPECT_THAT(breach(kHeader + kCode + kCode), HasSubstr("twice"));
  EXPECT_THAT(breach(kHeader + "```cuda chunk=scale\n\n```"), HasSubstr("is empty"));
  EXPECT_THAT(breach(kHeader + "```cuda chunk=scale\nint x;\n"), HasSubstr("not closed"));
}

TEST(CodeReply, RefusesLaunchesAndConstantsThatCannotBe) {
  auto header = [](const std::string &members) {
    return "```json\n{\"title\":\"a\",\"technique\":\"b\",\"rationale\":\"c\"," + members +
           "}\n```\n" + kCode;
  };
  EXPECT_THAT(breach(header("\"launch\":{\"block\":[0]}")), HasSubstr("from 1 to 1024"));
  EXPECT_THAT(breach(header("\"launch\":{\"block\":[1.5]}")), HasSubstr("from 1 to 1024"));
  EXPECT_THAT(breach(header("\"launch\":{\"block\":64}")), HasSubstr("launch.block"));
  EXPECT_THAT(breach(header("\"launch\":{\"grid\":\"cover\"}")), HasSubstr("without"));
  EXPECT_THAT(breach(header("\"launch\":{\"shared_bytes\":-4}")), HasSubstr("shared_bytes"));
  EXPECT_THAT(breach(header("\"launch\":{\"stream\":1}")), HasSubstr("\"stream\""));
  EXPECT_THAT(breach(header("\"constants\":{\"N\":4}")), HasSubstr("these are: TILE"));
  EXPECT_THAT(breach(header("\"constants\":{\"TILE\":18446744073709551615}")),
              HasSubstr("64 bits"));
  EXPECT_THAT(breach(header("\"constants\":{\"TILE\":\"4\"}")), HasSubstr("whole number"));
  EXPECT_THAT(breach(header("\"host\":\"code\"")), HasSubstr("\"host\""));
}

TEST(CodeReply, RefusesElisions) {
  for (const char *line :
       {"// ... rest unchanged", "/* ... existing code ... */", "// …", "  ...",
        "// rest of the kernel", "// the rest of the code stays", "// Omitted for brevity",
        "// ... same as before", "// original implementation here", "// body unchanged"})
    EXPECT_THAT(breach(kHeader + "```cuda chunk=scale\nint x;\n" + line + "\n```"),
                HasSubstr("leaves code out"))
        << line;
}

TEST(CodeReply, DoesNotMistakeCodeOrOldCommentsForElisions) {
  for (const char *line :
       {"template <class... Args> void f(Args... args);", "// sum of 0, 1, ..., n - 1",
        "int rest = n % 4; // the rest is added by one thread",
        "x = y; // keep the value in a register"})
    EXPECT_EQ(findElision(line, ""), "") << line;
  EXPECT_EQ(findElision("// ... as before", contract().chunks["ns::twice#2"]), "");
  EXPECT_EQ(findElision(std::string(100000, '.'), ""), "");
}

TEST(CodeReply, KeepsTitlesToOneShortLine) {
  auto reply = must(parseCodeReply("```json\n{\"title\":\"a\\nb\\u0007" + std::string(500, 'x') +
                                       "\",\"technique\":\"b\",\"rationale\":\"c\"}\n```\n" + kCode,
                                   contract()));
  EXPECT_EQ(reply.title.find('\n'), std::string::npos);
  EXPECT_EQ(reply.title.size(), 120u);
}

} // namespace
} // namespace kopt
