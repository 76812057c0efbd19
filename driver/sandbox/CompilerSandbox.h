// SPDX-License-Identifier: Apache-2.0
// Contains compilers that read untrusted text: they see their toolkit, the system's headers and the
// folders that the user's own flags name, and can write to one folder only.
#pragma once

#include "driver/sandbox/Sandbox.h"

namespace kopt {

struct CompilerSite {
  std::vector<std::string> flags;  ///< the user's own flags; every path that they name can be read
  std::filesystem::path directory; ///< base of relative paths in flags
  std::vector<std::filesystem::path> readable, writable; ///< in addition to those
};

class CompilerSandbox {
public:
  /// `installation`: folders that contain the compilers or that they always read. `cache`: a folder
  /// that only contained compilers use, or empty. `cudaPath` is KOPT_CUDA_PATH for the children:
  /// the folder of the CUDA toolkit, which they may read, or "none"; empty: the same as for kopt.
  explicit CompilerSandbox(Sandbox sandbox = {},
                           std::vector<std::filesystem::path> installation = {},
                           std::filesystem::path cache = {}, std::string cudaPath = {});

  /// `spec` with the CUDA toolkit that kopt has chosen, not contained, for the user's own files.
  ProcessSpec withToolkit(ProcessSpec spec) const;
  const std::string &cudaPath() const { return cudaPath_; }
  /// As withToolkit(), but contained. argv[0] must be an absolute path; the parent of its folder
  /// can be read.
  ProcessSpec contain(ProcessSpec spec, const CompilerSite &site) const;

private:
  Sandbox sandbox_;
  std::vector<std::filesystem::path> installation_;
  std::filesystem::path cache_;
  std::string cudaPath_;
};

/// The host compilers that nvcc may use: those in PATH, and those that variables name.
std::vector<std::filesystem::path> compilersInPath();

/// Adds every existing path in a flag: "-I../x", "-isystem=/y", "-Xcompiler=-I/a,-I/b",
/// "--options-file", "z.rsp".
void addPlaces(const std::string &flag, const std::filesystem::path &directory,
               std::vector<std::filesystem::path> &out);

/// Cleans diagnostics so that they can be stored and shown to a model: UTF-8, no control characters
/// except tabs and newlines, no mention of the folder `scratch`, at most `limit` bytes.
std::string cleanDiagnostics(std::string text, const std::filesystem::path &scratch,
                             std::size_t limit = 64u << 10);

} // namespace kopt
