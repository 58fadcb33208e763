/* SPDX-License-Identifier: Apache-2.0 */
/*
 * args.c: slots, buffers and rows of one dispatch, and changes by the user.
 *
 * Parts: slots, buffers and rows; recorded bytes through a strided view; buffers as files, slots as
 * an arg-spec.
 */
#include "args/args.h"
#include "args/words.h"

#include <errno.h>
#include <sys/stat.h>

#include "args/value.h"
#include "base/file.h"
#include "base/mem.h"
#include "codec/json_writer.h"

/* --- slots, buffers and rows ------------------------------------------------------------------ */

void args_init(struct args *a)
{
	*a = (struct args){0};
	arena_init(&a->arena);
}

void args_deinit(struct args *a)
{
	for (size_t i = 0; i < a->buffers.n; i++)
		mem_free(a->buffers.v[i].p);
	VEC_FREE(&a->buffers);
	VEC_FREE(&a->rows);
	VEC_FREE(&a->remarks);
	arena_deinit(&a->arena);
}

bool args_add_buffer(
	struct args *a, const struct arg_buffer *b, uint32_t *index, struct incore_error *e)
{
	*index = (uint32_t)a->buffers.n;
	if (VEC_PUSH(&a->buffers, *b))
		return true;
	mem_free(b->p);
	return err_nomem(e);
}

bool args_remark(struct args *a, const char *text, struct incore_error *e)
{
	return (text && VEC_PUSH(&a->remarks, text)) || err_nomem(e);
}

bool args_spread(struct args *a, uint32_t n_blocks, struct incore_error *e)
{
	struct arg_row row;

	for (uint32_t i = 0; i < ARG_SLOTS; i++)
		row.bits[i] = a->slots[i].bits;
	if (!a->rows.n) {
		a->block_count = n_blocks ? n_blocks : 1;
		while (a->rows.n < a->block_count)
			if (!VEC_PUSH(&a->rows, row))
				return err_nomem(e);
	}
	for (size_t b = 0; b < a->rows.n; b++)
		for (uint32_t i = 0; i < ARG_CONTEXT_SLOT; i++)
			if (a->slots[i].origin == ARG_SPEC)
				a->rows.v[b].bits[i] = row.bits[i];
	return true;
}

bool args_one_block(struct args *a, uint32_t block, struct incore_error *e)
{
	if (block >= a->rows.n)
		return err_set(e, INCORE_USAGE, "no-block",
			"there is no block %u: --blocks says %zu", block, a->rows.n);
	a->rows.v[0] = a->rows.v[block];
	a->rows.n = 1;
	a->first_block = block;
	return true;
}

uint32_t args_owner(const struct args *a, uint32_t slot)
{
	for (uint32_t i = 0; i < slot; i++)
		if (a->slots[i].is_used && a->slots[i].is_tensor &&
			a->slots[i].buffer == a->slots[slot].buffer)
			return i;
	return slot;
}

uint64_t args_bits(const struct args *a, uint32_t row, uint32_t slot)
{
	return row < a->rows.n ? a->rows.v[row].bits[slot] : a->slots[slot].bits;
}

struct arg_content args_content(const struct args *a, const struct arg *s)
{
	const struct arg_buffer *b = &a->buffers.v[s->buffer];

	if (!b->p)
		return s->content;
	if (b->is_known && !b->is_zero)
		return (struct arg_content){.is_filled = true, .p = b->p, .n_bytes = b->n};
	if (b->is_known || !s->is_read)
		return (struct arg_content){.is_filled = true, .fill = FILL_ZERO};
	return (struct arg_content){.fill = FILL_NONE};
}

void arg_measure(struct arg *s)
{
	uint64_t want = 1;

	s->extent = 1;
	s->is_contiguous = true;
	for (uint32_t i = s->n_dims; i-- > 0;) {
		s->is_contiguous &= s->strides[i] == want;
		want *= s->shape[i];
		s->extent += s->shape[i] ? (s->shape[i] - 1) * s->strides[i] : 0;
	}
}

