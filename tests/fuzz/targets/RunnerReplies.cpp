// SPDX-License-Identifier: Apache-2.0
// What kopt reads of its runner, a process that untrusted kernels share, and Nsight Compute's CSV.
#include "driver/device/profile/NcuProfiler.h"
#include "driver/device/runner/RunnerClient.h"
#include "driver/model/Device.h"
#include "runtime/runner/Protocol.h"
#include "tests/fakes/FakeProcessRunner.h"
#include "tests/fuzz/Fuzz.h"

#include <cmath>
#include <cstdlib>

using namespace kopt;
using kopt::fuzz::require;

namespace {

void counters(std::string_view input) {
  if (const auto kernels = parseNcuCsv(input))
    for (const NcuKernel &kernel : *kernels)
      for (const auto &[name, value] : kernel.counters)
        require(!name.empty() && std::isfinite(value), "what has no value is absent");
}

bool isKnown(RunStatus status) {
  return status >= RunStatus::Ok && status <= RunStatus::InputChanged;
}

/// The lines answer one request each; a line's field `id=?` gets the request's number.
void replies(std::string_view input) {
  std::vector<std::string> lines = kopt::fuzz::linesOf(input);
  std::size_t next = 0;
  fakes::FakeProcessRunner processes;
  processes.onStart([&](const std::string &request) -> std::optional<std::vector<std::string>> {
    if (next >= lines.size())
      return std::nullopt;
    std::string line = lines[next++];
    const auto message = runtime::protocol::Message::parse(request);
    require(message.has_value(), "what kopt sends is a message");
    if (const std::size_t at = line.find("id=?"); at != line.npos)
      line.replace(at + 3, 1, message->text("id"));
    return std::vector<std::string>{line};
  });
  const std::filesystem::path folder = kopt::fuzz::scratch().path();
  setenv("KOPT_LOCK_DIR", folder.c_str(), 1);
  const auto runner =
      startRunner(processes, "kopt-runner", {DeviceKind::Cuda, 0, ""}, folder / "run", folder);
  if (!runner)
    return;
  const auto a = (*runner)->load("a.cubin", "a");
  const auto b = (*runner)->load("b.cubin", "");
  if (!a || !b)
    return;
  Launch launch;
  Buffer buffer;
  buffer.name = "x";
  buffer.bytes = 64;
  buffer.scalar = "f32";
  launch.buffers.push_back(buffer);
  launch.arguments.push_back(BufferArg{0, 0});
  if (const auto outcome = (*runner)->run(a->id, launch, {})) {
    require(isKnown(outcome->status), "a run ends in a known way");
    require(outcome->status != RunStatus::Ok ||
                (outcome->unwritten.size() == 1 && outcome->buffers.size() == 1),
            "one answer for each buffer");
  }
  if (const auto outcome = (*runner)->time(a->id, launch, b->id, launch, {})) {
    require(isKnown(outcome->status), "a timing ends in a known way");
    require(outcome->status != RunStatus::Ok || !outcome->samples.empty(), "a timing has samples");
    for (const TimingSample &sample : outcome->samples)
      require(sample.a > 0 && sample.b > 0 && std::isfinite(sample.a) && std::isfinite(sample.b),
              "a time is above 0");
  }
  if (const auto outcome = (*runner)->profile(a->id, launch, {})) {
    require(isKnown(outcome->status), "a profile ends in a known way");
    for (const auto &[name, value] : outcome->counters)
      require(std::isfinite(value), "a counter is a number");
  }
  (*runner)->unload(b->id);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  std::string_view input = kopt::fuzz::textOf(data, size);
  if (kopt::fuzz::takeChoice(input, 2) == 0)
    counters(input);
  else
    replies(input);
  return 0;
}
