/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sass_decode.c: decodes one instruction. Register positions come from the letters of the table;
 * the few whose widths depend on a matrix shape or a texture's dimension are handled here.
 *
 * Parts: rows of opcodes; one instruction.
 */
#include <string.h>

#include "base/little_endian.h"
#include "isa/sass/sass_table.h"

/* --- rows of opcodes -------------------------------------------------------------------------- */

/*
 * The rows of sass_table.h. Found by disassembling our own kernels, compiled for each architecture,
 * and single instructions of every opcode, with the vendor's disassembler; uniform operations are
 * 0x80 above their vector counterparts.
 */

static const struct sass_row rows[512] = {
	[0x002] = {"MOV", SASS_ALU, 0, "Db"},
	[0x003] = {"P2R", SASS_ALU, 0, "DAb", "?"},
	[0x004] = {"R2P", SASS_ALU, 0, "Ab", "?"},
	[0x005] = {"CS2R", SASS_SPECIAL, 0, "D", NULL, "Ds"},
	[0x006] = {"VOTE", SASS_SHUFFLE, 0, "Dpx", NULL, "opx"},
	[0x007] = {"SEL", SASS_ALU, 0, "DAbx"},
	[0x008] = {"FSEL", SASS_ALU, 0, "DAbx", "f"},
	[0x009] = {"FMNMX", SASS_ALU, 0, "DAbx", "f"},
	[0x00a] = {"FSET", SASS_ALU, 0, "DAbx", "f"},
	[0x00b] = {"FSETP", SASS_ALU, 0, "pqAbx", "f"},
	[0x00c] = {"ISETP", SASS_ALU, 0, "pqAbxz", "s"},
	[0x00f] = {"VIMNMX3", SASS_ALU, 0, "DABCx"},
	[0x010] = {"IADD3", SASS_ALU, 0, "DpqABCil", "-s"},
	[0x011] = {"LEA", SASS_ALU, 0, "DpABCi", "-h", "D~pABC4i"},
	[0x012] = {"LOP3", SASS_ALU, 0, "DpABCx", NULL, "~pDABC3x"},
	[0x013] = {"IABS", SASS_ALU, 0, "Db"},
	[0x014] = {"VABSDIFF", SASS_ALU, 0, "DpABC"},
	[0x015] = {"VABSDIFF4", SASS_ALU, 0, "DpABC"},
	[0x016] = {"PRMT", SASS_ALU, 0, "DABC"},
	[0x017] = {"IMNMX", SASS_ALU, 0, "DAbx", "m"},
	[0x019] = {"SHF", SASS_ALU, 0, "DABC"},
	[0x01a] = {"SGXT", SASS_ALU, 0, "DAb"},
	[0x01b] = {"BMSK", SASS_ALU, 0, "DAb"},
	[0x01c] = {"PLOP3", SASS_ALU, 0, "pqxyz", NULL, "pqxyZ65"},
	[0x020] = {"FMUL", SASS_FMA, 0, "DAb", "f"},
	[0x021] = {"FADD", SASS_FMA, 0, "DAb", "f"},
	[0x022] = {"FSWZADD", SASS_FMA, 0, "DAW", "f"},
	[0x023] = {"FFMA", SASS_FMA, 0, "DABC", "f"},
	[0x024] = {"IMAD", SASS_FMA, 0, "DABCi", "cs"},
	[0x025] = {"IMAD.WIDE", SASS_FMA, 0, "D2pABC2i", "cs"},
	[0x026] = {"IDP", SASS_FMA, 0, "DABC"},
	[0x027] = {"IMAD.HI", SASS_FMA, 0, "DpABC2i", "cs"},
	[0x028] = {"DMUL", SASS_DOUBLE, 0, "D2A2b2", "d"},
	[0x029] = {"DADD", SASS_DOUBLE, 0, "D2A2c2", "d"},
	[0x02a] = {"DSETP", SASS_DOUBLE, 0, "pqA2b2x", "d"},
	[0x02b] = {"DFMA", SASS_DOUBLE, 0, "D2A2B2C2", "d"},
	[0x02d] = {"PREEXIT", SASS_CONTROL, 0, ""},
	[0x02e] = {"ACQBULK", SASS_CONTROL, 0, ""},
	[0x02f] = {"ELECT", SASS_SHUFFLE, 0, "pdx"},
	[0x030] = {"HADD2", SASS_HALF, 0, "DAb", "H"},
	[0x031] = {"HFMA2", SASS_HALF, 0, "DABC", "H"},
	[0x032] = {"HMUL2", SASS_HALF, 0, "DAb", "H"},
	[0x033] = {"HSET2", SASS_HALF, 0, "DAbx", "H"},
	[0x034] = {"HSETP2", SASS_HALF, 0, "pqAbx", "H"},
	[0x035] = {"HFMA2", SASS_HALF, 0, "DABC", "H"},
	[0x036] = {"VIADD", SASS_ALU, 0, "DAb", "-"},
	[0x037] = {"IMMA", SASS_TENSOR, 0, "!", NULL, "DAVW"},
	[0x038] = {"I2I", SASS_XU, 0, "Db"},
	[0x039] = {"I2IP", SASS_ALU, 0, "DABC", "?"},
	[0x03a] = {"MOVM", SASS_SHUFFLE, 0, "DA"},
	[0x03b] = {"LDSM", SASS_LOAD_SHARED, 0, "DmAu"},
	[0x03c] = {"HMMA", SASS_TENSOR, 0, "!", NULL, "DAVW"},
	[0x03d] = {"BMMA", SASS_TENSOR, 0, "!", NULL, "DAVW"},
	[0x03e] = {"F2FP", SASS_ALU, 0, "DABC", "?", "DAB"},
	[0x03f] = {"DMMA", SASS_TENSOR, 0, "!", NULL, "DAVW"},
	[0x040] = {"HMNMX2", SASS_HALF, 0, "DAbx", "H"},
	[0x043] = {"F2IP", SASS_ALU, 0, "DABC", "?"},
	[0x044] = {"STSM", SASS_STORE_SHARED, 0, "AVmv"},
	[0x045] = {"I2FP", SASS_ALU, 0, "Db"},
	[0x046] = {"VIADDMNMX", SASS_ALU, 0, "DABCx", "c"},
	[0x047] = {"VHMNMX", SASS_HALF, 0, "DABCx", "?"},
	[0x048] = {"VIMNMX", SASS_ALU, 0, "DpqAbx", "m"},
	[0x049] = {"FFMA2", SASS_FMA, 0, "D2A2B2C2", "?"},
	[0x04a] = {"FMUL2", SASS_FMA, 0, "D2A2b2", "?"},
	[0x04b] = {"FADD2", SASS_FMA, 0, "D2A2b2", "?"},
	[0x04c] = {"UVIRTCOUNT", SASS_CONTROL, 0, "b"},
	[0x076] = {"FMNMX3", SASS_ALU, 0, "DABCx", "f"},
	[0x07a] = {"QMMA", SASS_TENSOR, 0, "!", NULL, "DAVW"},
	[0x082] = {"UMOV", SASS_UNIFORM, SASS_ROW_UNIFORM, "Db"},
	[0x083] = {"UP2UR", SASS_UNIFORM, SASS_ROW_UNIFORM, "DAb", "?"},
	[0x084] = {"UR2UP", SASS_UNIFORM, SASS_ROW_UNIFORM, "Ab", "?"},
	[0x086] = {"VOTEU", SASS_SHUFFLE, 0, "dPx", NULL, "oPx"},
	[0x087] = {"USEL", SASS_UNIFORM, SASS_ROW_UNIFORM, "DAbx"},
	[0x08c] = {"UISETP", SASS_UNIFORM, SASS_ROW_UNIFORM, "pqAbxz", "s"},
	[0x090] = {"UIADD3", SASS_UNIFORM, SASS_ROW_UNIFORM, "DpqABCil", "-s"},
	[0x091] = {"ULEA", SASS_UNIFORM, SASS_ROW_UNIFORM, "DpABCi", "-h", "D~pABC4i"},
	[0x092] = {"ULOP3", SASS_UNIFORM, SASS_ROW_UNIFORM, "DpABCx", NULL, "~pDABC3x"},
	[0x096] = {"UPRMT", SASS_UNIFORM, SASS_ROW_UNIFORM, "DABC"},
	[0x097] = {"UIADD3.64", SASS_UNIFORM, SASS_ROW_UNIFORM, "D2pqA2B2C2il", "-s"},
	[0x099] = {"USHF", SASS_UNIFORM, SASS_ROW_UNIFORM, "DABC"},
	[0x09a] = {"USGXT", SASS_UNIFORM, SASS_ROW_UNIFORM, "DAb"},
	[0x09b] = {"UBMSK", SASS_UNIFORM, SASS_ROW_UNIFORM, "DAb"},
	[0x09c] = {"UPLOP3", SASS_UNIFORM, SASS_ROW_UNIFORM, "pqxyz", NULL, "pqxyZ65"},
	[0x0a4] = {"UIMAD", SASS_UNIFORM, SASS_ROW_UNIFORM, "DABCi", "cs"},
	[0x0a5] = {"UIMAD.WIDE", SASS_UNIFORM, SASS_ROW_UNIFORM, "D2pABC2i", "cs"},
	[0x0a7] = {"UIMAD.HI", SASS_UNIFORM, SASS_ROW_UNIFORM, "DpABC2i", "cs"},
	[0x0b9] = {"ULDC", SASS_LOAD_CONST, SASS_ROW_UNIFORM, "Ds", NULL, "D["},
	[0x0bb] = {"ULDC", SASS_LOAD_CONST, SASS_ROW_UNIFORM, "DsA", NULL, "D["},
	[0x0bd] = {"UFLO", SASS_UNIFORM, SASS_ROW_UNIFORM, "Dpb"},
	[0x0be] = {"UBREV", SASS_UNIFORM, SASS_ROW_UNIFORM, "Db"},
	[0x0bf] = {"UPOPC", SASS_UNIFORM, SASS_ROW_UNIFORM, "Db"},
	[0x0ca] = {"R2UR", SASS_UNIFORM, 0, "dPA"},
	[0x0cb] = {"CS2UR", SASS_SPECIAL, 0, "d", NULL, "ds"},
	[0x0cc] = {"CREDUX", SASS_SHUFFLE, 0, "dA"},
	[0x100] = {"FLO", SASS_XU, 0, "Dpb"},
	[0x101] = {"BREV", SASS_XU, 0, "Db"},
	[0x102] = {"FCHK", SASS_XU, 0, "pAb", "f"},
	[0x104] = {"F2F", SASS_XU, 0, "Db", "f"},
	[0x105] = {"F2I", SASS_XU, 0, "Db", "f"},
	[0x106] = {"I2F", SASS_XU, 0, "Db"},
	[0x107] = {"FRND", SASS_XU, 0, "Db", "f"},
	[0x108] = {"MUFU", SASS_XU, 0, "Db", "f"},
	[0x109] = {"POPC", SASS_XU, 0, "Db"},
	[0x110] = {"F2F", SASS_XU, 0, "Dfbg", "f"},
	[0x111] = {"F2I", SASS_XU, 0, "Dfbg", "f"},
	[0x112] = {"I2F", SASS_XU, 0, "Dfbg"},
	[0x113] = {"FRND", SASS_XU, 0, "Dfbg", "f"},
	[0x118] = {"NOP", SASS_CONTROL, 0, ""},
	[0x119] = {"S2R", SASS_SPECIAL, 0, "D", NULL, "Ds"},
	[0x11a] = {"DEPBAR", SASS_DEPBAR, 0, "", NULL, "%"},
	[0x11b] = {"ENDCOLLECTIVE", SASS_CONVERGE, 0, ""},
	[0x11c] = {"B2R", SASS_BARRIER, 0, "Dp"},
	[0x11d] = {"BAR", SASS_BARRIER, 0, "!", NULL, "&"},
	[0x11f] = {"SETCTAID", SASS_CONTROL, 0, "A", NULL, "?"},
	[0x141] = {"BSYNC", SASS_CONVERGE, 0, "x", NULL, "^"},
	[0x142] = {"BREAK", SASS_CONVERGE, 0, "x", NULL, "^"},
	[0x143] = {"CALL.ABS", SASS_CALL, 0, "A2", NULL, "?"},
	[0x144] = {"CALL", SASS_CALL, SASS_ROW_OFFSET, "A2x", NULL, "T"},
	[0x145] = {"BSSY", SASS_CONVERGE, SASS_ROW_OFFSET, "x", NULL, "^T"},
	[0x146] = {"YIELD", SASS_CONVERGE, 0, "x", NULL, ""},
	[0x147] = {"BRA", SASS_BRANCH, SASS_ROW_OFFSET, "x", NULL, "~xT"},
	[0x148] = {"WARPSYNC", SASS_CONVERGE, 0, "x", NULL, "?"},
	[0x149] = {"BRX", SASS_BRANCH, SASS_ROW_OFFSET, "A2x", NULL, "?"},
	[0x14a] = {"JMP", SASS_BRANCH, 0, "x", NULL, "?"},
	[0x14c] = {"JMX", SASS_BRANCH, 0, "A2x", NULL, "?"},
	[0x14d] = {"EXIT", SASS_EXIT, 0, "x", NULL, ""},
	[0x14e] = {"LEPC", SASS_SPECIAL, 0, "D2", NULL, "D?"},
	[0x150] = {"RET", SASS_RETURN, SASS_ROW_OFFSET, "A2x", NULL, "?"},
	[0x152] = {"RPCMOV", SASS_CONTROL, 0, "V", NULL, "?"},
	[0x153] = {"RPCMOV", SASS_CONTROL, 0, "D", NULL, "?"},
	[0x154] = {"RPCMOV", SASS_CONTROL, 0, "V2", NULL, "?"},
	[0x155] = {"BMOV", SASS_CONVERGE, 0, "D", NULL, "?"},
	[0x156] = {"BMOV", SASS_CONVERGE, 0, "V", NULL, "?"},
	[0x157] = {"BMOV", SASS_CONVERGE, 0, "V2", NULL, "?"},
	[0x158] = {"BRXU", SASS_BRANCH, SASS_ROW_OFFSET, "k2x", NULL, "?"},
	[0x159] = {"JMXU", SASS_BRANCH, 0, "k2x", NULL, "?"},
	[0x15b] = {"KILL", SASS_EXIT, 0, "x", NULL, ""},
	[0x15c] = {"BPT", SASS_CONTROL, 0, "", NULL, "?"},
	[0x15d] = {"NANOSLEEP", SASS_CONTROL, 0, "b"},
	[0x160] = {"TEX", SASS_TEXTURE, 0, "!"},
	[0x161] = {"TEX", SASS_TEXTURE, 0, "!"},
	[0x162] = {"TEX", SASS_TEXTURE, 0, "!"},
	[0x163] = {"TLD4", SASS_TEXTURE, 0, "!"},
	[0x164] = {"TLD4", SASS_TEXTURE, 0, "!"},
	[0x165] = {"TLD4", SASS_TEXTURE, 0, "!"},
	[0x166] = {"TLD", SASS_TEXTURE, 0, "!"},
	[0x167] = {"TLD", SASS_TEXTURE, 0, "!"},
	[0x168] = {"TLD", SASS_TEXTURE, 0, "!"},
	[0x169] = {"TMML", SASS_TEXTURE, 0, "!"},
	[0x16a] = {"TMML", SASS_TEXTURE, 0, "!"},
	[0x16b] = {"TMML", SASS_TEXTURE, 0, "!"},
	[0x16c] = {"TXD", SASS_TEXTURE, 0, "!"},
	[0x16d] = {"TXD", SASS_TEXTURE, 0, "!"},
	[0x16e] = {"TXD", SASS_TEXTURE, 0, "!"},
	[0x16f] = {"TXQ", SASS_TEXTURE, 0, "!"},
	[0x170] = {"TXQ", SASS_TEXTURE, 0, "!"},
	[0x171] = {"TXQ", SASS_TEXTURE, 0, "!"},
	[0x172] = {"FOOTPRINT", SASS_TEXTURE, 0, "!"},
	[0x173] = {"FOOTPRINT", SASS_TEXTURE, 0, "!"},
	[0x174] = {"FOOTPRINT", SASS_TEXTURE, 0, "!"},
	[0x17e] = {"LDG", SASS_LOAD_GLOBAL, 0, "D4E4A2u2", NULL, "?"},
	[0x17f] = {"STG", SASS_STORE_GLOBAL, 0, "S4A2V4v2", NULL, "?"},
	[0x180] = {"LD", SASS_LOAD_GLOBAL, 0, "DsAeu2"},
	[0x181] = {"LDG", SASS_LOAD_GLOBAL, 0, "DspAeu2"},
	[0x182] = {"LDC", SASS_LOAD_CONST, 0, "DsA", NULL, "D["},
	[0x183] = {"LDL", SASS_LOAD_LOCAL, 0, "DsAu"},
	[0x184] = {"LDS", SASS_LOAD_SHARED, 0, "DsAu"},
	[0x185] = {"ST", SASS_STORE_GLOBAL, 0, "AeVsv2"},
	[0x186] = {"STG", SASS_STORE_GLOBAL, 0, "AeVsv2"},
	[0x187] = {"STL", SASS_STORE_LOCAL, 0, "AVsv"},
	[0x188] = {"STS", SASS_STORE_SHARED, 0, "AVsv"},
	[0x189] = {"SHFL", SASS_SHUFFLE, 0, "DpA", NULL, "pDA12"},
	[0x18a] = {"ATOM", SASS_ATOMIC_GLOBAL, 0, "DapAeVav2", NULL, "pDAV"},
	[0x18b] = {"ATOM", SASS_ATOMIC_GLOBAL, 0, "DapAeVaWa", NULL, "pDAVW"},
	[0x18c] = {"ATOMS", SASS_ATOMIC_SHARED, 0, "DaAVav"},
	[0x18d] = {"ATOMS", SASS_ATOMIC_SHARED, 0, "DaAVaWa"},
	[0x18e] = {"RED", SASS_ATOMIC_GLOBAL, 0, "AeVav2"},
	[0x18f] = {"CCTL", SASS_FENCE, 0, "Ae", NULL, "a"},
	[0x190] = {"CCTLL", SASS_FENCE, 0, "A", NULL, "?"},
	[0x191] = {"CCTLT", SASS_FENCE, 0, "V", NULL, "?"},
	[0x192] = {"MEMBAR", SASS_FENCE, 0, ""},
	[0x193] = {"SUATOM", SASS_SURFACE, 0, "DsA2V"},
	[0x194] = {"SUATOM", SASS_SURFACE, 0, "DsA2V"},
	[0x195] = {"SUATOM", SASS_SURFACE, 0, "DsA2V"},
	[0x196] = {"SUATOM", SASS_SURFACE, 0, "DsA2V"},
	[0x197] = {"SULD", SASS_SURFACE, 0, "DsA2j"},
	[0x198] = {"SULD", SASS_SURFACE, 0, "DsA2W"},
	[0x199] = {"SULD", SASS_SURFACE, 0, "DsA2j"},
	[0x19a] = {"SULD", SASS_SURFACE, 0, "DsA2W"},
	[0x19b] = {"SUST", SASS_SURFACE, 0, "A2Vsj"},
	[0x19c] = {"SUST", SASS_SURFACE, 0, "A2VsW"},
	[0x19d] = {"SUST", SASS_SURFACE, 0, "A2Vsj"},
	[0x19e] = {"SUST", SASS_SURFACE, 0, "A2VsW"},
	[0x19f] = {"SURED", SASS_SURFACE, 0, "A2V"},
	[0x1a0] = {"SURED", SASS_SURFACE, 0, "A2VW"},
	[0x1a1] = {"MATCH", SASS_SHUFFLE, 0, "DpA", NULL, "~pDA"},
	[0x1a2] = {"ATOM", SASS_ATOMIC_GLOBAL, 0, "DapAeVav2", NULL, "pDAV"},
	[0x1a3] = {"ATOMG", SASS_ATOMIC_GLOBAL, 0, "DapAeVav2", NULL, "pDAV"},
	[0x1a6] = {"RED", SASS_ATOMIC_GLOBAL, 0, "AeVav2"},
	[0x1a7] = {"SYNCS", SASS_MBARRIER, 0, "D2AVv"},
	[0x1a8] = {"ATOMG", SASS_ATOMIC_GLOBAL, 0, "DapAeVav2", NULL, "pDAV"},
	[0x1a9] = {"ATOMG", SASS_ATOMIC_GLOBAL, 0, "DapAeVaWa", NULL, "pDAVW"},
	[0x1aa] = {"QSPC", SASS_LOAD_GLOBAL, 0, "DpA2u2", NULL, "pDA"},
	[0x1ab] = {"ERRBAR", SASS_FENCE, 0, ""},
	[0x1ac] = {"LDCU", SASS_LOAD_CONST, SASS_ROW_UNIFORM, "DsA", NULL, "D["},
	[0x1ae] = {"LDGSTS", SASS_ASYNC_COPY, 0, "SA2v2x", NULL, "{A~x"},
	[0x1af] = {"LDGDEPBAR", SASS_DEPBAR, 0, ""},
	[0x1b0] = {"ARRIVES", SASS_MBARRIER, 0, "Av"},
	[0x1b1] = {"SYNCS", SASS_MBARRIER, 0, "Av"},
	[0x1b2] = {"SYNCS", SASS_MBARRIER, SASS_ROW_UNIFORM, "D2AV2"},
	[0x1b3] = {"SUQUERY", SASS_SURFACE, 0, "DA"},
	[0x1b4] = {"UTMALDG", SASS_ASYNC_BULK, SASS_ROW_UNIFORM, "VnA2"},
	[0x1b5] = {"UTMASTG", SASS_ASYNC_BULK, SASS_ROW_UNIFORM, "VnA2"},
	[0x1b6] = {"UTMAREDG", SASS_ASYNC_BULK, SASS_ROW_UNIFORM, "VnA2"},
	[0x1b7] = {"UTMACMDFLUSH", SASS_DEPBAR, 0, ""},
	[0x1b9] = {"UTMACCTL", SASS_ASYNC_BULK, SASS_ROW_UNIFORM, "A2"},
	[0x1ba] = {"UBLKCP", SASS_ASYNC_BULK, SASS_ROW_UNIFORM, "AoV2W"},
	[0x1bb] = {"UBLKRED", SASS_ASYNC_BULK, SASS_ROW_UNIFORM, "AV2W"},
	[0x1bc] = {"UBLKPF", SASS_ASYNC_BULK, SASS_ROW_UNIFORM, "A2W"},
	[0x1c0] = {"GETLMEMBASE", SASS_SPECIAL, 0, "D2", NULL, "D?"},
	[0x1c1] = {"SETLMEMBASE", SASS_SPECIAL, 0, "A2", NULL, "?"},
	[0x1c2] = {"R2UR", SASS_UNIFORM, 0, "dA"},
	[0x1c3] = {"S2UR", SASS_SPECIAL, 0, "d", NULL, "ds"},
	[0x1c4] = {"REDUX", SASS_SHUFFLE, 0, "dA"},
	[0x1c5] = {"WARPGROUP", SASS_WARPGROUP, 0, "", NULL, "%"},
	[0x1c6] = {"FENCE", SASS_FENCE, 0, ""},
	[0x1c7] = {"UCGABAR_ARV", SASS_BARRIER, SASS_ROW_GUARD_UP, ""},
	[0x1c8] = {"USETMAXREG", SASS_CONTROL, SASS_ROW_GUARD_UP, "P", NULL, "~P7"},
	[0x1e3] = {"UTCATOMSWS", SASS_TENSOR_MEMORY, SASS_ROW_UNIFORM, "DV"},
	[0x1e7] = {"UTCCP", SASS_TENSOR_ASYNC, SASS_ROW_UNIFORM, "AV2"},
	[0x1e9] = {"UTCBAR", SASS_TENSOR_ASYNC, SASS_ROW_UNIFORM, "AV"},
	[0x1ea] = {"UTCHMMA", SASS_TENSOR_ASYNC, SASS_ROW_UNIFORM, "A2V2Wj2X"},
	[0x1ed] = {"STTM", SASS_TENSOR_MEMORY, 0, "Vtv"},
	[0x1ee] = {"LDTM", SASS_TENSOR_MEMORY, 0, "Dtu"},
	[0x1f0] = {"HGMMA", SASS_TENSOR_ASYNC, 0, "!", NULL, "g"},
	[0x1f1] = {"IGMMA", SASS_TENSOR_ASYNC, 0, "!", NULL, "g"},
	[0x1f3] = {"QGMMA", SASS_TENSOR_ASYNC, 0, "!", NULL, "g"},
};

