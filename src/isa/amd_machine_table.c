/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amd_machine_table.c: assumed machine figures by target, from the public ISA manuals and the
 * register rules of LLVM's AMDGPU back end. They are used only if a capture has no agent info.
 * gfx10 and later: figures of wave64 pools are half of these; `vgprs_per_simd` is for wave32.
 */
#include "isa/amd_machine.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
static const struct amd_machine amd_machine_table[] = {
	/* arch     product   waves vgprs granule unified LDS         simds/CU simds wave family */
	{"gfx906",  "MI50",      10,  256,  4, false,  64 * 1024, 4,  240, 64, false},
	{"gfx908",  "MI100",     10,  256,  4, false,  64 * 1024, 4,  480, 64, false},
	{"gfx90a",  "MI250X",     8,  512,  8, true,   64 * 1024, 4,  440, 64, false},
	{"gfx940",  "MI300A",     8,  512,  8, true,   64 * 1024, 4,  912, 64, false},
	{"gfx942",  "MI300X",     8,  512,  8, true,   64 * 1024, 4, 1216, 64, false},
	{"gfx950",  "MI350X",     8,  512,  8, true,  160 * 1024, 4, 1024, 64, false},
	/* thread traces with instruction detail exist on gfx90a and later; this is the newest of
	 * them */
	{"gfx9",    "MI350X",     8,  512,  8, true,  160 * 1024, 4, 1024, 64, true},
	{"gfx1010", "gfx1010",   20, 1024,  8, false,  64 * 1024, 2,    0, 32, false},
	{"gfx1030", "gfx1030",   16, 1024, 16, false,  64 * 1024, 2,    0, 32, false},
	{"gfx10",   "gfx10",     16, 1024, 16, false,  64 * 1024, 2,    0, 32, true},
	{"gfx1100", "gfx1100",   16, 1536, 24, false,  64 * 1024, 2,    0, 32, false},
	{"gfx1101", "gfx1101",   16, 1536, 24, false,  64 * 1024, 2,    0, 32, false},
	{"gfx1151", "gfx1151",   16, 1536, 24, false,  64 * 1024, 2,    0, 32, false},
	{"gfx11",   "gfx11",     16, 1024, 16, false,  64 * 1024, 2,    0, 32, true},
	{"gfx1200", "gfx1200",   16, 1536, 24, false,  64 * 1024, 2,    0, 32, false},
	{"gfx1201", "gfx1201",   16, 1536, 24, false,  64 * 1024, 2,    0, 32, false},
	{"gfx12",   "gfx12",     16, 1536, 24, false,  64 * 1024, 2,    0, 32, true},
	{NULL, NULL, 0, 0, 0, false, 0, 0, 0, 0, false},
};
/* clang-format on */

static const struct amd_machine *find(const char *arch)
{
	for (const struct amd_machine *m = amd_machine_table; m->arch; m++)
		if (strcmp(m->arch, arch) == 0)
			return m;
	return NULL;
}

const struct amd_machine *amd_machine_find(const char *arch, unsigned gfx_major)
{
	const struct amd_machine *m = arch ? find(arch) : NULL;
	char family[24];

	if (m || gfx_major == 0)
		return m;
	snprintf(family, sizeof(family), "gfx%u", gfx_major);
	return find(family);
}
