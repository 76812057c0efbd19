// SPDX-License-Identifier: Apache-2.0
#include "driver/device/sass/Disassembler.h"

#include "driver/support/Text.h"

#include <fmt/format.h>

namespace kopt {

namespace fs = std::filesystem;

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

Result<SassListing> Disassembler::list(const fs::path &cubin) const {
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

} // namespace kopt
