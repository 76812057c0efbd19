// SPDX-License-Identifier: Apache-2.0
#include "driver/device/capture/ObserveProgram.h"

#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"
#include "runtime/runner/Protocol.h"

#include <algorithm>
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

namespace kopt {

namespace fs = std::filesystem;
namespace trace = runtime::trace;

namespace {

std::string configText(const CaptureSetup &setup, const std::vector<SnapshotOrder> &orders,
                       const TraceSettings &limits, const fs::path &folder) {
  using runtime::protocol::encode;
  std::string text = "trace " + encode(folder.string()) + "\n";
  for (const fs::path &cupti : setup.cupti.value_or(std::vector<fs::path>()))
    text += "cupti " + encode(cupti.string()) + "\n";
  text += fmt::format("max-launches {}\nmax-snapshot-bytes {}\ndepth {}\ncode {:d}\n",
                      limits.launches, limits.snapshotBytesIn(folder), limits.depth, limits.code);
  for (const SnapshotOrder &order : orders)
    text += fmt::format("snapshot symbol {} {}\n", encode(order.symbol), order.how);
  return text;
}

std::string commandText(const std::vector<std::string> &command) { return join(command, " "); }

/// The last lines of a program's output.
std::string tail(const std::string &text, std::size_t lines) {
  std::size_t at = text.size();
  for (std::size_t i = 0; i <= lines && at != std::string::npos && at > 0; ++i)
    at = text.rfind('\n', at - 1);
  return at == std::string::npos || at == 0 ? text : text.substr(at + 1);
}

} // namespace

CaptureSetup findCapture(const fs::path &programs, const CudaToolkit &cuda) {
  CaptureSetup setup;
  const fs::path library = (programs / "../lib/kopt/libkopt-capture.so").lexically_normal();
  if (isThere(library))
    setup.library = library;
  setup.cupti = cuda.cupti;
  if (void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL)) {
    setup.hasDriver = true;
    dlclose(driver);
  } else {
    const char *why = dlerror();
    setup.driverProblem = why ? why : "libcuda.so.1 cannot be loaded";
  }
  return setup;
}

Status checkCapture(const CaptureSetup &setup) {
  if (setup.library.empty())
    return makeError(ErrorCode::Environment,
                     "libkopt-capture.so is missing from this installation of kopt",
                     "build or install kopt as a whole");
  if (!setup.hasDriver)
    return makeError(
        ErrorCode::Environment,
        "the CUDA driver is missing, so programs cannot be observed: " + setup.driverProblem,
        "observe on the machine with the GPU; the trace can be replayed on other machines");
  if (!setup.cupti)
    return tl::unexpected(setup.cupti.error());
  return {};
}

Result<ObservedTrace> observeProgram(ProcessRunner &processes, const CaptureSetup &setup,
                                     const std::vector<std::string> &command,
                                     const std::vector<SnapshotOrder> &orders,
                                     const TraceSettings &limits, const fs::path &folder,
                                     ProgramRun &run) {
  KOPT_CHECK(checkCapture(setup));
  KOPT_CHECK(createDirectories(folder));
  const fs::path config = folder / "capture.txt", whole = fs::absolute(folder);
  KOPT_CHECK(writeFileAtomically(config, configText(setup, orders, limits, whole)));
  ProcessSpec spec;
  spec.argv = command;
  spec.env["CUDA_INJECTION64_PATH"] = fs::absolute(setup.library).string();
  spec.env["KOPT_CAPTURE_CONFIG"] = fs::absolute(config).string();
  const auto result = processes.run(spec);
  if (!result) // not found, or not executable
    return makeError(ErrorCode::Usage, result.error().what,
                     "give the program after --, as you start it in this folder",
                     result.error().where);
  run.exitCode = result->exitCode;
  run.seconds = result->wall.count();
  run.out = result->out;
  run.err = result->err;
  auto read = readTrace(whole);
  // A program may end with another code than 0 and mean it, but not by a signal or before its work.
  constexpr int kSignals = 128;
  if (run.exitCode >= kSignals || (run.exitCode != 0 && (!read || read->launchCount() == 0)))
    return makeError(ErrorCode::BaselineFailed,
                     fmt::format("'{}' ended with exit code {} while it was observed",
                                 commandText(command), run.exitCode),
                     "check whether it does so without kopt; its last output was:\n" +
                         tail(run.err.empty() ? run.out : run.err, 5));
  if (!read)
    return read.error().code != ErrorCode::Usage
               ? Result<ObservedTrace>(tl::unexpected(read.error()))
               : makeError(ErrorCode::BaselineFailed,
                           fmt::format("'{}' never used CUDA", commandText(command)),
                           "give the arguments with which it launches its kernels");
  for (const trace::ProcessTrace &process : read->processes)
    for (const std::string &note : process.notes)
      if (note.starts_with("error: "))
        return makeError(
            ErrorCode::Environment, "nothing could be recorded: " + note.substr(7),
            "CUPTI comes with the CUDA toolkit (extras/CUPTI/lib64): install one that the driver "
            "supports, or "
            "name its libcupti.so in KOPT_CUPTI; no other profiler may watch the program");
  if (read->launchCount() == 0)
    return makeError(ErrorCode::BaselineFailed,
                     fmt::format("'{}' launched no kernel", commandText(command)),
                     "give the arguments with which it launches its kernels");
  return read;
}

std::uint64_t TraceSettings::snapshotBytesIn(const fs::path &folder) const {
  if (snapshotBytes > 0)
    return snapshotBytes;
  std::error_code error;
  fs::path place = fs::absolute(folder);
  while (!isThere(place) && place.has_relative_path())
    place = place.parent_path();
  const fs::space_info space = fs::space(place, error);
  const std::uint64_t memory =
      std::uint64_t(sysconf(_SC_PHYS_PAGES)) * std::uint64_t(sysconf(_SC_PAGESIZE));
  return std::min(memory / 4, error ? memory / 4 : std::uint64_t(space.available) / 2);
}

} // namespace kopt
