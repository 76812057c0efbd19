// SPDX-License-Identifier: Apache-2.0
// Compilers that read text which nobody has vetted: they see their toolkit, the system's headers
// and the folders that the user's own flags name, and write to one folder.
#pragma once

#include "driver/sandbox/Sandbox.h"

namespace kopt {

struct CompilerSite {
  std::vector<std::string> flags;  ///< the user's own: every place they name can be read
  std::filesystem::path directory; ///< where relative flags are meant from
  std::vector<std::filesystem::path> readable, writable; ///< beside those
};

class CompilerSandbox {
public:
  /// `installation`: folders that the compilers are started from or read always. `cache`: a folder
  /// that only contained compilers use, or empty. `cudaPath` is KOPT_CUDA_PATH for the children:
  /// the folder of the CUDA toolkit, which they may read, or "none"; empty: as it is for kopt.
  explicit CompilerSandbox(Sandbox sandbox = {},
                           std::vector<std::filesystem::path> installation = {},
                           std::filesystem::path cache = {}, std::string cudaPath = {});

  /// `spec` with the CUDA toolkit that kopt has decided on, not contained: for the user's own
  /// files.
  ProcessSpec withToolkit(ProcessSpec spec) const;
  /// The same, contained. Its argv[0] must be an absolute path; the folder above its own can be
  /// read.
  ProcessSpec contain(ProcessSpec spec, const CompilerSite &site) const;

private:
  Sandbox sandbox_;
  std::vector<std::filesystem::path> installation_;
  std::filesystem::path cache_;
  std::string cudaPath_;
};

/// Diagnostics as they may be kept and shown to a model: UTF-8, no control characters but tabs and
/// ends of lines, the folder `scratch` not named, at most `limit` bytes.
std::string cleanDiagnostics(std::string text, const std::filesystem::path &scratch,
                             std::size_t limit = 64u << 10);

} // namespace kopt
