// SPDX-License-Identifier: Apache-2.0
// The texts of a prompt's sections, from records; empty where there is nothing to say. They never
// hold the contents of buffers.
#pragma once

#include "driver/llm/contract/Contract.h"
#include "driver/search/Proposer.h"

#include <string>
#include <vector>

namespace kopt {

// The same for a whole run (ProblemTexts.cpp).
std::string subjectText(const SearchProblem &problem);
/// The launches that are measured, how the program makes them, what the user declared of them, and
/// the other instantiations that share the text.
std::string launchesText(const SearchProblem &problem);
std::string deviceText(const DeviceInfo &device);
/// The values that a launch is given, as in "n = 1000, epsilon = 1e-05".
std::string valuesText(const KernelSpec &kernel, const Specialization &specialization,
                       const Launch &launch);
/// "bitwise equal", or how far outputs may be from exact.
std::string toleranceText(const Tolerance &tolerance);
/// "grid (32, 1, 1), block (32, 1, 1), dynamic shared memory 0 bytes"
std::string geometryText(const Launch &launch);

// Of a version of the kernel (VersionTexts.cpp).
/// The task for a model: the chunks and constants of one candidate that it may change, as they
/// would be compiled.
struct CodeTask {
  CodeContract contract;
  std::map<std::string, std::size_t> chunkOfLabel;
  /// Of what earlier steps declared in front of the chunks, such as a kernel's second body.
  std::map<std::string, std::size_t> declarationOfLabel;
  std::string context; ///< the read-only chunks, in order
  /// "label:line" of each line of the candidate's slice, from 0, as far as it is in these chunks.
  std::vector<std::string> places;
};

/// The task to change `base` (the incumbent, or a failed attempt).
Result<CodeTask> makeCodeTask(const ProposalContext &context, const Candidate &base);
/// The editable chunks as they are, constants, tunables, and the launches that differ from the
/// original's, each in its fence.
std::string kernelText(const ProposalContext &context, const CodeTask &task, const Candidate &base);
/// State, finding, bound, what is left, times and resources.
std::string boundText(const Trial &trial);
std::string rulesText(const Diagnosis &diagnosis);
/// The documents that treat what was found, a few at most.
Result<std::string> skillsText(const Diagnosis &diagnosis);
/// An emulated device has no registers to count.
std::string resourcesText(const ModuleInfo &module);

// Of what was tried (TrialTexts.cpp).
/// The counters that bind or differ between the present version and the attempts; without any,
/// between it, what it was made from, and the newest change of it that was counted.
std::string contrastText(const ProposalContext &context,
                         const std::vector<const Trial *> &attempts);
/// Every trial of a model's candidate in a line, oldest first, for a conversation that does not
/// have it. Those of kopt's own rewrites are left out: what a model proposes gained nothing from
/// them (tests/benchmarks/README.md, "What a part of the task is worth").
std::string attemptsText(const ProposalContext &context);
/// What the last few and the fastest of them changed of the versions that they were made from.
std::string differencesText(const ProposalContext &context);
/// What the judge found of these candidates. What compilers and checks said stands after "| ", with
/// lines of the slice as those of the chunks.
std::string evidenceText(const ProposalContext &context, const std::vector<const Trial *> &judged);

} // namespace kopt
