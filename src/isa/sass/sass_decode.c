/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sass_decode.c: decodes one instruction. Register positions come from the letters of the table;
 * the few whose widths depend on a matrix shape or a texture's dimension are handled here.
 */
#include <string.h>

#include "isa/sass/sass_table.h"

/* One instruction being decoded: the 128 bits, and what is known so far. */
struct decoding {
	uint64_t lo, hi;
	unsigned sm;
	const struct sass_row *row;
	struct sass_inst *out;
};

static unsigned sass_bits(const struct decoding *d, unsigned at, unsigned n)
{
	return sass_field(d->lo, d->hi, at, n);
}

static unsigned sass_form(const struct decoding *d)
{
	return sass_bits(d, 9, 3);
}

static bool has_uniform_source(const struct decoding *d)
{
	return sass_bits(d, 91, 1);
}

static void add_operand(
	struct decoding *d, enum sass_file file, unsigned at, unsigned n, bool write)
{
	struct sass_inst *o = d->out;
	bool pred = file == SASS_FILE_P || file == SASS_FILE_UP;
	/* uniform registers had six bits before sm_100 */
	unsigned width = pred ? 3 : file == SASS_FILE_UR && d->sm < 100 ? 6 : 8;
	unsigned none = (1u << width) - 1;
	unsigned first = sass_bits(d, at, width);

	if (first == none || o->n_operands == SASS_MOST_OPERANDS)
		return;
	if (first + n > none)
		n = none - first;
	o->operand[o->n_operands++] = (struct sass_operand){
		.file = (uint8_t)file, .first = (uint8_t)first, .n = (uint8_t)n, .is_write = write};
}

/* Registers of an access: bits 73 to 75 are 0 to 3 for bytes and halves, 4 for 32 bits, then 64,
 * 128 and 128 again. */
static unsigned access_regs(const struct decoding *d)
{
	static const uint8_t regs[8] = {1, 1, 1, 1, 1, 2, 4, 4};

	return regs[sass_bits(d, 73, 3)];
}

/* Counts coordinates, the address in shared memory, and for a load the mbarrier. */
static unsigned bulk_regs(const struct decoding *d)
{
	bool is_load = (d->out->opcode & 0x1ff) == 0x1b4;

	return sass_bits(d, 79, 3) + 2 + is_load;
}

/* Bits 73 to 75 give the type of an atomic operation; some types have 64 bits. */
static unsigned atomic_regs(const struct decoding *d)
{
	unsigned base = d->out->opcode & 0x1ff, type = sass_bits(d, 73, 3);

	if (base == 0x18c || base == 0x18d)
		return 1 + sass_bits(d, 74, 1);
	if (base == 0x1a2 || base == 0x1a3 || base == 0x1a6) { /* floats of sm_90 */
		type = sass_bits(d, 73, 4);
		return type == 15 ? 2 : type == 11 ? 4 : 1; /* one double, four floats */
	}
	return type == 2 || type == 5 || type == 6 ? 2 : 1;
}

static unsigned place_width(const struct decoding *d, char how)
{
	switch (how) {
	case 's':
		return access_regs(d);
	case 'a':
		return atomic_regs(d);
	case 'e':
		return 1 + sass_bits(d, 72, 1);
	case 'f':
		return sass_bits(d, 75, 2) == 3 ? 2 : 1;
	case 'g':
		return sass_bits(d, 84, 2) == 3 ? 2 : 1;
	case 'm':
		return 1u << (sass_bits(d, 72, 2) & 3);
	case 't':
		return 1u << sass_bits(d, 83, 3);
	case 'n':
		return bulk_regs(d);
	case 'o': /* UBLKCP: an address in global memory or in shared */
		return 1 + sass_bits(d, 73, 1);
	default:
		return how >= '1' && how <= '9' ? (unsigned)(how - '0') : 0;
	}
}

