// SPDX-License-Identifier: Apache-2.0
// How a step of making a sandbox ended. This program has no other code of kopt in it.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

namespace kopt::sandbox {

/// Empty: done. Otherwise what could not be done and why.
struct Outcome {
  std::string error;
  int code = 0; ///< errno of the call that failed
  bool ok() const { return error.empty(); }
};

/// "cannot WHAT: the reason of errno".
inline Outcome failed(const std::string &what) {
  const int code = errno;
  return {"cannot " + what + ": " + std::error_code(code, std::generic_category()).message(), code};
}

/// A signed call's result that is below zero becomes an Outcome, which is returned.
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
