/* SPDX-License-Identifier: Apache-2.0 */
/* manifest.c: the waves listed in a directory, and the machine (filenames.json). */
#include "import/ui_output/ui_output.h"

#include <stdlib.h>

#include "base/search.h"

#define N_LEVELS 4

/* Reports out of memory through the reader's sticky error. */
static void fail_nomem(struct json_reader *r, struct ui_manifest *m)
{
	m->is_nomem = true;
	json_reject(r, "no-memory", "out of memory");
}

static bool is_plain_name(struct str s)
{
	return s.n > 0 && s.n < 256 && !memchr(s.p, '/', s.n) && !str_has(s, "..") &&
	       !memchr(s.p, '\0', s.n);
}

static const char *copy_text(struct json_reader *r, struct ui_manifest *m, struct str s)
{
	char *p = arena_strndup(m->arena, s.p ? s.p : "", s.n);

	if (!p)
		fail_nomem(r, m);
	return p;
}

/* ["se0_sm0_sl0_wv0.json", begin, end] */
static void read_wave(struct json_reader *r, struct ui_manifest *m, const uint32_t *coord)
{
	struct ui_wave_ref w = {
		.se = coord[0], .simd = coord[1], .slot = coord[2], .wave = coord[3]};
	struct str name;
	uint32_t n_before = m->names.n;

	json_peek(r);
	w.offset = json_offset(r);
	if (!json_enter_array(r) || !json_next_item(r) || !json_get_str(r, &name)) {
		json_reject(r, "bad-value", "expected a wave's [file name, begin, end]");
		return;
	}
	if (!is_plain_name(name)) {
		json_reject(
			r, "bad-path", "a wave file name must not be empty or hold '/' or '..'");
		return;
	}
	if (intern_add(&m->names, name) == INTERN_NONE) {
		fail_nomem(r, m);
		return;
	}
	if (m->names.n == n_before) {
		json_reject(
			r, "duplicate-key", "wave file \"%.*s\" is listed twice", STR_ARG(name));
		return;
	}
	w.name = copy_text(r, m, name);
	if (!json_next_item(r) || !ui_get_time(r, &w.begin_cyc) || !json_next_item(r) ||
		!ui_get_time(r, &w.end_cyc)) {
		json_reject(r, "bad-value", "expected begin and end after the wave file's name");
		return;
	}
	if (w.end_cyc < w.begin_cyc) {
		json_reject(r, "bad-value", "wave ends (%llu) before it begins (%llu)",
			(unsigned long long)w.end_cyc, (unsigned long long)w.begin_cyc);
		return;
	}
	while (json_next_item(r))
		json_skip(r);
	if (!r->is_failed && !VEC_PUSH(&m->waves, w))
		fail_nomem(r, m);
}

/* SE -> SIMD -> slot -> wave; any level may be null. */
static void read_level(
	struct json_reader *r, struct ui_manifest *m, uint32_t coord[N_LEVELS], unsigned level)
{
	static const uint64_t max[N_LEVELS] = {
		UI_MAX_SE - 1, UI_MAX_SMALL, UI_MAX_SMALL, UINT32_MAX - 1};
	struct str key;

	if (!json_enter_object_or_null(r))
		return;
	while (level < N_LEVELS && json_next_key(r, &key)) {
		if (!ui_key_number(r, key, max[level], &coord[level]))
			return;
		if (level + 1 < N_LEVELS)
			read_level(r, m, coord, level + 1);
		else
			read_wave(r, m, coord);
	}
}

static void read_counter_names(struct json_reader *r, struct ui_manifest *m)
{
	struct str s;

	if (!json_enter_array_or_null(r))
		return;
	while (json_next_item(r) && json_get_str(r, &s))
		if (!VEC_PUSH(&m->counter_names, copy_text(r, m, s)))
			fail_nomem(r, m);
}

