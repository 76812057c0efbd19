// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/mutate/Mutate.h"

#include "clang_plugin/analysis/KernelFacts.h"

#include <llvm/Support/xxhash.h>

namespace kopt::frontend {

namespace {

bool isSame(const Mutation &left, const Mutation &right) {
  const auto key = [](const SliceEdit &edit) { return std::tie(edit.begin, edit.end, edit.text); };
  return std::ranges::equal(left.edits, right.edits, {}, key, key);
}

/// A pseudo-random rank that depends only on the seed and the mutant itself, so that an edit
/// elsewhere in the kernel changes the choice little.
std::uint64_t rank(const Mutation &mutant, std::uint64_t seed) {
  std::string key = std::to_string(seed) + mutant.op;
  for (const SliceEdit &edit : mutant.edits)
    key += "/" + std::to_string(edit.begin) + ":" + edit.text;
  return llvm::xxh3_64bits(key);
}

/// The order in which mutants are chosen. The operators take turns; each gives its mutant on the
/// line with the fewest mutants so far. Mutants that are surely wrong come before those that may
/// equal the original.
std::vector<std::size_t> order(const std::vector<Mutation> &mutants, std::uint64_t seed) {
  std::map<std::string, std::vector<std::size_t>> byOperator;
  std::vector<std::string> turns;
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    if (!byOperator.count(mutants[i].op))
      turns.push_back(mutants[i].op);
    byOperator[mutants[i].op].push_back(i);
  }
  // If fewer mutants are requested than there are operators, the seed decides which operators
  // count.
  llvm::sort(turns, [&](const std::string &a, const std::string &b) {
    const auto key = [&](const std::string &id) {
      return std::pair(llvm::xxh3_64bits(std::to_string(seed) + id), id);
    };
    return key(a) < key(b);
  });
  std::map<unsigned, unsigned> mutationsOfLine;
  std::vector<std::size_t> chosen;
  while (chosen.size() < mutants.size())
    for (const std::string &turn : turns) {
      std::vector<std::size_t> &open = byOperator[turn];
      if (open.empty())
        continue;
      const auto best = std::ranges::min_element(open, [&](std::size_t a, std::size_t b) {
        const auto key = [&](std::size_t i) {
          return std::tuple(!mutants[i].mayBeEqual.empty(), mutationsOfLine[mutants[i].line],
                            rank(mutants[i], seed));
        };
        return key(a) < key(b);
      });
      ++mutationsOfLine[mutants[*best].line];
      chosen.push_back(*best);
      open.erase(best);
    }
  return chosen;
}

/// Every operator, in the order of the README's table.
const MutationOperators &mutationOperators() {
  static const MutationOperators all = [] {
    MutationOperators list;
    addWorkOperators(list);
    addScalarOperators(list);
    addStoreOperators(list);
    addLoadOperators(list);
    addBoundOperators(list);
    addArithmeticOperators(list);
    addSynchronizationOperators(list);
    return list;
  }();
  return all;
}

llvm::Error unknownOperator(const std::string &name) {
  std::string known;
  for (const auto &each : mutationOperators())
    known += (known.empty() ? "" : ", ") + std::string(each.id);
  return llvm::createStringError(llvm::inconvertibleErrorCode(), "there is no mutation operator '" +
                                                                     name + "'; there are " +
                                                                     known);
}

} // namespace

void MutantSink::add(clang::SourceLocation where, const std::string &what,
                     std::optional<std::vector<SliceEdit>> edits, std::string note) {
  if (!edits) {
    ++inMacros;
    return;
  }
  const clang::SourceManager &sources = facts_.view().context().getSourceManager();
  const unsigned line = sources.getExpansionLineNumber(where);
  Mutation mutant;
  mutant.op = op_;
  mutant.title = what + (file_.empty() ? " at line " : " at " + file_ + ":") + std::to_string(line);
  mutant.kind = kind_;
  mutant.mayBeEqual = std::move(note);
  mutant.line = line;
  mutant.edits = std::move(*edits);
  mutations.push_back(std::move(mutant));
}

llvm::Expected<MutationList> findMutants(const MutateRequest &request) {
  for (const std::string &name : request.wanted.operators)
    if (llvm::none_of(mutationOperators(), [&](const auto &each) { return each.id == name; }))
      return unknownOperator(name);
  auto slice = openSlice(request.source);
  if (!slice)
    return slice.takeError();
  const KernelFacts facts(slice->view);

  MutationList list;
  std::vector<Mutation> all;
  for (const auto &each : mutationOperators()) {
    if (!request.wanted.operators.empty() && !llvm::is_contained(request.wanted.operators, each.id))
      continue;
    MutantSink sink(facts, std::string(each.id), each.kind, request.file);
    each.find(facts, sink);
    list.inMacros += sink.inMacros;
    for (Mutation &mutant : sink.mutations)
      // An operator may find a template's text once for each instantiation.
      if (llvm::none_of(all, [&](const Mutation &known) { return isSame(known, mutant); }) &&
          applyEdits(request.source.slice, mutant.edits) != request.source.slice)
        all.push_back(std::move(mutant));
  }
  list.found = all.size();

  // A mutant that does not parse is replaced by the next in order.
  std::vector<std::size_t> turns = order(all, request.wanted.seed);
  for (std::size_t next = 0;
       next < turns.size() && list.mutations.size() < request.wanted.atMost;) {
    std::vector<std::size_t> batch;
    std::vector<std::vector<SliceEdit>> edits;
    while (next < turns.size() && list.mutations.size() + batch.size() < request.wanted.atMost) {
      edits.push_back(all[turns[next]].edits);
      batch.push_back(turns[next++]);
    }
    const std::vector<bool> isBroken = findUnparsable(request.source, edits);
    for (std::size_t i = 0; i < batch.size(); ++i)
      if (!isBroken[i])
        list.mutations.push_back(std::move(all[batch[i]]));
  }
  llvm::stable_sort(list.mutations,
                    [](const Mutation &a, const Mutation &b) { return a.line < b.line; });
  return list;
}

} // namespace kopt::frontend
