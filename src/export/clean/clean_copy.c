/* SPDX-License-Identifier: Apache-2.0 */
/* clean_copy.c: copies a folder, and removes a folder of ours again. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "export/clean/clean_job.h"

#define COPY_BYTES (1u << 20)
#define COPY_DEPTH 16

struct copy {
	const char *from, *to;
	struct stat but; /* the output folder, which is skipped */
	unsigned depth;
};

static bool copy_file(const char *from, const char *to, struct incore_error *e)
{
	int in = open(from, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), out = -1;
	char *buf = mem_alloc(COPY_BYTES);
	bool ok = false;
	ssize_t n = -1;

	if (!buf) {
		err_nomem(e);
		goto out;
	}
	if (in < 0) {
		err_errno(e, errno, from, "cannot read");
		goto out;
	}
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	if (out < 0) {
		err_output(e, errno, to, "cannot create");
		goto out;
	}
	ok = true;
	while (ok && (n = read(in, buf, COPY_BYTES)) > 0)
		ok = write_all(out, buf, (size_t)n, e) || err_wrap(e, "%s", to);
	if (ok && n < 0)
		ok = err_errno(e, errno, from, "cannot read");
	if (close(out) != 0 && ok)
		ok = err_output(e, errno, to, "cannot write");
out:
	if (in >= 0)
		close(in);
	mem_free(buf);
	return ok;
}

static bool copy_below(const struct copy *c, struct incore_error *e);

static bool copy_entry(void *ctx, const char *name, struct incore_error *e)
{
	const struct copy *c = ctx;
	char *from = path_join(c->from, name), *to = path_join(c->to, name);
	struct stat st;
	bool ok = true;

	if (!from || !to)
		ok = err_nomem(e);
	else if (lstat(from, &st) != 0 ||
		 (st.st_dev == c->but.st_dev && st.st_ino == c->but.st_ino))
		ok = true;
	else if (S_ISREG(st.st_mode))
		ok = copy_file(from, to, e);
	else if (S_ISDIR(st.st_mode) && c->depth < COPY_DEPTH)
		ok = copy_below(&(struct copy){from, to, c->but, c->depth + 1}, e);
	mem_free(from);
	mem_free(to);
	return ok;
}

static bool copy_below(const struct copy *c, struct incore_error *e)
{
	if (mkdir(c->to, 0750) != 0)
		return err_output(e, errno, c->to, "cannot create directory");
	return dir_each(c->from, copy_entry, (void *)c, e);
}

bool clean_copy_tree(const char *from, const char *to, const char *but, struct incore_error *e)
{
	struct copy c = {.from = from, .to = to};

	if (lstat(but, &c.but) != 0)
		c.but = (struct stat){0};
	return copy_below(&c, e);
}
