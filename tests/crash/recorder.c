/* Recorder: what a process asks of the files in one folder, in order, for those who play a power cut.
 *
 * Loaded before the C library. Each call is written to the trace as one record, a sync after it has
 * succeeded and everything else before it is done:
 *
 *   operation (1 byte), length of the path (4), offset (8), length of the data (4), the path, the data
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(type, name) ((type)dlsym(RTLD_NEXT, name))

static void note(char operation, const char *path, uint64_t offset, const void *data, uint32_t length) {
    const char *folder = getenv("RECORDED_FOLDER"), *trace = getenv("RECORDED_TRACE");
    if (!folder || !trace || strncmp(path, folder, strlen(folder)) != 0) return;
    unsigned char head[17];
    uint32_t size = strlen(path);
    head[0] = operation;
    memcpy(head + 1, &size, 4);
    memcpy(head + 5, &offset, 8);
    memcpy(head + 13, &length, 4);
    struct iovec parts[] = {{head, sizeof head}, {(void *)path, size}, {(void *)data, length}};
    int file = REAL(int (*)(const char *, int, ...), "open")(trace, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (file < 0) return;
    if (writev(file, parts, 3) < 0) abort();
    close(file);
}

static void note_open(char operation, int file, uint64_t offset, const void *data, uint32_t length) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size <= 0) return;
    path[size] = 0;
    note(operation, path, offset, data, length);
}

static void note_name(char operation, int folder, const char *name, const char *more) {
    char path[PATH_MAX];
    if (name[0] == '/' || folder == AT_FDCWD) snprintf(path, sizeof path, "%s", name);
    else return;
    note(operation, path, 0, more, more ? strlen(more) : 0);
}

ssize_t pwrite64(int file, const void *data, size_t size, off64_t offset) {
    note_open('W', file, offset, data, size);
    return REAL(ssize_t (*)(int, const void *, size_t, off64_t), "pwrite64")(file, data, size, offset);
}

ssize_t pwrite(int file, const void *data, size_t size, off_t offset) {
    return pwrite64(file, data, size, offset);
}

ssize_t write(int file, const void *data, size_t size) {
    off_t offset = lseek(file, 0, SEEK_CUR);
    if (offset >= 0 && fcntl(file, F_GETFL) & O_APPEND) offset = lseek(file, 0, SEEK_END);
    if (offset >= 0) note_open('W', file, offset, data, size);
    return REAL(ssize_t (*)(int, const void *, size_t), "write")(file, data, size);
}

int ftruncate64(int file, off64_t size) {
    note_open('T', file, size, NULL, 0);
    return REAL(int (*)(int, off64_t), "ftruncate64")(file, size);
}

int ftruncate(int file, off_t size) { return ftruncate64(file, size); }

int truncate64(const char *path, off64_t size) {
    note('T', path, size, NULL, 0);
    return REAL(int (*)(const char *, off64_t), "truncate64")(path, size);
}

int fsync(int file) {
    int done = REAL(int (*)(int), "fsync")(file);
    if (!done) note_open('S', file, 0, NULL, 0);
    return done;
}

int fdatasync(int file) {
    int done = REAL(int (*)(int), "fdatasync")(file);
    if (!done) note_open('S', file, 0, NULL, 0);
    return done;
}

static int opened(const char *real, int folder, const char *path, int flags, mode_t mode) {
    if (flags & (O_CREAT | O_TRUNC)) {
        if (flags & O_CREAT && access(path, F_OK) != 0) note_name('C', folder, path, NULL);
        else if (flags & O_TRUNC) note_name('Z', folder, path, NULL);
    }
    return REAL(int (*)(int, const char *, int, ...), real)(folder, path, flags, mode);
}

#define MODE(last) \
    va_list list; va_start(list, last); \
    mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0; va_end(list);

int open(const char *path, int flags, ...) { MODE(flags) return opened("openat", AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return opened("openat64", AT_FDCWD, path, flags, mode); }
int openat(int folder, const char *path, int flags, ...) { MODE(flags) return opened("openat", folder, path, flags, mode); }
int openat64(int folder, const char *path, int flags, ...) { MODE(flags) return opened("openat64", folder, path, flags, mode); }

int mkdir(const char *path, mode_t mode) {
    int done = REAL(int (*)(const char *, mode_t), "mkdir")(path, mode);
    if (!done) note('D', path, 0, NULL, 0);
    return done;
}

int rename(const char *from, const char *to) {
    note('R', from, 0, to, strlen(to));
    return REAL(int (*)(const char *, const char *), "rename")(from, to);
}

int unlink(const char *path) {
    note('U', path, 0, NULL, 0);
    return REAL(int (*)(const char *), "unlink")(path);
}
