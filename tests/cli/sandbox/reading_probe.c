/* Loaded into coldtrace (LD_PRELOAD): says which of the files in PROBE_FILES, with ':' between,
   were read while the process was in no sandbox yet, into PROBE_REPORT. The kernel tells of each
   way to read (inotify), but not of mapped files, whose mapping counts as reading. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { most_files = 32 };
static int events = -1, report = -1;
static char names[most_files][PATH_MAX];
static struct stat files[most_files];
static int count;

static int is_outside(void) {
  return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0;
}

static void tell(const char* what, const char* name) {
  dprintf(report, "%s %s\n", what, name);
}

/* What was read up to now. */
static void look(void) {
  char bytes[65536] __attribute__((aligned(8)));
  ssize_t size;
  while (events >= 0 && (size = read(events, bytes, sizeof bytes)) > 0)
    for (ssize_t at = 0; at < size;) {
      const struct inotify_event* const event = (const void*)(bytes + at);
      if (event->wd >= 1 && event->wd <= count) tell("read", names[event->wd - 1]);
      at += sizeof *event + event->len;
    }
}

/* Of a program that enters no sandbox. */
static void __attribute__((destructor)) end(void) {
  if (report >= 0 && is_outside()) look();
}

static void __attribute__((constructor)) begin(void) {
  char* const list = strdup(getenv("PROBE_FILES"));
  unsetenv("LD_PRELOAD");
  report = open(getenv("PROBE_REPORT"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  events = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  for (char* name = strtok(list, ":"); name && count < most_files; name = strtok(NULL, ":")) {
    if (inotify_add_watch(events, name, IN_ACCESS) != count + 1 || stat(name, &files[count]) != 0) {
      tell("no watch", name);
      return;
    }
    strncpy(names[count++], name, PATH_MAX - 1);
  }
  tell("begin", "");
}

/* By which coldtrace asks for Landlock, and libseccomp for its filter. */
long syscall(long number, ...) {
  static long (*real)(long, ...);
  if (!real) real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  __builtin_va_list list;
  __builtin_va_start(list, number);
  long words[6];
  for (int i = 0; i < 6; ++i) words[i] = __builtin_va_arg(list, long);
  __builtin_va_end(list);
  if ((number == SYS_landlock_restrict_self || number == SYS_seccomp) && report >= 0) {
    look();
    if (number == SYS_landlock_restrict_self) tell("sandbox", "");
  }
  return real(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

void* mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) {
  static void* (*real_mmap)(void*, size_t, int, int, int, off_t);
  if (!real_mmap)
    real_mmap = (void* (*)(void*, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
  struct stat status;
  if (file >= 0 && report >= 0 && is_outside() && fstat(file, &status) == 0)
    for (int i = 0; i < count; ++i)
      if (status.st_dev == files[i].st_dev && status.st_ino == files[i].st_ino)
        tell("mapped", names[i]);
  return real_mmap(at, size, protection, flags, file, offset);
}
