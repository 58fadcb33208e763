/* SPDX-License-Identifier: Apache-2.0 */
/* file_store.c: files that were opened once and will be read again. */
#include "base/file_store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define MAX_FILES 4096
#define MAX_BYTES ((size_t)64 << 20)
/* Far below the usual limit of 1024 descriptors of a process. */
#define MAX_FDS 256

void file_store_deinit(struct file_store *s)
{
	for (size_t i = 0; i < s->files.n; i++) {
		if (s->files.v[i].fd >= 0)
			close(s->files.v[i].fd);
		file_unload(&s->files.v[i].data);
	}
	VEC_FREE(&s->files);
	*s = (struct file_store){0};
}

bool file_is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Describes a link itself if links may not lead out: it never equals a kept file, so that it is
 * opened on its own, which refuses it if it leads out. */
static bool stat_below(struct file_root root, const char *name, struct stat *st)
{
	return (root.follow_links ? file_stat_below(root, name, st)
				  : file_lstat_below(root, name, st)) == 0;
}

static struct kept_file *find_kept(struct file_store *s, struct file_root root, const char *name)
{
	struct stat st;

	if (!s || !s->files.n || !stat_below(root, name, &st))
		return NULL;
	for (size_t i = 0; i < s->files.n; i++)
		if (file_is_same(&s->files.v[i].st, &st))
			return &s->files.v[i];
	return NULL;
}

/* Loads the whole of a file if only its head was read so far. */
static bool load_rest(
	struct file_store *s, struct kept_file *k, const char *path, struct incore_error *e)
{
	int fd = k->fd;

	if (fd < 0)
		return true;
	k->fd = -1;
	s->n_fds--;
	if (!file_load_fd(&k->data, fd, path, e))
		return false;
	s->bytes += k->data.buf_cap;
	return true;
}

static void remove_kept(struct file_store *s, struct kept_file *k)
{
	s->bytes -= k->data.buf_cap;
	*k = s->files.v[--s->files.n];
}

static void borrow(struct file_data *f, const struct kept_file *k)
{
	file_unmap(f);
	f->data = k->data.data;
	f->size = k->data.size;
}

static bool has_room(const struct file_store *s)
{
	return s->files.n < MAX_FILES && s->bytes < MAX_BYTES;
}

static bool load_and_keep(struct file_store *s, struct file_data *f, struct file_root root,
	const char *name, const char *path, struct incore_error *e)
{
	struct kept_file k = {.fd = -1};

	if (!file_load_at(&k.data, root, name, path, e))
		return false;
	/* The loaded file is the one that the name leads to, unless it was replaced in between. */
	if (!stat_below(root, name, &k.st) || (size_t)k.st.st_size != k.data.size ||
		!VEC_PUSH(&s->files, k)) {
		file_unload(f);
		*f = k.data;
		return true;
	}
	s->bytes += k.data.buf_cap;
	borrow(f, &k);
	return true;
}

bool file_store_load_at(struct file_store *s, enum file_store_use use, struct file_data *f,
	struct file_root root, const char *name, const char *path, struct incore_error *e)
{
	struct kept_file *k = find_kept(s, root, name);

	if (!k && use == FILE_KEEP && s && has_room(s))
		return load_and_keep(s, f, root, name, path, e);
	if (!k)
		return file_load_at(f, root, name, path, e);
	if (!load_rest(s, k, path, e)) {
		remove_kept(s, k);
		file_unload(f);
		return false;
	}
	if (use == FILE_KEEP) {
		borrow(f, k);
		return true;
	}
	file_unload(f);
	*f = k->data;
	remove_kept(s, k);
	return true;
}

bool file_store_load_below(struct file_store *s, enum file_store_use use, struct file_data *f,
	const char *dir, bool follow_links, const char *path, struct incore_error *e)
{
	struct file_root root;
	bool ok;

	if (!file_root_open(&root, dir, follow_links))
		return err_errno(e, errno, dir, "cannot open directory");
	ok = file_store_load_at(s, use, f, root, file_name_below(dir, path), path, e);
	close(root.fd);
	return ok;
}

static int read_head(int fd, uint8_t *head, size_t cap, size_t *n)
{
	ssize_t got = pread(fd, head, cap, 0);

	if (got < 0)
		return errno;
	*n = (size_t)got;
	return 0;
}

int file_store_head(struct file_store *s, struct file_root root, const char *name, uint8_t *head,
	size_t cap, size_t *n)
{
	struct kept_file *k = find_kept(s, root, name), new = {.fd = -1};
	int failed;

	if (k && k->fd < 0) {
		*n = k->data.size < cap ? k->data.size : cap;
		memcpy(head, k->data.data, *n);
		return 0;
	}
	if (k)
		return read_head(k->fd, head, cap, n);
	errno = EACCES;
	new.fd = fault_hit(FAULT_OPEN) ? -1 : file_open_below(root, name);
	if (new.fd < 0)
		return errno;
	errno = EINVAL;
	failed = fstat(new.fd, &new.st) == 0 && S_ISREG(new.st.st_mode)
			 ? read_head(new.fd, head, cap, n)
			 : errno;
	if (!failed && s && has_room(s) && s->n_fds < MAX_FDS && VEC_PUSH(&s->files, new))
		s->n_fds++;
	else
		close(new.fd);
	return failed;
}
