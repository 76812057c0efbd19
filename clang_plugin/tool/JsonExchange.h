// SPDX-License-Identifier: Apache-2.0
// What kopt-frontend's subcommands for the driver share: one JSON request on standard input, one
// JSON reply on standard output.
#pragma once

#include "clang_plugin/analysis/KernelSource.h"

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/Support/Error.h>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace kopt::frontend {

/// One line; text that is not UTF-8 is replaced.
void printReply(const nlohmann::json &reply);

/// Prints the reply that says why there is no other; returns the exit status.
int failReply(const std::string &what, const std::string &where, const std::string &hint);

/// failReply() of a slice that cannot be read.
int failOnSlice(llvm::Error error, const KernelSource &source);

/// Members slice, kernel, expression, flags, directory, arch; the first two must be there. Throws
/// json::exception.
void readSource(const nlohmann::json &input, KernelSource &source);

/// Answers a request of those members alone: prints what `answer` says, or why there is no answer;
/// returns the exit status.
int answerRequest(llvm::function_ref<llvm::Expected<nlohmann::json>(const KernelSource &)> answer);

} // namespace kopt::frontend
