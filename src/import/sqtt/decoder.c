/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decoder.c: decodes the stream of one shader engine from the first byte to the last record.
 *
 * Parts: what capture software writes into a stream; which generation; the instruction at an
 * address; the stream.
 */
#include "import/sqtt/decoder.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"
#include "import/sqtt/internal.h"

/* --- what capture software writes into a stream ----------------------------------------------- */

/*
 * Data that the capture software wrote into the stream: markers of several words announce code
 * objects that are loaded and unloaded, the realtime clock (gfx9) has three words, frequency and
 * counter interval have one.
 */

#define ENABLE_WORD 0x434f5200u
enum opcode { OP_CODE_OBJECT = 4, OP_REALTIME = 5, OP_AGENT_INFO = 6, OP_REALTIME_SHORT = 7 };
enum object_word {
	WORD_TAIL,
	WORD_SIZE_LO,
	WORD_ADDR_LO,
	WORD_ADDR_HI,
	WORD_SIZE_HI,
	WORD_ID_LO,
	WORD_ID_HI,
	WORD_COUNT
};

static uint64_t userdata_join(const uint32_t half[2])
{
	return (uint64_t)half[1] << 32 | half[0];
}

static bool overlaps(const struct object_range *a, const struct object_range *b)
{
	return a->base < b->base + b->size && b->base < a->base + a->size;
}

/* For an address range that is reused: 0.1.6 keeps the first owner, but the newest is right. */
static void evict(struct decoder *d, const struct object_range *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->user.ranges.n; i++) {
		if (overlaps(&d->user.ranges.v[i], r))
			sqtt_note(d, SQTT_DIFF_RANGE_REUSED);
		else
			d->user.ranges.v[kept++] = d->user.ranges.v[i];
	}
	d->user.ranges.n = kept;
}

static void unload(struct userdata *u, uint32_t object)
{
	size_t kept = 0;

	for (size_t i = 0; i < u->ranges.n; i++)
		if (u->ranges.v[i].object != object)
			u->ranges.v[kept++] = u->ranges.v[i];
	u->ranges.n = kept;
}

static void apply_tail(struct decoder *d, struct object_words *o, uint32_t tail)
{
	uint64_t id = tail >> 2 ? tail >> 2 : userdata_join(o->id);
	struct object_range r = {userdata_join(o->addr), userdata_join(o->size), (uint32_t)id};

	*o = (struct object_words){0};
	d->user.version++;
	d->res->object_markers++;
	if (tail & 1) {
		unload(&d->user, r.object);
		return;
	}
	if (id == 0 || id > SQTT_MAX_OBJECT || r.base > UINT64_MAX - r.size ||
		d->user.ranges.n >= MAX_RANGES || d->user.preloaded.n >= MAX_RANGES) {
		sqtt_note(d, SQTT_NOTE_BAD_OBJECT);
		return;
	}
	if (!d->is_c16)
		evict(d, &r);
	sqtt_need(d, VEC_PUSH(&d->user.ranges, r));
	if (tail & 2)
		sqtt_need(d, VEC_PUSH(&d->user.preloaded, r));
}

static void userdata_take_word(struct decoder *d, struct object_words *o, uint32_t data)
{
	unsigned type = o->expect - 1u;

	o->expect = 0;
	switch (type) {
	case WORD_TAIL:
		apply_tail(d, o, data);
		break;
	case WORD_SIZE_LO:
	case WORD_SIZE_HI:
		o->size[type == WORD_SIZE_HI] = data;
		break;
	case WORD_ADDR_LO:
	case WORD_ADDR_HI:
		o->addr[type == WORD_ADDR_HI] = data;
		break;
	default:
		o->id[type == WORD_ID_HI] = data;
		break;
	}
}

static void agent_info(struct decoder *d, unsigned type, uint32_t value)
{
	if (type == 0)
		d->res->rt_frequency_hz = (uint64_t)value * 1000;
	else if (type == 1)
		d->perf_interval = value;
}

static void write2(struct decoder *d, unsigned queue, uint32_t data)
{
	struct object_words *o = &d->user.words[queue & 7];
	unsigned type = data >> 8 & 0xf;

	if (data == ENABLE_WORD && !o->expect) {
		d->user.is_enabled = true;
		return;
	}
	if (!d->user.is_enabled)
		return;
	if (o->expect)
		userdata_take_word(d, o, data);
	else if ((data & 0xff) == OP_AGENT_INFO)
		agent_info(d, type, data >> 12);
	else if ((data & 0xff) == OP_CODE_OBJECT && data >> 12 == 0 && type < WORD_COUNT)
		o->expect = (uint8_t)(type + 1);
}

