/* SPDX-License-Identifier: Apache-2.0 */
/* result.c: one result of a report: what was launched, its metrics, sections and rules. */
#include <math.h>

#include "base/mem.h"
#include "import/ncu/ncu.h"

#define MAX_METRICS 1000000u

/* Field numbers in the messages of the four kinds; 0: absent in that kind. */
static const struct result_fields {
	uint32_t known; /* highest known number */
	uint32_t mangled, function, demangled, renamed, grid, block, source, reference;
	uint32_t metrics, time, sections, rules, clock;
} shapes[NCU_KINDS] = {
	[NCU_LAUNCH] = {35, 5, 6, 7, 31, 10, 11, 15, 0, 13, 14, 17, 19, 25},
	[NCU_RANGE] = {21, .reference = 15, .metrics = 4, .time = 5, .sections = 7, .rules = 20,
		.clock = 12},
	[NCU_CMDLIST] = {25, .demangled = 18, .reference = 17, .metrics = 4, .time = 5,
		.sections = 7, .rules = 21, .clock = 13},
	[NCU_GRAPH] = {23, .reference = 17, .metrics = 4, .time = 5, .sections = 7, .rules = 22,
		.clock = 13},
};

void ncu_result_deinit(struct ncu_result *x)
{
	VEC_FREE(&x->sources);
	u64_map_deinit(&x->seen);
	VEC_FREE(&x->metrics);
	VEC_FREE(&x->sections);
	VEC_FREE(&x->rules);
}

/* --- values --- */

double ncu_number(const struct ncu_value *v)
{
	return v->kind == NCU_UINT ? (double)v->uint : v->kind == NCU_REAL ? v->real : NAN;
}

const char *ncu_value_text(const struct ncu_value *v, struct arena *a)
{
	switch (v->kind) {
	case NCU_TEXT:
		return arena_strndup(a, v->text.n ? v->text.p : "", v->text.n);
	case NCU_UINT:
		return arena_printf(a, "%llu", (unsigned long long)v->uint);
	case NCU_REAL:
		return arena_printf(a, "%.17g", v->real);
	case NCU_NONE:
		break;
	}
	return "";
}

/* { 1 text, 2 float, 3 double, 4 and 5 unsigned } */
static bool read_value(struct ncu_report *r, struct str bytes, struct ncu_value *out)
{
	struct pb_reader m = pb_of(bytes);
	struct pb_field f;

	*out = (struct ncu_value){0};
	while (ncu_next(r, &m, 5, &f)) {
		if (f.number == 1 && f.wire == PB_BYTES)
			*out = (struct ncu_value){.kind = NCU_TEXT, .text = f.bytes};
		else if ((f.number == 2 || f.number == 3) && f.wire != PB_BYTES)
			*out = (struct ncu_value){.kind = NCU_REAL, .real = pb_float(&f)};
		else if ((f.number == 4 || f.number == 5) && f.wire != PB_BYTES)
			*out = (struct ncu_value){.kind = NCU_UINT, .uint = f.value};
	}
	return !m.is_failed;
}

/* --- metrics --- */

/* Instances are consecutive and mostly short: returns the bytes of the next one without parsing a
 * field. False: something else is next. */
static bool next_short_instance(struct pb_reader *m, struct str *out)
{
	const uint8_t *p = m->p;

	if (m->end - p < 2 || p[0] != (3 << 3 | PB_BYTES) || p[1] > 127 || p[1] > m->end - p - 2)
		return false;
	*out = (struct str){(const char *)p + 2, p[1]};
	m->p = p + 2 + p[1];
	return true;
}

static bool read_metric(struct ncu_result *x, struct str bytes, struct incore_error *e)
{
	struct ncu_report *r = x->report;
	struct ncu_metric k = {.bytes = bytes};
	struct pb_reader m = pb_of(bytes);
	struct pb_field f;
	uint64_t id = 0, *times;
	struct str skipped;
	bool ok = true;

	while (ok && ncu_next(r, &m, 4, &f)) {
		if (f.number == 1 && f.wire == PB_VARINT && f.value < r->names.n)
			k.name = r->names.v[id = f.value];
		else if (f.number == 2 && f.wire == PB_BYTES)
			ok = read_value(r, f.bytes, &k.value);
		else if (f.number == 3)
			k.n_instances++;
		else if (f.number == 4 && f.wire == PB_VARINT)
			k.is_sampler = f.value == 1;
		while (next_short_instance(&m, &skipped))
			k.n_instances++;
	}
	if (!ok || m.is_failed || !k.name.n)
		return ncu_damaged(
			r, bytes.p, k.name.n ? "a metric is damaged" : "a metric has no name", e);
	if (x->metrics.n >= MAX_METRICS)
		return ncu_damaged(r, bytes.p, "more than a million metrics", e);
	/* some are listed twice, with the same values */
	times = u64_map_at(&x->seen, id);
	if (!times)
		return err_nomem(e);
	*times += k.n_instances > 0;
	return *times > 1 || VEC_PUSH(&x->metrics, k) || err_nomem(e);
}

/* Reads { 5 integer } as field `key` of the message at *at, with one-byte lengths; *at moves past
 * it. */
static bool take_plain(const uint8_t **at, const uint8_t *end, uint8_t key, struct ncu_value *out)
{
	const uint8_t *p = *at;
	unsigned n = end - p > 3 ? p[1] : 0;
	uint64_t v = 0;

	/* a number of ten bytes may exceed 64 bits: left to read_value() */
	if (n < 2 || n > 10 || n > end - p - 2 || p[0] != key || p[2] != (5 << 3 | PB_VARINT))
		return false;
	p += 3;
	for (unsigned i = 0; i < n - 1; i++) {
		if (!(p[i] & 0x80) != (i == n - 2))
			return false;
		v |= (uint64_t)(p[i] & 0x7f) << (7 * i);
	}
	*at = p + n - 1;
	*out = (struct ncu_value){.kind = NCU_UINT, .uint = v};
	return true;
}

