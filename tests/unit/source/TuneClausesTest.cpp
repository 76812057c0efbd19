// SPDX-License-Identifier: Apache-2.0
#include "driver/source/TuneClauses.h"
#include "driver/support/FileSystem.h"
#include "tests/fakes/Results.h"

#include <gmock/gmock.h>

namespace kopt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

Result<TuneDeclaration> parse(std::initializer_list<const char *> texts) {
  std::vector<TuneClause> clauses;
  unsigned line = 12;
  for (const char *text : texts)
    clauses.push_back({text, "bad.cu", line++});
  return parseTuneDeclaration(clauses);
}

TuneDeclaration good(std::initializer_list<const char *> texts) {
  auto result = parse(texts);
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().what);
  return result.value_or(TuneDeclaration{});
}

Error bad(std::initializer_list<const char *> texts) {
  auto result = parse(texts);
  EXPECT_FALSE(result.has_value());
  if (result)
    return {};
  EXPECT_EQ(result.error().code, ErrorCode::Usage);
  return result.error();
}

std::vector<std::int64_t> values(const char *clause) {
  TuneDeclaration declaration = good({clause});
  return declaration.params.empty() ? std::vector<std::int64_t>{} : declaration.params[0].values;
}

TEST(TuneDeclaration, ReadsParams) {
  EXPECT_THAT(values("param TILE in {8, 16, 32}"), ElementsAre(8, 16, 32));
  EXPECT_THAT(values("param TILE in {-1, 1<<4}"), ElementsAre(-1, 16));
  EXPECT_THAT(values("param T in 32..128 step 32"), ElementsAre(32, 64, 96, 128));
  EXPECT_THAT(values("param T in 1..10 step 4"), ElementsAre(1, 5, 9));
  EXPECT_THAT(values("param T in 3..17 pow2"), ElementsAre(4, 8, 16));
  EXPECT_THAT(values("param ns::T in 2..4"), ElementsAre(2, 3, 4));
}

TEST(TuneDeclaration, ReadsTheNumbersOfAStruct) {
  const TuneDeclaration declaration = good({"arg scale = {1.5, n / 2, -3}", "arg n = 8"});
  EXPECT_THAT(declaration.argumentMembers,
              ElementsAre(Pair("scale", ElementsAre("1.5", "n / 2", "-3"))));
  EXPECT_THAT(declaration.arguments, ElementsAre(Pair("n", "8")));
  EXPECT_THAT(bad({"arg scale = {1, 2"}).what, HasSubstr("not closed by '}'"));
  EXPECT_THAT(bad({"arg scale = {}"}).what, HasSubstr("empty"));
  EXPECT_THAT(bad({"arg scale = {1, 2 +}"}).what, HasSubstr("arg scale"));
  EXPECT_THAT(bad({"arg scale = {1}", "arg scale = {2}"}).what, HasSubstr("declared twice"));
  EXPECT_THAT(bad({"arg scale = {1}", "arg scale = 2"}).what, HasSubstr("declared twice"));
}

