// SPDX-License-Identifier: Apache-2.0
// A place that runs kernels. kopt-runner owns exactly one; it is driven from one thread. Nothing
// here throws: a candidate's failure is a Status with its words, and no status is ever Ok by
// default of a check that did not run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kopt::runtime {

/// How a call ended. The numbers cross the protocol (driver/device/Runner.h, RunStatus): never
/// renumber.
enum class StatusCode : int {
  Ok = 0,
  LaunchFailed = 1,
  Fault = 2,
  Race = 3,
  Uninitialised = 4,
  Divergence = 5,
  TimedOut = 6,
  GuardTouched = 8,
  InputChanged = 9,
  DeviceError = 100, ///< not caused by the candidate: lost device, a file that cannot be written
  NoMemory = 101,    ///< of the device: caused by the candidate or by what ran before
};

struct Status {
  StatusCode code = StatusCode::Ok;
  std::string detail;
  bool ok() const { return code == StatusCode::Ok; }
};

struct DeviceProperties {
  std::string kind, name, arch, driver, uuid;
  std::map<std::string, std::string>
      facts; ///< for the record: settings and state of the GPU, by name
  bool modelled = false;
  std::uint64_t l2Bytes = 0, memoryBytes = 0;
  double dramBytesPerSecond = 0;  ///< no memory of the device moves more; 0: not known
  double storeBytesPerSecond = 0; ///< no multiprocessors together store more; 0: not known
  std::uint32_t multiprocessors = 0, maxThreadsPerBlock = 1024, maxSharedPerBlock = 48 * 1024;
};

struct ModuleProperties {
  std::uint32_t module = 0;
  std::string symbol;
  std::uint32_t registers = 0, sharedBytes = 0, localBytes = 0, constBytes = 0, maxThreads = 0;
};

using Address = std::uint64_t; ///< in the device's address space

/// Arguments are the bytes of each parameter in order; pointers are Addresses.
struct LaunchRequest {
  std::uint32_t module = 0;
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t sharedBytes = 0;
  bool cooperative = false; ///< GPU: all blocks at once, as a barrier of the whole grid needs;
                            ///< refused where they do not fit
  std::uint32_t stackBytes =
      0; ///< GPU: of each thread, as cudaLimitStackSize has it; 0: the driver's default
  std::vector<std::vector<std::byte>> arguments;
  std::uint64_t instructionLimit = 0; ///< emulated; 0 = none
  bool checkRaces = true;             ///< emulated
  /// Emulated, with `checkRaces`: reads and writes of different blocks too, where no fence and flag
  /// is between them.
  bool checkAcrossBlocks = false;
  /// Emulated: blocks, warps and lanes take their turns in an order drawn from this; 0: in the
  /// order of their indices.
  std::uint64_t scheduleSeed = 0;
  /// A GPU's shared memory holds bits drawn from this before launch(), where it would hold what
  /// others left, often zeros; 0: it is left alone. The emulated device finds what reads it unset.
  std::uint64_t scratchSeed = 0;
};

/// Nsight Compute metric names; what is unknown is absent, never zero.
using Counters = std::map<std::string, double>;

/// What to count of a launch that runs once for each pass the counters take.
struct CounterRequest {
  std::vector<std::string> metrics;
  std::function<Status()> restore; ///< gives the buffers what they held before the launch
};

class Device {
public:
  virtual ~Device() = default;
  virtual const DeviceProperties &properties() const = 0;

  /// Loads a module file (cubin, or emulated shared object) and finds its kernel: `symbol`, or the
  /// only one if empty.
  virtual Status load(const std::string &path, const std::string &symbol,
                      ModuleProperties &out) = 0;
  virtual Status unload(std::uint32_t module) = 0;

  /// At least 256-byte aligned. On the emulated device every byte outside an allocation is out of
  /// bounds, and allocations begin uninitialised; write() and fill() initialise.
  virtual Status allocate(std::size_t bytes, Address &out) = 0;
  virtual Status release(Address address) = 0;
  virtual Status write(Address to, const void *from, std::size_t bytes) = 0;
  virtual Status read(void *to, Address from, std::size_t bytes) = 0;
  /// Sets bytes without counting as initialising them: a poison that the emulated device still
  /// reports when read.
  virtual Status poison(Address to, const void *from, std::size_t bytes) = 0;
  /// Where a variable of a loaded module is (its mangled name), and how large. LaunchFailed where
  /// it has none of that name. Constant memory can be written and read there like any other.
  virtual Status variable(std::uint32_t module, const std::string &name, Address &out,
                          std::size_t &bytes);
  /// Kernels may read these bytes and not write them, until something is written to them from here.
  /// Devices that cannot enforce it do nothing: then a write is noticed only where it leaves
  /// another value.
  virtual Status protect(Address, std::size_t) { return {}; }
  /// Copies within the device, in the order of launches. The default goes through the host.
  virtual Status copy(Address to, Address from, std::size_t bytes);

  /// Launches and waits; what went wrong during execution is the status.
  virtual Status launch(const LaunchRequest &request) = 0;
  /// Seconds of one launch, L2 flushed first where `cold`. On a modelled device the roofline time,
  /// the same each call; a launch whose time it knows already need not be executed again.
  virtual Status time(const LaunchRequest &request, bool cold, double &seconds) = 0;
  /// Mean seconds of each launch of a batch that runs back to back, for kernels shorter than a
  /// timer can resolve. L2 is flushed before the batch where `cold`. The default is the mean of
  /// time().
  virtual Status timeBatch(const std::vector<LaunchRequest> &requests, bool cold,
                           double &secondsEach);
  /// What is known of one launch without hardware counters, or all where it is emulated.
  virtual Status profile(const LaunchRequest &request, Counters &out) = 0;
  /// Hardware counters in addition to those of profile(), from cold caches; a metric that the
  /// device does not have is absent. If there are none it is Ok with the reason and its remedy in
  /// `why`, as by default.
  virtual Status countHardware(const LaunchRequest &request, const CounterRequest &counters,
                               Counters &out, std::string &why);
  /// Whether the device still does what it should: a known-good kernel, or where there is none to
  /// launch (this default) memory that is written, copied and read. Not Ok: nothing that is seen on
  /// this device says anything of a candidate.
  virtual Status probe();
  /// Median SM clock seen by the last time() calls in MHz, 0 where unknown.
  virtual double smClockMHz() const { return 0; }
  /// Why the GPU throttled since the last call of this, as seen while timing: such times are no
  /// evidence.
  virtual std::vector<std::string> throttleReasons() { return {}; }
  /// False once a fault has poisoned the context: no later call can succeed, the process has to
  /// end.
  virtual bool usable() const { return true; }
};

/// `ordinal`-th CUDA device through the driver API, which is found at run time. Null with `why`
/// filled if there is none.
std::unique_ptr<Device> openCudaDevice(int ordinal, std::string &why);
/// CUDA C++ on the CPU, with the roofline of a GPU described in `gpuSpecFile`
/// (knowledge/gpus/NAME.txt: `key value` lines).
std::unique_ptr<Device> openEmulatedDevice(const std::string &gpuSpecFile, std::string &why);

} // namespace kopt::runtime
