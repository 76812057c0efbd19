// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/parse/Toolkit.h"

#include "clang_plugin/parse/ParseCuda.h"

#include <cstdlib>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/Program.h>

namespace kopt::frontend {
namespace {

/// The folder above bin/, in which the running tool is installed.
std::string installPrefix() {
  static int anchor;
  std::string program = llvm::sys::fs::getMainExecutable("kopt-extract", &anchor);
  llvm::SmallString<256> real;
  if (llvm::sys::fs::real_path(program, real))
    real = program;
  return llvm::sys::path::parent_path(llvm::sys::path::parent_path(real)).str();
}

/// The first candidate that exists; the last one, so that messages can name it, where none does.
template <std::size_t N> std::string firstExisting(const std::string (&candidates)[N]) {
  for (const std::string &candidate : candidates)
    if (llvm::sys::fs::is_directory(candidate))
      return candidate;
  return candidates[N - 1];
}

bool isToolkit(const std::string &root) {
  return llvm::sys::fs::exists(root + "/include/cuda_runtime.h");
}

std::optional<std::string> toolkitOfNvcc() {
  llvm::ErrorOr<std::string> nvcc = llvm::sys::findProgramByName("nvcc");
  if (!nvcc)
    return std::nullopt;
  llvm::SmallString<256> real;
  if (llvm::sys::fs::real_path(*nvcc, real))
    return std::nullopt;
  return llvm::sys::path::parent_path(llvm::sys::path::parent_path(real)).str();
}

int numberAfter(llvm::StringRef text, llvm::StringRef key) {
  std::size_t at = text.find(key);
  int number = 0;
  if (at != llvm::StringRef::npos)
    text.drop_front(at + key.size()).ltrim().consumeInteger(10, number);
  return number;
}

} // namespace

std::optional<std::string> findCudaToolkit() {
  if (const char *chosen = std::getenv("KOPT_CUDA_PATH"); chosen && *chosen) {
    // A path that was asked for and is wrong must not fall back to another toolkit silently.
    if (!isToolkit(chosen))
      return std::nullopt;
    return std::string(chosen);
  }
  if (const char *path = std::getenv("CUDA_PATH"); path && *path && isToolkit(path))
    return std::string(path);
  if (std::optional<std::string> root = toolkitOfNvcc(); root && isToolkit(*root))
    return root;
  if (isToolkit("/usr/local/cuda"))
    return std::string("/usr/local/cuda");
  return std::nullopt;
}

std::optional<std::string> findNvcc() {
  std::optional<std::string> toolkit = findCudaToolkit();
  if (!toolkit || !llvm::sys::fs::can_execute(*toolkit + "/bin/nvcc"))
    return std::nullopt;
  return *toolkit + "/bin/nvcc";
}

ToolkitVersion toolkitVersion(const std::string &toolkit) {
  ToolkitVersion version;
  if (auto header = llvm::MemoryBuffer::getFile(toolkit + "/include/cuda.h")) {
    int number = numberAfter((*header)->getBuffer(), "#define CUDA_VERSION");
    version.major = number / 1000;
    version.minor = number % 1000 / 10;
  }
  if (auto json = llvm::MemoryBuffer::getFile(toolkit + "/version.json")) {
    llvm::StringRef text = (*json)->getBuffer();
    text = text.drop_front(std::min(text.find("\"cuda_nvcc\""), text.size()));
    std::string prefix = "\"version\" : \"" + std::to_string(version.major) + "." +
                         std::to_string(version.minor) + ".";
    version.build = numberAfter(text, prefix);
  }
  return version;
}

std::string clangResourceDirectory() {
  std::string candidates[] = {installPrefix() + "/lib/kopt/clang/19",
                              KOPT_LLVM_LIBRARY_DIR "/clang/19", "/usr/lib/llvm-19/lib/clang/19"};
  return firstExisting(candidates);
}

std::string emulatedIncludeDirectory() {
  std::string candidates[] = {installPrefix() + "/lib/kopt/emulated/include",
                              KOPT_FRONTEND_SOURCE_DIR "/runtime/emulated/include"};
  return firstExisting(candidates);
}

std::string runtimeIncludeDirectory() {
  std::string candidates[] = {installPrefix() + "/include",
                              KOPT_FRONTEND_SOURCE_DIR "/runtime/include"};
  // An installed prefix such as /usr has an include folder anyway: kopt's header decides.
  for (const std::string &candidate : candidates)
    if (llvm::sys::fs::exists(candidate + "/kopt/kopt.h"))
      return candidate;
  return candidates[1];
}

std::optional<std::string> userCacheDirectory() {
  if (const char *chosen = std::getenv("KOPT_CACHE_DIR"); chosen && *chosen) {
    llvm::SmallString<128> folder(chosen);
    llvm::sys::fs::make_absolute(folder);
    return std::string(folder);
  }
  for (auto [variable, below] : {std::pair("XDG_CACHE_HOME", "/kopt"), {"HOME", "/.cache/kopt"}})
    if (const char *root = std::getenv(variable); root && llvm::sys::path::is_absolute(root))
      return root + std::string(below);
  return std::nullopt;
}

std::string clangProgramName() { return "clang++"; }

} // namespace kopt::frontend
