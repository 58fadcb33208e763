/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data that the capture software wrote into the stream: markers of several words announce code
 * objects that are loaded and unloaded, the realtime clock (gfx9) has three words, frequency and
 * counter interval have one.
 */

#include "base/search.h"
#include "import/sqtt/internal.h"

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

void userdata_deinit(struct userdata *u)
{
	VEC_FREE(&u->ranges);
	VEC_FREE(&u->preloaded);
}
