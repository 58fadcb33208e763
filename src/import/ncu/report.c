/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.c: the structure of a report:
 *
 *	"NVR\0"  u32 n, file header[n]
 *	repeat:  u32 n, block header[n], payload
 *	payload: u32 n, message[n], for each source, launch, range, command list and graph
 *
 * Parts: the structure of a report; one result.
 */
#include <math.h>

#include "base/little_endian.h"
#include "base/mem.h"
#include "import/ncu/ncu.h"

/* --- the structure of a report ---------------------------------------------------------------- */

#define MAX_RESULTS 1000000u
#define MAX_PAYLOAD (1ull << 40) /* limit for a block of a truncated file */

/* Field numbers of the file header. Profilers do not write the second: generators mark synthetic
 * files with it, and other readers ignore it. */
enum { FILE_VERSION = 1, FILE_SYNTHETIC = 1000 };

/* Field numbers of a block header; from FIRST_OTHERS on they count the messages that follow the
 * launches. */
enum {
	BLOCK_SOURCES = 1,
	BLOCK_RESULTS = 2,
	BLOCK_SESSION = 3,
	BLOCK_STRINGS = 4,
	BLOCK_PAYLOAD = 5,
	BLOCK_PROCESS = 6,
	BLOCK_RANGES = 7,
	BLOCK_CMDLISTS = 8,
	BLOCK_GRAPHS = 9,
};

struct report_block {
	uint64_t n_sources, n_results[NCU_KINDS], payload;
};

static bool ncu_is_magic(const uint8_t *p, size_t n)
{
	return n >= sizeof(NCU_MAGIC) && memcmp(p, NCU_MAGIC, sizeof(NCU_MAGIC)) == 0;
}

void ncu_report_deinit(struct ncu_report *r)
{
	VEC_FREE(&r->results);
	VEC_FREE(&r->sources);
	VEC_FREE(&r->sessions);
	VEC_FREE(&r->names);
}

bool ncu_damaged(
	const struct ncu_report *r, const void *p, const char *what, struct incore_error *e)
{
	uint64_t at = (uint64_t)((const char *)p - r->bytes.p);

	return err_file(e, "bad-report", r->path, at <= r->bytes.n ? at : INCORE_NO_OFFSET,
		"report of Nsight Compute: %s", what);
}

bool ncu_next(struct ncu_report *r, struct pb_reader *m, uint32_t known, struct pb_field *f)
{
	if (!pb_next(m, f))
		return false;
	r->n_unknown += f->number > known;
	return true;
}

/* u32 n, then n bytes. */
static bool take_part(
	const struct ncu_report *r, struct str *rest, struct str *out, struct incore_error *e)
{
	const uint8_t *p = (const uint8_t *)rest->p;
	uint32_t n;

	if (rest->n < 4)
		return ncu_damaged(r, p, "expected the length of a message, found its end", e);
	n = le32(p);
	if (n > rest->n - 4)
		return err_file(e, "truncated", r->path, (uint64_t)(rest->p - r->bytes.p),
			"report of Nsight Compute: a message of %u bytes, %zu are left", n,
			rest->n - 4);
	*out = str_sub(*rest, 4, n);
	*rest = str_sub(*rest, 4 + (size_t)n, rest->n);
	return true;
}

static bool add_names(struct ncu_report *r, struct str bytes, struct incore_error *e)
{
	struct pb_reader m = pb_of(bytes);
	struct pb_field f;

	while (ncu_next(r, &m, 1, &f))
		if (f.number == 1 && f.wire == PB_BYTES && !VEC_PUSH(&r->names, f.bytes))
			return err_nomem(e);
	return !m.is_failed || ncu_damaged(r, m.p, "the names of metrics are damaged", e);
}

static bool read_block_header(
	struct ncu_report *r, struct str bytes, struct report_block *b, struct incore_error *e)
{
	struct pb_reader m = pb_of(bytes);
	struct pb_field f;

