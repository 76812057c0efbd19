// SPDX-License-Identifier: Apache-2.0
// Reads files of candidates beside the user's own file.
#pragma once

#include "driver/app/services/Sources.h"
#include "driver/source/candidate/CandidateFile.h"
#include "driver/support/RelativeDeadline.h"

#include <atomic>
#include <map>
#include <mutex>

namespace kopt {

class CandidateReader {
public:
  /// All must outlive the reader. `deadline` limits the time to compile a candidate, relative to
  /// that of the user's own file: a text may be made to compile slowly.
  CandidateReader(Frontend &frontend, const SourceSettings &sources,
                  const ExtractionResult &extraction, const std::vector<TuneSubject> &subjects,
                  const RelativeDeadline &deadline, std::string deviceArch,
                  std::filesystem::path scratch)
      : frontend_(frontend), sources_(sources), extraction_(extraction), subjects_(subjects),
        deadline_(deadline), deviceArch_(std::move(deviceArch)), scratch_(std::move(scratch)) {}

  /// Reads a candidate's file as a version of the file of `beside` (null: the first subject), with
  /// its flags. If those name no GPU architecture, and the file uses features that nvcc's default
  /// lacks, it is read for `arch` (empty: the device's). Also finds changes of host code. Fails as
  /// readCandidateFile() and Frontend::hostText(). May be called from several threads.
  Result<CandidateFile> read(const std::filesystem::path &file, const std::string &arch,
                             const TuneSubject *beside);

private:
  Status readHostCode(CandidateFile &file, const KernelSpec &original);
  /// Without what only feeds launches of the subjects and of the kernels `others`.
  Result<const HostText *> originalHostText(const KernelSpec &original,
                                            const std::vector<std::string> &others);
  Result<HostText> hostTextOf(const KernelSpec &kernel, const std::filesystem::path &file,
                              const std::vector<std::string> &others);

  Frontend &frontend_;
  const SourceSettings &sources_;
  const ExtractionResult &extraction_;
  const std::vector<TuneSubject> &subjects_;
  const RelativeDeadline &deadline_;
  std::string deviceArch_;
  std::filesystem::path scratch_;
  std::atomic<unsigned> read_ = 0; ///< number of files
  /// Of the user's files, by path and the other kernels whose launches are left out.
  std::mutex hostTextsInUse_;
  std::map<std::pair<std::string, std::vector<std::string>>, HostText> hostTexts_;
};

} // namespace kopt
