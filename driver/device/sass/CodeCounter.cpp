// SPDX-License-Identifier: Apache-2.0
#include "driver/device/sass/CodeCounter.h"

#include "driver/device/sass/SourceLines.h"
#include "driver/support/Text.h"

#include <chrono>
#include <fmt/format.h>

namespace kopt {
namespace {

constexpr Duration kDeadline{60};
constexpr std::size_t kLongestListing = 64u << 20;

std::string firstLine(const std::string &text) {
  for (const std::string &line : split(text, '\n'))
    if (!trim(line).empty())
      return std::string(trim(line));
  return "it printed nothing";
}

} // namespace

Result<SassListing> Disassembler::list(const std::filesystem::path &cubin) const {
  if (!program_)
    return tl::unexpected(program_.error());
  ProcessSpec spec;
  spec.argv = {program_->string(), "-gi", "-c", cubin.string()};
  spec.timeout = kDeadline;
  spec.outputLimit = kLongestListing;
  spec = sandbox_.contain(std::move(spec), {{}, {}, {cubin.parent_path()}, {}});
  KOPT_TRY(const ProcessResult result, processes_.run(spec));
  if (const auto refusal = Sandbox::refusal(result.exitCode, result.err))
    return tl::unexpected(*refusal);
  if (result.timedOut)
    return makeError(ErrorCode::Internal,
                     "nvdisasm did not end within " + formatDuration(kDeadline.count()));
  if (!result.ok())
    return makeError(ErrorCode::Internal,
                     fmt::format("nvdisasm cannot read the module (exit code {}): {}",
                                 result.exitCode, firstLine(result.err)),
                     fmt::format("{} may be older than nvcc", program_->string()));
  if (result.truncated)
    return makeError(ErrorCode::Internal, "the listing of the module is longer than " +
                                              formatBytes(double(kLongestListing)));
  return parseSassListing(result.out);
}

std::string symbolIn(const SassListing &listing, const std::string &symbol) {
  if (listing.find(symbol))
    return symbol;
  // The symbol differs if a constant in its template arguments has changed.
  return listing.functions.size() == 1 ? listing.functions.front().symbol : std::string();
}

CodeCounter::Listing CodeCounter::begin(const std::filesystem::path &cubin) const {
  if (unavailable_)
    return {};
  return std::async(std::launch::async, [this, cubin] { return disassembler_.list(cubin); });
}

void CodeCounter::addTo(ProfileOutcome &outcome, Listing begun, const std::string &symbol) {
  if (!begun.valid())
    return;
  const auto start = std::chrono::steady_clock::now();
  const Result<SassListing> listing = begun.get();
  outcome.stages["disassemble"] += Duration(std::chrono::steady_clock::now() - start).count();
  std::string reason;
  if (listing) {
    const Counters counters = sassCounters(*listing, symbolIn(*listing, symbol));
    outcome.counters.insert(counters.begin(), counters.end());
    if (counters.empty())
      reason = "the listing of the machine code does not contain the kernel " + symbol;
  } else {
    unavailable_ = listing.error().code == ErrorCode::Environment;
    reason = inWords(listing.error());
  }
  if (!reason.empty())
    outcome.detail += (outcome.detail.empty() ? "" : "; ") + reason;
}

Result<std::vector<LineCost>> CodeCounter::lines(const std::filesystem::path &cubin,
                                                 const std::string &symbol) const {
  KOPT_TRY(const SassListing listing, disassembler_.list(cubin));
  std::vector<LineCost> costs;
  for (const LineUse &use : linesOf(listing, symbolIn(listing, symbol)))
    costs.push_back({use.place.file, use.place.line, double(use.mix.all), 0});
  if (costs.empty())
    return makeError(ErrorCode::Internal,
                     "the listing of the machine code does not contain the kernel " + symbol);
  return costs;
}

} // namespace kopt
