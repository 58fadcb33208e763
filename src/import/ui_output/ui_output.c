/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ui_output.c: a directory that rocprofv3 --att wrote -> a trace. A damaged filenames.json or
 * code.json is an error; damage in any other file becomes a note, and the rest is still read. Wave
 * files are not read here but one by one on demand (wave.c).
 *
 * Parts: sources; the list of files; the kernel; the format.
 */
#include "import/ui_output/ui_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/search.h"
#include "import/capture_cache.h"
#include "import/code_json.h"
#include "import/other_sources.h"
#include "import/snapshots.h"
#include "import/ui_output/side_files.h"

/* --- sources ---------------------------------------------------------------------------------- */

static bool has_snapshot(void *ctx, const char *name)
{
	return ui_has(ctx, name);
}

bool ui_snapshots_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e)
{
	struct snapshots_in s = {b->trace, &b->scratch, has_snapshot, b};

	return snapshots_read(&s, (struct str){in.p, in.n}, in.path, e);
}

/* ui_parse_fn: the source is b->source */
static bool take_text(struct ui_build *b, struct ui_bytes in, struct incore_error *e)
{
	if (in.n > UINT32_MAX)
		return err_file(e, "too-large", in.path, INCORE_NO_OFFSET,
			"the source file is too large to read");
	return import_source_text(b->trace, b->source, in.p, in.n) || err_nomem(e);
}

static bool ui_sources_load(struct ui_build *b, struct incore_error *e)
{
	for (b->source = 0; b->source < b->trace->n_sources; b->source++) {
		const char *name = b->trace->sources[b->source].snapshot;

		if (name && !ui_optional(b, name, take_text, e))
			return false;
	}
	return true;
}

/* --- the list of files ------------------------------------------------------------------------ */

/* The waves listed in a directory, and the machine (filenames.json). */

#define N_LEVELS 4

/* Reports out of memory through the reader's sticky error. */
static void ui_output_fail_nomem(struct json_reader *r, struct ui_manifest *m)
{
	m->is_nomem = true;
	json_reject(r, "no-memory", "out of memory");
}

static bool ui_output_is_plain_name(struct str s)
{
	return s.n > 0 && s.n < 256 && !memchr(s.p, '/', s.n) && !str_has(s, "..") &&
	       !memchr(s.p, '\0', s.n);
}

static const char *ui_output_copy_text(struct json_reader *r, struct ui_manifest *m, struct str s)
{
	char *p = arena_strndup(m->arena, s.p ? s.p : "", s.n);

	if (!p)
		ui_output_fail_nomem(r, m);
	return p;
}

/* ["se0_sm0_sl0_wv0.json", begin, end] */
static void ui_output_read_wave(struct json_reader *r, struct ui_manifest *m, const uint32_t *coord)
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
	if (!ui_output_is_plain_name(name)) {
		json_reject(
			r, "bad-path", "a wave file name must not be empty or hold '/' or '..'");
		return;
	}
	if (intern_add(&m->names, name) == INTERN_NONE) {
		ui_output_fail_nomem(r, m);
		return;
	}
	if (m->names.n == n_before) {
		json_reject(
			r, "duplicate-key", "wave file \"%.*s\" is listed twice", STR_ARG(name));
		return;
	}
	w.name = ui_output_copy_text(r, m, name);
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
		ui_output_fail_nomem(r, m);
}

/* SE -> SIMD -> slot -> wave; any level may be null. */
static void ui_output_read_level(
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
			ui_output_read_level(r, m, coord, level + 1);
		else
			ui_output_read_wave(r, m, coord);
	}
}

static void read_counter_names(struct json_reader *r, struct ui_manifest *m)
{
	struct str s;

	if (!json_enter_array_or_null(r))
		return;
	while (json_next_item(r) && json_get_str(r, &s))
		if (!VEC_PUSH(&m->counter_names, ui_output_copy_text(r, m, s)))
			ui_output_fail_nomem(r, m);
}