const char *args_origin(const struct args *a, const struct arg *s)
{
	switch ((enum arg_origin)s->origin) {
	case ARG_DUMP:
		return "dump";
	case ARG_NO_BYTES:
		return s->is_read ? "not supplied" : "zeros";
	case ARG_SET:
		return "set";
	case ARG_SPEC:
		return a->made_by ? a->made_by : "arg-spec";
	default:
		return "";
	}
}

void args_workload(const struct args *a, struct strbuf *out)
{
	unsigned n_silent = 0;

	for (uint32_t i = 0; i < ARG_CONTEXT_SLOT; i++) {
		const struct arg *s = &a->slots[i];
		const char *said = s->said ? s->said : args_origin(a, s);

		if (!s->is_used)
			continue;
		if (s->is_tensor && (s->origin == ARG_NO_BYTES || !s->is_read ||
					    !args_content(a, s).is_filled)) {
			n_silent += s->is_read;
			continue;
		}
		sb_puts(out, out->n ? " " : "");
		if (s->name && *s->name)
			sb_puts(out, s->name);
		else
			sb_printf(out, "slot %u", i);
		if (s->is_tensor)
			sb_printf(out, ": %s", dtype_name(s->dtype));
		else
			sb_printf(out, "=0x%llx", (unsigned long long)args_bits(a, 0, i));
		for (uint32_t d = 0; s->is_tensor && d < s->n_dims; d++)
			sb_printf(out, "%s%llu", d ? "x" : " ", (unsigned long long)s->shape[d]);
		sb_printf(out, " (%s)", said);
	}
	if (!out->n)
		sb_puts(out, "no scalars");
	if (n_silent)
		sb_printf(out, "; %u tensor%s without values", n_silent, n_silent == 1 ? "" : "s");
}

static bool is_called(const struct arg *s, struct str name)
{
	struct str bare = str_starts(name, "%") ? str_sub(name, 1, name.n) : name;

	return (s->name && *s->name && str_is(name, s->name)) ||
	       (s->pto && (str_is(name, s->pto) || str_is(bare, s->pto + 1))) ||
	       (s->alias && str_is(bare, s->alias));
}

uint32_t args_find(const struct args *a, struct str name)
{
	uint32_t found = ARG_NONE;
	uint64_t n;

	if (str_to_u64(name, &n))
		return n < ARG_CONTEXT_SLOT && a->slots[n].is_used ? (uint32_t)n : ARG_NONE;
	for (uint32_t i = ARG_CONTEXT_SLOT; i-- > 0;)
		if (a->slots[i].is_used && is_called(&a->slots[i], name) &&
			(found == ARG_NONE || str_is(name, a->slots[i].name)))
			found = i;
	return found;
}

void args_control(const struct args *a, enum arg_control kind, struct strbuf *out)
{
	bool is_first = true;

	for (uint32_t i = 0; i < ARG_CONTEXT_SLOT; i++) {
		const struct arg *s = &a->slots[i];
		const struct arg_buffer *b =
			s->is_used && s->is_tensor ? &a->buffers.v[s->buffer] : NULL;
		uint64_t bits = s->bits;

		if (!s->is_used || s->control != kind)
			continue;
		if (b && b->p)
			memcpy(&bits, b->p,
				b->n < dtype_bytes(s->dtype) ? b->n : dtype_bytes(s->dtype));
		sb_printf(out, "%s", is_first ? "" : ", ");
		if (s->name && *s->name)
			sb_puts(out, s->name);
		else
			sb_printf(out, "slot %u", i);
		if (s->alias && strcmp(s->alias, s->name) != 0)
			sb_printf(out, " %%%s", s->alias);
		sb_printf(out, " (%lld%s)", (long long)bits, b ? " everywhere" : "");
		is_first = false;
	}
}

bool args_cover(const struct args *a, uint64_t read, const char *source, struct incore_error *e)
{
	struct strbuf missing = {0};
	unsigned n = 0;

	for (uint32_t i = 0; i < ARG_CONTEXT_SLOT; i++)
		if (read >> i & 1 && !a->slots[i].is_used)
			sb_printf(&missing, "%s%u", n++ ? ", " : "", i);
	if (!n)
		return true;
	err_file(e, "missing-slot", source, INCORE_NO_OFFSET,
		"the kernel reads args[%s], and nothing supplies %s", missing.p ? missing.p : "",
		n > 1 ? "them" : "it");
	sb_free(&missing);
	return false;
}

