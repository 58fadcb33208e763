/* SPDX-License-Identifier: Apache-2.0 */
/*
 * races.c: compares the accesses of each op with the latest ones of every byte. A buffer is cut
 * into pages; a page has a sorted list of segments, each with its last write and the reads since.
 * Readers that are ordered before a newer one are dropped: whatever follows the newer one follows
 * them.
 */
#include "model/engine/races.h"
#include "base/search.h"

#include "model/engine/engine_internal.h"
#include "model/stream/ranges.h"

#define PAGE 16384u
#define MAX_READERS 6 /* readers that are not ordered among each other */
#define ATOMIC 0x80
#define MAX_HITS 16
#define GM_BUFFERS (BLOCK_CORES * LOC_COUNT) /* first number of global-memory buffers */

struct seg {
	uint16_t from, to; /* in the page */
	uint8_t w_pipe;
	uint8_t n_readers;
	uint8_t r_pipe[MAX_READERS]; /* ATOMIC: an atomic store, not a read */
	uint32_t w_op;		     /* + 1; 0: none */
	uint32_t r_op[MAX_READERS];  /* + 1 */
};

struct race_page {
	VEC(struct seg) v;
};

struct hit { /* a race of the current op */
	uint32_t op;
	uint8_t pipe;
	bool is_write; /* the other one */
	unsigned buffer, slot;
	uint64_t first, end;
	bool mine_writes;
};

struct gm_buffer {
	uint32_t alloc;
	bool is_written;
};

struct races {
	const struct opstream_set *set;
	struct timed *out;
	const struct opstream *s[BLOCK_CORES];
	uint32_t stream[BLOCK_CORES];
	uint32_t n;
	struct race_clock clock[RACE_PIPES];
	uint64_t joined[RACE_PIPES];
	uint32_t settled
		[RACE_PIPES]; /* last of its own ops (+ 1) that a pipe knows to be complete */
	struct {
		VEC(struct race_clock) v;
		uint64_t base, version;
	} snaps[BLOCK_CORES];
	VEC(struct race_page) pages;
	struct u64_map page_at;
	VEC(struct gm_buffer) gm;
	struct range_list ranges;
	struct hit hits[MAX_HITS];
	unsigned n_hits;
	bool failed;
};

struct access {
	unsigned buffer, slot;
	uint8_t pipe; /* core * ENGINE_PIPES + pipe */
	uint32_t op;  /* + 1 */
	bool reads, writes, is_atomic;
};

/* --- clocks --- */

struct race_clock *races_clock(struct races *r, unsigned core, unsigned pipe)
{
	return &r->clock[core * ENGINE_PIPES + pipe];
}

uint64_t races_version(const struct races *r, unsigned core)
{
	return r->snaps[core].version;
}

void races_scalar_changed(struct races *r, unsigned core, bool keep_old)
{
	r->snaps[core].version++;
	if (!keep_old) {
		r->snaps[core].base = r->snaps[core].version;
		r->snaps[core].v.n = 0;
	}
	if (!VEC_PUSH(&r->snaps[core].v, *races_clock(r, core, OPP_S)))
		r->failed = true;
}

void races_issued(struct races *r, unsigned core, unsigned pipe, uint64_t version)
{
	uint64_t *joined = &r->joined[core * ENGINE_PIPES + pipe];

	if (*joined >= version)
		return;
	*joined = version;
	version -= r->snaps[core].base;
	if (version < r->snaps[core].v.n)
		races_join(r, core, pipe, &r->snaps[core].v.v[version]);
}

void races_join(struct races *r, unsigned core, unsigned pipe, const struct race_clock *from)
{
	unsigned me = core * ENGINE_PIPES + pipe;

	if (from->at[me] > r->settled[me])
		r->settled[me] = from->at[me];
	race_join(&r->clock[me], from);
}

void races_barrier(struct races *r, unsigned core, unsigned pipe)
{
	unsigned me = core * ENGINE_PIPES + pipe;

	r->settled[me] = r->clock[me].at[me];
}

/* --- segments --- */

static bool is_before(const struct race_clock *mine, uint8_t pipe, uint32_t op)
{
	return op <= mine->at[pipe];
}

static void hit(struct races *r, const struct access *a, uint8_t pipe, uint32_t op, bool is_write,
	const struct range *at)
{
	struct hit *h;

	for (unsigned i = 0; i < r->n_hits; i++) {
		h = &r->hits[i];
		if (h->op == op && h->pipe == pipe && h->buffer == a->buffer) {
			h->first = at->from < h->first ? at->from : h->first;
			h->end = at->to > h->end ? at->to : h->end;
			h->is_write |= is_write;
			h->mine_writes |= a->writes && pipe != a->pipe; /* of one pipe: the first */
			return;
		}
	}
	if (r->n_hits < MAX_HITS)
		r->hits[r->n_hits++] = (struct hit){
			op, pipe, is_write, a->buffer, a->slot, at->from, at->to, a->writes};
}

