// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/observed/TraceCache.h"

#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "driver/support/MappedFile.h"
#include "driver/support/Process.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace kopt {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kTracesKept = 8;
constexpr char kWholeMark[] = "complete";

} // namespace

Result<std::string> commandIdentity(const std::vector<std::string> &command) {
  fs::path program = command.front();
  if (program.string().find('/') == std::string::npos) {
    const auto found = findProgram(program.string());
    if (!found)
      return makeError(ErrorCode::Usage,
                       fmt::format("program '{}' was not found in PATH", program.string()),
                       "write ./NAME for one in this folder");
    program = *found;
  }
  std::error_code error;
  std::string identity = fs::absolute(program).string();
  for (std::size_t i = 0; i < command.size(); ++i) {
    const fs::path file = i == 0 ? program : fs::path(command[i]);
    identity += "\n" + command[i];
    // Scripts and input files decide what is launched, as the program does.
    if (i == 0 || (fs::is_regular_file(file, error) && fs::file_size(file, error) > 0)) {
      KOPT_TRY(const MappedFile content, MappedFile::open(file));
      identity += "=" + hashHex(content.bytes());
    }
  }
  return identity;
}

TraceCache::Key TraceCache::keyOf(const std::string &identity,
                                  const std::vector<KernelInstance> &kernels) {
  std::string signatures;
  const KernelSpec *last = nullptr;
  for (const auto &[kernel, specialization] : kernels) {
    if (!specialization)
      continue;
    signatures += specialization->symbol;
    for (const KernelParam &param : specialization->params)
      signatures += fmt::format(" {}:{}", param.type, param.size);
    signatures += "\n";
    if (std::exchange(last, kernel) == kernel)
      continue;
    for (const LaunchSite &site : kernel->launches) {
      signatures += site.symbol + " " + site.sharedBytes;
      for (std::size_t axis = 0; axis < 3; ++axis)
        signatures += " " + site.grid[axis] + " " + site.block[axis];
      signatures += " " + join(site.args, ", ") + "\n";
    }
  }
  return Key{hashFields(identity, signatures, fs::current_path().string())};
}

bool TraceCache::holds(const Key &key) const { return fs::exists(folderOf(key) / kWholeMark); }

Status TraceCache::keep(const Key &key) const {
  KOPT_CHECK(writeFileAtomically(folderOf(key) / kWholeMark, "\n"));
  std::vector<std::pair<fs::file_time_type, fs::path>> traces;
  std::error_code error;
  for (const auto &entry : fs::directory_iterator(folder_, error))
    traces.emplace_back(fs::last_write_time(entry.path(), error), entry.path());
  std::sort(traces.rbegin(), traces.rend());
  for (std::size_t i = kTracesKept; i < traces.size(); ++i)
    fs::remove_all(traces[i].second, error);
  return {};
}

} // namespace kopt
