// SPDX-License-Identifier: Apache-2.0
#include "driver/app/Sources.h"

namespace kopt {

Result<std::unique_ptr<Frontend>> openFrontend(const Services &services,
                                               std::optional<CompilerSandbox> sandbox) {
  if (services.installation.frontend.empty())
    return makeError(ErrorCode::Environment,
                     "this build of kopt has no front end, so it cannot read CUDA sources",
                     "build kopt with KOPT_BUILD_FRONTEND=ON, or use the released package");
  if (!sandbox)
    sandbox = CompilerSandbox({}, {}, {}, services.installation.cuda.root.forChildren());
  return makeFrontend(services.processes, services.installation.frontend, std::move(*sandbox));
}

ExtractRequest extractRequest(const SourceSettings &sources, std::filesystem::path output) {
  ExtractRequest request;
  request.files = sources.files;
  request.buildDirectory = sources.buildDirectory;
  request.flags = sources.flags;
  request.output = std::move(output);
  return request;
}

} // namespace kopt
