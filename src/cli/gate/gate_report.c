/* SPDX-License-Identifier: Apache-2.0 */
/* gate_report.c: writes results of gates to the files that CI asks for. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map_guard.h"
#include "cli/gate/gate.h"

static const char *const names[] = {"junit", "sarif", "markdown"};
#define NAMES (sizeof(names) / sizeof(*names))

bool gate_is_asked(const struct cli *c)
{
	for (unsigned i = 0; i < NAMES; i++)
		if (cli_text(c, names[i]))
			return true;
	return false;
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

static bool write_one(struct cli *c, const struct gate_report *r, unsigned i)
{
	const char *path = cli_text(c, names[i]);
	struct strbuf b = {0};
	struct str text;
	bool ok;

	if (!path)
		return true;
	if (i == 0)
		gate_put_junit(r, &b);
	else if (i == 1)
		gate_put_sarif(c, r, &b);
	else
		gate_put_markdown(r, &b);
	text = (struct str){b.p, b.n};
	ok = b.failed ? err_nomem(&c->error)
	     : i == 2 ? append(path, text, &c->error)
		      : out_file_text(path, text, &c->error);
	sb_free(&b);
	return ok || err_wrap(&c->error, "cannot write the file of --%s", names[i]);
}

bool gate_may_write(struct cli *c, size_t n)
{
	for (unsigned i = 0; i < NAMES; i++) {
		const char *path = cli_text(c, names[i]);

		if (path && !n)
			return err_set(&c->error, INCORE_USAGE, "no-gate",
				"--%s: nothing is judged; give a --gate", names[i]);
		if (path && (!*path || strcmp(path, "-") == 0))
			return err_set(&c->error, INCORE_USAGE, "bad-option-value",
				"--%s: a file is needed, the answer goes to standard output",
				names[i]);
	}
	return true;
}

bool gate_write(struct cli *c, const struct gate_report *r)
{
	if (!gate_may_write(c, r->n))
		return false;
	/* if an input changed while it was read, the result is invalid */
	if (!map_guard_check("", 0, &c->error))
		return false;
	for (unsigned i = 0; i < NAMES; i++)
		if (!write_one(c, r, i))
			return false;
	return true;
}
