// SPDX-License-Identifier: Apache-2.0
// Turns a candidate into machine code that may run: renders, screens and compiles it. Uses no
// device.
#pragma once

#include "driver/judge/JudgeOptions.h"
#include "driver/judge/context/Subject.h"
#include "driver/source/RenderSlice.h"

#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// A candidate before it runs: either its trial is already decided, or `built` holds its module.
struct Prepared {
  RenderedCandidate candidate; ///< without a slice if it could not be rendered
  Trial trial;
  Built built;
  bool ready = false;
  double seconds = 0; ///< that the preparation took, on any thread
  std::optional<Error> error;
};

/// May be used from several threads, except ahead() and take(), which one thread at a time may
/// call.
class CandidateBuilder {
public:
  /// `baseline` may change until it is measured, but not later. Before, candidates are launched as
  /// the subject's workload is.
  CandidateBuilder(Frontend &frontend, Toolchain &toolchain, const JudgeOptions &options,
                   const Subject &subject, const Built &baseline)
      : frontend_(frontend), toolchain_(toolchain), options_(options), subject_(subject),
        baseline_(baseline) {}

  /// How to build the user's own kernel, without text and output.
  static BuildRequest baselineRequest(const SlicedKernel &kernel, const std::string &arch);
  /// How to build a version of it: the same kernel, possibly named by another expression.
  static BuildRequest requestOf(const SlicedKernel &kernel, const std::string &arch,
                                const RenderedSlice &rendered, const std::filesystem::path &output);
  /// Builds the user's own kernel. Fails with BaselineFailed if it does not compile.
  Result<Built> buildBaseline(Trial &trial);

  /// Starts screening and building `candidates` on other threads, in the order in which take() will
  /// ask for them.
  void ahead(const std::vector<Candidate> &candidates);
  /// Returns what ahead() prepared, and waits for it if necessary; otherwise prepares the candidate
  /// now.
  Prepared take(const Candidate &candidate);

private:
  Result<bool> screen(const RenderedCandidate &candidate, Trial &trial) const;
  Result<bool> compile(const RenderedCandidate &candidate, const std::filesystem::path &output,
                       Trial &trial, Built &built) const;
  Result<bool> screenAndCompile(const std::filesystem::path &output, Prepared &prepared) const;
  Prepared prepare(const Candidate &candidate, const std::filesystem::path &output) const;
  std::filesystem::path nextModule();

  Frontend &frontend_;
  Toolchain &toolchain_;
  const JudgeOptions &options_;
  const Subject &subject_;
  const Built &baseline_;
  int modules_ = 0;
  std::map<std::string, std::future<Prepared>> ahead_; ///< by content hash
  std::unique_ptr<JobQueue> builders_;                 ///< last, as its jobs use the other members
};

} // namespace kopt
