// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/observed/TraceFolder.h"

#include "driver/support/Text.h"
#include "runtime/trace/LogReader.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <memory>

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
          "note: process {} did not come to its end: durations of its last launches may be missing",
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
        fs::exists(entry.path() / trace::kLogFile, error))
      logs.push_back(entry.path() / trace::kLogFile);
  if (logs.empty())
    return makeError(ErrorCode::Usage, fmt::format("{} is no trace of kopt", folder.string()),
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

std::string kernelName(const std::string &symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || !demangled)
    return symbol;
  std::string text = replaceAll(demangled.get(), "(anonymous namespace)::", "");
  // The parameters begin at the parenthesis that the last one closes; the result type ends at the
  // last blank before the name that is outside of template arguments.
  std::size_t end = text.size();
  if (const std::size_t close = text.rfind(')'); close != std::string::npos) {
    int depth = 0;
    for (std::size_t at = close + 1; at-- > 0;) {
      depth += text[at] == ')' ? 1 : text[at] == '(' ? -1 : 0;
      if (depth == 0) {
        end = at;
        break;
      }
    }
  }
  text.resize(end);
  int depth = 0;
  for (std::size_t at = text.size(); at-- > 0;) {
    depth += text[at] == '>' ? 1 : text[at] == '<' ? -1 : 0;
    if (depth == 0 && text[at] == ' ')
      return text.substr(at + 1);
  }
  return text;
}

bool namesKernel(const std::string &name, const std::string &symbol) {
  const std::string full = kernelName(symbol);
  const std::string plain = full.substr(0, full.find('<'));
  const std::size_t scope = plain.rfind("::");
  const std::string last = scope == std::string::npos ? plain : plain.substr(scope + 2);
  for (const std::string &candidate : {symbol, full, plain, last})
    if (candidate == name || fnmatch(name.c_str(), candidate.c_str(), 0) == 0)
      return true;
  return false;
}

std::optional<std::string> whyNotReplayable(const runtime::trace::Launch &launch) {
  if (launch.fromGraph)
    return "it is launched by a graph, where no snapshot can be taken";
  if (launch.flags & runtime::trace::kLayoutUnknown)
    return "the driver does not say how large its parameters are (that came with CUDA 12.4)";
  if (launch.flags & runtime::trace::kCluster)
    return "it is a launch with thread block clusters, which kopt cannot repeat yet";
  if (launch.flags & runtime::trace::kUnknownAttributes)
    return "it has launch attributes that this version of kopt does not know";
  return std::nullopt;
}

} // namespace kopt