static void check_seg(
	struct races *r, const struct access *a, const struct seg *s, const struct range *at)
{
	const struct race_clock *mine = &r->clock[a->pipe];

	if (s->w_op && s->w_pipe != a->pipe && !is_before(mine, s->w_pipe, s->w_op))
		hit(r, a, s->w_pipe, s->w_op, true, at);
	for (unsigned i = 0; i < s->n_readers; i++) {
		uint8_t pipe = s->r_pipe[i] & (ATOMIC - 1);
		bool atomic = s->r_pipe[i] & ATOMIC;

		if (pipe == a->pipe || is_before(mine, pipe, s->r_op[i]))
			continue;
		if (atomic ? !a->is_atomic : a->writes)
			hit(r, a, pipe, s->r_op[i], atomic, at);
	}
}

static void mark_seg(struct races *r, const struct access *a, struct seg *s)
{
	const struct race_clock *mine = &r->clock[a->pipe];
	uint8_t tag = a->is_atomic ? ATOMIC : 0;
	unsigned n = 0;

	if (a->writes && !a->is_atomic) {
		s->w_op = a->op;
		s->w_pipe = a->pipe;
		s->n_readers = 0;
		return;
	}
	for (unsigned i = 0; i < s->n_readers; i++) {
		uint8_t pipe = s->r_pipe[i] & (ATOMIC - 1);

		if ((s->r_pipe[i] & ATOMIC) == tag &&
			(pipe == a->pipe || is_before(mine, pipe, s->r_op[i])))
			continue;
		s->r_pipe[n] = s->r_pipe[i];
		s->r_op[n++] = s->r_op[i];
	}
	if (n == MAX_READERS) /* drop the oldest */
		n = MAX_READERS - 1;
	s->r_pipe[n] = a->pipe | tag;
	s->r_op[n++] = a->op;
	s->n_readers = (uint8_t)n;
}

static bool insert(struct race_page *p, size_t at, struct seg s)
{
	if (!VEC_RESERVE(&p->v, p->v.n + 1))
		return false;
	memmove(p->v.v + at + 1, p->v.v + at, (p->v.n - at) * sizeof(s));
	p->v.v[at] = s;
	p->v.n++;
	return true;
}

/* Splits segment i at byte `at`; both halves keep its state. */
static bool split(struct race_page *p, size_t i, uint16_t at)
{
	struct seg right = p->v.v[i];

	right.from = at;
	p->v.v[i].to = at;
	return insert(p, i + 1, right);
}

static size_t find_seg(const struct race_page *p, uint32_t at)
{
	size_t lo = 0, hi = p->v.n;

	BISECT(lo, hi, i, p->v.v[i].to <= at);
	return lo;
}

/* After a write all touched segments are equal, so they are merged. */
static void merge_touches(struct race_page *p, size_t first, size_t last)
{
	p->v.v[first].to = p->v.v[last - 1].to;
	memmove(p->v.v + first + 1, p->v.v + last, (p->v.n - last) * sizeof(p->v.v[0]));
	p->v.n -= last - first - 1;
}

static bool touch_page(struct races *r, const struct access *a, struct race_page *p, uint64_t base,
	struct range at)
{
	size_t i = find_seg(p, (uint32_t)at.from), first;
	uint32_t pos = (uint32_t)at.from;

	if (i < p->v.n && p->v.v[i].from < pos && !split(p, i++, (uint16_t)pos))
		return false;
	for (first = i; pos < at.to; i++) {
		uint32_t next =
			i < p->v.n && p->v.v[i].from < at.to ? p->v.v[i].from : (uint32_t)at.to;
		struct seg *s;

		if (next > pos &&
			!insert(p, i, (struct seg){.from = (uint16_t)pos, .to = (uint16_t)next}))
			return false;
		if (p->v.v[i].to > at.to && !split(p, i, (uint16_t)at.to))
			return false;
		s = &p->v.v[i];
		check_seg(r, a, s, &(struct range){base + s->from, base + s->to});
		mark_seg(r, a, s);
		pos = s->to;
	}
	if (a->writes && !a->is_atomic && i > first + 1)
		merge_touches(p, first, i);
	return true;
}

