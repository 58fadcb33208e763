/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amd_words.c: names an instruction as far as its encoding allows without a full disassembler.
 *
 * Parts: opcode numbers; names.
 */
#include "isa/amd_words.h"

#include <stddef.h>
#include <stdint.h>

#include "base/little_endian.h"

/* Opcode numbers whose meaning an analysis needs; see amd_words.c. */

enum amd_word_form {
	AMD_WORD_PLAIN,	 /* no operand shown */
	AMD_WORD_NUMBER, /* the 16-bit immediate in decimal */
	AMD_WORD_HEX,
	AMD_WORD_WAITCNT, /* counters by name */
};

struct amd_word_name {
	uint8_t op;
	uint8_t first_major, last_major; /* gfx generations with this meaning */
	uint8_t form;			 /* enum amd_word_form */
	const char *name;		 /* NULL ends a table */
};

/* --- opcode numbers --------------------------------------------------------------------------- */

/* Opcode numbers of the public instruction set manuals, by generation. */

/* clang-format off */
static const struct amd_word_name amd_sopp_names[] = {
	{0, 9, 12, AMD_WORD_NUMBER, "s_nop"},
	{1, 9, 10, AMD_WORD_PLAIN, "s_endpgm"},
	{2, 9, 10, AMD_WORD_NUMBER, "s_branch"},
	{3, 9, 10, AMD_WORD_PLAIN, "s_wakeup"},
	{4, 9, 10, AMD_WORD_NUMBER, "s_cbranch_scc0"},
	{5, 9, 10, AMD_WORD_NUMBER, "s_cbranch_scc1"},
	{6, 9, 10, AMD_WORD_NUMBER, "s_cbranch_vccz"},
	{7, 9, 10, AMD_WORD_NUMBER, "s_cbranch_vccnz"},
	{8, 9, 10, AMD_WORD_NUMBER, "s_cbranch_execz"},
	{9, 9, 10, AMD_WORD_NUMBER, "s_cbranch_execnz"},
	{10, 9, 10, AMD_WORD_PLAIN, "s_barrier"},
	{11, 9, 10, AMD_WORD_NUMBER, "s_setkill"},
	{12, 9, 10, AMD_WORD_WAITCNT, "s_waitcnt"},
	{13, 9, 10, AMD_WORD_NUMBER, "s_sethalt"},
	{14, 9, 10, AMD_WORD_NUMBER, "s_sleep"},
	{15, 9, 10, AMD_WORD_NUMBER, "s_setprio"},
	{16, 9, 10, AMD_WORD_NUMBER, "s_sendmsg"},
	{17, 9, 10, AMD_WORD_NUMBER, "s_sendmsghalt"},
	{18, 9, 10, AMD_WORD_NUMBER, "s_trap"},
	{19, 9, 10, AMD_WORD_PLAIN, "s_icache_inv"},
	{20, 9, 10, AMD_WORD_NUMBER, "s_incperflevel"},
	{21, 9, 10, AMD_WORD_NUMBER, "s_decperflevel"},
	{22, 9, 10, AMD_WORD_PLAIN, "s_ttracedata"},
	{23, 9, 10, AMD_WORD_NUMBER, "s_cbranch_cdbgsys"},
	{24, 9, 10, AMD_WORD_NUMBER, "s_cbranch_cdbguser"},
	{25, 9, 10, AMD_WORD_NUMBER, "s_cbranch_cdbgsys_or_user"},
	{26, 9, 10, AMD_WORD_NUMBER, "s_cbranch_cdbgsys_and_user"},
	{27, 9, 10, AMD_WORD_PLAIN, "s_endpgm_saved"},
	{28, 9, 9, AMD_WORD_PLAIN, "s_set_gpr_idx_off"},
	{29, 9, 9, AMD_WORD_HEX, "s_set_gpr_idx_mode"},
	{30, 9, 10, AMD_WORD_PLAIN, "s_endpgm_ordered_ps_done"},
	{31, 10, 12, AMD_WORD_PLAIN, "s_code_end"},
	{32, 10, 10, AMD_WORD_HEX, "s_inst_prefetch"},
	{33, 10, 10, AMD_WORD_HEX, "s_clause"},
	{34, 10, 10, AMD_WORD_PLAIN, "s_wait_idle"},
	{35, 10, 10, AMD_WORD_HEX, "s_waitcnt_depctr"},
	{36, 10, 10, AMD_WORD_HEX, "s_round_mode"},
	{37, 10, 10, AMD_WORD_HEX, "s_denorm_mode"},
	{40, 10, 10, AMD_WORD_HEX, "s_ttracedata_imm"},
	{1, 11, 12, AMD_WORD_NUMBER, "s_setkill"},
	{2, 11, 12, AMD_WORD_NUMBER, "s_sethalt"},
	{3, 11, 12, AMD_WORD_NUMBER, "s_sleep"},
	{4, 11, 11, AMD_WORD_HEX, "s_set_inst_prefetch_distance"},
	{5, 11, 12, AMD_WORD_HEX, "s_clause"},
	{7, 11, 12, AMD_WORD_HEX, "s_delay_alu"},
	{8, 11, 11, AMD_WORD_HEX, "s_waitcnt_depctr"},
	{8, 12, 12, AMD_WORD_HEX, "s_wait_alu"},
	{9, 11, 12, AMD_WORD_WAITCNT, "s_waitcnt"},
	{10, 11, 12, AMD_WORD_PLAIN, "s_wait_idle"},
	{11, 11, 12, AMD_WORD_HEX, "s_wait_event"},
	{16, 11, 12, AMD_WORD_NUMBER, "s_trap"},
	{17, 11, 12, AMD_WORD_HEX, "s_round_mode"},
	{18, 11, 12, AMD_WORD_HEX, "s_denorm_mode"},
	{20, 12, 12, AMD_WORD_HEX, "s_barrier_wait"},
	{21, 12, 12, AMD_WORD_PLAIN, "s_barrier_leave"},
	{32, 11, 12, AMD_WORD_NUMBER, "s_branch"},
	{33, 11, 12, AMD_WORD_NUMBER, "s_cbranch_scc0"},
	{34, 11, 12, AMD_WORD_NUMBER, "s_cbranch_scc1"},
	{35, 11, 12, AMD_WORD_NUMBER, "s_cbranch_vccz"},
	{36, 11, 12, AMD_WORD_NUMBER, "s_cbranch_vccnz"},
	{37, 11, 12, AMD_WORD_NUMBER, "s_cbranch_execz"},
	{38, 11, 12, AMD_WORD_NUMBER, "s_cbranch_execnz"},
	{39, 11, 11, AMD_WORD_NUMBER, "s_cbranch_cdbgsys"},
	{40, 11, 11, AMD_WORD_NUMBER, "s_cbranch_cdbguser"},
	{41, 11, 11, AMD_WORD_NUMBER, "s_cbranch_cdbgsys_or_user"},
	{42, 11, 11, AMD_WORD_NUMBER, "s_cbranch_cdbgsys_and_user"},
	{48, 11, 12, AMD_WORD_PLAIN, "s_endpgm"},
	{49, 11, 12, AMD_WORD_PLAIN, "s_endpgm_saved"},
	{50, 11, 12, AMD_WORD_PLAIN, "s_endpgm_ordered_ps_done"},
	{52, 11, 12, AMD_WORD_PLAIN, "s_wakeup"},
	{53, 11, 12, AMD_WORD_NUMBER, "s_setprio"},
	{54, 11, 12, AMD_WORD_NUMBER, "s_sendmsg"},
	{55, 11, 12, AMD_WORD_NUMBER, "s_sendmsghalt"},
	{56, 11, 12, AMD_WORD_NUMBER, "s_incperflevel"},
	{57, 11, 12, AMD_WORD_NUMBER, "s_decperflevel"},
	{58, 11, 12, AMD_WORD_PLAIN, "s_ttracedata"},
	{59, 11, 12, AMD_WORD_HEX, "s_ttracedata_imm"},
	{60, 11, 12, AMD_WORD_PLAIN, "s_icache_inv"},
	{61, 11, 11, AMD_WORD_PLAIN, "s_barrier"},
	{64, 12, 12, AMD_WORD_HEX, "s_wait_loadcnt"},
	{65, 12, 12, AMD_WORD_HEX, "s_wait_storecnt"},
	{66, 12, 12, AMD_WORD_HEX, "s_wait_samplecnt"},
	{67, 12, 12, AMD_WORD_HEX, "s_wait_bvhcnt"},
	{68, 12, 12, AMD_WORD_HEX, "s_wait_expcnt"},
	{69, 12, 12, AMD_WORD_HEX, "s_wait_xcnt"},
	{70, 12, 12, AMD_WORD_HEX, "s_wait_dscnt"},
	{71, 12, 12, AMD_WORD_HEX, "s_wait_kmcnt"},
	{72, 12, 12, AMD_WORD_HEX, "s_wait_loadcnt_dscnt"},
	{73, 12, 12, AMD_WORD_HEX, "s_wait_storecnt_dscnt"},
	{74, 12, 12, AMD_WORD_HEX, "s_wait_asynccnt"},
	{75, 12, 12, AMD_WORD_HEX, "s_wait_tensorcnt"},
	{0, 0, 0, AMD_WORD_PLAIN, NULL},
};

