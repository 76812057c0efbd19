// SPDX-License-Identifier: Apache-2.0
// The model. Each resource alone gives a lower bound; the launch takes the largest of them plus the
// launch latency.
//
//   dram      (sectors read + written back) * 32 B / bandwidth
//   l2        (sectors to and from L2) * 32 B / L2 bandwidth; a multiprocessor draws at most
//             64 B a clock
//   l1        for each multiprocessor: one line of a request a clock, four sectors a clock, one
//             shared wavefront a clock, all through the same data stage (NVIDIA: Nsight Compute's
//             description of l1tex, data stage wavefronts)
//   atomics   the turns that global atomics on one sector take in L2, one a clock
//   issue     warp instructions / 4 schedulers
//   fp32 …    thread instructions of a class / its throughput (CUDA programming guide, arithmetic
//             instructions)
//   latency   the dependent instructions and memory accesses of the longest warp, and of a mean one
//             for each further wave of blocks
//
// The bounds of a multiprocessor are those of the busiest one, because blocks are not divided: it
// runs its part of the blocks, or the one block that does most. The
// model leaves out other effects of a real GPU (instruction cache, register pressure, DRAM pages,
// tensor cores), so times only rank candidates.
#include "runtime/emulated/model/Roofline.h"

#include "runtime/device/GpuLimits.h"

#include <algorithm>
#include <cmath>

