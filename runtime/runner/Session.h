// SPDX-License-Identifier: Apache-2.0
// Answers the requests of one driver on one device. The verbs are in README.md.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/runner/LaunchSpec.h"
#include "runtime/runner/PairedTiming.h"
#include "runtime/runner/Protocol.h"

#include <memory>

namespace kopt::runtime {

class VerifiedRun;

class Session {
public:
  Session(Device &device, SecondsClock clock);
  ~Session();

  /// The reply to a line; both without a newline. A line that cannot be understood gets an error
  /// reply. `descriptors` are the files that the line names; they are closed here.
  std::string answer(const std::string &line, std::vector<int> descriptors = {});
  /// True after `quit`, or once the device cannot be used any more: the process should end.
  bool ended() const { return ended_ || !device_.usable(); }

private:
  using Message = protocol::Message;
  Message dispatch(const Message &request);
  Message hello(const Message &request);
  Message load(const Message &request);
  Message unload(const Message &request);
  Message run(const Message &request);
  Message read(const Message &request);
  Message time(const Message &request);
  Message profile(const Message &request);
  Message probe(const Message &request);
  Message rates(const Message &request);
  Message quit(const Message &request);

  Device &device_;
  SecondsClock clock_;
  HostMemory memory_;
  Stages stages_;                     ///< of the current request
  std::unique_ptr<VerifiedRun> kept_; ///< a launch whose results `read` may still want
  bool ended_ = false;
};

/// The reply to `line` of a runner whose device could not be opened, for the reason `why`.
std::string answerWithoutDevice(const std::string &line, const std::string &why);

} // namespace kopt::runtime
