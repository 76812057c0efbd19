// SPDX-License-Identifier: Apache-2.0
// The JSON requests of `kopt-frontend transforms`, `screen`, `emulate`, `mutate`, `reference` and
// `coverage`, without Clang: the answers are made here, from the request alone.
#include "clang_plugin/analysis/RawTokens.h"
#include "clang_plugin/coverage/Coverage.h"
#include "clang_plugin/emulate/CompileModule.h"
#include "clang_plugin/extract/HostText.h"
#include "clang_plugin/model/Describe.h"
#include "clang_plugin/mutate/Mutate.h"
#include "clang_plugin/reference/Reference.h"
#include "clang_plugin/screen/Screen.h"
#include "clang_plugin/tool/Tools.h"
#include "clang_plugin/transform/Catalogue.h"
#include "clang_plugin/transform/GuardedBody.h"
#include "clang_plugin/transform/OwnSpecialization.h"
#include "tests/fuzz/Fuzz.h"

#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

using kopt::fuzz::require;

namespace kopt::frontend {

llvm::Expected<OfferList> findOffers(const TransformRequest &request) {
  for (const LaunchShape &launch : request.launches)
    for (std::size_t i = 0; i < 3; ++i)
      require(launch.grid[i] > 0 && launch.block[i] > 0, "no launch is empty");
  Offer offer;
  offer.technique = request.source.kernel;
  offer.title = request.source.expression;
  offer.edits.push_back({0, unsigned(request.source.slice.size()), request.source.slice});
  return OfferList{{offer}, {}};
}

namespace model {
llvm::Expected<ModelReply> describeModel(const ModelRequest &) { return ModelReply(); }
} // namespace model

llvm::Expected<ChunkReply> guardBody(const GuardRequest &) { return ChunkReply{}; }
llvm::Expected<ChunkReply> specializeKernel(const SpecializeRequest &) { return ChunkReply{}; }

llvm::Expected<std::vector<ScreenFinding>> screenCandidate(const ScreenRequest &request) {
  return std::vector<ScreenFinding>{
      {"id", ScreenSeverity::Flag, request.candidate + request.baselineExpression, 1}};
}

llvm::Expected<MutationList> findMutants(const MutateRequest &request) {
  MutationList list;
  list.found = request.wanted.atMost;
  Mutation mutant;
  mutant.op = request.wanted.operators.empty() ? request.file : request.wanted.operators.back();
  mutant.title = request.source.slice;
  mutant.mayBeEqual = std::to_string(request.wanted.seed);
  list.mutations.push_back(mutant);
  return list;
}

llvm::Expected<ReferenceClone> makeReferenceClone(const KernelSource &request) {
  ReferenceClone clone;
  clone.slice = request.slice;
  clone.expression = request.expression;
  if (request.slice.empty())
    clone.refusals.push_back({"empty", request.kernel, 0});
  return clone;
}

llvm::Expected<CoverageClone> markCoverage(const KernelSource &request) {
  CoverageClone clone;
  clone.slice = request.slice;
  clone.variable = request.kernel;
  return clone;
}

llvm::Expected<HostText> readHostText(const HostRequest &) { return HostText{}; }

DigestReply digestsOf(const DigestRequest &) { return DigestReply{}; }

namespace emulate {
bool compileModule(const EmulateRequest &request, const std::string &, ModulePlan &,
                   std::string &log) {
  log += request.slice + request.expression;
  return false;
}
} // namespace emulate

} // namespace kopt::frontend

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  using namespace kopt::frontend;
  std::string_view input = kopt::fuzz::textOf(data, size);
  using Tool = int (*)(int, const char **);
  constexpr Tool kTools[] = {runTransforms, runScreen,    runEmulate,
                             runMutate,     runReference, runCoverage};
  const Tool tool = kTools[kopt::fuzz::takeChoice(input, 6)];
  std::istringstream in{std::string(input)};
  std::ostringstream out;
  std::cin.clear();
  std::streambuf *const oldIn = std::cin.rdbuf(in.rdbuf()), *const oldOut =
                                                                std::cout.rdbuf(out.rdbuf());
  const int status = tool(0, nullptr);
  std::cin.rdbuf(oldIn);
  std::cout.rdbuf(oldOut);
  require(status == 0 || status == 1, "a request is answered or refused");
  const nlohmann::json reply = nlohmann::json::parse(out.str(), nullptr, false);
  require(reply.is_object(), "the reply is a JSON object");
  require(reply.contains("error") == (status == 1), "a refusal says why");
  return 0;
}
