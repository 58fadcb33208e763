/* SPDX-License-Identifier: Apache-2.0 */
/* journal.c: lines "<16 hexadecimal digits> <text>\n"; the digits hash the text and the chain. */
#include "run/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"

#define HASH_DIGITS 16

/* Returns the text of a line and its hash; false: the line was changed. */
static bool check_line(struct str line, uint64_t chain, struct str *text, uint64_t *hash)
{
	char digits[HASH_DIGITS + 1];

	if (line.n < HASH_DIGITS + 1 || line.p[HASH_DIGITS] != ' ')
		return false;
	*text = str_sub(line, HASH_DIGITS + 1, line.n);
	*hash = hash_bytes(text->p, text->n, chain);
	snprintf(digits, sizeof(digits), "%016llx", (unsigned long long)*hash);
	return memcmp(line.p, digits, HASH_DIGITS) == 0;
}

/* Reads all lines; text after the last line break is a line that a crash cut off. */
static bool journal_read_lines(
	struct journal *j, struct str all, journal_fn each, void *ctx, struct incore_error *e)
{
	while (j->size_bytes < all.n) {
		struct str rest = str_sub(all, (size_t)j->size_bytes, all.n), text;
		ptrdiff_t end = str_find(rest, "\n");
		uint64_t hash;

		if (end < 0)
			return true;
		if (!check_line(str_sub(rest, 0, (size_t)end), j->chain, &text, &hash))
			return err_file(e, "journal-damaged", j->path, j->size_bytes,
				"line %llu of the journal has changed since it was written",
				(unsigned long long)j->n_lines + 1);
		if (each && !each(ctx, text, e))
			return false;
		j->chain = hash;
		j->n_lines++;
		j->size_bytes += (uint64_t)end + 1;
	}
	return true;
}

bool journal_parse(
	struct str all, const char *path, journal_fn each, void *ctx, struct incore_error *e)
{
	return journal_read_lines(&(struct journal){.path = (char *)path}, all, each, ctx, e);
}

bool journal_read(const char *path, journal_fn each, void *ctx, struct incore_error *e)
{
	struct file_data f = {0};
	bool ok = file_load(&f, path, e) &&
		  journal_parse((struct str){(const char *)f.data, f.size}, path, each, ctx, e);

	file_unload(&f);
	return ok;
}

/* The name of a new file is durable only once its directory is synced. */
static void journal_sync_directory_of(const char *path)
{
	const char *base = path_base(path);
	char *dir =
		mem_strndup(base == path ? "." : path, base == path ? 1 : (size_t)(base - path));
	int fd = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
	mem_free(dir);
}

static bool journal_load(struct journal *j, journal_fn each, void *ctx, struct incore_error *e)
{
	struct file_data f = {0};
	bool ok;

	if (flock(j->fd, LOCK_EX | LOCK_NB) != 0)
		return err_set(e, INCORE_FAILED, "journal-busy",
			"another program holds the journal %s", j->path);
	if (!file_load(&f, j->path, e))
		return false;
	ok = journal_read_lines(j, (struct str){(const char *)f.data, f.size}, each, ctx, e);
	if (ok && j->size_bytes < f.size && ftruncate(j->fd, (off_t)j->size_bytes) != 0)
		ok = err_output(e, errno, j->path,
			"cannot remove an incomplete line from the end of the journal");
	file_unload(&f);
	return ok;
}

bool journal_open(
	struct journal *j, const char *path, journal_fn each, void *ctx, struct incore_error *e)
{
	*j = (struct journal){.path = mem_strndup(path, strlen(path))};
	if (!j->path)
		return err_nomem(e);
	j->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (j->fd < 0) {
		err_output(e, errno, path, "cannot open the journal");
		j->fd = 0;
		journal_close(j);
		return false;
	}
	if (!journal_load(j, each, ctx, e)) {
		journal_close(j);
		return false;
	}
	journal_sync_directory_of(path);
	return true;
}

static bool journal_add_line(
	struct journal *j, struct str text, bool is_synced, struct incore_error *e)
{
	uint64_t hash = hash_bytes(text.p, text.n, j->chain);
	struct strbuf line = {0};
	bool ok;

	if (str_has(text, "\n"))
		return err_set(
			e, INCORE_FAILED, "bad-line", "an entry of a journal must be one line");
	sb_printf(&line, "%016llx %.*s\n", (unsigned long long)hash, STR_ARG(text));
	ok = (!line.failed || err_nomem(e)) && write_all(j->fd, line.p, line.n, e);
	if (ok && is_synced && fsync(j->fd) != 0)
		ok = err_output(e, errno, j->path, "cannot write the journal");
	if (ok) {
		j->chain = hash;
		j->n_lines++;
		j->size_bytes += line.n;
	} else if (ftruncate(j->fd, (off_t)j->size_bytes) != 0) {
		err_wrap(e, "an incomplete line remains in %s", j->path);
	}
	sb_free(&line);
	return ok;
}

bool journal_add(struct journal *j, struct str text, struct incore_error *e)
{
	return journal_add_line(j, text, true, e);
}

bool journal_note(struct journal *j, struct str text, struct incore_error *e)
{
	return journal_add_line(j, text, false, e);
}

void journal_close(struct journal *j)
{
	if (j->fd > 0)
		close(j->fd);
	mem_free(j->path);
	*j = (struct journal){0};
}
