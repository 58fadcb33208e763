/* SPDX-License-Identifier: Apache-2.0 */
/* speedscope.c: cycles by cause over inline stacks, for speedscope.app. See
 * incore-speedscope(7). */
#include "base/map.h"
#include "codec/json_writer.h"
#include "export/profile/profile.h"

struct frames { /* by name and position, in order of first use */
	struct intern keys;
	struct strbuf key;
	struct json_writer *w;
};

/* Number of a frame; writes it on first use. path NULL: no source position. */
static uint32_t frame_index(struct frames *f, struct str name, const char *path, uint32_t line)
{
	uint32_t n = f->keys.n, at;

	sb_reset(&f->key);
	sb_str(&f->key, name);
	sb_printf(&f->key, "\n%s:%u", path ? path : "", line);
	at = f->key.failed ? INTERN_NONE : intern_add(&f->keys, (struct str){f->key.p, f->key.n});
	if (at != n)
		return at;
	json_w_row_object(f->w);
	json_w_kv_str(f->w, "name", name);
	if (path) {
		json_w_kv_cstr(f->w, "file", path);
		json_w_kv_u64(f->w, "line", line);
	}
	json_w_end(f->w);
	return at;
}

/* Makes the stack of a line, outermost first; false on lack of memory. */
static bool speedscope_stack_of(struct profile_sums *p, struct frames *f,
	const struct profile_line *l, uint32_t *stack, uint32_t *n)
{
	uint32_t n_frames, at = 0;
	const struct frame *v = profile_frames(p, l, &n_frames);

	stack[at++] = frame_index(f, str_of(profile_kernel(p)), NULL, 0);
	for (uint32_t i = n_frames; i--;) {
		const char *name = profile_frame_name(p, &v[i]);

		stack[at++] = name ? frame_index(f, str_of(name), profile_path(p, &v[i]), v[i].line)
				   : INTERN_NONE;
	}
	stack[at++] = frame_index(f, profile_instruction(p, l),
		n_frames ? profile_path(p, v) : NULL, n_frames ? v->line : 0);
	stack[at++] = frame_index(f, str_of(l->cause), NULL, 0);
	*n = at;
	for (uint32_t i = 0; i < at; i++)
		if (stack[i] == INTERN_NONE)
			return false;
	return true;
}

struct stacks {
	VEC(uint32_t) frames; /* of all stacks, one after the other */
	VEC(uint32_t) sizes;
};

static bool speedscope_put_frames(struct profile_sums *p, struct frames *f, struct stacks *s)
{
	for (size_t i = 0; i < p->lines.n; i++) {
		const struct profile_line *l = &p->lines.v[i];
		uint32_t n;

		(void)profile_frames(p, l, &n);
		if (!VEC_RESERVE(&s->frames, s->frames.n + n + 3) ||
			!speedscope_stack_of(p, f, l, s->frames.v + s->frames.n, &n) ||
			!VEC_PUSH(&s->sizes, n))
			return false;
		s->frames.n += n;
	}
	return true;
}

static void speedscope_put_profile(
	const struct profile_sums *p, const struct stacks *s, struct json_writer *w)
{
	const uint32_t *at = s->frames.v;

	json_w_object(w);
	json_w_kv_cstr(w, "type", "sampled");
	json_w_kv_cstr(w, "name", p->unit);
	json_w_kv_cstr(w, "unit", "none");
	json_w_kv_u64(w, "startValue", 0);
	json_w_kv_u64(w, "endValue", p->total);
	json_w_kv_array(w, "samples");
	for (size_t i = 0; i < p->lines.n; at += s->sizes.v[i++]) {
		if (!p->lines.v[i].cyc)
			continue;
		json_w_row(w);
		for (uint32_t k = 0; k < s->sizes.v[i]; k++)
			json_w_u64(w, at[k]);
		json_w_end(w);
	}
	json_w_end(w);
	json_w_kv_array(w, "weights");
	for (size_t i = 0; i < p->lines.n; i++)
		if (p->lines.v[i].cyc)
			json_w_u64(w, p->lines.v[i].cyc);
	json_w_end(w);
	json_w_end(w);
}

static bool speedscope_end(struct export *x, struct incore_error *e)
{
	struct profile_sums *p = x->state;
	struct json_writer w;
	struct frames f = {.w = &w};
	struct stacks s = {0};
	bool ok;

	intern_init(&f.keys);
	json_w_file(&w, x->file.f, 0);
	json_w_object(&w);
	json_w_kv_cstr(&w, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_w_kv_cstr(&w, "exporter", "incore " INCORE_VERSION);
	json_w_kv_cstr(&w, "name", profile_kernel(p));
	json_w_kv_u64(&w, "activeProfileIndex", 0);
	json_w_kv_object(&w, "shared");
	json_w_kv_array(&w, "frames");
	ok = speedscope_put_frames(p, &f, &s) || err_nomem(e);
	if (ok) {
		json_w_end(&w);
		json_w_end(&w);
		json_w_kv_array(&w, "profiles");
		speedscope_put_profile(p, &s, &w);
		json_w_end(&w);
		json_w_end(&w);
		ok = json_w_finish(&w, e);
	}
	intern_deinit(&f.keys);
	sb_free(&f.key);
	VEC_FREE(&s.frames);
	VEC_FREE(&s.sizes);
	return ok;
}

const struct export_ops export_speedscope = {
	.name = "speedscope",
	.suffix = ".speedscope.json",
	.media_type = "application/json",
	.summary = "cycles by cause over inline stacks (speedscope.app)",
	.holds = EXPORT_CYCLES | EXPORT_SAMPLES,
	.takes_weight = true,
	PROFILE_WRITER(speedscope),
};
