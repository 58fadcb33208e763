/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amd_waits.c: which counters an instruction raises and which a wait names, for gfx9, gfx10/11 and
 * gfx12. Rules follow the instruction set documents and LLVM's wait insertion.
 *
 * Parts: as the vendor's viewer reads a row; counters.
 */
#include "isa/amd_waits.h"
#include "base/vec.h"
#include "isa/amd.h"

/* --- as the vendor's viewer reads a row ------------------------------------------------------- */

/*
 * How the viewer that wrote the stored `waitcnt` arrays reads a code row. Its errors are kept on
 * purpose: it must give the same arrays.
 */

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

static void amd_waits_push(struct amd_viewer_row *r, unsigned counter)
{
	r->push = AMD_PUSH_LIST;
	r->counter = (uint8_t)counter;
}

static void amd_waits_viewer_read_wait(
	struct amd_viewer_row *r, unsigned gfx_major, struct str text)
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

static void amd_waits_read_message(struct amd_viewer_row *r, unsigned gfx_major, struct str text)
{
	amd_waits_push(r, gfx_major >= 12 ? AMD_KMCNT : AMD_LGKMCNT);
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
		amd_waits_push(r, AMD_VMCNT);
	else if (gfx_major <= 11)
		amd_waits_push(r, is_store ? AMD_VSCNT : AMD_VMCNT);
	else if (str_starts(op, "global_load_async_") || str_starts(op, "global_store_async_"))
		amd_waits_push(r, AMD_ASYNCCNT);
	else
		amd_waits_push(
			r, is_store || str_starts(op, "global_wb") ? AMD_STORECNT : AMD_LOADCNT);
}

/* Reads counters that only gfx12 has; true if the row belongs to one of them. */
static bool read_gfx12(struct amd_viewer_row *r, struct str text)
{
	if (str_has(text, "_prefetch_"))
		return true;
	if (str_has(text, "param_load") || str_has(text, "ds_direct"))
		amd_waits_push(r, AMD_EXPCNT);
	else if (str_has(text, "_bvh"))
		amd_waits_push(r, AMD_BVHCNT);
	else if (str_starts(text, "tensor_"))
		amd_waits_push(r, AMD_TENSORCNT);
	else if (near_start(text, "ds_"))
		amd_waits_push(r, AMD_DSCNT);
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
		amd_waits_viewer_read_wait(&r, gfx_major, text);
	} else if (gfx_major >= 12 && read_gfx12(&r, text)) {
		return r;
	} else if (str_starts(text, "s_load") || str_starts(text, "s_store")) {
		amd_waits_push(&r, gfx_major >= 12 ? AMD_KMCNT : AMD_LGKMCNT);
		r.parallel = BIT(r.counter);
	} else if (str_starts(text, "s_sendmsg")) {
		amd_waits_read_message(&r, gfx_major, text);
	} else if (str_starts(text, "ds_")) {
		amd_waits_push(&r, AMD_LGKMCNT);
	} else if (str_starts(text, "flat_")) {
		read_flat(&r, gfx_major, op);
	} else if (is_vector_memory(text)) {
		read_vector_memory(&r, gfx_major, op);
	}
	return r;
}

/* --- counters --------------------------------------------------------------------------------- */

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

struct counter_field { /* a counter in the immediate of a wait */
	uint8_t counter;
	uint8_t shift, width;
	uint8_t high_shift, high_width; /* gfx9 and gfx10 store two bits of vmcnt separately */
};

static const struct counter_field gfx9_fields[] = {
	{AMD_VMCNT, 0, 4, 14, 2}, {AMD_EXPCNT, 4, 3, 0, 0}, {AMD_LGKMCNT, 8, 4, 0, 0}};
static const struct counter_field gfx10_fields[] = {
	{AMD_VMCNT, 0, 4, 14, 2}, {AMD_EXPCNT, 4, 3, 0, 0}, {AMD_LGKMCNT, 8, 6, 0, 0}};
