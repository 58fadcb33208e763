/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_view_query.c: any bytes as a request to the viewer: an answer or an error, never more. */
#include <stdint.h>
#include <stdlib.h>

#include "serve/view/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool load(const struct trace *t, track_idx i, unsigned want, struct track_data *d,
	struct incore_error *e)
{
	(void)want;
	(void)e;
	if (!track_data_reserve(d, 200))
		return false;
	for (uint32_t k = 0; k < 200; k++) {
		d->start_cyc[k] = i + k * 10;
		d->dur_cyc[k] = 4 + k % 13;
		d->stall_cyc[k] = k % 5;
		d->code[k] = k % 7 < t->n_code ? k % 7 : NO_CODE;
		d->inst_class[k] = (uint8_t)(k % CLASS_COUNT);
		d->tag[k] = (uint8_t)(k % 9);
	}
	d->n = 200;
	d->begin_cyc = 0;
	d->end_cyc = 2100;
	return true;
}

static struct trace *make(void)
{
	static const char *const texts[] = {"s_load_dword s0, s[2:3], 0x0", "s_waitcnt lgkmcnt(0)",
		"v_add_f32 v0, v1, v2", "global_load_dword v0, v1, s[0:1]", "s_waitcnt vmcnt(0)"};
	struct trace *t = trace_new();

	if (!t)
		abort();
	t->meta.gfx_major = 9;
	t->meta.vendor = VENDOR_AMD;
	t->n_code = 5;
	t->code = arena_zalloc(&t->arena, 5, sizeof(*t->code));
	t->n_tracks = 3;
	t->tracks = arena_zalloc(&t->arena, 3, sizeof(*t->tracks));
	if (!t->code || !t->tracks)
		abort();
	for (uint32_t i = 0; i < 5; i++) {
		t->code[i].text = texts[i];
		t->code[i].text_len = (uint32_t)strlen(texts[i]);
	}
	for (uint32_t i = 0; i < 3; i++)
		t->tracks[i].name = "w";
	t->loader.load = load;
	return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct trace *t;
	static struct columns c;
	static struct view v;
	static bool (*const answers[])(const struct view *, const struct query *, struct strbuf *,
		struct incore_error *) = {view_tile, view_slices, view_at, view_links, view_select,
		view_find, view_histogram, view_code, view_counters, view_source};
	struct incore_error e = {0};
	struct query q;

	if (!t) {
		struct columns_options o = {0};

		t = make();
		if (!columns_load(t, &o, &c, NULL))
			abort();
		v = (struct view){.trace = t, .columns = &c};
		if (!view_need(&v, NEED_BUCKET | NEED_CAUSE | NEED_CODE | NEED_WAITS, &v, NULL))
			abort();
	}
	if (query_parse(&q, (struct str){(const char *)data, size}, &e) &&
		view_need(&v, view_needs(&q), &v, &e)) {
		for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
			struct strbuf out = {0};

			answers[i](&v, &q, &out, &e);
			sb_free(&out);
			incore_error_clear(&e);
		}
	}
	incore_error_clear(&e);
	return 0;
}
