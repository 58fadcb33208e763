/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clean_job.c: processes one run, from its file to the files of the output directory. Parts: a copy
 * of the folder; the job.
 */
#include "export/clean/clean_job.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dated.h"
#include "base/file_store.h"
#include "base/map_guard.h"
#include "base/mem.h"

/* --- a copy of the folder --------------------------------------------------------------------- */

/*
 * Copies a folder, and removes a folder of ours again.
 */

#define COPY_BYTES (1u << 20)
#define COPY_DEPTH 16

struct clean_copy {
	const char *from, *to;
	struct stat but; /* the output folder, which is skipped */
	unsigned depth;
};

static bool clean_copy_file(const char *from, const char *to, struct incore_error *e)
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

static bool copy_below(const struct clean_copy *c, struct incore_error *e);

static bool copy_entry(void *ctx, const char *name, struct incore_error *e)
{
	const struct clean_copy *c = ctx;
	char *from = path_join(c->from, name), *to = path_join(c->to, name);
	struct stat st;
	bool ok = true;

	if (!from || !to)
		ok = err_nomem(e);
	else if (lstat(from, &st) != 0 ||
		 (st.st_dev == c->but.st_dev && st.st_ino == c->but.st_ino))
		ok = true;
	else if (S_ISREG(st.st_mode))
		ok = clean_copy_file(from, to, e);
	else if (S_ISDIR(st.st_mode) && c->depth < COPY_DEPTH)
		ok = copy_below(&(struct clean_copy){from, to, c->but, c->depth + 1}, e);
	mem_free(from);
	mem_free(to);
	return ok;
}

static bool copy_below(const struct clean_copy *c, struct incore_error *e)
{
	if (mkdir(c->to, 0750) != 0)
		return err_output(e, errno, c->to, "cannot create directory");
	return dir_each(c->from, copy_entry, (void *)c, e);
}

/* Copies the files below `from` to a new directory `to`; skips links and the folder `but`. */
static bool clean_copy_tree(
	const char *from, const char *to, const char *but, struct incore_error *e)
{
	struct clean_copy c = {.from = from, .to = to};

	if (lstat(but, &c.but) != 0)
		c.but = (struct stat){0};
	return copy_below(&c, e);
}

/* --- the job ---------------------------------------------------------------------------------- */

/*
 * Reads one run, writes its files under temporary names, and moves them into place at once.
 */

