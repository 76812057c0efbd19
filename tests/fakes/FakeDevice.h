// SPDX-License-Identifier: Apache-2.0
// A Device in host memory whose kernels are C++ functions: loading the path "NAME" gives the kernel
// registered as NAME.
#pragma once

#include "runtime/device/MemoryKernels.h"

#include <cstring>
#include <functional>
#include <set>
#include <utility>

namespace kopt::fakes {

class FakeDevice final : public runtime::Device, private runtime::MemoryKernels {
public:
  using Status = runtime::Status;
  using StatusCode = runtime::StatusCode;
  using Address = runtime::Address;
  using LaunchRequest = runtime::LaunchRequest;
  /// Runs a launch; what it returns is how the launch ended.
  using Kernel = std::function<Status(const LaunchRequest &)>;

  FakeDevice() {
    info.kind = "cuda";
    info.name = "Fake GPU";
    info.arch = "sm_90";
    info.driver = "CUDA 13.0";
    info.uuid = "GPU-fake";
    info.l2Bytes = 1 << 20;
    info.memoryBytes = 1ull << 30;
  }

  ~FakeDevice() override {
    // After a fault its user rightly frees nothing.
    for (const Address address : live_)
      ::operator delete(reinterpret_cast<void *>(address), std::align_val_t(256));
  }
  FakeDevice(const FakeDevice &) = delete;
  FakeDevice &operator=(const FakeDevice &) = delete;

  /// The `index`-th argument as a value or, with T a pointer, as an address in host memory.
  template <class T> static T argument(const LaunchRequest &request, std::size_t index) {
    T value{};
    std::memcpy(&value, request.arguments.at(index).data(), sizeof value);
    return value;
  }

  void add(const std::string &name, Kernel kernel) { kernels[name] = std::move(kernel); }

  const runtime::DeviceProperties &properties() const override { return info; }
  Status load(const std::string &path, const std::string &symbol,
              runtime::ModuleProperties &out) override {
    ++loads;
    if (!kernels.count(path))
      return {StatusCode::LaunchFailed, "no module " + path};
    const std::uint32_t id = nextModule_++;
    modules_[id] = path;
    out = {id, symbol.empty() ? path : symbol, 32, 1024, 0, 0, 1024};
    return {};
  }
  Status unload(std::uint32_t module) override {
    return modules_.erase(module) ? Status{} : Status{StatusCode::DeviceError, "not loaded"};
  }

