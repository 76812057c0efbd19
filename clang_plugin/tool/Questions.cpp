// SPDX-License-Identifier: Apache-2.0
// The subcommands of kopt-frontend that answer one question about a slice: JSON in, JSON out.
#include "clang_plugin/coverage/Coverage.h"
#include "clang_plugin/emulate/Emulate.h"
#include "clang_plugin/extract/HostText.h"
#include "clang_plugin/mutate/Mutate.h"
#include "clang_plugin/reference/Reference.h"
#include "clang_plugin/screen/Screen.h"
#include "clang_plugin/tool/JsonExchange.h"
#include "clang_plugin/tool/Tools.h"
#include "clang_plugin/transform/Catalogue.h"
#include "clang_plugin/transform/GuardedBody.h"

namespace kopt::frontend {

int runTransforms(int, const char **) {
  return answerRequest<TransformRequest>(
      [](const TransformRequest &request) -> llvm::Expected<OfferList> {
        auto offers = findOffers(request);
        if (!offers)
          return offers.takeError();
        return OfferList{std::move(*offers)};
      });
}

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
int runMutate(int, const char **) { return answerRequest<MutateRequest>(findMutants); }
int runReference(int, const char **) { return answerRequest<KernelSource>(makeReferenceClone); }
int runCoverage(int, const char **) { return answerRequest<KernelSource>(markCoverage); }

int runHost(int, const char **) { return answerRequest<HostRequest>(readHostText); }

int runEmulate(int, const char **) {
  return answerRequest<EmulateRequest>([](const EmulateRequest &request) {
    return llvm::Expected<EmulateReply>(emulate::emulate(request));
  });
}

} // namespace kopt::frontend
