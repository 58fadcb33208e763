/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.c: the words of small programs. An instruction is given by its encoding fields as they
 * are documented for each generation; a branch has its distance in its low 16 bits.
 */
#include "program.h"

#include <string.h>

#include "stream.h"

struct encoding {
	uint8_t n; /* words; 0: this generation has no such instruction */
	uint32_t w[3];
};

static const struct encoding encodings[SQ_GENS][SQ_OPS] =
	{
		[SQ_GFX9] =
			{
				[SQ_OP_SMEM] = {2, {0xc0060100, 0}},
				[SQ_OP_SALU] = {1, {0xbe860080}},
				[SQ_OP_SADD] = {1, {0x80068106}},
				[SQ_OP_BUFFER] = {2, {0xe0501000, 0x80020201}},
				[SQ_OP_LOAD] = {2, {0xdc508000, 0x027f0000}},
				[SQ_OP_STORE] = {2, {0xdc708000, 0x007f0200}},
				[SQ_OP_FLAT] = {2, {0xdc500000, 0x02000000}},
				[SQ_OP_LDS] = {2, {0xd86c0000, 0x03000001}},
				[SQ_OP_LDS_WRITE] = {2, {0xd81a0000, 0x00000201}},
				[SQ_OP_VALU] = {1, {0x68040702}},
				[SQ_OP_FMA] = {2, {0xd1cb0002, 0x04120702}},
				[SQ_OP_WAIT_SMEM] = {1, {0xbf8cc07f}},
				[SQ_OP_WAIT_VMEM] = {1, {0xbf8c0f70}},
				[SQ_OP_WAIT_LDS] = {1, {0xbf8cc07f}},
				[SQ_OP_NOP] = {1, {0xbf800000}},
				[SQ_OP_BRANCH] = {1, {0xbf820000}},
				[SQ_OP_CBRANCH] = {1, {0xbf850000}},
				[SQ_OP_SETPC] = {1, {0xbe801d1e}},
				[SQ_OP_BARRIER] = {1, {0xbf8a0000}},
				[SQ_OP_MESSAGE] = {1, {0xbf900001}},
				[SQ_OP_END] = {1, {0xbf810000}},
			},
		[SQ_GFX10] =
			{
				[SQ_OP_SMEM] = {2, {0xf4040100, 0xfa000000}},
				[SQ_OP_SALU] = {1, {0xbe860380}},
				[SQ_OP_SADD] = {1, {0x80068106}},
				[SQ_OP_BUFFER] = {2, {0xe0301000, 0x80020201}},
				[SQ_OP_LOAD] = {2, {0xdc308000, 0x027d0000}},
				[SQ_OP_STORE] = {2, {0xdc708000, 0x007d0200}},
				[SQ_OP_FLAT] = {2, {0xdc300000, 0x027d0000}},
				[SQ_OP_LDS] = {2, {0xd8d80000, 0x03000001}},
				[SQ_OP_LDS_WRITE] = {2, {0xd8340000, 0x00000201}},
				[SQ_OP_VALU] = {1, {0x4a040702}},
				[SQ_OP_FMA] = {2, {0xd54b0002, 0x04120702}},
				[SQ_OP_WAIT_SMEM] = {1, {0xbf8cc07f}},
				[SQ_OP_WAIT_VMEM] = {1, {0xbf8c3f70}},
				[SQ_OP_WAIT_LDS] = {1, {0xbf8cc07f}},
				[SQ_OP_NOP] = {1, {0xbf800000}},
				[SQ_OP_BRANCH] = {1, {0xbf820000}},
				[SQ_OP_CBRANCH] = {1, {0xbf850000}},
				[SQ_OP_SETPC] = {1, {0xbe80201e}},
				[SQ_OP_BARRIER] = {1, {0xbf8a0000}},
				[SQ_OP_MESSAGE] = {1, {0xbf900001}},
				[SQ_OP_END] = {1, {0xbf810000}},
			},
		[SQ_GFX11] =
			{
				[SQ_OP_SMEM] = {2, {0xf4040100, 0xf8000000}},
				[SQ_OP_SALU] = {1, {0xbe860080}},
				[SQ_OP_SADD] = {1, {0x80068106}},
				[SQ_OP_BUFFER] = {2, {0xe0500000, 0x80420201}},
				[SQ_OP_LOAD] = {2, {0xdc520000, 0x027c0000}},
				[SQ_OP_STORE] = {2, {0xdc6a0000, 0x007c0200}},
				[SQ_OP_FLAT] = {2, {0xdc500000, 0x027c0000}},
				[SQ_OP_LDS] = {2, {0xd8d80000, 0x03000001}},
				[SQ_OP_LDS_WRITE] = {2, {0xd8340000, 0x00000201}},
				[SQ_OP_VALU] = {1, {0x4a040702}},
				[SQ_OP_FMA] = {2, {0xd6130002, 0x04120702}},
				[SQ_OP_WAIT_SMEM] = {1, {0xbf89fc07}},
				[SQ_OP_WAIT_VMEM] = {1, {0xbf8903f7}},
				[SQ_OP_WAIT_LDS] = {1, {0xbf89fc07}},
				[SQ_OP_NOP] = {1, {0xbf800000}},
				[SQ_OP_BRANCH] = {1, {0xbfa00000}},
				[SQ_OP_CBRANCH] = {1, {0xbfa20000}},
				[SQ_OP_SETPC] = {1, {0xbe80481e}},
				[SQ_OP_BARRIER] = {1, {0xbfbd0000}},
				[SQ_OP_MESSAGE] = {1, {0xbfb60001}},
				[SQ_OP_SKIP] = {1, {0xbf870001}},
				[SQ_OP_END] = {1, {0xbfb00000}},
			},
		[SQ_GFX12] =
			{
				[SQ_OP_SMEM] = {2, {0xf4002100, 0xf8000000}},
				[SQ_OP_SALU] = {1, {0xbe860080}},
				[SQ_OP_SADD] = {1, {0x80068106}},
				[SQ_OP_BUFFER] = {3, {0xc405007c, 0x40801002, 0x00000001}},
				[SQ_OP_LOAD] = {3, {0xee05007c, 0x00000002, 0x00000000}},
				[SQ_OP_STORE] = {3, {0xee06807c, 0x01000000, 0x00000000}},
				[SQ_OP_FLAT] = {3, {0xec05007c, 0x00000002, 0x00000000}},
				[SQ_OP_LDS] = {2, {0xd8d80000, 0x03000001}},
				[SQ_OP_LDS_WRITE] = {2, {0xd8340000, 0x00000201}},
				[SQ_OP_VALU] = {1, {0x4a040702}},
				[SQ_OP_FMA] = {2, {0xd6130002, 0x04120702}},
				[SQ_OP_WAIT_SMEM] = {1, {0xbfc70000}},
				[SQ_OP_WAIT_VMEM] = {1, {0xbfc00000}},
				[SQ_OP_WAIT_LDS] = {1, {0xbfc60000}},
				[SQ_OP_NOP] = {1, {0xbf800000}},
				[SQ_OP_BRANCH] = {1, {0xbfa00000}},
				[SQ_OP_CBRANCH] = {1, {0xbfa20000}},
				[SQ_OP_SETPC] = {1, {0xbe80481e}},
				[SQ_OP_SIGNAL] = {1, {0xbe804ec1}},
				[SQ_OP_BARWAIT] = {1, {0xbf94ffff}},
				[SQ_OP_MESSAGE] = {1, {0xbfb60001}},
				[SQ_OP_SKIP] = {1, {0xbf870001}},
				[SQ_OP_END] = {1, {0xbfb00000}},
			},
};

