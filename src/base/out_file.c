/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out_file.c: files and directories that appear whole or not at all: written beside, synced,
 * renamed.
 *
 * Parts: streams that remember a failure; files and directories that appear whole.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/str.h"

/* --- streams that remember a failure ---------------------------------------------------------- */

/*
 * A FILE that remembers why a write failed, and on which file. The C library drops what it could
 * not write and later reports only ferror().
 */

struct out_stream {
	int fd;
	char path[];
};

/* The last failure; global because it is reported later, by code that knows only a FILE. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	int errnum; /* 0: none */
	char path[1024];
} failure;

static ssize_t stream_write(void *cookie, const char *p, size_t n)
{
	const struct out_stream *s = cookie;
	size_t done = 0;

	while (done < n) {
		ssize_t k = write(s->fd, p + done, n - done);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0) {
			pthread_mutex_lock(&lock);
			failure.errnum = errno;
			memccpy(failure.path, s->path, '\0', sizeof(failure.path) - 1);
			pthread_mutex_unlock(&lock);
			break;
		}
		done += (size_t)k;
	}
	return (ssize_t)done;
}

static ssize_t stream_read(void *cookie, char *p, size_t n)
{
	return read(((const struct out_stream *)cookie)->fd, p, n);
}

static int stream_seek(void *cookie, off64_t *at, int whence)
{
	off_t now = lseek(((const struct out_stream *)cookie)->fd, *at, whence);

	*at = now;
	return now < 0 ? -1 : 0;
}

static int stream_close(void *cookie)
{
	int failed = close(((struct out_stream *)cookie)->fd);

	mem_free(cookie);
	return failed;
}

FILE *out_stream(int fd, const char *mode, const char *path)
{
	static const cookie_io_functions_t functions = {
		stream_read, stream_write, stream_seek, stream_close};
	size_t n = strlen(path) + 1;
	struct out_stream *s = mem_alloc(sizeof(*s) + n);
	FILE *f = NULL;

	if (s) {
		s->fd = fd;
		memcpy(s->path, path, n);
		f = fopencookie(s, mode, functions);
	}
	if (!f) {
		mem_free(s);
		errno = ENOMEM;
	}
	return f;
}

int out_stream_errno(void)
{
	int errnum;

	pthread_mutex_lock(&lock);
	errnum = failure.errnum ? failure.errnum : EIO;
	pthread_mutex_unlock(&lock);
	return errnum;
}

/* A target that cannot be created or written is not the fault of the input. */
bool err_output(struct incore_error *e, int errnum, const char *path, const char *what)
{
	err_errno(e, errnum, path, what);
	if (e)
		e->status = INCORE_FAILED;
	if (e && (errnum == EACCES || errnum == EPERM || errnum == EROFS))
		e->code = "not-writable";
	return false;
}

bool err_write(struct incore_error *e)
{
	int errnum = out_stream_errno();

	pthread_mutex_lock(&lock);
	err_output(e, errnum, *failure.path ? failure.path : NULL, "cannot write");
	pthread_mutex_unlock(&lock);
	return false;
}

/* --- files and directories that appear whole -------------------------------------------------- */

/* ".name.0123456789abcdef.tmp" in the directory of path. */
static char *temp_name(const char *path, uint64_t salt)
{
	const char *base = path_base(path);
	struct strbuf b = {0};
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	salt = hash_mix64(salt + (uint64_t)t.tv_nsec + ((uint64_t)t.tv_sec << 30));
	salt = hash_mix64(salt ^ (uint64_t)getpid() << 32);
	sb_add(&b, path, (size_t)(base - path));
	sb_printf(&b, ".%.200s.%016llx.tmp", base, (unsigned long long)salt);
	if (b.failed) {
		sb_free(&b);
		return NULL;
	}
	return b.p;
}