static void ui_output_read_key(
	struct json_reader *r, struct ui_manifest *m, struct str key, uint64_t *seen)
{
	uint32_t coord[N_LEVELS] = {0};
	struct str s;

	if (str_is(key, "wave_filenames")) {
		if (json_once(r, seen, 0, key))
			ui_output_read_level(r, m, coord, 0);
	} else if (str_is(key, "gfxip")) {
		uint32_t gfxip;

		if (json_once(r, seen, 1, key) && json_get_u32(r, &gfxip))
			m->gfxip = gfxip;
	} else if (str_is(key, "version")) {
		if (json_once(r, seen, 2, key) && json_get_str_or_null(r, &s) && s.p)
			m->version = ui_output_copy_text(r, m, s);
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
			ui_output_read_key(&r, m, key, &seen);
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

static bool ui_output_take_number(const char **p, int64_t *out)
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
	if (!ui_output_take_number(&p, &a) || strncmp(p, middle, sizeof(middle) - 1) != 0)
		return false;
	p += sizeof(middle) - 1;
	if (!ui_output_take_number(&p, &d))
		return false;
	*agent = a;
	*dispatch = d;
	return true;
}

static bool ui_parse_dir_name(const char *path, int64_t *agent, int64_t *dispatch)
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

/* --- the kernel ------------------------------------------------------------------------------- */

/* The kernel and the architecture, as far as the directory itself has them. */

static const char *label_name(const struct code_row *row)
{
	struct str s = str_trim(str_sub((struct str){row->text, row->text_len}, 1, row->text_len));

	return s.p;
}

/* The label whose rows have most latency; in a tie most hits, then the first. */
static const struct code_row *busiest_label(const struct trace *t)
{
	const struct code_row *label = NULL, *best = NULL;
	uint64_t latency = 0, hit = 0, best_latency = 0, best_hit = 0;

	for (uint32_t i = 0; i <= t->n_code; i++) {
		if (i == t->n_code || t->code[i].is_label) {
			if (label && (!best || latency > best_latency ||
					     (latency == best_latency && hit > best_hit))) {
				best = label;
				best_latency = latency;
				best_hit = hit;
			}
			if (i == t->n_code)
				break;
			label = &t->code[i];
			latency = hit = 0;
			continue;
		}
		latency += t->code[i].stated.latency;
		hit += t->code[i].stated.hit;
		if (t->samples)
			hit += t->samples[i].issued + t->samples[i].stalled;
	}
	return best;
}

/* "<codeobj> / 0x<address>" stands for a kernel without a name. */
static bool is_real_name(const char *name)
{
	return *name && !strstr(name, " / 0x");
}

ORDER(compare_ids, struct kernel_name, UP(id))

/* Without code: the name of the id with most wave starts. */
static const char *started_most(const struct trace *t, uint64_t *starts)
{
	const char *best = NULL;
	uint64_t best_n = 0;

	for (uint32_t i = 0; i < t->n_occupancy; i++) {
		struct kernel_name key = {.id = t->occupancy[i].kernel_id};
		const struct kernel_name *k =
			bsearch(&key, t->kernel_names, t->n_kernel_names, sizeof(key), compare_ids);

		if (k && t->occupancy[i].is_start)
			starts[k - t->kernel_names]++;
	}
	for (uint32_t k = 0; k < t->n_kernel_names; k++)
		if (is_real_name(t->kernel_names[k].name) && (!best || starts[k] > best_n)) {
			best = t->kernel_names[k].name;
			best_n = starts[k];
		}
	return best;
}

bool ui_name_kernel(struct ui_build *b, struct incore_error *e)
{
	struct trace *t = b->trace;
	const struct code_row *label = busiest_label(t);

	if (!label) {
		uint64_t *starts = mem_zalloc((size_t)t->n_kernel_names + 1, sizeof(*starts));

		if (!starts)
			return err_nomem(e);
		if (t->n_kernel_names) {
			t->meta.kernel = started_most(t, starts);
			t->kernel_from.tables = IMPORT_OCCUPANCY;
		}
		mem_free(starts);
		return true;
	}
	b->has_kernel_object = true;
	b->kernel_object = label->code_object;
	b->kernel_demangled = *label->source ? label->source : NULL;
	t->meta.kernel = arena_strdup(&t->arena, label_name(label));
	return t->meta.kernel || err_nomem(e);
}

/* Instructions that identify a target: no other of its family has them. */
static const struct {
	const char *word, *arch;
	unsigned gfx_major;
} hints[] = {
	{"v_mfma_f32_16x16x128_f8f6f4", "gfx950", 9},
	{"v_mfma_f32_32x32x64_f8f6f4", "gfx950", 9},
	{"v_mfma_scale_f32_16x16x128_f8f6f4", "gfx950", 9},
	{"v_mfma_scale_f32_32x32x64_f8f6f4", "gfx950", 9},
	{"v_mfma_f32_16x16x32_bf16", "gfx950", 9},
	{"v_mfma_f32_16x16x32_f16", "gfx950", 9},
	{"v_mfma_f32_32x32x16_bf16", "gfx950", 9},
	{"v_mfma_f32_32x32x16_f16", "gfx950", 9},
	{"v_cvt_pk_bf16_f32", "gfx950", 9},
	{"v_bitop3_b32", "gfx950", 9},
	{"v_permlane32_swap_b32", "gfx950", 9},
	{"v_permlane16_swap_b32", "gfx950", 9},
	{"v_prng_b32", "gfx950", 9},
	{"ds_read_b64_tr_b16", "gfx950", 9},
	/* this spelling is only on this target; gfx942 code runs on gfx950 too and proves
	 * nothing */
	{"v_mfma_f64_16x16x4f64", "gfx90a", 9},
	{"v_mfma_f64_4x4x4f64", "gfx90a", 9},
	{"v_mfma_f32_16x16x16bf16_1k", "gfx90a", 9},
	{"v_mfma_f32_32x32x8bf16_1k", "gfx90a", 9},
};

static bool has_opcode(const struct trace *t, const char *word)
{
	size_t n = strlen(word);

	for (uint32_t i = 0; i < t->n_opcodes; i++) {
		const char *op = t->opcodes[i];

		/* also with an encoding suffix: v_bitop3_b32_e64 */
		if (!strncmp(op, word, n) && (op[n] == '\0' || !strncmp(op + n, "_e", 2)))
			return true;
	}
	return false;
}

void ui_guess_arch(struct ui_build *b)
{
	struct trace *t = b->trace;

	for (size_t i = 0; i < sizeof(hints) / sizeof(*hints); i++)
		if (hints[i].gfx_major == t->meta.gfx_major && has_opcode(t, hints[i].word)) {
			t->meta.arch = hints[i].arch;
			t->meta.arch_source = "instructions";
			return;
		}
	if (!t->meta.gfx_major)
		return;
	t->meta.arch = arena_printf(&t->arena, "gfx%u", t->meta.gfx_major);
	t->meta.arch_source = t->meta.arch ? "filenames.json" : NULL;
}

/* --- the format ------------------------------------------------------------------------------- */

#define MAX_NAMED 16 /* files named in one note; the rest is counted */

static int ui_output_compare_names(const void *pa, const void *pb)
{
	const char *const *a = pa, *const *b = pb;

	return strcmp(*a, *b);
}

bool ui_has(const struct ui_build *b, const char *name)
{
	return b->names.n &&
	       bsearch(&name, b->names.v, b->names.n, sizeof(*b->names.v), ui_output_compare_names);
}

static struct file_store *ui_output_store_of(const struct import_options *o)
{
	return o && o->cache ? &o->cache->files : NULL;
}

bool ui_load_into(struct ui_build *b, struct file_data *f, const char *name, const char *path,
	struct incore_error *e)
{
	enum file_store_use use = b->options && b->options->is_look ? FILE_KEEP : FILE_TAKE;