TEST(TuneDeclaration, ReadsEveryOtherClause) {
  TuneDeclaration declaration = good(
      {"require TILE % ROWS == 0", "block TILE, min(ROWS, 4)", "grid ceil_div(n, TILE)",
       "arg n = 1 << 20", "extent in = rows * columns", "fill in = uniform(-1, 1.5)",
       "fill index = uniform(0, max(rows, columns) - 1)", "fill out = zero", "fill idx = iota",
       "fill c = constant(3)", "launch big one: n=4096, m = 2 * 8 weight 0.25 on cuda",
       "launch b: on emulated weight 2", "tolerance relative=1e-5 absolute=1e-8", "target 1.5"});
  EXPECT_THAT(declaration.requirements, ElementsAre("TILE % ROWS == 0"));
  EXPECT_THAT(declaration.block, ElementsAre("TILE", "min(ROWS, 4)"));
  EXPECT_THAT(declaration.grid, ElementsAre("ceil_div(n, TILE)"));
  EXPECT_THAT(declaration.arguments, ElementsAre(Pair("n", "1 << 20")));
  EXPECT_THAT(declaration.extents, ElementsAre(Pair("in", "rows * columns")));
  EXPECT_EQ(declaration.fills.at("in").low, -1);
  EXPECT_EQ(declaration.fills.at("in").high, 1.5);
  EXPECT_EQ(declaration.fillBounds,
            (decltype(declaration.fillBounds){{"index", {"", "max(rows, columns) - 1"}}}));
  EXPECT_EQ(declaration.fills.at("idx").kind, FillKind::Iota);
  EXPECT_EQ(declaration.fills.at("c").low, 3);
  ASSERT_EQ(declaration.launches.size(), 2u);
  EXPECT_EQ(declaration.launches[0].name, "big one");
  EXPECT_THAT(declaration.launches[0].arguments, ElementsAre(Pair("m", 16), Pair("n", 4096)));
  EXPECT_EQ(declaration.launches[0].weight, 0.25);
  EXPECT_EQ(declaration.launches[0].device, DeviceKind::Cuda);
  EXPECT_EQ(declaration.launches[1].device, DeviceKind::Emulated);
  EXPECT_EQ(declaration.launches[1].weight, 2);
  EXPECT_EQ(declaration.tolerance.policy, TolerancePolicy::User);
  EXPECT_EQ(declaration.tolerance.relative, 1e-5);
  EXPECT_EQ(declaration.target, 1.5);
  EXPECT_EQ(good({"tolerance strict"}).tolerance.policy, TolerancePolicy::Strict);
}

TEST(TuneDeclaration, AnEmptyRangeIsShownAtTheUsersLine) {
  Error error = bad({"require 1", "param TILE in 64..32"});
  EXPECT_EQ(error.where, "bad.cu:13");
  EXPECT_EQ(error.what, "param TILE has an empty range 64..32");
  EXPECT_THAT(error.hint, HasSubstr("32..64"));
}

TEST(TuneDeclaration, RefusesBadParams) {
  EXPECT_THAT(bad({"param TILE in {}"}).what, HasSubstr("no values"));
  EXPECT_THAT(bad({"param TILE in {1, 1}"}).what, HasSubstr("1 twice"));
  EXPECT_THAT(bad({"param TILE in {1, x}"}).what, HasSubstr("no value for x"));
  EXPECT_THAT(bad({"param TILE in {1"}).what, HasSubstr("not closed"));
  EXPECT_THAT(bad({"param TILE in 5..7 pow2"}).what, HasSubstr("no power of two in 5..7"));
  EXPECT_THAT(bad({"param TILE in 0..8 pow2"}).what, HasSubstr("powers of two from 0"));
  EXPECT_THAT(bad({"param TILE in 1..8 step 0"}).what, HasSubstr("step of 0"));
  EXPECT_THAT(bad({"param TILE in 1..1000000000"}).what, HasSubstr("more than 4096 values"));
  EXPECT_THAT(bad({"param TILE 8"}).what, HasSubstr("malformed param"));
  Error twice = bad({"param TILE in {1}", "param TILE in {2}"});
  EXPECT_EQ(twice.where, "bad.cu:13");
  EXPECT_THAT(twice.hint, HasSubstr("bad.cu:12"));
}

