/* SPDX-License-Identifier: Apache-2.0 */
/* gate_report.c: writes results of gates to the files that CI asks for. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/map_guard.h"
#include "gate/gate.h"

#define FORMATS 3
static const char *const names[FORMATS] = {"junit", "sarif", "markdown"};

static const char *path_of(const struct gate_files *f, unsigned format)
{
	const char *const paths[FORMATS] = {f->junit, f->sarif, f->markdown};

	return paths[format];
}

bool gate_is_asked(const struct gate_files *f)
{
	return f->junit || f->sarif || f->markdown;
}

uint64_t gate_count(const struct gate_report *r, enum gate_state s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		n += r->v[i].state == s;
	return n;
}

void gate_put_title(const struct gate_report *r, struct strbuf *out)
{
	uint64_t failed = gate_count(r, GATE_FAILED), untold = gate_count(r, GATE_UNTOLD);

	sb_printf(out, "incore %s: ", r->verb);
	if (failed)
		sb_printf(out, "%llu of %s failed", (unsigned long long)failed,
			COUNTED(r->n, "gate"));
	else
		sb_printf(out, "%s passed", COUNTED(r->n - untold, "gate"));
	if (untold)
		sb_printf(out, ", %llu without a claim", (unsigned long long)untold);
}

/* Others write to this file, too: appends all of the text or nothing. */
static bool append(const char *path, struct str text, struct incore_error *e)
{
	bool is_new = !file_exists(path);
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
	struct stat st;
	bool ok;

	if (fd < 0 || fstat(fd, &st) != 0) {
		err_output(e, errno, path, "cannot open for writing");
		if (fd >= 0)
			close(fd);
		return false;
	}
	ok = write_all(fd, text.p, text.n, e);
	if (!ok) {
		e->status = INCORE_FAILED;
		if (S_ISREG(st.st_mode) &&
			(is_new && !st.st_size ? unlink(path) : ftruncate(fd, st.st_size)) != 0)
			err_wrap(e, "%s: a part of the text stays in it", path);
	}
	if (close(fd) != 0 && ok)
		ok = err_output(e, errno, path, "cannot write");
	return ok;
}

static bool write_one(
	const char *path, const struct gate_report *r, unsigned format, struct incore_error *e)
{
	struct strbuf b = {0};
	struct str text;
	bool ok;

	if (format == 0)
		gate_put_junit(r, &b);
	else if (format == 1)
		gate_put_sarif(r, &b);
	else
		gate_put_markdown(r, &b);
	text = (struct str){b.p, b.n};
	ok = b.failed	   ? err_nomem(e)
	     : format == 2 ? append(path, text, e)
			   : out_file_text(path, text, e);
	sb_free(&b);
	return ok || err_wrap(e, "cannot write the file of --%s", names[format]);
}

bool gate_may_write(const struct gate_files *f, size_t n, struct incore_error *e)
{
	for (unsigned i = 0; i < FORMATS; i++) {
		const char *path = path_of(f, i);

		if (path && !n)
			return err_set(e, INCORE_USAGE, "no-gate",
				"--%s: nothing is judged; give a --gate", names[i]);
		if (path && (!*path || strcmp(path, "-") == 0))
			return err_set(e, INCORE_USAGE, "bad-option-value",
				"--%s needs the name of a file: standard output is for the answer",
				names[i]);
	}
	return true;
}

bool gate_write(const struct gate_files *f, const struct gate_report *r, struct incore_error *e)
{
	if (!gate_may_write(f, r->n, e))
		return false;
	/* if an input changed while it was read, the result is invalid */
	if (!map_guard_check("", 0, e))
		return false;
	for (unsigned i = 0; i < FORMATS; i++)
		if (path_of(f, i) && !write_one(path_of(f, i), r, i, e))
			return false;
	return true;
}
