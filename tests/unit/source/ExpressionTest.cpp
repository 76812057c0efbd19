// SPDX-License-Identifier: Apache-2.0
#include "driver/source/Expression.h"
#include "tests/fakes/Results.h"

#include <gmock/gmock.h>
#include <limits>

namespace kopt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Bindings kNames = {{"n", 1000},      {"TILE", 32},
                         {"ns::kRows", 8}, {"size.x", 640},
                         {"v.size()", 77}, {"p->width", 5},
                         {"zero", 0},      {"half", 512},
                         {"dims[1]", 9},   {"big", std::numeric_limits<std::int64_t>::max()}};

std::int64_t value(const std::string &text) {
  auto result = evaluateExpression(text, kNames);
  EXPECT_TRUE(result.has_value()) << text << ": " << (result ? "" : result.error().what);
  return result.value_or(-999);
}

std::string error(const std::string &text) {
  auto result = evaluateExpression(text, kNames);
  EXPECT_FALSE(result.has_value()) << text << " = " << result.value_or(0);
  if (result)
    return "";
  EXPECT_EQ(result.error().code, ErrorCode::Usage);
  return result.error().what;
}

TEST(Expression, FollowsThePrecedenceOfC) {
  EXPECT_EQ(value("1 + 2 * 3"), 7);
  EXPECT_EQ(value("(1 + 2) * 3"), 9);
  EXPECT_EQ(value("10 - 3 - 2"), 5);
  EXPECT_EQ(value("1 << 2 + 1"), 8);
  EXPECT_EQ(value("1 | 2 ^ 3 & 4"), 3);
  EXPECT_EQ(value("7 & 3 == 3"), 1);
  EXPECT_EQ(value("-7 / 2"), -3);
  EXPECT_EQ(value("-7 % 3"), -1);
  EXPECT_EQ(value("!n || ~0 == -1 && 1"), 1);
  EXPECT_EQ(value("n > 5 ? 1 : n > 3 ? 2 : 3"), 1);
}

TEST(Expression, ReadsLiterals) {
  EXPECT_EQ(value("0x20u"), 32);
  EXPECT_EQ(value("010"), 8);
  EXPECT_EQ(value("0b101"), 5);
  EXPECT_EQ(value("1'000'000LL"), 1000000);
  EXPECT_EQ(value("256ULL"), 256);
  EXPECT_EQ(value("true + false"), 1);
  EXPECT_THAT(error("12abc"), HasSubstr("malformed number '12abc' in '12abc' at column 1"));
  EXPECT_THAT(error("99999999999999999999"), HasSubstr("too large"));
}

TEST(Expression, ReadsGridSizesAsProgramsSpellThem) {
  EXPECT_EQ(value("(n + TILE - 1) / TILE"), 32);
  EXPECT_EQ(value("std::min((int)n, 512)"), 512);
  EXPECT_EQ(value("::max(n, 5)"), 1000);
  EXPECT_EQ(value("ceil_div(n, TILE)"), 32);
  EXPECT_EQ(value("cuda::ceil_div(n, 1000)"), 1);
  EXPECT_EQ(value("ceil(n / 32.0f)"), 32);
  EXPECT_EQ(value("(int)ceilf((float)n / TILE)"), 32);
  EXPECT_EQ(value("TILE * (TILE + 1) * sizeof(float)"), 32 * 33 * 4);
  EXPECT_EQ(value("sizeof(float4) + sizeof(double *) + sizeof(unsigned long long)"), 32);
  EXPECT_EQ(value("static_cast<unsigned int>(n) * ns::kRows"), 8000);
  EXPECT_EQ(value("std::size_t(n) * size_t(2)"), 2000);
  EXPECT_EQ(value("(std::uint8_t)300"), 44);
  EXPECT_EQ(value("(signed char)200"), -56);
  EXPECT_EQ(value("size.x + v.size() + p->width + dims[1]"), 731);
}

