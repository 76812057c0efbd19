// SPDX-License-Identifier: Apache-2.0
#include "driver/diagnose/StallSlices.h"

#include "driver/device/sass/SourceLines.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace kopt {
namespace {

/// Named by their file and a number: "R12", "UR4", "P0", "UP1".
using Registers = std::set<std::string>;

struct Operand {
  std::string file; ///< "R", "UR", "P", "UP"
  unsigned number = 0;
  bool isPair = false; ///< an address of 64 bits: "R2.64"
};

/// The registers named in a text, in order. RZ, PT and the like are none.
std::vector<Operand> operandsIn(std::string_view text) {
  std::vector<Operand> found;
  for (std::size_t at = 0; at < text.size();) {
    const auto isWord = [&](std::size_t i) {
      return i < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_');
    };
    if (!isWord(at)) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (isWord(end))
      ++end;
    const std::string_view word = text.substr(at, end - at);
    for (const std::string_view file : {"UR", "UP", "R", "P"}) {
      const std::string_view digits = word.substr(std::min(file.size(), word.size()));
      if (!word.starts_with(file) || digits.empty() || digits.size() > 3 ||
          digits.find_first_not_of("0123456789") != digits.npos)
        continue;
      found.push_back({std::string(file), unsigned(std::stoul(std::string(digits))),
                       text.substr(end).starts_with(".64")});
      break;
    }
    at = end;
  }
  return found;
}

void addRegisters(Registers &to, const Operand &first, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    to.insert(first.file + std::to_string(first.number + i));
}

struct Uses {
  Registers written, read;
};

/// How many registers the result of an instruction takes, or the data of a store.
unsigned widthOf(const SassInstruction &instruction) {
  const std::string_view root = instruction.root();
  switch (classOf(instruction)) {
  case SassClass::GlobalLoad:
  case SassClass::GlobalStore:
  case SassClass::SharedLoad:
  case SassClass::SharedStore:
  case SassClass::LocalLoad:
  case SassClass::LocalStore:
  case SassClass::GenericLoad:
  case SassClass::GenericStore:
  case SassClass::ConstantLoad:
    return std::max(1u, accessBytes(instruction) / 4);
  case SassClass::Fp64:
    return 2;
  case SassClass::Tensor:
    return 4;
  case SassClass::Conversion: // F2F.F64.F32 makes doubles, F2F.F32.F64 and F2I.F64 take them
    return instruction.opcode.starts_with("F2F.F64") || (root == "I2F" && instruction.has("F64")) ||
                   instruction.has("S64") || instruction.has("U64")
               ? 2
               : 1;
  default:
    return instruction.has("WIDE") || instruction.has("64") ||
                   (root == "CS2R" && !instruction.has("32"))
               ? 2
               : 1;
  }
}

/// True for instructions all of whose operands are read.
bool writesNothing(const SassInstruction &instruction) {
  switch (classOf(instruction)) {
  case SassClass::GlobalStore:
  case SassClass::SharedStore:
  case SassClass::LocalStore:
  case SassClass::GenericStore:
  case SassClass::Control:
  case SassClass::Barrier:
    return true;
  default:
    return instruction.root().starts_with("RED") && instruction.root() != "REDUX";
  }
}

/// Results come first: predicates, one register (the first of as many as the result takes), further
/// predicates. Comparisons have predicates only.
Uses usesOf(const SassInstruction &instruction) {
  Uses uses;
  const std::vector<std::string> parts = split(instruction.operands, ',');
  const bool comparesOnly = instruction.root().ends_with("SETP") || instruction.root() == "PLOP3";
  const SassClass kind = classOf(instruction);
  const unsigned width = widthOf(instruction);
  bool isResult = !writesNothing(instruction), hasRegister = comparesOnly;
  // What is read is as wide as what is written in few instructions only.
  const unsigned readWidth =
      !isResult || kind == SassClass::Fp64 || kind == SassClass::Tensor ? width : 1;
  for (const std::string &part : parts) {
    const std::string_view text = trim(part);
    const bool isPredicate = text.starts_with("P") || text.starts_with("UP");
    isResult = isResult && text.find('[') == text.npos && (isPredicate || !hasRegister);
    const bool isNarrow = isPredicate || text.find('[') != text.npos;
    for (const Operand &operand : operandsIn(text))
      addRegisters(isResult ? uses.written : uses.read, operand,
                   operand.isPair ? 2
                   : isNarrow     ? 1
                   : isResult     ? width
                                  : readWidth);
    hasRegister |= isResult && !isPredicate;
  }
  for (const Operand &operand : operandsIn(instruction.predicate))
    addRegisters(uses.read, operand, 1);
  return uses;
}

/// How long what waits for such a result has to wait, relative to others; 0: a fixed few cycles.
int delayOf(const SassInstruction &instruction) {
  switch (classOf(instruction)) {
  case SassClass::GlobalLoad:
  case SassClass::GenericLoad:
  case SassClass::LocalLoad:
  case SassClass::Texture:
  case SassClass::Surface:
  case SassClass::Atomic:
    return 3;
  case SassClass::SharedLoad:
    return 2;
  case SassClass::ConstantLoad:
  case SassClass::Special:
  case SassClass::Conversion:
  case SassClass::Exchange:
  case SassClass::Fp64:
  case SassClass::Tensor:
    return 1;
  default:
    return instruction.root() == "S2R" || instruction.root() == "S2UR";
  }
}

/// The instructions of one function, with what each writes and where control comes from.
class Slicer {
public:
  explicit Slicer(const SassFunction &function) : code_(function.instructions) {
    std::map<std::uint64_t, std::size_t> at;
    for (std::size_t i = 0; i < code_.size(); ++i)
      at[code_[i].offset] = i;
    before_.resize(code_.size());
    for (std::size_t i = 0; i < code_.size(); ++i) {
      uses_.push_back(usesOf(code_[i]));
      const std::string_view root = code_[i].root();
      const bool jumps = root == "BRA" || root == "JMP";
      const bool ends = jumps || root == "EXIT" || root == "RET";
      if (i + 1 < code_.size() && !(ends && code_[i].predicate.empty() && isAlways(code_[i])))
        before_[i + 1].push_back(i);
      const auto label = function.labels.find(code_[i].target);
      if (jumps && label != function.labels.end() && at.contains(label->second))
        before_[at[label->second]].push_back(i);
    }
  }

