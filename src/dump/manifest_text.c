/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_text.c: one record of a manifest as JSON, on one line. Written directly rather than with
 * the JSON writer, for speed: a manifest has millions of these.
 */
#include "dump/manifest_text.h"

#include <math.h>

#include "args/dtype.h"
#include "codec/json_writer.h"
#include "dump/gather.h"

#define PUT(b, literal) sb_add((b), "" literal, sizeof(literal) - 1)

static void manifest_put_u64(struct strbuf *b, uint64_t v)
{
	char buf[24], *p = buf + sizeof(buf);

	do {
		*--p = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	sb_add(b, p, (size_t)(buf + sizeof(buf) - p));
}

static void put_hex(struct strbuf *b, uint64_t v, unsigned digits)
{
	static const char hex[] = "0123456789abcdef";
	char buf[20] = "\"0x";
	unsigned n = 3;

	for (unsigned i = digits; i-- > 0;)
		buf[n++] = hex[v >> (4 * i) & 15];
	buf[n++] = '"';
	sb_add(b, buf, n);
}

static void put_bool(struct strbuf *b, bool v)
{
	sb_add(b, v ? "true" : "false", v ? 4 : 5);
}

void manifest_put_string(struct strbuf *b, struct str s)
{
	struct json_writer w;

	json_w_buf(&w, b, 0);
	json_w_str(&w, s);
}

static const char *manifest_core_name(unsigned core_type)
{
	static const char *const names[] = {"unknown", "aic", "aiv", "mix"};

	return core_type < 4 ? names[core_type] : names[0];
}

/* Nine digits: reads back to the same float. */
static void manifest_put_float(struct strbuf *b, uint32_t bits)
{
	char buf[40];
	size_t n;
	float f;

	memcpy(&f, &bits, sizeof(f));
	if (isnan(f)) {
		PUT(b, "null");
		return;
	}
	if (isinf(f)) {
		sb_puts(b, f > 0 ? "\"$Inf\"" : "\"-$Inf\"");
		return;
	}
	n = (size_t)snprintf(buf, sizeof(buf), "%.9g", (double)f);
	for (size_t i = 0; i < n; i++)
		if (buf[i] == ',') /* a locale with a decimal comma */
			buf[i] = '.';
	sb_add(b, buf, n);
	if (!strpbrk(buf, ".e"))
		PUT(b, ".0");
}

static void manifest_put_value(struct strbuf *b, unsigned dtype, uint64_t raw)
{
	int64_t v = dtype == DTYPE_INT32 ? (int32_t)raw : (int64_t)raw;

	switch (dtype) {
	case DTYPE_FLOAT32:
		manifest_put_float(b, (uint32_t)raw);
		break;
	case DTYPE_INT32:
	case DTYPE_INT64:
		if (v < 0)
			PUT(b, "-");
		manifest_put_u64(b, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
		break;
	case DTYPE_UINT32:
		manifest_put_u64(b, (uint32_t)raw);
		break;
	case DTYPE_BOOL:
		put_bool(b, raw != 0);
		break;
	default:
		manifest_put_u64(b, raw);
		break;
	}
}

static void manifest_put_list(struct strbuf *b, const uint64_t *v, unsigned n)
{
	PUT(b, "[");
	for (unsigned i = 0; i < n; i++) {
		if (i)
			PUT(b, ", ");
		manifest_put_u64(b, v[i]);
	}
	PUT(b, "]");
}

static void put_funcs(struct strbuf *b, const struct log_task *t)
{
	PUT(b, ", \"func_id\": [");
	for (unsigned i = 0; t && i < t->func_count; i++) {
		if (i)
			PUT(b, ", ");
		if (t->func_ids[i] == 0xffff)
			PUT(b, "-1");
		else
			manifest_put_u64(b, t->func_ids[i]);
	}
	if (!t || t->func_count == 0)
		PUT(b, "-1");
	PUT(b, "]");
}

/* Keys 9 to 13. */
static void put_geometry(struct strbuf *b, const struct log_arg *a)
{
	struct gather_view v = {.rank = a->rank, .elem_bytes = 1};
	uint64_t end;

	for (unsigned d = 0; d < a->rank; d++) {
		v.shape[d] = a->shape[d];
		v.strides[d] = a->strides[d];
	}
	if (!view_measure(&v, &end))
		v.numel = v.numel ? v.numel : 1; /* not our log: accept any product */
	PUT(b, ", \"is_contiguous\": ");
	put_bool(b, view_is_dense(&v));
	PUT(b, ", \"shape\": ");
	manifest_put_list(b, a->shape, a->rank);
	PUT(b, ", \"strides\": ");
	manifest_put_list(b, a->strides, a->rank);
	PUT(b, ", \"start_offset\": ");
	manifest_put_u64(b, a->start_offset);
	PUT(b, ", \"numel\": ");
	manifest_put_u64(b, v.numel);
}

static void manifest_put_task(struct strbuf *b, const struct manifest_record *r)
{
	const struct log_task *t = r->task;

	PUT(b, ", \"dispatch_id\": ");
	manifest_put_u64(b, r->arg.dispatch_id);
	PUT(b, ", \"block_idx\": ");
	manifest_put_u64(b, r->arg.block_idx);
	if (t) {
		PUT(b, ", \"block_num\": ");
		manifest_put_u64(b, t->block_num);
		PUT(b, ", \"core_type\": \"");
		sb_puts(b, manifest_core_name(t->core_type));
		PUT(b, "\", \"core_id\": ");
		manifest_put_u64(b, t->core_id);
		PUT(b, ", \"kernel\": ");
		if (t->name_bytes)
			manifest_put_string(b, (struct str){t->name, t->name_bytes});
		else
			PUT(b, "null");
		PUT(b, ", \"tensor_count\": ");
		manifest_put_u64(b, t->tensor_count);
		PUT(b, ", \"scalar_count\": ");
		manifest_put_u64(b, t->scalar_count);
	}
	PUT(b, ", \"thread\": ");
	manifest_put_u64(b, r->thread);
}

static void put_superset(struct strbuf *b, const struct manifest_record *r)
{
	const struct log_arg *a = &r->arg;

	manifest_put_task(b, r);
	if (a->is_scalar) {
		PUT(b, ", \"raw\": ");
		put_hex(b, a->raw, 16);
	} else {
		PUT(b, ", \"buffer_addr\": ");
		put_hex(b, a->buffer_addr, 16);
		PUT(b, ", \"buffer_size\": ");
		manifest_put_u64(b, a->buffer_size);
	}
	if (!a->is_scalar && a->bin_size && !r->is_payload_lost) {
		PUT(b, ", \"crc32c\": ");
		put_hex(b, a->crc32c, 8);
	}
	if (a->flags & LOG_TRUNCATED || r->is_payload_lost) {
		PUT(b, ", \"full_size\": ");
		manifest_put_u64(b, a->full_size);
	}
	if (r->is_payload_lost)
		PUT(b, ", \"payload_lost\": true");
	if (a->flags & LOG_TORN)
		PUT(b, ", \"torn\": true");
	if (r->is_incomplete)
		PUT(b, ", \"incomplete\": true");
}

void manifest_put_record(struct strbuf *b, const struct manifest_record *r, bool is_older)
{
	static const char *const roles[] = {"input", "output", "inout"};
	const struct log_arg *a = &r->arg;
	bool has_payload = a->bin_size && !r->is_payload_lost;

	PUT(b, "{\"task_id\": ");
	put_hex(b, a->task_id, 16);
	if (!is_older)
		put_funcs(b, r->task);
	PUT(b, ", \"arg_index\": ");
	manifest_put_u64(b, a->slot);
	PUT(b, ", \"role\": \"");
	sb_puts(b, roles[a->role]);
	PUT(b, "\", \"stage\": \"");
	sb_puts(b, a->stage ? "after_completion" : "before_dispatch");
	PUT(b, "\", \"kind\": \"");
	sb_puts(b, a->is_scalar ? "scalar" : "tensor");
	PUT(b, "\", \"dtype\": \"");
	sb_puts(b, dtype_name(a->dtype));
	PUT(b, "\"");
	if (a->is_scalar) {
		PUT(b, ", \"value\": ");
		manifest_put_value(b, a->dtype, a->raw);
	}
	put_geometry(b, a);
	if (a->flags & LOG_AMBIGUOUS)
		PUT(b, ", \"arg_index_ambiguous\": true");
	PUT(b, ", \"bin_offset\": ");
	manifest_put_u64(b, has_payload ? a->bin_offset : 0);
	PUT(b, ", \"bin_size\": ");
	manifest_put_u64(b, has_payload ? a->bin_size : 0);
	PUT(b, ", \"truncated\": ");
	put_bool(b, a->flags & LOG_TRUNCATED && !r->is_payload_lost);
	PUT(b, ", \"overwritten\": ");
	put_bool(b, r->is_payload_lost);
	if (!is_older)
		put_superset(b, r);
	PUT(b, "}");
}
