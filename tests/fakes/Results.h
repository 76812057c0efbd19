// SPDX-License-Identifier: Apache-2.0
// What tests expect of a Result: its value, or an error of which they name the parts.
#pragma once

#include "driver/support/Result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <source_location>

namespace kopt {

/// The value, and the end of the test where there is none.
template <class T, class E>
T must(tl::expected<T, E> result, std::source_location at = std::source_location::current()) {
  if (result)
    return std::move(*result);
  std::string message;
  if constexpr (std::is_same_v<E, Error>)
    message = result.error().what + " (" + result.error().hint + ")";
  else
    message = result.error();
  ADD_FAILURE_AT(at.file_name(), int(at.line())) << message;
  throw testing::AssertionException(testing::TestPartResult( // says nothing more of what is said
      testing::TestPartResult::kFatalFailure, at.file_name(), int(at.line()), message.c_str()));
}
template <class T>
T must(std::optional<T> value, std::source_location at = std::source_location::current()) {
  return must(value ? Result<T>(std::move(*value)) : makeError(ErrorCode::Internal, "no value"),
              at);
}

/// The parts of an error; one that is left out may be anything.
struct ErrorParts {
  testing::Matcher<ErrorCode> code = testing::_;
  testing::Matcher<const std::string &> what = testing::_, where = testing::_, hint = testing::_;
};

MATCHER_P(isErrorWith, parts,
          "is an error, its code " + testing::DescribeMatcher<ErrorCode>(parts.code) +
              ", its text " + testing::DescribeMatcher<const std::string &>(parts.what) +
              ", its place " + testing::DescribeMatcher<const std::string &>(parts.where) +
              ", its hint " + testing::DescribeMatcher<const std::string &>(parts.hint)) {
  if (arg) {
    *result_listener << "which is no error";
    return false;
  }
  const Error &error = arg.error();
  *result_listener << "which is error " << int(error.code) << " '" << error.what << "' at '"
                   << error.where << "' with the hint '" << error.hint << "'";
  return parts.code.Matches(error.code) && parts.what.Matches(error.what) &&
         parts.where.Matches(error.where) && parts.hint.Matches(error.hint);
}
/// EXPECT_THAT(result, fails({.code = ErrorCode::Usage, .hint = HasSubstr("--kernel")}))
inline auto fails(ErrorParts parts) { return isErrorWith(std::move(parts)); }

} // namespace kopt
