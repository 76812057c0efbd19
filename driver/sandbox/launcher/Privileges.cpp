// SPDX-License-Identifier: Apache-2.0
#include "driver/sandbox/launcher/Privileges.h"

#include <algorithm>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kopt::sandbox {

namespace {

/// Sets the soft and the hard limit, or keeps the hard limit if it is lower.
Outcome limit(__rlimit_resource resource, std::uint64_t value, const char *what) {
  rlimit now{};
  KOPT_SANDBOX_CALL(getrlimit(resource, &now), std::string("read the limit of ") + what);
  const rlim_t wanted = std::min<rlim_t>(value, now.rlim_max);
  const rlimit both{wanted, wanted};
  KOPT_SANDBOX_CALL(setrlimit(resource, &both), std::string("limit ") + what);
  return {};
}

} // namespace

Outcome limitResources(const Options &options) {
  KOPT_SANDBOX_STEP(limit(RLIMIT_CORE, 0, "core files"));
  if (options.cpuSeconds)
    KOPT_SANDBOX_STEP(limit(RLIMIT_CPU, *options.cpuSeconds, "processor time"));
  if (options.fileBytes)
    KOPT_SANDBOX_STEP(limit(RLIMIT_FSIZE, *options.fileBytes, "file size"));
  if (options.openFiles)
    KOPT_SANDBOX_STEP(limit(RLIMIT_NOFILE, *options.openFiles, "open files"));
  if (options.addressBytes)
    KOPT_SANDBOX_STEP(limit(RLIMIT_AS, *options.addressBytes, "address space"));
  // If only one process is allowed, the call filter refuses a second one; this limit would count
  // threads too.
  if (options.processes > 1)
    KOPT_SANDBOX_STEP(limit(RLIMIT_NPROC, options.processes, "processes"));
  return {};
}

Outcome dropPrivileges() {
  KOPT_SANDBOX_CALL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "set no_new_privs");
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  // The next calls need a capability. A process without any has none to drop.
  prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                               SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
                               SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED);
  for (int capability = 0; prctl(PR_CAPBSET_READ, capability) >= 0; ++capability)
    prctl(PR_CAPBSET_DROP, capability);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2]{};
  KOPT_SANDBOX_CALL(syscall(__NR_capset, &header, none), "drop capabilities");
  __user_cap_data_struct left[2]{};
  KOPT_SANDBOX_CALL(syscall(__NR_capget, &header, left), "read capabilities");
  if (left[0].effective | left[1].effective | left[0].permitted | left[1].permitted)
    return {"cannot drop capabilities: some are left", 0};
  return {};
}

} // namespace kopt::sandbox
