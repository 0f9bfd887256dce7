#include "cli/sandbox/system_calls.hpp"

#include <array>
#include <cerrno>
#include <span>

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::cli {
namespace {

// Of every run: reading, writing what is open, memory, threads, time.
constexpr std::array of_all{
    SCMP_SYS(read),
    SCMP_SYS(pread64),
    SCMP_SYS(readv),
    SCMP_SYS(preadv),
    SCMP_SYS(write),
    SCMP_SYS(pwrite64),
    SCMP_SYS(writev),
    SCMP_SYS(pwritev),
    SCMP_SYS(close),
    SCMP_SYS(lseek),
    SCMP_SYS(fsync),
    SCMP_SYS(fdatasync),
    SCMP_SYS(ftruncate),
    SCMP_SYS(fallocate),
    SCMP_SYS(fadvise64),
    SCMP_SYS(fstat),
    SCMP_SYS(stat),
    SCMP_SYS(lstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(statx),
    SCMP_SYS(statfs),
    SCMP_SYS(fstatfs),
    SCMP_SYS(access),
    SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2),
    SCMP_SYS(readlink),
    SCMP_SYS(readlinkat),
    SCMP_SYS(getdents64),
    SCMP_SYS(getcwd),
    SCMP_SYS(umask),
    SCMP_SYS(dup),
    SCMP_SYS(dup2),
    SCMP_SYS(dup3),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(brk),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(mincore),
    SCMP_SYS(membarrier),
    SCMP_SYS(futex),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(getcpu),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(getrusage),
    SCMP_SYS(times),
    SCMP_SYS(getrandom),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(getppid),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    SCMP_SYS(uname),
    SCMP_SYS(sysinfo),
};
// What only takes rights away.
constexpr std::array of_landlock{SYS_landlock_create_ruleset, SYS_landlock_add_rule,
                                 SYS_landlock_restrict_self};
constexpr std::array of_renaming{SCMP_SYS(rename), SCMP_SYS(renameat), SCMP_SYS(renameat2),
                                 SCMP_SYS(unlink), SCMP_SYS(unlinkat)};
constexpr std::array of_folders{SCMP_SYS(mkdir), SCMP_SYS(mkdirat), SCMP_SYS(rmdir)};
constexpr std::array of_processes{SCMP_SYS(wait4),      SCMP_SYS(waitid), SCMP_SYS(kill),
                                  SCMP_SYS(pidfd_open), SCMP_SYS(pipe2),  SCMP_SYS(close_range),
                                  SCMP_SYS(recvfrom)};
// The start of a program too.
constexpr std::array of_helpers{SCMP_SYS(memfd_create), SCMP_SYS(execve), SCMP_SYS(arch_prctl),
                                SCMP_SYS(set_tid_address)};

// What is not listed is not there: libraries then do without, as on a kernel that is older.
class Filter {
 public:
  Filter() : context_{::seccomp_init(SCMP_ACT_ERRNO(ENOSYS))} {
    complete_ = context_ != nullptr && ::seccomp_attr_set(context_, SCMP_FLTATR_CTL_TSYNC, 1) == 0;
  }
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;
  ~Filter() {
    if (context_ != nullptr) ::seccomp_release(context_);
  }

  void allow(std::span<const int> calls) {
    for (const int call : calls) allow(call, {});
  }
  // Where all of `conditions` hold.
  void allow(int call, std::span<const scmp_arg_cmp> conditions) {
    complete_ = complete_ && ::seccomp_rule_add_array(context_, SCMP_ACT_ALLOW, call,
                                                      static_cast<unsigned>(conditions.size()),
                                                      conditions.data()) == 0;
  }
  void allow_if_equal(int call, unsigned argument, std::span<const u64> values) {
    for (const u64 value : values)
      allow(call, std::array{scmp_arg_cmp{argument, SCMP_CMP_EQ, value, 0}});
  }
  void allow_if_masked(int call, unsigned argument, u64 mask, u64 value) {
    allow(call, std::array{scmp_arg_cmp{argument, SCMP_CMP_MASKED_EQ, mask, value}});
  }
  bool load() { return complete_ && ::seccomp_load(context_) == 0; }

 private:
  scmp_filter_ctx context_;
  bool complete_ = false;
};

// What opens a file that exists for writing, or empties it, is not among them.
void allow_opening(Filter& filter, const SystemCallNeeds& needs) {
  constexpr u64 unnamed = O_TMPFILE & ~O_DIRECTORY;
  constexpr u64 all = O_ACCMODE | O_CREAT | O_EXCL | O_TRUNC | unnamed;
  constexpr int call = SCMP_SYS(openat);
  filter.allow_if_masked(call, 2, O_ACCMODE | O_CREAT | O_TRUNC | unnamed, O_RDONLY);
  filter.allow_if_masked(call, 2, unnamed, unnamed);
  if (needs.makes_named) {
    filter.allow_if_masked(call, 2, all, O_WRONLY | O_CREAT | O_EXCL);
    filter.allow_if_masked(call, 2, all, O_RDWR | O_CREAT | O_EXCL);
  }
  if (needs.makes_folders)
    filter.allow_if_masked(call, 2, all | O_APPEND, O_WRONLY | O_CREAT | O_APPEND);
}

// No memory is written and run.
void allow_memory(Filter& filter) {
  filter.allow_if_masked(SCMP_SYS(mmap), 2, PROT_EXEC, 0);
  filter.allow_if_masked(SCMP_SYS(mmap), 2, PROT_WRITE, 0);
  filter.allow_if_masked(SCMP_SYS(mprotect), 2, PROT_EXEC, 0);
}

// Of what is open: flags and locks, not who gets signals; sizes and the files of loop devices, not
// what devices do.
void allow_descriptors(Filter& filter) {
  constexpr std::array<u64, 8> flags{F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD,
                                     F_GETFL, F_SETFL,         F_GETLK, F_SETLK};
  filter.allow_if_equal(SCMP_SYS(fcntl), 1, flags);
  constexpr u64 terminal = 0x802c542a;  // TCGETS2, by which newer libraries know a terminal
  constexpr std::array<u64, 5> sizes{TCGETS, terminal, TIOCGWINSZ, BLKGETSIZE64, LOOP_GET_STATUS64};
  filter.allow_if_equal(SCMP_SYS(ioctl), 1, sizes);
}

void allow_threads(Filter& filter, const SystemCallNeeds& needs) {
  constexpr u64 spaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                         CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_PTRACE | CLONE_PARENT;
  // The flags of clone3 lie in memory, where no filter sees them: libraries then take clone.
  if (needs.processes)
    filter.allow_if_masked(SCMP_SYS(clone), 0, spaces, 0);
  else
    filter.allow_if_masked(SCMP_SYS(clone), 0, spaces | CLONE_THREAD, CLONE_THREAD);
  const std::array itself{static_cast<u64>(::getpid())};
  filter.allow_if_equal(SCMP_SYS(tgkill), 0, itself);
  constexpr std::array<u64, 1> own{0};
  filter.allow_if_equal(SCMP_SYS(prlimit64), 0, own);
}

// A pair of connected sockets, and no address to send to.
void allow_processes(Filter& filter) {
  filter.allow(of_processes);
  filter.allow(SCMP_SYS(socketpair),
               std::array{scmp_arg_cmp{0, SCMP_CMP_EQ, AF_UNIX, 0},
                          scmp_arg_cmp{1, SCMP_CMP_MASKED_EQ, 0xff, SOCK_STREAM}});
  constexpr std::array<u64, 1> none{0};
  filter.allow_if_equal(SCMP_SYS(sendto), 4, none);
  constexpr std::array<u64, 1> level{SOL_SOCKET};
  filter.allow_if_equal(SCMP_SYS(setsockopt), 1, level);
  constexpr std::array<u64, 2> of_children{PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS};
  filter.allow_if_equal(SCMP_SYS(prctl), 0, of_children);
}

}  // namespace

bool has_system_call_filter() {
  return true;
}

bool kernel_takes_filters() {
  const u32 action = SECCOMP_RET_ERRNO;
  return ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

bool filter_system_calls(const SystemCallNeeds& needs) {
  Filter filter;
  filter.allow(of_all);
  filter.allow(of_landlock);
  allow_opening(filter, needs);
  allow_memory(filter);
  allow_descriptors(filter);
  allow_threads(filter, needs);
  if (needs.names_output) filter.allow(std::array{SCMP_SYS(linkat)});
  if (needs.replaces) filter.allow(of_renaming);
  if (needs.makes_folders) filter.allow(of_folders);
  if (needs.processes) allow_processes(filter);
  if (needs.helper) filter.allow(of_helpers);
  return filter.load();
}

}  // namespace coldtrace::cli