static const struct amd_word_name amd_sopk_names[] = {
	{16, 9, 9, AMD_WORD_NUMBER, "s_cbranch_i_fork"},
	{21, 9, 9, AMD_WORD_NUMBER, "s_call_b64"},
	{22, 10, 10, AMD_WORD_NUMBER, "s_call_b64"},
	{20, 11, 12, AMD_WORD_NUMBER, "s_call_b64"},
	{23, 10, 10, AMD_WORD_HEX, "s_waitcnt_vscnt"},
	{24, 10, 10, AMD_WORD_HEX, "s_waitcnt_vmcnt"},
	{25, 10, 10, AMD_WORD_HEX, "s_waitcnt_expcnt"},
	{26, 10, 10, AMD_WORD_HEX, "s_waitcnt_lgkmcnt"},
	{24, 11, 11, AMD_WORD_HEX, "s_waitcnt_vscnt"},
	{25, 11, 11, AMD_WORD_HEX, "s_waitcnt_vmcnt"},
	{26, 11, 11, AMD_WORD_HEX, "s_waitcnt_expcnt"},
	{27, 11, 11, AMD_WORD_HEX, "s_waitcnt_lgkmcnt"},
	{0, 0, 0, AMD_WORD_PLAIN, NULL},
};

static const struct amd_word_name amd_sop1_names[] = {
	{29, 9, 9, AMD_WORD_PLAIN, "s_setpc_b64"},
	{30, 9, 9, AMD_WORD_PLAIN, "s_swappc_b64"},
	{31, 9, 9, AMD_WORD_PLAIN, "s_rfe_b64"},
	{46, 9, 9, AMD_WORD_PLAIN, "s_cbranch_join"},
	{32, 10, 10, AMD_WORD_PLAIN, "s_setpc_b64"},
	{33, 10, 10, AMD_WORD_PLAIN, "s_swappc_b64"},
	{34, 10, 10, AMD_WORD_PLAIN, "s_rfe_b64"},
	{72, 11, 12, AMD_WORD_PLAIN, "s_setpc_b64"},
	{73, 11, 12, AMD_WORD_PLAIN, "s_swappc_b64"},
	{74, 11, 12, AMD_WORD_PLAIN, "s_rfe_b64"},
	{76, 11, 12, AMD_WORD_PLAIN, "s_sendmsg_rtn_b32"},
	{77, 11, 12, AMD_WORD_PLAIN, "s_sendmsg_rtn_b64"},
	{78, 12, 12, AMD_WORD_PLAIN, "s_barrier_signal"},
	{79, 12, 12, AMD_WORD_PLAIN, "s_barrier_signal_isfirst"},
	{80, 12, 12, AMD_WORD_PLAIN, "s_get_barrier_state"},
	{81, 12, 12, AMD_WORD_PLAIN, "s_barrier_init"},
	{82, 12, 12, AMD_WORD_PLAIN, "s_barrier_join"},
	{88, 12, 12, AMD_WORD_PLAIN, "s_sleep_var"},
	{0, 0, 0, AMD_WORD_PLAIN, NULL},
};

