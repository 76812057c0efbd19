// SPDX-License-Identifier: Apache-2.0
// A finished run on the emulated device with a trial of each kind, as the common material of store
// and report tests.
#pragma once

#include "clang_plugin/output/Variants.h"
#include "driver/store/Store.h"

namespace kopt {

inline const char *kSampleSlice =
    "constexpr int TILE = 16;\n"
    "__global__ void transpose(float *out, const float *in, int n) {\n"
    "  __shared__ float tile[TILE][TILE];\n"
    "  out[0] = in[0] * tile[0][0];\n"
    "}\n";
inline const char *kSampleBetterSlice =
    "constexpr int TILE = 16;\n"
    "__global__ void transpose(float *out, const float *in, int n) {\n"
    "  __shared__ float tile[TILE][TILE + 1];\n"
    "  out[0] = in[0] * tile[0][0];\n"
    "}\n";

inline RunRecord sampleRun() {
  RunRecord run;
  run.name = "transpose-1";
  run.kernel = "transpose";
  run.symbol = "_Z9transposePfPKfi";
  run.file = "src/transpose.cu";
  run.inputsHash = "0123456789abcdef0123456789abcdef";
  run.configJson =
      R"j({"files":["src/transpose.cu"],"build_directory":"","flags":["-O3"],"kernels":[],)j"
      R"j("device":"emulated","model_gpu":"H200","arch":"","proposers":["params","transform"],)j"
      R"j("model":"","rounds":12,"trials":200,"budget_seconds":1800.0,"patience":4,)j"
      R"j("min_gain":0.02,"batch":6,"seed":1})j";
  run.deviceJson =
      R"j({"kind":"emulated","name":"NVIDIA H200","arch":"sm_90","driver":"emulated",)j"
      R"j("uuid":"","modelled":true,"l2_bytes":52428800,)j"
      R"j("toolchain":"emulated (clang 19.1.7)"})j";
  run.startedUtc = "2026-01-31T12:00:00Z";
  run.state = RunState::Running;
  run.sliceText = kSampleSlice;
  return run;
}

inline Trial sampleBaseline() {
  Trial trial;
  trial.candidateHash = "ba5e00000000000000000000000000aa";
  trial.candidate.proposer = "baseline";
  trial.candidate.title = "baseline";
  trial.verdict = Verdict::Same;
  trial.stage = Stage::Profile;
  trial.reason = "the user's own kernel";
  trial.sliceText = kSampleSlice;
  trial.moduleHash = "11";
  trial.timings = {
      {"2048x2048", {1, 1, 1, 0.95, 1, true}, 4e-5, 4e-5, {{4e-5, 4e-5}}, CacheMode::Cold}};
  trial.counters = {{"launch__block_size", 256},
                    {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", 32},
                    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", 1966080},
                    {"dram__bytes_read.sum", 16777216}};
  trial.counterSource = "emulated";
  trial.hotLines = {LineSource::Emulated,
                    "",
                    "2048x2048",
                    1000,
                    400,
                    {{"src/transpose.cu", 4, "out[0] = in[0] * tile[0][0];", 700, 300},
                     {"src/transpose.cu", 3, "__shared__ float tile[TILE][TILE];", 100, 0},
                     {"", 0, "int made = a | b;", 50, 0}}};
  trial.assurance.level = AssuranceLevel::Full;
  trial.seconds = 1.25;
  return trial;
}

inline Trial sampleWinner() {
  Trial trial = sampleBaseline();
  trial.candidateHash = "00dd00000000000000000000000000aa";
  trial.candidate.proposer = "transform";
  trial.candidate.title = "pad tile[TILE][TILE] by one column";
  trial.candidate.technique = "shared-padding";
  trial.candidate.chunks = {{1, "__global__ void transpose(...) {}"}};
  trial.candidate.constants = {{"TILE", 32}};
  trial.candidate.launch.block = {{"32", "8", "1"}};
  trial.candidate.launch.grid = coveringGrid({32, 8, 1});
  trial.candidate.rationale = "bank conflicts: 30 extra cycles a request";
  trial.verdict = Verdict::Faster;
  trial.reason = "2.50x modelled";
  trial.findings = {{"shared-size", Severity::Flag, "shared memory grew by 64 bytes", "line 3"}};
  trial.hotLines.instructions = 900;
  trial.hotLines.lines[0].instructions = 720;
  trial.hotLines.lines[1].text = "__shared__ float tile[TILE][TILE + 1];";
  trial.hotLines.lines.pop_back();
  trial.sliceText = kSampleBetterSlice;
  trial.buildLog = "slice.cu(3): remark: padded";
  trial.moduleHash = "22";
  trial.resources = ModuleInfo{7, "_Z9transposePfPKfi", 24, 1088, 0, 376, 1024};
  trial.speedup = Speedup{2.5, 2.5, 2.5, 0.95, 1, true};
  trial.timings = {{"2048x2048",
                    *trial.speedup,
                    4e-5,
                    1.6e-5,
                    {{4e-5, 1.6e-5}, {4e-5, 1.6e-5}},
                    CacheMode::Cold}};
  trial.counters["l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"] = 4;
  trial.counters["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"] = 0;
  return trial;
}

} // namespace kopt
