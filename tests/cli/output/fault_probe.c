// Loaded into coldtrace: lets one call of a kind fail, or ends the process at it.
//
// FAULT_KIND  read, write, thread or memory: which calls are counted and fail; kill: those of
// reading,
//             writing and naming. Those for memory count from the moment on that the sandbox holds:
//             libseccomp 2.5.4, which makes it, does not look at all of its own
// FAULT_AT    the first of them that fails, from 1; 0: none
// FAULT_LAST  the last one that fails
// FAULT_COUNT a file that gets the number of calls in its first eight bytes, and behind them, as
// far as
//             it reaches, of each allocation a number that says which functions asked for it
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { reads = 1, writes = 2, names = 4, threads = 8, memory = 16 };

static int counted;  // the kinds of calls
static int kills;
static int is_on;
static unsigned long first, last;
static unsigned long* calls;  // in the file of FAULT_COUNT, since a process may end without a word
static unsigned long room;    // for calls in it
static __thread int is_inside;

__attribute__((constructor)) static void begin(void) {
  const char* kind = getenv("FAULT_KIND");
  if (kind == NULL) return;
  kills = strcmp(kind, "kill") == 0;
  counted = strcmp(kind, "read") == 0     ? reads
            : strcmp(kind, "write") == 0  ? writes
            : strcmp(kind, "thread") == 0 ? threads
            : strcmp(kind, "memory") == 0 ? memory
                                          : reads | writes | names;
  first = strtoul(getenv("FAULT_AT"), NULL, 10);
  last = strtoul(getenv("FAULT_LAST"), NULL, 10);
  const int report = open(getenv("FAULT_COUNT"), O_RDWR | O_CLOEXEC);
  struct stat about;
  fstat(report, &about);
  room = about.st_size / sizeof *calls - 1;
  calls = mmap(NULL, about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, report, 0);
  if (calls == MAP_FAILED) abort();
  void* first_asks_for_memory[1];
  backtrace(first_asks_for_memory, 1);
  unsetenv("LD_PRELOAD");
  is_on = counted != memory;
}

// A hash of the innermost functions that called.
static void note_callers(unsigned long call) {
  void* callers[12];
  is_inside = 1;
  const int count = backtrace(callers, 12);
  is_inside = 0;
  unsigned long hash = count;
  for (int i = 0; i < count; ++i) hash = (hash ^ (unsigned long)callers[i]) * 0x9e3779b97f4a7c15;
  calls[call] = hash;
}

// Whether this call is to fail.
static int fails(int kind) {
  if (!is_on || is_inside || (counted & kind) == 0) return 0;
  const unsigned long call = __atomic_add_fetch(calls, 1, __ATOMIC_RELAXED);
  if (kind == memory && call <= room) note_callers(call);
  if (first == 0 || call < first || call > last) return 0;
  if (kills) raise(SIGKILL);
  return 1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

// What is written to standard error is how a fault is told.
#define FAILING(type, name, kind, error, parameters, arguments) \
  type name parameters {                                        \
    if (!(kind == writes && file == 2) && fails(kind)) {        \
      errno = error;                                            \
      return (type)-1;                                          \
    }                                                           \
    return NEXT(name) arguments;                                \
  }

FAILING(ssize_t, read, reads, EIO, (int file, void* to, size_t size), (file, to, size))
FAILING(ssize_t, pread, reads, EIO, (int file, void* to, size_t size, off_t at),
        (file, to, size, at))
FAILING(ssize_t, pread64, reads, EIO, (int file, void* to, size_t size, off64_t at),
        (file, to, size, at))
FAILING(ssize_t, readv, reads, EIO, (int file, const struct iovec* to, int count),
        (file, to, count))
FAILING(ssize_t, preadv, reads, EIO, (int file, const struct iovec* to, int count, off_t at),
        (file, to, count, at))
FAILING(ssize_t, write, writes, ENOSPC, (int file, const void* from, size_t size),
        (file, from, size))
FAILING(ssize_t, pwrite, writes, ENOSPC, (int file, const void* from, size_t size, off_t at),
        (file, from, size, at))
FAILING(ssize_t, pwrite64, writes, ENOSPC, (int file, const void* from, size_t size, off64_t at),
        (file, from, size, at))
FAILING(ssize_t, writev, writes, ENOSPC, (int file, const struct iovec* from, int count),
        (file, from, count))
FAILING(int, fsync, writes, EIO, (int file), (file))
FAILING(int, fdatasync, writes, EIO, (int file), (file))
FAILING(int, close, names, EIO, (int file), (file))
FAILING(int, linkat, names, EIO, (int file, const char* old, int to, const char* name, int flags),
        (file, old, to, name, flags))

int rename(const char* old, const char* name) {
  return fails(names) ? -1 : NEXT(rename)(old, name);
}
int unlink(const char* name) {
  return fails(names) ? -1 : NEXT(unlink)(name);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*run)(void*), void* with) {
  return fails(threads) ? EAGAIN : NEXT(pthread_create)(thread, how, run, with);
}

// The sandbox's last step.
long syscall(long number, ...) {
  va_list more;
  va_start(more, number);
  long with[6];
  for (int i = 0; i < 6; ++i) with[i] = va_arg(more, long);
  va_end(more);
  const long result = NEXT(syscall)(number, with[0], with[1], with[2], with[3], with[4], with[5]);
  if (counted == memory && number == SYS_seccomp && with[0] == SECCOMP_SET_MODE_FILTER &&
      with[2] != 0)
    is_on = 1;
  return result;
}

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

static void* none(void) {
  errno = ENOMEM;
  return NULL;
}
void* malloc(size_t size) {
  return fails(memory) ? none() : __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  return fails(memory) ? none() : __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) {
  return fails(memory) ? none() : __libc_realloc(old, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  return fails(memory) ? none() : __libc_memalign(alignment, size);
}