TEST(Expression, KnowsElementsByTheirWholeName) {
  const Bindings elements = {
      {"sizes[i-1]", 96}, {"plan.dims[k].x", 8}, {"v[0].size()", 5}, {"p->q[2]", 4}};
  const auto value = [&](const std::string &text) {
    const auto result = evaluateExpression(text, elements);
    EXPECT_TRUE(result.has_value()) << result.error().what;
    return result.value_or(-1);
  };
  EXPECT_EQ(value("(sizes[i - 1] + 31) / 32"), 3);
  EXPECT_EQ(value("plan.dims[ k ].x * v[0].size()"), 40);
  EXPECT_EQ(value("p->q[2]"), 4);
  EXPECT_EQ(namesIn("sizes[i - 1] * n").value(), (std::vector<std::string>{"sizes[i-1]", "n"}));
  EXPECT_FALSE(namesIn("sizes[i").has_value());
  EXPECT_FALSE(namesIn("sizes[]").has_value());
  EXPECT_FALSE(namesIn("sizes[1].").has_value());
}

TEST(Expression, DoesNotEvaluateWhatIsNotReached) {
  EXPECT_EQ(value("zero && n / zero"), 0);
  EXPECT_EQ(value("zero == 0 || n / zero"), 1);
  EXPECT_EQ(value("zero ? n / zero : 3"), 3);
}

TEST(Expression, RefusesWhatHasNoValue) {
  EXPECT_THAT(error("n / zero"), HasSubstr("division by zero in 'n / zero' at column 3"));
  EXPECT_THAT(error("n % (TILE - 32)"), HasSubstr("division by zero"));
  EXPECT_THAT(error("big + 1"), HasSubstr("overflow"));
  EXPECT_THAT(error("big * 2"), HasSubstr("overflow"));
  EXPECT_THAT(error("(-big - 1) / -1"), HasSubstr("overflow"));
  EXPECT_THAT(error("1 << 64"), HasSubstr("shift by 64"));
  EXPECT_THAT(error("1 << 63"), HasSubstr("overflow"));
  EXPECT_THAT(error("ceil(n / 32)"), HasSubstr("'ceil' of an integer"));
  EXPECT_THAT(error("1.5 % 2"), HasSubstr("'%' of a floating-point value"));
}

TEST(Expression, ATypeIsNoValueAndHalfIsAName) {
  EXPECT_THAT(error("long"), HasSubstr("'long' is a type"));
  EXPECT_THAT(error("n + unsigned"), HasSubstr("'unsigned' is a type"));
  EXPECT_FALSE(namesIn("size_t").has_value());
  EXPECT_EQ(value("(half) - 1"), 511) << "a difference, no cast";
  EXPECT_EQ(value("sizeof(half) * n"), 2000);
  EXPECT_EQ(value("(size_t)n + (long long)-1"), 999);
}

TEST(Expression, ListsAllNamesWithoutAValue) {
  EXPECT_EQ(error("rows * n + cols * rows"), "no value for rows, cols in 'rows * n + cols * rows'");
  EXPECT_EQ(namesIn("b + a * ns::c + b + sizeof(int) + min(d, 1)").value(),
            (std::vector<std::string>{"b", "a", "ns::c", "d"}));
}

TEST(Expression, NamesTheColumnOfASyntaxError) {
  EXPECT_THAT(error(""), HasSubstr("ends too early"));
  EXPECT_THAT(error("1 +"), HasSubstr("ends too early in '1 +' at column 4"));
  EXPECT_THAT(error("(1"), HasSubstr("missing ')'"));
  EXPECT_THAT(error("1 2"), HasSubstr("unexpected '2' in '1 2' at column 3"));
  EXPECT_THAT(error("n = 3"), HasSubstr("unexpected '='"));
  EXPECT_THAT(error("f(n)"), HasSubstr("unknown function 'f'"));
  EXPECT_THAT(error("min(1)"), HasSubstr("takes 2 arguments"));
  EXPECT_THAT(error("sizeof(Foo)"), HasSubstr("unknown type 'Foo'"));
  EXPECT_THAT(error(std::string(5000, '(')), HasSubstr("too many nested"));
  EXPECT_THAT(error(std::string(5000, '-') + "1"), HasSubstr("too many nested"));
  std::string sum = "1";
  for (int i = 0; i < 5000; ++i)
    sum += "+1";
  EXPECT_THAT(error(sum), HasSubstr("too many operators"));
  EXPECT_THAT(error("0bu"), HasSubstr("malformed number"));
  EXPECT_THAT(error("a[0]."), HasSubstr("expected a name"));
  EXPECT_THAT(error("abs(-9223372036854775807 - 1)"), HasSubstr("overflow"));
}