/* The second or third source: see the table of forms in sass_table.h. */
static void add_source(struct decoding *d, bool is_third, enum sass_file file, unsigned n)
{
	unsigned form = sass_form(d);
	bool swapped = form == 2 || form == 3 || form == 7; /* the third one is not in R@64 */

	if (form == 1)
		add_operand(d, file, is_third ? 64 : 32, n, false);
	else if (is_third != swapped)
		add_operand(d, file, 64, n, false);
	else if (form >= 6)
		add_operand(d, SASS_FILE_UR, 32, n, false);
}

/* The only source besides A: R@64 is unused. */
static void add_only_source(struct decoding *d, unsigned at, enum sass_file file, unsigned n)
{
	unsigned form = sass_form(d);

	if (form == 1)
		add_operand(d, file, at, n, false);
	else if (form >= 6)
		add_operand(d, SASS_FILE_UR, 32, n, false);
}

static void add_uniform(struct decoding *d, unsigned at, unsigned n)
{
	if (has_uniform_source(d))
		add_operand(d, SASS_FILE_UR, at, n, false);
}

/* Letters of sass_table.h with the same position in every form. */
static const struct {
	char letter;
	bool is_pred, is_uniform; /* uniform in every row */
	bool is_write;
	uint8_t at;
	uint8_t when; /* a bit that must be set; 0: no condition */
} letters[] = {
	{'D', false, false, true, 16, 0},
	{'E', false, false, true, 64, 0},
	{'d', false, true, true, 16, 0},
	{'p', true, false, true, 81, 0},
	{'q', true, false, true, 84, 0},
	{'P', true, true, true, 81, 0},
	{'S', false, false, false, 16, 0},
	{'A', false, false, false, 24, 0},
	{'V', false, false, false, 32, 0},
	{'W', false, false, false, 64, 0},
	{'u', false, true, false, 32, 91},
	{'v', false, true, false, 64, 91},
	{'j', false, true, false, 40, 91},
	{'k', false, true, false, 24, 91},
	{'T', true, true, false, 24, 0},
	{'X', true, true, false, 87, 0},
	{'x', true, false, false, 87, 0},
	{'y', true, false, false, 77, 0},
	{'z', true, false, false, 68, 0},
	{'i', true, false, false, 87, 74},
	{'l', true, false, false, 77, 74},
};

static void add_place(struct decoding *d, char place, unsigned n)
{
	bool is_uniform = d->row->flags & SASS_ROW_UNIFORM;
	enum sass_file r = is_uniform ? SASS_FILE_UR : SASS_FILE_R;

	if (place == 'B' || place == 'C')
		add_source(d, place == 'C', r, n);
	else if (place == 'b' || place == 'c')
		add_only_source(d, place == 'c' ? 64 : 32, r, n);
	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++) {
		/* the last predicate of PLOP3 may be of either file */
		bool uniform = is_uniform || letters[i].is_uniform ||
			       (place == 'z' && sass_bits(d, 67, 1));
		enum sass_file file = uniform ? SASS_FILE_UR : SASS_FILE_R;

		if (letters[i].is_pred)
			file = uniform ? SASS_FILE_UP : SASS_FILE_P;
		if (letters[i].letter == place &&
			(!letters[i].when || sass_bits(d, letters[i].when, 1)))
			add_operand(d, file, letters[i].at, n, letters[i].is_write);
	}
}

static void add_places(struct decoding *d, const char *places)
{
	for (const char *c = places; *c; c++) {
		unsigned n = place_width(d, c[1]);

		add_place(d, *c, n ? n : 1);
		if (n)
			c++;
	}
}

