/* SPDX-License-Identifier: Apache-2.0 */
/* profile_lists.c: the lists of a run folder, and reading them back. */

#include <stdlib.h>

#include "base/file.h"
#include "base/search.h"
#include "codec/csv.h"
#include "replay/build/profile.h"

static const char HEADER[] =
	"func,status,source_cpp,symbol,demangled,app,kernel_lib,case_dir,build_dir,collect_dir,export_dir,export_src,artifact_count,trace_json,visualize_data_bin,core_trace_count,instr_csv_count,duration_sec,message\n";

const char *profile_status_name(enum profile_status s)
{
	static const char *const NAMES[] = {
		"not_run", "started", "exported", "collect_failed", "failed"};

	return NAMES[s];
}

static bool write_list(
	const char *folder, const char *name, const struct strbuf *b, struct incore_error *e)
{
	char *path = path_join(folder, name);
	struct out_file o = {0};
	bool ok = path && !b->failed ? out_file_open(&o, path, e) : err_nomem(e);

	if (ok) {
		fwrite(b->p, 1, b->n, o.f);
		ok = out_file_commit(&o, e);
	}
	mem_free(path);
	return ok;
}

bool profile_write_kernel(const struct profile_row *k, struct incore_error *e)
{
	struct strbuf b = {0};
	bool ok;

	sb_printf(&b, "func=%s\nstatus=%s\nsource=%s\nsimulator=%s\ncycles=%llu\nbound_by=%s\n",
		k->kernel.name, profile_status_name(k->status), k->kernel.source, k->simulator,
		(unsigned long long)k->cycles, k->bound);
	sb_printf(&b, "degenerate=%s\nworkload=%s\nmessage=%s\n", k->is_degenerate ? "yes" : "no",
		k->workload, k->message);
	ok = write_list(k->folder, "profile.txt", &b, e);
	sb_free(&b);
	return ok;
}

static void put_field(struct strbuf *b, const char *text, bool is_last)
{
	csv_put(b, str_of(text ? text : ""));
	sb_putc(b, is_last ? '\n' : ',');
}

static void put_row(struct strbuf *b, const struct profile_row *k, const char *symbol)
{
	bool is_there = k->status == PROFILE_EXPORTED;
	char number[32];

	put_field(b, k->kernel.name, false);
	put_field(b, profile_status_name(k->status), false);
	put_field(b, k->kernel.source, false);
	put_field(b, is_there ? symbol : "", false);
	put_field(b, is_there ? symbol : "", false);
	put_field(b, "", false); /* app and library: only in the vendor's flow */
	put_field(b, "", false);
	put_field(b, k->folder, false);
	put_field(b, k->folder, false);
	put_field(b, "", false);
	put_field(b, k->simulator, false);
	put_field(b, k->simulator, false);
	snprintf(number, sizeof(number), "%u", is_there ? 2 + k->n_core_traces + k->n_csv : 0);
	put_field(b, number, false);
	sb_printf(b, "%s%s,%s%s,", is_there ? k->simulator : "", is_there ? "/trace.json" : "",
		is_there ? k->simulator : "", is_there ? "/visualize_data.bin" : "");
	sb_printf(b, "%u,%u,%.2f,", k->n_core_traces, k->n_csv, k->seconds);
	put_field(b, k->message, true);
}

static bool write_manifest(const struct profile_run *r, struct incore_error *e)
{
	struct strbuf b = {0};
	bool ok;

	sb_puts(&b, HEADER);
	for (size_t i = 0; i < r->rows.n; i++)
		if (r->rows.v[i].status != PROFILE_NOT_RUN)
			put_row(&b, &r->rows.v[i], r->symbol);
	ok = write_list(r->root, "manifest_export.csv", &b, e);
	sb_free(&b);
	return ok;
}

static bool write_summary(const struct profile_run *r, struct incore_error *e)
{
	struct strbuf b = {0};
	size_t failed = 0;
	bool ok;

	for (size_t i = 0; i < r->rows.n; i++)
		failed += r->rows.v[i].status == PROFILE_COLLECT_FAILED ||
			  r->rows.v[i].status == PROFILE_FAILED;
	sb_printf(&b, "run_root=%s\ntotal=%zu\nexported=%u\nfailed=%zu\n\nexports:\n", r->root,
		r->rows.n, r->n_exported, failed);
	EACH (const struct profile_row, k, r->rows.v, r->rows.n) {
		if (k->status != PROFILE_NOT_RUN)
			sb_printf(&b, "%s\t%s\t%s\t%s\n", k->kernel.name,
				profile_status_name(k->status), k->simulator ? k->simulator : "",
				k->message ? k->message : "");
	}
	sb_puts(&b, "\nworkloads:\n");
	EACH (const struct profile_row, k, r->rows.v, r->rows.n) {
		if (k->workload)
			sb_printf(&b, "%s\t%s\n", k->kernel.name, k->workload);
	}
	ok = write_list(r->root, "summary.txt", &b, e);
	sb_free(&b);
	return ok;
}

ORDER_AT(by_cost, struct profile_row, DOWN(cycles) A_TO_Z(kernel.name))

