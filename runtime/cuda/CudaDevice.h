// SPDX-License-Identifier: Apache-2.0
// A CUDA GPU through the driver API: cubins are loaded into the primary context, launches run in
// one stream with events around them.
#pragma once

#include "runtime/cuda/DriverApi.h"
#include "runtime/cuda/FreedMemory.h"
#include "runtime/cuda/Nvml.h"
#include "runtime/cuda/OwnKernels.h"
#include "runtime/cuda/RangeProfiler.h"
#include "runtime/device/Device.h"
#include "runtime/device/MemoryKernels.h"

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>

namespace kopt::runtime::cuda {

class CudaDevice final : public Device, private MemoryKernels {
public:
  /// Null, with the reason in `why`, if the driver, the device or its context is missing.
  static std::unique_ptr<CudaDevice> open(int ordinal, std::string &why);
  ~CudaDevice() override;

  const DeviceProperties &properties() const override { return properties_; }
  Status load(const std::string &path, const std::string &symbol, ModuleProperties &out) override;
  Status unload(std::uint32_t module) override;
  Status allocate(std::size_t bytes, Address &out) override;
  Status release(Address address) override;
  Status write(Address to, const void *from, std::size_t bytes) override;
  Status read(void *to, Address from, std::size_t bytes) override;
  Status poison(Address to, const void *from, std::size_t bytes) override;
  Status variable(std::uint32_t module, const std::string &name, Address &out,
                  std::size_t &bytes) override;
  Status copy(Address to, Address from, std::size_t bytes) override;
  MemoryKernels *memoryKernels() override { return this; }
  Status launch(const LaunchRequest &request) override;
  Status time(const LaunchRequest &request, bool cold, double &seconds) override;
  Status timeBatch(const std::vector<LaunchRequest> &requests, bool cold,
                   double &secondsEach) override;
  Status profile(const LaunchRequest &request, Counters &out,
                 std::vector<LineCost> *lines = nullptr) override;
  Status countHardware(const LaunchRequest &request, const CounterRequest &counters, Counters &out,
                       std::string &why) override;
  void prepareCounters(const std::vector<std::string> &metrics) override;
  void getReady() override;
  /// Launches kopt's own probe kernel and checks what it wrote.
  Status probe() override;
  /// Runs kernels of kopt's own that do nothing else (MeasuredRates.cpp): about 60 ms, with at most
  /// 512 MiB of memory.
  Status measureRates(MeasuredRates &out) override;
  double smClockMHz() const override;
  std::vector<std::string> throttleReasons() override;
  bool usable() const override { return usable_; }

private:
  struct LoadedModule {
    CuModule module = nullptr;
    CuFunction function = nullptr;
    ModuleProperties properties;
    std::vector<std::size_t> parameterSizes;
    bool parametersKnown = false;
    std::uint32_t dynamicSharedAllowed = 0;
  };

  struct GraphHolder; ///< of CudaTiming.cpp

  /// Frees what was released until at most `most` bytes of it are left.
  Status reduceFreed(std::uint64_t most);

  /// A piece of page-locked memory on its way to or from the device.
  struct Stage {
    void *memory = nullptr;
    CuEvent moved = nullptr; ///< recorded after the last copy that uses it
    std::size_t results = 0; ///< leading bytes that may still hold what was read from the device
  };

  class Zeros; ///< of CudaOwnKernels.cpp, as all that follow
  struct OwnShape {
    unsigned blocks = 1, threads = 1, sharedBytes = 0;
    std::uint32_t localBytes = 0; ///< that kFillLocal fills
  };
  /// Compiles the kernel, unless it has been.
  Status loadOwn(const OwnKernel &kernel, OwnShape shape, CuFunction &out);
  Status launchLoaded(CuFunction function, OwnShape shape, void **arguments);
  template <class... Arguments>
  Status launchOwn(const OwnKernel &kernel, OwnShape shape, Arguments... arguments) {
    CuFunction function = nullptr;
    void *pointers[] = {&arguments...};
    const Status loaded = loadOwn(kernel, shape, function);
    return loaded.ok() ? launchLoaded(function, shape, pointers) : loaded;
  }
  /// So many blocks for each multiprocessor.
  unsigned processors(unsigned blocksEach) const;
  Status runOnMemory(const OwnKernel &kernel, Address base, std::uint64_t words, Pattern pattern,
                     std::uint32_t size, Address bits, Address out);
  Status writePattern(Address to, std::uint64_t words, Pattern pattern) override;
  Status findPattern(Address at, std::uint64_t words, Pattern pattern, std::size_t size,
                     std::vector<std::uint64_t> &bits, std::uint64_t &count) override;
  Status digest(Address at, std::uint64_t words, std::uint64_t key, Digest &out) override;

