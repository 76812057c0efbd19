// SPDX-License-Identifier: Apache-2.0
// What a worker is given to judge the candidates of a kernel, and what it is asked.
#pragma once

#include "driver/device/worker/WorkerLink.h"
#include "driver/judge/JudgeOptions.h"
#include "driver/judge/context/Subject.h"

#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// A kernel, as a Subject has it, and how to judge it. Paths are those of the machine that asks;
/// `files` are what is behind them: what the compilation reads besides the toolkit, and what
/// launches hold.
struct JudgeTask {
  KernelSpec kernel;
  Specialization specialization;
  std::string sliceText;
  Workload workload;
  std::optional<TuneDeclaration> declaration;
  std::vector<Launch> program;
  JudgeOptions options; ///< without folders: those are the worker's
  std::vector<WorkerFile> files;
};
KOPT_FIELDS(JudgeTask, kernel, specialization, sliceText, workload, declaration, program, options,
            files)

/// The seconds that a confirmation may still take; unset: no limit.
using SecondsLeft = std::optional<double>;

struct JudgeRequest {
  Candidate candidate;
  Purpose purpose = Purpose::Search;
  Stage upTo = Stage::Time;
  SecondsLeft secondsLeft;
};
KOPT_FIELDS(JudgeRequest, candidate, purpose, upTo, secondsLeft)

struct CompareRequest {
  Candidate candidate, other;
};
KOPT_FIELDS(CompareRequest, candidate, other)

struct BaselineReply {
  Trial trial;
  Workload workload;
};
KOPT_FIELDS(BaselineReply, trial, workload)

} // namespace kopt