static struct race_page *page_of(struct races *r, unsigned buffer, uint64_t number)
{
	uint64_t *slot = u64_map_at(&r->page_at, (uint64_t)buffer << 40 | number);

	if (!slot)
		return NULL;
	if (!*slot) {
		if (!VEC_PUSH(&r->pages, (struct race_page){0}))
			return NULL;
		*slot = r->pages.n;
	}
	return &r->pages.v[*slot - 1];
}

static bool touch(struct races *r, const struct access *a, const struct range *at)
{
	for (uint64_t from = at->from; from < at->to;) {
		uint64_t number = from / PAGE, base = number * PAGE;
		uint64_t to = at->to < base + PAGE ? at->to : base + PAGE;
		struct race_page *p = page_of(r, a->buffer, number);

		if (!p || !touch_page(r, a, p, base, (struct range){from - base, to - base}))
			return false;
		from = to;
	}
	return true;
}

/* --- reports --- */

static const char *buffer_name(const struct races *r, const struct hit *h, unsigned core)
{
	static const char *const names[LOC_COUNT] = {"UB", "L1", "L0A", "L0B", "L0C",
		"the bias buffer", "the scaling buffer", "the left scale buffer",
		"the right scale buffer", "the control buffer"};

	if (h->buffer >= GM_BUFFERS)
		return arena_printf(&r->out->arena, "GM slot %u", h->slot);
	return arena_printf(&r->out->arena, "%s of %s", names[h->buffer % LOC_COUNT],
		opstream_core_name(
			r->s[h->buffer / LOC_COUNT < r->n ? h->buffer / LOC_COUNT : core]));
}

static struct finding_op op_at(const struct races *r, uint8_t pipe, uint32_t op)
{
	return (struct finding_op){
		r->stream[pipe / ENGINE_PIPES], op - 1, (uint8_t)(pipe % ENGINE_PIPES)};
}

static const char *missing_edge(
	const struct races *r, const struct finding_op *a, const struct finding_op *b)
{
	if (a->stream == b->stream && a->pipe == b->pipe)
		return "pipe_barrier(PIPE_V) between them";
	if (a->stream != b->stream)
		return arena_printf(&r->out->arena,
			"a cross-core set after the one on %s, a wait before the other on %s",
			opstream_core_name(&r->set->v.v[a->stream]),
			opstream_core_name(&r->set->v.v[b->stream]));
	return arena_printf(&r->out->arena,
		"set_flag(PIPE_%s, PIPE_%s) after the first, wait_flag(PIPE_%s, PIPE_%s) before the second",
		op_pipe_name(a->pipe), op_pipe_name(b->pipe), op_pipe_name(a->pipe),
		op_pipe_name(b->pipe));
}

static bool fill_finding(struct races *r, struct model_finding *f, const struct hit *h,
	unsigned core, const char *hazard)
{
	struct strbuf text = {0};

	f->hazard = hazard;
	f->buffer = buffer_name(r, h, core);
	f->missing = missing_edge(r, &f->a, &f->b);
	f->first_byte = h->first;
	f->end_byte = h->end;
	sb_printf(&text, "%s (%s): ", f->kind == FIND_RACE ? "race" : "missing barrier", hazard);
	finding_put_op(r->set, &f->a, &text);
	sb_puts(&text, " and ");
	finding_put_op(r->set, &f->b, &text);
	sb_printf(&text,
		" touch bytes 0x%llx to 0x%llx of %s with nothing between them; missing: %s",
		(unsigned long long)h->first, (unsigned long long)h->end - 1,
		f->buffer ? f->buffer : "?", f->missing ? f->missing : "?");
	f->note.message = text.failed ? NULL : arena_strdup(&r->out->arena, text.p);
	sb_free(&text);
	return f->note.message && f->buffer && f->missing;
}

static bool report(struct races *r, const struct hit *h, uint8_t pipe, uint32_t op)
{
	struct finding_op other = op_at(r, h->pipe, h->op), mine = op_at(r, pipe, op);
	bool is_swapped = other.stream == mine.stream && other.op > mine.op;
	struct finding_op *a = is_swapped ? &mine : &other, *b = is_swapped ? &other : &mine;
	bool a_writes = is_swapped ? h->mine_writes : h->is_write;
	bool b_writes = is_swapped ? h->is_write : h->mine_writes;
	const char *hazard = a_writes && b_writes ? "WAW" : a_writes ? "RAW" : "WAR";
	struct model_finding *f =
		finding_add(r->out, r->set, h->pipe == pipe ? FIND_NO_BARRIER : FIND_RACE, a, b);

	if (!f)
		return false;
	return f->note.message || fill_finding(r, f, h, pipe / ENGINE_PIPES, hazard);
}

