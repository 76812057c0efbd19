// SPDX-License-Identifier: Apache-2.0
// Where things are on this machine: the CUDA toolkit, Clang's resource directory, kopt's own
// headers.
#pragma once

#include "clang_plugin/parse/CudaRoot.h"

#include <optional>
#include <string>

namespace kopt::frontend {

/// The folder of the CUDA toolkit, as CudaRoot.h decides, or nothing.
std::optional<std::string> findCudaToolkit(const CudaSite &site = {});

/// The version in the toolkit's cuda.h and version.json; zeros if they do not give it.
CudaVersion toolkitVersion(const std::string &toolkit);

/// The toolkit's nvcc; nothing if there is no toolkit or no compiler in it.
std::optional<std::string> findNvcc(const CudaSite &site = {});

/// Clang's own headers: beside the tool (../lib/kopt/clang/19), or those of the LLVM it was built
/// with.
std::string clangResourceDirectory();

/// kopt's own declarations of the CUDA API (runtime/emulated/include): installed beside the tools,
/// or in the source tree.
std::string emulatedIncludeDirectory();

/// runtime/include: where <kopt/kopt.h> is.
std::string runtimeIncludeDirectory();

/// The user's folder for what kopt can make again: $KOPT_CACHE_DIR, else $XDG_CACHE_HOME/kopt, else
/// ~/.cache/kopt. Nothing if neither of the last two gives an absolute path. May not exist yet.
std::optional<std::string> userCacheDirectory();

/// The program name given to Clang's driver, which finds the host's C++ library by it.
std::string clangProgramName();

} // namespace kopt::frontend
