// SPDX-License-Identifier: Apache-2.0
#include "driver/app/programs/LeftThere.h"

#include "driver/support/FileSystem.h"

namespace kopt {

namespace {
constexpr const char *kList = "left-there.json";
}

std::vector<WorkerFile> filesLeftThere(const std::filesystem::path &trace) {
  const auto text = readFile(trace / kList);
  if (!text)
    return {};
  return fromJson<std::vector<WorkerFile>>(nlohmann::json::parse(*text, nullptr, false))
      .value_or(std::vector<WorkerFile>());
}

Status leaveThere(const std::filesystem::path &trace, const std::vector<WorkerFile> &files) {
  return writeFileAtomically(trace / kList, dumpJson(toJson(files)) + "\n");
}

} // namespace kopt
