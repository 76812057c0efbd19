// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/screen/PtxList.h"

#include <algorithm>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringSet.h>
#include <vector>

namespace kopt::frontend {
namespace {

/// Instructions by the part before their first '.'; an entry that has a '.' itself is a prefix of
/// whole parts. From the PTX ISA 9.0, "Instruction Set". Deliberately absent: clocks and sleep
/// (nanosleep, pmevent), calls and stack (call, ret, alloca), traps (trap, brkpt), what leaves
/// memory undefined (discard), textures and surfaces, several devices (multimem).
const llvm::StringSet<> &knownInstructions() {
  static const llvm::StringSet<> names = {
      // integers
      "add", "sub", "mul", "mad", "mul24", "mad24", "sad", "div", "rem", "abs", "neg", "min", "max",
      "popc", "clz", "bfind", "fns", "brev", "bfe", "bfi", "szext", "bmsk", "dp4a", "dp2a", "addc",
      "subc", "madc", "vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vmad", "vset",
      "vadd2", "vsub2", "vavrg2", "vabsdiff2", "vmin2", "vmax2", "vset2", "vadd4", "vsub4",
      "vavrg4", "vabsdiff4", "vmin4", "vmax4", "vset4",
      // floating point
      "fma", "rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh", "testp", "copysign",
      // comparison, logic, moves between registers
      "set", "setp", "selp", "slct", "and", "or", "xor", "not", "cnot", "lop3", "shf", "shl", "shr",
      "mov", "prmt", "cvt", "cvta", "isspacep", "mapa", "getctarank",
      // memory
      "ld", "ldu", "st", "atom", "red", "prefetch", "prefetchu", "applypriority", "createpolicy",
      "cp.async", "cp.reduce.async", "st.async", "red.async", "fence", "membar",
      // matrices
      "ldmatrix", "stmatrix", "movmatrix", "mma", "wmma", "wgmma", "tcgen05",
      // threads of a warp, a block, a cluster
      "shfl", "vote", "match", "activemask", "redux", "elect", "bar", "barrier", "mbarrier",
      "setmaxnreg", "griddepcontrol",
      // control within the statement
      "bra"};
  return names;
}

/// Special registers of threads, blocks and clusters. All others are refused: they tell the time or
/// where on the chip code runs.
const llvm::StringSet<> &knownRegisters() {
  static const llvm::StringSet<> names = {
      // threads and blocks
      "tid", "ntid", "ctaid", "nctaid",
      // lanes
      "laneid", "lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt",
      // clusters
      "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid", "cluster_ctarank",
      "cluster_nctarank", "is_explicit_cluster",
      // shared memory
      "total_smem_size", "aggr_smem_size", "dynamic_smem_size"};
  return names;
}

bool isBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool isWord(char c) { return llvm::isAlnum(c) || c == '_' || c == '$'; }

/// The text without comments, and with a single '%' for each `%%`.
std::string plain(llvm::StringRef text) {
  std::string result;
  while (!text.empty()) {
    if (text.starts_with("//")) {
      text = text.drop_until([](char c) { return c == '\n'; });
    } else if (text.starts_with("/*")) {
      const std::size_t end = text.find("*/", 2);
      text = end == llvm::StringRef::npos ? llvm::StringRef() : text.drop_front(end + 2);
      result += ' ';
    } else {
      // `%%` is never followed by an operand's number.
      const bool isDoubled = text.starts_with("%%");
      result += text.front();
      text = text.drop_front(isDoubled ? 2 : 1);
    }
  }
  return result;
}

/// Statements, without labels and predicates.
std::vector<llvm::StringRef> statementsOf(llvm::StringRef text) {
  std::vector<llvm::StringRef> statements;
  const auto add = [&](llvm::StringRef statement) {
    for (bool isChanged = true; isChanged;) {
      isChanged = false;
      statement = statement.trim(" \t\r\n");
      // A brace in first place is a scope; operands in braces come later.
      if (statement.consume_front("{") || statement.consume_front("}"))
        isChanged = true;
      const llvm::StringRef label =
          statement.take_while([](char c) { return isWord(c) || c == '%' || c == '='; });
      const llvm::StringRef behind = statement.drop_front(label.size()).ltrim();
      if (!label.empty() && behind.starts_with(":")) {
        statement = behind.drop_front();
        isChanged = true;
      }
      if (statement.starts_with("@")) {
        statement = statement.drop_until(isBlank);
        isChanged = true;
      }
    }
    if (!statement.empty())
      statements.push_back(statement);
  };
  while (!text.empty()) {
    const auto [first, rest] = text.split(';');
    add(first);
    text = rest;
  }
  return statements;
}

std::optional<std::string> refusedRegister(llvm::StringRef text,
                                           const llvm::StringSet<> &declared) {
  for (std::size_t at = text.find('%'); at != llvm::StringRef::npos; at = text.find('%', at + 1)) {
    const llvm::StringRef rest = text.drop_front(at + 1);
    const llvm::StringRef name = rest.take_while([](char c) { return isWord(c); });
    if (name.empty() || llvm::isDigit(name.front()))
      continue; // an operand: %0, %[name]; or %=
    if (!knownRegisters().contains(name) && !declared.contains(name))
      return "the register '%" + name.str() + "'";
  }
  return std::nullopt;
}

/// Names that `.reg` declares, without '%'. `r<4>` declares r0 to r3.
void readRegisters(llvm::StringRef names, llvm::StringSet<> &declared) {
  llvm::SmallVector<llvm::StringRef> list;
  names.split(list, ',');
  for (llvm::StringRef name : list) {
    name = name.trim(); // the first name follows the type
    name = name.drop_front(name.find_last_of(" \t\n") + 1);
    name.consume_front("%");
    const auto [stem, count] = name.split('<');
    unsigned number = 0;
    declared.insert(stem);
    if (!count.rtrim("> \t").getAsInteger(10, number))
      for (unsigned i = 0; i < std::min(number, 1024u); ++i)
        declared.insert(stem.str() + std::to_string(i));
  }
}

} // namespace

bool isKnownRegister(llvm::StringRef name) {
  return knownRegisters().contains(name.split('.').first);
}

std::string refusedPtxMessage(const std::string &refused) {
  return "inline PTX has " + refused +
         ", which is not among those that a candidate may use: arithmetic, loads, stores and "
         "copies, matrices, synchronization";
}

bool hasPtx(llvm::StringRef text) { return !statementsOf(plain(text)).empty(); }

std::optional<std::string> refusedPtx(llvm::StringRef text) {
  if (text == kUnreadablePtx)
    return "a text that other code puts together";
  const std::string code = plain(text);
  const std::vector<llvm::StringRef> statements = statementsOf(code);
  llvm::StringSet<> declared;
  for (llvm::StringRef statement : statements)
    if (statement.consume_front(".reg"))
      readRegisters(statement, declared);
  // A declaration does not make these special registers harmless.
  for (llvm::StringRef name : {"clock", "clock_hi", "clock64", "globaltimer", "globaltimer_lo",
                               "globaltimer_hi", "smid", "nsmid", "warpid", "nwarpid", "gridid"})
    declared.erase(name);
  if (auto name = refusedRegister(code, declared))
    return name;
  for (llvm::StringRef statement : statements) {
    const llvm::StringRef instruction = statement.take_until(isBlank);
    const bool isDeclaration = instruction == ".reg";
    const bool isKnown = llvm::any_of(knownInstructions(), [&](const auto &known) {
      llvm::StringRef rest = instruction;
      return rest.consume_front(known.getKey()) && (rest.empty() || rest.starts_with("."));
    });
    // It stays in L2 beyond the launch, and beyond what empties L2 between two timings.
    if (instruction.contains("L2::evict_last"))
      return "the cache priority 'L2::evict_last'";
    // An operand within the name makes the instruction unknown.
    if ((!isKnown && !isDeclaration) || instruction.contains('%'))
      return "the instruction '" + instruction.str() + "'";
  }
  return std::nullopt;
}

} // namespace kopt::frontend
