/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iket.c: the JSON of CUTLASS' run-iket: launches of kernels with the ranges, markers and lifetimes of
 * their warps. A process of the timeline is a block on its SM, a thread a warp. Times are
 * nanoseconds with their own zero. Names and places are in tables, which may follow the data that
 * refers to them, so the document is read twice.
 */
#include "base/search.h"
#include "codec/json_reader.h"
#include "import/timeline/timeline.h"

static int iket_sniff(const struct probe *p)
{
	struct str head = {(const char *)p->head, p->head_size};
	bool has_places = str_has(head, "\"locationTable\"");

	if (has_places && str_has(head, "\"smId\"") && str_has(head, "\"warpId\""))
		return 75; /* the tables may be longer than the head */
	return (str_has(head, "\"launches\"") || str_has(head, "\"graphLaunches\"")) &&
			       (has_places || str_has(head, "\"warpLocs\"") ||
				       str_has(head, "\"warpLifetimes\"") ||
				       str_has(head, "\"gridId\""))
		       ? 75
		       : 0;
}

struct warp {
	int64_t sm, warp, cta[3];
};

struct iket_span { /* a range, a marker or a lifetime */
	struct str name;
	int64_t from_ns, to_ns;
	bool has_from, has_to;
};

struct iket_reading {
	struct json_reader r;
	struct timeline l;
	uint64_t n_launches, n_unnamed;
	const char *kernel; /* of the first launch */
	bool has_other_kernels, is_nomem;
	VEC(struct str) names;	 /* "stringTable" */
	VEC(struct warp) places; /* "locationTable" */
	VEC(struct warp) warps;	 /* of the span being read */
};

static struct warp read_warp(struct iket_reading *x)
{
	struct warp w = {0};
	struct str key;
	unsigned i = 0;

	for (json_enter_object(&x->r); json_next_key(&x->r, &key);) {
		if (str_is(key, "smId"))
			json_get_i64(&x->r, &w.sm);
		else if (str_is(key, "warpId"))
			json_get_i64(&x->r, &w.warp);
		else if (str_is(key, "ctaId"))
			for (json_enter_array(&x->r); json_next_item(&x->r); i++)
				i < 3 ? json_get_i64(&x->r, &w.cta[i]) : json_skip(&x->r);
		else
			json_skip(&x->r);
	}
	return w;
}

static void iket_add_warp(struct iket_reading *x, struct warp w)
{
	if (!x->r.is_failed && !VEC_PUSH(&x->warps, w))
		x->is_nomem = true;
}

static void iket_add_place(struct iket_reading *x)
{
	uint64_t i;

	if (json_get_u64(&x->r, &i) && i < x->places.n)
		iket_add_warp(x, x->places.v[i]);
}

static uint32_t iket_lane_of(struct iket_reading *x, const struct warp *w)
{
	char process[160], thread[40];
	int n = snprintf(process, sizeof(process), "launch %llu SM %lld CTA (%lld,%lld,%lld)",
		(unsigned long long)x->n_launches, (long long)w->sm, (long long)w->cta[0],
		(long long)w->cta[1], (long long)w->cta[2]);
	int m = snprintf(thread, sizeof(thread), "warp %lld", (long long)w->warp);
	uint32_t p = tl_process(&x->l, (struct str){process, (size_t)n});
	uint32_t lane = tl_lane(&x->l, p, (struct str){thread, (size_t)m});

	if (lane == TL_NONE)
		return lane;
	x->l.processes.v[p].sort =
		(int64_t)((x->n_launches << 32 | ((uint64_t)w->sm & UINT32_MAX)) >> 1);
	x->l.lanes.v[lane].sort = (int64_t)(w->warp & INT32_MAX);
	return lane;
}

static int compare_warps(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct warp));
}

static bool add_span(struct iket_reading *x, const struct iket_span *s, struct str category)
{
	struct timeline *l = &x->l;
	bool is_marker = str_is(category, "marker");
	struct tl_slice k = {s->from_ns, s->has_to && !is_marker ? s->to_ns : s->from_ns, 0,
		is_marker ? TL_INSTANT : TL_SLICE};

	if (!s->has_from || (!s->has_to && !is_marker)) {
		l->counts[TL_BAD_TIME]++;
		return true;
	}
	l->counts[TL_NO_LANE] += x->warps.n == 0;
	k.code = tl_row(l, s->name, category);
	/* a range names where it began and ended: usually one warp */
	SORT(x->warps.v, x->warps.n, compare_warps);
	for (size_t i = 0; i < x->warps.n; i++) {
		const struct warp *w = &x->warps.v[i];

		if (i && compare_warps(w, w - 1) == 0)
			continue;
		if (!tl_add_slice(l, iket_lane_of(x, w), k))
			return false;
	}
	return true;
}