TEST(Expression, ParsedOnceIsEvaluatedOverManyPoints) {
  const Expression sum = Expression::parse("b * b + a <= 1024 && a % 4 == 0").value();
  ASSERT_THAT(sum.names(), ElementsAre("b", "a"));
  for (std::int64_t b = 1; b <= 64; ++b)
    for (std::int64_t a = 1; a <= 64; ++a)
      ASSERT_EQ(sum.evaluate(std::vector{b, a}).value(), b * b + a <= 1024 && a % 4 == 0);
  EXPECT_EQ(sum.evaluate(Bindings{{"a", 8}, {"b", 2}, {"c", 1}}).value(), 1);
  EXPECT_EQ(sum.evaluate(Bindings{{"c", 1}}).error().what,
            "no value for b, a in 'b * b + a <= 1024 && a % 4 == 0'");
}

TEST(Expression, NestsDeeperThanItsUsualStack) {
  std::string text = "1";
  for (int i = 0; i < 90; ++i)
    text = "1 + (" + text + ")";
  EXPECT_EQ(value(text), 91);
}

TEST(Expression, AConditionLeavesOneOfItsTwoValues) {
  EXPECT_EQ(value("1 + (zero ? 2 : 3) * (n ? 4 : 5)"), 13);
  EXPECT_EQ(value("(zero || 7) + (n && 9)"), 2);
  EXPECT_EQ(value("min(zero ? 1 : 8, n && zero ? 6 : 7)"), 7);
}

TEST(Expression, SubscriptsArePartsOfNamesAndHaveNoValues) {
  const Bindings names = {{"t[a?1:2]", 5}, {"x", 1}};
  EXPECT_EQ(evaluateExpression("x + t[a ? 1 : 2] + x", names).value(), 7);
  EXPECT_THAT(namesIn("x + t[a ? 1 : 2] + x").value(), ElementsAre("x", "t[a?1:2]"));
}

/// Of metrics, in double precision.
Result<double> real(const std::string &text) {
  static const std::map<std::string, double> kMetrics = {
      {"a.sum", 6}, {"b__x.ratio", 4}, {"zero", 0}};
  KOPT_TRY(const Expression expression, Expression::parseReal(text));
  std::vector<double> values;
  for (const std::string &name : expression.names())
    values.push_back(kMetrics.at(name));
  return expression.evaluateReal(values);
}

TEST(Substituted, PartsOfTheTreeChangeAndNotOfTheText) {
  const std::map<std::string, std::string> texts = {{"n", "count"},      {"count", "n"},
                                                    {"size.x", "7"},     {"m", "(-1)"},
                                                    {"w * h / 4", "12"}, {"a + 1", "b"}};
  EXPECT_EQ(substituted("n*count+nn", texts), "count * n + nn");
  EXPECT_EQ(substituted("size.x + size.xy + size.n + a->n + n::m + n[1]", texts),
            "7 + size.xy + size.n + a->n + n::m + n[1]");
  EXPECT_EQ(substituted("a>n?m:n", texts), "a > count ? (-1) : count");
  EXPECT_EQ(substituted("min(((w*h) / 4), w * h / 4 + x)", texts), "min(((w * h) / 4), 12 + x)")
      << "parentheses within a part count";
  EXPECT_EQ(substituted("2 * (a + 1) - x / w * h / 4", texts), "2 * b - x / w * h / 4");
  EXPECT_EQ(substituted("n n", texts), "n n");
}