	return file_store_load_at(ui_output_store_of(b->options), use, f, b->root, name, path, e);
}

/* Loads dir/name into b->file. */
static bool ui_load(
	struct ui_build *b, const char *name, struct ui_bytes *out, struct incore_error *e)
{
	const char *path = arena_printf(&b->scratch, "%s/%s", b->dir, name);

	if (!path)
		return err_nomem(e);
	if (!ui_load_into(b, &b->file, name, path, e))
		return false;
	*out = (struct ui_bytes){b->file.data, b->file.size, path};
	return true;
}

/* An error about an optional file becomes a note; out of memory stays an error. */
static bool note_damage(struct ui_build *b, const char *path, struct incore_error *e)
{
	return import_note_unread(b->trace, "damaged-file", path, "is damaged and was left out", e);
}

bool ui_optional(struct ui_build *b, const char *name, ui_parse_fn parse, struct incore_error *e)
{
	struct incore_error mine = {0};
	struct ui_bytes in = {NULL, 0, name};

	if (!ui_has(b, name))
		return true;
	if (ui_load(b, name, &in, &mine) && parse(b, in, &mine))
		return true;
	if (note_damage(b, in.path, &mine))
		return true;
	err_move(e, &mine);
	return false;
}

bool ui_optional_path(
	struct ui_build *b, const char *path, ui_parse_fn parse, struct incore_error *e)
{
	struct import_options o = {.cache = b->options ? b->options->cache : NULL, .is_look = true};
	struct incore_error mine = {0};

