/* SPDX-License-Identifier: Apache-2.0 */
/* pc_samples.c: PC samples by kernel and instruction, and the sampled trace of a kernel. */
#include "import/pc_samples.h"

#include "base/hash.h"
#include "base/search.h"
#include "isa/amd.h"

/* Limit of one row: more is damage, and sums could overflow. */
#define MOST_OF_ROW (UINT64_C(1) << 44)

bool samples_init(struct sample_set *s)
{
	*s = (struct sample_set){.has_addresses = true};
	arena_init(&s->arena);
	intern_init(&s->texts);
	return intern_add(&s->texts, STR("")) == 0;
}

void samples_deinit(struct sample_set *s)
{
	VEC_FREE(&s->kernels);
	VEC_FREE(&s->rows);
	u64_map_deinit(&s->row_at);
	u64_map_deinit(&s->kernel_at);
	intern_deinit(&s->texts);
	arena_deinit(&s->arena);
}

uint32_t samples_kernel(struct sample_set *s, uint64_t id)
{
	struct sampled_kernel k = {.id = id, .launch = trace_no_launch()};
	uint64_t *at = u64_map_at(&s->kernel_at, id);

	k.launch.launch_count = 0;
	if (!at || (!*at && (s->kernels.n >= UINT32_MAX - 1 || !VEC_PUSH(&s->kernels, k))))
		return UINT32_MAX;
	if (!*at)
		*at = s->kernels.n;
	return (uint32_t)(*at - 1);
}

static bool is_same_row(const struct sampled_row *a, const struct sampled_row *b)
{
	return a->kernel == b->kernel && a->code_object == b->code_object &&
	       a->address == b->address && a->text == b->text && a->where == b->where &&
	       a->number == b->number;
}

bool samples_add(
	struct sample_set *s, const struct sampled_row *row, unsigned reason, uint64_t count)
{
	uint64_t parts[] = {
		row->kernel, row->code_object, row->address, row->text, row->where, row->number};
	uint64_t key = hash_bytes(parts, sizeof(parts), 0), *at;
	struct sampled_row fresh = *row;
	uint64_t *n;

	for (;; key++) {
		at = u64_map_at(&s->row_at, key);
		if (!at)
			return false;
		if (!*at || is_same_row(&s->rows.v[*at - 1], row))
			break;
	}
	if (!*at) {
		memset(fresh.n, 0, sizeof(fresh.n));
		if (s->rows.n >= UINT32_MAX - 1 || !VEC_PUSH(&s->rows, fresh))
			return false;
		*at = s->rows.n;
	}
	n = &s->rows.v[*at - 1].n[reason];
	if (count > MOST_OF_ROW - *n)
		count = MOST_OF_ROW - *n;
	*n += count;
	s->kernels.v[row->kernel].n_samples += count;
	return true;
}

unsigned sample_reason_of(struct str name)
{
	static const char *const words[AMD_STALL_REASONS] = {"NONE", "NO_INSTRUCTION_AVAILABLE",
		"ALU_DEPENDENCY", "WAITCNT", "INTERNAL_INSTRUCTION", "BARRIER_WAIT",
		"ARBITER_NOT_WIN", "ARBITER_WIN_EX_STALL", "OTHER_WAIT", "SLEEP_WAIT"};
	ptrdiff_t at = str_find(name, "_REASON_");
	struct str word = at < 0 ? name : str_sub(name, (size_t)at + 8, name.n);

	for (unsigned i = 0; i < AMD_STALL_REASONS; i++)
		if (str_is(word, words[i]))
			return i;
	return 0;
}

ORDER(by_samples, struct sampled_kernel, DOWN(n_samples) UP(id))

bool samples_finish(struct sample_set *s)
{
	uint64_t *id_of = mem_zalloc(s->kernels.n + 1, sizeof(*id_of));
	size_t n = 0;

	if (!id_of)
		return false;
	for (size_t i = 0; i < s->kernels.n; i++)
		id_of[i] = s->kernels.v[i].id;
	SORT(s->kernels.v, s->kernels.n, by_samples);
	for (size_t i = 0; i < s->kernels.n; i++) {
		*u64_map_find(&s->kernel_at, s->kernels.v[i].id) = i;
		n += s->kernels.v[i].n_samples > 0;
	}
	for (size_t i = 0; i < s->rows.n; i++)
		s->rows.v[i].kernel =
			(uint32_t)*u64_map_find(&s->kernel_at, id_of[s->rows.v[i].kernel]);
	s->kernels.n = n;
	mem_free(id_of);
	return true;
}

/* --- the trace of one kernel --- */

struct pc_building {
	const struct sample_set *set;
	struct trace *t;
	VEC(const struct sampled_row *) rows;
	VEC(struct frame) frames;
	struct intern opcodes, paths;
};

ORDER_AT(by_place, struct sampled_row, UP(code_object) UP(number) UP(address) UP(where) UP(text))

/* "a.h:275 -> b.cpp:12": innermost first. */
static bool add_frames(struct pc_building *b, struct str chain, struct code_row *row)
{
	struct str link;

	row->first_frame = (uint32_t)b->frames.n;
	while (row->n_frames < UINT16_MAX && str_cut(&chain, " -> ", &link)) {
		ptrdiff_t colon = str_rfind_char(link, ':');
		struct frame f;
		uint64_t line;

		if (colon <= 0 || !str_to_u64(str_sub(link, (size_t)colon + 1, link.n), &line) ||
			!line || line > UINT32_MAX)
			continue;
		f.source = intern_add(&b->paths, str_sub(str_trim(link), 0, (size_t)colon));
		f.line = (uint32_t)line;
		if (f.source == INTERN_NONE || b->frames.n >= UINT32_MAX ||
			!VEC_PUSH(&b->frames, f))
			return false;
		row->n_frames++;
	}
	return true;
}

