// SPDX-License-Identifier: Apache-2.0
// The emulated device as a GPU shows itself: it measures times (which are the same each time), sees
// no races, and loads machine code. For a module FILE it runs FILE.so, which
// tests/e2e/faulty_compiler.py builds beside it; for a copy of FILE, that of the one it was copied
// from.
#pragma once

#include "runtime/device/Device.h"

#include <filesystem>
#include <fstream>
#include <iterator>

namespace kopt::fakes {

class SimulatedGpu final : public runtime::Device {
public:
  using Status = runtime::Status;
  using Address = runtime::Address;

  explicit SimulatedGpu(std::unique_ptr<runtime::Device> device)
      : device_(std::move(device)), info_(device_->properties()) {
    info_.kind = "cuda";
    info_.uuid = "GPU-simulated";
    info_.modelled = false;
  }
  const runtime::DeviceProperties &properties() const override { return info_; }
  Status load(const std::string &path, const std::string &symbol,
              runtime::ModuleProperties &out) override {
    return device_->load(emulatedOf(path), symbol, out);
  }
  Status unload(std::uint32_t module) override { return device_->unload(module); }
  Status allocate(std::size_t bytes, Address &out) override {
    return device_->allocate(bytes, out);
  }
  Status release(Address address) override { return device_->release(address); }
  Status write(Address to, const void *from, std::size_t bytes) override {
    return device_->write(to, from, bytes);
  }
  Status read(void *to, Address from, std::size_t bytes) override {
    return device_->read(to, from, bytes);
  }
  /// Memory of a GPU is never unset.
  Status poison(Address to, const void *from, std::size_t bytes) override {
    return device_->write(to, from, bytes);
  }
  Status variable(std::uint32_t module, const std::string &name, Address &out,
                  std::size_t &bytes) override {
    return device_->variable(module, name, out, bytes);
  }
  Status launch(const runtime::LaunchRequest &request) override {
    return device_->launch(blind(request));
  }
  Status time(const runtime::LaunchRequest &request, bool cold, double &seconds) override {
    Status status =
        launch(request); // the emulated device times what it has timed before without launching it
    if (status.ok())
      status = device_->time(blind(request), cold, seconds);
    seconds *= kSlower;
    return status;
  }
  Status profile(const runtime::LaunchRequest &request, runtime::Counters &out,
                 std::vector<runtime::LineCost> *lines = nullptr) override {
    return device_->profile(blind(request), out, lines);
  }

private:
  /// So that small kernels are not too short to be timed one launch at a time: hundreds in a row
  /// are slow here.
  static constexpr double kSlower = 50;

  static std::string contentsOf(const std::filesystem::path &file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  /// What runs in place of a module: the compiler makes it beside the module, and kopt copies
  /// modules alone.
  static std::string emulatedOf(const std::filesystem::path &module) {
    namespace fs = std::filesystem;
    const std::string own = module.string() + ".so", code = contentsOf(module);
    std::error_code error;
    if (fs::exists(own, error))
      return own;
    const fs::path folder = module.parent_path().parent_path();
    for (const auto &entry : fs::recursive_directory_iterator(
             folder, fs::directory_options::skip_permission_denied, error))
      if (entry.path().extension() == ".so" &&
          contentsOf(fs::path(entry.path()).replace_extension()) == code)
        return entry.path().string();
    return own;
  }

  static runtime::LaunchRequest blind(runtime::LaunchRequest request) {
    request.checkRaces = request.checkAcrossBlocks = false;
    request.scheduleSeed = 0;
    return request;
  }

  std::unique_ptr<runtime::Device> device_;
  runtime::DeviceProperties info_;
};

} // namespace kopt::fakes
