// SPDX-License-Identifier: Apache-2.0
#include "driver/config/GpuSelection.h"

#include "driver/support/Text.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <numeric>

namespace kopt {

namespace {

constexpr int kMostGpus = 64; ///< hosts have up to 16 today; more is a typing error

} // namespace

Result<std::vector<int>> parseGpuSelection(const std::string &text) {
  const auto wrong = [&](const std::string &why) {
    return makeError(ErrorCode::Usage, fmt::format("'{}' does not select GPUs: {}", text, why),
                     "give a number of them, a list such as 0,2, or all");
  };
  std::vector<int> numbers;
  if (text == "all")
    return numbers;
  for (const std::string &part : split(text, ',')) {
    const std::string digits(trim(part));
    int number = 0;
    const auto [end, problem] =
        std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (problem != std::errc() || end != digits.data() + digits.size() || number < 0)
      return wrong(fmt::format("'{}' is not a valid GPU ordinal", digits));
    if (std::find(numbers.begin(), numbers.end(), number) != numbers.end())
      return wrong(fmt::format("{} is named twice", number));
    numbers.push_back(number);
  }
  if (numbers.size() > 1)
    return numbers;
  if (numbers.front() < 1 || numbers.front() > kMostGpus)
    return wrong(fmt::format("a single number is a count, from 1 to {}", kMostGpus));
  numbers.resize(std::size_t(numbers.front()));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

} // namespace kopt