static const struct amd_word_name amd_sop2_names[] = {
	{41, 9, 9, AMD_WORD_PLAIN, "s_cbranch_g_fork"},
	{43, 9, 9, AMD_WORD_PLAIN, "s_rfe_restore_b64"},
	{0, 0, 0, AMD_WORD_PLAIN, NULL},
};

static const struct amd_word_name amd_smem_names[] = {
	{16, 9, 9, AMD_WORD_PLAIN, "s_store"},
	{17, 9, 9, AMD_WORD_PLAIN, "s_store"},
	{18, 9, 9, AMD_WORD_PLAIN, "s_store"},
	{24, 9, 9, AMD_WORD_PLAIN, "s_buffer_store"},
	{25, 9, 9, AMD_WORD_PLAIN, "s_buffer_store"},
	{26, 9, 9, AMD_WORD_PLAIN, "s_buffer_store"},
	{36, 9, 10, AMD_WORD_PLAIN, "s_memtime"},
	{37, 9, 10, AMD_WORD_PLAIN, "s_memrealtime"},
	{31, 10, 10, AMD_WORD_PLAIN, "s_gl1_inv"},
	{32, 11, 11, AMD_WORD_PLAIN, "s_gl1_inv"},
	{36, 12, 12, AMD_WORD_PLAIN, "s_prefetch_inst"},
	{37, 12, 12, AMD_WORD_PLAIN, "s_prefetch_inst_pc_rel"},
	{38, 12, 12, AMD_WORD_PLAIN, "s_prefetch_data"},
	{39, 12, 12, AMD_WORD_PLAIN, "s_buffer_prefetch_data"},
	{40, 12, 12, AMD_WORD_PLAIN, "s_prefetch_data_pc_rel"},
	{0, 0, 0, AMD_WORD_PLAIN, NULL},
};
/* clang-format on */

