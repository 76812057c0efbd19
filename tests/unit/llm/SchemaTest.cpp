// SPDX-License-Identifier: Apache-2.0
#include "driver/llm/Schema.h"

#include <gmock/gmock.h>

namespace kopt {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

const json kSchema = json::parse(R"j({
  "type": "object", "additionalProperties": false, "required": ["kernel"],
  "properties": {
    "kernel": {"type": "string", "maxLength": 8},
    "stage": {"enum": ["build", "verify"]},
    "repeats": {"type": "integer", "minimum": 1, "maximum": 9},
    "share": {"type": ["number", "null"]},
    "values": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "integer"}},
    "sizes": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}}
  }})j");

std::vector<std::string> breachesOf(const char *value) {
  std::vector<std::string> texts;
  for (const SchemaBreach &breach : schemaBreaches(json::parse(value), kSchema))
    texts.push_back(breach.text());
  return texts;
}

TEST(Schema, TakesWhatItDescribes) {
  EXPECT_THAT(breachesOf(R"({"kernel": "k"})"), IsEmpty());
  EXPECT_THAT(breachesOf(R"({"kernel": "k", "stage": "build", "repeats": 9.0, "share": null,
                             "values": [1, -2]})"),
              IsEmpty());
}

TEST(Schema, NamesEachBreachByItsPointer) {
  EXPECT_THAT(breachesOf("[]"), ElementsAre("/: object is expected, not array"));
  EXPECT_THAT(breachesOf(R"({"stage": "run", "more": 1})"),
              ElementsAre("/: \"kernel\" is missing", "/: there is no \"more\"",
                          "/stage: one of [\"build\",\"verify\"] is expected"));
  EXPECT_THAT(breachesOf(R"({"kernel": "much too long", "repeats": 0, "share": "x"})"),
              ElementsAre("/kernel: at most 8 bytes are expected",
                          "/repeats: at least 1 is expected",
                          "/share: number or null is expected, not string"));
  EXPECT_THAT(breachesOf(R"({"kernel": 1, "repeats": 2.5, "values": [1, "2", 3]})"),
              ElementsAre("/kernel: string is expected, not number",
                          "/repeats: integer is expected, not number",
                          "/values: at most 2 elements are expected",
                          "/values/1: integer is expected, not string"));
  EXPECT_THAT(breachesOf(R"({"kernel": "k", "values": []})"),
              ElementsAre("/values: at least 1 elements are expected"));
}

TEST(Schema, MembersOfAnyNameMayHaveASchema) {
  EXPECT_THAT(breachesOf(R"({"kernel": "k", "sizes": {"n": 3, "m/2": 0, "k": "x"}})"),
              ElementsAre("/sizes/k: integer is expected, not string",
                          "/sizes/m~12: at least 1 is expected"));
}

TEST(Schema, ANumberBeyondWholeNumbersIsNone) {
  EXPECT_THAT(breachesOf(R"({"kernel": "k", "repeats": 1e300})"),
              ElementsAre("/repeats: integer is expected, not number"));
}

} // namespace
} // namespace kopt
