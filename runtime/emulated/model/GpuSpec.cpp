// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/model/GpuSpec.h"

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

namespace kopt::runtime::emulated {

bool GpuSpec::read(const std::string &path, GpuSpec &out, std::string &why) {
  struct Key {
    double *value;
    double unit; ///< the file's unit, in units of the member
  };
  std::map<std::string, Key> numbers = {
      {"multiprocessors", {&out.multiprocessors, 1}},
      {"sm_clock_mhz", {&out.smClockMHz, 1}},
      {"memory_gb", {&out.memoryBytes, 1e9}},
      {"dram_gb_per_s", {&out.dramBytesPerSecond, 1e9}},
      {"l2_mib", {&out.l2Bytes, 1024.0 * 1024.0}},
      {"l2_gb_per_s", {&out.l2BytesPerSecond, 1e9}},
      {"l1_kib", {&out.l1Bytes, 1024.0}},
      {"shared_kib_per_sm", {&out.sharedBytesPerMultiprocessor, 1024.0}},
      {"shared_kib_per_block", {&out.sharedBytesPerBlock, 1024.0}},
      {"threads_per_sm", {&out.threadsPerMultiprocessor, 1}},
      {"blocks_per_sm", {&out.blocksPerMultiprocessor, 1}},
      {"fp32_per_clock", {&out.fp32PerClock, 1}},
      {"fp64_per_clock", {&out.fp64PerClock, 1}},
      {"fp16_per_clock", {&out.fp16PerClock, 1}},
      {"int32_per_clock", {&out.integerPerClock, 1}},
      {"special_per_clock", {&out.specialPerClock, 1}},
      {"conversion_per_clock", {&out.conversionPerClock, 1}},
      {"launch_us", {&out.launchSeconds, 1e-6}},
      {"dram_latency_cycles", {&out.dramLatencyCycles, 1}},
      {"l2_latency_cycles", {&out.l2LatencyCycles, 1}},
      {"l1_latency_cycles", {&out.l1LatencyCycles, 1}},
      {"shared_latency_cycles", {&out.sharedLatencyCycles, 1}}};

  std::ifstream file(path);
  if (!file) {
    why = "cannot read the GPU's description " + path + ": see knowledge/gpus for those there are";
    return false;
  }
  std::string line;
  for (unsigned number = 1; std::getline(file, line); ++number) {
    line.erase(std::min(line.find('#'), line.size()));
    std::istringstream words(line);
    std::string key, text;
    if (!(words >> key))
      continue;
    std::getline(words >> std::ws, text);
    text.erase(text.find_last_not_of(" \t\r") + 1);
    const std::string place = path + ":" + std::to_string(number);
    if (key == "name") {
      out.name = text;
      continue;
    }
    if (key == "arch") {
      out.arch = text;
      continue;
    }
    auto known = numbers.find(key);
    if (known == numbers.end()) {
      why = place + ": unknown or repeated key '" + key + "'";
      return false;
    }
    std::istringstream value(text);
    if (!(value >> *known->second.value) || !(*known->second.value > 0)) {
      why = place + ": '" + key + "' needs a number above zero, not '" + text + "'";
      return false;
    }
    *known->second.value *= known->second.unit;
    if (!std::isfinite(*known->second.value)) {
      why = place + ": '" + key + "' is too large: '" + text + "'";
      return false;
    }
    numbers.erase(known);
  }
  if (!numbers.empty() || out.name.empty() || out.arch.empty()) {
    why = path + ": '" +
          (numbers.empty() ? std::string(out.name.empty() ? "name" : "arch")
                           : numbers.begin()->first) +
          "' is missing";
    return false;
  }
  return true;
}

} // namespace kopt::runtime::emulated
