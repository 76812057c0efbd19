// SPDX-License-Identifier: Apache-2.0
#include "driver/search/proposers/ControlsProposer.h"

#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kopt {
namespace {

namespace fs = std::filesystem;

constexpr int kLeastRegisters = 24;          ///< fewer do not hold what a call needs
constexpr std::size_t kMostSteps = 2;        ///< of occupancy, each one block more
constexpr double kRegistersOfWarpUnit = 256; ///< registers are given to warps in units of these

/// 12.4 as 1204, of "nvcc 12.4.131"; 0: it is no nvcc.
int versionOf(const std::string &toolchain) {
  int major = 0, minor = 0;
  return std::sscanf(toolchain.c_str(), "nvcc %d.%d", &major, &minor) == 2 ? 100 * major + minor
                                                                           : 0;
}

bool hasFlag(const KernelSpec &kernel, std::initializer_list<const char *> names) {
  return std::ranges::any_of(kernel.compileFlags, [&](const std::string &flag) {
    return std::ranges::any_of(names,
                               [&](const char *name) { return flag.find(name) != flag.npos; });
  });
}

/// Where `__global__` ends in a declaration; nothing if it is not spelled, as where a macro has it.
std::optional<std::size_t> endOfGlobal(const std::string &text) {
  constexpr std::string_view kWord = "__global__";
  for (std::size_t at = 0; at < text.size() && text[at] != '{'; ++at) {
    if (text.compare(at, 2, "//") == 0)
      at = std::min(text.find('\n', at), text.size());
    else if (text.compare(at, 2, "/*") == 0)
      at = std::min(text.find("*/", at), text.size());
    else if (text.compare(at, kWord.size(), kWord) == 0)
      return at + kWord.size();
  }
  return std::nullopt;
}

/// The most registers a thread may have for one block more a multiprocessor, and for two; none if
/// something else is the limit.
std::vector<int> registerSteps(const Counters &counters) {
  const auto value = [&](const char *name) {
    const auto known = counters.find(name);
    return known == counters.end() ? 0 : known->second;
  };
  const double registers = value("launch__registers_per_thread"),
               blocks = value("launch__occupancy_limit_registers"),
               warps = std::ceil(value("launch__block_size") / 32);
  const double most =
      std::min({value("launch__occupancy_limit_warps"), value("launch__occupancy_limit_shared_mem"),
                value("launch__occupancy_limit_blocks")});
  std::vector<int> steps;
  if (registers <= 0 || blocks < 1 || warps < 1)
    return steps;
  for (double wanted = blocks + 1; wanted <= most && steps.size() < kMostSteps; ++wanted) {
    constexpr double kRegisters = 65536; // of a multiprocessor, on all GPUs since Maxwell
    const int limit = int(std::floor(kRegisters / (wanted * warps) / kRegistersOfWarpUnit) *
                          kRegistersOfWarpUnit / 32);
    if (limit < kLeastRegisters)
      break;
    if (limit < registers && (steps.empty() || steps.back() != limit))
      steps.push_back(limit);
  }
  return steps;
}

/// The file of `file:PATH`; empty: it is another control.
fs::path fileOf(const std::string &control) {
  constexpr std::string_view kFile = "file:";
  std::error_code ignored;
  return control.starts_with(kFile) ? fs::absolute(control.substr(kFile.size()), ignored)
                                    : fs::path();
}

/// The parent with these options, or nothing if it has them.
class Variants {
public:
  Variants(const ProposalContext &context, Offers &offers) : context_(context), offers_(offers) {}

