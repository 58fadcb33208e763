/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof.c: cycles by cause over inline stacks as a gzipped protocol buffer, for pprof and tools
 * that read its profiles. See incore-pprof(7). A row of the code is one location whose lines are
 * the instruction, then its frames from the innermost on, then the kernel; the cause is a separate
 * location, the leaf.
 */
#include "base/map.h"
#include "codec/gzip.h"
#include "codec/protobuf_writer.h"
#include "export/profile/profile.h"

enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE = 14,
};
enum value_type_field { VALUE_TYPE = 1, VALUE_UNIT = 2 };
enum sample_field { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum label_field { LABEL_KEY = 1, LABEL_STRING = 2 };
enum mapping_field { MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_FUNCTIONS = 7, MAPPING_LAST = 10 };
enum location_field {
	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4
};
enum line_field { LINE_FUNCTION = 1, LINE_NUMBER = 2 };
enum function_field { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_FILE = 4 };

struct pprof {
	struct profile_sums *p;
	struct strbuf out;
	struct intern strings;	 /* 0 is "" */
	struct intern functions; /* name and file */
	struct intern causes;	 /* locations of causes: n_code + 2 + index */
	uint8_t *is_placed; /* by code row, and one more for no row: was its location written? */
	struct strbuf key;
	bool is_failed;
};

static uint64_t pprof_string_of(struct pprof *x, struct str s)
{
	uint32_t at = intern_add(&x->strings, s);

	x->is_failed |= at == INTERN_NONE;
	return at;
}

static void put_value_type(struct pprof *x, uint32_t field, const char *type, const char *unit)
{
	uint64_t name = pprof_string_of(x, str_of(type)), of = pprof_string_of(x, str_of(unit));
	size_t at = pb_open(&x->out, field);

	pb_put_number(&x->out, VALUE_TYPE, name);
	pb_put_number(&x->out, VALUE_UNIT, of);
	pb_close(&x->out, at);
}

/* Number of a function, from 1; writes it on first use. */
static uint64_t function_of(struct pprof *x, struct str name, const char *path)
{
	uint32_t n = x->functions.n, at;
	uint64_t text = pprof_string_of(x, name), file = pprof_string_of(x, str_of(path));
	size_t part;

	sb_reset(&x->key);
	sb_printf(&x->key, "%llu %llu", (unsigned long long)text, (unsigned long long)file);
	at = intern_add(&x->functions, (struct str){x->key.p, x->key.n});
	x->is_failed |= at == INTERN_NONE || x->key.failed;
	if (at == n) {
		part = pb_open(&x->out, PROFILE_FUNCTION);
		pb_put_number(&x->out, FUNCTION_ID, (uint64_t)at + 1);
		pb_put_number(&x->out, FUNCTION_NAME, text);
		pb_put_number(&x->out, FUNCTION_FILE, file);
		pb_close(&x->out, part);
	}
	return (uint64_t)at + 1;
}

static void pprof_put_line(struct strbuf *b, uint64_t function, uint32_t line)
{
	size_t at = pb_open(b, LOCATION_LINE);

	pb_put_number(b, LINE_FUNCTION, function);
	if (line)
		pb_put_number(b, LINE_NUMBER, line);
	pb_close(b, at);
}

/* Writes a location of n lines at an address; its functions must already be written. */
static void put_location(struct pprof *x, uint64_t id, uint64_t address, const struct strbuf *lines)
{
	size_t at = pb_open(&x->out, PROFILE_LOCATION);

	pb_put_number(&x->out, LOCATION_ID, id);
	pb_put_number(&x->out, LOCATION_MAPPING, 1);
	if (address)
		pb_put_number(&x->out, LOCATION_ADDRESS, address);
	if (pb_has_room(&x->out, lines->n) && lines->n) {
		memcpy(x->out.p + x->out.n, lines->p, lines->n);
		x->out.n += lines->n;
	}
	pb_close(&x->out, at);
}

static uint64_t location_of_row(struct pprof *x, const struct profile_line *l)
{
	const struct trace *t = x->p->trace;
	uint32_t row = l->code < t->n_code ? l->code : t->n_code, n;
	const struct frame *frames = profile_frames(x->p, l, &n);
	struct strbuf lines = {0};

	if (x->is_placed[row])
		return (uint64_t)row + 1;
	x->is_placed[row] = 1;
	pprof_put_line(&lines,
		function_of(x, profile_instruction(x->p, l), n ? profile_path(x->p, frames) : ""),
		n ? frames->line : 0);
	for (uint32_t i = 0; i < n; i++) {
		const char *name = profile_frame_name(x->p, &frames[i]);

		pprof_put_line(&lines,
			function_of(x, str_of(name ? name : ""), profile_path(x->p, &frames[i])),
			frames[i].line);
	}
	pprof_put_line(&lines, function_of(x, str_of(profile_kernel(x->p)), ""), 0);
	put_location(x, (uint64_t)row + 1, row < t->n_code ? t->code[row].address : 0, &lines);
	x->is_failed |= lines.failed || x->p->text.failed;
	sb_free(&lines);
	return (uint64_t)row + 1;
}

static uint64_t location_of_cause(struct pprof *x, const char *cause)
{
	uint32_t n = x->causes.n, at = intern_add(&x->causes, str_of(cause));
	uint64_t id = (uint64_t)x->p->trace->n_code + 2 + at;
	struct strbuf lines = {0};

	x->is_failed |= at == INTERN_NONE;
	if (at == n) {
		pprof_put_line(&lines, function_of(x, str_of(cause), ""), 0);
		put_location(x, id, 0, &lines);
		x->is_failed |= lines.failed;
	}
	sb_free(&lines);
	return id;
}

static void pprof_put_label(struct pprof *x, const char *key, const char *value)
{
	uint64_t k = pprof_string_of(x, str_of(key)), v = pprof_string_of(x, str_of(value));
	size_t at = pb_open(&x->out, SAMPLE_LABEL);

	pb_put_number(&x->out, LABEL_KEY, k);
	pb_put_number(&x->out, LABEL_STRING, v);
	pb_close(&x->out, at);
}

static void pprof_put_sample(struct pprof *x, const struct profile_line *l)
{
	uint64_t cause = location_of_cause(x, l->cause), row = location_of_row(x, l);
	uint64_t values[] = {l->hits, l->cyc, l->bucket == BUCKET_STALL ? l->cyc : 0,
		l->bucket == BUCKET_WAIT ? l->cyc : 0, l->exposed};
	size_t at = pb_open(&x->out, PROFILE_SAMPLE);

	pb_put_number(&x->out, SAMPLE_LOCATION, cause);
	pb_put_number(&x->out, SAMPLE_LOCATION, row);
	for (unsigned i = 0; i < 4u + x->p->has_exposed; i++)
		pb_put_number(&x->out, SAMPLE_VALUE, values[i]);
	pprof_put_label(x, "bucket", bucket_name(l->bucket));
	pb_close(&x->out, at);
}

static void pprof_put_head(struct pprof *x)
{
	const char *unit = x->p->unit;
	uint64_t kernel, comment, type;
	size_t at;

	pprof_string_of(x, STR(""));
	put_value_type(x, PROFILE_SAMPLE_TYPE, "hits", "count");
	put_value_type(x, PROFILE_SAMPLE_TYPE, unit, unit);
	put_value_type(x, PROFILE_SAMPLE_TYPE, "stall", unit);
	put_value_type(x, PROFILE_SAMPLE_TYPE, "wait", unit);
	if (x->p->has_exposed)
		put_value_type(x, PROFILE_SAMPLE_TYPE, "exposed", unit);
	put_value_type(x, PROFILE_PERIOD_TYPE, unit, unit);
	pb_put_number(&x->out, PROFILE_PERIOD, 1);
	kernel = pprof_string_of(x, str_of(profile_kernel(x->p)));
	at = pb_open(&x->out, PROFILE_MAPPING);
	pb_put_number(&x->out, MAPPING_ID, 1);
	pb_put_number(&x->out, MAPPING_FILE, kernel);
	for (uint32_t has = MAPPING_FUNCTIONS; has <= MAPPING_LAST; has++) /* no lookups */
		pb_put_number(&x->out, has, 1);
	pb_close(&x->out, at);
	comment = pprof_string_of(x, str_of(evidence_name(x->p->trace->meta.evidence)));
	pb_put_number(&x->out, PROFILE_COMMENT, comment);
	type = pprof_string_of(x, str_of(unit));
	pb_put_number(&x->out, PROFILE_DEFAULT_TYPE, type);
}

static bool write_zipped(struct pprof *x, FILE *f, struct incore_error *e)
{
	struct strbuf zipped = {0};
	bool ok = gzip_pack((struct str){x->out.p, x->out.n}, &zipped);

	if (ok)
		fwrite(zipped.p, 1, zipped.n, f);
	else
		err_nomem(e);
	sb_free(&zipped);
	return ok && (!ferror(f) || err_write(e));
}

static bool pprof_end(struct export *x, struct incore_error *e)
{
	struct pprof y = {.p = x->state};
	bool ok;

	intern_init(&y.strings);
	intern_init(&y.functions);
	intern_init(&y.causes);
	y.is_placed = mem_zalloc((size_t)x->trace->n_code + 1, 1);
	if (y.is_placed) {
		pprof_put_head(&y);
		EACH (const struct profile_line, l, y.p->lines.v, y.p->lines.n)
			pprof_put_sample(&y, l);
		for (uint32_t i = 0; i < y.strings.n; i++)
			pb_put_str(&y.out, PROFILE_STRING, y.strings.strs[i]);
	}
	ok = y.is_placed && !y.is_failed && !y.out.failed;
	ok = ok ? write_zipped(&y, x->file.f, e) : err_nomem(e);
	intern_deinit(&y.strings);
	intern_deinit(&y.functions);
	intern_deinit(&y.causes);
	mem_free(y.is_placed);
	sb_free(&y.out);
	sb_free(&y.key);
	return ok;
}

const struct export_ops export_pprof = {
	.name = "pprof",
	.suffix = ".pb.gz",
	.media_type = "application/gzip",
	.summary = "cycles by cause over inline stacks (pprof)",
	.holds = EXPORT_CYCLES | EXPORT_SAMPLES,
	PROFILE_WRITER(pprof),
};