static void userdata_add_realtime(struct decoder *d, int64_t now, uint64_t clock)
{
	sqtt_need(d, VEC_PUSH(&d->realtime, (struct sqtt_realtime){now, clock, (uint32_t)d->off}));
}

static void write3(struct decoder *d, uint32_t data, int64_t now)
{
	struct userdata *u = &d->user;
	uint32_t count = data >> 12;

	if (u->rt_expect == 0) {
		if ((data & 0xff) == OP_REALTIME && (count == 0 || (!d->is_c16 && count == 3)))
			u->rt_expect = 3;
		else if ((data & 0xff) == OP_REALTIME_SHORT && !d->is_c16)
			u->rt_expect = 1;
		u->is_rt_short = u->rt_expect == 1;
		if (u->is_rt_short || (u->rt_expect && count))
			sqtt_newer(d);
		return;
	}
	u->rt_expect--;
	if (u->rt_expect == 2)
		u->rt_low = data;
	else if (u->rt_expect == 1)
		u->rt_high = data;
	else if (u->is_rt_short)
		userdata_add_realtime(d, now, data);
	else /* the low half overflowed between its two readings */
		userdata_add_realtime(
			d, now, ((uint64_t)u->rt_high + (data < u->rt_low)) << 32 | data);
}

void userdata_write(struct decoder *d, unsigned reg, unsigned queue, uint32_t data, int64_t now)
{
	if (d->user.places)
		return;
	if (reg == REG_USERDATA2)
		write2(d, queue, data);
	else if (reg == REG_USERDATA3 && d->stream.gfx_major == 9)
		write3(d, data, now);
}

static struct sqtt_pc find_object(const struct object_range *r, size_t n, uint64_t addr)
{
	for (size_t i = 0; i < n; i++)
		if (addr - r[i].base < r[i].size && addr >= r[i].base)
			return (struct sqtt_pc){addr - r[i].base + r[i].vaddr, r[i].object};
	return (struct sqtt_pc){addr, 0};
}

static struct sqtt_pc userdata_find_place(const struct sqtt_places *p, uint64_t addr)
{
	size_t after = 0, n = p->n;

	BISECT(after, n, i, p->v[i].base <= addr);
	return find_object(p->v + after - (after > 0), after > 0, addr);
}

struct sqtt_pc userdata_resolve(const struct userdata *u, uint64_t addr)
{
	if (u->places)
		return userdata_find_place(u->places, addr);
	return find_object(u->ranges.v, u->ranges.n, addr);
}

struct sqtt_pc userdata_resolve_preloaded(const struct userdata *u, uint64_t addr)
{
	return find_object(u->preloaded.v, u->preloaded.n, addr);
}

struct sqtt_pc userdata_entry(struct decoder *d, unsigned queue)
{
	struct entry_cache *c = &d->user.entries[queue];
	uint64_t addr = ((uint64_t)d->pgm_hi[queue] << 32 | d->pgm_lo[queue]) << 8 &
			(((uint64_t)1 << 48) - 1);

	if (c->addr != addr || c->version != d->user.version) {
		c->addr = addr;
		c->version = d->user.version;
		c->pc = addr ? userdata_resolve(&d->user, addr) : (struct sqtt_pc){0, 0};
	}
	return c->pc;
}

static void userdata_deinit(struct userdata *u)
{
	VEC_FREE(&u->ranges);
	VEC_FREE(&u->preloaded);
}

/* --- which generation ------------------------------------------------------------------------- */

/*
 * Recognises raw thread traces and their generation. gfx9 has a software header of 8 bytes, later
 * generations begin with a header token.
 */

static unsigned sqtt_decoder_field(uint64_t h, unsigned lo, unsigned hi)
{
	return (unsigned)(h >> lo & (((uint64_t)2 << (hi - lo)) - 1));
}

static void read_gfx9(uint64_t h, struct sqtt_stream *s)
{
	s->gfx_major = 9;
	s->version = sqtt_decoder_field(h, 13, 15);
	s->simd_mask = sqtt_decoder_field(h, 16, 19);
	s->target_cu = sqtt_decoder_field(h, 20, 24);
	s->se = (int)sqtt_decoder_field(h, 26, 31);
	s->is_double_buffer = sqtt_decoder_field(h, 32, 32);
}

static bool read_gfx10(uint64_t h, struct sqtt_stream *s)
{
	static const uint8_t major[] = {0, 10, 10, 11, 12, 12};

	s->version = sqtt_decoder_field(h, 7, 12);
	if (s->version == 0 || s->version >= sizeof(major))
		return false;
	s->gfx_major = major[s->version];
	s->is_mi400 = s->version == 5;
	s->is_unverified = s->gfx_major == 10 || s->is_mi400;
	s->target_simd = sqtt_decoder_field(h, 13, 14);
	/* MI400 has one more WGP bit */
	s->target_cu = sqtt_decoder_field(h, 15, s->is_mi400 ? 18 : 17) |
		       sqtt_decoder_field(h, 19, 19) << 7;
	s->is_double_buffer = s->gfx_major == 12 && sqtt_decoder_field(h, 43, 43);
	s->se = -1;
	return true;
}