  CudaDevice() = default;
  bool initialise(int ordinal, std::string &why);
  int attribute(CuDeviceAttribute which) const;
  /// Opens CUPTI when it is first asked for. Null, with the reason in noProfiler_, if it cannot
  /// count.
  RangeProfiler *profiler();

  /// Makes the page-locked memory for large copies. False if there is none; the driver then makes
  /// the copies by itself.
  bool stages();
  Status wipeStages();
  /// Converts the result of an API call to a status. A fault makes the device unusable.
  Status check(CuResult result, const char *what);
  Status selectFunction(const std::string &symbol, LoadedModule &module);
  /// Refuses arguments that do not match the kernel's parameters, which the driver would read past
  /// the end. Raises the limits of dynamic shared memory and of the stack where needed.
  Status prepare(const LaunchRequest &request, LoadedModule *&module);
  /// Does what cudaDeviceSetLimit(cudaLimitStackSize) does; 0: the initial limit of the context.
  Status setStackBytes(std::uint32_t bytes);
  Status enqueue(const LaunchRequest &request, const LoadedModule &module);
  Status makeFlushBuffer();
  /// Empties L2 (`cold`) or leaves it as it is, and keeps the stream busy for a while.
  Status prepareCache(bool cold);
  /// Occupies one multiprocessor for so many cycles of its clock.
  Status keepBusy(std::uint64_t cycles);
  /// What one rate is measured with.
  struct RatePlan {
    double perRound = 0;      ///< what one round of the kernel's loop does
    double launchSeconds = 0; ///< about how long a launch takes
    double leastSeconds = 0;  ///< of all launches together
  };
  Status measureArithmetic(CuModule module, Address scratch, MeasuredRates &out);
  Status measureDram(CuModule module, MeasuredRates &out);
  /// The best rate of several launches of one of kopt's own kernels, a second. `rounds` is what the
  /// kernel gets through `arguments`.
  Status bestRate(CuFunction function, unsigned blocks, void **arguments, std::uint32_t &rounds,
                  const RatePlan &plan, double &rate);
  /// Seconds of one launch of such a kernel.
  Status timeOwn(CuFunction function, unsigned blocks, void **arguments, double &seconds);
  /// Fills all of the shared memory that a block can have, on every multiprocessor, with bits drawn
  /// from `seed`.
  Status fillSharedMemory(std::uint32_t seed);
  /// Fills at least `bytes` of the local memory of as many threads as the GPU runs at once with
  /// bits drawn from `seed`.
  Status fillLocalMemory(std::uint32_t bytes, std::uint32_t seed);
  /// Finds eventSeconds_, once.
  Status findEventSeconds();
  /// Seconds between the events around what `enqueue` puts in the stream, which is kept busy until
  /// all of it is there.
  Status secondsOf(bool cold, const std::function<Status()> &enqueue, double &seconds);
  /// Makes an executable graph of what `enqueue` puts in the stream, and uploads it.
  Status makeGraph(const std::function<Status()> &enqueue, GraphHolder &holder);
  /// Evicts from L2 everything that a launch could find there, and waits.
  Status evictCache();
  void occupancyLimits(const ModuleProperties &facts, double threads, double dynamicShared,
                       Counters &out) const;
  void sampleClock();

  DriverApi api_;
  DeviceProperties properties_;
  CuDevice device_ = 0;
  int ordinal_ = 0;
  CuContext context_ = nullptr;
  CuStream stream_ = nullptr;
  CuEvent start_ = nullptr, stop_ = nullptr;
  std::map<Address, std::size_t> allocated_; ///< bytes by address
  FreedMemory freed_;
  std::array<Stage, 4> stages_;
  bool stagesTried_ = false;
  std::size_t stackBytes_ = 0, defaultStackBytes_ = 0; ///< of each thread
  Address flushBuffer_ = 0;
  std::size_t flushBytes_ = 0;
  std::map<std::pair<const char *, std::uint32_t>, CuFunction> ownKernels_; ///< by name and size
  /// What two events measure of a launch beyond the kernel's own time; nothing: not measured yet.
  std::optional<double> eventSeconds_;
  std::unique_ptr<RangeProfiler> profiler_; ///< made when counters are first requested
  std::string noProfiler_;                  ///< why there is none
  std::map<std::uint32_t, LoadedModule> modules_;
  std::uint32_t nextModule_ = 1;
  std::optional<Nvml> nvml_;
  std::vector<unsigned> clockSamples_;
  std::set<std::string> throttled_; ///< reasons seen while timing
  unsigned timings_ = 0;
  bool usable_ = true;
};

} // namespace kopt::runtime::cuda
