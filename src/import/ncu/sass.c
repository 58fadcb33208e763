/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sass.c: what the instructions of a result are, and whom each can have waited for: the decoder's
 * classes in the words of the trace, and its candidates for the reasons that samples gave.
 */
#include "base/search.h"
#include "import/ncu/code.h"
#include "isa/sass/sass_waits.h"

#define TEXT_BYTES 128
#define MAX_CANDIDATES 32u
#define OPCODE_CALL_ABS 0x943u

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

static unsigned sm_of(const struct code_build *c, const struct ncu_function *f)
{
	return c->binaries.v[f->binary].cubin.sm;
}

static bool write_text(struct code_build *c, const struct ncu_function *f, uint32_t i)
{
	const uint8_t *p = f->code + (size_t)i * NCU_INST_BYTES;
	struct sass_inst inst = sass_decode(sm_of(c, f), p);
	struct code_row *row = &c->rows.v[f->row_of[i]];
	char text[TEXT_BYTES];
	struct str s = row->text_len ? (struct str){row->text, row->text_len}
				     : str_of(sass_text(sm_of(c, f), p, text, sizeof(text)));
	struct str word = s;

	/* A guard stands before the mnemonic. */
	if (word.n && word.p[0] == '@')
		word = str_sub(word, strcspn(word.p, " ") + 1, word.n);
	word.n = strcspn(word.n ? word.p : "", " .");
	if (!row->text_len)
		row->text = arena_strndup(&c->b->t->arena, s.p, s.n);
	row->text_len = (uint32_t)s.n;
	row->opcode = intern_add(&c->opcodes, word);
	row->inst_class = classes[inst.inst_class < SASS_CLASSES ? inst.inst_class : SASS_UNKNOWN];
	/* LDGDEPBAR stands for the copies of its group: whoever waits for it waits for them. */
	if (inst.inst_class == SASS_DEPBAR && inst.flags & SASS_GROUP_CLOSE)
		row->inst_class = CLASS_VMEM_TO_LDS;
	return row->text && row->opcode != INTERN_NONE;
}

bool ncu_write_texts(struct code_build *c, struct incore_error *e)
{
	if (!ncu_ask_nvdisasm(c, e))
		return false;
	EACH (const struct ncu_function, f, c->functions.v, c->functions.n) {
		for (uint32_t i = 0; i < f->n_inst; i++)
			if (!write_text(c, f, i))
				return err_nomem(e);
	}
	return true;
}

/* --- links --- */

struct calls {
	struct sass_jump *v;
	size_t n, cap;
};

struct linking {
	struct code_build *c;
	struct sass_waits waits;
	code_idx *row_of; /* by instruction of all functions, as the decoder counts them */
	VEC(struct code_link) links;
	uint64_t n_unknown; /* samples that name a producer and found none */
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
	for (uint32_t lo = 0, hi = l->waits.n_inst;;) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (lo >= hi)
			return SASS_NO_INST;
		if (l->waits.address[mid] == address)
			return mid;
		if (l->waits.address[mid] < address)
			lo = mid + 1;
		else
			hi = mid;
	}
}

/* Calls come back and are no jump here; BSSY names where lanes meet again, which is no jump. */
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

/* For each reason that samples of a row gave: who can have caused it. */
static bool add_blame(struct linking *l, uint32_t i)
{
	const struct trace *t = l->c->b->t;
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
	struct trace *t = l->c->b->t;
	size_t n = 0;

	SORT(l->links.v, l->links.n, by_row);
	for (size_t i = 0; i < l->links.n; i++) /* one producer may be found on several ways */
		if (!i || by_row(&l->links.v[i - 1], &l->links.v[i]) != 0)
			l->links.v[n++] = l->links.v[i];
	t->code_links = arena_memdup(&t->arena, l->links.v, n * sizeof(*t->code_links));
	t->n_code_links = (uint32_t)n;
	return t->code_links || !n;
}

/* CALL.ABS of code that was loaded: the address of the function called, from bit 32 on. */
static bool add_calls(const struct ncu_function *f, struct calls *calls)
{
	for (uint32_t i = 0; i < f->n_inst; i++) {
		const uint8_t *p = f->code + (size_t)i * NCU_INST_BYTES;
		uint64_t to = 0;

		if ((p[0] | (p[1] & 15u) << 8) != OPCODE_CALL_ABS)
			continue;
		for (unsigned k = 6; k-- > 0;)
			to = to << 8 | p[4 + k];
		if (!VEC_PUSH(
			    calls, (struct sass_jump){f->load + (uint64_t)i * NCU_INST_BYTES, to}))
			return false;
	}
	return true;
}

/* Texts in the order of their addresses, as the decoder wants them. */
static bool find_waits(struct linking *l)
{
	struct code_build *c = l->c;
	struct arena *a = &c->b->scratch;
	struct sass_text *texts = arena_zalloc(a, c->functions.n + 1, sizeof(*texts));
	size_t n = 0, n_inst = 0;
	struct calls calls = {0};
	unsigned sm = 0;
	bool ok = true;

	l->row_of = arena_zalloc(a, c->rows.n + 1, sizeof(*l->row_of));
	if (!texts || !l->row_of)
		return false;
	EACH (const struct ncu_function, f, c->functions.v, c->functions.n) {
		if (!f->n_inst)
			continue;
		texts[n++] =
			(struct sass_text){f->load, f->code, (size_t)f->n_inst * NCU_INST_BYTES};
		sm = sm_of(c, f);
		for (uint32_t i = 0; i < f->n_inst; i++)
			l->row_of[n_inst++] = f->row_of[i];
		ok = ok && add_calls(f, &calls);
	}
	ok = ok && sass_waits_find(a, sm, texts, n, calls.v, calls.n, &l->waits);
	VEC_FREE(&calls);
	return ok;
}

bool ncu_link_code(struct code_build *c, struct incore_error *e)
{
	struct linking l = {.c = c};
	struct trace *t = c->b->t;
	bool ok = find_waits(&l);

	for (uint32_t i = 0; ok && i < l.waits.n_inst; i++)
		ok = add_flow(&l, i) && (!t->samples || add_blame(&l, i));
	ok = ok && commit_links(&l);
	VEC_FREE(&l.links);
	if (ok && l.n_unknown)
		ok = trace_note(t, NOTE_INFO, "unknown-producers", NULL, INCORE_NO_OFFSET,
			l.n_unknown,
			"%llu samples of waits have no instruction in the code that they can be for",
			(unsigned long long)l.n_unknown);
	return ok || err_nomem(e);
}