bool sqtt_recognise(
	const uint8_t *data, size_t size, struct sqtt_stream *out, struct incore_error *e)
{
	struct sqtt_stream s = {0};
	uint64_t h;

	if (size < 8)
		return err_set(e, INCORE_BAD_INPUT, "truncated",
			"expected a thread trace of 8 or more bytes, found %zu", size);
	h = load64(data);
	if ((sqtt_decoder_field(h, 0, 12) == 0 || sqtt_decoder_field(h, 0, 12) == 0x11) &&
		sqtt_decoder_field(h, 13, 15) >= 4 && sqtt_decoder_field(h, 13, 15) <= 6) {
		read_gfx9(h, &s);
		*out = s;
		return true;
	}
	if (sqtt_decoder_field(h, 0, 12) == 0 || !read_gfx10(h, &s))
		return err_set(e, INCORE_BAD_INPUT, "bad-magic",
			"not a thread trace: the first 8 bytes are %016llx", (unsigned long long)h);
	*out = s;
	return true;
}

/* --- the instruction at an address ------------------------------------------------------------ */

/*
 * Finds the instruction at an address: finds the segment and decodes its words once, page by page.
 */

static bool code_lines_init(struct code_lines *c, const struct sqtt_code *code, enum amd_arch arch,
	bool is_c16, struct incore_error *e)
{
	*c = (struct code_lines){.arch = arch, .is_c16 = is_c16};
	if (!code || code->n_segments == 0)
		return true;
	c->segments = mem_zalloc(code->n_segments, sizeof(*c->segments));
	if (!c->segments)
		return err_nomem(e);
	c->n = code->n_segments;
	for (size_t i = 0; i < c->n; i++) {
		struct code_pages *s = &c->segments[i];

		s->segment = &code->segments[i];
		s->n_words = s->segment->size / 4;
		s->pages = mem_zalloc(s->n_words / PAGE_LINES + 1, sizeof(struct sqtt_code_line *));
		if (!s->pages)
			return err_nomem(e);
	}
	return true;
}

static void code_lines_deinit(struct code_lines *c)
{
	EACH (struct code_pages, s, c->segments, c->n) {
		for (uint64_t k = 0; s->pages && k < s->n_words / PAGE_LINES + 1; k++)
			mem_free(s->pages[k]);
		mem_free(s->pages);
	}
	mem_free(c->segments);
}

static struct sqtt_code_line make_line(
	const struct code_lines *c, const struct sqtt_segment *s, size_t off)
{
	struct sqtt_code_line line = {.inst_class = CODE_EXCLUDED};
	struct amd_code_inst in;

	if (s->insts)
		in = s->insts[off / 4];
	if (s->insts ? !in.len_bytes
		     : !amd_code_decode(c->arch, s->bytes + off, s->size - off, &in))
		return line;
	line.words = in.len_bytes / 4;
	line.inst_class = in.inst_class;
	line.flags = in.flags;
	line.branch_words = in.branch / 4;
	/* 0.1.6 treats s_barrier as an immediate and ds_bvh as LDS */
	if (c->is_c16 && in.inst_class == AMD_CODE_BARRIER)
		line.inst_class = AMD_CODE_IMMED;
	if (c->is_c16 && (in.flags & AMD_CODE_DS_BVH))
		line.inst_class = AMD_CODE_LDS;
	return line;
}

struct sqtt_code_line *code_load_page(struct code_lines *c, struct code_pages *s, uint64_t page)
{
	uint64_t first = page * PAGE_LINES, n = s->n_words - first;
	struct sqtt_code_line *lines = mem_zalloc(PAGE_LINES, sizeof(*lines));

	if (!lines) {
		c->is_failed = true;
		return NULL;
	}
	if (n > PAGE_LINES)
		n = PAGE_LINES;
	for (uint64_t i = 0; i < n; i++)
		lines[i] = make_line(c, s->segment, (size_t)(first + i) * 4);
	s->pages[page] = lines;
	return lines;
}

/* Address of the segment's first byte in the address space of `object`; SQTT_NO_ADDR: none. */
static uint64_t start_of(const struct sqtt_segment *s, uint32_t object)
{
	if (object == 0)
		return s->load_addr;
	return s->object == object ? s->vaddr : SQTT_NO_ADDR;
}

