// SPDX-License-Identifier: Apache-2.0
#include "driver/search/diagnose/MetricExpression.h"

#include <gtest/gtest.h>
#include <limits>
#include <map>

namespace kopt {
namespace {

const std::map<std::string, double> kMetrics{{"a.sum", 6},
                                             {"b__x.ratio", 4},
                                             {"zero", 0},
                                             {"nan", std::numeric_limits<double>::quiet_NaN()}};

tl::expected<double, std::string> evaluate(const std::string &text) {
  auto expression = Expression::parse(text);
  EXPECT_TRUE(expression) << text;
  return expression->evaluate([](const std::string &name) -> std::optional<double> {
    auto found = kMetrics.find(name);
    return found == kMetrics.end() ? std::nullopt : std::optional<double>(found->second);
  });
}

TEST(Expression, followsTheUsualPrecedence) {
  EXPECT_DOUBLE_EQ(*evaluate("1 + 2 * 3 - 4 / 2"), 5);
  EXPECT_DOUBLE_EQ(*evaluate("(1 + 2) * 3"), 9);
  EXPECT_DOUBLE_EQ(*evaluate("10 - 2 - 3"), 5);
  EXPECT_DOUBLE_EQ(*evaluate("-a.sum + 7.5 % 2"), -4.5);
  EXPECT_DOUBLE_EQ(*evaluate("1 < 2 and 2 > 3 or 1 == 1"), 1);
  EXPECT_DOUBLE_EQ(*evaluate("not 1 < 2"), 0);
  EXPECT_DOUBLE_EQ(*evaluate("a.sum >= 6 and b__x.ratio != 5"), 1);
  EXPECT_DOUBLE_EQ(*evaluate("max(ceil(1.2), min(floor(9.9), 3))"), 3);
}

TEST(Expression, aMissingNameIsAReasonNeverZero) {
  auto value = evaluate("a.sum > 1 and gone.sum > 0");
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error(), "metric gone.sum is missing");
}

TEST(Expression, everyNameMustHaveAValueEvenWhereItIsNotReached) {
  EXPECT_FALSE(evaluate("a.sum > 100 and gone.sum > 0"));
}

TEST(Expression, aNanIsAReason) {
  EXPECT_EQ(evaluate("nan < 1").error(), "metric nan is not a finite number");
}

TEST(Expression, aDivisionByZeroIsAReasonUnlessGuarded) {
  EXPECT_EQ(evaluate("a.sum / zero > 1").error(), "a division by zero");
  EXPECT_EQ(evaluate("a.sum % zero").error(), "a division by zero");
  EXPECT_DOUBLE_EQ(*evaluate("zero > 0 and a.sum / zero > 1"), 0);
}

TEST(Expression, namesAreListedOnce) {
  auto expression = Expression::parse("x.a + y * x.a");
  ASSERT_TRUE(expression);
  EXPECT_EQ(expression->names(), (std::vector<std::string>{"x.a", "y"}));
}

TEST(Expression, saysWhereItIsWrong) {
  for (const char *text :
       {"", "1 +", "(1", "1 2", "a > and", "1..2", "sqrt(2)", "min(1)", "a = 1", "a & b", ")"}) {
    auto expression = Expression::parse(text);
    ASSERT_FALSE(expression) << text;
    EXPECT_NE(expression.error().what.find("column"), std::string::npos) << expression.error().what;
  }
}

} // namespace
} // namespace kopt