	while (ncu_next(r, &m, BLOCK_GRAPHS, &f)) {
		bool is_message = f.number == BLOCK_SESSION || f.number == BLOCK_STRINGS ||
				  f.number == BLOCK_PROCESS;

		if (f.number <= BLOCK_GRAPHS && is_message != (f.wire == PB_BYTES))
			return ncu_damaged(r, m.p, "a block header of another shape", e);
		switch (f.number) {
		case BLOCK_SOURCES:
			b->n_sources = f.value;
			break;
		case BLOCK_RESULTS:
			b->n_results[NCU_LAUNCH] = f.value;
			break;
		case BLOCK_RANGES:
			b->n_results[NCU_RANGE] = f.value;
			break;
		case BLOCK_CMDLISTS:
			b->n_results[NCU_CMDLIST] = f.value;
			break;
		case BLOCK_GRAPHS:
			b->n_results[NCU_GRAPH] = f.value;
			break;
		case BLOCK_PAYLOAD:
			b->payload = f.value;
			break;
		case BLOCK_STRINGS:
			if (!add_names(r, f.bytes, e))
				return false;
			break;
		case BLOCK_SESSION:
			if (!VEC_PUSH(&r->sessions, f.bytes))
				return err_nomem(e);
			break;
		}
	}
	return !m.is_failed || ncu_damaged(r, m.p, "a block header is damaged", e);
}

static bool read_payload(struct ncu_report *r, const struct report_block *b, struct str payload,
	struct incore_error *e)
{
	struct str part;

	for (uint64_t i = 0; i < b->n_sources; i++)
		if (!take_part(r, &payload, &part, e))
			return false;
		else if (!VEC_PUSH(&r->sources, part))
			return err_nomem(e);
	for (int k = 0; k < NCU_KINDS; k++)
		for (uint64_t i = 0; i < b->n_results[k]; i++) {
			struct ncu_place x = {(enum ncu_kind)k, {0}};

			r->is_cut_result = r->is_cut;
			if (!take_part(r, &payload, &x.bytes, e))
				return false;
			if (r->results.n >= MAX_RESULTS)
				return ncu_damaged(r, x.bytes.p, "more than a million results", e);
			if (!VEC_PUSH(&r->results, x))
				return err_nomem(e);
		}
	r->n_surplus += payload.n;
	return true;
}

/* False with r->is_cut: the file ends inside this block. */
static bool ncu_report_read_block(struct ncu_report *r, struct str *rest, struct incore_error *e)
{
	struct report_block b = {0};
	struct str header;

	r->is_cut = true; /* until all its bytes are found */
	if (!take_part(r, rest, &header, e))
		return false;
	r->is_cut = false;
	if (!read_block_header(r, header, &b, e))
		return false;
	r->is_cut = b.payload > rest->n && b.payload < MAX_PAYLOAD;
	if (b.payload > rest->n && !r->is_cut)
		return ncu_damaged(r, header.p, "a block of more bytes than any file has", e);
	if (r->is_cut)
		b.payload = rest->n;
	if (!read_payload(r, &b, str_sub(*rest, 0, (size_t)b.payload), e))
		return false;
	*rest = str_sub(*rest, (size_t)b.payload, rest->n);
	return true;
}

static bool read_file_header(struct ncu_report *r, struct str header, struct incore_error *e)
{
	struct pb_reader m = pb_of(header);
	struct pb_field f;

	while (pb_next(&m, &f))
		if (f.number == FILE_VERSION && f.wire == PB_VARINT)
			r->version = f.value;
		else if (f.number == FILE_SYNTHETIC && f.wire == PB_VARINT)
			r->is_synthetic = f.value;
		else
			r->n_unknown++;
	return !m.is_failed || ncu_damaged(r, m.p, "the file header is damaged", e);
}

bool ncu_index(struct ncu_report *r, struct str bytes, const char *path, struct incore_error *e)
{
	struct str rest, header;

	*r = (struct ncu_report){.path = path, .bytes = bytes};
	if (!ncu_is_magic((const uint8_t *)bytes.p, bytes.n))
		return err_file(e, "bad-magic", path, 0, "not a report of Nsight Compute");
	rest = str_sub(bytes, 4, bytes.n);
	if (!take_part(r, &rest, &header, e) || !read_file_header(r, header, e))
		return false;
	while (rest.n && !r->is_cut)
		if (!ncu_report_read_block(r, &rest, e)) {
			if (!r->is_cut || !r->results.n || err_is(e, "no-memory"))
				return false;
			incore_error_clear(e);
		}
	return true;
}

/* --- one result ------------------------------------------------------------------------------- */

/* One result of a report: what was launched, its metrics, sections and rules. */

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
static bool ncu_report_read_value(struct ncu_report *r, struct str bytes, struct ncu_value *out)
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
			ok = ncu_report_read_value(r, f.bytes, &k.value);
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
			ok = ncu_report_read_value(r, f.bytes, f.number == 1 ? id : value);
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

static bool ncu_report_add_source(struct ncu_result *x, struct str bytes)
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
		ok = ncu_report_add_source(x, f->bytes);
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
