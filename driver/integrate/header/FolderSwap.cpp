// SPDX-License-Identifier: Apache-2.0
#include "driver/integrate/header/FolderSwap.h"

#include "driver/integrate/patch/FileSwap.h"
#include "driver/support/FileSystem.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace kopt {
namespace {

namespace fs = std::filesystem;

std::error_code lastError() { return {errno, std::generic_category()}; }

} // namespace

Status changeFolder(const fs::path &folder, const std::map<std::string, std::string> &files) {
  std::error_code error;
  const bool existed = fs::exists(folder, error);
  const fs::path real = existed ? fs::canonical(folder, error) : folder;
  KOPT_CHECK(createDirectories(real.parent_path()));
  const std::string prefix = fmt::format(".{}-", real.filename().string());
  removeLeftovers(real.parent_path(), prefix);
  const fs::path fresh = real.parent_path() / fmt::format("{}{}", prefix, ::getpid());
  struct Remove {
    const fs::path &path;
    ~Remove() {
      std::error_code ignored;
      fs::remove_all(path, ignored);
    }
  } remove{fresh};
  if (!fs::create_directory(fresh, error) && error)
    return swapFailure("create", fresh, error);
  if (existed) {
    if (::access(real.c_str(), W_OK) != 0)
      return swapFailure("write to", real, lastError());
    fs::permissions(fresh, fs::status(real, error).permissions(), error);
    for (const fs::directory_entry &entry : fs::directory_iterator(real, error)) {
      const std::string name = entry.path().filename().string();
      if (!entry.is_regular_file() || entry.is_symlink())
        return makeError(ErrorCode::Usage,
                         fmt::format("{} is not a plain file, and kopt does not move it with its "
                                     "folder",
                                     entry.path().string()),
                         "keep nothing in this folder but what kopt wrote there", real.string());
      if (files.contains(name))
        continue;
      std::error_code link;
      fs::create_hard_link(entry.path(), fresh / name, link);
      if (link)
        fs::copy_file(entry.path(), fresh / name, link);
      if (link)
        return swapFailure("keep", entry.path(), link);
    }
    if (error)
      return swapFailure("read", real, error);
  }
  for (const auto &[name, text] : files)
    if (!text.empty())
      KOPT_CHECK(writeFileAtomically(fresh / name, text));
  if (!existed) {
    if (::rename(fresh.c_str(), real.c_str()) != 0)
      return swapFailure("create", real, lastError());
    return {};
  }
  if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, real.c_str(), RENAME_EXCHANGE) == 0)
    return {};
  const fs::path old = real.parent_path() / fmt::format("{}{}-old", prefix, ::getpid());
  if (::rename(real.c_str(), old.c_str()) != 0)
    return swapFailure("replace", real, lastError());
  if (::rename(fresh.c_str(), real.c_str()) != 0) {
    const std::error_code problem = lastError();
    ::rename(old.c_str(), real.c_str());
    return swapFailure("replace", real, problem);
  }
  fs::remove_all(old, error);
  return {};
}

} // namespace kopt