	/* A look keeps it in the cache: sibling captures read the same file. */
	if (import_load_below(&o, &b->file, b->side->dir, path, &mine) &&
		parse(b, (struct ui_bytes){b->file.data, b->file.size, path}, &mine))
		return true;
	if (note_damage(b, path, &mine))
		return true;
	err_move(e, &mine);
	return false;
}

void ui_see_se(struct ui_build *b, uint32_t se)
{
	if (se < UI_MAX_SE)
		b->se_seen[se / 64] |= (uint64_t)1 << se % 64;
}

bool ui_decimal(struct str s, uint64_t *out)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.n > 0 && str_to_u64(s, out);
}

bool ui_match_name(const char *name, const char *pattern, uint32_t *first)
{
	bool is_first = true;

	for (; *pattern; pattern++) {
		uint64_t v = 0;
		const char *start = name;

		if (*pattern != '#') {
			if (*name++ != *pattern)
				return false;
			continue;
		}
		for (; *name >= '0' && *name <= '9' && v <= UINT32_MAX; name++)
			v = v * 10 + (uint64_t)(*name - '0');
		if (name == start || v > UINT32_MAX)
			return false;
		if (is_first)
			*first = (uint32_t)v;
		is_first = false;
	}
	return *name == '\0';
}

bool ui_key_number(struct json_reader *r, struct str key, uint64_t max, uint32_t *out)
{
	uint64_t v;

	if (!ui_decimal(key, &v) || v > max)
		return json_reject(r, "out-of-range",
			"key \"%.*s\": expected a number from 0 to %llu",
			(int)(key.n < 40 ? key.n : 40), key.p, (unsigned long long)max);
	*out = (uint32_t)v;
	return true;
}

bool ui_get_time(struct json_reader *r, uint64_t *out)
{
	int64_t v;

	if (!json_get_i64(r, &v))
		return false;
	if (v < 0 || v > UI_MAX_TIME_CYC)
		return json_reject(r, "out-of-range", "%lld is not a time in cycles", (long long)v);
	*out = (uint64_t)v;
	return true;
}

clock_idx ui_clock(const struct trace *t, uint32_t se)
{
	clock_idx lo = 0, hi = t->n_clocks; /* sorted by id */

	BISECT(lo, hi, i, t->clocks[i].id < se);
	return lo < t->n_clocks && t->clocks[lo].id == se ? lo : NO_CLOCK;
}

/* --- reading --- */

