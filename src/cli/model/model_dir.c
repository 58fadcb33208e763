/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_dir.c: the directory that `incore model run` and `time` write: the trace packed and in
 * all export formats, the op stream, the report. It appears whole or not at all.
 */
#include "cli/model/model_report.h"
#include "export/export.h"
#include "trace/packed.h"

#define PACK_LEVEL 3

static const struct {
	const char *format, *name;
} EXPORTS[] = {
	{"chrome", "trace.chrome.json"},
	{"json", "trace.json"},
	{"csv", "trace.csv"},
	{"insight", "simulator"},
};

static bool write_packed(struct cli *c, struct out_dir *d, const struct trace *t)
{
	struct packed_options o = {.pool = c->pool, .progress = c->progress, .level = PACK_LEVEL};
	FILE *f = out_dir_file(d, "trace.incore", &c->error);
	struct packed_result r;
	bool ok;

	if (!f)
		return false;
	ok = packed_write(t, f, &o, &r, &c->error);
	if (ok && r.n_failed)
		ok = err_nomem(&c->error); /* nothing else can fail for a trace in memory */
	return out_dir_done(d, f, "trace.incore", ok ? &c->error : NULL) && ok;
}

static bool write_stream(struct cli *c, struct out_dir *d, const struct opstream_set *set)
{
	FILE *f = out_dir_file(d, "ops.opstream", &c->error);
	bool ok;

	if (!f)
		return false;
	ok = opstream_write_binary(set, f, &c->error);
	return out_dir_done(d, f, "ops.opstream", ok ? &c->error : NULL) && ok;
}

static bool write_report(struct cli *c, struct out_dir *d, const struct model_report *r)
{
	FILE *f = out_dir_file(d, "report.txt", &c->error);
	struct model_report kept = *r;
	struct cli plain = *c;
	bool ok;

	if (!f)
		return false;
	plain.out = f;
	plain.use_color = plain.use_csv = plain.use_json = false;
	plain.width = 0;
	kept.is_file = true;
	ok = model_text_report(&plain, &kept);
	c->error = plain.error;
	return out_dir_done(d, f, "report.txt", ok ? &c->error : NULL) && ok;
}

static bool write_exports(struct cli *c, struct out_dir *d, const struct trace *t)
{
	for (size_t i = 0; i < sizeof(EXPORTS) / sizeof(EXPORTS[0]); i++) {
		const struct export_ops *ops = export_find(EXPORTS[i].format);
		struct export_options o = {
			.walk = {.pool = c->pool, .progress = c->progress}, .is_strict = true};
		char *path = path_join(d->tmp_path, EXPORTS[i].name);
		struct export_result r;
		bool ok;

		if (!path)
			return err_nomem(&c->error);
		ok = export_run(t, ops, path, &o, &r, &c->error);
		mem_free(path);
		if (!ok)
			return err_wrap(&c->error, "cannot write %s", EXPORTS[i].name);
		export_result_deinit(&r);
	}
	return true;
}

bool model_write_dir(
	struct cli *c, const char *path, const struct model_report *r, struct out_dir *d)
{
	struct trace *t = NULL;
	bool ok = timed_to_trace(r->set, r->timed, r->profile, &t, &c->error) &&
		  out_dir_open(d, path, 0666, &c->error) && write_packed(c, d, t) &&
		  write_stream(c, d, r->set) && write_report(c, d, r) && write_exports(c, d, t);

	trace_free(t);
	return ok;
}

struct rows model_dir_files(const char *path)
{
	static const struct text_item names[] = {{"trace.incore"}, {"ops.opstream"}, {"report.txt"},
		{"trace.chrome.json"}, {"trace.json"}, {"trace.csv"}, {"simulator"}};

	return (struct rows){names, path ? sizeof(names) / sizeof(names[0]) : 0};
}