/* --- ops --- */

/* The buffer of an operand; false: it is not tracked. */
static bool buffer_of(const struct races *r, unsigned core, const struct op_opnd *o, unsigned *out)
{
	const struct opstream *s = r->s[core];

	if (o->what == OPND_TILE) {
		*out = core * LOC_COUNT + o->loc;
		return true;
	}
	for (size_t i = 0; i < s->slots.n; i++) {
		if (s->slots.v[i].slot != o->slot)
			continue;
		for (size_t k = 0; k < r->gm.n; k++)
			if (r->gm.v[k].alloc == s->slots.v[i].alloc) {
				*out = GM_BUFFERS + (unsigned)k;
				return r->gm.v[k].is_written;
			}
	}
	return false;
}

static bool touch_operand(
	struct races *r, unsigned core, unsigned pipe, const struct op_exec *x, unsigned k)
{
	const struct opstream *s = r->s[core];
	const struct op_form *f = &s->forms.v[x->form];
	const struct op_opnd *o = &s->opnds.v[f->first_opnd + k];
	struct access a = {.slot = o->slot,
		.pipe = (uint8_t)(core * ENGINE_PIPES + pipe),
		.op = (uint32_t)(x - s->ops.v) + 1,
		.reads = o->access & ACCESS_READ,
		.writes = o->access & ACCESS_WRITE};

	if (!(a.reads || a.writes) || !buffer_of(r, core, o, &a.buffer))
		return true;
	a.is_atomic = a.writes && o->what == OPND_GM && f->atomic == 1;
	r->ranges.v.n = 0;
	r->ranges.bytes = 0;
	r->ranges.is_cut = false;
	if (!ranges_of(s, x, k, &r->ranges))
		return false;
	r->out->n_unchecked += r->ranges.is_cut;
	for (size_t i = 0; i < r->ranges.v.n; i++)
		if (!touch(r, &a, &r->ranges.v.v[i]))
			return false;
	return true;
}

/* The vector pipe works repeat by repeat: if both ops process the same tile and the first has this
 * many repeats, each of its results is ready before the second needs it. */
#define LONG_REPEATS 16

static bool is_long_chain(
	const struct opstream *s, uint32_t op, unsigned access, const struct op_exec *x, unsigned k)
{
	const struct op_exec *w = &s->ops.v[op];
	const struct op_form *f = &s->forms.v[w->form];
	const struct op_opnd *mine = &s->opnds.v[s->forms.v[x->form].first_opnd + k];

	for (unsigned i = 0; i < f->n_opnds; i++) {
		const struct op_opnd *o = &s->opnds.v[f->first_opnd + i];
		uint64_t bytes = (uint64_t)OPND_VROW(o) * OPND_VCOL(o) * o->bits / 8;

		if (o->what == OPND_TILE && o->access & access && o->loc == mine->loc &&
			o->bits == mine->bits && o->blayout == mine->blayout &&
			o->slayout == mine->slayout &&
			memcmp(o->shape, mine->shape, 4 * sizeof(o->shape[0])) == 0 &&
			s->words.v[w->first_word + i] == s->words.v[x->first_word + k])
			return (bytes + 255) / 256 >= LONG_REPEATS;
	}
	return false;
}

/* An op of the vector pipe starts after the earlier ones, but before they are complete. */
static void check_own_seg(struct races *r, const struct access *a, const struct op_exec *x,
	unsigned k, const struct seg *g, const struct range *at)
{
	const struct opstream *s = r->s[a->pipe / ENGINE_PIPES];
	uint32_t settled = r->settled[a->pipe];

	/* results of the same operation come in the order of their starts */
	if (g->w_op > settled && g->w_pipe == a->pipe &&
		(a->reads || s->forms.v[s->ops.v[g->w_op - 1].form].op != s->forms.v[x->form].op) &&
		!is_long_chain(s, g->w_op - 1, ACCESS_WRITE, x, k))
		hit(r, a, a->pipe, g->w_op, true, at);
	for (unsigned i = 0; a->writes && i < g->n_readers; i++)
		if (g->r_op[i] > settled && g->r_pipe[i] == a->pipe &&
			!is_long_chain(s, g->r_op[i] - 1, ACCESS_READ, x, k))
			hit(r, a, a->pipe, g->r_op[i], false, at);
}

