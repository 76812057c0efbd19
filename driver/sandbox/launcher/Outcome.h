// SPDX-License-Identifier: Apache-2.0
// The outcome of a step of making a sandbox. This program contains no other code of kopt.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

namespace kopt::sandbox {

/// The step succeeded if `error` is empty. Otherwise `error` says what could not be done and why.
struct Outcome {
  std::string error;
  int code = 0; ///< errno of the call that failed
  bool ok() const { return error.empty(); }
};

/// A failure with the message "cannot WHAT: REASON", with the reason from errno.
inline Outcome failed(const std::string &what) {
  const int code = errno;
  return {"cannot " + what + ": " + std::error_code(code, std::generic_category()).message(), code};
}

/// Returns a failed Outcome if the call's result is below zero.
#define KOPT_SANDBOX_CALL(call, what)                                                              \
  do {                                                                                             \
    if ((call) < 0)                                                                                \
      return ::kopt::sandbox::failed(what);                                                        \
  } while (false)

#define KOPT_SANDBOX_STEP(step)                                                                    \
  do {                                                                                             \
    if (::kopt::sandbox::Outcome outcome_ = (step); !outcome_.ok())                                \
      return outcome_;                                                                             \
  } while (false)

} // namespace kopt::sandbox
