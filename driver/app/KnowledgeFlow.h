// SPDX-License-Identifier: Apache-2.0
// What kopt knows beyond a project: what `kopt kb` works on.
#pragma once

#include "driver/diagnose/RuleBook.h"
#include "driver/knowledge/ExperienceBase.h"
#include "driver/knowledge/Passages.h"

namespace kopt {

/// The user's passages, with kopt's own skills as the source "kopt". Fails as Passages::open()
/// does.
Result<Passages> openPassages();

/// What of kopt's states, rules and skills was seen on a GPU.
Result<std::vector<Proof>> proofsOfKnowledge();

/// What the user's runs taught, in the same database. Fails as ExperienceBase::open() does.
Result<ExperienceBase> openExperience();

} // namespace kopt
