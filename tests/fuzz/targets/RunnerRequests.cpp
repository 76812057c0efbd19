// SPDX-License-Identifier: Apache-2.0
// What kopt-runner reads: request lines, answered by a session on a device in host memory.
#include "runtime/runner/Session.h"
#include "tests/fakes/FakeDevice.h"
#include "tests/fuzz/Fuzz.h"

using namespace kopt::runtime;
using kopt::fuzz::require;

namespace {

/// Only what writes no file of the machine and ends soon: the one who asks the runner says where
/// outputs go and how long it may take.
bool isHarmless(const protocol::Message &request) {
  for (const char *key : {"out", "out_a", "out_b"})
    if (request.has(key))
      return false;
  return request.verb() != "time" ||
         (request.number<std::uint32_t>("max_samples").value_or(1000) <= 8 &&
          request.number<std::uint32_t>("min_samples").value_or(1000) <= 8);
}

void parsed(const protocol::Message &message) {
  const auto again = protocol::Message::parse(message.format());
  require(again && again->format() == message.format(), "a message is read as it was written");
  for (const char *prefix : {"a.", "b."}) {
    LaunchSpec launch;
    std::string why;
    if (!parseLaunch(message, prefix, launch, why)) {
      require(!why.empty(), "a refused launch says why");
      continue;
    }
    for (const ArgumentSpec &argument : launch.arguments)
      for (const PointerSpec &pointer : argument.pointers)
        require(pointer.buffer < launch.buffers.size() &&
                    pointer.offset <= launch.buffers[pointer.buffer].bytes &&
                    pointer.at + 8 <= argument.value.size(),
                "addresses lie in their buffers");
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string_view input = kopt::fuzz::textOf(data, size);
  require(protocol::decode(protocol::encode(input)) == std::string(input), "any text can be sent");
  kopt::fakes::FakeDevice device;
  device.info.memoryBytes = 4 << 20;
  device.add("k", [](const LaunchRequest &) { return Status{}; });
  device.seconds = [](const std::string &) { return 1e-3; };
  double now = 0;
  Session session(device, [&] { return now += 1e-3; });
  unsigned lines = 0;
  for (const std::string &line : kopt::fuzz::linesOf(input)) {
    if (session.ended() || ++lines > 16)
      break;
    const auto message = protocol::Message::parse(line);
    if (message) {
      parsed(*message);
      if (!isHarmless(*message))
        continue;
    }
    const auto reply = protocol::Message::parse(session.answer(line));
    require(reply && (reply->verb() == "ok" || reply->verb() == "error"), "every line has a reply");
    require(message || reply->verb() == "error", "what is no message is refused");
  }
  return 0;
}
