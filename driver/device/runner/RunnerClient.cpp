// SPDX-License-Identifier: Apache-2.0
// Talks to kopt-runner. The runner may hang, crash or be lost with the candidate that it runs.
// RunnerClient turns that into a status, and the next call uses a fresh process with the modules
// loaded again.
#include "driver/device/runner/RunnerClient.h"
#include "driver/device/runner/DeviceLock.h"
#include "driver/device/runner/GpuSpecFile.h"
#include "driver/device/runner/LaunchContents.h"
#include "driver/device/runner/LaunchTools.h"
#include "driver/device/runner/MeasuredRates.h"
#include "driver/device/runner/OtherLoad.h"
#include "driver/device/runner/Requests.h"
#include "driver/device/runner/RunnerProcess.h"
#include "driver/device/runner/RunnerSandbox.h"
#include "driver/device/runner/SharedBuffers.h"
#include "driver/device/runner/ToLaunchSpec.h"
#include "driver/support/FileSystem.h"
#include "runtime/runner/Protocol.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>

namespace kopt {

namespace {

using runtime::protocol::Message;
namespace protocol = runtime::protocol;

constexpr Duration kProbeDeadline{30}; ///< the driver compiles the probe's PTX in at most 0.1 s
constexpr Duration kMargin{3};         ///< added to the time that the launches may take
constexpr Duration kTimingMargin{15};  ///< for warm-up, copies for rotation, final checks

std::vector<std::filesystem::path> paths(const std::vector<std::string> &names) {
  return {names.begin(), names.end()};
}

class RunnerClient final : public Runner {
public:
  RunnerClient(ProcessRunner &processes, std::vector<std::string> command,
               std::filesystem::path scratch, unsigned runners, RunnerHooks hooks,
               const RunnerContainment &containment, SandboxPolicy policy)
      : process_(processes, command, containment.sandbox, policy),
        tools_(processes, std::move(command), containment.sandbox, std::move(policy),
               containment.cuda, scratch),
        scratch_(std::move(scratch)),
        shared_(scratch_, SharedBuffers::defaultLimit() / std::max(1u, runners)),
        hooks_(std::move(hooks)) {}

  /// Starts the process and asks for its device.
  Status connect();

  const DeviceInfo &device() const override { return device_; }
  Result<ModuleInfo> load(const std::filesystem::path &module, const std::string &symbol) override;
  void unload(ModuleId module) override;
  Result<RunOutcome> run(ModuleId module, const Launch &launch, const RunOptions &options) override;
  Result<TimingOutcome> time(ModuleId a, const Launch &launchA, ModuleId b, const Launch &launchB,
                             const TimeOptions &options) override;
  Result<ProfileOutcome> profile(ModuleId module, const Launch &launch,
                                 const RunOptions &options) override;
  std::future<SanitizerReports> sanitize(ModuleId module, const Launch &launch,
                                         const std::vector<std::string> &tools,
                                         const RunOptions &options) override;
  Result<NcuReport> inspect(ModuleId module, const Launch &launch,
                            const std::vector<std::string> &sections,
                            const RunOptions &options) override;
  Result<MeasuredRates> measureRates() override;
  void renew() override { process_.stop(); }
  void prepareRenewals(unsigned processes) override {
    if (!quarantine_.empty() || process_.mustProbe() || isFull_)
      return;
    Message request = hello();
    request.add("ahead", 1); // so that it is ready for more than its hello
    process_.startAhead(processes, request, helloDescriptors());
  }
  void prepareProfile() override {
    if (device_.kind == DeviceKind::Cuda && !isFull_)
      tools_.prepareCounting();
  }
  std::string lost() const override { return !quarantine_.empty() ? quarantine_ : unstarted_; }
  std::vector<Incident> takeIncidents() override { return process_.takeIncidents(); }

private:
  using Reply = RunnerReply;
  struct Module {
    std::filesystem::path path;
    std::string symbol;
    std::uint32_t remote = 0; ///< its id in the process of `generation`
    unsigned generation = 0;  ///< 0: loaded in no process
  };

