// SPDX-License-Identifier: Apache-2.0
#include "driver/device/CudaToolkit.h"

#include "driver/support/FileSystem.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {
namespace {

namespace fs = std::filesystem;
using Paths = std::vector<fs::path>;

/// A tool or library: its name for the user, and where it may be.
struct Part {
  const char *name;
  Paths places;
  const char *elsewhere; ///< places other than the toolkit, in words; empty: none
  const char *remedy;
};

tl::unexpected<Error> missing(const Part &part, const CudaRoot &root) {
  if (root.state == CudaRoot::State::Hidden || root.state == CudaRoot::State::Wrong)
    return makeError(ErrorCode::Environment,
                     fmt::format("{} is not used: {}", part.name, root.problem), root.remedy);
  if (root.state == CudaRoot::State::Missing && !*part.elsewhere)
    return makeError(ErrorCode::Environment,
                     fmt::format("{} was not found: {}", part.name, root.problem), root.remedy);
  const std::string toolkit =
      root.folder.empty() ? "there is no CUDA toolkit"
                          : fmt::format("the CUDA toolkit {} (chosen by {}) does not have it",
                                        root.folder.string(), root.chosenBy);
  return makeError(ErrorCode::Environment,
                   fmt::format("{} was not found: {}{}{}", part.name, toolkit,
                               *part.elsewhere ? ", nor is it in " : "", part.elsewhere),
                   part.remedy);
}

Result<fs::path> program(const Part &part, const CudaRoot &root) {
  const auto found = std::ranges::find_if(part.places, isCudaProgram);
  if (found == part.places.end())
    return missing(part, root);
  return *found;
}

/// The paths of `name` in each folder, in order.
Paths in(const Paths &folders, const char *name) {
  Paths files;
  for (const fs::path &folder : folders)
    files.push_back(folder / name);
  return files;
}

/// `name` in each version below the folder, the newest first.
Paths inVersions(const fs::path &folder, const char *name) {
  Paths files;
  std::error_code ignored;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, ignored))
    files.push_back(entry.path() / name);
  std::ranges::sort(files, std::greater());
  return files;
}

Paths operator+(Paths first, const Paths &second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// The files of CUPTI in the folders: by the name for linking, and by the names of the versions
/// that kopt knows, because a package without headers has only those.
Paths cuptiIn(const Paths &folders) {
  Paths files;
  std::error_code ignored;
  for (const fs::path &folder : folders)
    for (const char *name : {"libcupti.so", "libcupti.so.13", "libcupti.so.12"}) {
      const fs::path file = folder / name;
      const auto isSame = [&](const fs::path &known) {
        return fs::equivalent(known, file, ignored);
      };
      if (fs::exists(file, ignored) && std::ranges::none_of(files, isSame))
        files.push_back(file);
    }
  return files;
}

std::string versionOf(const fs::path &toolkit) {
  const auto header = readFile(toolkit / "include/cuda.h");
  const CudaVersion version = cudaVersion(header ? *header : std::string(), "");
  return version.major ? fmt::format("{}.{}", version.major, version.minor) : std::string();
}

Result<Paths> findCupti(const CudaSite &site, const CudaRoot &root) {
  Part part{"CUPTI (libcupti.so)",
            {},
            "LD_LIBRARY_PATH or the system's libraries",
            "install CUPTI with the CUDA toolkit (package cuda-cupti), or name its libcupti.so in "
            "KOPT_CUPTI"};
  if (const std::string named = site.variable("KOPT_CUPTI"); !named.empty()) {
    std::error_code ignored;
    for (const fs::path &file : foldersIn(named))
      if (!fs::exists(file, ignored))
        return makeError(ErrorCode::Environment,
                         fmt::format("KOPT_CUPTI names {}, which does not exist", file.string()),
                         "set KOPT_CUPTI to a libcupti.so, or unset it");
      else
        part.places.push_back(file);
  } else {
    Paths folders;
    if (root.state == CudaRoot::State::Found)
      for (const char *below : {"extras/CUPTI/lib64", "lib64", "targets/x86_64-linux/lib"})
        folders.push_back(root.folder / below);
    for (const fs::path &folder : foldersIn(site.variable("LD_LIBRARY_PATH")))
      folders.push_back(folder);
    for (const char *below : {"usr/lib/x86_64-linux-gnu", "usr/lib64"})
      folders.push_back(site.root / below);
    part.places = cuptiIn(folders);
  }
  if (part.places.empty())
    return missing(part, root);
  return part.places;
}

} // namespace

