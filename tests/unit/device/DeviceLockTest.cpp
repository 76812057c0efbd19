// SPDX-License-Identifier: Apache-2.0
#include "driver/device/runner/DeviceLock.h"
#include "driver/device/runner/RunnerClient.h"

#include "driver/support/FileSystem.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace kopt;

/// Another process that holds a lock until it is killed.
class OtherProcess {
public:
  explicit OtherProcess(const std::filesystem::path &file) {
    int ends[2];
    if (pipe(ends) != 0)
      abort();
    pid_ = fork();
    if (pid_ == 0) {
      DeviceLock lock(file, "device", {});
      auto hold = lock.take();
      [[maybe_unused]] const ssize_t told = write(ends[1], hold ? "y" : "n", 1);
      for (;;)
        pause();
    }
    char answer = 'n';
    holds = read(ends[0], &answer, 1) == 1 && answer == 'y';
    close(ends[0]);
    close(ends[1]);
  }
  ~OtherProcess() { killNow(); }
  void killNow() {
    if (pid_ <= 0)
      return;
    kill(pid_, SIGKILL);
    waitpid(std::exchange(pid_, -1), nullptr, 0);
  }
  pid_t pid() const { return pid_; }
  bool holds = false;

private:
  pid_t pid_;
};

class DeviceLockTest : public testing::Test {
protected:
  RunnerHooks hooks() {
    return {[this](const std::string &text) {
              told.push_back(text);
              if (onWait)
                onWait();
            },
            [this] { return interrupted; }};
  }
  TemporaryDirectory folder = std::move(*TemporaryDirectory::create("kopt-lock"));
  std::filesystem::path file = folder.path() / "kopt-GPU-1.lock";
  std::vector<std::string> told;
  std::function<void()> onWait;
  bool interrupted = false;
};

TEST_F(DeviceLockTest, AFreeDeviceIsTakenAtOnce) {
  DeviceLock lock(file, "Fake GPU", hooks());
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(lock.take());
  EXPECT_TRUE(told.empty());
  struct stat info{};
  ASSERT_EQ(stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0666u); // the GPU is every user's
}

TEST_F(DeviceLockTest, AnotherProcessIsWaitedForAndItsDeathEndsTheWait) {
  OtherProcess other(file);
  ASSERT_TRUE(other.holds);
  const std::string pid = std::to_string(other.pid());
  onWait = [&] { other.killNow(); };
  DeviceLock lock(file, "Fake GPU", hooks());
  const auto hold = lock.take();
  ASSERT_TRUE(hold) << hold.error().what;
  EXPECT_EQ(told, std::vector{"another kopt (process " + pid +
                              ") uses Fake GPU: kopt takes turns with it"});
}

TEST_F(DeviceLockTest, TheWaitForAnotherProcessIsToldOnce) {
  DeviceLock lock(file, "Fake GPU", hooks());
  for (int i = 0; i < 2; ++i) {
    OtherProcess other(file);
    ASSERT_TRUE(other.holds);
    std::jthread end([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      other.killNow();
    });
    ASSERT_TRUE(lock.take());
  }
  EXPECT_EQ(told.size(), 1u);
}

TEST_F(DeviceLockTest, AnotherHolderIsSeenWithoutWaitingForIt) {
  constexpr std::chrono::milliseconds kWatch{20};
  DeviceLock lock(file, "Fake GPU", hooks());
  EXPECT_EQ(lock.otherHolder(kWatch).value(), "");
  EXPECT_FALSE(std::filesystem::exists(file)); // a look leaves nothing behind
  {
    OtherProcess other(file);
    ASSERT_TRUE(other.holds);
    EXPECT_EQ(lock.otherHolder(kWatch).value(),
              "another kopt (process " + std::to_string(other.pid()) + ")");
  }
  EXPECT_EQ(lock.otherHolder(kWatch).value(), "");
  OtherProcess next(file);
  EXPECT_TRUE(next.holds); // it is not kept
}

TEST_F(DeviceLockTest, TwoDevicesAreTwoLocks) {
  OtherProcess other(folder.path() / "kopt-GPU-2.lock");
  ASSERT_TRUE(other.holds);
  DeviceLock lock(file, "Fake GPU", hooks());
  EXPECT_TRUE(lock.take());
  EXPECT_TRUE(told.empty());
}

