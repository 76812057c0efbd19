// SPDX-License-Identifier: Apache-2.0
#include "driver/model/KernelVariants.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace kopt {
namespace {

using Json = nlohmann::json;

/// A whole number that T holds; where it is not one, std::out_of_range naming it.
template <class T> T wholeNumber(const Json &value, const char *what) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > std::numeric_limits<T>::max())
    throw std::out_of_range(std::string(what) + " is no whole number in range");
  return value.get<T>();
}

std::string textOr(const Json &object, const char *key) {
  const auto found = object.find(key);
  return found == object.end() ? std::string() : found->get<std::string>();
}

MutantKind kindFrom(const std::string &name) {
  if (name == "value")
    return MutantKind::Value;
  if (name == "schedule")
    return MutantKind::Schedule;
  throw std::out_of_range("unknown kind of mutant '" + name + "'");
}

Mutant mutantFrom(const Json &item, const std::string &sliceText, const std::string &sliceFile) {
  Mutant mutant;
  mutant.op = item.at("operator");
  mutant.title = item.at("title");
  mutant.kind = kindFrom(item.at("kind"));
  mutant.mayBeEqual = textOr(item, "note");
  mutant.line = wholeNumber<unsigned>(item.at("line"), "a mutant's line");
  std::uint64_t done = 0;
  for (const Json &edit : item.at("edits")) {
    SourceEdit made{{sliceFile, wholeNumber<std::uint64_t>(edit.at("begin"), "an edit's begin"),
                     wholeNumber<std::uint64_t>(edit.at("end"), "an edit's end")},
                    edit.at("text")};
    if (made.range.begin < done || made.range.end < made.range.begin ||
        made.range.end > sliceText.size())
      throw std::out_of_range("an edit outside the slice in mutant '" + mutant.title + "'");
    mutant.sliceText.append(sliceText, done, made.range.begin - done);
    mutant.sliceText += made.text;
    done = made.range.end;
    mutant.edits.push_back(std::move(made));
  }
  mutant.sliceText.append(sliceText, done);
  if (mutant.sliceText == sliceText)
    throw std::out_of_range("mutant '" + mutant.title + "' changes nothing");
  return mutant;
}

ElementLayout layoutFrom(const Json &item) {
  ElementLayout layout;
  layout.size = wholeNumber<std::uint32_t>(item.at("size"), "an element's size");
  layout.newSize = wholeNumber<std::uint32_t>(item.at("new_size"), "an element's new_size");
  for (const Json &field : item.at("fields"))
    layout.fields.push_back(
        {wholeNumber<std::uint32_t>(field.at("offset"), "a field's offset"),
         wholeNumber<std::uint32_t>(field.at("new_offset"), "a field's new_offset"),
         field.at("scalar"), field.at("new_scalar")});
  for (const ElementField &field : layout.fields)
    if (field.offset >= layout.size || field.newOffset >= layout.newSize)
      throw std::out_of_range("a field outside its element");
  if (layout.fields.empty() && layout.size != layout.newSize)
    throw std::out_of_range("an element that grew without fields");
  return layout;
}

std::vector<ReferenceNote> notesFrom(const Json &items) {
  std::vector<ReferenceNote> notes;
  for (const Json &item : items)
    notes.push_back({item.at("id"), item.at("message"),
                     wholeNumber<unsigned>(item.at("line"), "a note's line")});
  return notes;
}

} // namespace

MutantSet parseMutants(const Json &reply, const std::string &sliceText,
                       const std::string &sliceFile) {
  MutantSet set;
  set.found = wholeNumber<std::size_t>(reply.at("found"), "\"found\"");
  set.inMacros = wholeNumber<std::size_t>(reply.at("in_macros"), "\"in_macros\"");
  for (const Json &item : reply.at("mutants"))
    set.mutants.push_back(mutantFrom(item, sliceText, sliceFile));
  return set;
}

ReferenceClone parseReferenceClone(const Json &reply) {
  ReferenceClone clone;
  if (!reply.at("ok").get<bool>()) {
    clone.refusals = notesFrom(reply.at("refusals"));
    if (clone.refusals.empty())
      throw std::out_of_range("no clone, and no reason why");
    return clone;
  }
  clone.sliceText = reply.at("slice");
  clone.expression = reply.at("expression");
  clone.symbol = reply.at("symbol");
  if (clone.sliceText.empty() || clone.expression.empty() || clone.symbol.empty())
    throw std::out_of_range("a clone without text, expression or symbol");
  for (const Json &item : reply.at("params"))
    clone.params.push_back(
        {item.at("name"), item.at("pointer").get<bool>(), layoutFrom(item.at("element"))});
  for (const Json &item : reply.at("variables"))
    clone.variables.push_back({item.at("name"),
                               wholeNumber<std::uint64_t>(item.at("count"), "a variable's count"),
                               layoutFrom(item.at("element"))});
  clone.sharedFactor = wholeNumber<std::uint32_t>(reply.at("shared_factor"), "\"shared_factor\"");
  if (clone.sharedFactor == 0)
    throw std::out_of_range("\"shared_factor\" is 0");
  clone.notes = notesFrom(reply.at("notes"));
  return clone;
}

CoverageClone parseCoverageClone(const Json &reply) {
  CoverageClone clone;
  clone.sliceText = reply.at("slice");
  clone.variable = reply.at("variable");
  clone.bytes = wholeNumber<std::uint32_t>(reply.at("bytes"), "\"bytes\"");
  clone.inMacros = wholeNumber<std::size_t>(reply.at("in_macros"), "\"in_macros\"");
  for (const Json &item : reply.at("marks")) {
    clone.marks.push_back({wholeNumber<std::uint32_t>(item.at("at"), "a mark's byte"),
                           wholeNumber<unsigned>(item.at("line"), "a mark's line"), item.at("what"),
                           item.at("names"), item.at("codes"), item.at("required")});
    if (clone.marks.back().at >= clone.bytes)
      throw std::out_of_range("a mark outside of the variable");
  }
  if (clone.sliceText.empty() || clone.variable.empty())
    throw std::out_of_range("a clone without text or variable");
  return clone;
}

} // namespace kopt
