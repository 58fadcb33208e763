/* SPDX-License-Identifier: Apache-2.0 */
/* amd_kind.c: reads the width of an access and its direction from the mnemonic. */
#include "isa/amd_kind.h"

#include "isa/amd.h"

struct width {
	const char *part;
	uint8_t bytes;
};

/* Parts of a mnemonic, the longest first: "dwordx4" has "dword" in it. */
static const struct width widths[] = {{"dwordx16", 64}, {"dwordx8", 32}, {"dwordx4", 16},
	{"dwordx3", 12}, {"dwordx2", 8}, {"dword", 4}, {"b512", 64}, {"b256", 32}, {"b128", 16},
	{"b96", 12}, {"b64", 8}, {"u64", 8}, {"f64", 8}, {"b32", 4}, {"u32", 4}, {"i32", 4},
	{"f32", 4}, {"xyzw", 16}, {"xyz", 12}, {"ubyte", 1}, {"sbyte", 1}, {"byte", 1}, {"b8", 1},
	{"u8", 1}, {"i8", 1}, {"ushort", 2}, {"sshort", 2}, {"short", 2}, {"d16", 2}, {"b16", 2},
	{"u16", 2}, {"i16", 2}, {"f16", 2}, {"bf16", 2}};

unsigned amd_access_bytes(struct str mnemonic)
{
	unsigned twice = str_has(mnemonic, "read2") || str_has(mnemonic, "write2") ||
					 str_has(mnemonic, "load_2addr") ||
					 str_has(mnemonic, "store_2addr")
				 ? 2
				 : 1;

	for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++)
		if (str_has(mnemonic, widths[i].part))
			return widths[i].bytes * twice;
	return 0;
}

static const char *matrix_word(struct str mnemonic)
{
	return str_has(mnemonic, "wmma") ? "WMMA" : "MFMA";
}

static const char *lds_word(struct str mnemonic)
{
	if (str_has(mnemonic, "read") || str_has(mnemonic, "load"))
		return " read";
	if (str_has(mnemonic, "write") || str_has(mnemonic, "store"))
		return " write";
	return " atomic";
}

static const char *smem_word(struct str mnemonic)
{
	return str_has(mnemonic, "load")    ? " load"
	       : str_has(mnemonic, "store") ? " store"
					    : " other";
}

bool amd_kind_put(struct strbuf *out, enum inst_class c, struct str text)
{
	struct str m = amd_mnemonic(text);
	unsigned bytes = amd_access_bytes(m);

	if (c == CLASS_MATRIX)
		return sb_puts(out, matrix_word(m));
	sb_puts(out, class_name(c));
	if (c == CLASS_LDS)
		sb_puts(out, lds_word(m));
	else if (c == CLASS_SMEM)
		sb_puts(out, smem_word(m));
	else if (c != CLASS_VMEM_LOAD && c != CLASS_VMEM_STORE && c != CLASS_VMEM_TO_LDS &&
		 c != CLASS_VMEM_ATOMIC)
		bytes = 0;
	if (bytes)
		sb_printf(out, " %u B", bytes);
	return !out->failed;
}
