/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sass_links.c: classifies the instructions of a kernel and links each to those it may have waited
 * for: maps the decoder's classes to those of the trace, and adds its candidates for the sampled
 * stall reasons.
 */
#include "base/search.h"
#include "import/sass_code.h"
#include "isa/sass/sass_waits.h"

#define TEXT_BYTES 128
#define MAX_CANDIDATES 32u
#define OPCODE_CALL_ABS 0x943u
#define MAX_JUMPS (1u << 20) /* no real code has so many: a file with more is malicious */
#define TYPE_NV_INFO 0x70000000u
#define INFO_SIZED 4u /* format of a record that is followed by its bytes */
#define INFO_JUMP_TABLES 0x34u

_Static_assert((int)CODE_LINK_WRITE == (int)SASS_WAIT_WRITE &&
		       (int)CODE_LINK_REGISTER == (int)SASS_WAIT_REGISTER,
	"the first kinds of links are those of the decoder");

static const uint8_t classes[SASS_CLASSES] = {
	[SASS_UNKNOWN] = CLASS_OTHER,
	[SASS_FMA] = CLASS_VALU,
	[SASS_ALU] = CLASS_VALU,
	[SASS_HALF] = CLASS_VALU,
	[SASS_DOUBLE] = CLASS_VALU,
	[SASS_XU] = CLASS_TRANS,
	[SASS_UNIFORM] = CLASS_SALU,
	[SASS_TENSOR] = CLASS_MATRIX,
	[SASS_TENSOR_ASYNC] = CLASS_MATRIX,
	[SASS_LOAD_GLOBAL] = CLASS_VMEM_LOAD,
	[SASS_STORE_GLOBAL] = CLASS_VMEM_STORE,
	[SASS_LOAD_SHARED] = CLASS_LDS,
	[SASS_STORE_SHARED] = CLASS_LDS,
	[SASS_LOAD_LOCAL] = CLASS_VMEM_LOAD,
	[SASS_STORE_LOCAL] = CLASS_VMEM_STORE,
	[SASS_LOAD_CONST] = CLASS_SMEM,
	[SASS_ATOMIC_GLOBAL] = CLASS_VMEM_ATOMIC,
	[SASS_ATOMIC_SHARED] = CLASS_LDS,
	[SASS_ASYNC_COPY] = CLASS_VMEM_TO_LDS,
	[SASS_ASYNC_BULK] = CLASS_VMEM_TO_LDS,
	[SASS_TENSOR_MEMORY] = CLASS_LDS,
	[SASS_TEXTURE] = CLASS_VMEM_LOAD,
	[SASS_SURFACE] = CLASS_VMEM_LOAD,
	[SASS_SHUFFLE] = CLASS_LDS_XLANE,
	[SASS_SPECIAL] = CLASS_MSG,
	[SASS_BARRIER] = CLASS_BARRIER,
	[SASS_MBARRIER] = CLASS_BARRIER,
	[SASS_WARPGROUP] = CLASS_WAIT,
	[SASS_FENCE] = CLASS_WAIT,
	[SASS_DEPBAR] = CLASS_WAIT,
	[SASS_CONVERGE] = CLASS_BRANCH,
	[SASS_BRANCH] = CLASS_BRANCH,
	[SASS_CALL] = CLASS_BRANCH,
	[SASS_RETURN] = CLASS_BRANCH,
	[SASS_EXIT] = CLASS_DRAIN,
	[SASS_CONTROL] = CLASS_NOP,
};

static unsigned sm_of(const struct sass_code *c, const struct sass_function *f)
{
	return c->binaries.v[f->binary].cubin.sm;
}