/* Results and sources of a matrix instruction, by its shape. */
static void add_tensor(struct decoding *d)
{
	unsigned acc = 4, a = 4, b = 2;
	bool is_sparse = (d->out->opcode & 0x1ff) == 0x03c && sass_bits(d, 73, 1);

	switch (d->out->opcode & 0x1ff) {
	case 0x03c: /* HMMA: 16816 (bit 75) or 1688, results of 32 or 16 bits (bit 76) */
		acc = sass_bits(d, 76, 1) ? 4 : 2;
		if (!sass_bits(d, 75, 1) && !sass_bits(d, 83, 1)) { /* TF32 has wider elements */
			a = 2;
			b = 1;
		} else if (is_sparse) {
			a = 2; /* half of the elements are stored */
		}
		break;
	case 0x037: /* IMMA: 16832 (bit 75), 16816, 8816 (no bit 86) */
		acc = sass_bits(d, 86, 1) ? 4 : 2;
		a = sass_bits(d, 75, 1) ? 4 : acc / 2;
		b = sass_bits(d, 75, 1) ? 2 : 1;
		break;
	case 0x03f: /* DMMA 8x8x4 */
		a = 2;
		break;
	default:
		break;
	}
	add_operand(d, SASS_FILE_R, 16, acc, true);
	add_operand(d, SASS_FILE_R, 24, a, false);
	add_operand(d, SASS_FILE_R, 32, b, false);
	add_operand(d, SASS_FILE_R, 64, acc, false);
	if (is_sparse)
		add_operand(d, SASS_FILE_R, 40, 1, false);
}

/* 64 x N: N / 8 - 1 is in bits 53 to 57; bit 75: 32-bit result. */
static void add_warpgroup_tensor(struct decoding *d)
{
	unsigned base = d->out->opcode & 0x1ff;
	unsigned n = (sass_bits(d, 53, 5) + 1) * 4;

	if (base == 0x1f1)
		n = 16; /* integer shapes are numbered differently; only one was seen */
	else if (!sass_bits(d, 75, 1))
		n /= 2;
	add_operand(d, SASS_FILE_R, 16, n, true);
	if (sass_form(d) == 6) {
		add_operand(d, SASS_FILE_R, 24, 4, false);
		add_uniform(d, 32, 4);
	} else {
		add_uniform(d, 24, 4);
	}
	add_operand(d, SASS_FILE_R, 64, n, false);
	if (sass_bits(d, 84, 3) == 0) {
		d->out->flags |= SASS_GROUP_CLOSE;
		d->out->counter = SASS_COUNTER_WGMMA;
	}
}

/* Bits 72 to 75 are a mask of components, two in R@16 and the others in R@64; bits 61, 62 are the
 * dimensions less one, bit 63 an array. */
static void add_texture(struct decoding *d)
{
	unsigned mask = sass_bits(d, 72, 4);
	unsigned parts = (mask & 1) + (mask >> 1 & 1) + (mask >> 2 & 1) + (mask >> 3 & 1);
	unsigned coords = 1 + sass_bits(d, 61, 2) + sass_bits(d, 63, 1);
	bool is_gradient = !strcmp(d->row->name, "TXD");
	bool together = sass_form(d) == 7; /* since sm_90; before: two, then the others */

	add_operand(d, SASS_FILE_R, 16, parts > 2 ? 2 : parts ? parts : 1, true);
	if (parts > 2)
		add_operand(d, SASS_FILE_R, 64, parts - 2, true);
	add_operand(d, SASS_FILE_R, 24, together || coords < 2 ? coords : 2, false);
	add_operand(d, SASS_FILE_R, 32, is_gradient ? 4 : together || coords < 3 ? 1 : 2, false);
	add_uniform(d, 40, 2);
}

/* Bits 77 to 79: sync, arrive, reduce, scan; its number in bits 54 to 57, or in a register. */
static void add_barrier(struct decoding *d)
{
	unsigned form = sass_form(d), mode = sass_bits(d, 77, 2);

	if (form == 1 || form == 2)
		add_operand(d, SASS_FILE_R, 32, 1, false);
	else
		d->out->barrier = (uint8_t)sass_bits(d, 54, 4);
	if (mode >= 2)
		add_operand(d, SASS_FILE_P, 87, 1, false);
	d->out->flags |= mode == 1 ? SASS_ARRIVES : SASS_ARRIVES | SASS_BLOCKS;
}

