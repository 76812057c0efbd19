// SPDX-License-Identifier: Apache-2.0
// Counts a kernel's machine code: as counters that are added to those of its launch, and by line.
#pragma once

#include "driver/device/sass/SassListing.h"
#include "driver/device/sass/SassMix.h"
#include "driver/sandbox/CompilerSandbox.h"

#include <future>

namespace kopt {

/// Runs NVIDIA's nvdisasm, if it is installed.
class Disassembler {
public:
  /// `program` is nvdisasm, or why there is none.
  Disassembler(ProcessRunner &processes, Result<std::filesystem::path> program,
               CompilerSandbox sandbox = CompilerSandbox())
      : processes_(processes), program_(std::move(program)), sandbox_(std::move(sandbox)) {}

  /// Lists the code of a cubin. Fails with the reason if there is no nvdisasm, and with Internal if
  /// it cannot list the module: its version may be older than nvcc's.
  Result<SassListing> list(const std::filesystem::path &cubin) const;

private:
  ProcessRunner &processes_;
  Result<std::filesystem::path> program_;
  CompilerSandbox sandbox_;
};

class CodeCounter {
public:
  explicit CodeCounter(Disassembler disassembler) : disassembler_(std::move(disassembler)) {}

  using Listing = std::future<Result<SassListing>>;
  /// Begins to list the code of a cubin, on another thread: it takes half a second, in which the
  /// kernel's launch can be counted.
  Listing begin(const std::filesystem::path &cubin) const;

  /// Waits for the listing, and adds sassCounters() of `symbol` (or of the cubin's only function),
  /// and the stage "disassemble", the wait. If there are none, adds the reason to `detail`; a
  /// missing nvdisasm is reported once and not tried again.
  void addTo(ProfileOutcome &outcome, Listing begun, const std::string &symbol);

  /// The instructions of the code by line, lines inside loops first; sectors are not known. The
  /// module needs line information. Fails as Disassembler::list(), and with Internal if the listing
  /// does not have the kernel.
  Result<std::vector<LineCost>> lines(const std::filesystem::path &cubin,
                                      const std::string &symbol) const;

private:
  Disassembler disassembler_;
  bool unavailable_ = false;
};

/// The kernel's name in the listing; empty if the listing does not have it.
std::string symbolIn(const SassListing &listing, const std::string &symbol);

} // namespace kopt