/* Reads the index of a name; if the table lacks it, the number itself is the name. */
static struct str iket_read_name(struct iket_reading *x)
{
	char text[40];
	const char *name;
	uint64_t i = 0;
	int n;

	if (json_get_u64(&x->r, &i) && i < x->names.n)
		return x->names.v[i];
	x->n_unnamed++;
	n = snprintf(text, sizeof(text), "name %llu", (unsigned long long)i);
	name = tl_text(&x->l, (struct str){text, (size_t)n});
	x->is_nomem |= !name;
	return str_of(name ? name : "");
}

static struct str iket_read_text(struct iket_reading *x)
{
	struct str text = {"", 0};
	const char *name;

	if (!json_get_str(&x->r, &text))
		return text;
	name = tl_text(&x->l, text);
	x->is_nomem |= !name;
	return (struct str){name ? name : "", name ? text.n : 0};
}

/* Reads the begin and the end of a range, and the data recorded with them. */
static void read_inner(struct iket_reading *x)
{
	struct str key;

	for (json_enter_array(&x->r); json_next_item(&x->r);)
		for (json_enter_object(&x->r); json_next_key(&x->r, &key);) {
			x->l.counts[TL_ARGS] += str_is(key, "payloadVal");
			json_skip(&x->r);
		}
}

static void read_span(struct iket_reading *x, struct str category)
{
	struct iket_span s = {.name = STR("WarpLifeTime")};
	struct str key;

	x->warps.n = 0;
	for (json_enter_object(&x->r); json_next_key(&x->r, &key);) {
		if (str_is(key, "rangeNameIdx") || str_is(key, "markerNameIdx")) {
			s.name = iket_read_name(x);
		} else if (str_is(key, "rangeName") || str_is(key, "markerName")) {
			s.name = iket_read_text(x);
		} else if (str_is(key, "startTs") || str_is(key, "timestamp")) {
			s.has_from = json_get_i64(&x->r, &s.from_ns);
		} else if (str_is(key, "endTs")) {
			s.has_to = json_get_i64(&x->r, &s.to_ns);
		} else if (str_is(key, "warpLocIdxs")) {
			for (json_enter_array(&x->r); json_next_item(&x->r);)
				iket_add_place(x);
		} else if (str_is(key, "locIdx")) {
			iket_add_place(x);
		} else if (str_is(key, "warpLocs")) {
			for (json_enter_array(&x->r); json_next_item(&x->r);)
				iket_add_warp(x, read_warp(x));
		} else if (str_is(key, "location") || str_is(key, "warpLocation")) {
			iket_add_warp(x, read_warp(x));
		} else if (str_is(key, "internalEvents")) {
			read_inner(x);
		} else {
			x->l.counts[TL_ARGS] += str_is(key, "payloadVal");
			json_skip(&x->r);
		}
	}
	if (!x->r.is_failed && !x->is_nomem && !add_span(x, &s, category))
		x->is_nomem = true;
}

static void read_spans(struct iket_reading *x, struct str category)
{
	for (json_enter_array(&x->r); !x->is_nomem && json_next_item(&x->r);)
		read_span(x, category);
}

static void iket_read_kernel(struct iket_reading *x)
{
	struct str name;

	if (!json_get_str(&x->r, &name))
		return;
	if (!x->n_launches && !(x->kernel = tl_text(&x->l, name)))
		x->is_nomem = true;
	x->has_other_kernels |= x->n_launches && x->kernel && !str_is(name, x->kernel);
}

static void iket_read_launch(struct iket_reading *x)
{
	struct str key;

	for (json_enter_object(&x->r); !x->is_nomem && json_next_key(&x->r, &key);) {
		if (str_is(key, "kernelName"))
			iket_read_kernel(x);
		else if (str_is(key, "ranges"))
			read_spans(x, STR("range"));
		else if (str_is(key, "markers"))
			read_spans(x, STR("marker"));
		else if (str_is(key, "warpLifetimes"))
			read_spans(x, STR("lifetime"));
		else
			json_skip(&x->r);
	}
	x->n_launches++;
}

