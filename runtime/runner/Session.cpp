// SPDX-License-Identifier: Apache-2.0
#include "runtime/runner/Session.h"

#include "runtime/runner/VerifiedRun.h"

#include <map>
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

Session::Session(Device &device, SecondsClock clock)
    : device_(device), clock_(std::move(clock)), stages_(clock_) {}

Session::~Session() = default;

std::string Session::answer(const std::string &line, std::vector<int> descriptors) {
  const std::optional<Message> request = Message::parse(line);
  memory_.beginRequest(request ? filesOf(*request) : std::vector<std::string>{},
                       std::move(descriptors));
  if (!request)
    return errorReply("request", "this line is not a request").format();
  stages_.clear();
  Message reply = identified(*request, dispatch(*request));
  for (const auto &[name, seconds] : stages_.seconds())
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

Message Session::dispatch(const Message &request) {
  using Handler = Message (Session::*)(const Message &);
  static const std::map<std::string, Handler> kHandlers = {
      {"hello", &Session::hello}, {"load", &Session::load},       {"unload", &Session::unload},
      {"run", &Session::run},     {"read", &Session::read},       {"time", &Session::time},
      {"probe", &Session::probe}, {"profile", &Session::profile}, {"rates", &Session::rates},
      {"quit", &Session::quit}};
  const auto handler = kHandlers.find(request.verb());
  if (request.verb() != "read")
    kept_.reset();
  return handler == kHandlers.end() ? errorReply("request", "unknown verb " + request.verb())
                                    : (this->*handler->second)(request);
}

Message Session::quit(const Message &) {
  ended_ = true;
  return Message("ok");
}

Message Session::hello(const Message &request) {
  if (request.number<int>("version") != protocol::kVersion)
    return errorReply("request",
                      "this kopt-runner speaks version " + std::to_string(protocol::kVersion) +
                          " of the protocol, kopt asks for version " + request.text("version"));
  if (request.has("metrics"))
    device_.prepareCounters(request.list("metrics"));
  if (request.has("ahead"))
    device_.getReady();
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
  reply.addList("fact", {"multiprocessors", std::to_string(device.multiprocessors)});
  reply.addList("fact", {"shared_per_block", std::to_string(device.maxSharedPerBlock)});
  for (const auto &[name, value] : device.facts)
    reply.addList("fact", {name, value});
  // Reports whether this process can reach memory that it shares with the driver: by a descriptor
  // that came with the request, or through the path in it.
  if (request.has("probe"))
    reply.add("shared", std::uint64_t(memory_.isAttached(request.text("probe")) ||
                                      access(request.text("probe").c_str(), R_OK | W_OK) == 0));
  return reply;
}

Message Session::load(const Message &request) {
  ModuleProperties module;
  const Stages::Scope stage(stages_, "load");
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

Message Session::run(const Message &request) {
  LaunchSpec launch;
  std::string why;
  if (!parseLaunch(request, "a.", launch, why))
    return errorReply("request", why);
  auto run = std::make_unique<VerifiedRun>(RunContext{device_, memory_, stages_}, std::move(launch),
                                           request);
  const Status status = run->execute(request.list("out"));
  Message reply = statusReply(status);
  if (!status.ok())
    return reply;
  addCounts(reply, "unwritten", run->unwritten());
  for (const Digest &digest : run->digests())
    reply.addList("digest", {std::to_string(digest[0]), std::to_string(digest[1])});
  if (run->isDeferred()) {
    reply.add("deferred", 1);
    kept_ = std::move(run);
  }
  return reply;
}

Message Session::read(const Message &request) {
  if (!kept_)
    return errorReply("request", "there is no launch whose results are still to be read");
  const Status status = std::exchange(kept_, nullptr)->collect(request.list("out"));
  return statusReply(status);
}

Message Session::time(const Message &request) {
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
  const Status status = timePairs({device_, memory_, stages_}, a, b, plan, clock_, result);
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

Message Session::probe(const Message &) {
  const Stages::Scope stage(stages_, "probe");
  return statusReply(device_.probe());
}

Message Session::rates(const Message &) {
  const Stages::Scope stage(stages_, "rates");
  MeasuredRates rates;
  const Status status = device_.measureRates(rates);
  Message reply = statusReply(status);
  if (!status.ok())
    return reply;
  for (const auto &[name, rate] : {std::pair("dram_bytes", rates.dramBytes),
                                   {"dram_copy_bytes", rates.dramCopyBytes},
                                   {"fp32", rates.fp32},
                                   {"fp64", rates.fp64},
                                   {"instructions", rates.instructions}})
    if (rate > 0)
      reply.addDouble(name, rate);
  reply.add("missing", rates.missing);
  return reply;
}

Message Session::profile(const Message &request) {
  LaunchSpec launch;
  std::string why;
  if (!parseLaunch(request, "a.", launch, why))
    return errorReply("request", why);
  VerifiedRun prepared({device_, memory_, stages_}, std::move(launch), request);
  const CounterRequest wanted = {request.list("metrics"), [&] { return prepared.restore(); }};
  if (const Status status = prepared.prepare(!wanted.metrics.empty()); !status.ok())
    return statusReply(status);
  Counters counters;
  std::vector<LineCost> lines;
  const Stages::Scope stage(stages_, "count");
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