  bool isLoaded(const Module &module) const {
    return module.generation != 0 && module.generation == process_.generation();
  }
  /// Calls `once`, which makes one request and may load modules first. If the cause of a failure is
  /// ambiguous, calls it again in a fresh process to decide. No failure counts before the device
  /// has passed a probe.
  Result<Reply> attributed(StageSeconds &stages, const std::function<Result<Reply>()> &once);
  /// Probes the device if necessary. Fails if it does not pass in two processes; then it is not
  /// used again.
  Status settle(StageSeconds &stages);
  /// Makes a request that launches kernels, while no other kopt does. Adds the reply's stages and
  /// "lock" to `stages`.
  Result<Reply> askAlone(Message request, Duration deadline, const std::vector<int> &descriptors,
                         StageSeconds &stages);
  Result<DeviceLock::Hold> lockDevice(StageSeconds &stages);
  Status ensureReady() { return process_.ready() ? Status() : connect(); }
  /// Loads the module if the current process has not loaded it. A status other than Ok means that
  /// it could not be loaded.
  Result<Reply> ensureLoaded(ModuleId id);
  /// As attributed(), for a request that needs these modules to be loaded.
  Result<Reply> withModules(const std::vector<ModuleId> &modules, StageSeconds &stages,
                            const std::function<Result<Reply>()> &once);
  /// The number of our processes that have a context on the device.
  unsigned ownProcesses() const { return 1u + process_.ahead() + tools_.running(); }
  /// Waits for processes that are getting ready, as they would use the device meanwhile, and then
  /// begins to watch for other load.
  void watchOthers() {
    process_.awaitAhead();
    tools_.awaitReady();
    if (others_)
      others_->begin();
  }
  /// Ends the processes that only wait, as the context of each takes some of the device's memory.
  void makeRoom() {
    isFull_ = true;
    process_.stopAhead();
    tools_.stopCounting();
  }
  Message hello() const;
  std::vector<int> helloDescriptors() const;
  /// Unloads the module from the process; it is loaded again when it is next used.
  void unloadRemote(ModuleId id);
  WatchedLaunch watched(ModuleId id, const Launch &launch, const RunOptions &options) const {
    const Module &module = modules_.at(id);
    return {module.path, module.symbol, launch, options};
  }
  /// Adds hardware counters to what the driver knows.
  Result<ProfileOutcome> addHardwareCounters(const WatchedLaunch &watched, ProfileOutcome outcome,
                                             const std::vector<int> &descriptors);

