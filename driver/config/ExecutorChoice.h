// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/support/Result.h"

#include <string>
#include <vector>

namespace kopt {

enum class ExecutorKind { Local, Ssh, Slurm };

/// Where candidates are judged.
struct ExecutorChoice {
  ExecutorKind kind = ExecutorKind::Local;
  /// As ssh takes them; of Slurm: the one through which it is asked, if any.
  std::vector<std::string> hosts{};
  /// Of an allocation, as salloc takes them; empty: that which kopt runs in.
  std::vector<std::string> options{};
};

/// The workers that judge elsewhere.
struct HostSettings {
  ExecutorChoice choice{};
  std::vector<int> gpus{0};         ///< ordinals on each host
  std::string program{};            ///< kopt on the hosts; empty: this kopt, sent if it is missing
  std::string folder{};             ///< the root of the project there; empty: as it is here
  std::vector<std::string> archs{}; ///< whose GPUs may be of different kinds; empty: of one
  unsigned restarts = 3;            ///< of one worker
  std::string command = "worker";   ///< of kopt, which the hosts run
  std::vector<std::string> flags{}; ///< of that command
};

/// Parses "local", "ssh:HOST[,HOST…]" or "slurm[@HOST][:OPTIONS]". Fails with Usage for any other
/// text.
Result<ExecutorChoice> parseExecutor(const std::string &text);

} // namespace kopt