static bool pc_samples_make_row(struct pc_building *b, uint32_t i)
{
	const struct sampled_row *x = b->rows.v[i];
	struct str text = b->set->texts.strs[x->text], where = b->set->texts.strs[x->where];
	struct arena *a = &b->t->arena;
	struct code_row *row = &b->t->code[i];

	*row = (struct code_row){
		.number = (int64_t)(x->number & INT64_MAX ? x->number & INT64_MAX : i + 1),
		.address = x->address,
		.code_object = (uint32_t)x->code_object,
		.text = arena_strndup(a, text.p, text.n),
		.text_len = (uint32_t)text.n,
		.source = arena_strndup(a, where.p, where.n),
		.opcode = intern_add(&b->opcodes, amd_mnemonic(text)),
		.inst_class = (uint8_t)amd_class(AMD_NO_CATEGORY, text)};
	return row->text && row->source && row->opcode != INTERN_NONE && add_frames(b, where, row);
}

static const char **pc_samples_names_of(struct arena *a, const struct intern *in)
{
	const char **v = arena_zalloc(a, (size_t)in->n + 1, sizeof(*v));

	for (uint32_t i = 0; v && i < in->n; i++)
		if (!(v[i] = arena_strndup(a, in->strs[i].p, in->strs[i].n)))
			return NULL;
	return v;
}

static bool pc_samples_make_code(struct pc_building *b)
{
	struct trace *t = b->t;
	const char **paths;

	t->n_code = (uint32_t)b->rows.n;
	t->code = arena_zalloc(&t->arena, b->rows.n + 1, sizeof(*t->code));
	for (uint32_t i = 0; t->code && i < t->n_code; i++)
		if (!pc_samples_make_row(b, i))
			return false;
	paths = pc_samples_names_of(&t->arena, &b->paths);
	t->opcodes = pc_samples_names_of(&t->arena, &b->opcodes);
	t->n_opcodes = b->opcodes.n;
	t->frames = arena_memdup(&t->arena, b->frames.v, b->frames.n * sizeof(*t->frames));
	t->n_frames = (uint32_t)b->frames.n;
	t->sources = arena_zalloc(&t->arena, (size_t)b->paths.n + 1, sizeof(*t->sources));
	if (!t->code || !paths || !t->opcodes || !t->sources || (t->n_frames && !t->frames))
		return false;
	t->n_sources = b->paths.n;
	for (uint32_t i = 0; i < t->n_sources; i++)
		t->sources[i].path = paths[i];
	return true;
}

static bool pc_samples_make_samples(struct pc_building *b)
{
	static const char *const not_told[] = {"not-told"};
	bool is_trap = b->set->is_host_trap;
	struct trace *t = b->t;

	if (!trace_make_samples(
		    t, is_trap ? not_told : amd_stall_reasons, is_trap ? 1 : AMD_STALL_REASONS))
		return false;
	for (uint32_t i = 0; i < t->n_code; i++) {
		const uint64_t *n = b->rows.v[i]->n;

		t->samples[i].issued = n[SAMPLE_ISSUED];
		for (uint32_t k = 0; k < t->n_reasons; k++) {
			uint64_t all = n[is_trap ? SAMPLE_NOT_TOLD : k];

			t->reason_counts[(size_t)i * t->n_reasons + k].all = all;
			t->samples[i].stalled += all;
		}
	}
	return true;
}

static bool pc_samples_add_notes(const struct pc_building *b, const struct sampled_kernel *k)
{
	struct trace *t = b->t;

	if (!b->set->has_addresses &&
		!trace_note(t, "rows-by-text", NULL, INCORE_NO_OFFSET, t->n_code,
			"the file gives no addresses: instructions of the same text and line count "
			"as one"))
		return false;
	if (b->set->is_host_trap &&
		!trace_note(t, "host-trap", NULL, INCORE_NO_OFFSET, 1,
			"host_trap samples say where a wave was, not whether it issued or why not"))
		return false;
	return k->is_listed ||
	       trace_note(t, "sampled-rows-only", NULL, INCORE_NO_OFFSET, t->n_code,
		       "the file lists the instructions that samples hit, not the whole kernel");
}

bool samples_build(
	const struct sample_set *s, uint32_t kernel, struct trace *t, struct incore_error *e)
{
	struct pc_building b = {.set = s, .t = t};
	const struct sampled_kernel *k = &s->kernels.v[kernel];
	bool ok = true;

	intern_init(&b.opcodes);
	intern_init(&b.paths);
	for (size_t i = 0; ok && i < s->rows.n; i++)
		if (s->rows.v[i].kernel == kernel)
			ok = VEC_PUSH(&b.rows, &s->rows.v[i]);
	SORT(b.rows.v, b.rows.n, by_place);
	t->meta.vendor = VENDOR_AMD;
	t->meta.evidence = s->is_synthetic ? EVIDENCE_SYNTHETIC : EVIDENCE_HARDWARE_SAMPLE;
	t->meta.kernel = k->name ? arena_strdup(&t->arena, k->name) : NULL;
	if (k->launch.launch_count > 0)
		t->meta.launch = k->launch;
	ok = ok && (t->meta.kernel || !k->name) && pc_samples_make_code(&b) &&
	     pc_samples_make_samples(&b) && pc_samples_add_notes(&b, k);
	intern_deinit(&b.opcodes);
	intern_deinit(&b.paths);
	VEC_FREE(&b.rows);
	VEC_FREE(&b.frames);
	return ok || err_nomem(e);
}