static bool ui_output_add_name(void *ctx, const char *name, struct incore_error *e)
{
	struct ui_build *b = ctx;
	const char *copy = arena_strdup(&b->scratch, name);

	return (copy && VEC_PUSH(&b->names, copy)) || err_nomem(e);
}

static bool open_dir(struct ui_build *b, struct ui_loader *l, struct incore_error *e)
{
	size_t n = strlen(b->dir);

	while (n > 1 && b->dir[n - 1] == '/')
		n--;
	l->dir = mem_strndup(b->dir, n);
	if (!l->dir)
		return err_nomem(e);
	errno = EMFILE;
	if (fault_hit(FAULT_OPEN) || !import_root_open(b->options, &l->root, l->dir))
		return err_errno(e, errno, l->dir, "cannot open directory");
	b->dir = l->dir;
	b->root = l->root;
	return dir_each_in(import_fence(b->options), b->dir, ui_output_add_name, b, e);
}

static void ui_output_close_loader(void *ctx)
{
	struct ui_loader *l = ctx;

	if (l->root.fd >= 0)
		close(l->root.fd);
	for (unsigned i = 0; i < l->n_loaded; i++)
		file_unload(&l->loaded[i].file);
	for (size_t i = 0; i < l->n_kept; i++)
		file_unload(&l->kept[i]);
	mem_free(l->kept);
	mem_free(l->dir);
	mem_free(l);
}

static struct ui_loader *ui_output_new_loader(struct trace *t)
{
	struct ui_loader *l = mem_zalloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->root.fd = -1;
	t->loader.load = ui_wave_load;
	t->loader.close = ui_output_close_loader;
	t->loader.keep = ui_wave_keep;
	t->loader_ctx = l;
	return l;
}

static bool read_manifest(struct ui_build *b, struct incore_error *e)
{
	struct trace *t = b->trace;
	struct ui_manifest *m = &b->manifest;
	struct ui_bytes in;

	m->arena = &t->arena;
	if (!ui_load(b, "filenames.json", &in, e) || !ui_manifest_parse(m, in, e))
		return false;
	t->meta.gfx_major = m->gfxip;
	t->meta.format_version = m->version;
	t->meta.clock_quantum = m->gfxip == 9 ? 4 : 1;
	t->n_counter_names = (uint32_t)m->counter_names.n;
	t->counter_names = arena_zalloc(&t->arena, m->counter_names.n + 1, sizeof(char *));
	if (!t->counter_names)
		return err_nomem(e);
	for (size_t i = 0; i < m->counter_names.n; i++)
		t->counter_names[i] = m->counter_names.v[i];
	for (size_t i = 0; i < m->waves.n; i++)
		ui_see_se(b, m->waves.v[i].se);
	return true;
}

/* Loads the capture's code table, or the one that the user named. */
static bool load_code(struct ui_build *b, struct ui_bytes *out, struct incore_error *e)
{
	const char *other = b->options ? b->options->code : NULL;

	if (!other)
		return ui_load(b, "code.json", out, e);
	if (!file_load_in(file_fence_of_named(import_fence(b->options)), &b->file, other, e))
		return err_wrap(e, "--code");
	*out = (struct ui_bytes){b->file.data, b->file.size, other};
	return trace_note(b->trace, "other-code", other, INCORE_NO_OFFSET, 1,
		       "the code is that of %s, not the capture's own", other) ||
	       err_nomem(e);
}

static bool read_code(struct ui_build *b, struct ui_loader *l, struct incore_error *e)
{
	struct trace *t = b->trace;
	struct ui_bytes in;

	if (!load_code(b, &in, e) || !ui_code_parse(b, in, e))
		return false;
	if (!ui_code_index_build(t, &l->index, &b->rows.n_duplicate_numbers))
		return err_nomem(e);
	if (b->rows.n_duplicate_numbers &&
		!trace_note(t, "duplicate-row-number", "code.json", INCORE_NO_OFFSET,
			b->rows.n_duplicate_numbers,
			"%llu code rows share their line number with an earlier row; records that name it count for the first",
			(unsigned long long)b->rows.n_duplicate_numbers))
		return err_nomem(e);
	return true;
}