tl::unexpected<Error> CudaToolkit::notLookedUp() {
  return makeError(ErrorCode::Environment, "no CUDA toolkit was looked for");
}

CudaToolkit CudaToolkit::find(const CudaSite &site) {
  CudaToolkit toolkit;
  toolkit.root = findCudaRoot(site);
  const CudaRoot &root = toolkit.root;
  const auto lacks = [&](const char *name) { return missing({name, {}, "", ""}, root); };
  if (root.state == CudaRoot::State::Hidden || root.state == CudaRoot::State::Wrong) {
    toolkit.nvcc = lacks("nvcc");
    toolkit.nvdisasm = lacks("nvdisasm");
    toolkit.ncu = lacks("Nsight Compute (ncu)");
    toolkit.computeSanitizer = lacks("compute-sanitizer");
    toolkit.cupti = lacks("CUPTI (libcupti.so)");
    return toolkit;
  }
  const bool found = root.state == CudaRoot::State::Found;
  const auto own = [&](Paths below) {
    for (fs::path &place : below)
      place = root.folder / place;
    return found ? below : Paths();
  };
  if (found)
    toolkit.version = versionOf(root.folder);
  const Paths path = foldersIn(site.variable("PATH"));
  Paths named;
  for (const fs::path &place : foldersIn(site.variable("NVDISASM_PATH")))
    named.insert(named.end(), {place, place / "nvdisasm"});

  toolkit.nvcc = program({"nvcc", own({"bin/nvcc"}), "",
                          "install the compiler of this CUDA toolkit (package cuda-nvcc), or set "
                          "KOPT_CUDA_PATH to a folder that has bin/nvcc"},
                         root);
  toolkit.nvdisasm = program(
      {"nvdisasm", own({"bin/nvdisasm"}) + named + in(path, "nvdisasm"), "NVDISASM_PATH or PATH",
       "install it with the CUDA toolkit (package cuda-nvdisasm), or name it in "
       "NVDISASM_PATH"},
      root);
  toolkit.ncu = program({"Nsight Compute (ncu)",
                         own({"bin/ncu"}) + in(path, "ncu") +
                             inVersions(site.root / "opt/nvidia/nsight-compute", "ncu"),
                         "PATH or /opt/nvidia/nsight-compute",
                         "install Nsight Compute, or put the folder of ncu into PATH"},
                        root);
  toolkit.computeSanitizer =
      program({"compute-sanitizer",
               own({"bin/compute-sanitizer", "compute-sanitizer/compute-sanitizer"}) +
                   in(path, "compute-sanitizer"),
               "PATH",
               "install it with the CUDA toolkit (package cuda-sanitizer), or put its folder into "
               "PATH"},
              root);
  toolkit.cupti = findCupti(site, root);
  return toolkit;
}

Paths CudaToolkit::folders() const {
  Paths all;
  if (!root.folder.empty())
    all.push_back(root.folder);
  if (cupti)
    for (const fs::path &file : *cupti)
      all.push_back(file.parent_path());
  // A path through a symbolic link needs both the link and its target to be readable.
  std::error_code ignored;
  for (std::size_t i = 0, count = all.size(); i < count; ++i)
    if (const fs::path real = fs::canonical(all[i], ignored); !ignored && real != all[i])
      all.push_back(real);
  return all;
}

std::string CudaToolkit::cuptiForChildren() const {
  std::string list;
  if (cupti)
    for (const fs::path &file : *cupti)
      list += (list.empty() ? "" : ":") + file.string();
  return list;
}

} // namespace kopt
