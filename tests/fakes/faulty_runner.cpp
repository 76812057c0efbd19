// SPDX-License-Identifier: Apache-2.0
// kopt-runner that goes wrong where the file `faults` beside it says: lines of "CANDIDATE STAGE
// FAULT". The candidate is a number: modules lie in folders that count from 0, the baseline; "*" is
// each of them but that,
// "-" what concerns none. With --ordinal N the file `faults.N` counts too. Put into the place of
// kopt-runner in a copy of an installation. Where a file `simulated-gpu` is beside it, a
// description of a GPU, "cuda" is SimulatedGpu.
#include "fakes/SimulatedGpu.h"
#include "runtime/runner/LineReader.h"
#include "runtime/runner/Session.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using namespace kopt::runtime;
using protocol::Message;

using Faults = std::map<std::pair<std::string, std::string>, std::string>;

std::filesystem::path besideThis(const std::string &name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

void readFaults(const std::string &name, Faults &faults) {
  std::ifstream file(besideThis(name));
  for (std::string candidate, stage, fault; file >> candidate >> stage >> fault;)
    faults[{candidate, stage}] = fault;
}

std::string faultOf(const Faults &faults, const std::string &candidate, const std::string &stage) {
  const bool isNumber =
      !candidate.empty() && candidate.find_first_not_of("0123456789") == std::string::npos;
  for (const std::string &name : {candidate, std::string(candidate.empty()              ? "-"
                                                         : isNumber && candidate != "0" ? "*"
                                                                                        : "")})
    if (const auto found = faults.find({name, stage}); found != faults.end())
      return found->second;
  return {};
}

/// "7" of "/tmp/kopt-x/evaluate/run-1/7/module.so".
std::string candidateOf(const std::string &path) {
  return std::filesystem::path(path).parent_path().filename().string();
}

[[noreturn]] void go(const std::string &fault, int out) {
  if (fault == "kill")
    raise(SIGKILL);
  if (fault == "crash")
    raise(SIGSEGV);
  if (fault == "hang")
    raise(SIGSTOP);
  if (fault == "quit")
    _exit(0);
  if (fault == "garbage")
    writeAll(out, std::string("\x00\xff no reply at all\n", 20));
  if (fault == "partial") {
    writeAll(out, "ok id=");
    _exit(0);
  }
  if (fault == "forge")
    writeAll(out, "ok id=1 status=0 module=1 symbol=k a=1 b=0.001 modelled=1\n");
  if (fault == "silent")
    close(out);
  if (fault == "flood")
    for (const std::string text(1 << 16, 'x');
         writeAll(out, text) && writeAll(STDERR_FILENO, text);) {
    }
  for (;;)
    pause();
}

/// What a launch has left for the judge, overwritten.
void poison(const std::vector<int> &files) {
  for (const int file : files) {
    struct stat info{};
    if (fstat(file, &info) != 0 || info.st_size == 0)
      continue;
    void *memory =
        mmap(nullptr, std::size_t(info.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory != MAP_FAILED)
      for (off_t i = 0; i < info.st_size; ++i)
        static_cast<unsigned char *>(memory)[i] ^= 0x5a;
    static_cast<void>(ftruncate(file, 0));
  }
}

} // namespace

int main(int argc, char **argv) {
  std::map<std::string, std::string> options;
  for (int i = 1; i + 1 < argc; i += 2)
    options[argv[i]] = argv[i + 1];
  Faults faults; // a tool that watches a script sees a runner that works
  if (!options.contains("--script")) {
    readFaults("faults", faults);
    if (options.contains("--ordinal"))
      readFaults("faults." + options["--ordinal"], faults);
  }
  std::string why, line;
  const std::filesystem::path simulated = besideThis("simulated-gpu");
  std::unique_ptr<Device> device;
  if (options["--device"] != "cuda")
    device = openEmulatedDevice(options["--gpu-spec"], why);
  else if (!std::filesystem::exists(simulated))
    device = openCudaDevice(std::atoi(options["--ordinal"].c_str()), why);
  else if (auto emulated = openEmulatedDevice(simulated.string(), why))
    device = std::make_unique<kopt::fakes::SimulatedGpu>(std::move(emulated));
  if (!device)
    return 6;
  std::signal(SIGPIPE, SIG_IGN);
  const bool script = options.contains("--script");
  const int in = script ? open(options["--script"].c_str(), O_RDONLY) : STDIN_FILENO;
  const int out = script ? open(options["--replies"].c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666)
                         : dup(STDOUT_FILENO);
  LineReader lines(in);
  Session session(*device, [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  });
  std::map<std::uint32_t, std::string> candidates; // by the number of their module
  for (std::vector<int> files; lines.next(line, files); files.clear()) {
    const Message request = Message::parse(line).value_or(Message("none"));
    std::string stage = request.verb(), candidate;
    if (stage == "load")
      candidate = candidateOf(request.text("path"));
    for (const char *key : {"a.module", "b.module", "module"})
      if (const auto module = request.number<std::uint32_t>(key);
          module && candidates.contains(*module))
        candidate = candidates[*module]; // of a timing, the second
    const std::string fault = faultOf(faults, candidate, stage);
    std::vector<int> kept;
    if (fault == "poison")
      for (const int file : files)
        kept.push_back(dup(file));
    else if (!fault.empty() && stage != "unload")
      go(fault, out);
    const std::string reply = session.answer(line, files);
    if (stage == "load")
      if (const auto module =
              Message::parse(reply).value_or(Message("none")).number<std::uint32_t>("module"))
        candidates[*module] = candidate;
    poison(kept);
    if (!writeAll(out, reply + "\n"))
      return 6;
    if (!fault.empty() && stage == "unload") { // between two trials
      if (fault == "forge")
        writeAll(out, "ok id=1 status=0\n");
      else
        go(fault, out);
    }
  }
  return 0;
}