/* --- names ------------------------------------------------------------------------------------ */

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

struct coded_word {
	enum amd_arch arch;
	const struct amd_code_inst *inst;
	uint32_t w, hi; /* first and second word; hi is 0 if there is no second */
};

static uint32_t amd_words_bits(uint32_t w, unsigned from, unsigned to)
{
	return w >> from & (uint32_t)(((uint64_t)1 << (to - from + 1)) - 1);
}

static bool amd_words_put_words(struct strbuf *out, const struct coded_word *c, const uint8_t *p)
{
	for (unsigned i = 0; i < c->inst->len_bytes; i += 4)
		sb_printf(out, "%s0x%08x", i ? " " : " <", le32(p + i));
	return sb_putc(out, '>');
}

/* --- the sequencer's own instructions, in full --- */

static const struct amd_word_name *amd_words_find_name(
	const struct amd_word_name *table, enum amd_arch arch, uint32_t op)
{
	unsigned major = amd_arch_major(arch);

	for (; table->name; table++)
		if (table->op == op && major >= table->first_major && major <= table->last_major)
			return table;
	return NULL;
}

static bool put_waitcnt(struct strbuf *out, unsigned major, uint32_t imm)
{
	bool is_new = major >= 11;
	uint32_t vm = is_new ? amd_words_bits(imm, 10, 15)
			     : amd_words_bits(imm, 0, 3) | amd_words_bits(imm, 14, 15) << 4;
	uint32_t ex = is_new ? amd_words_bits(imm, 0, 2) : amd_words_bits(imm, 4, 6);
	uint32_t lgkm =
		is_new ? amd_words_bits(imm, 4, 9) : amd_words_bits(imm, 8, major == 10 ? 13 : 11);

	sb_puts(out, "s_waitcnt");
	if (vm != 63)
		sb_printf(out, " vmcnt(%u)", vm);
	if (ex != 7)
		sb_printf(out, " expcnt(%u)", ex);
	if (lgkm != (major >= 10 ? 63 : 15))
		sb_printf(out, " lgkmcnt(%u)", lgkm);
	if (vm == 63 && ex == 7 && lgkm == (major >= 10 ? 63 : 15))
		sb_printf(out, " 0x%x", imm);
	return !out->failed;
}

