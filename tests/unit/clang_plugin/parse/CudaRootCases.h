// SPDX-License-Identifier: Apache-2.0
// Machines with fake CUDA toolkits, and which toolkit is used on each. The front end and the driver
// are both held to this table.
#pragma once

#include "clang_plugin/parse/CudaRoot.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <ostream>
#include <string>
#include <unistd.h>
#include <vector>

namespace kopt::test {

struct CudaRootCase {
  const char *name;
  /// "@" is the folder of the fake machine.
  std::map<std::string, std::string> variables;
  const char *folder; ///< below the machine; empty: there is none
  const char *chosenBy;
  CudaRoot::State state = CudaRoot::State::Found;
};

inline void PrintTo(const CudaRootCase &one, std::ostream *out) { *out << one.name; }

inline const std::vector<CudaRootCase> &cudaRootCases() {
  using State = CudaRoot::State;
  static const std::vector<CudaRootCase> all = {
      {"TheUsualFolderIsTheLast", {}, "usr/local/cuda", "/usr/local/cuda"},
      {"PathIsBeforeTheUsualFolder", {{"PATH", "@/nothing:@/a/bin"}}, "a", "PATH"},
      {"TheFirstInPathIsUsed", {{"PATH", "@/b/bin:@/a/bin"}}, "b", "PATH"},
      {"LinksInPathAreFollowed", {{"PATH", "@/links"}}, "b", "PATH"},
      {"ACompilerOutsideAToolkitIsPassedOver", {{"PATH", "@/ccache:@/a/bin"}}, "a", "PATH"},
      {"CudaHomeIsBeforePath", {{"PATH", "@/b/bin"}, {"CUDA_HOME", "@/a"}}, "a", "CUDA_HOME"},
      {"CudaPathIsBeforeCudaHome", {{"CUDA_PATH", "@/b"}, {"CUDA_HOME", "@/a"}}, "b", "CUDA_PATH"},
      {"AVariableThatLeadsNowhereIsPassedOver",
       {{"CUDA_PATH", "@/nothing"}, {"CUDA_HOME", "@/a"}},
       "a",
       "CUDA_HOME"},
      {"AnEmptyVariableIsUnset",
       {{"CUDA_PATH", ""}, {"KOPT_CUDA_PATH", ""}},
       "usr/local/cuda",
       "/usr/local/cuda"},
      {"CudacxxIsBeforeCudaPath",
       {{"CUDACXX", "@/b/bin/nvcc"}, {"CUDA_PATH", "@/a"}, {"PATH", "@/a/bin"}},
       "b",
       "CUDACXX"},
      {"CudacxxMayBeANameInPath",
       {{"CUDACXX", "nvcc"}, {"CUDA_PATH", "@/a"}, {"PATH", "@/b/bin"}},
       "b",
       "CUDACXX"},
      {"AnotherCompilerInCudacxxIsPassedOver",
       {{"CUDACXX", "@/ccache/nvcc"}, {"CUDA_PATH", "@/a"}},
       "a",
       "CUDA_PATH"},
      {"KoptCudaPathIsBeforeAll",
       {{"KOPT_CUDA_PATH", "@/b/"}, {"CUDACXX", "@/a/bin/nvcc"}, {"CUDA_PATH", "@/a"}},
       "b",
       "KOPT_CUDA_PATH"},
      {"AToolkitMayHaveNoCompiler", {{"KOPT_CUDA_PATH", "@/headers"}}, "headers", "KOPT_CUDA_PATH"},
      {"AWrongKoptCudaPathIsNotReplaced",
       {{"KOPT_CUDA_PATH", "@/nothing"}, {"CUDA_PATH", "@/a"}, {"PATH", "@/a/bin"}},
       "",
       "",
       State::Wrong},
      {"NoneHidesAll",
       {{"KOPT_CUDA_PATH", "none"}, {"CUDA_PATH", "@/a"}, {"PATH", "@/a/bin"}},
       "",
       "",
       State::Hidden},
  };
  return all;
}

/// Folders of a case's machine: toolkits a, b, headers (without a compiler) and usr/local/cuda; an
/// nvcc outside a toolkit in ccache, and a link to b's in links.
class FakeCudaMachine {
public:
  FakeCudaMachine()
      : top_(std::filesystem::temp_directory_path() /
             ("kopt-cuda-machine-" + std::to_string(getpid()))) {
    std::filesystem::remove_all(top_);
    for (const char *toolkit : {"a", "b", "usr/local/cuda"})
      program(std::string(toolkit) + "/bin/nvcc");
    for (const char *toolkit : {"a", "b", "headers", "usr/local/cuda"}) {
      file(std::string(toolkit) + "/include/cuda_runtime.h");
      file(std::string(toolkit) + "/include/cuda.h", "#define CUDA_VERSION 12060\n");
    }
    program("ccache/nvcc");
    std::filesystem::create_directories(top_ / "links");
    std::filesystem::create_directories(top_ / "nothing");
    std::filesystem::create_symlink("../b/bin/nvcc", top_ / "links/nvcc");
  }
  ~FakeCudaMachine() {
    std::error_code ignored;
    std::filesystem::remove_all(top_, ignored);
  }
  FakeCudaMachine(const FakeCudaMachine &) = delete;

  std::filesystem::path file(const std::string &name, const std::string &text = "") const {
    std::filesystem::create_directories((top_ / name).parent_path());
    std::ofstream(top_ / name) << text;
    return top_ / name;
  }
  std::filesystem::path program(const std::string &name) const {
    file(name, "#!/bin/sh\n");
    std::filesystem::permissions(top_ / name, std::filesystem::perms::all);
    return top_ / name;
  }
  std::filesystem::path operator/(const std::string &name) const { return top_ / name; }

  CudaSite site(std::map<std::string, std::string> variables) const {
    for (auto &[name, value] : variables)
      for (std::size_t at; (at = value.find('@')) != value.npos;)
        value.replace(at, 1, top_.string());
    return {[variables](const char *name) {
              const auto found = variables.find(name);
              return found == variables.end() ? std::string() : found->second;
            },
            top_};
  }

private:
  std::filesystem::path top_;
};

} // namespace kopt::test