bool sq_has_op(enum sq_gen gen, enum sq_op op)
{
	return encodings[gen][op].n > 0;
}

void sq_add_line(struct sq_program *p, enum sq_op op, uint32_t target)
{
	if (p->n < SQ_MAX_LINES)
		p->lines[p->n++] = (struct sq_line){.op = op, .target = target};
}

void sq_assemble(struct sq_program *p)
{
	p->size = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		struct sq_line *l = &p->lines[i];

		l->n_words = encodings[p->gen][l->op].n;
		l->offset = p->size;
		l->vaddr = p->vaddr + p->size;
		p->size += l->n_words * 4u;
	}
	for (uint32_t i = 0; i < p->n; i++) {
		const struct sq_line *l = &p->lines[i];
		uint32_t w[3];

		memcpy(w, encodings[p->gen][l->op].w, sizeof(w));
		if (l->op == SQ_OP_BRANCH || l->op == SQ_OP_CBRANCH) {
			int64_t words =
				((int64_t)p->lines[l->target].vaddr - (int64_t)l->vaddr - 4) / 4;

			w[0] |= (uint32_t)words & 0xffff;
		}
		memcpy(p->bytes + l->offset, w, l->n_words * 4u);
	}
}

static void add_random(struct sq_program *p, uint64_t *state, unsigned flags)
{
	static const uint8_t usual[] = {SQ_OP_SMEM, SQ_OP_SALU, SQ_OP_SADD, SQ_OP_BUFFER,
		SQ_OP_LOAD, SQ_OP_STORE, SQ_OP_FLAT, SQ_OP_LDS, SQ_OP_LDS_WRITE, SQ_OP_VALU,
		SQ_OP_VALU, SQ_OP_FMA, SQ_OP_FMA, SQ_OP_WAIT_SMEM, SQ_OP_WAIT_VMEM, SQ_OP_WAIT_LDS,
		SQ_OP_NOP, SQ_OP_BARRIER, SQ_OP_SIGNAL, SQ_OP_BARWAIT, SQ_OP_MESSAGE, SQ_OP_SKIP};
	enum sq_op op = (enum sq_op)usual[sq_below(state, sizeof(usual))];

	if (op == SQ_OP_BARRIER &&
		p->gen != SQ_GFX9) /* what its token becomes needs the next one */
		op = SQ_OP_NOP;
	if (op >= SQ_OP_BARRIER && op <= SQ_OP_MESSAGE && !(flags & SQ_PROGRAM_MESSAGES))
		op = SQ_OP_NOP;
	sq_add_line(p, sq_has_op(p->gen, op) ? op : SQ_OP_SALU, 0);
}