TEST(TuneDeclaration, ReadsValuesAndFiles) {
  const TuneDeclaration values = good({"fill shape = values(41, n / 2, -1.5)"});
  EXPECT_EQ(values.fills.at("shape").kind, FillKind::Values);
  EXPECT_THAT(values.fillValues.at("shape"), ElementsAre("41", "n / 2", "-1.5"));

  // Beside the file with the clause, wherever kopt runs.
  const TemporaryDirectory folder = std::move(*TemporaryDirectory::create("clauses"));
  const std::string data = (folder.path() / "data.bin").string();
  ASSERT_TRUE(writeFileAtomically(data, "abcd"));
  const auto file = must(parseTuneDeclaration(
      {{"fill x = file(\"data.bin\")", (folder.path() / "kopt.toml").string(), 3}}));
  EXPECT_EQ(file.fills.at("x").kind, FillKind::Values);
  EXPECT_EQ(file.fills.at("x").path, data);
  ASSERT_TRUE(writeFileAtomically(data, "abce"));
  const auto changed = must(parseTuneDeclaration(
      {{"fill x = file('data.bin')", (folder.path() / "kopt.toml").string(), 3}}));
  EXPECT_NE(changed.fills.at("x").hash, file.fills.at("x").hash);

  const Error missing = bad({"fill x = file(\"no/such.bin\")"});
  EXPECT_THAT(missing.what, HasSubstr("there is no file /"));
  EXPECT_THAT(missing.what, HasSubstr("no/such.bin"));
  EXPECT_EQ(missing.where, "bad.cu:12");
}

TEST(TuneDeclaration, RefusesWhatItDoesNotKnow) {
  Error error = bad({"parm TILE in {1}"});
  EXPECT_EQ(error.what, "unknown clause 'parm'");
  EXPECT_EQ(error.hint, "did you mean 'param'?");
  EXPECT_THAT(bad({""}).what, HasSubstr("empty clause"));
  EXPECT_THAT(bad({"require TILE %"}).what, HasSubstr("ends too early"));
  EXPECT_THAT(bad({"block 1, 2, 3, 4"}).what, HasSubstr("4 dimensions"));
  EXPECT_THAT(bad({"grid 1,,1"}).what, HasSubstr("ends too early"));
  EXPECT_THAT(bad({"block 1", "block 2"}).what, HasSubstr("declared twice"));
  EXPECT_THAT(bad({"arg n == 3"}).what, HasSubstr("malformed arg"));
  EXPECT_THAT(bad({"extent in = "}).what, HasSubstr("malformed extent"));
  EXPECT_THAT(bad({"fill in = gauss(0, 1)"}).what, HasSubstr("unknown fill 'gauss(0, 1)'"));
  EXPECT_THAT(bad({"fill in = uniform(0, (n)"}).what, HasSubstr("fill in"));
  EXPECT_THAT(bad({"fill in = uniform(0, n +)"}).what, HasSubstr("fill in"));
  EXPECT_THAT(bad({"fill in = uniform(1)"}).what, HasSubstr("unknown fill"));
  EXPECT_THAT(bad({"fill in = uniform(2, 1)"}).what, HasSubstr("empty range"));
  EXPECT_EQ(bad({"fill in = unifrom(0, 1)"}).hint, "did you mean 'uniform'?");
  EXPECT_THAT(bad({"fill in = values()"}).what, HasSubstr("no values"));
  EXPECT_THAT(bad({"fill in = values(1, )"}).what, HasSubstr("ends too early"));
  EXPECT_THAT(bad({"fill in = values"}).what, HasSubstr("parentheses"));
  EXPECT_THAT(bad({"fill in = file()"}).what, HasSubstr("names no file"));
  EXPECT_THAT(bad({"launch n=3"}).what, HasSubstr("malformed launch"));
  EXPECT_THAT(bad({"launch a: n=m"}).what, HasSubstr("no value for m"));
  EXPECT_THAT(bad({"launch a: n=1 weight -1"}).what, HasSubstr("weight of -1"));
  EXPECT_THAT(bad({"launch a: n=1 on tpu"}).what, HasSubstr("unknown device 'tpu'"));
  EXPECT_THAT(bad({"launch a: n=1", "launch a: n=2"}).what, HasSubstr("declared twice"));
  EXPECT_THAT(bad({"tolerance tight"}).what, HasSubstr("malformed tolerance"));
  EXPECT_THAT(bad({"tolerance relative=nan"}).what, HasSubstr("malformed tolerance"));
  EXPECT_THAT(bad({"target 0.9"}).what, HasSubstr("target is '0.9'"));
}

} // namespace
} // namespace kopt
