// SPDX-License-Identifier: Apache-2.0
// From a candidate to machine code that may run: rendered, screened, compiled. Knows no device.
#pragma once

#include "driver/judge/JudgeOptions.h"
#include "driver/judge/checks/CheckContext.h"
#include "driver/source/RenderSlice.h"

#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// What is known of a candidate before it runs: a trial that is decided already, or one with a
/// module.
struct Prepared {
  Trial trial;
  Built built;
  bool ready = false;
  double seconds = 0; ///< that it took, on whatever thread
  std::optional<Error> error;
};

/// But for ahead() and take(), which belong to one thread at a time, it is used from several
/// threads.
class CandidateBuilder {
public:
  /// `subject` and `baseline` may change until the baseline is measured, and no longer.
  CandidateBuilder(Frontend &frontend, Toolchain &toolchain, const JudgeOptions &options,
                   const Subject &subject, const Built &baseline)
      : frontend_(frontend), toolchain_(toolchain), options_(options), subject_(subject),
        baseline_(baseline) {}

  /// How the user's own kernel is built: everything but text and output.
  static BuildRequest baselineRequest(const Subject &subject, const JudgeOptions &options);
  /// How a version of it is built: the same kernel, which another expression may name.
  static BuildRequest requestOf(const Subject &subject, const JudgeOptions &options,
                                const RenderedSlice &rendered, const std::filesystem::path &output);
  /// Builds the user's own kernel. Fails with BaselineFailed where it does not compile.
  Result<Built> buildBaseline(Trial &trial);

  /// Says what take() will be asked for, in this order: it is screened and built on other threads
  /// meanwhile.
  void ahead(const std::vector<Candidate> &candidates);
  /// What was built ahead, or is made now.
  Prepared take(const Candidate &candidate);

private:
  Result<bool> screen(const RenderedSlice &rendered, Trial &trial) const;
  Result<bool> compile(const Candidate &candidate, const RenderedSlice &rendered,
                       const std::filesystem::path &output, Trial &trial, Built &built) const;
  Result<bool> screenAndCompile(const Candidate &candidate, const std::filesystem::path &output,
                                Prepared &prepared) const;
  Prepared prepare(const Candidate &candidate, const std::filesystem::path &output) const;
  std::filesystem::path nextModule();

  Frontend &frontend_;
  Toolchain &toolchain_;
  const JudgeOptions &options_;
  const Subject &subject_;
  const Built &baseline_;
  int modules_ = 0;
  std::map<std::string, std::future<Prepared>> ahead_; ///< by content hash
  std::unique_ptr<JobQueue> builders_;                 ///< last: its jobs use the rest
};

} // namespace kopt
