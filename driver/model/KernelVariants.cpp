// SPDX-License-Identifier: Apache-2.0
#include "driver/model/KernelVariants.h"

#include <stdexcept>

namespace kopt {
namespace {

Mutant mutantOf(Mutation mutation, const std::string &sliceText) {
  Mutant mutant{std::move(mutation), {}};
  std::size_t done = 0;
  for (const SliceEdit &edit : mutant.edits) {
    if (edit.begin < done || edit.end < edit.begin || edit.end > sliceText.size())
      throw std::out_of_range("an edit outside the slice in mutant '" + mutant.title + "'");
    mutant.sliceText.append(sliceText, done, edit.begin - done);
    mutant.sliceText += edit.text;
    done = edit.end;
  }
  mutant.sliceText.append(sliceText, done);
  if (mutant.sliceText == sliceText)
    throw std::out_of_range("mutant '" + mutant.title + "' changes nothing");
  return mutant;
}

} // namespace

MutantSet makeMutants(MutationList list, const std::string &sliceText) {
  MutantSet set;
  set.found = list.found;
  set.inMacros = list.inMacros;
  for (Mutation &mutation : list.mutations)
    set.mutants.push_back(mutantOf(std::move(mutation), sliceText));
  return set;
}

} // namespace kopt
