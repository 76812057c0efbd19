// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/model/Session.h"
#include "driver/model/Trial.h"
#include "driver/model/TuneSubject.h"

#include <string>
#include <vector>

namespace kopt {

/// A confirmed winner of one run's search.
struct Win {
  std::int64_t run = 0; ///< id of the run
  std::string runName;
  const TuneSubject *subject = nullptr; ///< must outlive the win
  Trial trial;                          ///< with the confirmed speedup
  std::vector<SourceEdit> edits;        ///< of the user's files
  /// In a run of the program: the kernel's time in it times the relative gain.
  double savedSeconds = 0;
  LaunchSeconds launch; ///< as SessionWin has it
  bool ownSpecialization = false;
  std::vector<RunGain> runs{}; ///< as SessionWin has them

  const Candidate &candidate() const { return trial.candidate; }
  /// The place of the kernel: "k.cu:12".
  std::string place() const;
};

} // namespace kopt
