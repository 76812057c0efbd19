// SPDX-License-Identifier: Apache-2.0
// The driver's side of kopt-frontend: every question that needs Clang is asked here.
#pragma once

#include "clang_plugin/output/HostText.h"
#include "driver/model/Candidate.h"
#include "driver/model/KernelSpec.h"
#include "driver/model/KernelVariants.h"
#include "driver/model/Trial.h"
#include "driver/sandbox/CompilerSandbox.h"

namespace kopt {

struct ExtractRequest {
  std::vector<std::filesystem::path> files;
  std::filesystem::path buildDirectory; ///< with compile_commands.json; empty where flags are given
  std::vector<std::string> flags;       ///< nvcc flags
  std::filesystem::path output;         ///< where slices and harnesses go
  bool prove = true;
  /// Prove only the slices of these symbols, as an extraction without proof gives them. Empty: all.
  std::vector<std::string> proveOnly{};
  /// Files that do not compile are left out, with a note, as long as one does.
  bool keepGoing = false;
  /// The files are a candidate's, not the user's own: they are read in the sandbox, without the
  /// user's cache.
  bool untrusted = false;
  std::vector<std::filesystem::path> readable{}; ///< in the sandbox, beside what it shows always
  /// Of untrusted files: longer than this is their own fault, and fails with BaselineFailed.
  Duration timeout{300};
};

/// A rewrite the catalogue offers for a slice.
struct TransformOffer {
  std::string technique; ///< launch-bounds, unroll, readonly-loads, shared-padding, block-size
  std::string title;     ///< "pad tile[32][32] to [32][33]"
  std::vector<SourceEdit> edits; ///< in slice coordinates: range.file is the slice
  LaunchOverride launch;
};

class Frontend {
public:
  virtual ~Frontend() = default;
  virtual Result<ExtractionResult> extract(const ExtractRequest &request) = 0;
  /// Every rewrite that matches the kernel in this slice text.
  virtual Result<std::vector<TransformOffer>> transforms(const std::string &sliceText,
                                                         const std::string &expression,
                                                         const KernelSpec &kernel,
                                                         const Workload &workload) = 0;
  /// What the candidate's slice changed that it must not, or that wants stress: findings with
  /// severity reject or flag.
  virtual Result<std::vector<Finding>>
  screen(const std::string &baselineSlice, const std::string &candidateSlice,
         const KernelSpec &kernel, const std::string &expression, const SharedCode &shared) = 0;
  /// Wrong versions of the kernel in this slice text, each of which parses. None where the kernel
  /// has nothing to change.
  virtual Result<MutantSet> mutants(const std::string &sliceText, const std::string &expression,
                                    const KernelSpec &kernel, const MutantRequest &request) = 0;
  /// The kernel in double precision; that there is none is an answer (ReferenceClone::refusals),
  /// not an error.
  virtual Result<ReferenceClone> referenceClone(const std::string &sliceText,
                                                const std::string &expression,
                                                const KernelSpec &kernel) = 0;
  /// The host code of a file, which may be a candidate's. Fails with BaselineFailed where it does
  /// not parse.
  virtual Result<HostText> hostText(const HostRequest &request) = 0;
  /// The kernel, recording which outcomes of its conditions occur.
  virtual Result<CoverageClone> coverageClone(const std::string &sliceText,
                                              const std::string &expression,
                                              const KernelSpec &kernel) = 0;
};

/// `sandbox` is for candidates' text; the user's own files are read outside of it. A question about
/// a kernel that was answered before is answered the same; who asks what another thread is asking
/// waits for that.
std::unique_ptr<Frontend> makeFrontend(ProcessRunner &processes,
                                       const std::filesystem::path &program,
                                       CompilerSandbox sandbox = CompilerSandbox());

} // namespace kopt
