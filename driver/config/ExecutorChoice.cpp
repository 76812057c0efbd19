// SPDX-License-Identifier: Apache-2.0
#include "driver/config/ExecutorChoice.h"

#include "driver/support/CommandWords.h"
#include "driver/support/Text.h"

#include <fmt/format.h>

namespace kopt {

Result<ExecutorChoice> parseExecutor(const std::string &text) {
  const auto wrong = [&](const std::string &why) {
    return makeError(ErrorCode::Usage, fmt::format("'{}' is no executor: {}", text, why),
                     "give local, ssh:HOST[,HOST...] or slurm[@HOST][:OPTIONS OF SALLOC]");
  };
  const std::size_t colon = text.find(':');
  const std::size_t at = std::min(text.find('@'), colon);
  const std::string kind = text.substr(0, at);
  const std::string rest = colon == text.npos ? "" : text.substr(colon + 1);
  ExecutorChoice choice;
  if (kind == "local" && text.size() == kind.size())
    return choice;
  const auto addHosts = [&](const std::string &hosts) -> Status {
    for (const std::string &part : split(hosts, ',')) {
      std::string host(trim(part));
      // ssh would take it for an option.
      if (host.empty() || host.front() == '-' || host.find_first_of(" \t\n'\"") != host.npos)
        return wrong(fmt::format("'{}' is no host", host));
      choice.hosts.push_back(std::move(host));
    }
    return {};
  };
  if (kind == "slurm") {
    choice.kind = ExecutorKind::Slurm;
    if (at != colon)
      KOPT_CHECK(addHosts(text.substr(at + 1, colon - at - 1)));
    if (choice.hosts.size() > 1)
      return wrong("one host is asked for Slurm");
    if (rest.empty())
      return choice;
    const auto words = splitCommand(rest);
    if (!words)
      return wrong(words.error().what);
    choice.options = *words;
    return choice;
  }
  if (kind != "ssh" || at != colon)
    return wrong(fmt::format("there is none of the kind '{}'", kind));
  choice.kind = ExecutorKind::Ssh;
  KOPT_CHECK(addHosts(rest));
  return choice;
}

} // namespace kopt