static bool write_text(struct sass_code *c, const struct sass_function *f, uint32_t i)
{
	const uint8_t *p = f->code + (size_t)i * SASS_INST_BYTES;
	struct sass_inst inst = sass_decode(sm_of(c, f), p);
	struct code_row *row = &c->rows.v[f->row_of[i]];
	char text[TEXT_BYTES];
	struct str s = {row->text, row->text_len}, word;

	if (!s.n) {
		c->n_unsure += !sass_text(sm_of(c, f), p, &inst, text, sizeof(text));
		s = str_of(text);
	}
	word = s;
	/* A guard precedes the mnemonic. */
	if (word.n && word.p[0] == '@')
		word = str_sub(word, strcspn(word.p, " ") + 1, word.n);
	word.n = strcspn(word.n ? word.p : "", " .");
	if (!row->text_len)
		row->text = arena_strndup(&c->t->arena, s.p, s.n);
	row->text_len = (uint32_t)s.n;
	row->opcode = intern_add(&c->opcodes, word);
	row->inst_class = classes[inst.inst_class < SASS_CLASSES ? inst.inst_class : SASS_UNKNOWN];
	/* LDGDEPBAR represents the copies of its group: waiting for it is waiting for them. */
	if (inst.inst_class == SASS_DEPBAR && inst.flags & SASS_GROUP_CLOSE)
		row->inst_class = CLASS_VMEM_TO_LDS;
	return row->text && row->opcode != INTERN_NONE;
}

bool sass_write_texts(struct sass_code *c, struct incore_error *e)
{
	if (!sass_ask_nvdisasm(c, e))
		return false;
	EACH (const struct sass_function, f, c->functions.v, c->functions.n) {
		for (uint32_t i = 0; i < f->n_inst; i++)
			if (!write_text(c, f, i))
				return err_nomem(e);
	}
	return !c->n_unsure ||
	       trace_note(c->t, NOTE_INFO, "unknown-operands", NULL, INCORE_NO_OFFSET, c->n_unsure,
		       "operands of %llu instructions are not understood and shown as \"?\"; "
		       "with nvdisasm in the path its text is shown",
		       (unsigned long long)c->n_unsure) ||
	       err_nomem(e);
}

/* --- links --- */

typedef VEC(struct sass_jump) jump_list;

struct linking {
	struct sass_code *c;
	struct sass_waits waits;
	jump_list jumps;  /* targets that are not encoded in the instructions */
	code_idx *row_of; /* by instruction of all functions, numbered as in the decoder */
	VEC(struct code_link) links;
	uint64_t n_unknown; /* samples whose reason implies a producer, but none was found */
};

static bool add_link(
	struct linking *l, uint32_t inst, uint32_t to, enum code_link_kind kind, uint32_t reason)
{
	return VEC_PUSH(&l->links,
		(struct code_link){l->row_of[inst], l->row_of[to], (uint32_t)kind, reason});
}

/* Instruction at an address of any listed function, or SASS_NO_INST. */
static uint32_t inst_at(const struct linking *l, uint64_t address)
{
	uint32_t lo = 0, hi = l->waits.n_inst;

	BISECT(lo, hi, i, l->waits.address[i] < address);
	return lo < l->waits.n_inst && l->waits.address[lo] == address ? lo : SASS_NO_INST;
}

/* Calls return and are not jumps here; BSSY names the place where lanes reconverge, which is not a
 * jump. */
static bool add_flow(struct linking *l, uint32_t i)
{
	const struct sass_inst *x = &l->waits.inst[i];
	uint32_t to =
		x->branch ? inst_at(l, l->waits.address[i] + (uint64_t)x->branch) : SASS_NO_INST;
	bool is_always = !(x->flags & SASS_CONDITIONAL);

	if (x->inst_class == SASS_BRANCH && to != SASS_NO_INST)
		return add_link(l, i, to, is_always ? CODE_LINK_GOTO : CODE_LINK_JUMP, NO_REASON);
	if (is_always && (x->inst_class == SASS_EXIT || x->inst_class == SASS_RETURN ||
				 x->inst_class == SASS_BRANCH))
		return add_link(l, i, i, CODE_LINK_END, NO_REASON);
	return true;
}