/* --- changes by the user --- */

static bool bad_slot(struct incore_error *e, const char *word, const char *why)
{
	return err_set(e, INCORE_USAGE, "bad-slot", "%s: %s", word, why);
}

/* A name that no slot has: the message lists those that there are. */
static bool no_such_name(const struct args *a, const char *word, struct incore_error *e)
{
	struct strbuf b = {0};

	for (uint32_t i = 0; i < ARG_CONTEXT_SLOT; i++)
		if (a->slots[i].is_used) {
			sb_printf(&b, "%s%u", b.n ? ", " : "", i);
			if (a->slots[i].name && *a->slots[i].name)
				sb_printf(&b, " %s", a->slots[i].name);
			if (a->slots[i].alias)
				sb_printf(&b, " %%%s", a->slots[i].alias);
		}
	err_set(e, INCORE_USAGE, "bad-slot", "%s: no argument of that name; there are %s", word,
		b.p ? b.p : "none");
	sb_free(&b);
	return false;
}

static bool split_word(const struct args *a, const char *word, uint32_t *slot, struct str *value,
	struct incore_error *e)
{
	const char *eq = strchr(word, '=');
	uint64_t n;

	if (!eq || eq == word)
		return bad_slot(e, word, "expected SLOT=VALUE or NAME=VALUE");
	if (*word == '-' || *word == '+')
		return bad_slot(e, word, "expected SLOT=VALUE or NAME=VALUE");
	if (!str_to_u64((struct str){word, (size_t)(eq - word)}, &n)) {
		n = args_find(a, (struct str){word, (size_t)(eq - word)});
		if (n == ARG_NONE)
			return no_such_name(a, word, e);
	}
	if (n >= ARG_SLOTS)
		return bad_slot(e, word, "slots are 0 to 47");
	if (n >= ARG_CONTEXT_SLOT)
		return bad_slot(e, word, "slots 48 and 49 are contexts, which are made, not set");
	*slot = (uint32_t)n;
	*value = str_of(eq + 1);
	return true;
}

/* Sets every element of the view; the rest of the buffer is unchanged. */
static void set_elements(const struct arg *s, struct arg_buffer *b, uint64_t bits)
{
	unsigned size = dtype_bytes(s->dtype);
	uint64_t at[ARG_MAX_DIMS] = {0};
	bool is_empty = size == 0;

	for (uint32_t d = 0; d < s->n_dims; d++)
		is_empty |= s->shape[d] == 0;
	b->is_known = true;
	b->is_zero = false;
	while (!is_empty) {
		uint64_t k = s->start_offset;
		uint32_t d = s->n_dims;

		for (uint32_t i = 0; i < s->n_dims; i++)
			k += at[i] * s->strides[i];
		if (k < b->n / size)
			memcpy(b->p + k * size, &bits, size);
		while (d > 0 && ++at[d - 1] == s->shape[d - 1])
			at[--d] = 0;
		if (d == 0)
			return;
	}
}

bool args_set(struct args *a, const char *word, struct incore_error *e)
{
	struct str value;
	uint32_t slot = 0;
	struct arg *s;
	uint64_t bits;

	if (!split_word(a, word, &slot, &value, e))
		return false;
	s = &a->slots[slot];
	if (!s->is_used)
		return bad_slot(e, word, "the task has no such slot");
	if (!arg_value_parse(s->dtype, value, &bits))
		return err_set(e, INCORE_USAGE, "bad-value", "%s: no value of type %s", word,
			dtype_name(s->dtype));
	if (s->is_tensor) {
		set_elements(s, &a->buffers.v[s->buffer], bits);
	} else {
		s->bits = bits;
		for (size_t i = 0; i < a->rows.n; i++)
			a->rows.v[i].bits[slot] = bits;
	}
	s->origin = ARG_SET;
	s->said = NULL;
	s->control = ARG_GIVEN;
	a->is_recorded = false;
	return true;
}

