// SPDX-License-Identifier: Apache-2.0
// Which CUDA toolkit kopt uses. The front end, which proves slices with its nvcc, and the driver,
// which builds candidates with it, both include this header, so that they cannot disagree. It needs
// only the standard library.
//
// A folder is a toolkit if it holds include/cuda_runtime.h; its compiler is bin/nvcc in it. The
// first of these that leads to a toolkit is used:
//
//   1. KOPT_CUDA_PATH  the folder. It decides: if it is not a toolkit, that is an error, and
//                      nothing else is tried. The value `none` hides CUDA: no compiler, tool,
//                      library or header is used, wherever it is installed.
//   2. CUDACXX         the nvcc that it names, by path or by a name in PATH
//   3. CUDA_PATH       the folder
//   4. CUDA_HOME       the folder
//   5. PATH            each nvcc in it, in order
//   6. /usr/local/cuda
//
// From 2 on this is the order of CMake's FindCUDAToolkit, so that a project is tuned with the
// toolkit that it is built with. Two things differ: kopt reads CUDA_HOME too, and it does not read
// CUDAToolkit_ROOT, in whose place it has KOPT_CUDA_PATH. The toolkit of a compiler is the folder
// above the `bin` that holds it, symbolic links followed. An empty variable counts as unset, and
// relative paths are relative to the current directory.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace kopt {

/// The parts of the machine that a look-up depends on.
struct CudaSite {
  /// The value of an environment variable; empty if it is unset.
  std::function<std::string(const char *)> variable = [](const char *name) {
    const char *value = std::getenv(name);
    return std::string(value ? value : "");
  };
  /// What lies below "/" for the folders that no variable names, such as /usr/local/cuda.
  std::filesystem::path root = "/";
};

/// The chosen toolkit, or why there is none.
struct CudaRoot {
  enum class State {
    Found,
    Missing, ///< no place leads to a toolkit
    Hidden,  ///< by KOPT_CUDA_PATH=none
    Wrong,   ///< KOPT_CUDA_PATH names something that is not a toolkit
  };
  State state = State::Missing;
  std::filesystem::path folder; ///< absolute; empty unless Found
  std::string chosenBy;         ///< "KOPT_CUDA_PATH", …, "PATH", "/usr/local/cuda"
  /// Places before it that name something else: "CUDA_PATH=/opt/old has no include/cuda_runtime.h".
  std::vector<std::string> passedOver;
  std::string problem; ///< one sentence on why there is none; empty where Found
  std::string remedy;  ///< what to do about it; empty where Found

  /// Its compiler; empty if there is no toolkit or no compiler in it.
  std::filesystem::path nvcc() const;
  /// KOPT_CUDA_PATH for a child that shall come to the same decision; empty: as it is, because it
  /// is wrong and the child has to say so.
  std::string forChildren() const;
};

inline bool isCudaProgram(const std::filesystem::path &file) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0;
}

inline bool isCudaToolkit(const std::filesystem::path &folder) {
  std::error_code ignored;
  return folder.is_absolute() &&
         std::filesystem::exists(folder / "include/cuda_runtime.h", ignored);
}

/// The folders of a list such as PATH, absolute.
inline std::vector<std::filesystem::path> foldersIn(std::string_view list) {
  std::vector<std::filesystem::path> folders;
  std::error_code ignored;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(':', begin), list.size());
    if (end > begin)
      folders.push_back(std::filesystem::absolute(list.substr(begin, end - begin), ignored));
    begin = end + 1;
  }
  return folders;
}