static bool ui_output_make_tracks(struct ui_build *b, struct incore_error *e)
{
	struct trace *t = b->trace;
	size_t n = b->manifest.waves.n;

	if (n > UINT32_MAX - 1)
		return err_set(e, INCORE_BAD_INPUT, "too-large", "too many waves: %zu", n);
	t->tracks = arena_zalloc(&t->arena, n + 1, sizeof(*t->tracks));
	if (!t->tracks)
		return err_nomem(e);
	for (size_t i = 0; i < n; i++) {
		const struct ui_wave_ref *w = &b->manifest.waves.v[i];
		uint32_t cu = t->meta.target_cu == NO_VALUE ? 0 : (uint32_t)t->meta.target_cu;

		t->tracks[i] = (struct track){
			.coord = {w->se, cu, w->simd, w->slot, w->wave},
			.clock = ui_clock(t, w->se),
			.begin_cyc = w->begin_cyc,
			.end_cyc = w->end_cyc,
			.kernel_id = UINT32_MAX,
			.name = w->name,
			.workgroup = NO_VALUE,
		};
	}
	t->n_tracks = (uint32_t)n;
	return true;
}

/* Aligns clocks in the same way whether or not the occupancy is wanted. */
static bool read_clocks(struct ui_build *b, bool has_occupancy, struct incore_error *e)
{
	if (!ui_optional(b, "realtime.json", ui_realtime_parse, e))
		return false;
	if (has_occupancy || !ui_has_many_samples(b))
		return ui_clocks_build(b, e);
	if (!ui_optional(b, "occupancy.json", ui_occupancy_parse, e) || !ui_clocks_build(b, e))
		return false;
	b->trace->n_occupancy = b->trace->n_kernel_names = b->trace->n_dispatch_events = 0;
	return true;
}

static bool ui_output_read_occupancy(struct ui_build *b, struct incore_error *e)
{
	return ui_optional(b, "occupancy.json", ui_occupancy_parse, e);
}

static bool read_wstates(struct ui_build *b, struct incore_error *e)
{
	char name[] = "wstates0.json";

	for (char *k = &name[sizeof("wstates") - 1]; *k <= '4'; ++*k)
		if (!ui_optional(b, name, ui_wstates_parse, e))
			return false;
	return true;
}

/* Reads the tables if they are wanted; notes made meanwhile belong to these tables only. */
static bool read_wanted(struct ui_build *b, unsigned tables,
	bool (*read)(struct ui_build *b, struct incore_error *e), struct incore_error *e)
{
	bool ok;

	if (b->options && !(b->options->want & tables))
		return true;
	b->trace->reading = tables;
	ok = read(b, e);
	b->trace->reading = 0;
	return ok;
}

/* If clocks depend on the occupancy, it is read anyway and its notes are always reported. */
static void tell_of_occupancy(struct trace *t)
{
	for (uint32_t i = 0; i < t->n_notes; i++)
		if (t->notes[i].tables == IMPORT_OCCUPANCY)
			t->notes[i].tables = 0;
}

static bool read_optional(struct ui_build *b, struct incore_error *e)
{
	bool has_occupancy = !b->options || b->options->want & IMPORT_OCCUPANCY;

	if (!read_wanted(b, IMPORT_OCCUPANCY, ui_output_read_occupancy, e) ||
		!read_clocks(b, has_occupancy, e))
		return false;
	if (ui_has_many_samples(b))
		tell_of_occupancy(b->trace);
	if (!ui_output_make_tracks(b, e) || !ui_occupancy_join(b, e) ||
		!read_wanted(b, IMPORT_STATED_SERIES, read_wstates, e) ||
		!ui_optional(b, "snapshots.json", ui_snapshots_parse, e) ||
		!read_wanted(b, IMPORT_SOURCES, ui_sources_load, e) ||
		!read_wanted(b, IMPORT_COUNTERS, ui_counters_read, e))
		return false;
	ui_guess_arch(b);
	return ui_name_kernel(b, e) && read_wanted(b, IMPORT_SIDE_FILES, ui_side_files_read, e);
}