static const struct counter_field gfx11_fields[] = {
	{AMD_EXPCNT, 0, 3, 0, 0}, {AMD_LGKMCNT, 4, 6, 0, 0}, {AMD_VMCNT, 10, 6, 0, 0}};

struct wait_form { /* one counter, one mnemonic */
	const char *mnemonic;
	uint8_t counter, width;
};

static const struct wait_form gfx10_forms[] = {
	{"s_waitcnt_vscnt", AMD_VSCNT, 6},
	{"s_waitcnt_vmcnt", AMD_VMCNT, 6},
	{"s_waitcnt_lgkmcnt", AMD_LGKMCNT, 6},
	{"s_waitcnt_expcnt", AMD_EXPCNT, 3},
};

static const struct wait_form gfx12_forms[] = {
	{"s_wait_loadcnt", AMD_LOADCNT, 6},
	{"s_wait_storecnt", AMD_STORECNT, 6},
	{"s_wait_samplecnt", AMD_SAMPLECNT, 6},
	{"s_wait_bvhcnt", AMD_BVHCNT, 3},
	{"s_wait_expcnt", AMD_EXPCNT, 3},
	{"s_wait_dscnt", AMD_DSCNT, 6},
	{"s_wait_kmcnt", AMD_KMCNT, 5},
	{"s_wait_asynccnt", AMD_ASYNCCNT, 6},
	{"s_wait_tensorcnt", AMD_TENSORCNT, 6},
};

static const uint16_t gfx9_all = BIT(AMD_LGKMCNT) | BIT(AMD_EXPCNT) | BIT(AMD_VMCNT);
static const uint16_t gfx10_all =
	BIT(AMD_LGKMCNT) | BIT(AMD_EXPCNT) | BIT(AMD_VMCNT) | BIT(AMD_VSCNT);
static const uint16_t gfx12_all = BIT(AMD_DSCNT) | BIT(AMD_KMCNT) | BIT(AMD_EXPCNT) |
				  BIT(AMD_LOADCNT) | BIT(AMD_SAMPLECNT) | BIT(AMD_BVHCNT) |
				  BIT(AMD_STORECNT) | BIT(AMD_ASYNCCNT) | BIT(AMD_TENSORCNT);

/* --- waits --- */

static void name_counter(struct amd_wait_row *r, unsigned counter, uint64_t value, unsigned width)
{
	/* A counter cannot exceed its field: the largest value waits for nothing. */
	if (value >= (1u << width) - 1)
		return;
	r->counters |= BIT(counter);
	r->value[counter] = (uint8_t)value;
}

static void raw_immediate(struct amd_wait_row *r, unsigned gfx_major, uint64_t imm)
{
	const struct counter_field *fields = gfx_major <= 9    ? gfx9_fields
					     : gfx_major == 10 ? gfx10_fields
							       : gfx11_fields;

	EACH (const struct counter_field, f, fields, COUNT_OF(gfx9_fields)) {
		uint64_t low = imm >> f->shift & ((1u << f->width) - 1);
		uint64_t high = imm >> f->high_shift & ((1u << f->high_width) - 1);

		name_counter(
			r, f->counter, low | high << f->width, (unsigned)f->width + f->high_width);
	}
}

/* "vmcnt(3)" inside text; false if the counter is not named that way. */
static bool named_operand(struct str text, const char *name, uint64_t *value)
{
	ptrdiff_t at = str_find(text, name);
	struct str rest, digits;
	ptrdiff_t close;

	if (at < 0)
		return false;
	rest = str_sub(text, (size_t)at + strlen(name), text.n);
	if (rest.n == 0 || rest.p[0] != '(')
		return false;
	close = str_find(rest, ")");
	if (close < 0)
		return false;
	digits = str_trim(str_sub(rest, 1, (size_t)close - 1));
	return str_to_u64(digits, value);
}

