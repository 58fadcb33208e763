/* SPDX-License-Identifier: Apache-2.0 */
/* put.c: writes little-endian numbers of binary answers. */
#include "serve/view/view.h"

void put_u16(struct strbuf *b, uint16_t v)
{
	char p[2] = {(char)v, (char)(v >> 8)};

	sb_add(b, p, sizeof(p));
}

void put_u32(struct strbuf *b, uint32_t v)
{
	char p[4] = {(char)v, (char)(v >> 8), (char)(v >> 16), (char)(v >> 24)};

	sb_add(b, p, sizeof(p));
}

void put_u64(struct strbuf *b, uint64_t v)
{
	put_u32(b, (uint32_t)v);
	put_u32(b, (uint32_t)(v >> 32));
}
