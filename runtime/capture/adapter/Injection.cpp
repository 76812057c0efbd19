// SPDX-License-Identifier: Apache-2.0
// libkopt-capture.so: the driver loads it into a program that has CUDA_INJECTION64_PATH set, and
// cuInit calls InitializeInjection. The library must not disturb the program: it prints nothing,
// never ends the program, and lets no error escape.
#include "runtime/capture/adapter/Adapter.h"
#include "runtime/device/MappedFile.h"
#include "runtime/trace/Contents.h"

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>

namespace kopt::runtime::capture {

namespace {

/// Everything lives until the process ends: threads of the program may call the driver after the
/// exit handlers ran.
struct Session {
  Config config;
  CuptiApi cupti;
  CaptureDriver driver;
  std::unique_ptr<trace::LogFile> log;
  std::unique_ptr<Recorder> recorder;
  std::unique_ptr<Adapter> adapter;
  pid_t pid = 0;
};
Session *session = nullptr;

std::string readText(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string linkTarget(const char *path) {
  char text[4096];
  const ssize_t length = readlink(path, text, sizeof text);
  return length > 0 ? std::string(text, std::size_t(length)) : std::string();
}

/// XXH3-128 of a file in hexadecimal; empty if it cannot be read.
std::string hashOf(const char *path) {
  MappedFile file;
  std::string why;
  if (!file.open(path, why) || file.bytes().empty())
    return {};
  return trace::hexOf(trace::hashContents(reinterpret_cast<const std::byte *>(file.bytes().data()),
                                          file.bytes().size()));
}

trace::ProcessInfo describeProcess(const Session &session) {
  trace::ProcessInfo info;
  info.pid = std::uint64_t(getpid());
  info.parent = std::uint64_t(getppid());
  info.program = linkTarget("/proc/self/exe");
  info.programHash = hashOf("/proc/self/exe");
  info.directory = linkTarget("/proc/self/cwd");
  std::string words = readText("/proc/self/cmdline");
  for (std::size_t begin = 0; begin < words.size();) {
    const std::size_t end = std::min(words.find('\0', begin), words.size());
    info.arguments.push_back(words.substr(begin, end - begin));
    begin = end + 1;
  }
  int version = 0;
  if (called(session.driver.driverGetVersion, &version) == cuda::kSuccess)
    info.driverVersion = std::uint32_t(version);
  if (session.cupti.getVersion)
    session.cupti.getVersion(&info.cuptiVersion);
  return info;
}

/// Makes this process's folder in the trace. The process id may have been used before, also by this
/// process before an exec().
std::string makeProcessFolder(const std::string &trace) {
  for (int again = 1; again < 10000; ++again) {
    const std::string folder = trace + "/process-" + std::to_string(getpid()) +
                               (again > 1 ? "-" + std::to_string(again) : "");
    if (mkdir(folder.c_str(), 0700) == 0)
      return folder;
    if (errno != EEXIST)
      break;
  }
  return {};
}

void finish() {
  // A forked child that does not call exec() runs its parent's exit handlers.
  if (!session || !session->recorder || session->pid != getpid())
    return;
  if (session->adapter)
    session->adapter->flush();
  session->recorder->finish();
}

void start(const std::string &configFile) {
  auto made = std::make_unique<Session>();
  std::string why;
  if (!parseConfig(readText(configFile), made->config, why))
    return;
  const std::string folder = makeProcessFolder(made->config.trace);
  if (folder.empty())
    return;
  made->log = trace::LogFile::create(folder + "/" + trace::kLogFile, made->config.maxLogBytes, why);
  if (!made->log)
    return;
  session = made.release();
  session->pid = getpid();
  session->recorder = std::make_unique<Recorder>(*session->log, session->config);
  const bool hasDriver = loadCaptureDriver(session->driver, why);
  const bool hasCupti = hasDriver && loadCupti(session->config.cupti, session->cupti, why);
  session->recorder->process(describeProcess(*session));
  if (hasCupti) {
    session->adapter =
        std::make_unique<Adapter>(*session->recorder, session->cupti, session->driver);
    if (!session->adapter->start(why))
      session->recorder->note("error: " + why);
  } else {
    session->recorder->note("error: CUPTI cannot be used: " + why);
  }
  std::atexit(finish);
}

} // namespace

} // namespace kopt::runtime::capture

/// Called by the driver, once in each process. Returns 1 for success; the driver continues in any
/// case.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  if (const char *config = std::getenv("KOPT_CAPTURE_CONFIG");
      config && !kopt::runtime::capture::session)
    kopt::runtime::capture::start(config);
  return 1;
}