namespace kopt::runtime::emulated {
namespace {

constexpr double kSector = 32, kL2BytesPerClock = 64, kSchedulers = 4,
                 kCyclesPerDependentInstruction = 4;
/// Independent loads that a warp has in flight at once, on average.
constexpr double kLoadsInFlight = 4;

double ofClass(const std::array<std::uint64_t, kInstructionClasses> &counts,
               InstructionClass kind) {
  return double(counts[static_cast<unsigned>(kind)]);
}

/// The time of a warp alone: its instructions run one after another, its loads a few at a time. A
/// request takes as long as the slowest of its sectors.
double cyclesOf(const GpuSpec &gpu, const LaunchCounts::Work &work) {
  const auto inTurns = [](std::uint64_t loads) { return double(loads) / kLoadsInFlight; };
  return double(work.instructions) * kCyclesPerDependentInstruction +
         std::ceil(inTurns(work.beyondL1)) * gpu.l2LatencyCycles +
         inTurns(work.beyondL2) * (gpu.dramLatencyCycles - gpu.l2LatencyCycles) +
         inTurns(work.loads - work.beyondL1) * gpu.l1LatencyCycles +
         (inTurns(work.sharedLoads) + double(work.barriers)) * gpu.sharedLatencyCycles;
}

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

} // namespace

double residentBlocks(const GpuSpec &gpu, const LaunchShape &shape) {
  // Threads are allocated in warps; the system reserves 1 KiB of shared memory for each block.
  const double warps = std::ceil(shape.threadsPerBlock / 32);
  double blocks =
      std::min(gpu.blocksPerMultiprocessor, std::floor(gpu.threadsPerMultiprocessor / 32 / warps));
  blocks = std::min(blocks, std::floor(gpu.sharedBytesPerMultiprocessor /
                                       (shape.sharedPerBlock + gpu::kSharedOfSystem)));
  return std::max(1.0, blocks);
}

RooflineTime rooflineTime(const GpuSpec &gpu, const LaunchShape &shape,
                          const LaunchCounts &counts) {
  const double clock = gpu.smClockMHz * 1e6;
  const double resident = residentBlocks(gpu, shape);
  const double busy = std::min(gpu.multiprocessors, std::max(1.0, shape.blocks));
  // The share of all blocks that the busiest multiprocessor runs; scales a sum over the grid to
  // that multiprocessor.
  const double share =
      std::max(std::ceil(shape.blocks / gpu.multiprocessors) / std::max(1.0, shape.blocks),
               ratio(double(counts.busiestBlock), double(counts.warpInstructions)));
  auto perMultiprocessor = [&](double cycles) { return cycles * share / clock; };

  const double l2Sectors =
      double(counts.l2ReadSectors + counts.l2WriteSectors + counts.l2AtomicSectors);
  const double dramBytes = double(counts.dramReadSectors + counts.dramWriteSectors) * kSector;
  auto dataStage = [](const LaunchCounts::Global &global) {
    return std::max(double(global.lines), double(global.sectors) / 4);
  };
  const double l1Cycles = dataStage(counts.load) + dataStage(counts.store) +
                          dataStage(counts.atomic) +
                          double(counts.sharedLoad.wavefronts + counts.sharedStore.wavefronts +
                                 counts.sharedAtomic.wavefronts);
  const auto &threads = counts.threadInstructions;
  auto sum = [&](InstructionClass add, InstructionClass mul, InstructionClass fma) {
    return ofClass(threads, add) + ofClass(threads, mul) + ofClass(threads, fma);
  };
  using Class = InstructionClass;
  const double fp32 = sum(Class::FloatAdd, Class::FloatMul, Class::FloatFma),
               fp64 = sum(Class::DoubleAdd, Class::DoubleMul, Class::DoubleFma),
               fp16 = sum(Class::HalfAdd, Class::HalfMul, Class::HalfFma);

  const double warps = std::max(1.0, shape.blocks * std::ceil(shape.threadsPerBlock / 32));
  LaunchCounts::Work all;
  all.instructions = counts.warpInstructions;
  all.barriers = counts.warpInstructionsByClass[static_cast<unsigned>(Class::Barrier)];
  all.loads = counts.load.requests + counts.atomic.requests;
  all.sharedLoads = counts.sharedLoad.requests + counts.sharedAtomic.requests;
  all.beyondL1 = counts.loadsBeyondL1;
  all.beyondL2 = counts.loadsBeyondL2;
  const double mean = cyclesOf(gpu, all) / warps;
  const double longest = cyclesOf(gpu, counts.longestWarp);
  const double waves = std::ceil(shape.blocks / (gpu.multiprocessors * resident));

  RooflineTime time;
  time.terms = {
      {"dram", dramBytes / gpu.dramBytesPerSecond},
      {"l2", std::max(l2Sectors * kSector / gpu.l2BytesPerSecond,
                      l2Sectors * kSector / (busy * kL2BytesPerClock * clock))},
      {"l1", perMultiprocessor(l1Cycles)},
      {"atomics", double(counts.atomicTurns) / clock},
      {"issue", perMultiprocessor(double(counts.warpInstructions) / kSchedulers)},
      {"fp32", perMultiprocessor(fp32 / gpu.fp32PerClock)},
      {"fp64", perMultiprocessor(fp64 / gpu.fp64PerClock)},
      {"fp16", perMultiprocessor(fp16 / gpu.fp16PerClock)},
      {"integer", perMultiprocessor(ofClass(threads, Class::Integer) / gpu.integerPerClock)},
      {"special", perMultiprocessor(ofClass(threads, Class::Special) / gpu.specialPerClock)},
      {"conversion",
       perMultiprocessor(ofClass(threads, Class::Conversion) / gpu.conversionPerClock)},
      {"latency", ((waves - 1) * mean + longest) / clock}};
  for (const RooflineTerm &term : time.terms) {
    const std::string name = term.name;
    time.seconds = std::max(time.seconds, term.seconds);
    if (name == "dram")
      time.dramSeconds = term.seconds;
    else if (name != "l2" && name != "l1" && name != "atomics" && name != "latency")
      time.computeSeconds = std::max(time.computeSeconds, term.seconds);
  }
  time.seconds += gpu.launchSeconds;
  return time;
}

namespace {

double l2SectorsOf(const LaunchCounts &counts) {
  return double(counts.l2ReadSectors + counts.l2WriteSectors + counts.l2AtomicSectors);
}

void addMemoryCounters(const LaunchCounts &counts, Counters &out) {
  // Without requests there is no ratio.
  const auto share = [&](const std::string &name, double factor, double part, double whole) {
    if (whole > 0)
      out[name] = factor * part / whole;
  };
  const std::pair<const char *, const LaunchCounts::Global &> globals[] = {
      {"ld", counts.load}, {"st", counts.store}, {"atom", counts.atomic}};
  for (const auto &[operation, value] : globals) {
    const std::string name = std::string("pipe_lsu_mem_global_op_") + operation;
    out["l1tex__t_requests_" + name + ".sum"] = double(value.requests);
    out["l1tex__t_sectors_" + name + ".sum"] = double(value.sectors);
    share("l1tex__average_t_sectors_per_request_" + name + ".ratio", 1, double(value.sectors),
          double(value.requests));
    if (&value != &counts.atomic)
      share(std::string("smsp__sass_average_data_bytes_per_sector_mem_global_op_") + operation +
                ".pct",
            100, double(value.bytes), double(value.sectors) * kSector);
  }
  // Not as reductions or not: whether the old value is used is not known.
  out["emulated__global_atomic_requests.sum"] = double(counts.atomic.requests);

  const std::pair<const char *, const LaunchCounts::Shared &> shared[] = {
      {"ld", counts.sharedLoad}, {"st", counts.sharedStore}, {"atom", counts.sharedAtomic}};
  const std::string wavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared",
                    conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared";
  for (const auto &[operation, value] : shared) {
    const std::string tail = std::string("_op_") + operation + ".sum";
    out["smsp__inst_executed_op_shared_" + std::string(operation) + ".sum"] =
        double(value.requests);
    out[wavefronts + tail] = double(value.wavefronts);
    out[wavefronts + ".sum"] += double(value.wavefronts);
    out[conflicts + tail] = double(value.conflicts);
    out[conflicts + ".sum"] += double(value.conflicts);
  }

  const double l2 = l2SectorsOf(counts);
  out["lts__t_sectors.sum"] = l2;
  out["lts__t_sectors_op_read.sum"] = double(counts.l2ReadSectors);
  out["lts__t_sectors_op_write.sum"] = double(counts.l2WriteSectors);
  out["lts__t_sectors_op_atom.sum"] = double(counts.l2AtomicSectors);
  share("l1tex__t_sector_hit_rate.pct", 100, double(counts.l1Hits), double(counts.load.sectors));
  share("lts__t_sector_hit_rate.pct", 100, double(counts.l2Hits), l2);
  out["dram__bytes_read.sum"] = double(counts.dramReadSectors) * kSector;
  out["dram__bytes_write.sum"] = double(counts.dramWriteSectors) * kSector;
}

void addInstructionCounters(const LaunchCounts &counts, Counters &out) {
  using Class = InstructionClass;
  const auto &threads = counts.threadInstructions, &warps = counts.warpInstructionsByClass;
  out["smsp__inst_executed.sum"] = double(counts.warpInstructions);
  out["smsp__thread_inst_executed.sum"] = double(threads[0]);
  if (counts.warpInstructions)
    out["smsp__thread_inst_executed_per_inst_executed.ratio"] =
        ratio(double(threads[0]), double(counts.warpInstructions));
  const std::pair<const char *, Class> operations[] = {
      {"fadd", Class::FloatAdd},   {"fmul", Class::FloatMul},         {"ffma", Class::FloatFma},
      {"dadd", Class::DoubleAdd},  {"dmul", Class::DoubleMul},        {"dfma", Class::DoubleFma},
      {"hadd", Class::HalfAdd},    {"hmul", Class::HalfMul},          {"hfma", Class::HalfFma},
      {"integer", Class::Integer}, {"conversion", Class::Conversion}, {"memory", Class::Memory}};
  for (const auto &[name, kind] : operations)
    out[std::string("smsp__sass_thread_inst_executed_op_") + name + "_pred_on.sum"] =
        ofClass(threads, kind);
  out["smsp__inst_executed_pipe_xu.sum"] = ofClass(warps, Class::Special);
  out["smsp__inst_executed_op_branch.sum"] = ofClass(warps, Class::Branch);
  out["emulated__inst_executed_barrier.sum"] = ofClass(warps, Class::Barrier);
  out["emulated__atomic_operations.sum"] = double(counts.atomicOperations);
  out["smsp__sass_branch_targets_threads_divergent.sum"] = double(counts.divergentBranches);
  if (counts.branches)
    out["smsp__sass_average_branch_targets_threads_uniform.pct"] =
        100 * (1 - ratio(double(counts.divergentBranches), double(counts.branches)));
}

void addOccupancy(const GpuSpec &gpu, const LaunchShape &shape, Counters &out) {
  const double resident = residentBlocks(gpu, shape);
  const double warpsPerBlock = std::ceil(shape.threadsPerBlock / 32),
               mostWarps = gpu.threadsPerMultiprocessor / 32;
  out["launch__grid_size"] = shape.blocks;
  out["launch__block_size"] = shape.threadsPerBlock;
  out["launch__thread_count"] = shape.blocks * shape.threadsPerBlock;
  out["launch__shared_mem_per_block"] = shape.sharedPerBlock;
  out["launch__waves_per_multiprocessor"] = shape.blocks / (gpu.multiprocessors * resident);
  out["launch__occupancy_limit_blocks"] = gpu.blocksPerMultiprocessor;
  out["launch__occupancy_limit_warps"] = std::floor(mostWarps / warpsPerBlock);
  out["launch__occupancy_limit_shared_mem"] =
      std::floor(gpu.sharedBytesPerMultiprocessor / (shape.sharedPerBlock + gpu::kSharedOfSystem));
  out["sm__maximum_warps_per_active_cycle_pct"] =
      100 * std::min(1.0, resident * warpsPerBlock / mostWarps);
}

} // namespace

Counters makeCounters(const GpuSpec &gpu, const LaunchShape &shape, const LaunchCounts &counts,
                      const RooflineTime &time) {
  Counters out;
  addMemoryCounters(counts, out);
  addInstructionCounters(counts, out);
  addOccupancy(gpu, shape, out);
  out["gpu__time_duration.sum"] = time.seconds * 1e9;
  out["emulated__launch_ns"] = gpu.launchSeconds * 1e9;
  // Shares are of the whole GPU, as in Nsight Compute: multiprocessors without blocks count, too.
  const double mean =
      shape.blocks / (gpu.multiprocessors * std::ceil(shape.blocks / gpu.multiprocessors));
  out["emulated__busy_multiprocessors.pct"] = 100 * mean;
  const auto throughput = [&](const char *unit, double factor, double seconds) {
    out[std::string(unit) + "__throughput.avg.pct_of_peak_sustained_elapsed"] =
        factor * ratio(seconds, time.seconds);
  };
  throughput("sm", 100 * mean, time.computeSeconds);
  throughput("lts", 100, l2SectorsOf(counts) * kSector / gpu.l2BytesPerSecond);
  throughput("dram", 100, time.dramSeconds);
  out["gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"] =
      100 * ratio(time.dramSeconds, time.seconds);
  for (const RooflineTerm &term : time.terms) {
    if (std::string(term.name) == "l1")
      throughput("l1tex", 100 * mean, term.seconds);
    out[std::string("emulated__roofline_") + term.name + "_ns"] = term.seconds * 1e9;
  }
  return out;
}

} // namespace kopt::runtime::emulated
