/* SPDX-License-Identifier: Apache-2.0 */
/* pipe_kind.c: the role of a lane, and the kind of an instruction in the accounting of its pipe. */
#include "analysis/pipes/pipe_sweep.h"
#include "base/mem.h"
#include "isa/ascend.h"

const char *pipe_lane_name(const struct track *k)
{
	const char *slash = strrchr(k->name, '/');

	return slash ? slash + 1 : k->name;
}

struct str pipe_core_name(const struct track *k)
{
	struct str s = str_of(k->name);
	ptrdiff_t slash = str_rfind_char(s, '/');

	return slash < 0 ? s : str_sub(s, 0, (size_t)slash);
}

enum pipe_role pipe_role(const struct track *k)
{
	const struct ascend_lane *lane = ascend_lane(k->coord[2]);

	if (lane->is_compute)
		return ROLE_COMPUTE;
	if (lane->is_work)
		return lane->pipe == PIPE_OTHER0 ? ROLE_OTHER : ROLE_MOVE;
	switch (lane->pipe) {
	case PIPE_CACHEMISS:
	case PIPE_USERMARK:
	case PIPE_EVENT:
		return ROLE_MARK;
	default:
		return ROLE_CONTROL;
	}
}

static enum pipe_kind kind_of_opcode(struct str opcode)
{
	switch (ascend_sync_of(opcode)) {
	case SYNC_SET:
	case SYNC_SET_CROSS:
		return KIND_SET;
	case SYNC_WAIT:
	case SYNC_WAIT_CROSS:
		return KIND_WAIT;
	case SYNC_BARRIER:
		return KIND_BARRIER;
	case SYNC_GET_BUF:
		return KIND_BUFFER;
	case SYNC_RLS_BUF:
	case SYNC_NOP:
		return KIND_NOTHING;
	default:
		return ascend_is_config(opcode) ? KIND_CONFIG : KIND_WORK;
	}
}

uint8_t *pipe_kinds_new(const struct trace *t)
{
	uint8_t *kinds = mem_alloc((size_t)t->n_code + 1);
	uint8_t *of_opcode = mem_zalloc((size_t)t->n_opcodes + 1, 1);

	if (!kinds || !of_opcode) {
		mem_free(kinds);
		mem_free(of_opcode);
		return NULL;
	}
	for (uint32_t i = 0; i < t->n_opcodes; i++)
		of_opcode[i] = (uint8_t)kind_of_opcode(str_of(t->opcodes[i]));
	for (code_idx i = 0; i < t->n_code; i++)
		kinds[i] = of_opcode[t->code[i].opcode];
	kinds[t->n_code] = KIND_WORK;
	mem_free(of_opcode);
	return kinds;
}