static struct str amd_waits_first_word(struct str s)
{
	size_t n = 0;

	while (n < s.n && s.p[n] != ' ' && s.p[n] != '\t')
		n++;
	return str_sub(s, 0, n);
}

/* s_waitcnt of gfx9 to gfx11: named operands, or one raw immediate. */
static void plain_waitcnt(struct amd_wait_row *r, unsigned gfx_major, struct str operands)
{
	static const struct wait_form names[] = {
		{"vmcnt", AMD_VMCNT, 6}, {"lgkmcnt", AMD_LGKMCNT, 6}, {"expcnt", AMD_EXPCNT, 3}};
	uint64_t v;

	if (str_to_u64(amd_waits_first_word(operands), &v)) {
		raw_immediate(r, gfx_major, v);
		return;
	}
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		unsigned width =
			names[i].counter == AMD_LGKMCNT && gfx_major <= 9 ? 4 : names[i].width;

		if (named_operand(operands, names[i].mnemonic, &v))
			name_counter(r, names[i].counter, v, width);
	}
}

/* The number of "0x3", "null, 0x3"; false on a register operand, whose value is not in the text. */
static bool immediate_operand(struct str operands, uint64_t *value)
{
	ptrdiff_t comma = str_find(operands, ",");

	if (comma >= 0) {
		if (!str_is(str_trim(str_sub(operands, 0, (size_t)comma)), "null"))
			return false;
		operands = str_trim(str_sub(operands, (size_t)comma + 1, operands.n));
	}
	return str_to_u64(amd_waits_first_word(operands), value);
}

static bool wait_by_form(struct amd_wait_row *r, const struct wait_form *forms, size_t n,
	struct str op, struct str operands)
{
	uint64_t v;

	for (size_t i = 0; i < n; i++) {
		if (!str_is(op, forms[i].mnemonic))
			continue;
		if (immediate_operand(operands, &v))
			name_counter(r, forms[i].counter, v, forms[i].width);
		return true;
	}
	return false;
}

static void amd_waits_wait_for_all(struct amd_wait_row *r, unsigned gfx_major)
{
	uint16_t all = gfx_major <= 9 ? gfx9_all : gfx_major <= 11 ? gfx10_all : gfx12_all;

	r->counters = all;
	for (unsigned c = 0; c < AMD_COUNTERS; c++)
		r->value[c] = all & BIT(c) ? 0 : AMD_NO_WAIT;
}

static void amd_waits_read_wait(struct amd_wait_row *r, unsigned gfx_major, struct str text)
{
	struct str op = amd_mnemonic(text);
	struct str operands = str_trim(str_sub(text, op.n, text.n));
	uint64_t v;

	r->role = AMD_ROLE_WAIT;
	memset(r->value, AMD_NO_WAIT, sizeof(r->value));
	if (str_is(op, "s_wait_idle")) {
		amd_waits_wait_for_all(r, gfx_major);
	} else if (gfx_major <= 11) {
		if (str_is(op, "s_waitcnt"))
			plain_waitcnt(r, gfx_major, operands);
		else if (gfx_major >= 10)
			wait_by_form(r, gfx10_forms, COUNT_OF(gfx10_forms), op, operands);
	} else if (str_is(op, "s_wait_loadcnt_dscnt") || str_is(op, "s_wait_storecnt_dscnt")) {
		if (!immediate_operand(operands, &v))
			return;
		name_counter(r, AMD_DSCNT, v & 63, 6);
		name_counter(r, str_has(op, "load") ? AMD_LOADCNT : AMD_STORECNT, v >> 8 & 63, 6);
	} else {
		wait_by_form(r, gfx12_forms, COUNT_OF(gfx12_forms), op, operands);
	}
}

/* --- producers --- */

static void raise_counter(struct amd_wait_row *r, unsigned counter, enum amd_order order)
{
	r->role = AMD_ROLE_PRODUCER;
	r->order = (uint8_t)order;
	r->counters |= BIT(counter);
	r->value[counter] = 1;
}

