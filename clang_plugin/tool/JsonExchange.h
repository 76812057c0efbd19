// SPDX-License-Identifier: Apache-2.0
// Shared by kopt-frontend's subcommands for the driver: one JSON request on standard input, one
// JSON reply on standard output.
#pragma once

#include "clang_plugin/output/RecordJson.h"

#include <iostream>
#include <llvm/Support/Error.h>

namespace kopt::frontend {

/// Prints a reply on one line; text that is not UTF-8 is replaced.
void printReply(const nlohmann::json &reply);

/// Prints a reply that contains only an error; returns the exit status.
int failReply(const std::string &what, const std::string &where, const std::string &hint);

/// Reads a Request (Variants.h) and prints the result of `answer`, which is a record in an
/// llvm::Expected, or the error; returns the exit status.
template <class Request, class Answer> int answerRequest(Answer answer) {
  Request request;
  try {
    request = readRecord<Request>(nlohmann::json::parse(std::cin));
  } catch (const std::exception &error) {
    return failReply(error.what(), "the request on standard input",
                     "kopt and kopt-frontend must come from the same build");
  }
  auto reply = answer(request);
  if (!reply)
    return failReply(llvm::toString(reply.takeError()), "the slice of the kernel",
                     "the slice must parse with the kernel's own flags: run kopt-extract again if "
                     "the source changed");
  printReply(recordJson(*reply));
  return 0;
}

} // namespace kopt::frontend
