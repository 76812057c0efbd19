// SPDX-License-Identifier: Apache-2.0
#include "driver/device/sass/Disassembler.h"

#include "driver/support/Text.h"

#include <cstdlib>
#include <fmt/format.h>
#include <string_view>

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

std::optional<fs::path> findDisassembler() {
  std::vector<fs::path> places;
  if (const char *named = std::getenv("NVDISASM_PATH"); named && *named) {
    places.emplace_back(named);
    places.push_back(fs::path(named) / "nvdisasm");
  }
  std::error_code ignored;
  for (const fs::path &place : places)
    if (!fs::is_directory(place, ignored))
      if (auto found = findProgram(fs::absolute(place, ignored).string()))
        return found;
  if (const char *toolkit = std::getenv("KOPT_CUDA_PATH"); toolkit && *toolkit) {
    if (std::string_view(toolkit) == "none")
      return std::nullopt;
    if (auto found = findProgram((fs::path(toolkit) / "bin/nvdisasm").string()))
      return found;
  }
  if (auto found = findProgram("nvdisasm"))
    return found;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *home = std::getenv(variable))
      if (auto found = findProgram((fs::path(home) / "bin/nvdisasm").string()))
        return found;
  return findProgram("/usr/local/cuda/bin/nvdisasm");
}

Result<SassListing> Disassembler::list(const fs::path &cubin) const {
  if (!program_)
    return makeError(
        ErrorCode::Environment,
        "nvdisasm was not found in NVDISASM_PATH, KOPT_CUDA_PATH, PATH, CUDA_HOME or "
        "/usr/local/cuda, so the "
        "machine code is not read",
        "install it with the CUDA toolkit (package cuda-nvdisasm), or name it in NVDISASM_PATH");
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
