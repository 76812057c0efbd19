// SPDX-License-Identifier: Apache-2.0
#include "runtime/runner/Session.h"

#include "runtime/runner/BufferSet.h"

#include <algorithm>
#include <bit>
#include <unistd.h>

namespace kopt::runtime {

namespace {

using protocol::Message;

Message errorReply(const std::string &code, const std::string &text) {
  Message reply("error");
  reply.add("code", code);
  reply.add("text", text);
  return reply;
}

/// The reply to a request that ended with `status`. What a candidate caused is `ok` with its
/// status; what it did not cause is an `error`.
Message statusReply(const Status &status) {
  if (status.code == StatusCode::DeviceError)
    return errorReply("environment", status.detail);
  if (status.code == StatusCode::NoMemory)
    return errorReply("memory", status.detail);
  Message reply("ok");
  reply.add("status", std::uint64_t(status.code));
  reply.add("detail", status.detail);
  return reply;
}

/// Adds what was counted of a launch, for `profile` and `time`.
void addCounts(Message &reply, const Counters &counters, const std::vector<LineCost> &lines) {
  for (const auto &[name, value] : counters)
    reply.addList("counter", {name, protocol::formatDouble(value)});
  for (const LineCost &line : lines)
    reply.addList("line",
                  {line.file, std::to_string(line.line), protocol::formatDouble(line.instructions),
                   protocol::formatDouble(line.sectors)});
}

void addCounts(Message &reply, const std::string &key, const std::vector<std::uint64_t> &counts) {
  std::vector<std::string> words;
  for (const std::uint64_t count : counts)
    words.push_back(std::to_string(count));
  reply.addList(key, words);
}

/// The buffers of a `run`, with the request's fields that apply to all buffers.
std::vector<BufferSpec> buffersOf(const LaunchSpec &launch, const Message &request) {
  std::vector<BufferSpec> buffers = launch.buffers;
  for (BufferSpec &buffer : buffers) {
    buffer.jitter = request.number<unsigned>("jitter").value_or(0);
    buffer.repeats = request.number<unsigned>("repeating").value_or(0) != 0;
  }
  return buffers;
}

Checks checksOf(const Message &request) {
  const std::vector<std::string> skipped = request.list("skip");
  const auto isSkipped = [&](const char *name) {
    return std::find(skipped.begin(), skipped.end(), name) != skipped.end();
  };
  return {!isSkipped("guards"), !isSkipped("inputs")};
}

/// One `run`: a launch on poisoned outputs, and a second one on the inverted poison if the first
/// left any.
class VerifiedRun {
public:
  VerifiedRun(RunContext context, const LaunchSpec &launch, const Message &request)
      : context_(context), launch_(launch),
        buffers_(context, buffersOf(launch, request),
                 request.number<std::uint64_t>("input_seed").value_or(1), {launch.module},
                 checksOf(request)),
        poisonSeed_(request.number<std::uint64_t>("poison_seed").value_or(1)),
        instructionLimit_(request.number<std::uint64_t>("instruction_limit").value_or(0)),
        scheduleSeed_(request.number<std::uint64_t>("schedule").value_or(0)),
        scratchSeed_(request.number<std::uint64_t>("scratch").value_or(0)),
        repeating_(request.number<unsigned>("repeating").value_or(0) != 0),
        lastBlocks_(request.number<std::uint32_t>("last_blocks").value_or(0)),
        races_(request.number<unsigned>("races").value_or(1)) {}

  /// `outputs` as BufferSet::collect() takes them.
  Status execute(const std::vector<std::string> &outputs) {
    unwritten_.assign(launch_.buffers.size(), 0);
    // Another poison also means other addresses, so that a launch can use neither old contents nor
    // old pointers.
    const std::uint64_t placement = poisonSeed_ * 0x9e3779b97f4a7c15u >> 20 | 1;
    if (Status status = buffers_.allocate(false, placement); !status.ok())
      return status;
    if (Status status = launchOn({poisonSeed_, false}); !status.ok() || repeating_)
      return status;
    std::vector<ElementSet> first, second;
    if (Status status = buffers_.collect(outputs, &first); !status.ok())
      return status;
    // An element that differs from the poison was written. One that equals it was not written, or
    // the kernel wrote that very value. Under the inverted poison, only an unwritten element equals
    // the poison again.
    if (std::all_of(first.begin(), first.end(),
                    [](const ElementSet &set) { return set.count == 0; }))
      return {};
    if (Status status = launchOn({poisonSeed_, true}); !status.ok())
      return status;
    if (Status status = buffers_.collect({}, &second); !status.ok())
      return status;
    for (std::size_t i = 0; i < first.size(); ++i)
      for (std::size_t word = 0; word < first[i].words.size(); ++word)
        unwritten_[i] += std::uint64_t(std::popcount(first[i].words[word] & second[i].words[word]));
    return {};
  }

  const std::vector<std::uint64_t> &unwritten() const { return unwritten_; }