/* Operations whose name depends on the form or the generation. */
static const struct {
	uint16_t base;
	uint8_t form; /* 0: every form */
	uint8_t sm;   /* since */
	struct sass_row row;
} others[] = {
	{0x035, 0, 100, {"IADD", SASS_ALU, 0, "D2A2b2", "-"}},
	{0x017, 0, 100, {"IMNMX", SASS_ALU, 0, "D2pqA2b2x", NULL, "D?"}},
	{0x002, 2, 0, {"MOV", SASS_ALU, 0, "D2", NULL, "D?"}},
	{0x007, 2, 0, {"SEL", SASS_ALU, 0, "D2A2x", NULL, "D?"}},
	{0x007, 3, 0, {"SEL", SASS_ALU, 0, "D2A2V2x", NULL, "D?"}},
	{0x082, 2, 0, {"UMOV", SASS_UNIFORM, SASS_ROW_UNIFORM, "D2", NULL, "D?"}},
	{0x147, 2, 0, {"BRA", SASS_BRANCH, SASS_ROW_OFFSET, "T", NULL, "?"}},
	{0x185, 1, 0, {"ST", SASS_STORE_GLOBAL, 0, "AeWs"}},
	{0x189, 1, 0, {"SHFL", SASS_SHUFFLE, 0, "DpAVW", NULL, "pDAVW"}},
	{0x189, 2, 0, {"SHFL", SASS_SHUFFLE, 0, "DpAV", NULL, "pDAV2"}},
	{0x189, 4, 0, {"SHFL", SASS_SHUFFLE, 0, "DpAW", NULL, "pDA1W"}},
	{0x18c, 7, 0, {"ATOMS", SASS_ATOMIC_SHARED, 0, "DaAv"}},
	{0x18d, 2, 0, {"ATOMS", SASS_ATOMIC_SHARED, 0, "pAVaWa"}},
	{0x1a7, 2, 0, {"SYNCS", SASS_MBARRIER, 0, "pAVv"}},
	{0x1c7, 6, 0, {"UCGABAR_WAIT", SASS_BARRIER, SASS_ROW_GUARD_UP, ""}},
	{0x1e3, 2, 0, {"UTCATOMSWS", SASS_TENSOR_MEMORY, SASS_ROW_UNIFORM, "DpV"}},
	{0x1ab, 2, 0, {"CGAERRBAR", SASS_FENCE, 0, ""}},
};

