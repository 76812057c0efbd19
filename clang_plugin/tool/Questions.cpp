// SPDX-License-Identifier: Apache-2.0
// The subcommands of kopt-frontend for the driver that answer one question about a slice: one JSON
// request on standard input, one JSON reply on standard output.
#include "clang_plugin/analysis/RawTokens.h"
#include "clang_plugin/coverage/Coverage.h"
#include "clang_plugin/emulate/Emulate.h"
#include "clang_plugin/extract/HostText.h"
#include "clang_plugin/model/Describe.h"
#include "clang_plugin/mutate/Mutate.h"
#include "clang_plugin/output/RecordJson.h"
#include "clang_plugin/reference/Reference.h"
#include "clang_plugin/screen/Screen.h"
#include "clang_plugin/tool/Tools.h"
#include "clang_plugin/transform/Catalogue.h"
#include "clang_plugin/transform/GuardedBody.h"
#include "clang_plugin/transform/OwnSpecialization.h"

#include <iostream>
#include <llvm/Support/Error.h>

namespace kopt::frontend {
namespace {

using nlohmann::json;

void dropNulls(json &value) {
  if (value.is_object())
    for (auto item = value.begin(); item != value.end();)
      item = item->is_null() ? value.erase(item) : std::next(item);
  if (value.is_structured())
    for (json &item : value)
      dropNulls(item);
}

/// Prints a reply that contains only an error; returns the exit status.
int failReply(const std::string &what, const std::string &where, const std::string &hint) {
  std::cout << printed({{"error", {{"what", what}, {"where", where}, {"hint", hint}}}}) << "\n";
  return 1;
}

/// Reads a Request (Variants.h) and prints the result of `answer`, which is a record in an
/// llvm::Expected, or the error; returns the exit status.
template <class Request, class Answer> int answerRequest(Answer answer) {
  Request request;
  if (const std::string problem = readDocument(json::parse(std::cin, nullptr, false), request);
      !problem.empty())
    return failReply(problem, "the request on standard input",
                     "kopt and kopt-frontend must come from the same build");
  auto reply = answer(request);
  if (!reply)
    return failReply(llvm::toString(reply.takeError()), "the slice of the kernel",
                     "the slice must parse with the kernel's own flags: run kopt-extract again if "
                     "the source changed");
  std::cout << printed(toJson(*reply)) << "\n";
  return 0;
}

} // namespace

std::string printed(json reply, int indent) {
  dropNulls(reply);
  return reply.dump(indent, ' ', /*ensure_ascii=*/false, json::error_handler_t::replace);
}

int runTransforms(int, const char **) { return answerRequest<TransformRequest>(findOffers); }

int runScreen(int, const char **) {
  return answerRequest<ScreenRequest>(
      [](const ScreenRequest &request) -> llvm::Expected<ScreenReply> {
        auto findings = screenCandidate(request);
        if (!findings)
          return findings.takeError();
        return ScreenReply{std::move(*findings)};
      });
}

int runGuard(int, const char **) { return answerRequest<GuardRequest>(guardBody); }
int runSpecialize(int, const char **) { return answerRequest<SpecializeRequest>(specializeKernel); }
int runMutate(int, const char **) { return answerRequest<MutateRequest>(findMutants); }
int runModel(int, const char **) { return answerRequest<ModelRequest>(model::describeModel); }
int runReference(int, const char **) { return answerRequest<KernelSource>(makeReferenceClone); }
int runCoverage(int, const char **) { return answerRequest<KernelSource>(markCoverage); }

int runCode(int, const char **) {
  return answerRequest<DigestRequest>(
      [](const DigestRequest &request) { return llvm::Expected<DigestReply>(digestsOf(request)); });
}

int runHost(int, const char **) { return answerRequest<HostRequest>(readHostText); }

int runEmulate(int, const char **) {
  return answerRequest<EmulateRequest>([](const EmulateRequest &request) {
    return llvm::Expected<EmulateReply>(emulate::emulate(request));
  });
}

} // namespace kopt::frontend
