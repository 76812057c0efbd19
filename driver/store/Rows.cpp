// SPDX-License-Identifier: Apache-2.0
#include "driver/store/Rows.h"

#include <nlohmann/json.hpp>

namespace kopt {

void bindSpeedup(Statement &statement, const Speedup &speedup) {
  statement.bind(speedup.estimate, speedup.low, speedup.high, speedup.confidence, speedup.pairs,
                 speedup.modelled, speedup.processes);
}

Speedup readSpeedup(Statement &row) {
  Speedup speedup;
  speedup.estimate = row.real();
  speedup.low = row.real();
  speedup.high = row.real();
  speedup.confidence = row.real();
  speedup.pairs = std::size_t(row.integer());
  speedup.modelled = row.integer() != 0;
  speedup.processes = std::size_t(row.integer());
  return speedup;
}

RunRecord readRun(Statement &row) {
  RunRecord run;
  run.id = row.integer();
  std::string state;
  for (std::string *field :
       {&run.name, &run.kernel, &run.symbol, &run.file, &run.inputsHash, &run.configJson,
        &run.deviceJson, &run.startedUtc, &run.finishedUtc, &state, &run.stopText, &run.winnerHash,
        &run.sliceText, &run.patchText})
    *field = row.text();
  run.state = parseEnum<RunState>(state).value_or(RunState::Running);
  if (!row.isNull())
    run.stop = StopReason(row.integer());
  return run;
}

/// Decisions from before schema 8 have no typed data; only their text is kept.
Decision readDecision(Statement &row) {
  Decision head;
  head.sequence = row.integer();
  head.round = int(row.integer());
  const std::string kind = row.text(), text = row.text();
  const auto data = nlohmann::json::parse(row.text(), nullptr, false);
  Decision decision;
  if (auto read = decisionFromJson(kind, data))
    decision = std::move(*read);
  else if (kind == "verified" || kind == "unchecked")
    decision.what = Checked{"", kind == "verified", text};
  else
    decision.what = Note{kind, text};
  decision.sequence = head.sequence;
  decision.round = head.round;
  return decision;
}

Result<std::vector<FileEdits>> readEdits(Statement &query) {
  std::vector<FileEdits> files;
  while (true) {
    KOPT_TRY(const bool row, query.step());
    if (!row)
      return files;
    FileEdits file{query.text(), query.text(), query.text(), {}};
    if (files.empty() || files.back().path != file.path)
      files.push_back(std::move(file));
    SourceEdit &edit = files.back().edits.emplace_back();
    edit.range.file = files.back().path;
    edit.range.begin = std::uint64_t(query.integer());
    edit.range.end = std::uint64_t(query.integer());
    edit.text = query.text();
  }
}

ModelCall readCall(Statement &row) {
  ModelCall call;
  for (std::string *field :
       {&call.requestHash, &call.purpose, &call.model, &call.request, &call.reply})
    *field = row.text();
  call.inputTokens = long(row.integer());
  call.outputTokens = long(row.integer());
  call.cachedTokens = long(row.integer());
  call.seconds = row.real();
  return call;
}

} // namespace kopt