  Status allocate(std::size_t bytes, Address &out) override {
    if (allocated_ + bytes > info.memoryBytes)
      return {StatusCode::DeviceError, "out of device memory"};
    allocated_ += bytes;
    auto *memory = static_cast<std::byte *>(::operator new(bytes + 1, std::align_val_t(256)));
    std::memset(memory, 0xEE, bytes + 1);
    out = reinterpret_cast<Address>(memory);
    live_.insert(out);
    if (allocated)
      allocated(out, bytes);
    return {};
  }
  Status release(Address address) override {
    if (!live_.erase(address))
      return {StatusCode::DeviceError, "released twice"};
    ::operator delete(reinterpret_cast<void *>(address), std::align_val_t(256));
    return {};
  }
  Status write(Address to, const void *from, std::size_t bytes) override {
    bytesWritten += bytes;
    std::memcpy(reinterpret_cast<void *>(to), from, bytes);
    return {};
  }
  Status read(void *to, Address from, std::size_t bytes) override {
    bytesRead += bytes;
    std::memcpy(to, reinterpret_cast<const void *>(from), bytes);
    return {};
  }
  Status poison(Address to, const void *from, std::size_t bytes) override {
    return write(to, from, bytes);
  }
  Status copy(Address to, Address from, std::size_t bytes) override {
    std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), bytes);
    return {};
  }

  Status variable(std::uint32_t module, const std::string &name, Address &out,
                  std::size_t &bytes) override {
    const auto found = variables.find({modules_[module], name});
    if (found == variables.end())
      return Device::variable(module, name, out, bytes);
    out = reinterpret_cast<Address>(found->second.data());
    bytes = found->second.size();
    return {};
  }

  runtime::MemoryKernels *memoryKernels() override { return hasMemoryKernels ? this : nullptr; }

  Status launch(const LaunchRequest &request) override {
    ++launches;
    const auto found = modules_.find(request.module);
    if (found == modules_.end())
      return {StatusCode::DeviceError, "no such module"};
    Status status = kernels.at(found->second)(request);
    if (status.code == StatusCode::Fault)
      usable_ = false;
    return status;
  }
  /// Runs the launch and asks `seconds`, with the module's name, how long it took.
  Status time(const LaunchRequest &request, bool cold, double &out) override {
    coldCalls += cold;
    if (Status status = launch(request); !status.ok())
      return status;
    out = seconds ? seconds(modules_.at(request.module)) : 1e-3;
    elapsed += out;
    return {};
  }
  Status timeBatch(const std::vector<LaunchRequest> &requests, bool cold, double &out) override {
    batches.push_back(requests);
    batchesCold += cold;
    return Device::timeBatch(requests, false, out);
  }
  Status profile(const LaunchRequest &request, runtime::Counters &out,
                 std::vector<runtime::LineCost> * = nullptr) override {
    out["launch__block_size"] = double(request.block[0]) * request.block[1] * request.block[2];
    return launch(request);
  }
  /// Three passes, each from restored buffers; knows instructions, and the metrics whose names
  /// begin with "known".
  Status countHardware(const LaunchRequest &request, const runtime::CounterRequest &wanted,
                       runtime::Counters &out, std::string &why) override {
    if (!noCounters.empty()) {
      why = noCounters;
      return {};
    }
    for (int pass = 0; pass < 3; ++pass) {
      if (Status status = wanted.restore(); !status.ok())
        return status;
      if (Status status = launch(request); !status.ok())
        return status;
    }
    for (const std::string &name : wanted.metrics)
      if (name.rfind("known", 0) == 0 || name == "smsp__inst_executed.sum")
        out[name] = 1;
    return {};
  }
  Status measureRates(runtime::MeasuredRates &out) override {
    out = rates;
    return {};
  }
  double smClockMHz() const override { return 1980; }
  std::vector<std::string> throttleReasons() override { return std::exchange(throttled, {}); }
  bool usable() const override { return usable_; }

  std::size_t liveAllocations() const { return live_.size(); }

  runtime::DeviceProperties info;
  runtime::MeasuredRates rates;
  std::vector<std::string> throttled; ///< reasons seen since they were last asked for
  std::string noCounters;             ///< why there are no hardware counters; empty: there are
  std::map<std::string, Kernel> kernels;
  std::map<std::pair<std::string, std::string>, std::string>
      variables; ///< contents by module and name
  std::function<double(const std::string &)> seconds;
  std::function<void(Address, std::size_t)> allocated; ///< told of each allocation
  std::vector<std::vector<LaunchRequest>> batches;
  bool hasMemoryKernels = false;
  std::uint64_t bytesRead = 0;    ///< by read()
  std::uint64_t bytesWritten = 0; ///< by write() and poison()
  std::size_t memoryLaunches = 0; ///< of the memory kernels
  std::size_t launches = 0, loads = 0, coldCalls = 0, batchesCold = 0;
  double elapsed = 0; ///< seconds of all timed launches together

private:
  Status writePattern(Address to, std::uint64_t words, runtime::Pattern pattern) override {
    ++memoryLaunches;
    for (std::uint64_t i = 0; i < words; ++i)
      reinterpret_cast<std::uint64_t *>(to)[i] = pattern.word(i);
    return {};
  }
  Status findPattern(Address at, std::uint64_t words, runtime::Pattern pattern, std::size_t size,
                     std::vector<std::uint64_t> &bits, std::uint64_t &count) override {
    ++memoryLaunches;
    bits.assign((words * (8 / size) + 63) / 64, 0);
    count = 0;
    for (std::uint64_t i = 0; i < words * (8 / size); ++i) {
      const std::uint64_t word = pattern.word(i * size / 8);
      if (std::memcmp(reinterpret_cast<const std::byte *>(at) + i * size,
                      reinterpret_cast<const std::byte *>(&word) + i * size % 8, size) != 0)
        continue;
      bits[i / 64] |= std::uint64_t(1) << i % 64;
      ++count;
    }
    return {};
  }
  Status digest(Address at, std::uint64_t words, std::uint64_t key, runtime::Digest &out) override {
    ++memoryLaunches;
    out = runtime::digestOf(reinterpret_cast<const std::byte *>(at), words, key);
    return {};
  }

  std::map<std::uint32_t, std::string> modules_;
  std::set<Address> live_;
  std::size_t allocated_ = 0;
  std::uint32_t nextModule_ = 1;
  bool usable_ = true;
};

} // namespace kopt::fakes
