// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/DeclaredFill.h"
#include "fakes/ScaleKernel.h"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>

using namespace kopt;
using namespace kopt::fakes;

namespace {

class DeclaredFillTest : public ScaleKernel {
protected:
  DeclaredFillTest() {
    specialization_.params.push_back(
        {"shape", "const int *", ParamKind::Pointer, 8, 8, "i32", 1, 4, true, false});
  }

  /// The launch with n = 16, where x has 16 elements.
  Result<Launch> launch(const std::vector<std::string> &more,
                        const std::vector<std::string> &size = {"arg n = 16"}) {
    std::vector<std::string> all{"extent x = n"};
    all.insert(all.end(), size.begin(), size.end());
    all.insert(all.end(), more.begin(), more.end());
    declaration_ = declaration(all);
    auto built = buildWorkload(kernel_, specialization_, declaration_, DeviceKind::Emulated);
    if (!built)
      return tl::unexpected(built.error());
    return built->launches.front();
  }
  template <class T> static std::vector<T> elements(const std::string &bytes) {
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
  }

  TuneDeclaration declaration_;
};

TEST_F(DeclaredFillTest, ValuesAreElementsOfTheBuffersType) {
  const auto made = launch({"extent shape = 3", "fill shape = values(41, n - 3, -11)"});
  ASSERT_TRUE(made) << made.error().what;
  const Fill &fill = made->buffers[1].fill;
  EXPECT_EQ(fill.kind, FillKind::Values);
  EXPECT_EQ(elements<std::int32_t>(fill.bytes), (std::vector<std::int32_t>{41, 13, -11}));
  EXPECT_FALSE(fill.isDefault);

  const auto real =
      launch({"extent shape = 1", "fill x = values(0.5, 1, -2e3, n)", "arg n = 4"}, {});
  ASSERT_TRUE(real) << real.error().what;
  EXPECT_EQ(elements<float>(real->buffers[0].fill.bytes), (std::vector<float>{0.5f, 1, -2000, 4}));
}

TEST_F(DeclaredFillTest, NarrowNumbersAreRoundedToTheNearest) {
  EXPECT_EQ(elements<std::uint16_t>(realBytes("f16", 0.1) + realBytes("f16", -2)),
            (std::vector<std::uint16_t>{0x2e66, 0xc000}));
  EXPECT_EQ(elements<std::uint16_t>(realBytes("bf16", 0.1) + realBytes("bf16", -2)),
            (std::vector<std::uint16_t>{0x3dcd, 0xc000}));
  EXPECT_EQ(realBytes("", 1), "");
  specialization_.params.back().scalar = "f16";
  specialization_.params.back().pointeeSize = 2;
  const auto made = launch({"extent shape = 3", "fill shape = values(0.5, n, -2)"});
  ASSERT_TRUE(made) << made.error().what;
  EXPECT_EQ(elements<std::uint16_t>(made->buffers[1].fill.bytes),
            (std::vector<std::uint16_t>{0x3800, 0x4c00, 0xc000}));
}

TEST_F(DeclaredFillTest, WhatDoesNotFitIsAnErrorThatSaysSo) {
  const auto whatOf = [&](const std::vector<std::string> &clauses) {
    const auto made = launch(clauses);
    return made ? std::string("no error") : made.error().what;
  };
  EXPECT_EQ(whatOf({"extent shape = 3", "fill shape = values(41, 13)"}),
            "fill shape gives 2 elements of 4 bytes, but extent shape is 3");
  EXPECT_EQ(whatOf({"extent shape = 1", "fill shape = values(41, 13)"}),
            "fill shape gives 2 elements of 4 bytes, but extent shape is 1");
  EXPECT_NE(whatOf({"extent shape = 1", "fill shape = values(3000000000)"})
                .find("3000000000 does not fit into 'i32'"),
            std::string::npos);
  EXPECT_NE(whatOf({"extent shape = 1", "fill shape = values(m)"}).find("m"), std::string::npos);
}

TEST_F(DeclaredFillTest, AFileGivesItsBytes) {
  const std::int32_t shape[] = {41, 13, 11};
  std::ofstream(folder_.path() / "shape.bin", std::ios::binary)
      .write(reinterpret_cast<const char *>(shape), sizeof shape);
  const auto made = launch({"extent shape = 3", "fill shape = file(\"shape.bin\")"});
  ASSERT_TRUE(made) << made.error().what;
  EXPECT_EQ(made->buffers[1].fill.path, (folder_.path() / "shape.bin").string());
  EXPECT_FALSE(made->buffers[1].fill.hash.empty());
  const auto other = launch({"extent shape = 5", "fill shape = file(\"shape.bin\")"});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().what, "fill shape gives 3 elements of 4 bytes, but extent shape is 5");
}

} // namespace
