// SPDX-License-Identifier: Apache-2.0
#include "driver/sandbox/launcher/Seccomp.h"

#include <cerrno>
#include <linux/sched.h>
#include <memory>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace kopt::sandbox {

namespace {

/// No compiler, CUDA program or harness needs any of these calls. libseccomp leaves out those that
/// an architecture does not have.
constexpr int kRefused[] = {
    // other processes' memory and files
    SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev),
    SCMP_SYS(process_madvise), SCMP_SYS(process_mrelease), SCMP_SYS(pidfd_getfd), SCMP_SYS(kcmp),
    // namespaces and mounts
    SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(pivot_root), SCMP_SYS(chroot), SCMP_SYS(setns),
    SCMP_SYS(unshare), SCMP_SYS(open_tree), SCMP_SYS(move_mount), SCMP_SYS(fsopen),
    SCMP_SYS(fsconfig), SCMP_SYS(fsmount), SCMP_SYS(fspick), SCMP_SYS(mount_setattr),
    SCMP_SYS(open_by_handle_at), SCMP_SYS(name_to_handle_at),
    // the kernel itself
    SCMP_SYS(kexec_load), SCMP_SYS(kexec_file_load), SCMP_SYS(init_module), SCMP_SYS(finit_module),
    SCMP_SYS(delete_module), SCMP_SYS(bpf), SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd),
    SCMP_SYS(io_uring_setup), SCMP_SYS(io_uring_enter), SCMP_SYS(io_uring_register),
    SCMP_SYS(syslog), SCMP_SYS(lookup_dcookie), SCMP_SYS(fanotify_init),
    // keys
    SCMP_SYS(keyctl), SCMP_SYS(add_key), SCMP_SYS(request_key),
    // the machine
    SCMP_SYS(reboot), SCMP_SYS(swapon), SCMP_SYS(swapoff), SCMP_SYS(acct), SCMP_SYS(quotactl),
    SCMP_SYS(quotactl_fd), SCMP_SYS(settimeofday), SCMP_SYS(clock_settime), SCMP_SYS(clock_adjtime),
    SCMP_SYS(adjtimex), SCMP_SYS(sethostname), SCMP_SYS(setdomainname), SCMP_SYS(vhangup),
    SCMP_SYS(personality), SCMP_SYS(iopl), SCMP_SYS(ioperm), SCMP_SYS(modify_ldt), SCMP_SYS(uselib),
    SCMP_SYS(ustat), SCMP_SYS(sysfs), SCMP_SYS(_sysctl), SCMP_SYS(create_module),
    SCMP_SYS(get_kernel_syms), SCMP_SYS(query_module), SCMP_SYS(nfsservctl)};

constexpr std::uint32_t kSocketTypes = 0xf; ///< of socket()'s second argument
constexpr unsigned kNamespaceFlags[] = {CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                        CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWNET};

class Filter {
public:
  Filter() : context_(seccomp_init(SCMP_ACT_ALLOW)) {
    if (!context_) {
      error_ = -ENOMEM;
      return;
    }
    // Another architecture, or the x32 ABI, which has other numbers for the same calls.
    note(seccomp_attr_set(context_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS));
    note(seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2)); // a binary tree of calls
  }

  template <class... Conditions> void refuse(int call, Conditions... conditions) {
    refuseWith(EPERM, call, conditions...);
  }
  template <class... Conditions> void refuseWith(int error, int call, Conditions... conditions) {
    if (context_)
      note(seccomp_rule_add(context_.get(), SCMP_ACT_ERRNO(static_cast<unsigned>(error)), call,
                            sizeof...(conditions), conditions...));
  }

  Outcome install() {
    if (error_ == 0)
      note(seccomp_load(context_.get()));
    errno = -error_;
    return error_ == 0 ? Outcome() : failed("install the system call filter");
  }

private:
  void note(int result) {
    if (result < 0 && error_ == 0)
      error_ = result;
  }

  struct Release {
    void operator()(void *context) const { seccomp_release(context); }
  };
  std::unique_ptr<void, Release> context_;
  int error_ = 0; ///< negative errno of the first step that failed
};

/// For an argument of 32 bits: the kernel ignores the upper half of its register, so a condition
/// that refuses must ignore it too.
scmp_arg_cmp bitsAre(unsigned argument, std::uint32_t mask, std::uint32_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}
/// Compares all 64 bits: a nonzero upper half is refused too.
scmp_arg_cmp isNot(unsigned argument, std::uint64_t value) {
  return {argument, SCMP_CMP_NE, value, 0};
}

} // namespace

Outcome installCallFilter(const CallRules &rules) {
  Filter filter;
  for (const int call : kRefused)
    filter.refuse(call);
  // TIOCSTI types into a terminal that may be shared with others.
  filter.refuse(SCMP_SYS(ioctl), bitsAre(1, ~0u, TIOCSTI));
  for (const unsigned flag : kNamespaceFlags)
    filter.refuse(SCMP_SYS(clone), bitsAre(0, flag, flag));
  // The flags of clone3() are in memory, which a filter cannot read. The C library falls back to
  // clone().
  filter.refuseWith(ENOSYS, SCMP_SYS(clone3));
  if (!rules.fork) {
    filter.refuse(SCMP_SYS(clone), bitsAre(0, CLONE_THREAD, 0));
    filter.refuse(SCMP_SYS(fork));
    filter.refuse(SCMP_SYS(vfork));
  }
  if (rules.unixSockets)
    filter.refuse(SCMP_SYS(socket), isNot(0, AF_UNIX));
  else
    filter.refuse(SCMP_SYS(socket));
  if (!rules.connect) {
    // For AF_UNIX, the kernel turns SOCK_RAW into SOCK_DGRAM.
    for (const int type : {SOCK_DGRAM, SOCK_RAW})
      for (const int call : {SCMP_SYS(socket), SCMP_SYS(socketpair)})
        filter.refuse(call, bitsAre(1, kSocketTypes, std::uint32_t(type)));
    filter.refuseWith(ECONNREFUSED, SCMP_SYS(connect));
  }
  filter.refuse(SCMP_SYS(socketpair), isNot(0, AF_UNIX));
  if (!rules.signalOthers) {
    const std::uint64_t self = static_cast<std::uint64_t>(getpid()); // the program keeps this id
    for (const int call :
         {SCMP_SYS(kill), SCMP_SYS(tgkill), SCMP_SYS(rt_sigqueueinfo), SCMP_SYS(rt_tgsigqueueinfo)})
      filter.refuse(call, isNot(0, self));
    for (const int call : {SCMP_SYS(tkill), SCMP_SYS(pidfd_send_signal), SCMP_SYS(pidfd_open)})
      filter.refuse(call);
  }
  return filter.install();
}

} // namespace kopt::sandbox
