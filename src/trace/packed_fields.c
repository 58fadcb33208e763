/* SPDX-License-Identifier: Apache-2.0 */
/* packed_fields.c: values to bytes and back, see packed_fields.h. */
#include "trace/packed_fields.h"

void fields_init_write(struct fields *f, struct strbuf *out)
{
	*f = (struct fields){.out = out};
	intern_init(&f->dict);
}

void fields_init_read(struct fields *f, const uint8_t *p, size_t n, struct arena *arena)
{
	*f = (struct fields){.is_reading = true, .arena = arena};
	f->in = (struct bytes_reader){.p = p, .end = p + n};
	intern_init(&f->dict);
}

void fields_deinit(struct fields *f)
{
	intern_deinit(&f->dict);
	VEC_FREE(&f->strs);
}

bool fields_end(const struct fields *f, const char *what, struct incore_error *e)
{
	if (f->is_nomem || (!f->is_reading && f->out->failed))
		return err_nomem(e);
	if (f->is_failed || f->in.is_failed)
		return err_set(e, INCORE_BAD_INPUT, "bad-packed", "section %s is damaged", what);
	if (f->is_reading && f->in.p != f->in.end)
		return err_set(e, INCORE_BAD_INPUT, "bad-packed",
			"section %s has %zu bytes too many", what, (size_t)(f->in.end - f->in.p));
	return true;
}

/* Reads a value that must not be larger than max. */
static uint64_t read_max(struct fields *f, uint64_t max)
{
	uint64_t v = bytes_varint(&f->in);

	if (v > max) {
		f->is_failed = true;
		return 0;
	}
	return v;
}

void fields_u64(struct fields *f, uint64_t *v)
{
	if (f->is_reading)
		*v = bytes_varint(&f->in);
	else
		bytes_put_varint(f->out, *v);
}

void fields_u32(struct fields *f, uint32_t *v)
{
	if (f->is_reading)
		*v = (uint32_t)read_max(f, UINT32_MAX);
	else
		bytes_put_varint(f->out, *v);
}

void fields_u16(struct fields *f, uint16_t *v)
{
	if (f->is_reading)
		*v = (uint16_t)read_max(f, UINT16_MAX);
	else
		bytes_put_varint(f->out, *v);
}

void fields_u8(struct fields *f, uint8_t *v)
{
	if (f->is_reading)
		*v = bytes_u8(&f->in);
	else
		bytes_put_u8(f->out, *v);
}

void fields_bool(struct fields *f, bool *v)
{
	if (f->is_reading)
		*v = read_max(f, 1) != 0;
	else
		bytes_put_u8(f->out, *v);
}

void fields_i64(struct fields *f, int64_t *v)
{
	if (f->is_reading)
		*v = bytes_zigzag(&f->in);
	else
		bytes_put_zigzag(f->out, *v);
}

void fields_size(struct fields *f, size_t *v)
{
	uint64_t u = *v;

	fields_u64(f, &u);
	*v = (size_t)u;
}

void fields_delta_u64(struct fields *f, uint64_t *v, uint64_t *prev)
{
	if (f->is_reading)
		*v = *prev + (uint64_t)bytes_zigzag(&f->in);
	else
		bytes_put_zigzag(f->out, (int64_t)(*v - *prev));
	*prev = *v;
}

void fields_delta_u32(struct fields *f, uint32_t *v, uint32_t *prev)
{
	if (f->is_reading)
		*v = *prev + (uint32_t)bytes_zigzag(&f->in);
	else
		bytes_put_zigzag(f->out, (int32_t)(*v - *prev));
	*prev = *v;
}

/* 0: NULL; 1: a new string follows; k + 2: the k-th string of this section. */
static void write_str(struct fields *f, const char *s)
{
	uint32_t n_before = f->dict.n, at;

	if (!s) {
		bytes_put_varint(f->out, 0);
		return;
	}
	at = intern_add(&f->dict, str_of(s));
	if (at == INTERN_NONE) {
		f->is_nomem = true;
	} else if (at < n_before) {
		bytes_put_varint(f->out, (uint64_t)at + 2);
	} else {
		bytes_put_varint(f->out, 1);
		bytes_put_str(f->out, str_of(s));
	}
}

static const char *read_str(struct fields *f)
{
	uint64_t k = bytes_varint(&f->in);
	struct str s;
	const char *copy;

	if (f->in.is_failed || k == 0)
		return NULL;
	if (k > 1) {
		if (k - 2 < f->strs.n)
			return f->strs.v[k - 2];
		f->is_failed = true;
		return NULL;
	}
	s = bytes_str(&f->in);
	if (f->in.is_failed || (s.n && memchr(s.p, 0, s.n))) {
		f->is_failed = true;
		return NULL;
	}
	copy = arena_strndup(f->arena, s.n ? s.p : "", s.n);
	if (!copy || !VEC_PUSH(&f->strs, copy)) {
		f->is_nomem = true;
		return NULL;
	}
	return copy;
}

void fields_str(struct fields *f, const char **s)
{
	if (f->is_reading)
		*s = read_str(f);
	else
		write_str(f, *s);
}

void fields_bytes(struct fields *f, const char **p, size_t *n)
{
	bool has = *p != NULL;
	struct str s;

	fields_bool(f, &has);
	if (!f->is_reading) {
		if (has)
			bytes_put_str(f->out, (struct str){*p, *n});
		return;
	}
	*p = NULL;
	*n = 0;
	if (!has)
		return;
	s = bytes_str(&f->in);
	if (f->in.is_failed)
		return;
	*p = arena_strndup(f->arena, s.n ? s.p : "", s.n);
	if (*p)
		*n = s.n;
	else
		f->is_nomem = true;
}

void *fields_array(struct fields *f, void *array, uint32_t *n, size_t elem_size, size_t min_bytes)
{
	void *p;

	fields_u32(f, n);
	if (!f->is_reading)
		return *n ? array : NULL;
	if (f->is_failed || f->in.is_failed || f->is_nomem)
		*n = 0;
	if (*n > (size_t)(f->in.end - f->in.p) / min_bytes) {
		f->is_failed = true;
		*n = 0;
	}
	if (*n == 0)
		return NULL;
	p = arena_zalloc(f->arena, *n, elem_size);
	if (!p) {
		f->is_nomem = true;
		*n = 0;
	}
	return p;
}