static bool write_overview(const struct profile_run *r, struct incore_error *e)
{
	VEC(const struct profile_row *) order = {0};
	struct strbuf b = {0};
	bool ok = true;

	for (size_t i = 0; ok && i < r->rows.n; i++)
		if (r->rows.v[i].status == PROFILE_EXPORTED)
			ok = VEC_PUSH(&order, &r->rows.v[i]) || err_nomem(e);
	if (ok && order.n)
		SORT(order.v, order.n, by_cost);
	sb_puts(&b, "cycles\tbound_by\tdegenerate\tfunc\tworkload\n");
	for (size_t i = 0; i < order.n; i++)
		sb_printf(&b, "%llu\t%s\t%s\t%s\t%s\n", (unsigned long long)order.v[i]->cycles,
			order.v[i]->bound ? order.v[i]->bound : "",
			order.v[i]->is_degenerate ? "yes" : "no", order.v[i]->kernel.name,
			order.v[i]->workload ? order.v[i]->workload : "");
	ok = ok && write_list(r->root, "overview.tsv", &b, e);
	VEC_FREE(&order);
	sb_free(&b);
	return ok;
}

bool profile_write_lists(const struct profile_run *r, struct incore_error *e)
{
	return write_manifest(r, e) && write_summary(r, e) && write_overview(r, e);
}

/* --- reading back --- */

static struct profile_row *row_named(struct profile_run *r, struct str name)
{
	for (size_t i = 0; i < r->rows.n; i++)
		if (str_is(name, r->rows.v[i].kernel.name))
			return &r->rows.v[i];
	return NULL;
}

/* Reads, from the kernel's own file, what the lists do not contain; false: the file is missing. */
static bool take_kernel(struct profile_run *r, struct profile_row *k)
{
	char *path = path_join(k->folder, "profile.txt");
	const char **texts[] = {&k->bound, &k->workload, &k->message};
	static const char *const KEYS[] = {"bound_by", "workload", "message"};
	struct file_data f = {0};
	struct str rest, line, key;
	unsigned n = 0;

	if (!path || !file_load(&f, path, NULL)) {
		mem_free(path);
		return false;
	}
	rest = (struct str){(const char *)f.data, f.size};
	while (str_cut(&rest, "\n", &line) && str_cut(&line, "=", &key)) {
		for (size_t i = 0; i < sizeof(KEYS) / sizeof(*KEYS); i++)
			if (str_is(key, KEYS[i]))
				n += (*texts[i] = arena_strndup(&r->arena, line.p, line.n)) != NULL;
		if (str_is(key, "cycles"))
			n += str_to_u64(line, &k->cycles);
		if (str_is(key, "degenerate"))
			k->is_degenerate = str_is(line, "yes");
	}
	file_unload(&f);
	mem_free(path);
	return n == 4;
}

static bool take_row(struct profile_run *r, const struct csv_reader *c, struct incore_error *e)
{
	struct profile_row *k = row_named(r, c->fields.v[0]);
	uint64_t n_core = 0, n_csv = 0;
	char seconds[32];

	if (!k || !str_is(c->fields.v[1], "exported") || !str_is(c->fields.v[2], k->kernel.source))
		return true;
	k->simulator = arena_strndup(&r->arena, c->fields.v[10].p, c->fields.v[10].n);
	k->folder = arena_strndup(&r->arena, c->fields.v[7].p, c->fields.v[7].n);
	if (!k->simulator || !k->folder)
		return err_nomem(e);
	if (!file_is_dir(k->simulator) || !take_kernel(r, k)) { /* it was removed: run again */
		*k = (struct profile_row){.kernel = k->kernel, .message = ""};
		return true;
	}
	snprintf(seconds, sizeof(seconds), "%.*s", STR_ARG(c->fields.v[17]));
	k->seconds = strtod(seconds, NULL);
	str_to_u64(c->fields.v[15], &n_core);
	str_to_u64(c->fields.v[16], &n_csv);
	k->n_core_traces = (uint32_t)n_core;
	k->n_csv = (uint32_t)n_csv;
	k->status = PROFILE_EXPORTED;
	r->n_exported++;
	return true;
}

bool profile_read_manifest(struct profile_run *r, struct incore_error *e)
{
	char *path = path_join(r->root, "manifest_export.csv");
	struct file_data f = {0};
	struct csv_reader c;
	bool ok, at_end = false;

	if (!path)
		return err_nomem(e);
	if (!file_exists(path)) { /* killed before the first list */
		mem_free(path);
		return true;
	}
	ok = file_load(&f, path, e);
	if (ok) {
		csv_init(&c, f.data, f.size, path);
		ok = csv_header(&c, e);
		if (ok && c.header.n != 19)
			ok = err_file(e, "bad-manifest", path, 0, "expected 19 columns, found %zu",
				c.header.n);
		while (ok && csv_row(&c, &at_end, e))
			ok = c.fields.n != 19 || take_row(r, &c, e);
		ok = ok && at_end;
		csv_deinit(&c);
	}
	file_unload(&f);
	mem_free(path);
	return ok;
}