static void read_key(struct json_reader *r, struct ui_manifest *m, struct str key, uint64_t *seen)
{
	uint32_t coord[N_LEVELS] = {0};
	struct str s;

	if (str_is(key, "wave_filenames")) {
		if (json_once(r, seen, 0, key))
			read_level(r, m, coord, 0);
	} else if (str_is(key, "gfxip")) {
		uint32_t gfxip;

		if (json_once(r, seen, 1, key) && json_get_u32(r, &gfxip))
			m->gfxip = gfxip;
	} else if (str_is(key, "version")) {
		if (json_once(r, seen, 2, key) && json_get_str_or_null(r, &s) && s.p)
			m->version = copy_text(r, m, s);
	} else if (str_is(key, "counter_names")) {
		if (json_once(r, seen, 3, key))
			read_counter_names(r, m);
	} else if (str_is(key, "pc_sampling")) {
		if (json_once(r, seen, 4, key))
			json_get_bool(r, &m->has_pc_sampling);
	} else if (str_is(key, "synthetic")) {
		if (json_once(r, seen, 5, key))
			json_get_bool(r, &m->is_synthetic);
	} else {
		json_skip(r);
	}
}

ORDER(compare_waves, struct ui_wave_ref, UP(se) UP(simd) UP(slot) UP(wave) A_TO_Z(name))

static bool check_unique(const struct ui_manifest *m, const char *path, struct incore_error *e)
{
	for (size_t i = 1; i < m->waves.n; i++) {
		const struct ui_wave_ref *a = &m->waves.v[i - 1], *b = &m->waves.v[i];

		if (a->se == b->se && a->simd == b->simd && a->slot == b->slot &&
			a->wave == b->wave)
			return err_file(e, "duplicate-key", path, b->offset,
				"wave SE %u SIMD %u slot %u number %u is listed twice", b->se,
				b->simd, b->slot, b->wave);
	}
	return true;
}

bool ui_manifest_parse(struct ui_manifest *m, struct ui_bytes in, struct incore_error *e)
{
	struct json_reader r;
	struct str key;
	uint64_t seen = 0;
	bool ok;

	intern_init(&m->names);
	json_init(&r, in.p, in.n, in.path, 0);
	if (json_enter_object(&r))
		while (json_next_key(&r, &key))
			read_key(&r, m, key, &seen);
	ok = json_finish(&r, e);
	json_deinit(&r);
	intern_deinit(&m->names);
	if (m->is_nomem)
		return err_nomem(e);
	if (!ok)
		return false;
	if (!(seen & 1))
		return err_file(e, "missing-key", in.path, 0,
			"no \"wave_filenames\": not the manifest of a ui_output directory");
	SORT(m->waves.v, m->waves.n, compare_waves);
	return check_unique(m, in.path, e);
}

void ui_manifest_deinit(struct ui_manifest *m)
{
	VEC_FREE(&m->waves);
	VEC_FREE(&m->counter_names);
}

static bool take_number(const char **p, int64_t *out)
{
	uint64_t v = 0;
	const char *start = *p;

	for (; **p >= '0' && **p <= '9' && v < (uint64_t)INT64_MAX / 16; (*p)++)
		v = v * 10 + (uint64_t)(**p - '0');
	*out = (int64_t)v;
	return *p > start;
}

/* "ui_output_agent_23939_dispatch_37", with anything after it. */
static bool parse_name(const char *name, int64_t *agent, int64_t *dispatch)
{
	static const char head[] = "ui_output_agent_", middle[] = "_dispatch_";
	const char *p = strstr(name, head);
	int64_t a, d;

	if (!p)
		return false;
	p += sizeof(head) - 1;
	if (!take_number(&p, &a) || strncmp(p, middle, sizeof(middle) - 1) != 0)
		return false;
	p += sizeof(middle) - 1;
	if (!take_number(&p, &d))
		return false;
	*agent = a;
	*dispatch = d;
	return true;
}

bool ui_parse_dir_name(const char *path, int64_t *agent, int64_t *dispatch)
{
	size_t n = strlen(path), from;
	char base[256], *real; /* no file name is longer */
	bool ok;

	while (n > 1 && path[n - 1] == '/')
		n--;
	for (from = n; from > 0 && path[from - 1] != '/';)
		from--;
	if (n - from >= sizeof(base))
		return false;
	memcpy(base, path + from, n - from);
	base[n - from] = '\0';
	if (strcmp(base, ".") != 0 && strcmp(base, "..") != 0)
		return parse_name(base, agent, dispatch);
	real = realpath(path, NULL);
	ok = real && parse_name(path_base(real), agent, dispatch);
	free(real); /* allocated by the C library, not by mem.h */
	return ok;
}