/* Reads an instance in the usual form, two integers: reports have millions of them. */
static bool read_plain_instance(struct str bytes, struct ncu_value *id, struct ncu_value *value)
{
	const uint8_t *p = (const uint8_t *)bytes.p, *end = p + bytes.n;

	return take_plain(&p, end, 1 << 3 | PB_BYTES, id) &&
	       take_plain(&p, end, 2 << 3 | PB_BYTES, value) && p == end;
}

static bool read_instance(
	struct ncu_report *r, struct str bytes, struct ncu_value *id, struct ncu_value *value)
{
	struct pb_reader m = pb_of(bytes);
	struct pb_field f;
	bool ok = true;

	*id = *value = (struct ncu_value){0};
	while (ok && ncu_next(r, &m, 2, &f))
		if (f.wire == PB_BYTES && f.number <= 2)
			ok = read_value(r, f.bytes, f.number == 1 ? id : value);
	return ok && !m.is_failed;
}

bool ncu_instances(const struct ncu_result *x, const struct ncu_metric *k, ncu_instance_fn fn,
	void *ctx, struct incore_error *e)
{
	struct ncu_report *r = x->report;
	struct pb_reader m = pb_of(k->bytes);
	struct ncu_value id, value;
	struct pb_field f;
	struct str bytes;

	for (;;) {
		if (!next_short_instance(&m, &bytes)) {
			if (!pb_next(&m, &f))
				return true;
			if (f.number != 3 || f.wire != PB_BYTES)
				continue;
			bytes = f.bytes;
		}
		if (!read_plain_instance(bytes, &id, &value) &&
			!read_instance(r, bytes, &id, &value))
			return ncu_damaged(r, bytes.p, "an instance of a metric is damaged", e);
		if (!fn(ctx, &id, &value))
			return err_nomem(e);
	}
}

const struct ncu_metric *ncu_find(const struct ncu_result *x, const char *name)
{
	EACH (const struct ncu_metric, k, x->metrics.v, x->metrics.n) {
		if (str_is(k->name, name))
			return k;
	}
	return NULL;
}

int64_t ncu_whole(const struct ncu_result *x, const char *name)
{
	const struct ncu_metric *k = ncu_find(x, name);
	double v = k ? ncu_number(&k->value) : NAN;

	return v >= 0 && v < 9e18 ? (int64_t)(v + 0.5) : NO_VALUE;
}

/* --- the result --- */

static bool read_triple(struct ncu_report *r, struct str bytes, uint64_t out[3])
{
	struct pb_reader m = pb_of(bytes);
	struct pb_field f;

	while (ncu_next(r, &m, 3, &f))
		if (f.wire == PB_VARINT && f.number <= 3)
			out[f.number - 1] = f.value;
	return !m.is_failed;
}

/* { 1 requested, 2 done } */
static bool read_clock_status(struct ncu_result *x, struct str bytes)
{
	struct pb_reader m = pb_of(bytes);
	struct pb_field f;

	x->has_clock_status = true;
	while (ncu_next(x->report, &m, 2, &f))
		*(f.number == 1 ? &x->is_lock_asked : &x->is_locked) = f.value != 0;
	return !m.is_failed;
}

static bool add_source(struct ncu_result *x, struct str bytes)
{
	struct pb_reader m = pb_of(bytes);
	struct pb_field f;

	while (pb_next(&m, &f))
		if (f.number == 1 && f.wire == PB_VARINT)
			return VEC_PUSH(&x->sources, f.value);
	return !m.is_failed;
}

/* A field that is a message or text. */
static bool read_bytes(struct ncu_result *x, const struct result_fields *s,
	const struct pb_field *f, struct incore_error *e)
{
	struct ncu_report *r = x->report;
	struct str *text = f->number == s->mangled     ? &x->mangled
			   : f->number == s->function  ? &x->function
			   : f->number == s->demangled ? &x->demangled
			   : f->number == s->renamed   ? &x->renamed
						       : NULL;
	bool ok = true;

	if (text)
		*text = f->bytes;
	else if (f->number == s->metrics)
		return read_metric(x, f->bytes, e);
	else if (f->number == s->sections || f->number == s->rules)
		return (f->number == s->sections ? VEC_PUSH(&x->sections, f->bytes)
						 : VEC_PUSH(&x->rules, f->bytes)) ||
		       err_nomem(e);
	else if (f->number == s->grid || f->number == s->block)
		ok = read_triple(r, f->bytes, f->number == s->grid ? x->grid : x->block);
	else if (f->number == s->source)
		ok = add_source(x, f->bytes);
	else if (f->number == s->clock)
		ok = read_clock_status(x, f->bytes);
	return ok || ncu_damaged(r, f->bytes.p, "a result is damaged", e);
}

bool ncu_result_read(struct ncu_result *x, struct ncu_report *r, const struct ncu_place *p,
	struct incore_error *e)
{
	const struct result_fields *s = &shapes[p->kind];
	struct pb_reader m = pb_of(p->bytes);
	struct pb_field f;
	bool ok = true;

	*x = (struct ncu_result){.report = r, .kind = p->kind};
	while (ok && ncu_next(r, &m, s->known, &f)) {
		if (f.wire == PB_BYTES)
			ok = read_bytes(x, s, &f, e);
		else if (f.number == s->time)
			x->time_s = f.value;
		else if (f.number == s->reference)
			ok = VEC_PUSH(&x->sources, f.value) || err_nomem(e);
	}
	return ok && (!m.is_failed || ncu_damaged(r, m.p, "a result is damaged", e));
}