static const char *why_not_restored(const struct arg *s)
{
	if (!s->is_used)
		return "the task has no such slot";
	if (!s->is_tensor)
		return "it is a scalar: its bits are always those recorded";
	if (s->origin == ARG_SET)
		return "it is also set";
	if (!s->is_read)
		return "it is an output: nothing was there before";
	if (s->origin != ARG_DUMP)
		return "the dump holds no bytes of it";
	return NULL;
}

bool args_need_restored(const struct args *a, uint32_t slot, struct incore_error *e)
{
	const char *why =
		slot < ARG_SLOTS ? why_not_restored(&a->slots[slot]) : "the task has no such slot";

	if (!why)
		return true;
	return err_set(
		e, INCORE_BAD_INPUT, "not-restorable", "slot %u cannot be restored: %s", slot, why);
}

/* --- recorded bytes through a strided view ---------------------------------------------------- */

/*
 * Writes recorded bytes back through a strided view, the inverse of a dump's gathering.
 */

/* Writes n elements `step` bytes apart. */
static void put_elements(uint8_t *to, const uint8_t *from, uint64_t n, uint64_t step, unsigned elem)
{
	if (step == elem) {
		memcpy(to, from, n * elem);
		return;
	}
	for (uint64_t i = 0; i < n; i++)
		memcpy(to + i * step, from + i * elem, elem);
}

/* Writes the first n elements in logical order; `to` is the place of element 0. */
static void scatter(const struct arg *a, unsigned elem, uint64_t n, uint8_t *to)
{
	uint64_t index[ARG_MAX_DIMS] = {0}, at = 0;
	unsigned last = a->n_dims ? a->n_dims - 1 : 0;
	uint64_t inner = a->n_dims ? a->shape[last] : 1, stride = a->n_dims ? a->strides[last] : 1;
	const uint8_t *from = a->bytes;

	while (n > 0) {
		uint64_t run = inner < n ? inner : n;

		put_elements(to + at * elem, from, run, stride * elem, elem);
		from += run * elem;
		n -= run;
		if (n == 0)
			break;
		for (unsigned d = last; d-- > 0;) {
			at += a->strides[d];
			if (++index[d] < a->shape[d])
				break;
			at -= a->shape[d] * a->strides[d];
			index[d] = 0;
		}
	}
}

/* Counts the elements of the view; false on overflow of 64 bits. */
static bool count_elements(const struct arg *a, uint64_t *n)
{
	*n = 1;
	for (uint32_t d = 0; d < a->n_dims; d++)
		if (__builtin_mul_overflow(*n, a->shape[d], n))
			return false;
	return true;
}

bool arg_restore(const struct arg *a, uint8_t *buffer, uint64_t size, struct incore_error *e)
{
	unsigned elem = dtype_bytes(a->dtype);
	uint64_t n, numel, end;

	if (!a->is_tensor)
		return err_set(e, INCORE_BAD_INPUT, "not-a-tensor",
			"slot %u is a scalar: it has no buffer", a->slot);
	if (!count_elements(a, &numel))
		numel = UINT64_MAX; /* more than there are bytes */
	if (!a->bytes || !numel)
		return true;
	n = elem ? a->n_bytes / elem : 0;
	n = n < numel ? n : numel;
	if (!elem || !a->extent || __builtin_add_overflow(a->start_offset, a->extent, &end) ||
		end > size / elem)
		return err_set(e, INCORE_BAD_INPUT, "beyond-buffer",
			"slot %u: its view of %llu elements from element %llu leaves a buffer of %llu bytes",
			a->slot, (unsigned long long)a->extent, (unsigned long long)a->start_offset,
			(unsigned long long)size);
	scatter(a, elem, n, buffer + a->start_offset * elem);
	return true;
}

/* --- buffers as files, slots as an arg-spec --------------------------------------------------- */

/* Writes buffers as files and slots as an arg-spec that all our commands accept. */