static bool put_sopp(struct strbuf *out, const struct coded_word *c, const uint8_t *p)
{
	const struct amd_word_name *n =
		amd_words_find_name(amd_sopp_names, c->arch, amd_words_bits(c->w, 16, 22));
	uint32_t imm = amd_words_bits(c->w, 0, 15);

	if (!n) {
		sb_puts(out, "s_sopp");
		return amd_words_put_words(out, c, p);
	}
	if (n->form == AMD_WORD_WAITCNT)
		return put_waitcnt(out, amd_arch_major(c->arch), imm);
	sb_puts(out, n->name);
	if (n->form == AMD_WORD_NUMBER)
		sb_printf(out, " %u", imm);
	else if (n->form == AMD_WORD_HEX)
		sb_printf(out, " 0x%x", imm);
	return !out->failed;
}

static bool put_sopk(struct strbuf *out, const struct coded_word *c, const uint8_t *p)
{
	const struct amd_word_name *n =
		amd_words_find_name(amd_sopk_names, c->arch, amd_words_bits(c->w, 23, 27));

	if (!n) {
		sb_puts(out, "s_sopk");
		return amd_words_put_words(out, c, p);
	}
	if (n->form == AMD_WORD_HEX &&
		amd_words_bits(c->w, 16, 22) == (amd_arch_major(c->arch) == 10 ? 125 : 124))
		return sb_printf(out, "%s null, 0x%x", n->name, amd_words_bits(c->w, 0, 15));
	if (n->form == AMD_WORD_NUMBER)
		return sb_printf(out, "%s s[%u:%u], %u", n->name, amd_words_bits(c->w, 16, 22),
			amd_words_bits(c->w, 16, 22) + 1, amd_words_bits(c->w, 0, 15));
	sb_puts(out, n->name);
	return amd_words_put_words(out, c, p);
}

static bool amd_words_put_scalar(struct strbuf *out, const struct coded_word *c, const uint8_t *p)
{
	const struct amd_word_name *n;

	if (c->w >> 23 == 0x17f)
		return put_sopp(out, c, p);
	if (c->w >> 28 == 0xb && c->w >> 23 != 0x17d && c->w >> 23 != 0x17e)
		return put_sopk(out, c, p);
	if (c->w >> 23 == 0x17d) {
		n = amd_words_find_name(amd_sop1_names, c->arch, amd_words_bits(c->w, 8, 15));
		sb_puts(out, n ? n->name : "s_sop1");
	} else {
		n = c->w >> 23 == 0x17e ? NULL
					: amd_words_find_name(amd_sop2_names, c->arch,
						  amd_words_bits(c->w, 23, 29));
		sb_puts(out, n ? n->name : c->w >> 23 == 0x17e ? "s_sopc" : "s_sop2");
	}
	return amd_words_put_words(out, c, p);
}

/* --- memory --- */

static const char *access_of(const struct coded_word *c, uint32_t op)
{
	unsigned major = amd_arch_major(c->arch);
	uint32_t first_atomic = major == 9 ? 64 : major == 10 ? 48 : 51;

	if (c->inst->flags & AMD_CODE_LOAD)
		return "load";
	if ((major >= 12 && op == 84) || (major == 10 && op == 23)) /* block, addtid */
		return "store";
	if (major == 10 && (op == 113 || op == 114)) /* cache invalidation */
		return "op";
	if (op >= first_atomic && op < 125)
		return "atomic";
	if ((op >= 4 && op <= 7) || (op >= 12 && op <= 15) || (op >= 24 && op <= 31) || op == 39 ||
		(major >= 11 && (op == 36 || op == 37 || op == 41)) || (op >= 132 && op <= 143) ||
		(op == 61 && major == 9))
		return "store";
	return "op";
}