static enum amd_producer memory_producer(struct str text)
{
	switch (amd_class(AMD_CATEGORY_VMEM, text)) {
	case CLASS_VMEM_ATOMIC:
		return AMD_PRODUCER_VMEM_ATOMIC;
	case CLASS_VMEM_STORE:
		return AMD_PRODUCER_VMEM_STORE;
	case CLASS_VMEM_TO_LDS:
		return AMD_PRODUCER_VMEM_TO_LDS;
	default:
		return AMD_PRODUCER_VMEM_LOAD;
	}
}

static bool amd_waits_returns_value(struct str text)
{
	return str_has(text, " glc") || str_has(text, " sc0") ||
	       (str_has(text, "th:TH_ATOMIC_") && str_has(text, "RETURN"));
}

/* Does it count as a store on targets with a separate counter for stores? */
static bool is_store(const struct amd_wait_row *r, struct str op, struct str text)
{
	if (r->producer == AMD_PRODUCER_VMEM_ATOMIC)
		return !amd_waits_returns_value(text);
	return r->producer == AMD_PRODUCER_VMEM_STORE || str_starts(op, "global_wb");
}

static enum amd_order memory_order(unsigned gfx_major, struct str op)
{
	if (gfx_major <= 9)
		return AMD_ORDER_VMEM;
	if (str_starts(op, "image_bvh"))
		return AMD_ORDER_BVH;
	if (str_starts(op, "image_sample") || str_starts(op, "image_gather"))
		return AMD_ORDER_SAMPLE;
	return AMD_ORDER_VMEM;
}

static unsigned load_counter(unsigned gfx_major, struct str op)
{
	if (gfx_major <= 11)
		return AMD_VMCNT;
	switch (memory_order(gfx_major, op)) {
	case AMD_ORDER_BVH:
		return AMD_BVHCNT;
	case AMD_ORDER_SAMPLE:
		return AMD_SAMPLECNT;
	default:
		return AMD_LOADCNT;
	}
}

static void amd_waits_read_memory(struct amd_wait_row *r, unsigned gfx_major, struct str text)
{
	struct str op = amd_mnemonic(text);
	unsigned counter;

	r->producer = (uint8_t)memory_producer(text);
	if (str_has(op, "_prefetch"))
		return;
	if (gfx_major >= 12 && str_starts(op, "tensor_")) {
		raise_counter(r, AMD_TENSORCNT, AMD_ORDER_VMEM);
		return;
	}
	if (gfx_major >= 12 && (str_has(op, "_load_async_") || str_has(op, "_store_async_"))) {
		raise_counter(r, AMD_ASYNCCNT, AMD_ORDER_VMEM);
		return;
	}
	if (gfx_major >= 10 && is_store(r, op, text))
		counter = gfx_major <= 11 ? AMD_VSCNT : AMD_STORECNT;
	else
		counter = load_counter(gfx_major, op);
	raise_counter(r, counter, memory_order(gfx_major, op));
	if (str_starts(op, "flat_"))
		raise_counter(r, gfx_major <= 11 ? AMD_LGKMCNT : AMD_DSCNT, AMD_ORDER_FLAT);
}

static void amd_waits_read_scalar(struct amd_wait_row *r, unsigned gfx_major, struct str text)
{
	unsigned counter = gfx_major <= 11 ? AMD_LGKMCNT : AMD_KMCNT;

	if (str_starts(text, "s_wait")) {
		amd_waits_read_wait(r, gfx_major, text);
	} else if (str_starts(text, "s_sendmsg")) {
		r->producer = AMD_PRODUCER_MSG;
		raise_counter(r, counter, AMD_ORDER_MSG);
		if (str_starts(text, "s_sendmsg_rtn"))
			r->value[counter] = 2;
	} else if (amd_class(AMD_NO_CATEGORY, text) == CLASS_SMEM) {
		r->producer = AMD_PRODUCER_SMEM;
		if (!str_starts(text, "s_prefetch") && !str_starts(text, "s_icache"))
			raise_counter(r, counter, AMD_ORDER_SMEM);
	}
}

