/* SPDX-License-Identifier: Apache-2.0 */
/* ascend_identity.c: keys of code rows and hashes of pipes. */
#include "isa/ascend_identity.h"

#include "base/hash.h"

uint64_t ascend_row_key(unsigned kind, uint64_t pc, struct str opcode, struct str text)
{
	uint64_t key = hash_bytes(opcode.p, opcode.n, hash_mix64(pc) ^ (uint64_t)kind << 1);
	struct str operands = text.n > opcode.n ? str_sub(text, opcode.n + 1, text.n) : STR("");

	if (ascend_sync_of(opcode) != SYNC_NONE)
		key = hash_bytes(operands.p, operands.n, key);
	return key;
}

uint64_t ascend_slice_hash(uint64_t hash, const struct ascend_slice *s)
{
	hash = hash_mix64(hash ^ s->start);
	hash = hash_mix64(hash ^ ((uint64_t)s->dur << 32 | s->stall));
	return hash_mix64(hash ^ s->code) + 1;
}