  /// The instruction that the one at `index` waits for: itself if none takes an unknown time.
  std::size_t blamedFor(std::size_t index) const {
    std::size_t blamed = index;
    int longest = 0;
    for (const std::size_t producer : producersOf(index))
      if (const int delay = delayOf(code_[producer]); delay > longest) {
        longest = delay;
        blamed = producer;
      }
    return blamed;
  }

private:
  /// `BRA P0, ...` is conditional without a predicate in front.
  static bool isAlways(const SassInstruction &branch) {
    return operandsIn(branch.operands).empty();
  }

  /// The nearest instructions, on each path to `index`, that write what it reads; the nearest of
  /// all first.
  std::vector<std::size_t> producersOf(std::size_t index) const {
    std::vector<std::size_t> producers;
    for (const std::string &wanted : uses_[index].read) {
      std::vector<bool> seen(code_.size());
      std::vector<std::size_t> waiting = before_[index];
      while (!waiting.empty()) {
        const std::size_t i = waiting.back();
        waiting.pop_back();
        if (seen[i])
          continue;
        seen[i] = true;
        const bool writes = uses_[i].written.contains(wanted);
        if (writes)
          producers.push_back(i);
        if (!writes || !code_[i].predicate.empty()) // else whatever was there before is gone
          waiting.insert(waiting.end(), before_[i].begin(), before_[i].end());
      }
    }
    std::ranges::sort(producers, {}, [&](std::size_t i) {
      return i < index ? index - i : index + code_.size() - i; // later ones: of the turn before
    });
    return producers;
  }

  const std::vector<SassInstruction> &code_;
  std::vector<Uses> uses_;
  std::vector<std::vector<std::size_t>> before_;
};

const char *wordsOf(SassClass kind) {
  switch (kind) {
  case SassClass::GlobalLoad:
    return "a global load";
  case SassClass::GenericLoad:
    return "a generic load";
  case SassClass::LocalLoad:
    return "a local load";
  case SassClass::SharedLoad:
    return "a shared load";
  case SassClass::ConstantLoad:
    return "a constant load";
  case SassClass::Texture:
  case SassClass::Surface:
    return "a texture or surface";
  case SassClass::Atomic:
    return "an atomic";
  case SassClass::Special:
    return "a special function";
  case SassClass::Conversion:
    return "a conversion";
  case SassClass::Exchange:
    return "an exchange between lanes";
  case SassClass::Fp64:
    return "a double operation";
  case SassClass::Tensor:
    return "a tensor operation";
  case SassClass::Barrier:
    return "a barrier";
  default:
    return nullptr;
  }
}

std::string placeOfFrame(const SourceFrame &frame) {
  return frame.file.empty() ? "code without a line" : fmt::format("{}:{}", frame.file, frame.line);
}

} // namespace

std::vector<StallSlice> stallSlices(const SassListing &listing, std::string_view symbol,
                                    const InstructionCounts &counts) {
  const SassFunction *function = listing.find(symbol);
  if (!function)
    return {};
  const std::vector<SassInstruction> &code = function->instructions;
  const Slicer slicer(*function);
  struct Entry {
    StallSlice slice;
    double most = 0; ///< samples of the hottest instruction
  };
  std::map<std::tuple<std::string, unsigned, SassClass>, Entry> entries;
  double all = 0;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const auto count = counts.find(code[i].offset);
    if (count == counts.end() || count->second.samples <= 0)
      continue;
    const double samples = count->second.samples;
    all += samples;
    const SassInstruction &blamed = code[slicer.blamedFor(i)];
    const SourceFrame place = ownFrame(blamed);
    auto &[slice, most] = entries[{place.file, place.line, classOf(blamed)}];
    slice.blamed = place;
    slice.kind = classOf(blamed);
    slice.samples += samples;
    if (samples > most) {
      most = samples;
      slice.waiting = ownFrame(code[i]);
    }
  }
  std::vector<StallSlice> slices;
  for (auto &[key, entry] : entries) {
    entry.slice.share = entry.slice.samples / all;
    slices.push_back(std::move(entry.slice));
  }
  std::ranges::stable_sort(slices, std::greater(), &StallSlice::samples);
  return slices;
}

std::string inWords(const StallSlice &slice) {
  const char *what = wordsOf(slice.kind);
  std::string text = fmt::format("{} of the samples wait ", formatPercent(slice.share));
  text += what ? fmt::format("for {} at {}", what, placeOfFrame(slice.blamed))
               : fmt::format("at {} for no result of another", placeOfFrame(slice.blamed));
  if (what && !(slice.waiting == slice.blamed))
    text += ", found at " + placeOfFrame(slice.waiting);
  return text;
}

} // namespace kopt
