// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/parse/Toolkit.h"

#include <cstdlib>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>

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

/// The first candidate that exists; if none does, the last one, so that messages can name it.
template <std::size_t N> std::string firstExisting(const std::string (&candidates)[N]) {
  for (const std::string &candidate : candidates)
    if (llvm::sys::fs::is_directory(candidate))
      return candidate;
  return candidates[N - 1];
}

std::string contentOf(const std::string &file) {
  auto buffer = llvm::MemoryBuffer::getFile(file);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

} // namespace

std::optional<std::string> findCudaToolkit(const CudaSite &site) {
  const CudaRoot root = findCudaRoot(site);
  return root.folder.empty() ? std::nullopt : std::optional(root.folder.string());
}

std::optional<std::string> findNvcc(const CudaSite &site) {
  const std::filesystem::path nvcc = findCudaRoot(site).nvcc();
  return nvcc.empty() ? std::nullopt : std::optional(nvcc.string());
}

CudaVersion toolkitVersion(const std::string &toolkit) {
  return cudaVersion(contentOf(toolkit + "/include/cuda.h"), contentOf(toolkit + "/version.json"));
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
