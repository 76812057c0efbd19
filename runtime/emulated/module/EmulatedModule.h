// SPDX-License-Identifier: Apache-2.0
// One module built by clang_plugin/emulate, loaded into this process.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/emulated/module/Arena.h"
#include "runtime/emulated/module/ModuleFormat.h"

#include <memory>
#include <string>
#include <vector>

namespace kopt::runtime::emulated {

class EmulatedModule {
public:
  /// Loads the file, places its device variables in the arena and gives them their initial values.
  static std::unique_ptr<EmulatedModule> load(const std::string &path, const std::string &symbol,
                                              Arena &arena, Status &status);
  ~EmulatedModule();
  EmulatedModule(const EmulatedModule &) = delete;
  EmulatedModule &operator=(const EmulatedModule &) = delete;

  const ModuleInfo &info() const { return *info_; }
  /// Static and dynamic shared memory of one block.
  std::uint64_t sharedBytes(std::uint32_t dynamicBytes) const {
    return dynamicBytes ? std::uint64_t(info_->dynamicSharedOffset) + dynamicBytes
                        : info_->staticSharedBytes;
  }
  /// The memory of the variable of this name, and its size; null if there is none.
  std::byte *variable(const std::string &name, std::size_t &bytes) const;
  /// The name of the device variable whose allocation begins at this offset, or null.
  const char *variableAt(std::uint64_t arenaOffset) const;

  /// True if the bytes belong to constant data of a loaded module.
  static bool isConstantData(std::uint64_t address, std::uint32_t bytes);

private:
  explicit EmulatedModule(Arena &arena) : arena_(arena) {}

  Arena &arena_;
  void *handle_ = nullptr;
  const ModuleInfo *info_ = nullptr;
  /// One for each of info_->globals; null if there was no memory.
  std::vector<std::byte *> variables_;
};

} // namespace kopt::runtime::emulated
