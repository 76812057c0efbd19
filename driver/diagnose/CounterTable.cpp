// SPDX-License-Identifier: Apache-2.0
#include "driver/diagnose/CounterTable.h"

#include "driver/support/Text.h"

#include <array>
#include <cmath>
#include <optional>
#include <string_view>

namespace kopt {
namespace {

struct KnownCounter {
  const char *name, *label;
  enum { Number, Bytes, Percent } unit;
};

constexpr std::array kCounters = {
    KnownCounter{"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
                 "sectors per global load request", KnownCounter::Number},
    KnownCounter{"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
                 "sectors per global store request", KnownCounter::Number},
    KnownCounter{"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio",
                 "bytes used of each 32-byte sector loaded", KnownCounter::Number},
    KnownCounter{"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio",
                 "bytes used of each 32-byte sector stored", KnownCounter::Number},
    KnownCounter{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
                 "bank conflicts of shared loads", KnownCounter::Number},
    KnownCounter{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
                 "bank conflicts of shared stores", KnownCounter::Number},
    KnownCounter{"dram__bytes_read.sum", "bytes read from DRAM", KnownCounter::Bytes},
    KnownCounter{"dram__bytes_write.sum", "bytes written to DRAM", KnownCounter::Bytes},
    KnownCounter{"dram__throughput.avg.pct_of_peak_sustained_elapsed",
                 "DRAM throughput of its peak", KnownCounter::Percent},
    KnownCounter{"sm__throughput.avg.pct_of_peak_sustained_elapsed", "SM throughput of its peak",
                 KnownCounter::Percent},
    KnownCounter{"lts__throughput.avg.pct_of_peak_sustained_elapsed",
                 "L2 cache throughput of its peak", KnownCounter::Percent},
    KnownCounter{"l1tex__throughput.avg.pct_of_peak_sustained_active",
                 "L1 cache throughput of its peak", KnownCounter::Percent},
    KnownCounter{"lts__t_sector_hit_rate.pct", "L2 cache hits", KnownCounter::Percent},
    KnownCounter{"l1tex__t_sector_hit_rate.pct", "L1 cache hits", KnownCounter::Percent},
    KnownCounter{"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
                 "cycles an instruction waits for global or local memory", KnownCounter::Number},
    KnownCounter{"smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio",
                 "cycles it waits for shared memory or special functions", KnownCounter::Number},
    KnownCounter{"smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio",
                 "cycles it waits for their queue", KnownCounter::Number},
    KnownCounter{"smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio",
                 "cycles it waits for a pipe", KnownCounter::Number},
    KnownCounter{"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
                 "cycles it waits at barriers", KnownCounter::Number},
    KnownCounter{"sm__warps_active.avg.pct_of_peak_sustained_active", "achieved occupancy",
                 KnownCounter::Percent},
    KnownCounter{"smsp__inst_executed.sum", "warp instructions", KnownCounter::Number},
    KnownCounter{"smsp__thread_inst_executed_per_inst_executed.ratio",
                 "active lanes of 32 per instruction", KnownCounter::Number},
    KnownCounter{"smsp__inst_executed_op_local_ld.sum", "loads from local memory (spills)",
                 KnownCounter::Number},
    KnownCounter{"smsp__inst_executed_op_local_st.sum", "stores to local memory (spills)",
                 KnownCounter::Number},
    KnownCounter{"sass__inst", "instructions in the code", KnownCounter::Number},
    KnownCounter{"sass__loop_inst", "of these, in loops", KnownCounter::Number},
    KnownCounter{"sass__inst_fp32", "float instructions in the code", KnownCounter::Number},
    KnownCounter{"sass__inst_fp64", "double instructions in the code", KnownCounter::Number},
    KnownCounter{"sass__inst_fp16", "half instructions in the code", KnownCounter::Number},
    KnownCounter{"sass__inst_tensor", "tensor instructions in the code", KnownCounter::Number},
    KnownCounter{"sass__inst_integer", "integer instructions in the code", KnownCounter::Number},
    KnownCounter{"sass__inst_conversion", "conversions in the code", KnownCounter::Number},
    KnownCounter{"sass__inst_global_load", "global loads in the code", KnownCounter::Number},
    KnownCounter{"sass__inst_global_store", "global stores in the code", KnownCounter::Number},
    KnownCounter{"sass__inst_shared_load", "shared loads in the code", KnownCounter::Number},
    KnownCounter{"sass__inst_shared_store", "shared stores in the code", KnownCounter::Number},
    KnownCounter{"sass__inst_local_load", "local loads in the code", KnownCounter::Number},
    KnownCounter{"sass__inst_local_store", "local stores in the code", KnownCounter::Number},
    KnownCounter{"sass__inst_atomic", "atomics in the code", KnownCounter::Number},
    KnownCounter{"sass__inst_barrier", "barriers and fences in the code", KnownCounter::Number},
    KnownCounter{"sass__inst_control", "branches and calls in the code", KnownCounter::Number},
    KnownCounter{"sass__spill_load_bytes", "bytes of spill loads per thread", KnownCounter::Number},
    KnownCounter{"sass__spill_store_bytes", "bytes of spill stores per thread",
                 KnownCounter::Number},
    KnownCounter{"launch__block_size", "threads per block", KnownCounter::Number},
    KnownCounter{"launch__registers_per_thread", "registers per thread", KnownCounter::Number},
    KnownCounter{"launch__shared_mem_per_block_static", "static shared memory per block",
                 KnownCounter::Bytes},
    KnownCounter{"launch__shared_mem_per_block_dynamic", "dynamic shared memory per block",
                 KnownCounter::Bytes},
};

/// Counters that are only shown for a single launch. In a comparison they follow from the other
/// counters.
constexpr std::array kOfOneLaunch = {
    KnownCounter{"gpu__time_duration.sum", "duration (ns)", KnownCounter::Number},
    KnownCounter{"launch__waves_per_multiprocessor", "waves of blocks", KnownCounter::Number},
    KnownCounter{"launch__occupancy_limit_blocks", "blocks an SM can hold", KnownCounter::Number},
    KnownCounter{"launch__occupancy_limit_registers", "blocks an SM has registers for",
                 KnownCounter::Number},
    KnownCounter{"launch__occupancy_limit_shared_mem", "blocks an SM has shared memory for",
                 KnownCounter::Number},
    KnownCounter{"launch__occupancy_limit_warps", "blocks an SM has warps for",
                 KnownCounter::Number},
    KnownCounter{"ptxas__registers", "registers per thread (ptxas)", KnownCounter::Number},
    KnownCounter{"ptxas__stack_bytes", "stack per thread (ptxas)", KnownCounter::Bytes},
    KnownCounter{"ptxas__spill_load_bytes", "spill loads per thread (ptxas)", KnownCounter::Bytes},
    KnownCounter{"ptxas__spill_store_bytes", "spill stores per thread (ptxas)",
                 KnownCounter::Bytes},
    KnownCounter{"ptxas__shared_bytes", "static shared memory per block (ptxas)",
                 KnownCounter::Bytes},
};

std::optional<double> valueOf(const Counters &counters, const char *name) {
  auto found = counters.find(name);
  if (found == counters.end() || !std::isfinite(found->second))
    return std::nullopt;
  return found->second;
}

std::string show(std::optional<double> value, int unit) {
  if (!value)
    return "unknown";
  if (unit == KnownCounter::Bytes)
    return formatBytes(*value);
  return formatNumber(*value) + (unit == KnownCounter::Percent ? "%" : "");
}

const KnownCounter *knownCounter(std::string_view name) {
  for (const KnownCounter &counter : kCounters)
    if (name == counter.name)
      return &counter;
  for (const KnownCounter &counter : kOfOneLaunch)
    if (name == counter.name)
      return &counter;
  return nullptr;
}

bool isOfCode(const KnownCounter &counter) {
  return std::string_view(counter.name).starts_with("sass__");
}

} // namespace

std::vector<std::pair<std::string, std::string>> describeCounters(const Counters &counters) {
  std::vector<std::pair<std::string, std::string>> lines;
  const auto add = [&](const auto &known) {
    for (const KnownCounter &counter : known) {
      const std::optional<double> value = valueOf(counters, counter.name);
      if (value && !(isOfCode(counter) && *value == 0))
        lines.emplace_back(counter.label, show(value, counter.unit));
    }
  };
  add(kOfOneLaunch);
  add(kCounters);
  return lines;
}

std::string labelOfCounter(const std::string &name) {
  const KnownCounter *known = knownCounter(name);
  return known ? known->label : name;
}

std::string textOfCounter(const std::string &name, std::optional<double> value) {
  const KnownCounter *known = knownCounter(name);
  return show(value, known ? known->unit : KnownCounter::Number);
}

} // namespace kopt