static void read_lds(struct amd_wait_row *r, unsigned gfx_major, struct str text)
{
	if (str_has(text, "s_param_load") || str_has(text, "s_direct_load")) {
		r->producer = AMD_PRODUCER_MSG;
		raise_counter(r, AMD_EXPCNT, AMD_ORDER_LDS);
		return;
	}
	r->producer = amd_class(AMD_CATEGORY_LDS, text) == CLASS_LDS_XLANE ? AMD_PRODUCER_LDS_XLANE
									   : AMD_PRODUCER_LDS;
	if (!str_starts(text, "ds_nop"))
		raise_counter(r, gfx_major <= 11 ? AMD_LGKMCNT : AMD_DSCNT, AMD_ORDER_LDS);
}

const char *amd_counter_name(enum amd_counter c)
{
	static const char *const names[AMD_COUNTERS] = {"lgkmcnt", "dscnt", "kmcnt", "expcnt",
		"vmcnt", "loadcnt", "samplecnt", "bvhcnt", "vscnt", "storecnt", "asynccnt",
		"tensorcnt"};

	return (unsigned)c < AMD_COUNTERS ? names[c] : "unknown";
}

const char *amd_producer_name(enum amd_producer p)
{
	static const char *const names[AMD_PRODUCERS] = {"LDS", "LDS-xlane", "MSG", "SMEM",
		"VMEM-atomic", "VMEM-load", "VMEM-store", "VMEM-to-LDS"};

	return (unsigned)p < AMD_PRODUCERS ? names[p] : "unknown";
}

struct amd_wait_row amd_wait_row(unsigned gfx_major, struct str text)
{
	struct amd_wait_row r = {.role = AMD_ROLE_NONE, .producer = AMD_PRODUCER_VMEM_LOAD};
	struct str op;

	text = str_trim(text);
	op = amd_mnemonic(text);
	if (str_starts(op, "s_")) {
		amd_waits_read_scalar(&r, gfx_major, text);
	} else if (str_starts(op, "ds_") || str_starts(op, "lds_")) {
		read_lds(&r, gfx_major, text);
	} else if (str_is(op, "exp") || str_starts(op, "export")) {
		r.producer = AMD_PRODUCER_MSG;
		raise_counter(&r, AMD_EXPCNT, AMD_ORDER_EXPORT);
	} else if (op.n > 0 && !str_starts(op, "v_") &&
		   amd_class(AMD_NO_CATEGORY, text) != CLASS_OTHER) {
		amd_waits_read_memory(&r, gfx_major, text);
	}
	return r;
}

bool amd_wait_tables(struct arena *a, const struct trace *t, struct amd_wait_tables *out)
{
	size_t n = t->n_code ? t->n_code : 1;
	uint8_t *role = arena_zalloc(a, n, 1);
	struct amd_wait_row *row = arena_zalloc(a, n, sizeof(*row));
	struct amd_viewer_row *viewer = arena_zalloc(a, n, sizeof(*viewer));

	if (!role || !row || !viewer)
		return false;
	for (uint32_t i = 0; i < t->n_code; i++) {
		struct str text = {t->code[i].text, t->code[i].text_len};

		if (t->code[i].is_label)
			continue;
		row[i] = amd_wait_row(t->meta.gfx_major, text);
		viewer[i] = amd_viewer_row(t->meta.gfx_major, text);
		role[i] = row[i].role;
		if (role[i] == AMD_ROLE_NONE && (viewer[i].push || viewer[i].is_wait))
			role[i] = AMD_ROLE_VIEWER;
	}
	*out = (struct amd_wait_tables){t->n_code, role, row, viewer};
	return true;
}