  LaunchRequest deviceRequest() const {
    LaunchRequest request = buffers_.request(launch_);
    request.instructionLimit = instructionLimit_;
    request.checkRaces = races_ != 0;
    request.checkAcrossBlocks = races_ == 2;
    request.scheduleSeed = scheduleSeed_;
    request.lastBlocks = lastBlocks_;
    return request;
  }
  /// `repeated`: restore() can be called later.
  Status prepare(bool repeated) {
    if (Status status = buffers_.allocate(repeated); !status.ok())
      return status;
    return buffers_.reset({poisonSeed_, false});
  }
  Status restore() { return buffers_.restore(); }

private:
  Status launchOn(Poison poison) {
    if (Status status = buffers_.reset(poison); !status.ok())
      return status;
    {
      const Stages::Scope stage(context_.stages, "launch");
      LaunchRequest request = deviceRequest();
      if (scratchSeed_ != 0)
        request.scratchSeed = 2 * scratchSeed_ + poison.inverted;
      if (Status status = context_.device.launch(request); !status.ok())
        return status;
    }
    return repeating_ ? Status() : buffers_.check();
  }

  RunContext context_;
  const LaunchSpec &launch_;
  BufferSet buffers_;
  std::uint64_t poisonSeed_, instructionLimit_, scheduleSeed_, scratchSeed_;
  bool repeating_; ///< its results mean nothing, only how it ends
  std::uint32_t lastBlocks_;
  unsigned races_; ///< 0: none, 1: within a block, 2: across blocks too
  std::vector<std::uint64_t> unwritten_;
};

/// Every file that a request names, in the order of the descriptors that come with it.
std::vector<std::string> filesOf(const Message &request) {
  std::vector<std::string> files;
  if (request.has("probe"))
    files.push_back(request.text("probe"));
  for (const char *key : {"out", "out_a", "out_b"})
    for (std::string &file : request.list(key))
      if (!file.empty())
        files.push_back(std::move(file));
  for (const char *key : {"a.contents", "b.contents"})
    for (const std::vector<std::string> &parts : request.lists(key))
      if (parts.size() == 2)
        files.push_back(parts[1]);
  return files;
}

Message identified(const Message &request, Message reply) {
  reply.add("id", request.number<std::uint64_t>("id").value_or(0));
  return reply;
}

} // namespace

std::string Session::answer(const std::string &line, std::vector<int> descriptors) {
  const std::optional<Message> request = Message::parse(line);
  memory_.beginRequest(request ? filesOf(*request) : std::vector<std::string>{},
                       std::move(descriptors));
  if (!request)
    return errorReply("request", "this line is not a request").format();
  Stages stages(clock_);
  Message reply = identified(*request, dispatch(*request, stages));
  for (const auto &[name, seconds] : stages.seconds())
    reply.addList("stage", {name, protocol::formatDouble(seconds)});
  memory_.endRequest();
  if (!device_.usable())
    reply.add("last", 1);
  return reply.format();
}

std::string answerWithoutDevice(const std::string &line, const std::string &why) {
  return identified(Message::parse(line).value_or(Message("none")), errorReply("no-device", why))
      .format();
}

Message Session::dispatch(const Message &request, Stages &stages) {
  const std::string &verb = request.verb();
  if (verb == "hello")
    return hello(request);
  if (verb == "load")
    return load(request, stages);
  if (verb == "unload")
    return unload(request);
  if (verb == "run")
    return run(request, stages);
  if (verb == "time")
    return time(request, stages);
  if (verb == "profile")
    return profile(request, stages);
  if (verb == "probe")
    return probe(stages);
  if (verb == "rates")
    return rates(stages);
  if (verb == "quit") {
    ended_ = true;
    return Message("ok");
  }
  return errorReply("request", "unknown verb " + verb);
}

Message Session::hello(const Message &request) {
  if (request.number<int>("version") != protocol::kVersion)
    return errorReply("request",
                      "this kopt-runner speaks version " + std::to_string(protocol::kVersion) +
                          " of the protocol, kopt asks for version " + request.text("version"));
  const DeviceProperties &device = device_.properties();
  Message reply("ok");
  reply.add("version", std::uint64_t(protocol::kVersion));
  reply.add("kind", device.kind);
  reply.add("name", device.name);
  reply.add("arch", device.arch);
  reply.add("driver", device.driver);
  reply.add("uuid", device.uuid);
  reply.add("modelled", std::uint64_t(device.modelled));
  reply.add("l2", device.l2Bytes);
  reply.add("memory", device.memoryBytes);
  reply.addDouble("dram_bandwidth", device.dramBytesPerSecond);
  reply.addDouble("store_bandwidth", device.storeBytesPerSecond);
  for (const auto &[name, value] : device.facts)
    reply.addList("fact", {name, value});
  // Reports whether this process can reach memory that it shares with the driver: by a descriptor
  // that came with the request, or through the path in it.
  if (request.has("probe"))
    reply.add("shared", std::uint64_t(memory_.isAttached(request.text("probe")) ||
                                      access(request.text("probe").c_str(), R_OK | W_OK) == 0));
  return reply;
}

Message Session::load(const Message &request, Stages &stages) {
  ModuleProperties module;
  const Stages::Scope stage(stages, "load");
  const Status status = device_.load(request.text("path"), request.text("symbol"), module);
  Message reply = statusReply(status);
  if (!status.ok())
    return reply;
  reply.add("module", module.module);
  reply.add("symbol", module.symbol);
  reply.add("registers", module.registers);
  reply.add("shared", module.sharedBytes);
  reply.add("local", module.localBytes);
  reply.add("const", module.constBytes);
  reply.add("max_threads", module.maxThreads);
  return reply;
}

Message Session::unload(const Message &request) {
  return statusReply(device_.unload(request.number<std::uint32_t>("module").value_or(0)));
}

Message Session::run(const Message &request, Stages &stages) {
  LaunchSpec launch;
  std::string why;
  if (!parseLaunch(request, "a.", launch, why))
    return errorReply("request", why);
  VerifiedRun verified({device_, memory_, stages}, launch, request);
  const Status status = verified.execute(request.list("out"));
  Message reply = statusReply(status);
  if (status.ok())
    addCounts(reply, "unwritten", verified.unwritten());
  return reply;
}

Message Session::time(const Message &request, Stages &stages) {
  LaunchSpec a, b;
  std::string why;
  if (!parseLaunch(request, "a.", a, why) || !parseLaunch(request, "b.", b, why))
    return errorReply("request", why);
  TimingPlan plan;
  plan.inputSeed = request.number<std::uint64_t>("input_seed").value_or(plan.inputSeed);
  plan.minSamples = request.number<std::uint32_t>("min_samples").value_or(plan.minSamples);
  plan.maxSamples = request.number<std::uint32_t>("max_samples").value_or(plan.maxSamples);
  plan.budgetSeconds = request.number<double>("budget").value_or(plan.budgetSeconds);
  plan.deadlineSeconds = request.number<double>("deadline").value_or(plan.deadlineSeconds);
  plan.coldCache = request.number<unsigned>("cold").value_or(1) != 0;
  plan.outputsA = request.list("out_a");
  plan.outputsB = request.list("out_b");
  plan.checks = checksOf(request);
  TimingResult result;
  const Status status = timePairs({device_, memory_, stages}, a, b, plan, clock_, result);
  Message reply = statusReply(status);
  if (!status.ok())
    return reply;
  std::vector<std::string> secondsA, secondsB;
  for (const auto &[first, second] : result.samples) {
    secondsA.push_back(protocol::formatDouble(first));
    secondsB.push_back(protocol::formatDouble(second));
  }
  reply.addList("a", secondsA);
  reply.addList("b", secondsB);
  reply.add("modelled", std::uint64_t(result.modelled));
  reply.add("cache", result.cold ? "cold" : "warm");
  reply.add("batch", result.batch);
  reply.addDouble("sm_clock_mhz", result.smClockMHz);
  reply.addList("throttled", result.throttled);
  addCounts(reply, result.counters, result.lines);
  return reply;
}

Message Session::probe(Stages &stages) {
  const Stages::Scope stage(stages, "probe");
  return statusReply(device_.probe());
}

Message Session::rates(Stages &stages) {
  const Stages::Scope stage(stages, "rates");
  MeasuredRates rates;
  const Status status = device_.measureRates(rates);
  Message reply = statusReply(status);
  if (!status.ok())
    return reply;
  for (const auto &[name, rate] : {std::pair("dram_bytes", rates.dramBytes),
                                   {"fp32", rates.fp32},
                                   {"fp64", rates.fp64},
                                   {"instructions", rates.instructions}})
    if (rate > 0)
      reply.addDouble(name, rate);
  reply.add("missing", rates.missing);
  return reply;
}

Message Session::profile(const Message &request, Stages &stages) {
  LaunchSpec launch;
  std::string why;
  if (!parseLaunch(request, "a.", launch, why))
    return errorReply("request", why);
  VerifiedRun prepared({device_, memory_, stages}, launch, request);
  const CounterRequest wanted = {request.list("metrics"), [&] { return prepared.restore(); }};
  if (const Status status = prepared.prepare(!wanted.metrics.empty()); !status.ok())
    return statusReply(status);
  Counters counters;
  std::vector<LineCost> lines;
  const Stages::Scope stage(stages, "count");
  Status status = device_.profile(prepared.deviceRequest(), counters, &lines);
  std::string noCounters;
  if (status.ok() && !wanted.metrics.empty())
    status = device_.countHardware(prepared.deviceRequest(), wanted, counters, noCounters);
  Message reply = statusReply(status);
  if (!status.ok())
    return reply;
  if (!noCounters.empty())
    reply.add("no_counters", noCounters);
  addCounts(reply, counters, lines);
  return reply;
}

} // namespace kopt::runtime