  RunnerProcess process_;
  LaunchTools tools_;
  std::filesystem::path scratch_;
  SharedBuffers shared_;
  RunnerHooks hooks_;
  std::unique_ptr<DeviceLock> lock_;
  std::unique_ptr<OtherLoad> others_; ///< null for an emulated device, which is not shared
  DeviceInfo device_;
  std::map<ModuleId, Module> modules_;
  ModuleId nextModule_ = 1;
  bool isFull_ = false;    ///< the device's memory did not suffice once: no process waits any more
  std::string quarantine_; ///< why the device is no longer used; empty if it is
  std::string unstarted_; ///< why the last attempt to start a process failed; empty if it succeeded
};

Message RunnerClient::hello() const {
  Message hello("hello");
  hello.add("version", std::uint64_t(protocol::kVersion));
  if (!shared_.probe().empty())
    hello.add("probe", shared_.probe());
  return hello;
}

std::vector<int> RunnerClient::helloDescriptors() const {
  return shared_.probe().empty() ? std::vector<int>() : std::vector<int>{shared_.probeDescriptor()};
}

Status RunnerClient::connect() {
  if (!quarantine_.empty())
    return makeError(
        ErrorCode::Environment, quarantine_,
        "look for Xid errors in the kernel log (dmesg) and in nvidia-smi; kopt does not reset "
        "devices. Everything judged so far is saved: continue with --resume");
  Result<Reply> reply = process_.start(hello(), helloDescriptors());
  unstarted_ = reply ? std::string() : reply.error().what;
  if (!reply)
    return tl::unexpected(reply.error());
  const Message &answer = reply->message;
  if (answer.number<unsigned>("shared") != 1u)
    shared_.useFiles();
  const auto kind = parseEnum<DeviceKind>(answer.text("kind"));
  if (!kind || *kind == DeviceKind::Auto)
    return makeError(ErrorCode::Internal,
                     fmt::format("the runner drives an unknown device '{}'", answer.text("kind")));
  device_.kind = *kind;
  device_.name = answer.text("name");
  device_.arch = answer.text("arch");
  device_.driver = answer.text("driver");
  device_.uuid = answer.text("uuid");
  device_.modelled = answer.number<unsigned>("modelled").value_or(0) != 0;
  device_.l2Bytes = answer.number<std::uint64_t>("l2").value_or(0);
  device_.memoryBytes = answer.number<std::uint64_t>("memory").value_or(0);
  device_.dramBytesPerSecond = answer.number<double>("dram_bandwidth").value_or(0);
  device_.storeBytesPerSecond = answer.number<double>("store_bandwidth").value_or(0);
  for (const std::vector<std::string> &fact : answer.lists("fact"))
    if (fact.size() == 2)
      device_.facts[fact[0]] = fact[1];
  // An emulated device is not shared, so its lock does nothing.
  if (!lock_)
    lock_ = std::make_unique<DeviceLock>(
        device_.kind == DeviceKind::Cuda ? deviceLockFile(device_.uuid) : std::filesystem::path(),
        device_.name, hooks_);
  if (device_.kind == DeviceKind::Cuda && !others_) {
    const auto bus = device_.facts.find("pci_bus");
    others_ =
        std::make_unique<OtherLoad>(makeGpuActivity(bus == device_.facts.end() ? "" : bus->second));
    const std::string blind = others_->blindness(ownProcesses());
    device_.facts[kOtherLoadFact] = blind.empty() ? "watched" : blind;
  }
  if (others_)
    others_->begin();
  return {};
}

Result<DeviceLock::Hold> RunnerClient::lockDevice(StageSeconds &stages) {
  const auto begun = std::chrono::steady_clock::now();
  KOPT_TRY(DeviceLock::Hold hold, lock_->take());
  const double waited = Duration(std::chrono::steady_clock::now() - begun).count();
  if (waited > 1e-3) // below that it is only the cost of the calls
    stages["lock"] += waited;
  return hold;
}

Result<RunnerReply> RunnerClient::askAlone(Message request, Duration deadline,
                                           const std::vector<int> &descriptors,
                                           StageSeconds &stages) {
  KOPT_TRY(const DeviceLock::Hold hold, lockDevice(stages));
  KOPT_TRY(Reply reply, process_.ask(std::move(request), deadline, descriptors));
  for (const auto &[name, seconds] : stagesOf(reply.message))
    stages[name] += seconds;
  return reply;
}

Status RunnerClient::settle(StageSeconds &stages) {
  std::string why;
  for (int attempt = 0; process_.mustProbe(); ++attempt) {
    if (attempt == 2) {
      quarantine_ =
          fmt::format("{} failed the probe in two fresh processes ({}): it is no longer used",
                      device_.name, why);
      process_.note(FaultClass::Infrastructure, quarantine_);
      process_.stop();
      return connect(); // fails, and says so
    }
    KOPT_CHECK(ensureReady());
    process_.probed(); // unless the process is lost again
    KOPT_TRY(const Reply reply, askAlone(Message("probe"), kProbeDeadline, {}, stages));
    if (reply.status == RunStatus::Ok)
      return {};
    why = reply.detail;
    process_.note(FaultClass::Infrastructure, "the device did not pass a probe: " + why);
    process_.stop();
    process_.mustProbeAgain();
  }
  return {};
}

Result<RunnerReply> RunnerClient::attributed(StageSeconds &stages,
                                             const std::function<Result<Reply>()> &once) {
  KOPT_CHECK(settle(stages));
  KOPT_TRY(Reply reply, once());
  if (reply.fault == FaultClass::Ambiguous) {
    process_.note(FaultClass::Ambiguous, reply.detail + "; tried again in a fresh process");
    if (reply.message.text("code") == "memory")
      makeRoom();
    process_.stop();
    KOPT_CHECK(settle(stages));
    KOPT_TRY(reply, once());
    const bool refused =
        reply.message.verb() == "error" && reply.message.text("code") == "environment";
    if (reply.fault == FaultClass::Ambiguous && refused)
      return makeError(ErrorCode::Environment, "the runner cannot go on: " + reply.detail);
    if (reply.fault == FaultClass::Ambiguous) { // it fails each time, on a device that works
      reply.detail += ", also in a fresh process";
      reply.fault = FaultClass::Candidate;
      process_.stop(); // others must not be affected by what it left behind
    }
  }
  if (reply.fault == FaultClass::Candidate) {
    KOPT_CHECK(settle(stages));
  }
  return reply;
}

Result<ModuleInfo> RunnerClient::load(const std::filesystem::path &path,
                                      const std::string &symbol) {
  const ModuleId id = nextModule_++;
  modules_[id] = {path, symbol};
  StageSeconds unused;
  Result<Reply> reply = attributed(unused, [&] { return ensureLoaded(id); });
  if (!reply || reply->status != RunStatus::Ok) {
    modules_.erase(id);
    if (!reply)
      return tl::unexpected(reply.error());
    return makeError(
        ErrorCode::BaselineFailed,
        fmt::format("the module {} cannot be loaded: {}", path.filename().string(), reply->detail));
  }
  const Message &answer = reply->message;
  const auto number = [&](const char *key) {
    return answer.number<std::uint32_t>(key).value_or(0);
  };
  ModuleInfo info;
  info.id = id;
  info.symbol = answer.text("symbol");
  info.registers = number("registers");
  info.sharedBytes = number("shared");
  info.localBytes = number("local");
  info.constBytes = number("const");
  info.maxThreads = number("max_threads");
  return info;
}

Result<RunnerReply> RunnerClient::ensureLoaded(ModuleId id) {
  const auto found = modules_.find(id);
  if (found == modules_.end())
    return makeError(ErrorCode::Internal, fmt::format("no module {} is loaded", id));
  KOPT_CHECK(ensureReady());
  Module &module = found->second;
  if (isLoaded(module))
    return Reply{};
  KOPT_TRY(Reply reply, process_.load(module.path, module.symbol, module.remote));
  if (reply.status == RunStatus::Ok)
    module.generation = process_.generation();
  return reply;
}

Result<RunnerReply> RunnerClient::withModules(const std::vector<ModuleId> &modules,
                                              StageSeconds &stages,
                                              const std::function<Result<Reply>()> &once) {
  return attributed(stages, [&]() -> Result<Reply> {
    for (const ModuleId id : modules) {
      KOPT_TRY(Reply loaded, ensureLoaded(id));
      if (loaded.status != RunStatus::Ok)
        return loaded;
    }
    return once();
  });
}

void RunnerClient::unload(ModuleId id) {
  unloadRemote(id);
  modules_.erase(id);
}

void RunnerClient::unloadRemote(ModuleId id) {
  const auto found = modules_.find(id);
  if (found == modules_.end() || !process_.ready() || !isLoaded(found->second))
    return;
  found->second.generation = 0;
  // If this fails, the module only costs memory until the next restart.
  static_cast<void>(process_.unload(found->second.remote));
}

Result<RunOutcome> RunnerClient::run(ModuleId id, const Launch &launch, const RunOptions &options) {
  if (options.freshModule)
    unloadRemote(id);
  KOPT_TRY(const SharedBuffers::Places places, shared_.prepare(options.slot, launch.buffers));
  LaunchContents descriptors(places.descriptors);
  KOPT_CHECK(descriptors.addContents(launch));
  RunOutcome outcome;
  KOPT_TRY(
      const Reply reply, withModules({id}, outcome.stages, [&]() -> Result<Reply> {
        Message request =
            runRequest(toLaunchSpec(modules_[id].remote, launch), options, places.paths);
        // Outputs that stay poisoned need a second launch.
        const Duration limit =
            options.limit.value_or(2 * options.deadline + kMargin + bufferTime(launch));
        KOPT_TRY(Reply ran, askAlone(std::move(request), limit, descriptors.all(), outcome.stages));
        if (ran.message.number<unsigned>("deferred").value_or(0) == 0)
          return ran;
        outcome.isKnown = digestOf(ran.message) == options.known;
        if (outcome.isKnown)
          return ran;
        KOPT_TRY(const Reply read, askAlone(readRequest(places.paths), kMargin + bufferTime(launch),
                                            places.descriptors, outcome.stages));
        return read.status == RunStatus::Ok ? ran : read;
      }));
  outcome.status = reply.status;
  outcome.detail = withNames(reply.detail, launch);
  if (reply.status != RunStatus::Ok)
    return outcome;
  outcome.digest = digestOf(reply.message);
  if (!outcome.isKnown)
    outcome.buffers = paths(places.paths);
  for (const std::string &count : reply.message.list("unwritten"))
    outcome.unwritten.push_back(protocol::parseNumber<std::uint64_t>(count).value_or(0));
  if (outcome.unwritten.size() != launch.buffers.size())
    return makeError(ErrorCode::Internal,
                     fmt::format("the runner answered for {} of {} buffers",
                                 outcome.unwritten.size(), launch.buffers.size()));
  return outcome;
}

Result<TimingOutcome> RunnerClient::time(ModuleId a, const Launch &launchA, ModuleId b,
                                         const Launch &launchB, const TimeOptions &options) {
  KOPT_TRY(const SharedBuffers::Places placesA,
           shared_.prepare(options.slot + "-a", launchA.buffers));
  KOPT_TRY(const SharedBuffers::Places placesB,
           shared_.prepare(options.slot + "-b", launchB.buffers));
  std::vector<int> outputs = placesA.descriptors;
  outputs.insert(outputs.end(), placesB.descriptors.begin(), placesB.descriptors.end());
  LaunchContents descriptors(std::move(outputs));
  KOPT_CHECK(descriptors.addContents(launchA));
  KOPT_CHECK(descriptors.addContents(launchB));
  TimingOutcome outcome;
  // `a` again, because loading `b` may have needed a fresh process.
  KOPT_TRY(const Reply reply, withModules({a, b, a}, outcome.stages, [&]() -> Result<Reply> {
             Message request = timeRequest(toLaunchSpec(modules_[a].remote, launchA),
                                           toLaunchSpec(modules_[b].remote, launchB), options,
                                           placesA.paths, placesB.paths);
             watchOthers();
             return askAlone(std::move(request),
                             options.deadline + kTimingMargin + bufferTime(launchA) +
                                 bufferTime(launchB),
                             descriptors.all(), outcome.stages);
           }));
  outcome.status = reply.status;
  outcome.detail = withNames(reply.detail, launchB);
  if (reply.status != RunStatus::Ok)
    return outcome;
  if (others_)
    outcome.otherLoad = others_->end(ownProcesses());
  const Message &answer = reply.message;
  const std::vector<std::string> first = answer.list("a"), second = answer.list("b");
  if (first.size() != second.size() || first.empty())
    return makeError(ErrorCode::Internal, "the runner sent no pairs of times");
  for (std::size_t i = 0; i < first.size(); ++i) {
    const auto secondsA = protocol::parseNumber<double>(first[i]);
    const auto secondsB = protocol::parseNumber<double>(second[i]);
    if (!secondsA || !secondsB || !(*secondsA > 0) || !(*secondsB > 0) ||
        !std::isfinite(*secondsA) || !std::isfinite(*secondsB))
      return makeError(ErrorCode::Internal,
                       fmt::format("the runner sent the times '{}' and '{}'", first[i], second[i]));
    outcome.samples.push_back({*secondsA, *secondsB});
  }
  outcome.modelled = answer.number<unsigned>("modelled").value_or(0) != 0;
  outcome.cacheMode = parseEnum<CacheMode>(answer.text("cache")).value_or(CacheMode::Unknown);
  outcome.batch = answer.number<std::uint32_t>("batch").value_or(1);
  outcome.smClockMHz = answer.number<double>("sm_clock_mhz").value_or(0);
  outcome.throttled = answer.list("throttled");
  if (outcome.modelled) {
    outcome.counters = countersOf(answer);
    outcome.lines = lineCostsOf(answer);
  }
  if (!outcome.modelled)
    outcome.buffersA = paths(placesA.paths);
  outcome.buffersB = paths(placesB.paths);
  return outcome;
}

Result<ProfileOutcome> RunnerClient::profile(ModuleId id, const Launch &launch,
                                             const RunOptions &options) {
  LaunchContents descriptors({});
  KOPT_CHECK(descriptors.addContents(launch));
  ProfileOutcome outcome;
  KOPT_TRY(const Reply reply, withModules({id}, outcome.stages, [&]() -> Result<Reply> {
             Message request = profileRequest(toLaunchSpec(modules_[id].remote, launch), options);
             return askAlone(std::move(request), options.deadline + kMargin + bufferTime(launch),
                             descriptors.all(), outcome.stages);
           }));
  outcome.status = reply.status;
  outcome.detail = withNames(reply.detail, launch);
  if (reply.status != RunStatus::Ok)
    return outcome;
  outcome.counters = countersOf(reply.message);
  outcome.lines = lineCostsOf(reply.message);
  if (device_.kind != DeviceKind::Cuda) {
    outcome.source = toString(device_.kind);
    return outcome;
  }
  outcome.source = "ptxas";
  return addHardwareCounters(watched(id, launch, options), std::move(outcome), descriptors.all());
}

Result<MeasuredRates> RunnerClient::measureRates() {
  if (device_.kind != DeviceKind::Cuda)
    return Runner::measureRates();
  StageSeconds unused;
  KOPT_TRY(const Reply reply, attributed(unused, [&]() -> Result<Reply> {
             KOPT_CHECK(ensureReady());
             watchOthers();
             return askAlone(Message("rates"), kProbeDeadline, {}, unused);
           }));
  return measuredRatesOf(reply,
                         others_ ? others_->end(ownProcesses()) : std::vector<std::string>());
}

std::future<Runner::SanitizerReports> RunnerClient::sanitize(ModuleId id, const Launch &launch,
                                                             const std::vector<std::string> &tools,
                                                             const RunOptions &options) {
  if (device_.kind != DeviceKind::Cuda)
    return Runner::sanitize(id, launch, tools, options);
  StageSeconds unused;
  auto hold = lockDevice(unused);
  if (!hold)
    return readily(tl::unexpected(hold.error()));
  return std::async(std::launch::async, [this, hold = std::move(*hold), module = modules_.at(id),
                                         launch, tools, options] {
    return tools_.sanitize({module.path, module.symbol, launch, options}, tools);
  });
}

Result<NcuReport> RunnerClient::inspect(ModuleId id, const Launch &launch,
                                        const std::vector<std::string> &sections,
                                        const RunOptions &options) {
  if (device_.kind != DeviceKind::Cuda)
    return Runner::inspect(id, launch, sections, options);
  StageSeconds unused;
  KOPT_TRY(const DeviceLock::Hold hold, lockDevice(unused));
  return tools_.inspect(watched(id, launch, options), sections);
}

Result<ProfileOutcome> RunnerClient::addHardwareCounters(const WatchedLaunch &watched,
                                                         ProfileOutcome outcome,
                                                         const std::vector<int> &descriptors) {
  KOPT_TRY(const DeviceLock::Hold hold, lockDevice(outcome.stages));
  const auto begun = std::chrono::steady_clock::now();
  KOPT_TRY(const ProfileOutcome counted, tools_.count(watched, descriptors));
  outcome.detail = counted.detail;
  outcome.stages[counted.source] += Duration(std::chrono::steady_clock::now() - begun).count();
  if (counted.status == RunStatus::Ok && !counted.counters.empty()) {
    outcome.source = counted.source;
    for (const auto &[name, value] : counted.counters)
      outcome.counters[name] = value;
  }
  return outcome;
}

} // namespace

Result<std::unique_ptr<Runner>> startRunner(ProcessRunner &processes,
                                            const std::filesystem::path &program,
                                            const DeviceConfig &config,
                                            const std::filesystem::path &scratch,
                                            const std::filesystem::path &gpuSpecs,
                                            RunnerHooks hooks, RunnerContainment containment) {
  KOPT_CHECK(createDirectories(scratch));
  if (config.kind != DeviceKind::Emulated) {
    std::vector<std::string> command{program.string(), "--device", "cuda", "--ordinal",
                                     std::to_string(config.ordinal)};
    std::vector<std::filesystem::path> readable = containment.readable;
    for (std::filesystem::path &folder : containment.cuda.folders())
      readable.push_back(std::move(folder));
    auto client =
        std::make_unique<RunnerClient>(processes, std::move(command), scratch, config.runners,
                                       hooks, containment, runnerPolicy({program, readable, true}));
    const Status connected = client->connect();
    if (connected)
      return client;
    if (config.kind == DeviceKind::Cuda)
      return tl::unexpected(connected.error());
  }
  KOPT_TRY(const std::filesystem::path spec,
           gpuSpecFile(gpuSpecs, config.modelGpu.empty() ? "H200" : config.modelGpu));
  std::vector<std::string> command{program.string(),
                                   "--device",
                                   "emulated",
                                   "--gpu-spec",
                                   spec.string(),
                                   "--ordinal",
                                   std::to_string(config.ordinal)};
  containment.readable.push_back(spec);
  auto client = std::make_unique<RunnerClient>(
      processes, std::move(command), scratch, config.runners, hooks, containment,
      runnerPolicy({program, containment.readable, false}));
  KOPT_CHECK(client->connect());
  return client;
}

} // namespace kopt
