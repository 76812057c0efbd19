// SPDX-License-Identifier: Apache-2.0
#include "driver/app/ListFlow.h"

#include "driver/support/FileSystem.h"

namespace kopt {

Result<std::vector<KernelSpec>> listKernels(Services services, const SourceSettings &sources) {
  KOPT_TRY(const auto frontend, openFrontend(services));
  KOPT_TRY(const TemporaryDirectory scratch, TemporaryDirectory::create("kopt"));
  ExtractRequest request = extractRequest(sources, scratch.path());
  request.prove = false;
  KOPT_TRY(ExtractionResult extraction, frontend->extract(request));
  return std::move(extraction.kernels);
}

} // namespace kopt