static bool amd_words_returns_value(const struct coded_word *c, bool is_flat)
{
	switch (amd_arch_major(c->arch)) {
	case 9:
	case 10:
		return amd_words_bits(c->w, is_flat ? 16 : 14, is_flat ? 16 : 14);
	case 11:
		return amd_words_bits(c->w, 14, 14);
	default:
		return amd_words_bits(c->hi, 20, 20);
	}
}

static bool amd_words_put_access(
	struct strbuf *out, const struct coded_word *c, const char *family, uint32_t op)
{
	unsigned major = amd_arch_major(c->arch);
	bool is_flat = strcmp(family, "buffer") != 0;
	const char *access = access_of(c, op);

	sb_printf(out, "%s_%s", family, access);
	if ((major <= 10 && !is_flat && amd_words_bits(c->w, 16, 16) && access[0] == 'l') ||
		(major == 9 && is_flat && ((op >= 38 && op <= 42) || op == 125 || op == 126)))
		sb_puts(out, "_lds");
	if (access[0] == 'a' && amd_words_returns_value(c, is_flat))
		sb_puts(out, major >= 12 ? " th:TH_ATOMIC_RETURN" : " glc");
	return !out->failed;
}

static bool put_flat(struct strbuf *out, const struct coded_word *c)
{
	static const char *const families[4] = {"flat", "scratch", "global", "flat"};
	unsigned major = amd_arch_major(c->arch);
	unsigned seg = major >= 12   ? amd_words_bits(c->w, 24, 25)
		       : major == 11 ? amd_words_bits(c->w, 16, 17)
				     : amd_words_bits(c->w, 14, 15);
	uint32_t op = major >= 12 ? amd_words_bits(c->w, 14, 21) : amd_words_bits(c->w, 18, 24);

	return amd_words_put_access(out, c, families[seg], op);
}

static bool is_sample(const struct coded_word *c)
{
	uint32_t op = amd_words_bits(c->w, 18, 24);

	switch (amd_arch_major(c->arch)) {
	case 9:
		return op >= 32;
	case 10:
		return op >= 32 || c->w & 1;
	case 11:
		return amd_words_bits(c->w, 18, 25) >= 27;
	default:
		return c->w >> 26 == 0x39;
	}
}

static bool put_image(struct strbuf *out, const struct coded_word *c)
{
	unsigned major = amd_arch_major(c->arch);
	uint32_t op = major >= 12 ? amd_words_bits(c->w, 14, 21) : amd_words_bits(c->w, 18, 24);
	uint32_t first_store = major >= 11 ? 6 : 8;

	if (is_sample(c))
		return sb_puts(out, "image_sample");
	if (c->inst->flags & AMD_CODE_LOAD || op == 0)
		return sb_puts(out, "image_load");
	if (op >= first_store && op < first_store + 4)
		return sb_puts(out, "image_store");
	return sb_puts(out, op >= 10 && op <= 28 ? "image_atomic" : "image_op");
}

static bool put_vector_memory(struct strbuf *out, const struct coded_word *c)
{
	unsigned major = amd_arch_major(c->arch);
	uint32_t top = c->w >> 26;

	if (top == 0x37 || top == 0x3b)
		return put_flat(out, c);
	if (c->inst->inst_class == AMD_CODE_BVH)
		return sb_puts(out, "image_bvh");
	if (top == 0x3c || (major >= 12 && (top == 0x34 || top == 0x39)))
		return put_image(out, c);
	if (top == 0x3a)
		return sb_puts(
			out, c->inst->flags & AMD_CODE_LOAD ? "tbuffer_load" : "tbuffer_store");
	return amd_words_put_access(out, c, "buffer",
		major >= 12 ? amd_words_bits(c->w, 14, 21)
			    : amd_words_bits(c->w, 18, major == 9 ? 24 : 25));
}

