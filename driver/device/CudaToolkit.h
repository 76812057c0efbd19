// SPDX-License-Identifier: Apache-2.0
// What kopt uses of CUDA on this machine, looked up once and handed to all who need it. CudaRoot.h
// has the order in which the toolkit is chosen; nothing else in the driver looks for one.
//
// The tools and libraries of the chosen toolkit come first. What may be installed elsewhere is then
// looked for, in this order:
//
//   nvdisasm           NVDISASM_PATH (the program or its folder, as cuobjdump reads it), PATH
//   ncu                PATH, the newest version in /opt/nvidia/nsight-compute
//   compute-sanitizer  PATH
//   CUPTI              the folders of LD_LIBRARY_PATH, the system's library folders
//
// KOPT_CUPTI names libcupti.so (several are separated by colons) in place of this search. nvcc is
// the chosen toolkit's own. Where CUDA is hidden, or KOPT_CUDA_PATH is wrong, nothing is looked for
// at all, and each part gives that reason.
#pragma once

#include "clang_plugin/parse/CudaRoot.h"
#include "driver/support/Result.h"

#include <filesystem>
#include <vector>

namespace kopt {

struct CudaToolkit {
  /// A part that has not been looked up: of a default-made record.
  static tl::unexpected<Error> notLookedUp();

  CudaRoot root;
  std::string version; ///< "13.0"; empty where there is no toolkit or it does not say
  /// The programs, as absolute paths. An error is Environment: what is missing, and what to do.
  Result<std::filesystem::path> nvcc = notLookedUp(), nvdisasm = notLookedUp(), ncu = notLookedUp(),
                                computeSanitizer = notLookedUp();
  /// Files of libcupti that exist, the preferred one first; never empty.
  Result<std::vector<std::filesystem::path>> cupti = notLookedUp();

  static CudaToolkit find(const CudaSite &site = {});

  /// What kopt-runner has to read to count: the toolkit and the folders of CUPTI.
  std::vector<std::filesystem::path> folders() const;
  /// KOPT_CUPTI for kopt-runner; empty where there is no CUPTI.
  std::string cuptiForChildren() const;
};

/// Why a part is missing, as "what: hint", for a sentence within another record.
inline std::string inWords(const Error &error) {
  return error.what + (error.hint.empty() ? "" : ": " + error.hint);
}

} // namespace kopt