const struct sass_row *sass_row_find(unsigned sm, uint16_t opcode)
{
	uint16_t base = opcode & 0x1ff;
	uint8_t form = (uint8_t)(opcode >> 9 & 7);

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i].base == base && (!others[i].form || others[i].form == form) &&
			sm >= others[i].sm)
			return &others[i].row;
	return &rows[base];
}

/* --- one instruction -------------------------------------------------------------------------- */

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

static void sass_decode_add_operand(
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
static void sass_decode_add_source(
	struct decoding *d, bool is_third, enum sass_file file, unsigned n)
{
	unsigned form = sass_form(d);
	bool swapped = form == 2 || form == 3 || form == 7; /* the third one is not in R@64 */

	if (form == 1)
		sass_decode_add_operand(d, file, is_third ? 64 : 32, n, false);
	else if (is_third != swapped)
		sass_decode_add_operand(d, file, 64, n, false);
	else if (form >= 6)
		sass_decode_add_operand(d, SASS_FILE_UR, 32, n, false);
}

/* The only source besides A: R@64 is unused. */
static void add_only_source(struct decoding *d, unsigned at, enum sass_file file, unsigned n)
{
	unsigned form = sass_form(d);

	if (form == 1)
		sass_decode_add_operand(d, file, at, n, false);
	else if (form >= 6)
		sass_decode_add_operand(d, SASS_FILE_UR, 32, n, false);
}

static void add_uniform(struct decoding *d, unsigned at, unsigned n)
{
	if (has_uniform_source(d))
		sass_decode_add_operand(d, SASS_FILE_UR, at, n, false);
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

static void sass_decode_add_place(struct decoding *d, char place, unsigned n)
{
	bool is_uniform = d->row->flags & SASS_ROW_UNIFORM;
	enum sass_file r = is_uniform ? SASS_FILE_UR : SASS_FILE_R;

	if (place == 'B' || place == 'C')
		sass_decode_add_source(d, place == 'C', r, n);
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
			sass_decode_add_operand(d, file, letters[i].at, n, letters[i].is_write);
	}
}

static void sass_decode_add_places(struct decoding *d, const char *places)
{
	for (const char *c = places; *c; c++) {
		unsigned n = place_width(d, c[1]);

		sass_decode_add_place(d, *c, n ? n : 1);
		if (n)
			c++;
	}
}

/* Results and sources of a matrix instruction, by its shape. */
static void sass_decode_add_tensor(struct decoding *d)
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
	sass_decode_add_operand(d, SASS_FILE_R, 16, acc, true);
	sass_decode_add_operand(d, SASS_FILE_R, 24, a, false);
	sass_decode_add_operand(d, SASS_FILE_R, 32, b, false);
	sass_decode_add_operand(d, SASS_FILE_R, 64, acc, false);
	if (is_sparse)
		sass_decode_add_operand(d, SASS_FILE_R, 40, 1, false);
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
	sass_decode_add_operand(d, SASS_FILE_R, 16, n, true);
	if (sass_form(d) == 6) {
		sass_decode_add_operand(d, SASS_FILE_R, 24, 4, false);
		add_uniform(d, 32, 4);
	} else {
		add_uniform(d, 24, 4);
	}
	sass_decode_add_operand(d, SASS_FILE_R, 64, n, false);
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

	sass_decode_add_operand(d, SASS_FILE_R, 16, parts > 2 ? 2 : parts ? parts : 1, true);
	if (parts > 2)
		sass_decode_add_operand(d, SASS_FILE_R, 64, parts - 2, true);
	sass_decode_add_operand(d, SASS_FILE_R, 24, together || coords < 2 ? coords : 2, false);
	sass_decode_add_operand(d, SASS_FILE_R, 32,
		is_gradient		 ? 4
		: together || coords < 3 ? 1
					 : 2,
		false);
	add_uniform(d, 40, 2);
}

/* Bits 77 to 79: sync, arrive, reduce, scan; its number in bits 54 to 57, or in a register. */
static void add_barrier(struct decoding *d)
{
	unsigned form = sass_form(d), mode = sass_bits(d, 77, 2);

	if (form == 1 || form == 2)
		sass_decode_add_operand(d, SASS_FILE_R, 32, 1, false);
	else
		d->out->barrier = (uint8_t)sass_bits(d, 54, 4);
	if (mode >= 2)
		sass_decode_add_operand(d, SASS_FILE_P, 87, 1, false);
	d->out->flags |= mode == 1 ? SASS_ARRIVES : SASS_ARRIVES | SASS_BLOCKS;
}

static void add_special(struct decoding *d)
{
	if (d->row->inst_class == SASS_TENSOR)
		sass_decode_add_tensor(d);
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

struct sass_inst sass_decode(unsigned sm, const uint8_t *p)
{
	struct sass_inst out = {0};
	struct decoding d = {.lo = le64(p), .hi = le64(p + 8), .sm = sm, .out = &out};

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
		sass_decode_add_places(&d, d.row->places);
	widen_operands(&d);
	return out;
}