/* Names of a kind: the first few in full, all counted. */
static bool list_add(struct ui_name_list *l, struct arena *a, const char *name)
{
	if (l->n++ >= MAX_NAMED)
		return true;
	l->text = l->text ? arena_printf(a, "%s, %s", l->text, name) : arena_strdup(a, name);
	return l->text != NULL;
}

/* Compares the manifest with the directory, in both directions. */
static bool compare_listing(struct ui_build *b, struct ui_loader *l, struct incore_error *e)
{
	struct arena *a = &b->trace->arena;
	size_t n = b->manifest.waves.n;
	const char **listed = arena_zalloc(&b->scratch, n + 1, sizeof(*listed));
	bool *is_absent = arena_zalloc(a, n + 1, sizeof(*is_absent));

	if (!listed || !is_absent)
		return err_nomem(e);
	for (size_t i = 0; i < n; i++)
		listed[i] = b->manifest.waves.v[i].name;
	for (size_t i = 0; i < n; i++) {
		is_absent[i] = !ui_has(b, listed[i]);
		if (is_absent[i] && !list_add(&l->missing, a, listed[i]))
			return err_nomem(e);
	}
	l->is_absent = is_absent;
	SORT(listed, n, ui_output_compare_names);
	for (size_t i = 0; i < b->names.n; i++) {
		const char *name = b->names.v[i];
		uint32_t se;

		if (ui_match_name(name, "se#_sm#_sl#_wv#.json", &se) &&
			!bsearch(&name, listed, n, sizeof(*listed), ui_output_compare_names) &&
			!list_add(&l->unlisted, a, name))
			return err_nomem(e);
	}
	return true;
}

static void set_evidence(struct ui_build *b)
{
	struct trace *t = b->trace;
	bool is_sampled =
		!b->manifest.waves.n && (b->rows.has_samples || b->manifest.has_pc_sampling);

	t->meta.evidence = b->manifest.is_synthetic ? EVIDENCE_SYNTHETIC
			   : is_sampled		    ? EVIDENCE_HARDWARE_SAMPLE
						    : EVIDENCE_HARDWARE_TRACE;
	if (!is_sampled && !b->manifest.has_pc_sampling && !b->rows.has_samples)
		t->samples = NULL;
}

static bool ui_output_read_all(struct ui_build *b, struct incore_error *e)
{
	static const char *const levels[TRACK_LEVELS] = {"se", "cu", "simd", "slot", "wave"};
	struct trace *t = b->trace;
	struct ui_loader *l = ui_output_new_loader(t);

	if (!l)
		return err_nomem(e);
	t->meta.vendor = VENDOR_AMD;
	t->meta.format = "ui_output";
	t->meta.origin = arena_strdup(&t->arena, b->dir);
	ui_parse_dir_name(b->dir, &t->meta.launch.agent, &t->meta.launch.dispatch);
	memcpy(t->levels, levels, sizeof(levels));
	if (!t->meta.origin)
		return err_nomem(e);
	if (!open_dir(b, l, e))
		return false;
	if (!read_manifest(b, e) || !read_code(b, l, e))
		return false;
	set_evidence(b);
	t->meta.target_cu = ui_wave_find_cu(b, l);
	return read_optional(b, e) && compare_listing(b, l, e);
}

static bool ui_read(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	struct ui_build b = {.trace = t, .options = o, .dir = path, .root.fd = -1};
	bool ok;

	arena_init(&b.scratch);
	ok = ui_output_read_all(&b, e);
	ui_manifest_deinit(&b.manifest);
	VEC_FREE(&b.names);
	VEC_FREE(&b.realtime);
	file_unload(&b.file);
	arena_deinit(&b.scratch);
	return ok;
}

