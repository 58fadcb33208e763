/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the instruction at an address: finds the segment and decodes its words once, page by
 * page. */
#include "import/sqtt/code_lines.h"

#include "base/mem.h"
#include "base/vec.h"

bool code_lines_init(struct code_lines *c, const struct sqtt_code *code, enum amd_arch arch,
	bool is_c16, struct incore_error *e)
{
	*c = (struct code_lines){.arch = arch, .is_c16 = is_c16};
	if (!code || code->n_segments == 0)
		return true;
	c->segments = mem_zalloc(code->n_segments, sizeof(*c->segments));
	if (!c->segments)
		return err_nomem(e);
	c->n = code->n_segments;
	for (size_t i = 0; i < c->n; i++) {
		struct code_pages *s = &c->segments[i];

		s->segment = &code->segments[i];
		s->n_words = s->segment->size / 4;
		s->pages = mem_zalloc(s->n_words / PAGE_LINES + 1, sizeof(struct code_line *));
		if (!s->pages)
			return err_nomem(e);
	}
	return true;
}

void code_lines_deinit(struct code_lines *c)
{
	EACH (struct code_pages, s, c->segments, c->n) {
		for (uint64_t k = 0; s->pages && k < s->n_words / PAGE_LINES + 1; k++)
			mem_free(s->pages[k]);
		mem_free(s->pages);
	}
	mem_free(c->segments);
}

static struct code_line make_line(const struct code_lines *c, const uint8_t *p, size_t left)
{
	struct code_line line = {.inst_class = CODE_EXCLUDED};
	struct amd_code_inst in;

	if (!amd_code_decode(c->arch, p, left, &in))
		return line;
	line.words = in.len_bytes / 4;
	line.inst_class = in.inst_class;
	line.flags = in.flags;
	line.branch_words = in.branch / 4;
	/* 0.1.6 treats s_barrier as an immediate and ds_bvh as LDS */
	if (c->is_c16 && in.inst_class == AMD_CODE_BARRIER)
		line.inst_class = AMD_CODE_IMMED;
	if (c->is_c16 && (in.flags & AMD_CODE_DS_BVH))
		line.inst_class = AMD_CODE_LDS;
	return line;
}

struct code_line *code_load_page(struct code_lines *c, struct code_pages *s, uint64_t page)
{
	uint64_t first = page * PAGE_LINES, n = s->n_words - first;
	struct code_line *lines = mem_zalloc(PAGE_LINES, sizeof(*lines));

	if (!lines) {
		c->is_failed = true;
		return NULL;
	}
	if (n > PAGE_LINES)
		n = PAGE_LINES;
	for (uint64_t i = 0; i < n; i++) {
		size_t off = (size_t)(first + i) * 4;

		lines[i] = make_line(c, s->segment->bytes + off, s->segment->size - off);
	}
	s->pages[page] = lines;
	return lines;
}

/* Address of the segment's first byte in the address space of `object`; SQTT_NO_ADDR: none. */
static uint64_t start_of(const struct sqtt_segment *s, uint32_t object)
{
	if (object == 0)
		return s->load_addr;
	return s->object == object ? s->vaddr : SQTT_NO_ADDR;
}

static bool holds(struct code_pages *s, struct sqtt_pc pc, struct code_at *at)
{
	uint64_t start = start_of(s->segment, pc.object);

	if (start == SQTT_NO_ADDR || pc.addr < start || (pc.addr - start) / 4 >= s->n_words)
		return false;
	*at = (struct code_at){s, (pc.addr - start) / 4, start, pc.object};
	return true;
}

struct code_at code_find(struct code_lines *c, struct sqtt_pc pc)
{
	struct code_at at = {0};

	if (c->last && holds(c->last, pc, &at))
		return at;
	for (size_t i = 0; i < c->n; i++) {
		if (!holds(&c->segments[i], pc, &at))
			continue;
		c->last = &c->segments[i];
		return at;
	}
	return at;
}
