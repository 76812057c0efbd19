// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/observed/TraceFolder.h"

#include "driver/support/FileSystem.h"
#include "runtime/trace/Contents.h"
#include "runtime/trace/LogReader.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {

namespace trace = runtime::trace;

std::size_t ObservedTrace::launchCount() const {
  std::size_t count = 0;
  for (const trace::ProcessTrace &process : processes)
    count += process.launches.size();
  return count;
}

std::vector<std::string> ObservedTrace::notes() const {
  std::vector<std::string> all;
  const auto add = [&](const std::string &note) {
    if (std::find(all.begin(), all.end(), note) == all.end())
      all.push_back(note);
  };
  for (const trace::ProcessTrace &process : processes) {
    for (const std::string &note : process.notes)
      add(note);
    if (!process.totals.empty())
      add(fmt::format("warning: process {} made {} launches; only the first {} are recorded",
                      process.info.pid, process.countedLaunches, process.launches.size()));
    if (process.full)
      add(fmt::format("warning: the log of process {} was full: {} records are missing",
                      process.info.pid, process.lostRecords));
    if (!process.ended)
      add(fmt::format(
          "note: process {} did not end normally: durations of its last launches may be missing",
          process.info.pid));
  }
  return all;
}

Result<ObservedTrace> readTrace(const std::filesystem::path &folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<fs::path> logs;
  for (const auto &entry : fs::directory_iterator(folder, error))
    if (entry.path().filename().string().starts_with("process-") &&
        isThere(entry.path() / trace::kLogFile))
      logs.push_back(entry.path() / trace::kLogFile);
  if (logs.empty())
    return makeError(ErrorCode::Usage, fmt::format("{} is not a kopt trace", folder.string()),
                     "record one with 'kopt observe --output FOLDER -- PROGRAM ...'");
  std::sort(logs.begin(), logs.end());
  ObservedTrace all;
  all.folder = fs::absolute(folder);
  for (const fs::path &log : logs) {
    std::string why;
    if (!trace::readLogFile(log.string(), all.processes.emplace_back(), why))
      return makeError(ErrorCode::StaleInput, "this trace cannot be read: " + why,
                       "record it again", log.string());
  }
  return all;
}

Result<std::string> capturedBytes(const std::string &path) {
  std::string why;
  const auto file = trace::ContentsFile::open(path, why);
  std::string bytes(file ? file->bytes() : 0, '\0');
  if (!file || !file->verify(why) ||
      !file->read(0, bytes.size(), reinterpret_cast<std::byte *>(bytes.data()), why))
    return makeError(ErrorCode::StaleInput, "the trace is damaged: " + why, "record it again",
                     path);
  return bytes;
}

std::optional<std::string> whyNotReplayable(const runtime::trace::Launch &launch) {
  if (launch.fromGraph)
    return "it is launched by a graph, where no snapshot can be taken";
  if (launch.flags & runtime::trace::kLayoutUnknown)
    return "the driver does not report the size of its parameters (CUDA 12.4 and later do)";
  if (launch.flags & runtime::trace::kCluster)
    return "it is a launch with thread block clusters, which kopt cannot repeat yet";
  if (launch.flags & runtime::trace::kUnknownAttributes)
    return "it has launch attributes that this version of kopt does not know";
  return std::nullopt;
}

} // namespace kopt