static bool put_scalar_memory(struct strbuf *out, const struct coded_word *c)
{
	unsigned major = amd_arch_major(c->arch);
	uint32_t op = major >= 12 ? amd_words_bits(c->w, 13, 18) : amd_words_bits(c->w, 18, 25);
	const struct amd_word_name *n = amd_words_find_name(amd_smem_names, c->arch, op);

	if (n)
		return sb_puts(out, n->name);
	if (c->inst->flags & AMD_CODE_LOAD)
		return sb_puts(out, op >= (major >= 12 ? 16 : 8) ? "s_buffer_load" : "s_load");
	return sb_puts(out, major == 9 && op >= 64 ? "s_atomic" : "s_dcache");
}

static bool put_lds(struct strbuf *out, const struct coded_word *c)
{
	bool is_old = amd_arch_major(c->arch) == 9;
	uint32_t op = is_old ? amd_words_bits(c->w, 17, 24) : amd_words_bits(c->w, 18, 25);

	if (c->w >> 24 == 0xce)
		return sb_puts(out, "lds_direct_load");
	if (op == (is_old ? 61 : 53))
		return sb_puts(out, "ds_swizzle");
	if (op == (is_old ? 62 : 178))
		return sb_puts(out, "ds_permute");
	if (op == (is_old ? 63 : 179))
		return sb_puts(out, "ds_bpermute");
	return sb_puts(out, "ds_op");
}

/* --- vector --- */

static bool is_matrix(const struct coded_word *c)
{
	uint32_t op = amd_words_bits(c->w, 16, 22);

	if (amd_arch_major(c->arch) == 9)
		return c->w >> 23 == 0x1a7 &&
		       ((op >= 0x2c && op <= 0x2e) || (op >= 0x34 && op != 0x58 && op != 0x59));
	return amd_arch_major(c->arch) >= 11 && c->w >> 24 == 0xcc && op >= 0x40 && op <= 0x5f;
}

static const char *vector_name(const struct coded_word *c)
{
	uint32_t top = c->w >> 26;
	bool is_old = amd_arch_major(c->arch) == 9;

	if (is_matrix(c))
		return is_old ? "v_mfma" : "v_wmma";
	if (c->w >> 25 == 0x3f)
		return "v_vop1";
	if (c->w >> 25 == 0x3e)
		return "v_vopc";
	if (c->w >> 31 == 0)
		return "v_vop2";
	if (c->w >> 23 == 0x1a7 || (!is_old && c->w >> 24 == 0xcc))
		return "v_vop3p";
	if (!is_old && top == 0x32 && amd_arch_major(c->arch) >= 11)
		return "v_vopd";
	return "v_vop3";
}

static bool put_kind(struct strbuf *out, const struct coded_word *c)
{
	switch (c->inst->inst_class) {
	case AMD_CODE_SMEM:
		return put_scalar_memory(out, c);
	case AMD_CODE_VMEM:
	case AMD_CODE_FLAT:
		return put_vector_memory(out, c);
	case AMD_CODE_BVH:
		return sb_puts(out, c->w >> 26 == 0x36 ? "ds_bvh" : "image_bvh");
	case AMD_CODE_LDS:
		return put_lds(out, c);
	case AMD_CODE_VALU:
	case AMD_CODE_MFMA_SCALE:
		return sb_puts(out,
			c->inst->inst_class == AMD_CODE_VALU ? vector_name(c) : "v_mfma_scale");
	default:
		return sb_puts(out, c->w >> 26 == 0x31 || c->w >> 26 == 0x3e ? "export" : ".long");
	}
}

bool amd_words_put(
	struct strbuf *out, enum amd_arch arch, const struct amd_code_inst *inst, const uint8_t *p)
{
	struct coded_word c = {.arch = arch, .inst = inst, .w = le32(p)};

	if (inst->len_bytes >= 8)
		c.hi = le32(p + 4);
	if (c.w >> 30 == 2)
		return amd_words_put_scalar(out, &c, p);
	put_kind(out, &c);
	return amd_words_put_words(out, &c, p);
}