TEST(Substituted, WhatIsPrintedMeansTheSame) {
  for (const char *text : {"((n + TILE) - 1) / TILE", "n - (TILE - 1)", "-(-n) * ~3 + !zero",
                           "(int)(n / 32.0f) % 7", "static_cast<unsigned int>(n) << 1",
                           "n > 5 && zero ? sizeof(long long) : 0x10 | 1", "(n > 5 ? 1 : 2) * 3",
                           "std::min(n, ceil_div(n, 3)) + size.x", "n / (TILE * (half - 500))"}) {
    EXPECT_EQ(substituted(text, {}), text);
    EXPECT_EQ(value(substituted(text, {{"n", "(TILE * 31 + 8)"}})), value(text)) << text;
  }
}

TEST(Substituted, AnOperandStandsWithoutParentheses) {
  for (const char *text : {"n", "size.x", "32u", "min(n, 2)", "(n + 1)", "v.size()"})
    EXPECT_EQ(asOperand(text), text);
  EXPECT_EQ(asOperand("(n) + (1)"), "((n) + (1))");
  EXPECT_EQ(asOperand("-n"), "(-n)");
  EXPECT_EQ(asOperand("f(&x)"), "(f(&x))");
}

TEST(RealExpression, FollowsThePrecedenceOfC) {
  EXPECT_DOUBLE_EQ(real("1 + 2 * 3 - 4 / 2").value(), 5);
  EXPECT_DOUBLE_EQ(real("10 - 2 - 3").value(), 5);
  EXPECT_DOUBLE_EQ(real("-a.sum + 7.5 % 2").value(), -4.5);
  EXPECT_DOUBLE_EQ(real("1 < 2 && 2 > 3 || 1 == 1").value(), 1);
  EXPECT_DOUBLE_EQ(real("!(1 < 2)").value(), 0);
  EXPECT_DOUBLE_EQ(real("a.sum >= 6 && b__x.ratio != 5").value(), 1);
  EXPECT_DOUBLE_EQ(real("max(ceil(1.2), min(floor(9.9), 3))").value(), 3);
}

TEST(RealExpression, HasNoIntegersOnTheWay) {
  EXPECT_DOUBLE_EQ(real("1 / 2").value(), 0.5);
  EXPECT_DOUBLE_EQ(real("(a.sum > 1) / 4").value(), 0.25);
  EXPECT_DOUBLE_EQ(real("(1 && 2) / 4").value(), 0.25);
  EXPECT_DOUBLE_EQ(real("(int)(a.sum / 4) / 2").value(), 0.5);
  EXPECT_DOUBLE_EQ(real("ceil(a.sum / b__x.ratio)").value(), 2);
  EXPECT_DOUBLE_EQ(real("9223372036854775807 + 1").value(), 9223372036854775808.0);
}

TEST(RealExpression, RefusesWhatHasNoValue) {
  EXPECT_THAT(real("a.sum / zero > 1").error().what,
              "division by zero in 'a.sum / zero > 1' at column 7");
  EXPECT_THAT(real("a.sum % zero").error().what, HasSubstr("division by zero"));
  EXPECT_DOUBLE_EQ(real("zero > 0 && a.sum / zero > 1").value(), 0);
  EXPECT_THAT(real("1e308 * 10").error().what, HasSubstr("not a finite number"));
}

TEST(RealExpression, SaysWhereItIsWrong) {
  for (const char *text : {"", "1 +", "(1", "1 2", "a && ", "1..2", "sqrt(2)", "min(1)", "a = 1",
                           "a & b", "~a", "1 << 2", "ceil_div(a, 2)", ")", "a and b", "not a"}) {
    EXPECT_THAT(Expression::parseReal(text), fails({.what = HasSubstr("column")})) << text;
  }
}

} // namespace
} // namespace kopt