/* A nameless file in the directory of o->path (O_TMPFILE); -1 if the file system has none. */
static int out_file_open_unnamed(const struct out_file *o)
{
	char *copy;
	int fd = -1;

	if (access("/proc/self/fd", X_OK) != 0) /* needed to name it later */
		return -1;
	copy = mem_strndup(o->path, strlen(o->path));
	if (copy)
		fd = open(dirname(copy), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
	mem_free(copy);
	return fd;
}

/* Gives an unnamed file the name o->tmp_path. Returns 0 or errno. */
static int name_file(struct out_file *o)
{
	char from[40];

	if (!o->is_unnamed)
		return 0;
	snprintf(from, sizeof(from), "/proc/self/fd/%d", o->fd);
	leftover_add(o->tmp_path, false);
	if (linkat(AT_FDCWD, from, AT_FDCWD, o->tmp_path, AT_SYMLINK_FOLLOW) != 0)
		return errno;
	o->is_unnamed = false;
	return 0;
}

/* Creates a file beside o->path; o->tmp_path is its name, now or from commit on. Permissions: 0666
 * less the umask. */
static int open_temp(struct out_file *o, bool is_named, struct incore_error *e)
{
	int errnum = fault_hit(FAULT_OPEN) ? EACCES : EEXIST;

	for (uint64_t i = 0; i < 100 && errnum == EEXIST; i++) {
		int fd;

		o->tmp_path = temp_name(o->path, i);
		if (!o->tmp_path) {
			err_nomem(e);
			return -1;
		}
		fd = i == 0 && !is_named ? out_file_open_unnamed(o) : -1;
		o->is_unnamed = fd >= 0;
		if (fd < 0)
			fd = open(o->tmp_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0 && !o->is_unnamed)
			leftover_add(o->tmp_path, false);
		if (fd >= 0)
			return fd;
		errnum = errno;
		mem_free(o->tmp_path);
		o->tmp_path = NULL;
	}
	err_output(e, errnum, o->path, "cannot create");
	return -1;
}

/* If path is a link, its target is replaced, not the link. */
static char *out_file_target_of(const char *path)
{
	struct stat st;
	char *real, *copy;

	if (lstat(path, &st) != 0 || !S_ISLNK(st.st_mode))
		return mem_strndup(path, strlen(path));
	real = realpath(path, NULL);
	if (!real) /* a dangling link: replaced */
		return mem_strndup(path, strlen(path));
	copy = mem_strndup(real, strlen(real));
	free(real);
	return copy;
}

static bool is_special(const struct stat *st)
{
	return S_ISCHR(st->st_mode) || S_ISFIFO(st->st_mode) || S_ISBLK(st->st_mode);
}

static bool open_out_file(
	struct out_file *o, const char *path, bool is_named, struct incore_error *e)
{
	struct stat st;
	bool is_there;
	int fd;

	*o = (struct out_file){0};
	if (!path || strcmp(path, "-") == 0) {
		o->f = stdout;
		return true;
	}
	o->path = out_file_target_of(path);
	if (!o->path)
		return err_nomem(e);
	is_there = stat(o->path, &st) == 0;
	if (is_there && S_ISDIR(st.st_mode)) {
		err_set(e, INCORE_USAGE, "is-directory", "%s is a directory, not a file to write",
			path);
		out_file_abort(o);
		return false;
	}
	if (is_there && is_special(&st) && is_named) {
		fd = -1;
		err_set(e, INCORE_USAGE, "not-a-file", "%s is not a file that can be replaced",
			path);
	} else if (is_there &&
		   is_special(&st)) { /* /dev/null, /dev/stdout, a FIFO: written in place */
		fd = open(o->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		if (fd < 0)
			err_output(e, errno, o->path, "cannot open for writing");
	} else {
		fd = open_temp(o, is_named, e);
		if (fd >= 0 && is_there && fchmod(fd, st.st_mode & 0777) != 0)
			errno = 0; /* the default permissions are good enough */
	}
	if (fd >= 0) {
		o->fd = fd;
		o->f = out_stream(fd, "wb", o->path);
		if (!o->f) {
			err_output(e, errno, o->path, "cannot create");
			close(fd);
		}
	}
	if (!o->f)
		out_file_abort(o);
	return o->f != NULL;
}

bool out_file_open(struct out_file *o, const char *path, struct incore_error *e)
{
	return open_out_file(o, path, false, e);
}

bool out_file_open_named(struct out_file *o, const char *path, struct incore_error *e)
{
	return open_out_file(o, path, true, e);
}

static void out_file_sync_directory_of(const char *path)
{
	char *copy = mem_strndup(path, strlen(path));
	int fd;

	if (!copy)
		return;
	/* failure is ignored: the file itself is synced, and not all file systems can do this */
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
	mem_free(copy);
}

/* Returns 0 or errno. sync_fd: descriptor of f; -1: do not sync. */
static int flush_and_sync(FILE *f, int sync_fd)
{
	if (fault_hit(FAULT_WRITE))
		return ENOSPC;
	if (fflush(f) != 0 || ferror(f))
		return out_stream_errno();
	if (sync_fd < 0)
		return 0;
	if (fault_hit(FAULT_WRITE))
		return EIO;
	if (fsync(sync_fd) != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS)
		return errno;
	return 0;
}

bool out_file_commit(struct out_file *o, struct incore_error *e)
{
	const char *name = o->path ? o->path : "standard output";
	int errnum = flush_and_sync(o->f, o->tmp_path ? o->fd : -1);

	if (!o->path) {
		o->f = NULL;
		return errnum ? err_output(e, errnum, name, "cannot write") : true;
	}
	if (!errnum && o->tmp_path)
		errnum = name_file(o);
	if (fclose(o->f) != 0 && !errnum)
		errnum = errno;
	o->f = NULL;
	if (!errnum && o->tmp_path && rename(o->tmp_path, o->path) != 0)
		errnum = errno;
	if (errnum) {
		err_output(e, errnum, name, "cannot write");
		out_file_abort(o);
		return false;
	}
	if (o->tmp_path) {
		leftover_drop(o->tmp_path);
		out_file_sync_directory_of(o->path);
	}
	mem_free(o->tmp_path);
	o->tmp_path = NULL;
	out_file_abort(o);
	return true;
}

void out_file_abort(struct out_file *o)
{
	if (o->f && o->path)
		fclose(o->f);
	if (o->tmp_path && !o->is_unnamed) {
		unlink(o->tmp_path);
		leftover_drop(o->tmp_path);
	}
	mem_free(o->tmp_path);
	mem_free(o->path);
	*o = (struct out_file){0};
}

bool out_file_text(const char *path, struct str text, struct incore_error *e)
{
	struct out_file out = {0};
	bool ok = out_file_open(&out, path, e);

	if (ok && fwrite(text.p, 1, text.n, out.f) != text.n)
		ok = err_write(e);
	ok = ok && out_file_commit(&out, e);
	out_file_abort(&out);
	return ok;
}

static bool remove_temp(void *ctx, const char *name, struct incore_error *e)
{
	size_t n = strlen(name), hex = strspn(name + (n > 22 ? n - 20 : n), "0123456789abcdef");
	char *path = path_join(ctx, name);

	(void)e;
	if (path && name[0] == '.' && hex == 16 && name[n - 21] == '.' &&
		strcmp(name + n - 4, ".tmp") == 0)
		unlink(path);
	mem_free(path);
	return true;
}

void out_file_clean(const char *dir)
{
	dir_each(dir, remove_temp, (void *)dir, NULL);
}

/* --- directories --- */

/* Would a rename have to replace something at path? An empty directory does not count. */
static bool out_file_is_taken(const char *path, bool *is_error, struct incore_error *e)
{
	struct stat st;
	struct dirent *entry;
	bool is_empty = true;
	DIR *d;

	*is_error = false;
	if (lstat(path, &st) != 0)
		return false;
	if (!S_ISDIR(st.st_mode))
		return true;
	d = opendir(path);
	if (!d) {
		*is_error = true;
		err_output(e, errno, path, "cannot open directory");
		return true;
	}
	while (is_empty && (entry = readdir(d)))
		is_empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	closedir(d);
	return !is_empty;
}

/* Creates and opens a directory beside o->path. */
static bool make_temp_dir(struct out_dir *o, struct incore_error *e)
{
	int errnum = fault_hit(FAULT_OPEN) ? EACCES : EEXIST;

	for (uint64_t i = 0; i < 100 && errnum == EEXIST; i++) {
		mem_free(o->tmp_path);
		o->tmp_path = temp_name(o->path, i);
		if (!o->tmp_path)
			return err_nomem(e);
		errnum = mkdir(o->tmp_path, o->mode | (o->mode & 0444) >> 2) == 0 ? 0 : errno;
	}
	if (!errnum) {
		leftover_add(o->tmp_path, false);
		o->fd = open(o->tmp_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (o->fd >= 0)
			return true;
		errnum = errno;
		rmdir(o->tmp_path);
		leftover_drop(o->tmp_path);
	}
	mem_free(o->tmp_path);
	o->tmp_path = NULL;
	return err_output(e, errnum, o->path, "cannot create directory");
}

bool out_dir_open(struct out_dir *o, const char *path, unsigned mode, struct incore_error *e)
{
	size_t n = strlen(path);
	bool is_error;

	*o = (struct out_dir){.fd = -1, .mode = mode};
	while (n > 1 && path[n - 1] == '/')
		n--;
	o->path = mem_strndup(path, n);
	if (!o->path)
		return err_nomem(e);
	if (out_file_is_taken(o->path, &is_error, e)) {
		if (!is_error)
			err_set(e, INCORE_USAGE, "exists",
				"%s already exists; name a new or an empty directory", path);
		out_dir_abort(o);
		return false;
	}
	if (make_temp_dir(o, e))
		return true;
	out_dir_abort(o);
	return false;
}

/* Creates the parent directories of a name; false on lack of memory. */
static bool out_file_make_parents(const struct out_dir *o, const char *name)
{
	for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
		char *dir = mem_strndup(name, (size_t)(slash - name));

		if (!dir)
			return false;
		if (mkdirat(o->fd, dir, o->mode | (o->mode & 0444) >> 2) != 0)
			errno = 0; /* it exists, or creating the file in it will fail */
		mem_free(dir);
	}
	return true;
}

FILE *out_dir_file(struct out_dir *o, const char *name, struct incore_error *e)
{
	int fd, errnum;
	char *path;
	FILE *f;

	if (!out_file_make_parents(o, name)) {
		err_nomem(e);
		return NULL;
	}
	fd = fault_hit(FAULT_OPEN)
		     ? (errno = EACCES, -1)
		     : openat(o->fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, o->mode);
	errnum = errno;
	path = path_join(o->path, name);
	f = fd < 0 ? NULL : out_stream(fd, "w+b", path ? path : name);
	if (!f) {
		err_output(e, fd < 0 ? errnum : errno, path ? path : name, "cannot create");
		if (fd >= 0)
			close(fd);
	}
	mem_free(path);
	return f;
}

bool out_dir_done(struct out_dir *o, FILE *f, const char *name, struct incore_error *e)
{
	int errnum = flush_and_sync(f, -1);
	off_t at = ftello(f);

	if (fclose(f) != 0 && !errnum)
		errnum = errno ? errno : EIO;
	if (errnum) {
		char *path = path_join(o->path, name);

		err_output(e, errnum, path ? path : name, "cannot write");
		mem_free(path);
		return false;
	}
	o->bytes += at > 0 ? (uint64_t)at : 0;
	o->files++;
	return true;
}

bool out_dir_commit(struct out_dir *o, struct incore_error *e)
{
	int errnum = 0;

	if (fault_hit(FAULT_WRITE))
		errnum = EIO;
	/* one call for all files: a capture may have 100,000 of them */
	else if ((syncfs(o->fd) != 0 && errno != EINVAL && errno != ENOSYS && errno != EROFS) ||
		 rename(o->tmp_path, o->path) != 0)
		errnum = errno;
	if (errnum) {
		err_output(e, errnum, o->path, "cannot write");
		out_dir_abort(o);
		return false;
	}
	leftover_drop(o->tmp_path);
	out_file_sync_directory_of(o->path);
	mem_free(o->tmp_path);
	o->tmp_path = NULL;
	out_dir_abort(o);
	return true;
}

void out_dir_abort(struct out_dir *o)
{
	if (o->path && o->fd >= 0)
		close(o->fd);
	if (o->tmp_path) {
		remove_tree(o->tmp_path);
		leftover_drop(o->tmp_path);
	}
	mem_free(o->tmp_path);
	mem_free(o->path);
	*o = (struct out_dir){.fd = -1};
}

bool write_all(int fd, const void *p, size_t n, struct incore_error *e)
{
	const char *at = p;

	while (n > 0) {
		ssize_t done = fault_hit(FAULT_WRITE) ? (errno = ENOSPC, -1) : write(fd, at, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return err_errno(e, errno, NULL, "cannot write");
		at += done;
		n -= (size_t)done;
	}
	return true;
}
