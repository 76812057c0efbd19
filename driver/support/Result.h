// SPDX-License-Identifier: Apache-2.0
// Expected failures are values, bugs are asserts, outcomes of candidates are data (see
// model/Trial.h). Only driver/cli turns an Error into text and an exit code.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace kopt {

/// Kinds of errors on which callers may act. The numbers are the exit codes of the process
/// (docs/exit-codes.md).
enum class ErrorCode {
  Usage = 1,          ///< a flag, a config key or an annotation is wrong
  BudgetEnded = 3,    ///< no verdict before the budget ended
  BaselineFailed = 4, ///< the user's own kernel does not build, run or repeat
  StaleInput = 5,     ///< source, workload or patch no longer match
  Environment = 6,    ///< a tool, a device or disk space is missing
  Internal = 70,      ///< a bug in kopt
  Interrupted = 130,  ///< stopped by the user; state is saved
};

/// An error for the user: what happened, where, and what to do about it.
struct Error {
  ErrorCode code = ErrorCode::Internal;
  std::string what;                 ///< one sentence, no trailing period
  std::string where;                ///< "file:line", "file" or empty
  std::string hint;                 ///< what to do, or empty
  std::vector<std::string> context; ///< outermost last: "while building candidate 12"
};

template <class T> using Result = tl::expected<T, Error>;
using Status = Result<void>;

[[nodiscard]] inline tl::unexpected<Error>
makeError(ErrorCode code, std::string what, std::string hint = {}, std::string where = {}) {
  return tl::unexpected<Error>(Error{code, std::move(what), std::move(where), std::move(hint), {}});
}

/// "what; hint"
inline std::string inWords(const Error &error) {
  return error.hint.empty() ? error.what : error.what + "; " + error.hint;
}

} // namespace kopt

#define KOPT_CONCAT_(a, b) a##b
#define KOPT_CONCAT(a, b) KOPT_CONCAT_(a, b)

/// `KOPT_TRY(auto x, mayFail());` binds the value or returns the error.
#define KOPT_TRY(declaration, expression)                                                          \
  auto KOPT_CONCAT(koptResult_, __LINE__) = (expression);                                          \
  if (!KOPT_CONCAT(koptResult_, __LINE__))                                                         \
    return tl::unexpected<::kopt::Error>(std::move(KOPT_CONCAT(koptResult_, __LINE__).error()));   \
  declaration = std::move(*KOPT_CONCAT(koptResult_, __LINE__))

/// `KOPT_CHECK(mayFail());` returns the error of a Status or a Result whose value is not needed.
/// One statement: an `else` after it belongs to the `if` before it.
#define KOPT_CHECK(expression)                                                                     \
  switch (0)                                                                                       \
  case 0:                                                                                          \
  default:                                                                                         \
    if (auto KOPT_CONCAT(koptStatus_, __LINE__) = (expression);                                    \
        KOPT_CONCAT(koptStatus_, __LINE__)) {                                                      \
    } else                                                                                         \
      return tl::unexpected<::kopt::Error>(std::move(KOPT_CONCAT(koptStatus_, __LINE__).error()))
