/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields.c: values to bytes and back, see fields.h.
 *
 * Parts: strings by number; values.
 */
#include "trace/fields.h"

/* --- strings by number ------------------------------------------------------------------------ */

/*
 * Strings of a section by number; a separate file, because a report's core does not need it.
 */

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

static void dict_str(struct fields *f, const char **s)
{
	if (f->is_reading)
		*s = read_str(f);
	else
		write_str(f, *s);
}

void fields_use_dict(struct fields *f)
{
	f->dict_str = dict_str;
}

/* --- values ----------------------------------------------------------------------------------- */

void fields_init_write(struct fields *f, enum field_format format, struct strbuf *out)
{
	*f = (struct fields){.format = format, .out = out};
	intern_init(&f->dict);
}

void fields_init_read(
	struct fields *f, enum field_format format, const uint8_t *p, size_t n, struct arena *arena)
{
	*f = (struct fields){.format = format, .is_reading = true, .arena = arena};
	f->in = (struct bytes_reader){.p = p, .end = p + n};
	intern_init(&f->dict);
}

void fields_deinit(struct fields *f)
{
	intern_deinit(&f->dict);
	VEC_FREE(&f->strs);
}

bool fields_ok(const struct fields *f)
{
	return !f->is_failed && !f->is_nomem && !f->in.is_failed;
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

static void fields_u16(struct fields *f, uint16_t *v)
{
	if (f->is_reading)
		*v = (uint16_t)read_max(f, UINT16_MAX);
	else
		bytes_put_varint(f->out, *v);
}

static void fields_u8(struct fields *f, uint8_t *v)
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

/* Length and bytes, in place; NULL is stored as an empty string. */
static void plain_str(struct fields *f, const char **s)
{
	struct str v;

	if (!f->is_reading) {
		bytes_put_str(f->out, str_of(*s ? *s : ""));
		return;
	}
	v = bytes_str(&f->in);
	*s = arena_strndup(f->arena, v.n ? v.p : "", v.n);
	f->is_nomem |= !*s;
}

void fields_str(struct fields *f, const char **s)
{
	if (f->dict_str)
		f->dict_str(f, s);
	else
		plain_str(f, s);
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
	if ((uint64_t)*n * min_bytes > (uint64_t)(f->in.end - f->in.p)) {
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

/* --- the fields of field_list.h --- */

/* Highest number of rows that an index of this type may point into. */
static uint32_t index_limit(const struct fields *f, const struct field *d)
{
	return d->type == FIELD_CLOCK	 ? f->of->n_clocks
	       : d->type == FIELD_SOURCE ? f->of->n_sources
					 : UINT32_MAX - 1;
}

static void move_index(struct fields *f, const struct field *d, uint32_t *v)
{
	uint64_t k = *v == UINT32_MAX ? 0 : (uint64_t)*v + 1;

	if (f->format == FORMAT_PACKED) {
		fields_u32(f, v);
		return;
	}
	fields_u64(f, &k);
	if (f->is_reading)
		*v = k && k <= index_limit(f, d) ? (uint32_t)(k - 1) : UINT32_MAX;
}

static void move_enum(struct fields *f, const struct field *d, uint32_t *v)
{
	uint32_t k = *v, n = 0;

	fields_u32(f, &k);
	while (d->words[n])
		n++;
	if (k >= n)
		f->is_failed = true;
	else if (f->is_reading)
		*v = k;
}

static void move_text(struct fields *f, const char **s)
{
	uint32_t n;

	if (!f->is_reading && f->format == FORMAT_BLOB)
		bytes_put_str(f->out, field_text(s));
	else
		fields_str(f, s);
	if (f->is_reading) {
		n = *s ? (uint32_t)strlen(*s) : 0;
		memcpy(s + 1, &n, sizeof(n));
	}
}

static void move_plain(struct fields *f, const struct field *d, void *p)
{
	switch ((enum field_type)d->type) {
	case FIELD_U8:
	case FIELD_CLASS:
		fields_u8(f, p);
		break;
	case FIELD_U16:
		fields_u16(f, p);
		break;
	case FIELD_U32:
		fields_u32(f, p);
		break;
	case FIELD_U64:
	case FIELD_RATIO:
		fields_u64(f, p);
		break;
	case FIELD_I64:
	case FIELD_VALUE:
		fields_i64(f, p);
		break;
	case FIELD_BOOL:
		fields_bool(f, p);
		break;
	case FIELD_STR:
		fields_str(f, p);
		break;
	case FIELD_TEXT:
		move_text(f, p);
		break;
	case FIELD_INDEX:
	case FIELD_CLOCK:
	case FIELD_SOURCE:
		move_index(f, d, p);
		break;
	case FIELD_ENUM:
		move_enum(f, d, p);
		break;
	}
}

static void move_delta(struct fields *f, const struct field *d, void *p, uint64_t *prev)
{
	uint32_t prev32 = (uint32_t)*prev;

	if (field_width(d) == sizeof(uint64_t)) {
		fields_delta_u64(f, p, prev);
	} else {
		fields_delta_u32(f, p, &prev32);
		*prev = prev32;
	}
}

static void move_capped(struct fields *f, const struct field *d, void *p)
{
	move_plain(f, d, p);
	if (f->is_reading && d->type == FIELD_I64)
		*(int64_t *)p %= INT64_MAX / 4;
	else if (f->is_reading)
		*(uint64_t *)p %= INT64_MAX / 4;
}

/* Moves value k of a field. */
static void move_value(
	struct fields *f, const struct field *d, void *row, uint32_t k, uint64_t *prev)
{
	void *p = (char *)row + d->offset + k * field_width(d);
	uint64_t base;

	switch ((enum field_coding)d->coding[f->format]) {
	case AS_DELTA:
		move_delta(f, d, p, prev);
		break;
	case AS_SPAN:
		memcpy(&base, (char *)row + d[-1].offset, sizeof(base));
		move_delta(f, d, p, &base);
		break;
	case AS_ZIPPED:
		move_plain(f, d, p);
		move_plain(f, d + 1, (char *)row + d[1].offset + k * field_width(d + 1));
		break;
	case AS_CAPPED:
		move_capped(f, d, p);
		break;
	case AS_PLAIN:
	case AS_LATER:
	case AS_NOTHING:
		move_plain(f, d, p);
		break;
	}
}

/* Number of values of a field per row; 0 for fields stored later. */
static uint32_t values_of(const struct fields *f, const struct field *d)
{
	unsigned coding = d->coding[f->format];

	return coding == AS_NOTHING || coding == AS_LATER ? 0 : d->size / (uint32_t)field_width(d);
}

void fields_row(struct fields *f, const struct field_table *d, void *row, uint64_t *prev)
{
	uint64_t none = 0;

	for (uint32_t i = 0; i < d->n_fields; i++) {
		const struct field *x = field_at(d, f->format, i);
		uint32_t n = values_of(f, x);

		for (uint32_t k = 0; k < n; k++)
			move_value(f, x, row, k, prev ? &prev[i] : &none);
	}
}

void fields_cells(struct fields *f, const struct field_table *d, void *rows, uint32_t n)
{
	uint64_t prev[FIELD_MAX] = {0};

	if (d->is_by_row || f->format == FORMAT_BLOB) {
		for (uint32_t i = 0; i < n && fields_ok(f); i++)
			fields_row(f, d, (char *)rows + (size_t)i * d->row_size, prev);
		return;
	}
	for (uint32_t x = 0; x < d->n_fields; x++)
		for (uint32_t k = 0; k < values_of(f, &d->fields[x]); k++) {
			uint64_t last = 0;

			for (uint32_t i = 0; i < n; i++)
				move_value(f, &d->fields[x], (char *)rows + (size_t)i * d->row_size,
					k, &last);
		}
}

bool fields_has_more(const struct fields *f, bool is_there)
{
	return f->is_reading ? !f->is_failed && f->in.p < f->in.end : is_there;
}

static bool is_set(const struct field *d, const char *rows, size_t row_size, uint32_t n)
{
	static const char zero[16];

	for (uint32_t i = 0; i < n; i++)
		if (memcmp(rows + i * row_size + d->offset, zero, d->size) != 0)
			return true;
	return false;
}

void fields_later(struct fields *f, const struct field_table *d, void *rows, uint32_t n)
{
	uint32_t first = 0;

	while (d->fields[first].coding[f->format] != AS_LATER)
		first++;
	if (!fields_has_more(f, is_set(&d->fields[first], rows, d->row_size, n)))
		return;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t x = first; x < d->n_fields; x++)
			move_plain(f, &d->fields[x],
				(char *)rows + (size_t)i * d->row_size + d->fields[x].offset);
}

void *fields_rows(struct fields *f, const struct field_table *d, struct trace *t, size_t more)
{
	uint32_t *n = (uint32_t *)(void *)((char *)t + d->count);
	char *at = (char *)t + d->array;
	void *rows;

	for (uint32_t i = 0; i < d->n_fields; i++)
		more += values_of(f, &d->fields[i]);
	memcpy(&rows, at, sizeof(rows));
	rows = fields_array(f, rows, n, d->row_size, more);
	memcpy(at, &rows, sizeof(rows));
	return rows;
}

void fields_table(struct fields *f, const struct field_table *d, struct trace *t)
{
	void *rows = fields_rows(f, d, t, 0);
	uint32_t n;

	memcpy(&n, (char *)t + d->count, sizeof(n));
	fields_cells(f, d, rows, n);
}
