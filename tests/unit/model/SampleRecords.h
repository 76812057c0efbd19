// SPDX-License-Identifier: Apache-2.0
// Records with something in every list, so that a walk over their fields comes by all of them.
#pragma once

#include "driver/model/Diagnosis.h"
#include "driver/model/Trial.h"
#include "driver/model/TuneDeclaration.h"

namespace kopt {

inline Workload fullWorkload() {
  Launch launch;
  launch.name = "64x64";
  launch.grid = {4, 2, 1};
  launch.block = {32, 8, 1};
  Buffer buffer;
  buffer.name = "in";
  buffer.bytes = 4096;
  buffer.scalar = "f32";
  launch.buffers = {buffer};
  launch.arguments = {BufferArg{0, 16}, ValueArg{std::string("\x00\xff\x40", 3), {{0, 0, 8}}}};
  launch.bindings = {{"n", -7}};
  Workload workload;
  workload.kernel = "scale";
  workload.launches = {launch};
  return workload;
}

inline TuneDeclaration fullDeclaration() {
  TuneDeclaration declaration;
  declaration.params = {{"TILE", {8, 16}, {"param TILE in {8, 16}", "a.cu", 3}}};
  declaration.requirements = {"TILE > 4"};
  declaration.block = {"TILE", "1", "1"};
  declaration.grid = {"n / TILE"};
  declaration.arguments = {{"factor", "3.5"}};
  declaration.extents = {{"in", "n"}};
  declaration.fills = {{"in", {FillKind::Constant, 2, 2, "", true}},
                       {"shape", {FillKind::Values, -1, 1, "data.bin", false, "\x29\xff", "0123"}}};
  declaration.fillValues = {{"shape", {"41", "n"}}};
  declaration.fillBounds = {{"in", {"0", "n"}}};
  declaration.launches = {{"big", {{"n", 4096}}, 2, DeviceKind::Cuda, {"launch big", "a.cu", 4}}};
  declaration.target = 1.5;
  return declaration;
}

inline Candidate fullCandidate() {
  Candidate candidate;
  candidate.proposer = "llm";
  candidate.title = "one";
  candidate.technique = "tiling";
  candidate.rationale = "because";
  candidate.parents = {"aa", "bb"};
  candidate.chunks = {{2, "__global__ void k() {}"}};
  candidate.constants = {{"TILE", 32}};
  candidate.launch.grid = {{"n / 64", "1", "1"}};
  candidate.launch.block = {{"W", "1", "1"}};
  candidate.launch.sharedBytes = "W * 4";
  candidate.tunables = {{"W", {32, 64}, {"W > 0"}, 64, 2}};
  candidate.includes = {{"<cuda/barrier>", true}};
  candidate.declarations = {{"struct Pair { int a, b; };", 1, "a.cu"}};
  candidate.options = CompilerOptions{64, LoadCache::Cg, true, "/fast.acf", "ab"};
  return candidate;
}

inline Trial fullTrial() {
  Trial trial;
  trial.candidate = fullCandidate();
  trial.candidateHash = trial.candidate.contentHash();
  trial.checks = {{CheckId::Outputs, CheckState::Passed, "of 1 launch"}};
  trial.findings = {{"asm", Severity::Flag, "inline PTX", "line 3"}};
  trial.resources = ModuleInfo{1, "_Z1k", 32, 1, 2, 3, 1024};
  trial.speedup = Speedup{1.5, 1.4, 1.6, 0.99, 50, false, 5};
  trial.timings = {{"64x64", *trial.speedup, 2e-5, 1e-5, {{2e-5, 1e-5, 3}}, CacheMode::Cold}};
  trial.counters = {{"dram__bytes_read.sum", 4096}};
  trial.stages = {{"build/compile", 0.5}};
  trial.assurance = {AssuranceLevel::Partial, {{CheckId::Sanitizer, "it is not installed"}}};
  return trial;
}

inline Diagnosis fullDiagnosis() {
  Diagnosis diagnosis;
  diagnosis.state = "bank-conflicts";
  diagnosis.finding = "97% of the passes";
  diagnosis.unjudged = {"spills: x is missing"};
  diagnosis.bound = {BoundKind::Latency, "DRAM", 21.5};
  diagnosis.headroom = 4.5;
  diagnosis.hits = {{"conflicts", "high", "30 extra", "pad", {"tiling"}, {"pad"}, {{"m", 2.5}}}};
  diagnosis.skipped = {"latency: x is missing"};
  return diagnosis;
}

inline DeviceInfo fullDevice() {
  DeviceInfo device;
  device.kind = DeviceKind::Cuda;
  device.name = "NVIDIA H200";
  device.facts = {{"ecc", "on"}};
  return device;
}

} // namespace kopt
