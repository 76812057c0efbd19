// SPDX-License-Identifier: Apache-2.0
// The stored record of one run of the search over one kernel.
#pragma once

#include "clang_plugin/output/Fields.h"
#include "driver/model/Event.h"
#include "driver/model/KernelSpec.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

enum class RunState { Running, Finished, Failed };
constexpr auto spellings(RunState) {
  return std::to_array<std::string_view>({"running", "finished", "failed"});
}

/// The changes of a winner in one of the user's files.
struct FileEdits {
  std::string path;              ///< with forward slashes, relative to the root of the patch
  std::string baseHash;          ///< XXH3-128 of the file that the ranges refer to
  std::string resultHash;        ///< XXH3-128 of the file after the edits
  std::vector<SourceEdit> edits; ///< in order; the file of their ranges is `path`
  std::optional<std::vector<std::string>> flags{}; ///< that nvcc has to compile it with as well
};
KOPT_FIELDS(FileEdits, path, baseHash, resultHash, edits, flags)

struct RunRecord {
  std::int64_t id = 0;
  std::string name; ///< folder under kopt.out
  std::string kernel, symbol, file;
  /// Hash of everything that decides a result: a run is resumed only if it is the same.
  std::string inputsHash;
  /// The last change of the user's experience that the run knows (ExperienceBase::last()); 0: none.
  std::int64_t experience = 0;
  std::string configJson; ///< everything needed to repeat it
  std::string deviceJson;
  std::string startedUtc, finishedUtc; ///< finishedUtc is empty while the run goes on
  RunState state = RunState::Running;
  std::optional<StopReason> stop; ///< why the search ended; nothing if it has not
  std::string stopText;           ///< the same in words; for a failed run, the error
  std::string winnerHash;         ///< empty: no candidate was accepted
  /// The baseline's slice, against which trials are shown as differences. Set it at beginRun().
  std::string sliceText;
  std::vector<FileEdits> edits; ///< the winner's edits for `kopt apply`; empty: none
  std::string patchText;        ///< the same as a patch in mail format; empty: none
};
KOPT_FIELDS(RunRecord, id, name, kernel, symbol, file, inputsHash, experience, configJson,
            deviceJson, startedUtc, finishedUtc, state, stop, stopText, winnerHash, sliceText,
            edits, patchText)

} // namespace kopt