static void read_launches(struct iket_reading *x)
{
	for (json_enter_array(&x->r); !x->is_nomem && json_next_item(&x->r);)
		iket_read_launch(x);
}

/* Reads the launches of CUDA graphs, which are in an object, by graph. */
static void read_graphs(struct iket_reading *x)
{
	struct str key;

	for (json_enter_object(&x->r); !x->is_nomem && json_next_key(&x->r, &key);)
		read_launches(x);
}

static bool iket_read_document(struct iket_reading *x, struct incore_error *e)
{
	struct str key;
	bool has_launches = false;

	for (json_enter_object(&x->r); !x->is_nomem && json_next_key(&x->r, &key);) {
		bool is_graphs = str_is(key, "graphLaunches");

		if (!is_graphs && !str_is(key, "launches")) {
			json_skip(&x->r);
			continue;
		}
		has_launches = true;
		is_graphs ? read_graphs(x) : read_launches(x);
	}
	if (x->is_nomem)
		return err_nomem(e);
	if (!json_finish(&x->r, e))
		return false;
	return has_launches || err_file(e, "bad-trace", x->l.path, 0,
				       "no launches: expected an array \"launches\"");
}

static bool iket_read_tables(struct iket_reading *x, struct incore_error *e)
{
	struct str key;

	for (json_enter_object(&x->r); !x->is_nomem && json_next_key(&x->r, &key);) {
		if (str_is(key, "stringTable"))
			for (json_enter_array(&x->r); json_next_item(&x->r);)
				x->is_nomem |= !VEC_PUSH(&x->names, iket_read_text(x));
		else if (str_is(key, "locationTable"))
			for (json_enter_array(&x->r); json_next_item(&x->r);)
				x->is_nomem |= !VEC_PUSH(&x->places, read_warp(x));
		else
			json_skip(&x->r);
	}
	return x->is_nomem ? err_nomem(e) : json_finish(&x->r, e);
}

static bool iket_read_file(
	struct iket_reading *x, const struct file_data *f, struct incore_error *e)
{
	bool ok;

	json_init(&x->r, f->data, f->size, x->l.path, 0);
	ok = iket_read_tables(x, e);
	json_deinit(&x->r);
	if (!ok)
		return false;
	json_init(&x->r, f->data, f->size, x->l.path, 0);
	ok = iket_read_document(x, e);
	json_deinit(&x->r);
	return ok;
}

/* The number of the launch is left out if there is only one. */
static void name_processes(struct iket_reading *x)
{
	EACH (struct tl_process, p, x->l.processes.v, x->l.processes.n)
		if (x->n_launches == 1)
			p->name = p->key + strlen("launch 0 ");
}

static bool note_unnamed(struct iket_reading *x)
{
	return !x->n_unnamed ||
	       trace_note(x->l.trace, "unnamed-event", x->l.path, INCORE_NO_OFFSET, x->n_unnamed,
		       "events whose number has no name in \"stringTable\" are shown by it");
}

static bool iket_read(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	struct file_data f = {0};
	struct iket_reading x = {0};
	bool ok;

	tl_init(&x.l, t, path);
	t->meta.vendor = VENDOR_NVIDIA;
	ok = import_load_plain(o, &f, path, e) && iket_read_file(&x, &f, e);
	if (ok) {
		name_processes(&x);
		t->meta.kernel = x.has_other_kernels ? NULL : x.kernel;
		ok = tl_finish(&x.l, e) && (note_unnamed(&x) || err_nomem(e));
	}
	VEC_FREE(&x.names);
	VEC_FREE(&x.places);
	VEC_FREE(&x.warps);
	tl_deinit(&x.l);
	file_unload(&f);
	return ok;
}

static const struct signature iket_signs[] = {
	{.says = "\"locationTable\""},
	{.says = "\"launches\""},
	{.says = "\"graphLaunches\""},
	{0},
};

const struct import_ops import_iket = {
	.name = "iket",
	.summary = "JSON of CUTLASS' run-iket: ranges, markers and lifetimes of warps",
	.looks_for = "a JSON file of run-iket (\"launches\" with ranges and markers)",
	.reads_packed = true,
	.signs = iket_signs,
	.sniff = iket_sniff,
	.look = tl_look,
	.read = iket_read,
	.lost = import_lost_noted,
};