/* A stretch of code, with a loop around it, a skip over it, or a jump to behind it. */
static void add_block(struct sq_program *p, uint64_t *state, unsigned flags)
{
	uint32_t first = p->n, n = 1 + sq_below(state, 8);
	uint32_t shape = sq_below(state, flags & SQ_PROGRAM_SETPC ? 5 : 4);

	if (shape == 1 || shape == 2)
		sq_add_line(p, shape == 1 ? SQ_OP_CBRANCH : SQ_OP_BRANCH, 0);
	if (shape == 4)
		sq_add_line(p, SQ_OP_SETPC, 0);
	for (uint32_t i = 0; i < n; i++)
		add_random(p, state, flags);
	if (shape == 1 || shape == 2 || shape == 4)
		p->lines[first].target = p->n; /* the line that follows */
	if (shape == 3)
		sq_add_line(p, SQ_OP_CBRANCH, first);
}

void sq_random_program(struct sq_program *p, enum sq_gen gen, uint64_t *state, unsigned flags)
{
	uint32_t blocks = 1 + sq_below(state, 10);

	*p = (struct sq_program){.gen = gen, .vaddr = 0x1000 + 256 * (uint64_t)sq_below(state, 16)};
	sq_add_line(p, SQ_OP_SALU, 0);
	for (uint32_t i = 0; i < blocks; i++)
		add_block(p, state, flags);
	sq_add_line(p, SQ_OP_SALU, 0); /* where a branch at the end leads */
	sq_add_line(p, SQ_OP_END, 0);
	sq_assemble(p);
}

const char *sq_gpu_name(enum sq_gen gen)
{
	static const char *const names[SQ_GENS] = {"gfx950", "gfx1030", "gfx1100", "gfx1200"};

	return names[gen];
}

uint32_t sq_elf_flags(enum sq_gen gen)
{
	static const uint32_t flags[SQ_GENS] = {0x4f, 0x36, 0x41, 0x48};

	return flags[gen];
}

unsigned sq_gfx_major(enum sq_gen gen)
{
	return 9 + (unsigned)gen;
}
