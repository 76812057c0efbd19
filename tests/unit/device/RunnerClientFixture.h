// SPDX-License-Identifier: Apache-2.0
// The client against a real Session over a fake device; processes are fakes that can hang or die.
#pragma once

#include "driver/device/Runner.h"
#include "driver/device/runner/RunnerClient.h"
#include "driver/support/FileSystem.h"
#include "fakes/FakeDevice.h"
#include "fakes/FakeProcessRunner.h"
#include "runtime/runner/Fill.h"
#include "runtime/runner/Session.h"

#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>

namespace kopt::test {

using kopt::fakes::FakeDevice;
using kopt::fakes::FakeProcessRunner;
using runtime::LaunchRequest;
using runtime::StatusCode;
using DeviceStatus = runtime::Status;

class RunnerClientFixture : public testing::Test {
protected:
  RunnerClientFixture() : folder(std::move(*TemporaryDirectory::create("kopt-client"))) {
    setenv("KOPT_LOCK_DIR", folder.path().c_str(), 1);
    processes.onStart([this](const std::string &line) { return answer(line); });
    addKernels();
  }

  ~RunnerClientFixture() override { unsetenv("KOPT_LOCK_DIR"); }

  void addKernels() {
    kernels["copy"] = [](const LaunchRequest &request) {
      std::memcpy(FakeDevice::argument<void *>(request, 1),
                  FakeDevice::argument<void *>(request, 0),
                  FakeDevice::argument<std::uint32_t>(request, 2));
      return DeviceStatus{};
    };
    kernels["fault"] = [](const LaunchRequest &) {
      return DeviceStatus{StatusCode::Fault, "illegal address"};
    };
  }

  /// What a runner process would say. A session that has ended, or a `hello`, means a fresh
  /// process.
  std::optional<std::vector<std::string>> answer(std::string line) {
    lines.push_back(line);
    if (line.rfind("hello", 0) == 0) {
      ++starts;
      if (memoryHidden)
        line.erase(line.find(" probe="), line.find(" id=") - line.find(" probe="));
      device = std::make_unique<FakeDevice>();
      device->info.kind = kind;
      device->kernels = kernels;
      device->noCounters = noCounters;
      device->hasMemoryKernels = hasMemoryKernels;
      session = std::make_unique<runtime::Session>(*device, [this] { return device->elapsed; });
      if (deviceMissing)
        return std::vector{runtime::answerWithoutDevice(line, "no driver here")};
    }
    if (line.rfind("probe", 0) == 0 && probesThatFail > 0) {
      --probesThatFail;
      return std::vector{"error code=environment text=broken " + line.substr(line.rfind("id="))};
    }
    if (!dieOnceOn.empty() && line.rfind(dieOnceOn, 0) == 0) {
      dieOnceOn.clear();
      return std::nullopt;
    }
    if (!fullOn.empty() && line.rfind(fullOn, 0) == 0 && timesFull-- > 0)
      return std::vector{"error code=memory text=full " + line.substr(line.rfind("id="))};
    if (!twiceOn.empty() && line.rfind(twiceOn, 0) == 0) {
      twiceOn.clear();
      return std::vector{session->answer(line), std::string("ok status=0 detail= id=1")};
    }
    if (!hangOn.empty() && line.rfind(hangOn, 0) == 0)
      return std::vector<std::string>{};
    if (!dieOn.empty() && line.rfind(dieOn, 0) == 0)
      return std::nullopt;
    if (!forgeOn.empty() && line.rfind(forgeOn, 0) == 0)
      return std::vector<std::string>{"ok status=0 detail= id=1"};
    return std::vector{session->answer(line)};
  }

  std::unique_ptr<Runner> start(RunnerHooks hooks = {}) {
    auto runner = startRunner(processes, "kopt-runner", {DeviceKind::Cuda, 0, ""},
                              folder.path() / "buffers", folder.path(), std::move(hooks));
    EXPECT_TRUE(runner) << (runner ? "" : runner.error().what);
    return runner ? std::move(*runner) : nullptr;
  }

  /// What the runner draws for the launch's input, which "copy" copies.
  static std::string input(std::uint64_t seed, std::size_t size = 400) {
    runtime::BufferSpec spec;
    spec.scalar = "f32";
    std::string bytes(size, '\0');
    runtime::drawContents(spec, seed, 0, 0, bytes.size(),
                          reinterpret_cast<std::byte *>(bytes.data()));
    return bytes;
  }
  static Launch launch(std::uint32_t bytes = 400) {
    Launch out;
    out.name = "one";
    out.grid = {2, 1, 1};
    out.block = {64, 1, 1};
    Buffer in{"in", 400, "f32", {}, true, false}, result{"out", 400, "f32", {}, false, true};
    out.buffers = {in, result};
    out.arguments = {BufferArg{0, 0}, BufferArg{1, 0},
                     ValueArg{std::string(reinterpret_cast<const char *>(&bytes), 4)}};
    return out;
  }

  FakeProcessRunner processes;
  TemporaryDirectory folder;
  std::map<std::string, FakeDevice::Kernel> kernels;
  std::unique_ptr<FakeDevice> device;
  std::unique_ptr<runtime::Session> session;
  std::vector<std::string> lines;
  std::string noCounters;    ///< why CUPTI gives none
  std::string kind = "cuda"; ///< of the device that the runner says it drives
  std::string hangOn, dieOn, forgeOn, dieOnceOn, twiceOn, fullOn;
  int probesThatFail = 0, timesFull = 0;
  bool deviceMissing = false, memoryHidden = false, hasMemoryKernels = false;
  int starts = 0;
};

} // namespace kopt::test
