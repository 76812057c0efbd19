// SPDX-License-Identifier: Apache-2.0
#include "driver/llm/EventStream.h"

#include <gtest/gtest.h>
#include <vector>

namespace kopt {
namespace {

std::vector<std::string> eventsOf(std::string_view text, std::size_t piece) {
  std::vector<std::string> events;
  EventStream stream([&](const std::string &data) { events.push_back(data); });
  for (std::size_t at = 0; at < text.size(); at += piece)
    stream.add(text.substr(at, piece));
  return events;
}

TEST(EventStreamTest, PiecesOfAnySizeGiveTheSameEvents) {
  const std::string text =
      ": a comment\r\n\r\nevent: x\r\ndata: one\r\n\r\ndata:two\ndata:  three\n\n"
      "id: 7\rdata: four\r\rdata\ndata:\n\n\n\n: ping\n\ndata: lost";
  const std::vector<std::string> events{"one", "two\n three", "four", ""};
  for (std::size_t piece = 1; piece <= text.size(); ++piece)
    EXPECT_EQ(eventsOf(text, piece), events) << piece;
}

TEST(EventStreamTest, OtherBytesAreNoEvents) {
  EXPECT_TRUE(eventsOf("<html>\n\n<body>data: x</body>\n\n", 3).empty());
  EXPECT_TRUE(eventsOf(std::string(3, '\0') + "\n\n\xff\xfe\n\n", 2).empty());
  EXPECT_TRUE(eventsOf("", 1).empty());
}

} // namespace
} // namespace kopt
