// SPDX-License-Identifier: Apache-2.0
// The model of a session: how it is reached, what it may use, and what it may cost.
#pragma once

#include "driver/app/services/Services.h"
#include "driver/app/tune/TuneSettings.h"
#include "driver/search/proposers/LlmProposer.h"

namespace kopt {

/// The model of these settings. Fails with Usage if there is none, and if its cost is limited and
/// not known; else as makeChatModel().
Result<std::unique_ptr<ChatModel>> modelOf(const TuneSettings &settings, Services &services);

/// The limits of the settings for that model, for one run; its tools and clock are the caller's.
LlmOptions llmOptionsOf(const TuneSettings &settings, const ChatModel &model,
                        const std::string &run);

} // namespace kopt