/* Adds jump tables; the targets of their rows are known then. */
static bool add_table_flow(struct linking *l)
{
	EACH (const struct sass_jump, j, l->jumps.v, l->jumps.n) {
		uint32_t from = inst_at(l, j->from), to = inst_at(l, j->to);

		if (from != SASS_NO_INST && to != SASS_NO_INST &&
			l->waits.inst[from].inst_class == SASS_BRANCH &&
			!add_link(l, from, to, CODE_LINK_GOTO, NO_REASON))
			return false;
	}
	return true;
}

/* Links a row, for each of its sampled reasons, to the instructions that may have caused it. */
static bool add_blame(struct linking *l, uint32_t i)
{
	const struct trace *t = l->c->t;
	code_idx row = l->row_of[i];
	const struct reason_count *counts = trace_reasons_of(t, row);

	for (uint32_t k = 0; k < t->n_reasons; k++) {
		enum sass_reason why =
			counts[k].all ? sass_reason_of(t->reasons[k]) : SASS_REASON_OTHER;
		struct sass_wait found[MAX_CANDIDATES];
		size_t n;

		if (why == SASS_REASON_OTHER)
			continue;
		n = sass_blame(&l->waits, i, why, found, MAX_CANDIDATES);
		l->n_unknown += n ? 0 : counts[k].all;
		for (size_t x = 0; x < n; x++)
			if (!add_link(
				    l, i, found[x].producer, (enum code_link_kind)found[x].kind, k))
				return false;
	}
	return true;
}

ORDER(by_row, struct code_link, UP(row) UP(kind) UP(reason) UP(to))

static bool commit_links(struct linking *l)
{
	struct trace *t = l->c->t;
	size_t n = 0;

	SORT(l->links.v, l->links.n, by_row);
	for (size_t i = 0; i < l->links.n; i++) {
		const struct code_link *x = &l->links.v[i], *last = n ? &l->links.v[n - 1] : NULL;
		bool is_known = last && x->kind == CODE_LINK_END && last->row == x->row &&
				last->kind == CODE_LINK_GOTO;

		/* one producer may be found on several paths */
		if (!is_known && (!last || by_row(last, x) != 0))
			l->links.v[n++] = *x;
	}
	t->code_links = arena_memdup(&t->arena, l->links.v, n * sizeof(*t->code_links));
	t->n_code_links = (uint32_t)n;
	return t->code_links || !n;
}

static uint64_t le_bytes(const uint8_t *p, unsigned n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | p[n];
	return v;
}

static bool add_jump(struct linking *l, uint64_t from, uint64_t to)
{
	return l->jumps.n >= MAX_JUMPS || VEC_PUSH(&l->jumps, (struct sass_jump){from, to});
}

/* CALL.ABS in loaded code: the address of the callee is from bit 32 on. */
static bool add_calls(struct linking *l, const struct sass_function *f)
{
	bool ok = true;

	for (uint32_t i = 0; ok && i < f->n_inst; i++) {
		const uint8_t *p = f->code + (size_t)i * SASS_INST_BYTES;

		if ((le_bytes(p, 2) & 0xfff) == OPCODE_CALL_ABS)
			ok = add_jump(
				l, f->load + (uint64_t)i * SASS_INST_BYTES, le_bytes(p + 4, 6));
	}
	return ok;
}

/* Calls that the loader resolves: the callee is in a relocation. */
static bool add_relocated_calls(struct linking *l, const struct sass_function *f)
{
	const struct sass_code *c = l->c;
	struct cubin_targets found = {0};
	bool ok = cubin_targets_of(&c->binaries.v[f->binary].cubin, f->section, &found);

	for (size_t i = 0; ok && i < found.n; i++) {
		uint64_t at = found.v[i].at & ~(uint64_t)(SASS_INST_BYTES - 1);

		if (at >= f->size / SASS_INST_BYTES * SASS_INST_BYTES ||
			sass_decode(sm_of(c, f), f->code + at).inst_class != SASS_CALL)
			continue;
		EACH (const struct sass_function, k, c->functions.v, c->functions.n) {
			if (k->n_inst && k->binary == f->binary && k->section == found.v[i].section)
				ok = ok && add_jump(l, f->load + at, k->load + found.v[i].offset);
		}
	}
	VEC_FREE(&found);
	return ok;
}