static bool args_write_bytes(const char *path, const void *p, uint64_t n, struct incore_error *e)
{
	struct out_file o = {0};

	if (!out_file_open(&o, path, e))
		return false;
	fwrite(p, 1, n, o.f);
	return out_file_commit(&o, e);
}

/* Buffers that were not filled are zero and get no file. */
static bool write_buffers(struct args *a, const char *folder, struct incore_error *e)
{
	for (size_t i = 0; i < a->buffers.n; i++) {
		struct arg_buffer *b = &a->buffers.v[i];
		char *path;

		if (!b->is_known || b->is_zero)
			continue;
		b->file = arena_printf(&a->arena, "args/buffer_%02zu.bin", i);
		path = b->file ? arena_printf(&a->arena, "%s/%s", folder, b->file) : NULL;
		if (!path)
			return err_nomem(e);
		if (!args_write_bytes(path, b->p, b->n, e))
			return false;
	}
	return true;
}

void arg_put_dims(struct json_writer *w, const char *key, const uint64_t *v, uint32_t n)
{
	json_w_kv_row(w, key);
	for (uint32_t i = 0; i < n; i++)
		json_w_u64(w, v[i]);
	json_w_end(w);
}

static void args_put_tensor(struct json_writer *w, const struct args *a, const struct arg *s)
{
	const struct arg_buffer *b = &a->buffers.v[s->buffer];

	arg_put_dims(w, "shape", s->shape, s->n_dims);
	arg_put_dims(w, "strides", s->strides, s->n_dims);
	json_w_kv_u64(w, "start_offset", s->start_offset);
	json_w_kv_cstr(w, "role", !s->is_read ? "output" : s->is_written ? "inout" : "input");
	json_w_kv_u64(w, "buffer", s->buffer);
	json_w_kv_u64(w, "buffer_bytes", b->n);
	if (b->file) {
		json_w_kv_row_object(w, "data");
		json_w_kv_cstr(w, "file", b->file);
		json_w_kv_u64(w, "offset", 0);
		json_w_end(w);
	} else {
		json_w_kv_cstr(w, "fill", args_content(a, s).is_filled ? "zero" : "none");
	}
}

static bool write_spec(struct args *a, const char *folder, struct incore_error *e)
{
	char *path = arena_printf(&a->arena, "%s/args.json", folder);
	struct strbuf b = {0};
	struct json_writer w;
	bool ok;

	json_w_buf(&w, &b, 1);
	json_w_object(&w);
	json_w_kv_cstr(&w, "args_origin", a->is_recorded ? "dump" : "synthetic");
	json_w_kv_array(&w, "args");
	for (uint32_t i = 0; i < ARG_CONTEXT_SLOT; i++) {
		const struct arg *s = &a->slots[i];

		if (!s->is_used)
			continue;
		json_w_row_object(&w);
		json_w_kv_cstr(&w, "kind", s->is_tensor ? "tensor" : "scalar");
		json_w_kv_u64(&w, "index", i);
		json_w_kv_cstr(&w, "name", s->name);
		json_w_kv_cstr(&w, "dtype", s->is_tensor ? dtype_name(s->dtype) : "UINT64");
		if (s->is_tensor) {
			args_put_tensor(&w, a, s);
		} else { /* the slot's bits, for any other type */
			json_w_kv_u64(&w, "value", args_bits(a, 0, i));
			json_w_kv_cstr(&w, "pack_mode", "bits");
		}
		json_w_end(&w);
	}
	json_w_end(&w);
	json_w_end(&w);
	sb_putc(&b, '\n');
	ok = (!b.failed && path) ? args_write_bytes(path, b.p, b.n, e) : err_nomem(e);
	sb_free(&b);
	return ok;
}

bool args_write(struct args *a, const char *folder, struct incore_error *e)
{
	char *dir = arena_printf(&a->arena, "%s/args", folder);

	if (!dir)
		return err_nomem(e);
	if (mkdir(dir, 0755) != 0 && errno != EEXIST)
		return err_errno(e, errno, dir, "make the directory");
	return write_buffers(a, folder, e) && write_spec(a, folder, e);
}