TEST_F(DeviceLockTest, WhoeverWaitsMayBeInterrupted) {
  OtherProcess other(file);
  onWait = [&] { interrupted = true; };
  DeviceLock lock(file, "Fake GPU", hooks());
  const auto hold = lock.take();
  ASSERT_FALSE(hold);
  EXPECT_EQ(hold.error().code, ErrorCode::Interrupted);
}

TEST_F(DeviceLockTest, AHolderThatTakesItAgainAtOnceLetsTheOthersFirst) {
  DeviceLock busy(file, "Fake GPU", hooks()), waiting(file, "Fake GPU", hooks());
  std::atomic<int> turns = 0;
  const std::jthread other([&](const std::stop_token &stop) {
    while (!stop.stop_requested()) {
      const auto hold = busy.take();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ++turns;
    }
  });
  while (turns == 0)
    std::this_thread::yield();
  constexpr int kTakes = 10;
  const int before = turns;
  for (int i = 0; i < kTakes; ++i)
    ASSERT_TRUE(waiting.take());
  EXPECT_LE(turns - before, 3 * kTakes);
}

TEST_F(DeviceLockTest, ALockThatIsGivenUpIsFree) {
  DeviceLock first(file, "Fake GPU", hooks()), second(file, "Fake GPU", hooks());
  {
    const auto hold = first.take();
    interrupted = true;
    EXPECT_FALSE(second.take());
    interrupted = false;
  }
  EXPECT_TRUE(second.take());
}

TEST_F(DeviceLockTest, TheLastOfSeveralHoldersGivesItUp) {
  DeviceLock first(file, "Fake GPU", hooks()), second(file, "Fake GPU", hooks());
  std::optional<Result<DeviceLock::Hold>> one(first.take());
  {
    const auto other = first.take();
    EXPECT_TRUE(*one && other);
  }
  interrupted = true;
  EXPECT_FALSE(second.take());
  std::jthread([&] { one.reset(); }).join();
  interrupted = false;
  EXPECT_TRUE(second.take());
}

TEST_F(DeviceLockTest, AFileThatWasRemovedIsNoLock) {
  DeviceLock lock(file, "Fake GPU", hooks());
  ASSERT_TRUE(lock.take());
  std::filesystem::remove(file);
  OtherProcess other(file); // holds the new one
  interrupted = true;
  EXPECT_FALSE(lock.take());
}

TEST_F(DeviceLockTest, NothingButAFileIsLocked) {
  const auto refused = [&](const std::string &word) {
    DeviceLock lock(file, "Fake GPU", hooks());
    const auto hold = lock.take();
    ASSERT_FALSE(hold);
    EXPECT_EQ(hold.error().code, ErrorCode::Environment);
    EXPECT_NE(hold.error().what.find(word), std::string::npos) << hold.error().what;
    EXPECT_NE(hold.error().hint.find("KOPT_LOCK_DIR"), std::string::npos);
    std::filesystem::remove_all(file);
  };
  std::filesystem::create_symlink("/etc/hostname", file);
  refused("symbolic links");
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  refused("not a plain file");
  ASSERT_TRUE(writeFileAtomically(folder.path() / "mine", "precious"));
  std::filesystem::create_hard_link(folder.path() / "mine", file);
  refused("not a plain file");
  EXPECT_EQ(*readFile(folder.path() / "mine"), "precious");
  std::filesystem::create_directory(file);
  refused("Is a directory");
}

TEST_F(DeviceLockTest, ADeviceThatNobodySharesNeedsNone) {
  DeviceLock lock("", "emulated", hooks());
  EXPECT_TRUE(lock.take());
}

TEST(DeviceLockFile, IsTheSameForAllUsersUnlessToldOtherwise) {
  unsetenv("KOPT_LOCK_DIR");
  EXPECT_EQ(deviceLockFile("GPU-1"), "/tmp/kopt-GPU-1.lock");
  EXPECT_EQ(deviceLockFile("../etc/x y"), "/tmp/kopt-___etc_x_y.lock"); // nothing but a file there
  setenv("KOPT_LOCK_DIR", "/run/lock", 1);
  EXPECT_EQ(deviceLockFile("GPU-1"), "/run/lock/kopt-GPU-1.lock");
  unsetenv("KOPT_LOCK_DIR");
}

} // namespace
