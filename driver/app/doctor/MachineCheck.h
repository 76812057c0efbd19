// SPDX-License-Identifier: Apache-2.0
// What `kopt doctor` finds, one thing at a time.
#pragma once

#include "driver/support/Result.h"

#include <string>
#include <utility>

namespace kopt {

enum class CheckOutcome {
  Ok,
  Optional, ///< missing, or worse than it could be; kopt tunes all the same
  Blocking, ///< kopt cannot tune here before this is put right
};

/// The check of something that kopt needs or can use.
struct MachineCheck {
  std::string name; ///< "nvcc", "sandbox: seccomp"; scripts look for it
  CheckOutcome outcome = CheckOutcome::Ok;
  std::string detail; ///< what was found, or what is wrong
  std::string remedy; ///< what to do if it is not ok; empty if it is ok or nothing can be done
  ErrorCode code = ErrorCode::Environment; ///< of the command, if this is what blocks it

  bool ok() const { return outcome == CheckOutcome::Ok; }
};

inline MachineCheck passed(std::string name, std::string detail) {
  return {std::move(name), CheckOutcome::Ok, std::move(detail), {}, ErrorCode::Environment};
}

inline MachineCheck failed(std::string name, CheckOutcome outcome, std::string detail,
                           std::string remedy, ErrorCode code = ErrorCode::Environment) {
  return {std::move(name), outcome, std::move(detail), std::move(remedy), code};
}

/// The same with what an error says.
inline MachineCheck failed(std::string name, CheckOutcome outcome, const Error &error) {
  // Many errors name the place in their sentence as well.
  const bool isNamed = error.what.find(error.where) != std::string::npos;
  return failed(std::move(name), outcome, isNamed ? error.what : error.where + ": " + error.what,
                error.hint, error.code);
}

} // namespace kopt
