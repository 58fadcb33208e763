/* SPDX-License-Identifier: Apache-2.0 */
/* arguments_spec.c: slots and buffers from an arg-spec, over those of a dump. */
#include "base/file.h"
#include "base/hash.h"
#include "dump/dtype.h"
#include "model/record/argspec.h"
#include "replay/arguments/arguments.h"
#include "replay/arguments/value_parse.h"

static unsigned dtype_of(unsigned op_dtype)
{
	static const uint8_t CODES[DT_COUNT] = {[DT_NONE] = DTYPE_UNKNOWN,
		[DT_F32] = DTYPE_FLOAT32,
		[DT_F16] = DTYPE_FLOAT16,
		[DT_BF16] = DTYPE_BFLOAT16,
		[DT_I8] = DTYPE_INT8,
		[DT_U8] = DTYPE_UINT8,
		[DT_I16] = DTYPE_INT16,
		[DT_U16] = DTYPE_UINT16,
		[DT_I32] = DTYPE_INT32,
		[DT_U32] = DTYPE_UINT32,
		[DT_I64] = DTYPE_INT64,
		[DT_U64] = DTYPE_UINT64,
		[DT_F8E4M3] = DTYPE_FP8E4M3FN,
		[DT_F8E5M2] = DTYPE_UINT8,
		[DT_F8E8M0] = DTYPE_FP8E8M0,
		[DT_HIF8] = DTYPE_UINT8,
		[DT_F4E2M1] = DTYPE_FP4E2M1,
		[DT_F4E1M2] = DTYPE_UINT8,
		[DT_F64] = DTYPE_UINT64,
		[DT_BOOL] = DTYPE_BOOL};

	return op_dtype < DT_COUNT ? CODES[op_dtype] : DTYPE_UNKNOWN;
}

/* One element of a pattern: floats in [-1, 1) from the seed, or a value; integers keep the value. */
static uint64_t element(unsigned dtype, const struct arg_slot *s, uint64_t i)
{
	double v = s->fill == FILL_VALUE
			   ? s->fill_value
			   : (double)(hash_mix64(s->fill_seed * 0x9e3779b97f4a7c15u + i + 1) >>
				      11) * 0x1p-52 -
				     1.0;
	float f = (float)v;
	uint32_t bits;

	switch (dtype) {
	case DTYPE_FLOAT32:
		memcpy(&bits, &f, sizeof(bits));
		return bits;
	case DTYPE_FLOAT16:
		return half_of_float(f);
	case DTYPE_BFLOAT16:
		return bfloat_of_float(f);
	default:
		return s->fill == FILL_VALUE ? (uint64_t)(int64_t)v : 0;
	}
}

static bool fill_from_file(
	const struct arg_slot *s, struct argument_bytes *b, struct incore_error *e)
{
	uint64_t n = s->data_bytes ? s->data_bytes : b->n;
	struct file_data f = {0};
	bool ok = file_load(&f, s->data_path, e) || err_wrap(e, "data of slot %u", s->slot);

	if (ok && (s->data_off > f.size || n > f.size - s->data_off || n > b->n))
		ok = err_file(e, "truncated", s->data_path, s->data_off,
			"slot %u needs %llu bytes here, the file has %zu in all", s->slot,
			(unsigned long long)n, f.size);
	if (ok)
		memcpy(b->p, f.data + s->data_off, n);
	file_unload(&f);
	return ok;
}

static bool fill_buffer(
	const struct arg_slot *s, unsigned dtype, struct argument_bytes *b, struct incore_error *e)
{
	unsigned size = dtype_bytes(dtype);

	b->is_known = s->data_path || s->is_filled;
	if (s->data_path)
		return fill_from_file(s, b, e);
	b->is_zero = s->fill == FILL_ZERO;
	if (s->fill == FILL_NONE)
		b->is_known = false;
	for (uint64_t i = 0; b->is_known && !b->is_zero && size && (i + 1) * size <= b->n; i++) {
		uint64_t bits = element(dtype, s, i);

		memcpy(b->p + i * size, &bits, size);
	}
	return true;
}

