/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opprof_compare.c: a run stores the same data several times: dumps, the container, trace.json, a
 * file per core. The best source was read; the others are compared with it.
 */
#include "import/ascend/opprof.h"

bool opprof_compare_ticks(
	struct opprof *o, const struct import_options *opts, struct incore_error *e)
{
	struct trace *t = trace_new();
	struct asc_build other;
	struct file_data f;
	const char *time_source = o->time_source;
	bool ok;

	if (!t)
		return err_nomem(e);
	ok = asc_init(&other, t, opts, e);
	/* If it is unreadable, that was noted when the run was read. */
	if (ok && o->bin && opprof_load(o, o->bin, &f, NULL) &&
		!asc_read_bin(&other, &f, o->bin, true, e))
		ok = opprof_forgive(o, o->bin, e);
	if (ok && !other.n_slices && !opprof_read_run(o, &other, false, e))
		ok = opprof_forgive(o, o->trace ? o->trace : "trace.json", e);
	o->time_source = time_source;
	ok = ok && asc_compare(o->b, &other, e);
	asc_deinit(&other);
	trace_free(t);
	return ok;
}

/* --- copies of the same events --- */

struct copy {
	struct opprof *o;
	struct asc_build b;
	struct trace *t;
};

static bool open_copy(struct copy *c, struct opprof *o, const struct import_options *opts)
{
	*c = (struct copy){.o = o, .t = trace_new()};
	return c->t && asc_init(&c->b, c->t, opts, NULL);
}

static void close_copy(struct copy *c)
{
	if (!c->t)
		return;
	asc_deinit(&c->b);
	trace_free(c->t);
}

/* trace.json and the block TRACE usually are the same text; only if not, their events are
 * compared. */
static bool compare_trace_json(
	struct opprof *o, const struct import_options *opts, struct incore_error *e)
{
	struct copy c;
	struct file_data f;
	struct str bytes;
	bool ok;

	if (!opprof_load(o, o->trace, &f, e))
		return opprof_forgive(o, o->trace, e);
	bytes = (struct str){(const char *)f.data, f.size};
	if (str_eq(bytes, o->b->trace_text))
		return true;
	if (!open_copy(&c, o, opts)) {
		close_copy(&c);
		return err_nomem(e);
	}
	if (asc_read_events(&c.b, bytes, o->trace, 0, e))
		ok = asc_compare_copy(
			o->b, &c.b, &(struct asc_copy){o->trace, "trace-json-differs", true}, e);
	else
		ok = opprof_forgive(o, o->trace, e);
	close_copy(&c);
	return ok;
}

/* Only if every core has its file: an instruction's executions are those of all cores. */
static bool compare_per_core(
	struct opprof *o, const struct import_options *opts, struct incore_error *e)
{
	const char *time_source = o->time_source;
	struct copy c;
	bool ok;

	if (!open_copy(&c, o, opts)) {
		close_copy(&c);
		return err_nomem(e);
	}
	ok = opprof_read_per_core(o, &c.b, e) &&
	     asc_compare_copy(o->b, &c.b,
		     &(struct asc_copy){o->per_core.v[0].path, "core-json-differs", false}, e);
	o->time_source = time_source;
	close_copy(&c);
	return ok;
}

static size_t count_cores(const struct asc_build *b)
{
	struct u64_map seen = {0};
	size_t n = 0;

	for (size_t i = 0; i < b->lanes.n; i++) {
		struct ascend_unit u;
		uint64_t *k;

		if (!b->lanes.v[i].recs.n || !ascend_unit_of(b->lanes.v[i].pid, &u))
			continue;
		k = u64_map_at(&seen, (uint64_t)u.core << 8 | u.unit);
		n += k && !*k;
		if (k)
			*k = 1;
	}
	u64_map_deinit(&seen);
	return n;
}

bool opprof_compare_copies(
	struct opprof *o, const struct import_options *opts, struct incore_error *e)
{
	size_t n = count_cores(o->b);

	if (o->b->has_trace && o->trace && !compare_trace_json(o, opts, e))
		return false;
	return !o->per_core.n || (!o->b->has_trace && !o->trace) || n == 0 || o->per_core.n != n ||
	       compare_per_core(o, opts, e);
}
