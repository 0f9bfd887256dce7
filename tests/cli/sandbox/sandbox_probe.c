/* Loaded into coldtrace (LD_PRELOAD): when it first writes results, tries what a parser that was
   taken over might do, and says of each whether it was possible.

   PROBE_FOLDER has a file of its own for each attempt, PROBE_INPUT is what the run reads,
   PROBE_OTHER a file elsewhere, PROBE_LISTENER and PROBE_BOX are sockets of another process,
   PROBE_REPORT where to write. What an attempt needs is made before main() begins. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int report = -1, input = -1, stream = -1, datagram = -1;
static struct sockaddr_un listener = {.sun_family = AF_UNIX}, box = {.sun_family = AF_UNIX};
static char path[4096], other[4096];

static const char* file(const char* name) {
  snprintf(path, sizeof path, "%s/%s", getenv("PROBE_FOLDER"), name);
  return path;
}

static const char* another(const char* name) {
  snprintf(other, sizeof other, "%s/%s", getenv("PROBE_FOLDER"), name);
  return other;
}

static const char* open_file(int descriptor) {
  snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  return path;
}

static ssize_t (*real_write)(int, const void*, size_t);

static void tell(const char* what, long result) {
  char line[200];
  const int size =
      snprintf(line, sizeof line, "%s %s\n", what, result < 0 ? strerrorname_np(errno) : "done");
  real_write(report, line, size);
}

/* A descriptor that is closed again. */
static long opened(int descriptor) {
  if (descriptor >= 0) close(descriptor);
  return descriptor;
}

static long read_file(const char* name) {
  char byte;
  const int descriptor = open(name, O_RDONLY | O_CLOEXEC);
  return descriptor < 0 ? -1 : opened(read(descriptor, &byte, 1) < 0 ? -1 : descriptor);
}

static long read_environment_of(pid_t process) {
  snprintf(path, sizeof path, "/proc/%d/environ", process);
  return read_file(path);
}

static const char* folder_of(const char* name) {
  snprintf(path, sizeof path, "%s", name);
  *strrchr(path, '/') = 0;
  return path;
}

static long run_another_program(void) {
  char* const words[] = {"true", NULL};
  const pid_t child = fork();
  int status = 0;
  if (child <= 0) {
    execve("/bin/true", words, environ);
    if (child == 0) _exit(errno);
    return -1;
  }
  waitpid(child, &status, 0);
  errno = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
  return errno == 0 ? 0 : -1;
}

static void try_files(void) {
  struct timespec now[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}};
  tell("open-write", opened(open(file("open-write"), O_WRONLY)));
  tell("open-append", opened(open(file("open-append"), O_WRONLY | O_APPEND)));
  tell("open-both", opened(open(file("open-both"), O_RDWR)));
  tell("open-empty", opened(open(file("open-empty"), O_RDONLY | O_TRUNC)));
  tell("open-create", opened(open(file("new-create"), O_WRONLY | O_CREAT, 0600)));
  tell("open-exclusive", opened(open(file("new-exclusive"), O_RDWR | O_CREAT | O_EXCL, 0600)));
  tell("open-input", opened(open(getenv("PROBE_INPUT"), O_RDWR)));
  tell("reopen-input", opened(open(open_file(input), O_RDWR)));
  tell("open-device", opened(open("/dev/null", O_WRONLY)));
  tell("open-memory", opened(open("/proc/self/mem", O_RDWR)));
  tell("truncate", truncate(file("truncate"), 0));
  tell("unlink", unlink(file("unlink")));
  tell("rename", rename(file("rename"), another("rename-new")));
  tell("symlink", symlink("open-write", file("new-link")));
  tell("mkdir", mkdir(file("new-folder"), 0700));
  tell("mkfifo", mkfifo(file("new-pipe"), 0600));
  tell("chmod-input", chmod(getenv("PROBE_INPUT"), 0640));
  tell("fchmod-input", fchmod(input, 0640));
  tell("chown-input", chown(getenv("PROBE_INPUT"), geteuid(), getegid()));
  tell("fchown-input", fchown(input, geteuid(), getegid()));
  tell("touch-input", utimensat(AT_FDCWD, getenv("PROBE_INPUT"), now, 0));
  tell("touch-open-input", futimens(input, now));
  tell("chdir", chdir("/"));
}

static void try_reading(void) {
  const char* const elsewhere = getenv("PROBE_OTHER");
  tell("read-another", read_file(elsewhere));
  tell("list-another", opened(open(folder_of(elsewhere), O_RDONLY | O_DIRECTORY)));
  snprintf(other, sizeof other, "/proc/self/root%s", elsewhere);
  tell("read-by-proc", read_file(other));
  tell("read-environment", read_environment_of(getppid()));
}

static void try_the_rest(void) {
  struct rlimit limit;
  tell("socket", opened(socket(AF_INET, SOCK_STREAM, 0)));
  tell("socket-unix", opened(socket(AF_UNIX, SOCK_STREAM, 0)));
  tell("socketpair-datagram", socketpair(AF_UNIX, SOCK_DGRAM, 0, (int[2]){0, 0}));
  tell("connect", connect(stream, (struct sockaddr*)&listener, sizeof listener));
  tell("sendto", sendto(datagram, "x", 1, 0, (struct sockaddr*)&box, sizeof box));
  tell("bind", bind(datagram, (struct sockaddr*)&(struct sockaddr_un){.sun_family = AF_UNIX}, 2));
  tell("exec", run_another_program());
  tell("kill", kill(getppid(), 0));
  tell("tgkill", syscall(SYS_tgkill, getppid(), getppid(), 0));
  tell("limits-of-another", prlimit(getppid(), RLIMIT_NOFILE, NULL, &limit));
  tell("priority", setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0)));
  tell("signals-to-another", fcntl(input, F_SETOWN, getppid()));
  tell("unshare", unshare(CLONE_FILES));
  tell("write-and-run",
       mmap(NULL, 4096, PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
           ? -1
           : 0);
  void* const page = mmap(NULL, 4096, PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  tell("written-then-run", mprotect(page, 4096, PROT_READ | PROT_EXEC));
  if (geteuid() == 0) {
    tell("mount", mount("none", file("mount"), "tmpfs", 0, NULL));
    umount2(file("mount"), MNT_DETACH);
    tell("chroot", chroot("/"));
  }
  tell("ptrace", ptrace(PTRACE_TRACEME, 0, NULL, NULL));
}

static void __attribute__((constructor)) begin(void) {
  real_write = (ssize_t(*)(int, const void*, size_t))dlsym(RTLD_NEXT, "write");
  unsetenv("LD_PRELOAD");
  input = open(getenv("PROBE_INPUT"), O_RDONLY | O_CLOEXEC);
  report = open(getenv("PROBE_REPORT"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  stream = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  datagram = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  strncpy(listener.sun_path, getenv("PROBE_LISTENER"), sizeof listener.sun_path - 1);
  strncpy(box.sun_path, getenv("PROBE_BOX"), sizeof box.sun_path - 1);
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
  static int tried;
  if (descriptor != STDERR_FILENO && report >= 0 && !tried) {
    tried = 1;
    try_files();
    try_reading();
    try_the_rest();
    tell("end", 0);
  }
  return real_write(descriptor, bytes, size);
}
