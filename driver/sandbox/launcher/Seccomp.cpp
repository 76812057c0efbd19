// SPDX-License-Identifier: Apache-2.0
#include "driver/sandbox/launcher/Seccomp.h"

#include <cstddef>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

// Newer than the oldest kernel headers this builds with; the numbers are the same on every
// architecture.
#ifndef __NR_io_uring_setup
#define __NR_io_uring_setup 425
#define __NR_io_uring_enter 426
#define __NR_io_uring_register 427
#endif
#ifndef __NR_open_tree
#define __NR_open_tree 428
#define __NR_move_mount 429
#define __NR_fsopen 430
#define __NR_fsconfig 431
#define __NR_fsmount 432
#define __NR_fspick 433
#endif
#ifndef __NR_pidfd_send_signal
#define __NR_pidfd_send_signal 424
#endif
#ifndef __NR_pidfd_open
#define __NR_pidfd_open 434
#endif
#ifndef __NR_clone3
#define __NR_clone3 435
#endif
#ifndef __NR_pidfd_getfd
#define __NR_pidfd_getfd 438
#endif
#ifndef __NR_process_madvise
#define __NR_process_madvise 440
#endif
#ifndef __NR_mount_setattr
#define __NR_mount_setattr 442
#endif
#ifndef __NR_quotactl_fd
#define __NR_quotactl_fd 443
#endif
#ifndef __NR_process_mrelease
#define __NR_process_mrelease 448
#endif

namespace kopt::sandbox {

namespace {

#if defined(__x86_64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "kopt-sandbox knows the system calls of x86-64 and of 64-bit Arm only"
#endif

/// No compiler, no CUDA program and no kernel harness has a use for any of these.
constexpr unsigned kRefused[] = {
    // other processes' memory and files
    __NR_ptrace,
    __NR_process_vm_readv,
    __NR_process_vm_writev,
    __NR_process_madvise,
    __NR_process_mrelease,
    __NR_pidfd_getfd,
    __NR_kcmp,
    // name spaces and mounts
    __NR_mount,
    __NR_umount2,
    __NR_pivot_root,
    __NR_chroot,
    __NR_setns,
    __NR_unshare,
    __NR_open_tree,
    __NR_move_mount,
    __NR_fsopen,
    __NR_fsconfig,
    __NR_fsmount,
    __NR_fspick,
    __NR_mount_setattr,
    __NR_open_by_handle_at,
    __NR_name_to_handle_at,
    // the kernel itself
    __NR_kexec_load,
    __NR_kexec_file_load,
    __NR_init_module,
    __NR_finit_module,
    __NR_delete_module,
    __NR_bpf,
    __NR_perf_event_open,
    __NR_userfaultfd,
    __NR_io_uring_setup,
    __NR_io_uring_enter,
    __NR_io_uring_register,
    __NR_syslog,
    __NR_lookup_dcookie,
    __NR_fanotify_init,
    // keys
    __NR_keyctl,
    __NR_add_key,
    __NR_request_key,
    // the machine
    __NR_reboot,
    __NR_swapon,
    __NR_swapoff,
    __NR_acct,
    __NR_quotactl,
    __NR_quotactl_fd,
    __NR_settimeofday,
    __NR_clock_settime,
    __NR_clock_adjtime,
    __NR_adjtimex,
    __NR_sethostname,
    __NR_setdomainname,
    __NR_vhangup,
    __NR_personality,
#if defined(__x86_64__)
    __NR_iopl,
    __NR_ioperm,
    __NR_modify_ldt,
    __NR_uselib,
    __NR_ustat,
    __NR_sysfs,
    __NR__sysctl,
    __NR_create_module,
    __NR_get_kernel_syms,
    __NR_query_module,
    __NR_nfsservctl,
#endif
};

constexpr unsigned kNamespaceFlags = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                     CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

class Filter {
public:
  Filter() {
    load(offsetof(seccomp_data, arch));
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0));
    add(kill());
    load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
    // The x32 ABI has numbers of its own for the same calls.
    add(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000u, 0, 1));
    add(kill());
#endif
  }

  void refuse(unsigned call, unsigned error = EPERM) {
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
    add(fail(error));
  }
  /// Refuses the call unless the low 32 bits of an argument are `value`.
  void refuseUnless(unsigned call, unsigned argument, unsigned value) {
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4));
    load(lowWord(argument));
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0));
    add(fail(EPERM));
    load(offsetof(seccomp_data, nr));
  }
  void refuseWhere(unsigned call, unsigned argument, unsigned value) {
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4));
    load(lowWord(argument));
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
    add(fail(EPERM));
    load(offsetof(seccomp_data, nr));
  }
  /// Refuses the call where an argument has any of the bits.
  void refuseBits(unsigned call, unsigned argument, unsigned bits) {
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4));
    load(lowWord(argument));
    add(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1));
    add(fail(EPERM));
    load(offsetof(seccomp_data, nr));
  }
  void refuseWithoutBits(unsigned call, unsigned argument, unsigned bits) {
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4));
    load(lowWord(argument));
    add(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 1, 0));
    add(fail(EPERM));
    load(offsetof(seccomp_data, nr));
  }

  Outcome install() {
    add(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
    KOPT_SANDBOX_CALL(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program),
                      "install the system call filter");
    return {};
  }

private:
  static constexpr sock_filter kill() {
    return BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  }
  static constexpr sock_filter fail(unsigned error) {
    return BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error & SECCOMP_RET_DATA));
  }
  static constexpr unsigned lowWord(unsigned argument) { // both architectures are little-endian
    return unsigned(offsetof(seccomp_data, args) + 8 * argument);
  }
  void load(unsigned offset) { add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)); }
  void add(sock_filter instruction) { code_.push_back(instruction); }

  std::vector<sock_filter> code_;
};

} // namespace

Outcome installCallFilter(const CallRules &rules) {
  Filter filter;
  for (const unsigned call : kRefused)
    filter.refuse(call);
  // Typing into a terminal that is shared with others.
  filter.refuseWhere(__NR_ioctl, 1, TIOCSTI);
  filter.refuseBits(__NR_clone, 0, kNamespaceFlags);
  // Its flags lie in memory, where a filter cannot look; the C library goes on with clone().
  filter.refuse(__NR_clone3, ENOSYS);
  if (!rules.fork) {
    filter.refuseWithoutBits(__NR_clone, 0, CLONE_THREAD);
#if defined(__x86_64__)
    filter.refuse(__NR_fork);
    filter.refuse(__NR_vfork);
#endif
  }
  if (!rules.network) {
    if (rules.unixSockets)
      filter.refuseUnless(__NR_socket, 0, AF_UNIX);
    else
      filter.refuse(__NR_socket);
    filter.refuseUnless(__NR_socketpair, 0, AF_UNIX);
  }
  if (!rules.signalOthers) {
    const unsigned self = unsigned(getpid()); // the program keeps this number
    for (const unsigned call :
         {__NR_kill, __NR_tgkill, __NR_rt_sigqueueinfo, __NR_rt_tgsigqueueinfo})
      filter.refuseUnless(call, 0, self);
    for (const unsigned call : {__NR_tkill, __NR_pidfd_send_signal, __NR_pidfd_open})
      filter.refuse(call);
  }
  return filter.install();
}

} // namespace kopt::sandbox
