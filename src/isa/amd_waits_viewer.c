/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amd_waits_viewer.c: how the viewer that wrote the stored `waitcnt` arrays reads a code row. Its
 * errors are kept on purpose: it must give the same arrays.
 */
#include "isa/amd.h"
#include "isa/amd_waits.h"

#define BIT(c) ((uint16_t)(1u << (c)))

static const uint8_t gfx9_order[] = {AMD_LGKMCNT, AMD_VMCNT, AMD_COUNTERS};
static const uint8_t gfx10_order[] = {AMD_VSCNT, AMD_VMCNT, AMD_LGKMCNT, AMD_COUNTERS};
static const uint8_t gfx12_order[] = {AMD_BVHCNT, AMD_EXPCNT, AMD_SAMPLECNT, AMD_KMCNT,
	AMD_STORECNT, AMD_LOADCNT, AMD_TENSORCNT, AMD_ASYNCCNT, AMD_DSCNT, AMD_COUNTERS};

/* The integer after the counter's name, with an optional '(' or blanks between; else 0. */
static uint16_t viewer_number(struct str text, const char *name)
{
	ptrdiff_t at = str_find(text, name);
	struct str rest =
		at < 0 ? (struct str){"", 0} : str_sub(text, (size_t)at + strlen(name), text.n);
	size_t n = 0;
	uint64_t v;

	while (rest.n > 0 && (rest.p[0] == '(' || rest.p[0] == ' '))
		rest = str_sub(rest, 1, rest.n);
	while (n < rest.n && rest.p[n] != ')' && rest.p[n] != ' ' && rest.p[n] != ',')
		n++;
	if (!str_to_u64(str_sub(rest, 0, n), &v))
		return 0;
	return v > UINT16_MAX ? UINT16_MAX : (uint16_t)v;
}

static bool near_start(struct str text, const char *word)
{
	ptrdiff_t at = str_find(text, word);

	return at == 0 || at == 1;
}

static void push(struct amd_viewer_row *r, unsigned counter)
{
	r->push = AMD_PUSH_LIST;
	r->counter = (uint8_t)counter;
}

static void read_wait(struct amd_viewer_row *r, unsigned gfx_major, struct str text)
{
	const uint8_t *order = amd_viewer_order(gfx_major);

	if (gfx_major >= 10 && str_starts(text, "s_wait_alu"))
		return;
	r->is_wait = true;
	r->is_wait_idle = gfx_major >= 12 && str_starts(text, "s_wait_idle");
	for (; *order < AMD_COUNTERS; order++) {
		const char *name = amd_counter_name((enum amd_counter) * order);
		bool is_named = *order == AMD_LGKMCNT ? str_has(text, "lgk") : str_has(text, name);

		if (!is_named)
			continue;
		r->counters |= BIT(*order);
		r->value[*order] = viewer_number(text, name);
	}
}

static void read_message(struct amd_viewer_row *r, unsigned gfx_major, struct str text)
{
	push(r, gfx_major >= 12 ? AMD_KMCNT : AMD_LGKMCNT);
	if (gfx_major >= 10 && str_starts(text, "s_sendmsg_rtn"))
		r->push = AMD_PUSH_LIST_TWICE;
}

static void read_flat(struct amd_viewer_row *r, unsigned gfx_major, struct str op)
{
	bool is_store = gfx_major >= 10 && str_has(op, "store");
	unsigned lds = gfx_major >= 12 ? AMD_DSCNT : AMD_LGKMCNT;
	unsigned load = gfx_major >= 12 ? AMD_LOADCNT : AMD_VMCNT;
	unsigned store = gfx_major >= 12 ? AMD_STORECNT : AMD_VSCNT;

	r->push = is_store ? AMD_PUSH_FLAT_STORE : AMD_PUSH_FLAT_LOAD;
	r->parallel = BIT(lds) | BIT(is_store ? store : load);
}

static bool is_vector_memory(struct str text)
{
	return str_starts(text, "global_") || str_starts(text, "scratch_") ||
	       near_start(text, "buffer_");
}

static void read_vector_memory(struct amd_viewer_row *r, unsigned gfx_major, struct str op)
{
	bool is_store = str_has(op, "store");

	if (gfx_major <= 9)
		push(r, AMD_VMCNT);
	else if (gfx_major <= 11)
		push(r, is_store ? AMD_VSCNT : AMD_VMCNT);
	else if (str_starts(op, "global_load_async_") || str_starts(op, "global_store_async_"))
		push(r, AMD_ASYNCCNT);
	else
		push(r, is_store || str_starts(op, "global_wb") ? AMD_STORECNT : AMD_LOADCNT);
}

/* Reads counters that only gfx12 has; true if the row belongs to one of them. */
static bool read_gfx12(struct amd_viewer_row *r, struct str text)
{
	if (str_has(text, "_prefetch_"))
		return true;
	if (str_has(text, "param_load") || str_has(text, "ds_direct"))
		push(r, AMD_EXPCNT);
	else if (str_has(text, "_bvh"))
		push(r, AMD_BVHCNT);
	else if (str_starts(text, "tensor_"))
		push(r, AMD_TENSORCNT);
	else if (near_start(text, "ds_"))
		push(r, AMD_DSCNT);
	else
		return false;
	return true;
}

const uint8_t *amd_viewer_order(unsigned gfx_major)
{
	return gfx_major <= 9 ? gfx9_order : gfx_major <= 11 ? gfx10_order : gfx12_order;
}

struct amd_viewer_row amd_viewer_row(unsigned gfx_major, struct str text)
{
	struct amd_viewer_row r = {0};
	struct str op = amd_mnemonic(text);

	if (str_starts(text, gfx_major <= 9 ? "s_waitcnt" : "s_wait")) {
		read_wait(&r, gfx_major, text);
	} else if (gfx_major >= 12 && read_gfx12(&r, text)) {
		return r;
	} else if (str_starts(text, "s_load") || str_starts(text, "s_store")) {
		push(&r, gfx_major >= 12 ? AMD_KMCNT : AMD_LGKMCNT);
		r.parallel = BIT(r.counter);
	} else if (str_starts(text, "s_sendmsg")) {
		read_message(&r, gfx_major, text);
	} else if (str_starts(text, "ds_")) {
		push(&r, AMD_LGKMCNT);
	} else if (str_starts(text, "flat_")) {
		read_flat(&r, gfx_major, op);
	} else if (is_vector_memory(text)) {
		read_vector_memory(&r, gfx_major, op);
	}
	return r;
}
