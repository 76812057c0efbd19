// SPDX-License-Identifier: Apache-2.0
#include "driver/device/sass/SassListing.h"

#include "driver/support/Text.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace kopt {
namespace {

constexpr std::string_view kSection = "\t.section\t.text.";
constexpr std::string_view kFile = "//## File \"";
constexpr std::string_view kInlinedAt = " inlined at \"";

template <class Number> std::optional<Number> numberIn(std::string_view text, int base) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end == text.data())
    return std::nullopt;
  return value;
}

/// Reads `FILE", line 12...`, which begins after the first quote; `rest` receives the text after
/// the number.
std::optional<SourceFrame> frameAt(std::string_view text, std::string_view &rest) {
  constexpr std::string_view kLine = "\", line ";
  const std::size_t quote = text.find(kLine);
  if (quote == text.npos)
    return std::nullopt;
  const std::string_view digits = text.substr(quote + kLine.size());
  const auto line = numberIn<unsigned>(digits, 10);
  if (!line)
    return std::nullopt;
  rest = digits.substr(std::min(digits.find_first_not_of("0123456789"), digits.size()));
  return SourceFrame{std::string(text.substr(0, quote)), *line};
}

/// Collects the frames of the following instructions. After a frame that was inlined comes the
/// frame that it was inlined into.
class Location {
public:
  void add(std::string_view text) {
    std::string_view rest;
    const auto frame = frameAt(text, rest);
    if (!frame)
      return;
    const bool continues = caller_ && *caller_ == *frame && !used_;
    if (!continues)
      frames_.clear();
    frames_.push_back(*frame);
    caller_.reset();
    if (rest.starts_with(kInlinedAt)) {
      std::string_view unused;
      caller_ = frameAt(rest.substr(kInlinedAt.size()), unused);
    }
    used_ = false;
  }
  std::vector<SourceFrame> take() {
    used_ = true;
    return frames_;
  }

private:
  std::vector<SourceFrame> frames_;
  std::optional<SourceFrame> caller_; ///< caller of the last frame
  bool used_ = false; ///< an instruction has the frames: the next one begins a new list
};

/// Reads an instruction, `/*0040*/ @!P0 BRA `(.L_x_5) ;`, without leading blanks.
std::optional<SassInstruction> instructionAt(std::string_view text) {
  const std::size_t close = text.find("*/");
  if (!text.starts_with("/*") || close == text.npos)
    return std::nullopt;
  const std::string_view digits = text.substr(2, close - 2);
  const auto offset = numberIn<std::uint64_t>(digits, 16);
  if (!offset || digits.find_first_not_of("0123456789abcdefABCDEF") != digits.npos)
    return std::nullopt;
  std::string_view body = text.substr(close + 2);
  const std::size_t end = body.rfind(';');
  if (end == body.npos)
    return std::nullopt;
  body = trim(body.substr(0, end));
  SassInstruction instruction;
  instruction.offset = *offset;
  if (body.starts_with('@')) {
    const std::size_t blank = body.find(' ');
    if (blank == body.npos)
      return std::nullopt;
    instruction.predicate = body.substr(0, blank);
    body = trim(body.substr(blank));
  }
  const std::size_t blank = std::min(body.find(' '), body.size());
  instruction.opcode = body.substr(0, blank);
  if (instruction.opcode.empty())
    return std::nullopt;
  instruction.operands = trim(body.substr(blank));
  if (const std::size_t tick = instruction.operands.find("`("); tick != std::string::npos) {
    const std::size_t bracket = instruction.operands.find(')', tick);
    if (bracket != std::string::npos)
      instruction.target = instruction.operands.substr(tick + 2, bracket - tick - 2);
  }
  return instruction;
}

/// A section that is being read.
struct Section {
  SassFunction function;
  std::vector<std::string> pending; ///< labels of the next instruction
};

bool isBranch(const SassInstruction &instruction) {
  const std::string_view root = instruction.root();
  return root == "BRA" || root == "JMP";
}

/// Removes the padding after the last instruction: a branch to itself, and NOPs up to the end of
/// the section.
void dropPadding(Section &section) {
  std::vector<SassInstruction> &all = section.function.instructions;
  while (!all.empty() && all.back().root() == "NOP")
    all.pop_back();
  if (all.empty() || !isBranch(all.back()))
    return;
  const auto target = section.function.labels.find(all.back().target);
  if (target != section.function.labels.end() && target->second == all.back().offset)
    all.pop_back();
}

/// Each target of a backward branch is the head of a loop, which ends at the last such branch.
void findLoops(Section &section) {
  std::map<std::uint64_t, std::uint64_t> loops; // head -> last branch
  for (const SassInstruction &instruction : section.function.instructions) {
    const auto target = section.function.labels.find(instruction.target);
    if (!isBranch(instruction) || target == section.function.labels.end() ||
        target->second > instruction.offset)
      continue;
    std::uint64_t &last = loops[target->second];
    last = std::max(last, instruction.offset);
  }
  for (SassInstruction &instruction : section.function.instructions)
    for (const auto &[head, last] : loops)
      instruction.loopDepth += instruction.offset >= head && instruction.offset <= last;
}

} // namespace

bool SassInstruction::has(std::string_view part) const {
  for (const std::string &own : split(opcode, '.'))
    if (own == part)
      return true;
  return false;
}

const SassFunction *SassListing::find(std::string_view symbol) const {
  for (const SassFunction &function : functions)
    if (function.symbol == symbol)
      return &function;
  return nullptr;
}

std::vector<const SassFunction *> SassListing::reachableFrom(std::string_view symbol) const {
  std::vector<const SassFunction *> reached;
  if (const SassFunction *first = find(symbol))
    reached.push_back(first);
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (const SassInstruction &instruction : reached[i]->instructions) {
      const SassFunction *called = instruction.root() == "RET" ? nullptr : find(instruction.target);
      if (called && std::find(reached.begin(), reached.end(), called) == reached.end())
        reached.push_back(called);
    }
  return reached;
}

Result<SassListing> parseSassListing(std::string_view text) {
  std::vector<Section> sections;
  Location location;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (line.starts_with(kSection)) {
      const std::string_view name = line.substr(kSection.size());
      sections.emplace_back().function.symbol = name.substr(0, name.find(','));
      location = {};
      continue;
    }
    if (sections.empty())
      continue;
    Section &section = sections.back();
    const std::string_view trimmed = trim(line);
    if (trimmed.starts_with(kFile)) {
      location.add(trimmed.substr(kFile.size()));
    } else if (auto instruction = instructionAt(trimmed)) {
      instruction->frames = location.take();
      for (const std::string &label : section.pending)
        section.function.labels[label] = instruction->offset;
      section.pending.clear();
      section.function.instructions.push_back(std::move(*instruction));
    } else if (trimmed.starts_with(".type") && trimmed.ends_with("@function")) {
      location = {}; // another function begins; functions of the compiler have no lines
    } else if (trimmed.ends_with(':') && line == trimmed) {
      section.pending.emplace_back(trimmed.substr(0, trimmed.size() - 1));
    }
  }
  SassListing listing;
  for (Section &section : sections) {
    dropPadding(section);
    findLoops(section);
    if (!section.function.instructions.empty())
      listing.functions.push_back(std::move(section.function));
  }
  if (listing.functions.empty())
    return makeError(ErrorCode::Internal, "the disassembler printed no code",
                     "use nvdisasm of the toolkit that built the module");
  return listing;
}

} // namespace kopt