static void add_special(struct decoding *d)
{
	if (d->row->inst_class == SASS_TENSOR)
		add_tensor(d);
	else if (d->row->inst_class == SASS_TENSOR_ASYNC)
		add_warpgroup_tensor(d);
	else if (d->row->inst_class == SASS_TEXTURE)
		add_texture(d);
	else
		add_barrier(d);
}

/* Operands that letters cannot express: 64 bits since sm_120 (bit 80), predicates as a set. */
static void widen_operands(struct decoding *d)
{
	struct sass_inst *o = d->out;
	unsigned base = o->opcode & 0x1ff;
	bool can_be_wide = base == 0x002 || base == 0x005 || base == 0x00c;

	for (unsigned i = 0; i < o->n_operands && can_be_wide && sass_bits(d, 80, 1); i++)
		if (o->operand[i].file <= SASS_FILE_UR && o->operand[i].first < 254)
			o->operand[i].n = 2;
	if (base == 0x003 || base == 0x004) /* P2R, R2P */
		o->operand[o->n_operands++] = (struct sass_operand){
			.file = SASS_FILE_P, .n = 7, .is_write = base == 0x004};
}

static int64_t sign_extend(uint64_t v, unsigned bits)
{
	uint64_t top = 1ull << (bits - 1);

	return (int64_t)((v ^ top) - top);
}

/* Relative to the next instruction. 48 bits from bit 34 in units of four; since sm_90 branches and
 * calls have eight more low bits in bits 16 to 23, and since sm_100 BSSY has 32 bits in bytes. */
static int64_t branch_offset(const struct decoding *d)
{
	uint64_t field = d->lo >> 34 | (d->hi & 0x3ffff) << 30;
	int64_t words = sign_extend(field, 48);

	if (d->row->inst_class == SASS_CONVERGE)
		return d->sm >= 100 ? sign_extend(d->lo >> 32, 32) : words * 4;
	return d->sm >= 90 ? words * 1024 + (int64_t)sass_bits(d, 16, 8) * 4 : words * 4;
}

static bool is_indirect(const struct decoding *d)
{
	switch (d->out->opcode & 0x1ff) {
	case 0x143: /* CALL.ABS */
	case 0x149: /* BRX */
	case 0x14a: /* JMP */
	case 0x14c: /* JMX */
	case 0x150: /* RET */
	case 0x158: /* BRXU */
	case 0x159: /* JMXU */
		return true;
	case 0x144: /* CALL.REL through a register */
		return sass_form(d) == 1;
	default:
		return false;
	}
}

/* Because of a guard, an additional predicate or uniform predicate (BRA P1, BRA.U), BRA.DIV or
 * BRA.CONV. */
static bool may_fall_through(const struct decoding *d)
{
	bool by_divergence = (d->out->opcode & 0x1ff) == 0x147 && sass_bits(d, 32, 2) >= 2;

	return d->out->flags & SASS_GUARDED || sass_bits(d, 87, 3) != SASS_NO_PRED ||
	       sass_bits(d, 90, 1) || sass_form(d) == 2 || has_uniform_source(d) || by_divergence;
}

static void read_branch(struct decoding *d)
{
	uint8_t c = d->row->inst_class;

	if ((c == SASS_BRANCH || c == SASS_EXIT || c == SASS_RETURN || c == SASS_CALL) &&
		may_fall_through(d))
		d->out->flags |= SASS_CONDITIONAL;
	if (is_indirect(d))
		d->out->flags |= SASS_INDIRECT;
	else if (d->row->flags & SASS_ROW_OFFSET)
		d->out->branch = branch_offset(d) + SASS_INST_BYTES;
}

