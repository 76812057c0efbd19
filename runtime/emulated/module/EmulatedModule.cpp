// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/module/EmulatedModule.h"

#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <string_view>

namespace kopt::runtime::emulated {
namespace {

/// Emulated code calls mathematical functions of the C library and, for 128-bit integers, functions
/// of the compiler's library. The process itself may have been linked without them.
void openLibraries() {
  static const bool once = [] {
    dlopen("libm.so.6", RTLD_NOW | RTLD_GLOBAL);
    dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_GLOBAL);
    return true;
  }();
  (void)once;
}

/// The parts of a variable's mangled name, for comparing names. nvcc names a static variable k2,
/// Clang _ZL2k2; within a namespace, both mangle the name, with and without the L.
std::vector<std::string_view> partsOf(std::string_view name) {
  const bool nested = name.starts_with("_ZN");
  std::string_view rest = nested                    ? name.substr(3)
                          : name.starts_with("_ZL") ? name.substr(2)
                                                    : std::string_view();
  std::vector<std::string_view> parts;
  while (!rest.empty() && rest != "E") {
    rest.remove_prefix(rest.front() == 'L' ? 1 : 0);
    std::size_t length = 0;
    while (!rest.empty() && rest.front() >= '0' && rest.front() <= '9' && length < name.size()) {
      length = 10 * length + std::size_t(rest.front() - '0');
      rest.remove_prefix(1);
    }
    if (length == 0 || length > rest.size())
      return {name}; // templates and others are compared as a whole
    parts.push_back(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  return parts.empty() ? std::vector<std::string_view>{name} : parts;
}

} // namespace

std::unique_ptr<EmulatedModule> EmulatedModule::load(const std::string &path,
                                                     const std::string &symbol, Arena &arena,
                                                     Status &status) {
  openLibraries();
  std::unique_ptr<EmulatedModule> module(new EmulatedModule(arena));
  module->handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!module->handle_) {
    const char *why = dlerror();
    status = {StatusCode::LaunchFailed,
              "cannot load the emulated module: " + std::string(why ? why : path)};
    return nullptr;
  }
  module->info_ = static_cast<const ModuleInfo *>(dlsym(module->handle_, kModuleSymbol));
  if (!module->info_ || module->info_->version != kModuleVersion) {
    status = {StatusCode::LaunchFailed,
              path + " was not built for this version of the emulated device: build it again"};
    return nullptr;
  }
  if (!symbol.empty() && symbol != module->info_->kernelSymbol) {
    status = {StatusCode::LaunchFailed,
              path + " holds the kernel " + module->info_->kernelSymbol + ", not " + symbol};
    return nullptr;
  }
  for (std::uint32_t i = 0; i < module->info_->globalCount; ++i) {
    const GlobalInfo &global = module->info_->globals[i];
    std::byte *memory = arena.allocate(global.bytes);
    if (!memory) {
      status = {StatusCode::NoMemory,
                std::string("no device memory for the variable ") + global.name};
      return nullptr;
    }
    module->variables_.push_back(memory);
    std::memcpy(memory, global.initial, global.bytes);
    arena.setState(memory, global.bytes, kInitialised);
    *global.slot = memory;
  }
  status = {};
  return module;
}

EmulatedModule::~EmulatedModule() {
  for (std::byte *variable : variables_)
    arena_.release(variable);
  if (handle_)
    dlclose(handle_);
}

std::byte *EmulatedModule::variable(const std::string &name, std::size_t &bytes) const {
  for (std::size_t i = 0; i < variables_.size(); ++i)
    if (partsOf(name) == partsOf(info_->globals[i].name)) {
      bytes = std::size_t(info_->globals[i].bytes);
      return variables_[i];
    }
  return nullptr;
}

const char *EmulatedModule::variableAt(std::uint64_t arenaOffset) const {
  for (std::size_t i = 0; i < variables_.size(); ++i)
    if (std::uint64_t(variables_[i] - arena_.base()) == arenaOffset)
      return info_->globals[i].name;
  return nullptr;
}

bool EmulatedModule::isConstantData(std::uint64_t address, std::uint32_t bytes) {
  struct Search {
    std::uint64_t address, bytes;
    bool found;
  } search{address, bytes, false};
  dl_iterate_phdr(
      [](dl_phdr_info *object, std::size_t, void *data) {
        auto &wanted = *static_cast<Search *>(data);
        // Accept only emulated modules: a kernel must not read other data of the process.
        bool ours = false, inside = false;
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const ElfW(Phdr) &segment = object->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD)
            continue;
          const std::uint64_t begin = object->dlpi_addr + segment.p_vaddr;
          inside |=
              wanted.address >= begin && wanted.address + wanted.bytes <= begin + segment.p_memsz;
        }
        if (!inside)
          return 0;
        if (void *handle = dlopen(object->dlpi_name, RTLD_NOW | RTLD_NOLOAD)) {
          ours = object->dlpi_name[0] && dlsym(handle, kModuleSymbol) != nullptr;
          dlclose(handle);
        }
        wanted.found = ours;
        return 1;
      },
      &search);
  return search.found;
}

} // namespace kopt::runtime::emulated