  Candidate from(const char *technique, std::string title, std::string rationale) const {
    Candidate candidate = context_.parent();
    candidate.parents = {context_.parentTrial().candidateHash};
    candidate.proposer = ControlsProposer::kName;
    candidate.technique = technique;
    candidate.title = std::move(title);
    candidate.rationale = std::move(rationale);
    candidate.expects.reset();
    return candidate;
  }
  void offer(const char *technique, CompilerOptions options, std::string rationale) {
    const CompilerOptions present = context_.parent().options.value_or(CompilerOptions());
    std::vector<std::string> added;
    for (const std::string &flag : options.flags())
      if (std::ranges::count(present.flags(), flag) == 0)
        added.push_back(flag);
    if (added.empty())
      return;
    Candidate candidate = from(technique, join(added, " "), std::move(rationale));
    candidate.options = std::move(options);
    offers_.offer(std::move(candidate));
  }

private:
  const ProposalContext &context_;
  Offers &offers_;
};

} // namespace

Status checkControls(const std::vector<std::string> &controls, const std::string &toolchain) {
  constexpr int kHasControls = 1303;
  for (const std::string &control : controls) {
    const fs::path file = fileOf(control);
    if (!file.empty() && versionOf(toolchain) < kHasControls)
      return makeError(
          ErrorCode::Usage,
          fmt::format("{} has no --apply-controls, so '{}' cannot be tried", toolchain, control),
          "use CUDA 13.3 or later and a GPU, or leave it out of --controls");
    if (!file.empty())
      KOPT_CHECK(readFile(file));
  }
  return {};
}

bool ControlsProposer::allows(const char *control) const {
  return std::ranges::count(controls_, control) > 0;
}

Status ControlsProposer::propose(const ProposalContext &context, Offers &offers) {
  const SearchProblem &problem = context.problem;
  const std::size_t chunk = problem.specialization.kernelChunk;
  if (chunk >= problem.specialization.chunks.size())
    return {};
  const SliceChunk &kernel = problem.specialization.chunks[chunk];
  const Candidate &parent = context.parent();
  const CompilerOptions present = parent.options.value_or(CompilerOptions());
  Variants variants(context, offers);

  const auto own = parent.chunks.find(chunk);
  const std::string text =
      own != parent.chunks.end()
          ? own->second
          : problem.sliceText.substr(kernel.sliceBegin, kernel.sliceEnd - kernel.sliceBegin);
  const bool isLimited = text.find("__launch_bounds__") != text.npos ||
                         text.find("__maxnreg__") != text.npos || present.maxRegisters ||
                         hasFlag(problem.kernel, {"maxrregcount"});
  constexpr int kHasMaxnreg = 1204;
  if (allows("registers") && !isLimited)
    for (const int limit : registerSteps(context.parentTrial().counters)) {
      const std::string why = "fewer registers leave room for more blocks on a multiprocessor";
      const auto at = endOfGlobal(text);
      if (at && kernel.editable && versionOf(toolchain_) >= kHasMaxnreg) {
        const std::string bound = fmt::format("__maxnreg__({})", limit);
        Candidate candidate = variants.from("register-limit", bound, why);
        candidate.chunks[chunk] = text.substr(0, *at) + " " + bound + text.substr(*at);
        offers.offer(std::move(candidate));
      } else {
        CompilerOptions options = present;
        options.maxRegisters = limit;
        variants.offer("register-limit", options, why);
      }
    }
  if (allows("load-cache") && !hasFlag(problem.kernel, {"dlcm", "def-load-cache"})) {
    CompilerOptions options = present;
    // What is the default of an architecture makes the same code, and costs a build alone.
    for (const LoadCache each : {LoadCache::Cg, LoadCache::Ca}) {
      options.loadCache = each;
      variants.offer("load-cache", options, "loads may gain or lose by the L1 cache");
    }
  }
  if (allows("fast-math") && !hasFlag(problem.kernel, {"use_fast_math"})) {
    CompilerOptions options = present;
    options.fastMath = true;
    variants.offer("fast-math", options, "the user allows it");
  }
  if (!hasFlag(problem.kernel, {"apply-controls"}))
    for (const std::string &control : controls_)
      if (const fs::path file = fileOf(control); !file.empty()) {
        KOPT_TRY(const std::string content, readFile(file));
        CompilerOptions options = present;
        options.controls = file.string();
        options.controlsHash = hashHex(content);
        variants.offer("apply-controls", options, "the user gives the file");
      }
  return {};
}

} // namespace kopt
