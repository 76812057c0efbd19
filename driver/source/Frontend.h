// SPDX-License-Identifier: Apache-2.0
// The driver's interface to kopt-frontend: all questions that need Clang go through it.
#pragma once

#include "clang_plugin/output/HostText.h"
#include "clang_plugin/output/ModelText.h"
#include "driver/model/Candidate.h"
#include "driver/model/KernelSpec.h"
#include "driver/model/KernelVariants.h"
#include "driver/model/Trial.h"
#include "driver/sandbox/CompilerSandbox.h"
#include "driver/source/RenderSlice.h"

namespace kopt {

struct ExtractRequest {
  std::vector<std::filesystem::path> files;
  std::filesystem::path
      buildDirectory; ///< the folder with compile_commands.json; empty if flags are given
  std::vector<std::string> flags;  ///< nvcc flags
  std::string command{};           ///< part of the compile command to use, where a file has several
  std::filesystem::path output;    ///< folder for slices and harnesses
  std::filesystem::path project{}; ///< root of the user's project; empty: not known
  bool prove = true;
  /// Prove only the slices of these symbols, spelled as by an extraction without proof. Empty:
  /// prove all.
  std::vector<std::string> proveOnly{};
  /// Leave out files that do not compile, with a note, as long as one compiles.
  bool keepGoing = false;
  /// The files are a candidate's, not the user's own: parse them in the sandbox, without the user's
  /// cache.
  bool untrusted = false;
  std::vector<std::filesystem::path> readable{}; ///< further files that are visible in the sandbox
  /// For untrusted files: parsing that takes longer fails with BaselineFailed.
  Duration timeout{300};
};

/// A rewrite that the catalogue offers for a slice.
struct TransformOffer {
  std::string technique;         ///< as in kopt::Offer
  std::string title;             ///< "pad tile[32][32] to [32][33]"
  std::string note;              ///< what verification must judge
  std::vector<SourceEdit> edits; ///< in offsets of the slice; range.file is the slice
  LaunchOverride launch;
  std::string blockMultiple{}; ///< as in kopt::Offer
};

class Frontend {
public:
  virtual ~Frontend() = default;
  virtual Result<ExtractionResult> extract(const ExtractRequest &request) = 0;
  /// All rewrites that match the kernel in this slice text, for these launches.
  virtual Result<std::vector<TransformOffer>>
  transforms(const std::string &sliceText, const std::string &expression, const KernelSpec &kernel,
             const std::vector<LaunchShape> &launches) = 0;
  /// The chunk of the kernel in two slices with both bodies, of which a condition chooses the
  /// special one. If there is none, the reply says why (ChunkReply::refusal); that is not an error.
  virtual Result<ChunkReply> guard(const RenderedSlice &usual, const RenderedSlice &special,
                                   std::size_t chunk, const KernelSpec &kernel,
                                   const BodyGuard &guard) = 0;
  /// The chunk of a kernel in the slice as an explicit specialization for the arguments that the
  /// slice instantiates it with. If there is none, the reply says why; that is not an error.
  /// `isInline`: it may be defined in several translation units.
  virtual Result<ChunkReply> specialize(const RenderedSlice &slice, std::size_t chunk,
                                        const KernelSpec &kernel, bool isInline) = 0;
  /// Findings about the candidate's slice: changes that it must not make (severity reject), and
  /// changes that need further checks (severity flag).
  virtual Result<std::vector<Finding>>
  screen(const std::string &baselineSlice, const std::string &candidateSlice,
         const KernelSpec &kernel, const std::string &expression, const SharedCode &shared) = 0;
  /// Wrong versions of the kernel in this slice text, each of which parses. Empty if the kernel has
  /// nothing to change.
  virtual Result<MutantSet> mutants(const std::string &sliceText, const std::string &expression,
                                    const KernelSpec &kernel, const MutantRequest &request) = 0;
  /// The kernel in double precision. If there is none, the reply says why
  /// (ReferenceClone::refusals); that is not an error.
  virtual Result<ReferenceClone> referenceClone(const std::string &sliceText,
                                                const std::string &expression,
                                                const KernelSpec &kernel) = 0;
  /// What the kernel in this slice text does with memory, in words: strides are those of the launch
  /// with the most weight.
  virtual Result<ModelReply> modelOf(const std::string &sliceText, const std::string &expression,
                                     const KernelSpec &kernel,
                                     const std::vector<LaunchShape> &launches) = 0;
  /// The host code of a file, which may be a candidate's. Fails with BaselineFailed if it does not
  /// parse.
  virtual Result<HostText> hostText(const HostRequest &request) = 0;
  /// Digests of the texts' code: equal ones mean equal code.
  virtual Result<std::vector<CodeDigest>> codes(const std::vector<NamedText> &texts) = 0;
  /// A version of the kernel that records which outcomes of its conditions occur.
  virtual Result<CoverageClone> coverageClone(const std::string &sliceText,
                                              const std::string &expression,
                                              const KernelSpec &kernel) = 0;
};

/// `sandbox` is used for candidates' text; the user's own files are parsed outside it. Replies to
/// questions are cached; a thread that asks the same question as another one waits for its reply.
std::unique_ptr<Frontend> makeFrontend(ProcessRunner &processes,
                                       const std::filesystem::path &program,
                                       CompilerSandbox sandbox = CompilerSandbox());

} // namespace kopt
