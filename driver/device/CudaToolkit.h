// SPDX-License-Identifier: Apache-2.0
// The parts of CUDA that kopt uses on this machine, looked up once. CudaRoot.h has the order in
// which the toolkit is chosen; nothing else in the driver looks for one.
//
// The tools and libraries of the chosen toolkit come first. Parts that may be installed elsewhere
// are then looked for in these places, in order:
//
//   nvdisasm           NVDISASM_PATH (the program or its folder, as cuobjdump reads it), PATH
//   ncu                PATH, the newest version in /opt/nvidia/nsight-compute
//   compute-sanitizer  PATH
//   CUPTI              the folders of LD_LIBRARY_PATH, the system's library folders
//
// KOPT_CUPTI replaces this search with the path of libcupti.so, or several paths separated by
// colons. nvcc is always the chosen toolkit's own. If CUDA is hidden, or KOPT_CUDA_PATH is wrong,
// nothing is looked for, and each part gives that reason.
#pragma once

#include "clang_plugin/parse/CudaRoot.h"
#include "driver/support/Result.h"

#include <filesystem>
#include <vector>

namespace kopt {

struct CudaToolkit {
  /// The error of a part that has not been looked up, as in a default-constructed record.
  static tl::unexpected<Error> notLookedUp();

  CudaRoot root;
  std::string version; ///< "13.0"; empty if there is no toolkit or its version is unknown
  /// The programs, as absolute paths. Errors are Environment and say what is missing and what to
  /// do.
  Result<std::filesystem::path> nvcc = notLookedUp(), nvdisasm = notLookedUp(), ncu = notLookedUp(),
                                computeSanitizer = notLookedUp();
  /// Existing files of libcupti, the preferred one first; never empty.
  Result<std::vector<std::filesystem::path>> cupti = notLookedUp();

  static CudaToolkit find(const CudaSite &site = {});

  /// The folders that kopt-runner has to read to take counters: the toolkit and those of CUPTI.
  std::vector<std::filesystem::path> folders() const;
  /// The value of KOPT_CUPTI for kopt-runner; empty if there is no CUPTI.
  std::string cuptiForChildren() const;
};

} // namespace kopt
