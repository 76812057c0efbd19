// SPDX-License-Identifier: Apache-2.0
// Asks one transformation about a short kernel. Parses with kopt's own declarations, which is
// faster than a toolkit's.
#pragma once

#include "clang_plugin/transform/Catalogue.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace kopt::frontend::test {

struct Question {
  std::string technique, slice;
  std::vector<LaunchShape> launches = {{{64, 1, 1}, {256, 1, 1}, 0}};
  std::string kernel = "k", expression = "k", arch = "sm_90";
};

inline llvm::Expected<OfferList> tryOffers(const Question &question) {
  setenv("KOPT_CUDA_PATH", "none", 1);
  TransformRequest request;
  request.source.slice = question.slice;
  request.source.kernel = question.kernel;
  request.source.expression = question.expression;
  request.source.directory = "/tmp";
  request.source.arch = question.arch;
  request.launches = question.launches;
  request.techniques = {question.technique};
  return findOffers(request);
}

inline std::vector<Offer> offersFor(const Question &question) {
  auto reply = tryOffers(question);
  if (!reply) {
    ADD_FAILURE() << llvm::toString(reply.takeError());
    return {};
  }
  std::vector<Offer> chosen; // with each value of a parameter
  for (const Offer &offer : reply->offers) {
    EXPECT_LE(offer.parameters.size(), 1u) << offer.title;
    if (offer.parameters.empty())
      chosen.push_back(offer);
    for (const OfferParameter &parameter : offer.parameters)
      for (const std::int64_t value : parameter.values)
        chosen.push_back(withValues(offer, {{parameter.name, value}}));
  }
  for (const Offer &offer : chosen)
    EXPECT_TRUE(offer.launch || applyEdits(question.slice, offer.edits) != question.slice)
        << offer.title;
  return chosen;
}

/// "3: the loop has a break" of each refusal; without a line, of the kernel as a whole.
inline std::vector<std::string> refusalsFor(const Question &question) {
  std::vector<std::string> reasons;
  auto reply = tryOffers(question);
  if (!reply) {
    ADD_FAILURE() << llvm::toString(reply.takeError());
    return reasons;
  }
  for (const OfferRefusal &refusal : reply->refusals)
    reasons.push_back((refusal.line ? std::to_string(refusal.line) + ": " : "") + refusal.why);
  return reasons;
}

/// The slice after each offer.
inline std::vector<std::string> textsFor(const Question &question) {
  std::vector<std::string> texts;
  for (const Offer &offer : offersFor(question))
    texts.push_back(applyEdits(question.slice, offer.edits));
  return texts;
}

inline std::vector<std::string> titlesFor(const Question &question) {
  std::vector<std::string> titles;
  for (const Offer &offer : offersFor(question))
    titles.push_back(offer.title);
  return titles;
}

} // namespace kopt::frontend::test
