// SPDX-License-Identifier: Apache-2.0
// kopt-runner: owns one device and answers requests until its input ends. The code that it loads is
// not trusted, so the protocol moves away from the standard streams before anything is loaded.
#include "runtime/runner/LineReader.h"
#include "runtime/runner/Session.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using namespace kopt::runtime;

constexpr int kExitUsage = 1, kExitEnvironment = 6;

constexpr char kUsage[] =
    "usage: kopt-runner --device cuda [--ordinal N] | --device emulated --gpu-spec FILE\n"
    "                   [--script REQUESTS --replies FILE]\n"
    "Runs kernels for kopt: requests on standard input or from a file, one reply line each.\n";

struct Options {
  std::string device, gpuSpec, script, replies;
  int ordinal = 0;
};

bool parseOptions(int argc, char **argv, Options &out) {
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc)
      return false;
    const std::string value = argv[i + 1];
    if (name == "--device")
      out.device = value;
    else if (name == "--gpu-spec")
      out.gpuSpec = value;
    else if (name == "--script")
      out.script = value;
    else if (name == "--replies")
      out.replies = value;
    else if (name == "--ordinal") {
      const auto number = protocol::parseNumber<int>(value);
      if (!number)
        return false;
      out.ordinal = *number;
    } else
      return false;
  }
  return (out.device == "cuda" || (out.device == "emulated" && !out.gpuSpec.empty())) &&
         out.script.empty() == out.replies.empty();
}

/// Returns a private duplicate of `standard` and makes `standard` /dev/null, so that kernels that
/// print cannot forge a reply. -1 on failure.
int takeOver(int standard, int flags) {
  const int own = fcntl(standard, F_DUPFD_CLOEXEC, 3);
  const int null = open("/dev/null", flags);
  if (own < 0 || null < 0 || dup2(null, standard) < 0)
    return -1;
  close(null);
  return own;
}

std::unique_ptr<Device> openDevice(const Options &options, std::string &why) {
  return options.device == "cuda" ? openCudaDevice(options.ordinal, why)
                                  : openEmulatedDevice(options.gpuSpec, why);
}

/// Ends this process when kopt is killed, so that no endless kernel stays behind on the GPU.
void exitWithParent(pid_t parent) {
  while (getppid() == parent)
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  _exit(kExitEnvironment);
}

double monotonicSeconds() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  if (!parseOptions(argc, argv, options)) {
    std::fputs(kUsage, stderr);
    return kExitUsage;
  }
  // No core files of crashed candidates.
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  // Processes that a candidate starts may not inspect this one. A profiler that watches it may.
  if (options.script.empty())
    prctl(PR_SET_DUMPABLE, 0);
  std::thread(exitWithParent, getppid()).detach();
  std::signal(SIGPIPE, SIG_IGN);

  int in = takeOver(STDIN_FILENO, O_RDONLY);
  int out = takeOver(STDOUT_FILENO, O_WRONLY);
  if (!options.script.empty()) {
    in = open(options.script.c_str(), O_RDONLY | O_CLOEXEC);
    out = open(options.replies.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  }
  if (in < 0 || out < 0) {
    std::fprintf(stderr, "kopt-runner: cannot open the request and reply streams: %s\n",
                 std::strerror(errno));
    return kExitEnvironment;
  }

  LineReader lines(in);
  std::string line, why;
  std::vector<int> descriptors;
  const std::unique_ptr<Device> device = openDevice(options, why);
  if (!device) {
    if (lines.next(line, descriptors))
      writeAll(out, answerWithoutDevice(line, why) + "\n");
    return kExitEnvironment;
  }
  Session session(*device, monotonicSeconds);
  while (!session.ended() && lines.next(line, descriptors))
    if (!writeAll(out, session.answer(line, std::exchange(descriptors, {})) + "\n"))
      return kExitEnvironment;
  return 0;
}