static bool clean_job_remark(struct clean_job *j, bool is_loss, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
static bool clean_job_remark(struct clean_job *j, bool is_loss, const char *fmt, ...)
{
	struct strbuf b = {0};
	struct note r = {.kind = is_loss ? NOTE_LOST : NOTE_INFO,
		.code = "clean",
		.path = j->run->path,
		.offset = INCORE_NO_OFFSET,
		.count = 1};
	va_list ap;

	va_start(ap, fmt);
	sb_vprintf(&b, fmt, ap);
	va_end(ap);
	r.weight = note_kind_weight(r.kind);
	r.message = b.failed ? NULL : arena_strdup(&j->arena, b.p);
	sb_free(&b);
	return r.message && VEC_PUSH(&j->remarks, r);
}

/* --- reading --- */

static bool list_blocks(const struct clean_job *j, const char *what, struct incore_error *e)
{
	struct strbuf b = {0};

	for (size_t i = 0; i < j->blocks.v.n && i < 16; i++)
		sb_printf(&b, "%s%s (0x%02x)", i ? ", " : "",
			insight_type_name(j->blocks.v.v[i].type), j->blocks.v.v[i].type);
	err_file(e, "no-trace", j->run->path, INCORE_NO_OFFSET, "no %s block; it holds %s", what,
		b.n ? b.p : "nothing");
	sb_free(&b);
	return false;
}

static bool look_at_block(
	struct clean_job *j, const struct insight_block *k, bool *has_trace, struct incore_error *e)
{
	*has_trace |= k->type == INSIGHT_TRACE;
	if (k->type == INSIGHT_API_INSTR && !j->api.n) {
		j->api = k->payload;
		j->api_offset = k->offset + INSIGHT_HEADER_BYTES;
	}
	return !k->is_legacy ||
	       clean_job_remark(j, false,
		       "%s: legacy SOURCE layout at offset %llu: its size counts the path",
		       j->run->path, (unsigned long long)k->offset) ||
	       err_nomem(e);
}

/* Reads only what is copied with the trace; the trace itself is read by the importer. */
static bool look_into_bin(struct clean_job *j, struct incore_error *e)
{
	bool has_trace = false;

	if (!insight_blocks_read(&j->blocks, j->data.data, j->data.size, j->run->path, e))
		return false;
	if (j->blocks.rest_bytes &&
		!clean_job_remark(j, true, "%s: %llu bytes at offset %llu are no block: %s",
			j->run->path, (unsigned long long)j->blocks.rest_bytes,
			(unsigned long long)j->blocks.rest_offset, j->blocks.rest_why))
		return err_nomem(e);
	for (size_t i = 0; i < j->blocks.v.n; i++)
		if (!look_at_block(j, &j->blocks.v.v[i], &has_trace, e))
			return false;
	return has_trace || list_blocks(j, "TRACE", e);
}

bool clean_job_open(struct clean_job *j, struct incore_error *e)
{
	arena_init(&j->arena);
	clean_init(&j->clean, &j->options);
	if (j->run->is_other)
		return true;
	if (!(j->run->root ? file_store_load_below(NULL, FILE_TAKE, &j->data, j->run->root,
				     j->follow_links, j->run->path, e)
			   : file_load(&j->data, j->run->path, e)))
		return false;
	j->input_bytes = j->data.size;
	j->is_bin = j->run->is_bin || insight_is_head(j->data.data, j->data.size);
	return !j->is_bin || look_into_bin(j, e);
}

/* Chooses the format by name, not by content: detection would report other errors. */
const char *clean_job_format(const struct clean_job *j)
{
	return j->is_bin ? "insight_bin" : "ascend_trace";
}

/* --- remarks --- */

static bool count_remark(struct clean_job *j, uint64_t n, bool is_loss, const char *what)
{
	return n == 0 || clean_job_remark(j, is_loss, "%s: %llu %s", j->run->path,
				 (unsigned long long)n, what);
}

/* Texts of this verb for notes of the importer; losses count as errors with --strict. */
static const struct {
	const char *code;
	bool is_loss;
	const char *what;
} losses[] = {
	{"no-timestamp", true, "events without ts were dropped"},
	{"bad-timestamp", true,
		"events whose time is negative, no number or too large were dropped"},
	{"bad-duration", true, "slices have a length that is negative or no number: taken as 0"},
	{"no-lane", true, "events without pid or tid were dropped"},
	{"not-an-event", true, "items of traceEvents are no event"},
	{"unknown-phase", true, "events of an unknown phase were dropped"},
	{"unpaired", true, "flags have a begin or an end only"},
	{"backwards", true, "flags end before they begin: taken as empty"},
	{"cleaned-input", false, "the trace was cleaned before; its rows are made anew"},
	{"bare-array", false, "the trace is a bare array, not an object"},
	{"quantised", false, "time is quantised to 1 ns: +-1 cycle"},
};

static bool clean_job_add_losses(struct clean_job *j, const struct trace *t, struct incore_error *e)
{
	EACH (const struct note, n, t->notes, t->n_notes) {
		if (strcmp(n->code, "cut-trace") == 0)
			return err_file(e, "truncated", j->run->path, n->offset,
				"the events end in the middle");
		for (size_t k = 0; k < sizeof(losses) / sizeof(*losses); k++)
			if (strcmp(n->code, losses[k].code) == 0 &&
				!(losses[k].is_loss
						? count_remark(j, n->count, true, losses[k].what)
						: clean_job_remark(j, false, "%s: %s", j->run->path,
							  losses[k].what)))
				return err_nomem(e);
	}
	return true;
}

bool clean_job_take(struct clean_job *j, const struct trace *t, struct incore_error *e)
{
	j->evidence = evidence_name(t->meta.evidence);
	if (!clean_read_trace(&j->clean, t, &j->data, e))
		return false;
	return !j->clean.is_text || clean_job_add_losses(j, t, e);
}

static bool add_remarks(struct clean_job *j, struct incore_error *e)
{
	const struct clean *c = &j->clean;
	bool ok =
		count_remark(j, c->n_heads_left, false,
			"head costs name no instruction; they stand alone") &&
		count_remark(j, c->n_hidden_arrows, false,
			"flags are not drawn: a side is on a lane left out (--keep-scalar, --keep-all)") &&
		count_remark(j, c->n_no_anchor, false,
			"flags are not drawn: no instruction stands beside them") &&
		count_remark(j, c->n_moved_samples, false,
			"counter samples at time 0 stand at 1 ns: viewers drop time 0");

	if (ok && (c->n_unmatched_sets || c->n_unmatched_waits))
		ok = clean_job_remark(j, false, "%s: %llu SET and %llu WAIT have no partner: %s",
			j->run->path, (unsigned long long)c->n_unmatched_sets,
			(unsigned long long)c->n_unmatched_waits,
			c->unmatched.n ? c->unmatched.p : "");
	if (ok && !j->api.n && c->is_text)
		ok = clean_job_remark(
			j, false, "%s: no API_INSTR block: no instr_metrics.json", j->run->path);
	return ok || err_nomem(e);
}

/* --- writing --- */

static char *clean_job_path_of(struct clean_job *j, const char *name)
{
	const char *p = j->prefix;
	char *base = p ? arena_printf(&j->arena, "%s.%s", p, name) : arena_strdup(&j->arena, name);

	return base ? path_join(j->dir, base) : NULL;
}

static FILE *clean_job_open_file(
	struct clean_job *j, enum clean_file which, const char *name, struct incore_error *e)
{
	j->paths[which] = clean_job_path_of(j, name);
	if (!j->paths[which])
		return err_nomem_null(e);
	return out_file_open(&j->out[which], j->paths[which], e) ? j->out[which].f : NULL;
}

static bool clean_job_write_trace(
	struct clean_job *j, const struct clean_about *a, struct incore_error *e)
{
	const char *name = "trace.clean.json", *prefix = j->prefix;
	FILE *f;

	if (!j->options.is_legacy) {
		name = arena_printf(&j->arena, "%s.clean.json", prefix ? prefix : a->kernel);
		if (!name)
			return err_nomem(e);
		j->prefix = NULL; /* it is part of the name */
	}
	f = clean_job_open_file(j, CLEAN_TRACE, name, e);
	j->prefix = prefix;
	return f && clean_write_trace(&j->clean, a, f, e);
}

static bool write_metrics(struct clean_job *j, struct incore_error *e)
{
	FILE *f;

	if (!j->api.n)
		return true;
	f = clean_job_open_file(j, CLEAN_METRICS, "instr_metrics.json", e);
	if (!f)
		return false;
	if (j->is_raw_metrics) {
		fwrite(j->api.p, 1, j->api.n, f);
		return !ferror(f) || err_write(e);
	}
	if (!clean_write_metrics(j->api, j->run->path, j->api_offset, f, &j->metrics, e))
		return err_wrap(e, "API_INSTR block");
	if (!j->metrics.n_short_lists)
		return true;
	return clean_job_remark(j, false,
		       "%s: %llu lists of API_INSTR are not as long as the list of cores: cells stay missing",
		       j->run->path, (unsigned long long)j->metrics.n_short_lists) ||
	       err_nomem(e);
}

static bool clean_job_write_summary(
	struct clean_job *j, const struct clean_about *a, struct incore_error *e)
{
	FILE *f;

	if (j->options.is_legacy)
		return true;
	f = clean_job_open_file(j, CLEAN_SUMMARY, "summary.txt", e);
	return f && clean_write_summary(&j->clean, a, f, e);
}

/* Copies the run's folder unchanged to a temporary folder beside its final place. */
static bool copy_raw(struct clean_job *j, struct incore_error *e)
{
	struct str dir = str_of(j->run->path);
	ptrdiff_t slash = str_rfind_char(dir, '/');
	char *from = slash > 0 ? arena_strndup(&j->arena, dir.p, (size_t)slash)
			       : arena_strdup(&j->arena, slash == 0 ? "/" : ".");
	struct stat a, b;
	char *tmp;
	bool ok;

	if (!j->is_copy_raw)
		return true;
	if (!from)
		return err_nomem(e);
	if (stat(from, &a) == 0 && stat(j->dir, &b) == 0 && a.st_dev == b.st_dev &&
		a.st_ino == b.st_ino)
		return true; /* already there */
	j->raw_path = clean_job_path_of(j, "raw_simulator");
	tmp = j->raw_path ? arena_printf(&j->arena, "%s.%ld.tmp", j->raw_path, (long)getpid())
			  : NULL;
	if (!tmp)
		return err_nomem(e);
	if (lstat(j->raw_path, &a) == 0) {
		mem_free(j->raw_path);
		j->raw_path = NULL;
		return err_set(e, INCORE_USAGE, "exists",
			"%s already has a raw_simulator: remove it, or name another folder with -o",
			j->dir);
	}
	leftover_add(tmp, false);
	ok = clean_copy_tree(from, tmp, j->dir, e) &&
	     (rename(tmp, j->raw_path) == 0 || err_output(e, errno, j->raw_path, "cannot create"));
	if (!ok) {
		remove_tree(tmp);
		mem_free(j->raw_path);
		j->raw_path = NULL;
	}
	leftover_drop(tmp);
	return ok;
}

static bool clean_job_write_pipes(struct clean_job *j, struct incore_error *e)
{
	FILE *f;

	if (!j->is_bundle)
		return true;
	f = clean_job_open_file(j, CLEAN_PIPES, "pipes.tsv", e);
	return f && clean_write_pipes(&j->clean, f, e);
}

bool clean_job_bundle(struct clean_job *j, const char *made_by, struct incore_error *e)
{
	const char *stem;

	if (!clean_origin_read(&j->arena, j->run, &j->origin, e))
		return false;
	made_by = made_by ? made_by : j->origin.made_by ? j->origin.made_by : "simulator";
	stem = arena_printf(&j->arena, "%s/incore_%s_%s", j->dir, j->run->kernel, made_by);
	if (!stem)
		return err_nomem(e);
	j->dir = dated_dir(&j->arena, stem, 0755, e);
	if (!j->dir)
		return false;
	leftover_add(j->dir, true);
	j->prefix = NULL;
	j->is_copy_raw = !j->run->is_other;
	j->is_bundle = true;
	return true;
}

bool clean_job_write(struct clean_job *j, struct incore_error *e)
{
	struct clean_about a = {.kernel = j->run->kernel,
		.source = j->origin.source,
		.workload = j->origin.workload,
		.input = j->run->path,
		.evidence = j->evidence,
		.input_bytes = j->input_bytes};

	if (j->clean.ticks_per_unit != 1)
		a.clock = "cycles; 1 cycle is shown as 1 ns";
	return clean_layout(&j->clean, e) && clean_link(&j->clean, e) && add_remarks(j, e) &&
	       clean_job_write_trace(j, &a, e) && write_metrics(j, e) &&
	       clean_job_write_summary(j, &a, e) && clean_job_write_pipes(j, e);
}

bool clean_job_commit(struct clean_job *j, struct incore_error *e)
{
	bool ok = map_guard_check_map(j->data.map, e) && copy_raw(j, e);
	unsigned done = 0;

	for (; ok && done < CLEAN_FILES; done++)
		if (j->paths[done])
			ok = out_file_commit(&j->out[done], e);
	if (ok)
		return true;
	for (unsigned i = 0; i + 1 < done; i++)
		if (j->paths[i])
			unlink(j->paths[i]);
	if (j->raw_path)
		remove_tree(j->raw_path);
	return false;
}

void clean_job_deinit(struct clean_job *j)
{
	for (unsigned i = 0; i < CLEAN_FILES; i++) {
		out_file_abort(&j->out[i]);
		mem_free(j->paths[i]);
	}
	if (j->is_bundle) {
		rmdir(j->dir); /* fails unless nothing was written */
		leftover_drop(j->dir);
	}
	mem_free(j->raw_path);
	clean_deinit(&j->clean);
	insight_blocks_deinit(&j->blocks);
	VEC_FREE(&j->remarks);
	file_unload(&j->data);
	arena_deinit(&j->arena);
}