inline CudaRoot findCudaRoot(const CudaSite &site = {}) {
  namespace fs = std::filesystem;
  CudaRoot found;
  const auto take = [&](const fs::path &folder, const std::string &by) {
    found.state = CudaRoot::State::Found;
    found.folder = folder;
    found.chosenBy = by;
    return found;
  };
  const auto absolute = [](const std::string &path) {
    std::error_code ignored;
    fs::path folder = fs::absolute(path, ignored).lexically_normal();
    return folder.has_filename() ? folder : folder.parent_path();
  };
  const auto ofCompiler = [](const fs::path &nvcc) -> fs::path {
    std::error_code ignored;
    for (const fs::path &file : {fs::canonical(nvcc, ignored), nvcc.lexically_normal()})
      if (const fs::path folder = file.parent_path().parent_path(); isCudaToolkit(folder))
        return folder;
    return {};
  };

  if (const std::string chosen = site.variable("KOPT_CUDA_PATH"); chosen == "none") {
    found.state = CudaRoot::State::Hidden;
    found.problem = "CUDA is hidden by KOPT_CUDA_PATH=none";
    found.remedy = "unset KOPT_CUDA_PATH, or set it to the folder of a CUDA toolkit";
    return found;
  } else if (!chosen.empty()) {
    if (isCudaToolkit(absolute(chosen)))
      return take(absolute(chosen), "KOPT_CUDA_PATH");
    std::error_code ignored;
    found.state = CudaRoot::State::Wrong;
    found.problem = "KOPT_CUDA_PATH=" + chosen + " is not a CUDA toolkit: " +
                    (fs::is_directory(chosen, ignored) ? "it has no include/cuda_runtime.h"
                                                       : "there is no such folder");
    found.remedy = "set KOPT_CUDA_PATH to the folder that holds bin/nvcc and "
                   "include/cuda_runtime.h, unset it to let kopt look for a toolkit, or set it to "
                   "'none' to work without one";
    return found;
  }

  const std::vector<fs::path> path = foldersIn(site.variable("PATH"));
  if (const std::string compiler = site.variable("CUDACXX"); !compiler.empty()) {
    std::vector<fs::path> files;
    if (compiler.find('/') != compiler.npos)
      files.push_back(absolute(compiler));
    else
      for (const fs::path &folder : path)
        files.push_back(folder / compiler);
    for (const fs::path &file : files)
      if (isCudaProgram(file))
        if (const fs::path folder = ofCompiler(file); !folder.empty())
          return take(folder, "CUDACXX");
    found.passedOver.push_back("CUDACXX=" + compiler + " is not a compiler in a CUDA toolkit");
  }
  for (const char *variable : {"CUDA_PATH", "CUDA_HOME"})
    if (const std::string folder = site.variable(variable); !folder.empty()) {
      if (isCudaToolkit(absolute(folder)))
        return take(absolute(folder), variable);
      found.passedOver.push_back(std::string(variable) + "=" + folder +
                                 " has no include/cuda_runtime.h");
    }
  for (const fs::path &below : path)
    if (const fs::path nvcc = below / "nvcc"; isCudaProgram(nvcc)) {
      if (const fs::path folder = ofCompiler(nvcc); !folder.empty())
        return take(folder, "PATH");
      found.passedOver.push_back(nvcc.string() + " (in PATH) is not in a CUDA toolkit");
    }
  if (isCudaToolkit(site.root / "usr/local/cuda"))
    return take(site.root / "usr/local/cuda", "/usr/local/cuda");
  found.problem = "no CUDA toolkit was found: kopt looks at KOPT_CUDA_PATH, CUDACXX, CUDA_PATH, "
                  "CUDA_HOME, nvcc in PATH and /usr/local/cuda";
  for (const std::string &place : found.passedOver)
    found.problem += "; " + place;
  found.remedy = "install the CUDA toolkit, or set KOPT_CUDA_PATH to its folder";
  return found;
}

inline std::filesystem::path CudaRoot::nvcc() const {
  const std::filesystem::path file = folder / "bin/nvcc";
  return state == State::Found && isCudaProgram(file) ? file : std::filesystem::path();
}

inline std::string CudaRoot::forChildren() const {
  if (state == State::Wrong)
    return {};
  return state == State::Found ? folder.string() : "none";
}

struct CudaVersion {
  int major = 0, minor = 0, build = 0; ///< zeros where the toolkit does not say
};

/// From the contents of a toolkit's include/cuda.h and version.json.
inline CudaVersion cudaVersion(std::string_view header, std::string_view json) {
  const auto numberAfter = [](std::string_view text, std::string_view key) {
    std::size_t at = text.find(key);
    int number = 0;
    if (at == text.npos)
      return number;
    for (at += key.size(); at < text.size() && text[at] == ' ';)
      ++at;
    for (int digits = 0; at < text.size() && text[at] >= '0' && text[at] <= '9' && digits < 9;
         ++at, ++digits)
      number = 10 * number + (text[at] - '0');
    return number;
  };
  CudaVersion version;
  const int number = numberAfter(header, "#define CUDA_VERSION");
  version.major = number / 1000;
  version.minor = number % 1000 / 10;
  json.remove_prefix(std::min(json.find("\"cuda_nvcc\""), json.size()));
  version.build = numberAfter(json, "\"version\" : \"" + std::to_string(version.major) + "." +
                                        std::to_string(version.minor) + ".");
  return version;
}

} // namespace kopt
