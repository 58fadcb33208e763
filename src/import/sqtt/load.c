/* SPDX-License-Identifier: Apache-2.0 */
/* load.c: one packed wave (see collect.c) -> the columns of one track. */
#include "codec/varint.h"
#include "import/sqtt/sqtt.h"

#include "isa/amd.h"

struct unpack {
	const uint8_t *p;
};

static inline uint64_t get(struct unpack *u)
{
	uint64_t v = *u->p & 0x7f;

	for (unsigned shift = 7; *u->p++ & 0x80; shift += 7)
		v |= (uint64_t)(*u->p & 0x7f) << shift;
	return v;
}

static inline int64_t get_signed(struct unpack *u)
{
	return unzigzag(get(u));
}

static void unpack_insts(const struct trace *t, struct unpack *u, struct track_data *d, uint32_t n)
{
	const struct sqtt_loader *l = t->loader_ctx;
	int64_t slot = 0, end = (int64_t)d->begin_cyc;

	for (uint32_t i = 0; i < n; i++) {
		uint8_t category = *u->p++;
		code_idx code = NO_CODE;
		unsigned narrow = category < AMD_LUT_WIDTH ? category : AMD_LUT_WIDTH - 1;

		slot += get_signed(u);
		end += get_signed(u);
		if (slot != SQTT_NO_SLOT && l->row_of_slot[slot])
			code = l->row_of_slot[slot] - 1;
		d->start_cyc[i] = (uint64_t)end;
		d->dur_cyc[i] = (uint32_t)get(u);
		d->stall_cyc[i] = (uint32_t)get(u);
		d->code[i] = code;
		d->tag[i] = category;
		d->inst_class[i] =
			l->class_lut[(size_t)(code == NO_CODE ? t->n_code : code) * AMD_LUT_WIDTH +
				     narrow];
		d->n_unknown_code += code == NO_CODE;
		end += d->dur_cyc[i];
	}
	d->n = n;
}

static void skip_insts(struct unpack *u, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		u->p++;
		for (unsigned k = 0; k < 4; k++)
			while (*u->p++ & 0x80)
				;
	}
}

bool sqtt_track_load(const struct trace *t, track_idx i, unsigned want, struct track_data *d,
	struct incore_error *e)
{
	const struct sqtt_loader *l = t->loader_ctx;
	const struct sqtt_wave_ref *w = &l->waves[i];
	struct unpack u = {l->engines[w->engine].store.v + w->at};
	uint32_t n = want & TRACK_NO_SLICES ? 0 : w->n_insts;

	d->begin_cyc = w->begin_cyc;
	d->end_cyc = w->end_cyc;
	d->stated_slices = w->n_insts;
	if (!track_data_reserve(d, n) || !track_data_reserve_states(d, w->n_spans))
		return err_nomem(e);
	if (n)
		unpack_insts(t, &u, d, n);
	/* the end was seen, so the last message is s_endpgm, known code or not */
	if (n && !w->is_incomplete && d->code[n - 1] == NO_CODE && d->tag[n - 1] == SQTT_MSG)
		d->inst_class[n - 1] = CLASS_DRAIN;
	if (!n)
		skip_insts(&u, w->n_insts);
	for (uint32_t k = 0; want & TRACK_STATES && k < w->n_spans; k++) {
		d->state[k] = *u.p++;
		d->state_dur_cyc[k] = (uint32_t)get(&u);
		d->n_states++;
	}
	return true;
}