static bool note_list(
	struct trace *t, const struct ui_name_list *l, const char *code, const char *const what[2])
{
	uint64_t more = l->n > MAX_NAMED ? l->n - MAX_NAMED : 0;
	char rest[48] = "";

	if (!l->n)
		return true;
	if (more)
		snprintf(rest, sizeof(rest), " and %llu more", (unsigned long long)more);
	return trace_note(t, code, NULL, INCORE_NO_OFFSET, l->n, "%llu %s: %s%s",
		(unsigned long long)l->n, what[l->n > 1], l->text, rest);
}

static bool ui_lost(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	static const char *const missing[2] = {"wave file of the manifest is not there",
		"wave files of the manifest are not there"};
	static const char *const unlisted[2] = {"wave file is not in the manifest and was left out",
		"wave files are not in the manifest and were left out"};
	const struct ui_loader *l = t->loader_ctx;

	(void)path;
	(void)o;
	if (!note_list(t, &l->missing, "missing-wave-file", missing) ||
		!note_list(t, &l->unlisted, "unlisted-wave-file", unlisted))
		return err_nomem(e);
	return true;
}

/* --- recognising --- */

static int ui_sniff(const struct probe *p)
{
	char *path;
	int sure = 0;

	path = path_join(p->path, "filenames.json");
	if (path && file_exists_in(capture_fence(p->cache), path))
		sure = 95;
	mem_free(path);
	return sure;
}

static bool ui_output_look_file(struct ui_bytes *out, struct file_data *f,
	struct capture_cache *cache, const char *dir, const char *name)
{
	struct import_options o = {.cache = cache, .is_look = true, .root = dir};
	char *path = path_join(dir, name);
	bool ok = path && import_load(&o, f, path, NULL);

	*out = (struct ui_bytes){f->data, f->size, name};
	mem_free(path);
	return ok;
}

static void set_same_as(struct capture *c, uint64_t hash, struct arena *a)
{
	c->is_empty = c->n_tracks == 0 && c->n_rows == 0;
	if (c->n_rows)
		c->same_as = arena_printf(
			a, "%lld/%016llx", (long long)c->agent, (unsigned long long)hash);
}

static void ui_look(
	const char *path, struct capture_cache *cache, struct arena *a, struct capture *c)
{
	struct ui_manifest m = {.arena = a};
	struct file_data f = {0};
	struct ui_bytes in;
	uint64_t hash = 0;

	ui_parse_dir_name(path, &c->agent, &c->dispatch);
	if (ui_output_look_file(&in, &f, cache, path, "filenames.json") &&
		ui_manifest_parse(&m, in, NULL))
		c->n_tracks = m.waves.n;
	if (ui_output_look_file(&in, &f, cache, path, "code.json") &&
		code_json_look((struct str){in.p, in.n}, in.path, c, &hash))
		set_same_as(c, hash, a);
	ui_manifest_deinit(&m);
	file_unload(&f);
}

static void ui_look_at_trace(const struct trace *t, struct arena *a, struct capture *c)
{
	ui_parse_dir_name(c->path, &c->agent, &c->dispatch);
	c->n_tracks = t->n_tracks;
	c->n_rows = t->n_code;
	for (code_idx i = 0; i < t->n_code; i++)
		c->n_mapped += !t->code[i].is_label && *t->code[i].source;
	set_same_as(c, t->meta.code_key, a);
}

static const struct signature ui_signs[] = {
	{.entry = "filenames.json"},
	{0},
};

const struct import_ops import_ui_output = {
	.name = "ui_output",
	.summary = "decoded AMD thread trace, a directory written by rocprofv3 --att",
	.looks_for = "a ui_output_* directory of rocprofv3 --att (with filenames.json)",
	.takes_code = true,
	.signs = ui_signs,
	.sniff = ui_sniff,
	.look = ui_look,
	.look_at_trace = ui_look_at_trace,
	.read = ui_read,
	.lost = ui_lost,
};
