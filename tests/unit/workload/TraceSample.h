// SPDX-License-Identifier: Apache-2.0
// A trace made by hand: launches of `scale(float *out, const float *in, int n)` with allocations
// and snapshots.
#pragma once

#include "driver/model/KernelSpec.h"
#include "driver/workload/observed/LaunchClasses.h"

#include <cstring>
#include <deque>

namespace kopt::test {

inline constexpr std::uint64_t kOut = 0x7f0000001000, kIn = 0x7f0000100000;

class TraceSample {
public:
  TraceSample() {
    observed.folder = "/trace";
    runtime::trace::ProcessTrace &process = observed.processes.emplace_back();
    process.ended = true;
    process.functions = {{"_Z5scalePfPKfi", true, {{0, 8}, {8, 8}, {16, 4}}}};
    process.allocations = {{kOut, 4096, 1}, {kIn, 8192, 2}};
  }

  /// A launch over n elements that took so long; its sequence number is returned.
  std::uint64_t launch(int n, double seconds, unsigned gridY = 1) {
    runtime::trace::ProcessTrace &process = observed.processes[0];
    runtime::trace::Launch made;
    made.sequence = 10 + process.launches.size();
    made.ordinal = std::uint32_t(process.launches.size());
    made.grid = {unsigned(n + 127) / 128, gridY, 1};
    made.block = {128, 1, 1};
    made.seconds = seconds;
    std::vector<std::byte> &bytes = storage_.emplace_back(20);
    const std::uint64_t words[] = {kOut, kIn + 16};
    std::memcpy(bytes.data(), words, 16);
    std::memcpy(bytes.data() + 16, &n, 4);
    made.arguments = bytes;
    process.launches.push_back(made);
    return made.sequence;
  }

  void snapshot(std::uint64_t sequence) {
    runtime::trace::SnapshotItem out, in;
    out.base = kOut, out.bytes = 4096, out.stored = true, out.hash[0] = 1;
    in.base = kIn, in.bytes = 8192, in.stored = true, in.hash[0] = 2;
    runtime::trace::Snapshot taken{sequence, {out, in}, {out, in}};
    taken.after[0].hash[0] = 3;
    observed.processes[0].snapshots[sequence] = taken;
  }

  static KernelSpec kernel() {
    KernelSpec spec;
    spec.name = "scale";
    spec.file = "scale.cu";
    spec.line = 7;
    Specialization one;
    one.symbol = "_Z5scalePfPKfi";
    one.expression = "scale";
    KernelParam out{"out", "float *", ParamKind::Pointer, 8, 8, "f32", 1, 4, false, false};
    KernelParam in{"in", "const float *", ParamKind::Pointer, 8, 8, "f32", 1, 4, true, false};
    KernelParam n{"n", "int", ParamKind::Scalar, 4, 4, "i32", 1, 0, false, false};
    one.params = {out, in, n};
    spec.specializations = {one};
    LaunchSite site;
    site.file = "scale.cu";
    site.line = 20;
    site.symbol = one.symbol;
    site.geometry = GeometryKind::Symbolic;
    site.grid = {"(count + 127) / 128", "1", "1"};
    site.block = {"128", "1", "1"};
    site.variables = {"count"};
    site.args = {"out", "in", "count"};
    spec.launches = {site};
    return spec;
  }

  ObservedTrace observed;

private:
  std::deque<std::vector<std::byte>> storage_;
};

} // namespace kopt::test
