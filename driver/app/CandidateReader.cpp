// SPDX-License-Identifier: Apache-2.0
#include "driver/app/CandidateReader.h"

#include "driver/device/build/NvccFlags.h"
#include "driver/source/candidate/HostChanges.h"
#include "driver/support/FileSystem.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {

namespace fs = std::filesystem;

namespace {

/// The constants that the kernel's launch sites name.
std::map<std::string, std::int64_t> launchConstants(const KernelSpec &kernel) {
  std::map<std::string, std::int64_t> values;
  for (const NamedConstant &constant : kernel.constants)
    if (constant.usedByLaunch)
      values[constant.name] = constant.value;
  return values;
}

/// True if the kernel's launches are known and the same in both versions of its file.
bool launchesAlike(const KernelSpec &a, const KernelSpec &b) {
  return !a.launches.empty() && launchConstants(a) == launchConstants(b) &&
         std::ranges::equal(a.launches, b.launches, [](const LaunchSite &x, const LaunchSite &y) {
           return x.geometry != GeometryKind::Unresolved && x.geometry == y.geometry &&
                  x.symbol == y.symbol && x.grid == y.grid && x.block == y.block &&
                  x.sharedBytes == y.sharedBytes && x.args == y.args;
         });
}

} // namespace

Result<CandidateFile> CandidateReader::read(const fs::path &file, const std::string &arch,
                                            const TuneSubject *beside) {
  if (!beside && !subjects_.empty())
    beside = &subjects_.front();
  ExtractRequest request =
      extractRequest(sources_, scratch_ / fmt::format("candidate-{}", read_++));
  request.files = {file};
  request.timeout = deadline_.now();
  if (request.flags.empty() && beside)
    request.flags = beside->kernel.compileFlags;
  std::vector<std::string> fallback;
  if (!namesArch(request.flags))
    fallback.push_back("-arch=" + (arch.empty() ? deviceArch_ : arch));
  const fs::path original = beside ? fs::path(beside->kernel.unit) : file;
  KOPT_TRY(CandidateFile read,
           readCandidateFile(frontend_, std::move(request), original, fallback));
  if (!read.compileError && beside)
    KOPT_CHECK(readHostCode(read, beside->kernel));
  return read;
}

Result<HostText> CandidateReader::hostTextOf(const KernelSpec &kernel, const fs::path &file,
                                             const std::vector<std::string> &others) {
  HostRequest request{file.string(), kernel.compileFlags, kernel.directory, others};
  for (const TuneSubject &subject : subjects_)
    request.kernels.push_back(subject.kernel.name);
  return frontend_.hostText(request);
}

/// Reads the original's host code, once for each list of other kernels.
Result<const HostText *> CandidateReader::originalHostText(const KernelSpec &original,
                                                           const std::vector<std::string> &others) {
  const std::lock_guard turn(hostTextsInUse_);
  const auto key = std::pair(original.unit, others);
  auto known = hostTexts_.find(key);
  if (known == hostTexts_.end()) {
    KOPT_TRY(HostText text, hostTextOf(original, original.unit, others));
    known = hostTexts_.emplace(key, std::move(text)).first;
  }
  return &known->second;
}

Status CandidateReader::readHostCode(CandidateFile &file, const KernelSpec &original) {
  if (file.extraction.kernels.empty())
    return {};
  if (sameOutsideKernels(original.unit, extraction_, file.path.string(), file.extraction)) {
    // The candidate then opts in to more shared memory if the original does.
    KOPT_TRY(const std::string text, readFile(file.path));
    if (text.find("cudaFuncAttributeMaxDynamicSharedMemorySize") == text.npos)
      return {};
  }
  // A variable may also feed the launches of other kernels: where these are as they were, the
  // variable may change.
  std::vector<std::string> others;
  for (const KernelSpec &kernel : extraction_.kernels)
    if (std::ranges::any_of(file.extraction.kernels, [&](const KernelSpec &changed) {
          return changed.name == kernel.name && launchesAlike(kernel, changed);
        }))
      others.push_back(kernel.name);
  KOPT_TRY(const HostText *const known, originalHostText(original, others));
  const Result<HostText> text = hostTextOf(file.extraction.kernels.front(), file.path, others);
  if (!text && text.error().code == ErrorCode::BaselineFailed) {
    file.hostChange = fmt::format("of the candidate's file, {}", text.error().what);
    return {}; // the original's host code could be read
  }
  if (!text)
    return tl::unexpected(text.error());
  file.hostChange = hostChange(*known, extraction_, *text, file.extraction).value_or(std::string());
  file.largeShared.insert(text->largeShared.begin(), text->largeShared.end());
  return {};
}

} // namespace kopt