/* Reads waits for counters and what those count. */
static void read_groups(struct decoding *d)
{
	struct sass_inst *o = d->out;

	switch (o->opcode & 0x1ff) {
	case 0x11a: /* DEPBAR: bit 47 .LE, its scoreboard and count, and a plain mask */
		o->wait_mask |= (uint8_t)sass_bits(d, 32, 6);
		if (sass_bits(d, 47, 1)) {
			o->flags |= SASS_COUNTER_WAIT;
			o->counter = (uint8_t)sass_bits(d, 44, 3);
			o->count = (uint8_t)sass_bits(d, 38, 6);
		}
		break;
	case 0x1af: /* LDGDEPBAR */
	case 0x1b7: /* UTMACMDFLUSH */
		o->flags |= SASS_GROUP_CLOSE;
		o->counter = o->set_write < SASS_SCOREBOARDS ? o->set_write : o->set_read;
		break;
	case 0x1c5: /* WARPGROUP: bit 80 .DEPBAR */
		o->flags |= sass_bits(d, 80, 1) ? SASS_COUNTER_WAIT : SASS_BLOCKS;
		o->counter = sass_bits(d, 80, 1) ? SASS_COUNTER_WGMMA : SASS_COUNTER_NONE;
		o->count = (uint8_t)sass_bits(d, 72, 3);
		break;
	case 0x1c7: /* UCGABAR_ARV, _WAIT */
		o->flags |= sass_form(d) == 6 ? SASS_BLOCKS : SASS_ARRIVES;
		break;
	case 0x1a7: /* SYNCS: form 2 polls a phase, form 4 arrives */
		o->flags |= sass_form(d) == 2 ? SASS_TRY_WAIT : SASS_ARRIVES;
		break;
	case 0x1b0: /* ARRIVES */
	case 0x1b4: /* UTMALDG */
	case 0x1e9: /* UTCBAR */
		o->flags |= SASS_ARRIVES;
		break;
	case 0x1ba: /* UBLKCP to shared memory completes at an mbarrier, from shared memory in a
		       group */
		o->flags |= sass_bits(d, 73, 2) == 1 ? SASS_ARRIVES : 0;
		break;
	default:
		break;
	}
}

static void read_control(struct sass_inst *o, uint64_t lo, uint64_t hi)
{
	o->opcode = lo & 0xfff;
	o->guard = lo >> 12 & 7;
	o->is_guard_negated = lo >> 15 & 1;
	o->stall = hi >> 41 & 15;
	o->yield = hi >> 45 & 1;
	o->set_write = hi >> 46 & 7;
	o->set_read = hi >> 49 & 7;
	o->wait_mask = hi >> 52 & 63;
	o->reuse = hi >> 58 & 15;
	o->counter = SASS_COUNTER_NONE;
	o->barrier = SASS_NO_BARRIER;
	if (!sass_is_always(o))
		o->flags |= o->guard == SASS_NO_PRED ? SASS_NEVER | SASS_GUARDED : SASS_GUARDED;
}

static uint64_t load_le64(const uint8_t *p)
{
	uint64_t v = 0;

	for (int i = 7; i >= 0; i--)
		v = v << 8 | p[i];
	return v;
}

struct sass_inst sass_decode(unsigned sm, const uint8_t *p)
{
	struct sass_inst out = {0};
	struct decoding d = {.lo = load_le64(p), .hi = load_le64(p + 8), .sm = sm, .out = &out};

	read_control(&out, d.lo, d.hi);
	d.row = sass_row_find(sm, out.opcode);
	if (!d.row->name)
		return out;
	out.inst_class = d.row->inst_class;
	out.is_guard_uniform = d.row->flags & (SASS_ROW_UNIFORM | SASS_ROW_GUARD_UP);
	read_branch(&d);
	read_groups(&d);
	if (d.row->places[0] == '!')
		add_special(&d);
	else
		add_places(&d, d.row->places);
	widen_operands(&d);
	return out;
}
