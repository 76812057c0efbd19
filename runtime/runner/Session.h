// SPDX-License-Identifier: Apache-2.0
// Answers the requests of one driver on one device. The verbs are in README.md.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/runner/LaunchSpec.h"
#include "runtime/runner/PairedTiming.h"
#include "runtime/runner/Protocol.h"

namespace kopt::runtime {

class Session {
public:
  Session(Device &device, SecondsClock clock) : device_(device), clock_(std::move(clock)) {}

  /// The reply to a line, without its newline. Any line has one: what cannot be understood is an
  /// error reply. `descriptors` came with it: the files that it names, which are closed here.
  std::string answer(const std::string &line, std::vector<int> descriptors = {});
  /// True after `quit`, or once the device cannot be used any more: the process should end.
  bool ended() const { return ended_ || !device_.usable(); }

private:
  using Message = protocol::Message;
  Message dispatch(const Message &request, Stages &stages);
  Message hello(const Message &request);
  Message load(const Message &request, Stages &stages);
  Message unload(const Message &request);
  Message run(const Message &request, Stages &stages);
  Message time(const Message &request, Stages &stages);
  Message profile(const Message &request, Stages &stages);
  Message probe(Stages &stages);

  Device &device_;
  SecondsClock clock_;
  HostMemory memory_;
  bool ended_ = false;
};

/// The reply of a runner whose device did not open.
std::string answerWithoutDevice(const std::string &line, const std::string &why);

} // namespace kopt::runtime