/* For each BRX: u32 its offset, u32 0, u32 n, then n times u32 target, from the function's
 * start. */
static bool add_tables(struct linking *l, const struct sass_function *f, struct str words)
{
	const uint8_t *p = (const uint8_t *)words.p, *end = p + words.n;

	while (end - p >= 12 && l->jumps.n < MAX_JUMPS) {
		uint64_t from = le_bytes(p, 4), n = le_bytes(p + 8, 4);

		for (p += 12; n && end - p >= 4; n--, p += 4)
			if (!add_jump(l, f->load + from, f->load + le_bytes(p, 4)))
				return false;
	}
	return true;
}

/* Records of .nv.info.<function>: u8 format, u8 attribute, u16 number of bytes that follow, or a
 * value. */
static bool add_info(struct linking *l, const struct sass_function *f, const struct elf_section *s)
{
	const uint8_t *p = s->data, *end = p + s->size;
	bool ok = true;

	while (ok && end - p >= 4) {
		uint64_t n = p[0] == INFO_SIZED ? le_bytes(p + 2, 2) : 0;
		bool is_tables = p[0] == INFO_SIZED && p[1] == INFO_JUMP_TABLES;

		p += 4;
		if (n > (uint64_t)(end - p))
			break;
		ok = !is_tables || add_tables(l, f, (struct str){(const char *)p, n});
		p += n;
	}
	return ok;
}

static bool add_jumps(struct linking *l, const struct sass_function *f)
{
	const struct elf_image *x = &l->c->binaries.v[f->binary].cubin.elf;
	bool ok = add_calls(l, f) && add_relocated_calls(l, f);

	for (uint32_t i = 0; ok && i < x->n_sections && l->jumps.n < MAX_JUMPS; i++)
		if (x->sections[i].type == TYPE_NV_INFO && x->sections[i].info == f->section &&
			x->sections[i].data)
			ok = add_info(l, f, &x->sections[i]);
	return ok;
}

/* Passes the code sorted by address, as the decoder requires. */
static bool find_waits(struct linking *l)
{
	struct sass_code *c = l->c;
	struct arena *a = c->scratch;
	struct sass_text *texts = arena_zalloc(a, c->functions.n + 1, sizeof(*texts));
	size_t n = 0, n_inst = 0;
	unsigned sm = 0;
	bool ok = true;

	l->row_of = arena_zalloc(a, c->rows.n + 1, sizeof(*l->row_of));
	if (!texts || !l->row_of)
		return false;
	EACH (const struct sass_function, f, c->functions.v, c->functions.n) {
		if (!f->n_inst)
			continue;
		texts[n++] =
			(struct sass_text){f->load, f->code, (size_t)f->n_inst * SASS_INST_BYTES};
		sm = sm_of(c, f);
		for (uint32_t i = 0; i < f->n_inst; i++)
			l->row_of[n_inst++] = f->row_of[i];
		ok = ok && add_jumps(l, f);
	}
	return ok && sass_waits_find(a, sm, texts, n, l->jumps.v, l->jumps.n, &l->waits);
}

bool sass_link_code(struct sass_code *c, struct incore_error *e)
{
	struct linking l = {.c = c};
	struct trace *t = c->t;
	bool ok = find_waits(&l);

	for (uint32_t i = 0; ok && i < l.waits.n_inst; i++)
		ok = add_flow(&l, i) && (!t->samples || add_blame(&l, i));
	ok = ok && add_table_flow(&l) && commit_links(&l);
	VEC_FREE(&l.links);
	VEC_FREE(&l.jumps);
	if (ok && l.n_unknown)
		ok = trace_note(t, NOTE_INFO, "unknown-producers", NULL, INCORE_NO_OFFSET,
			l.n_unknown,
			"%llu samples of waits have no instruction in the code that they can be for",
			(unsigned long long)l.n_unknown);
	return ok || err_nomem(e);
}
