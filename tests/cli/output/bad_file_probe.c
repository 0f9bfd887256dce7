// Loaded into coldtrace: a range of one file cannot be read, as on a disk with bad sectors.
//
// BAD_FILE   the file, by whatever name it is opened
// BAD_FROM   the first byte that cannot be read
// BAD_TO     the first byte behind it that can be read again
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static int is_on;
static dev_t device;
static ino_t inode;
static off_t from, to;

__attribute__((constructor)) static void begin(void) {
  const char* path = getenv("BAD_FILE");
  struct stat about;
  if (path == NULL) return;
  if (stat(path, &about) != 0) abort();
  device = about.st_dev;
  inode = about.st_ino;
  from = strtoll(getenv("BAD_FROM"), NULL, 10);
  to = strtoll(getenv("BAD_TO"), NULL, 10);
  is_on = 1;
}

// How much of a read stands before the range; 0 where it begins in it.
static size_t readable(int file, off_t at, size_t size) {
  struct stat about;
  if (!is_on || size == 0 || at < 0 || at >= to || at + (off_t)size <= from) return size;
  if (fstat(file, &about) != 0 || about.st_dev != device || about.st_ino != inode) return size;
  return at < from ? from - at : 0;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define READING(name, at, parameters, arguments) \
  ssize_t name parameters {                      \
    const size_t asked = size;                   \
    size = readable(file, at, size);             \
    if (size < asked && size == 0) {             \
      errno = EIO;                               \
      return -1;                                 \
    }                                            \
    return NEXT(name) arguments;                 \
  }

READING(read, lseek(file, 0, SEEK_CUR), (int file, void* bytes, size_t size), (file, bytes, size))
READING(pread, offset, (int file, void* bytes, size_t size, off_t offset),
        (file, bytes, size, offset))
READING(pread64, offset, (int file, void* bytes, size_t size, off64_t offset),
        (file, bytes, size, offset))