/* Does an op of the vector pipe depend on an earlier op of that pipe, with no barrier between? */
static bool check_barrier(
	struct races *r, unsigned core, const struct op_exec *x, unsigned k, unsigned access)
{
	const struct opstream *s = r->s[core];
	const struct op_opnd *o = &s->opnds.v[s->forms.v[x->form].first_opnd + k];
	uint8_t me = (uint8_t)(core * ENGINE_PIPES + OPP_V);
	struct access a = {.pipe = me,
		.op = (uint32_t)(x - s->ops.v) + 1,
		.reads = access == ACCESS_READ,
		.writes = access == ACCESS_WRITE};

	/* what is scratch to both holds nothing that the second needs */
	if (o->what != OPND_TILE || !(o->access & access) || o->role == ROLE_TMP ||
		!buffer_of(r, core, o, &a.buffer))
		return true;
	r->ranges.v.n = 0;
	r->ranges.bytes = 0;
	r->ranges.is_cut = false;
	if (!ranges_of(s, x, k, &r->ranges))
		return false;
	EACH (const struct range, at, r->ranges.v.v, r->ranges.v.n) {
		for (uint64_t number = at->from / PAGE; number * PAGE < at->to; number++) {
			uint64_t base = number * PAGE;
			struct race_page *p = page_of(r, a.buffer, number);

			if (!p)
				return false;
			for (size_t i = find_seg(
				     p, (uint32_t)(at->from > base ? at->from - base : 0));
				i < p->v.n && base + p->v.v[i].from < at->to; i++) {
				const struct seg *g = &p->v.v[i];

				check_own_seg(r, &a, x, k, g,
					&(struct range){base + g->from, base + g->to});
			}
		}
	}
	return true;
}

bool races_op(struct races *r, unsigned core, unsigned pipe, uint32_t op)
{
	const struct op_exec *x = &r->s[core]->ops.v[op];
	const struct op_form *f = &r->s[core]->forms.v[x->form];
	uint8_t me = (uint8_t)(core * ENGINE_PIPES + pipe);

	r->n_hits = 0;
	/* reads first: if an op reads and overwrites a result, the read is reported */
	for (unsigned k = 0; pipe == OPP_V && r->s[core]->arch == ARCH_A2A3 && k < 2u * f->n_opnds;
		k++)
		if (!check_barrier(r, core, x, k % f->n_opnds,
			    k < f->n_opnds ? ACCESS_READ : ACCESS_WRITE))
			return false;
	for (unsigned k = 0; k < f->n_opnds; k++)
		if (!touch_operand(r, core, pipe, x, k))
			return false;
	r->clock[me].at[me] = op + 1;
	for (unsigned i = 0; i < r->n_hits; i++)
		if (!report(r, &r->hits[i], me, op + 1))
			return false;
	return !r->failed;
}

/* --- all --- */

/* Memory that no op of the block writes cannot race and is not tracked. */
static bool find_gm(struct races *r, const struct opstream *s)
{
	for (size_t i = 0; i < s->slots.n; i++) {
		struct gm_buffer *b = NULL;

		for (size_t k = 0; k < r->gm.n && !b; k++)
			if (r->gm.v[k].alloc == s->slots.v[i].alloc)
				b = &r->gm.v[k];
		if (!b && !VEC_PUSH(&r->gm, (struct gm_buffer){s->slots.v[i].alloc, false}))
			return false;
		b = b ? b : &r->gm.v[r->gm.n - 1];
		for (size_t k = 0; k < s->opnds.n; k++)
			if (s->opnds.v[k].what == OPND_GM && s->opnds.v[k].access & ACCESS_WRITE &&
				s->opnds.v[k].slot == s->slots.v[i].slot)
				b->is_written = true;
	}
	return true;
}

struct races *races_new(
	const struct opstream_set *set, const uint32_t *streams, uint32_t n, struct timed *out)
{
	struct races *r = mem_zalloc(1, sizeof(*r));
	bool ok = r != NULL;

	if (!r)
		return NULL;
	r->set = set;
	r->out = out;
	r->n = n;
	for (uint32_t i = 0; ok && i < n; i++) {
		r->stream[i] = streams[i];
		r->s[i] = &set->v.v[streams[i]];
		ok = find_gm(r, r->s[i]) && VEC_PUSH(&r->snaps[i].v, (struct race_clock){{0}});
	}
	if (!ok) {
		races_free(r);
		return NULL;
	}
	return r;
}

void races_free(struct races *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->pages.n; i++)
		VEC_FREE(&r->pages.v[i].v);
	VEC_FREE(&r->pages);
	u64_map_deinit(&r->page_at);
	VEC_FREE(&r->gm);
	VEC_FREE(&r->ranges.v);
	for (unsigned i = 0; i < BLOCK_CORES; i++)
		VEC_FREE(&r->snaps[i].v);
	mem_free(r);
}
