// SPDX-License-Identifier: Apache-2.0
#include "driver/app/services/Installation.h"

#include <cstdlib>
#include <fmt/format.h>
#include <utility>

namespace kopt {

namespace fs = std::filesystem;

fs::path cacheFolder() {
  for (const auto &[variable, below] :
       {std::pair("KOPT_CACHE_DIR", ""), {"XDG_CACHE_HOME", "kopt"}, {"HOME", ".cache/kopt"}})
    if (const char *value = std::getenv(variable); value && *value)
      return *below ? fs::path(value) / below : fs::path(value);
  std::error_code ignored; // if it is not a folder, the code that writes there reports that
  return fs::temp_directory_path(ignored) / "kopt-cache";
}

fs::path buildCacheFolder() { return cacheFolder() / "builds"; }

fs::path userFolder() {
  for (const auto &[variable, below] :
       {std::pair("KOPT_DATA_DIR", ""), {"XDG_DATA_HOME", "kopt"}, {"HOME", ".local/share/kopt"}})
    if (const char *value = std::getenv(variable); value && *value)
      return *below ? fs::path(value) / below : fs::path(value);
  return cacheFolder();
}

Result<Installation> findInstallation() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error)
    return makeError(ErrorCode::Environment,
                     "cannot find kopt's own executable: " + error.message(), "mount /proc");
  Installation found;
  found.cuda = CudaToolkit::find();
  const fs::path bin = self.parent_path();
  if (fs::exists(bin / "kopt-frontend"))
    found.frontend = bin / "kopt-frontend";
  found.runner = bin / "kopt-runner";
  found.sandbox = bin / "kopt-sandbox";
  for (const fs::path &program : {found.runner, found.sandbox})
    if (!fs::exists(program))
      return makeError(ErrorCode::Environment, fmt::format("{} is missing", program.string()),
                       "build or install kopt as a whole: its programs belong in one folder");
  for (const fs::path &headers :
       {bin / "../lib/kopt", bin / "../include", fs::path(KOPT_SOURCE_DIRECTORY "/runtime")})
    if (fs::is_directory(headers))
      found.headers.push_back(fs::weakly_canonical(headers));
  // First the data installed beside the programs, then, for a build tree, those of the source.
  for (const fs::path &specs :
       {bin / "../share/kopt/knowledge/gpus", fs::path(KOPT_SOURCE_DIRECTORY "/knowledge/gpus")})
    if (fs::is_directory(specs)) {
      found.gpuSpecs = fs::weakly_canonical(specs);
      return found;
    }
  return makeError(ErrorCode::Environment,
                   fmt::format("the GPU descriptions are missing (looked for {})",
                               (bin / "../share/kopt/knowledge/gpus").lexically_normal().string()),
                   "install kopt as a whole");
}

} // namespace kopt