/* A buffer for a tensor, filled; slots that share one come after its first. */
static bool take_buffer(struct arguments *a, const struct argspec *spec, const struct arg_slot *s,
	struct replay_slot *out, struct incore_error *e)
{
	const struct arg_slot *owner = argspec_owner(spec, s);
	struct argument_bytes b = {.n = s->bytes};

	if (owner != s) {
		out->buffer = a->rows.v[0].slots[owner->slot].buffer;
		return !s->is_filled || fill_buffer(s, out->dtype, &a->buffers.v[out->buffer], e);
	}
	b.p = mem_zalloc(b.n ? b.n : 1, 1);
	if (!b.p || !fill_buffer(s, out->dtype, &b, e)) {
		bool is_lack = !b.p;

		mem_free(b.p);
		return is_lack ? err_nomem(e) : false;
	}
	out->buffer = (uint32_t)a->buffers.n;
	if (!VEC_PUSH(&a->buffers, b)) {
		mem_free(b.p);
		return err_nomem(e);
	}
	return true;
}

static void take_view(const struct arg_slot *s, struct replay_slot *out)
{
	uint64_t want = 1;

	out->n_dims = s->ndims;
	out->start_offset = s->start_offset;
	out->extent = 1;
	out->is_contiguous = true;
	for (uint32_t i = s->ndims; i-- > 0;) {
		out->shape[i] = s->shape[i];
		out->strides[i] = s->stride[i];
		out->is_contiguous &= s->stride[i] == want;
		want *= s->shape[i];
		out->extent += s->shape[i] ? (uint64_t)(s->shape[i] - 1) * s->stride[i] : 0;
	}
}

static bool take_slot(struct arguments *a, const struct argspec *spec, const struct arg_slot *s,
	struct incore_error *e)
{
	struct replay_slot slot = {.is_used = true,
		.is_tensor = s->is_tensor,
		.name = arena_strdup(&a->arena, *s->name ? s->name : ""),
		.dtype = (uint8_t)dtype_of(s->dtype),
		.bits = s->value,
		.is_read = s->is_input,
		.is_written = s->is_output};

	if (!slot.name)
		return err_nomem(e);
	if (s->is_tensor && !take_buffer(a, spec, s, &slot, e))
		return false;
	if (s->is_tensor)
		take_view(s, &slot);
	for (size_t i = 0; i < a->rows.n; i++)
		a->rows.v[i].slots[s->slot] = slot;
	a->origin[s->slot] = ARGUMENT_SPEC;
	return true;
}

bool arguments_one_block(struct arguments *a, uint32_t block, struct incore_error *e)
{
	if (block >= a->rows.n)
		return err_set(e, INCORE_USAGE, "no-block",
			"there is no block %u: --blocks says %zu", block, a->rows.n);
	a->rows.v[0] = a->rows.v[block];
	a->rows.n = 1;
	a->first_block = block;
	return true;
}

bool arguments_from_spec(
	struct arguments *a, const char *path, uint32_t n_blocks, struct incore_error *e)
{
	struct argspec spec;
	bool ok;

	argspec_init(&spec);
	ok = argspec_load(&spec, path, e);
	a->is_recorded = (a->is_recorded || !a->rows.n) && spec.origin == ARGS_DUMP;
	if (ok && !a->rows.n) { /* no dump below it: the rows are made here */
		a->block_count = n_blocks ? n_blocks : 1;
		while (ok && a->rows.n < a->block_count)
			ok = VEC_PUSH(&a->rows, (struct argument_row){0}) || err_nomem(e);
	}
	for (size_t i = 0; ok && i < spec.slots.n; i++)
		ok = take_slot(a, &spec, &spec.slots.v[i], e);
	argspec_deinit(&spec);
	return ok;
}