static bool sqtt_decoder_holds(struct code_pages *s, struct sqtt_pc pc, struct code_at *at)
{
	uint64_t start = start_of(s->segment, pc.object);

	if (start == SQTT_NO_ADDR || pc.addr < start || (pc.addr - start) / 4 >= s->n_words)
		return false;
	*at = (struct code_at){s, (pc.addr - start) / 4, start, pc.object};
	return true;
}

struct code_at code_find(struct code_lines *c, struct sqtt_pc pc)
{
	struct code_at at = {0};

	if (c->last && sqtt_decoder_holds(c->last, pc, &at))
		return at;
	for (size_t i = 0; i < c->n; i++) {
		if (!sqtt_decoder_holds(&c->segments[i], pc, &at))
			continue;
		c->last = &c->segments[i];
		return at;
	}
	return at;
}

/* --- the stream ------------------------------------------------------------------------------- */

/* gfx9: 16 CUs x 4 SIMDs x 16; gfx10+: 2 arrays x 16 WGPs x 4 SIMDs x 32 */
#define RUNNING_COUNT 4096u

static enum amd_arch arch_of(const struct sqtt_stream *s, const struct sqtt_code *code)
{
	if (code && code->arch != AMD_ARCH_UNKNOWN)
		return code->arch;
	switch (s->gfx_major) {
	case 9:
		return AMD_ARCH_GFX9;
	case 10:
		return AMD_ARCH_GFX10;
	case 11:
		return AMD_ARCH_GFX11;
	default:
		return s->is_mi400 ? AMD_ARCH_GFX1250 : AMD_ARCH_GFX12;
	}
}

static bool sqtt_decoder_init(struct decoder *d, const struct sqtt_options *o)
{
	d->rules = o->rules;
	d->is_c16 = o->rules == SQTT_RULES_C16;
	d->stall_mask = d->is_c16 ? 0xffffff : UINT32_MAX;
	d->target_cu = o->target_cu == SQTT_TARGET_OF_STREAM ? d->stream.target_cu
							     : (unsigned)o->target_cu;
	d->user.places = o->places;
	d->phase = 15;
	for (unsigned i = 0; i < WAVE_COUNT; i++)
		d->waves[i].wraps = d->is_c16;
	d->claimed_off = d->swallowed_off = NO_OFF;
	for (unsigned i = 0; i < 64; i++)
		d->perf_last[i / 4][i % 4] = INT64_MIN;
	d->running = mem_zalloc(RUNNING_COUNT, sizeof(*d->running));
	if (!d->running)
		return err_nomem(d->e);
	return code_lines_init(&d->code, o->code, arch_of(&d->stream, o->code), d->is_c16, d->e);
}

static void deinit(struct decoder *d)
{
	for (unsigned i = 0; i < WAVE_COUNT; i++)
		wave_free(&d->waves[i]);
	code_lines_deinit(&d->code);
	userdata_deinit(&d->user);
	mem_free(d->running);
	VEC_FREE(&d->occupancy);
	VEC_FREE(&d->front);
	VEC_FREE(&d->realtime);
	VEC_FREE(&d->perf);
	VEC_FREE(&d->shaderdata);
	VEC_FREE(&d->other_simd);
	VEC_FREE(&d->event);
	VEC_FREE(&d->gaps);
	VEC_FREE(&d->gap_insts);
	VEC_FREE(&d->gap_spans);
}

static bool decode_stream(struct decoder *d)
{
	if (d->stream.is_unverified)
		sqtt_note(d, SQTT_NOTE_UNVERIFIED);
	if (d->stream.gfx_major == 9)
		sqtt_run_gfx9(d);
	else
		sqtt_run_gfx10(d);
	d->res->is_lost = d->is_lost;
	sqtt_flush(d, true);
	if (!d->is_failed && !d->code.is_failed)
		return true;
	/* a sink has set its error; for out of memory it is set here */
	return d->e && d->e->status != INCORE_OK ? false : err_nomem(d->e);
}

bool sqtt_decode(const uint8_t *data, size_t size, const struct sqtt_options *o,
	const struct sqtt_sink *sink, struct sqtt_result *out, struct incore_error *e)
{
	struct sqtt_stream stream;
	struct decoder *d;
	bool ok;

	if (!sqtt_recognise(data, size, &stream, e))
		return false;
	if (!(d = mem_zalloc(1, sizeof(*d))))
		return err_nomem(e);
	*out = (struct sqtt_result){.gfx_major = stream.gfx_major};
	d->data = data;
	d->size = size;
	d->stream = stream;
	d->sink = sink;
	d->res = out;
	d->e = e;
	ok = sqtt_decoder_init(d, o) && decode_stream(d);
	deinit(d);
	mem_free(d);
	return ok;
}
