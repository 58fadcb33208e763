/* SPDX-License-Identifier: Apache-2.0 */
/*
 * envelope.c: the envelope of every JSON answer: {"schema", "incore", "input", "data", "warnings"}:
 * who made it, from which capture with which evidence, and what was lost.
 */
#include <math.h>

#include "analysis/pipes/pipe_sweep.h"
#include "answer/answer.h"
#include "isa/ascend.h"

/* --- which capture --- */

struct label {
	const char *key, *value;
};

struct input {
	const char *path, *format, *format_version, *vendor, *arch, *kernel, *evidence;
	int64_t agent, dispatch;
	double clock_mhz;
	uint64_t tracks, notes;
	struct rows labels;
};

static const struct column label_columns[] = {
	COLUMN(label, key, UNIT_NONE, "what the label is about"),
	COLUMN(label, value, UNIT_NONE, "value of the label, as the producer wrote it", NULLABLE),
};
static const struct record label_record = RECORD_OF(label, RECORD_BLOCK, label_columns);

static const struct column input_columns[] = {
	COLUMN(input, path, UNIT_NONE, "path that the capture was read from", NULLABLE),
	COLUMN(input, format, UNIT_NONE, "name of the reader that read it", NULLABLE),
	COLUMN(input, format_version, UNIT_NONE, "version of the format, as the capture states it",
		NULLABLE),
	COLUMN(input, vendor, UNIT_NONE, "amd, ascend, nvidia or unknown", NULLABLE),
	COLUMN(input, arch, UNIT_NONE, "gfx950, dav_2201, ...", NULLABLE),
	COLUMN(input, kernel, UNIT_NONE, "name of the kernel", NULLABLE),
	EVIDENCE_COLUMN(input, "what its figures rest on"),
	COLUMN(input, agent, UNIT_NONE, "device that the kernel ran on", NULLABLE),
	COLUMN(input, dispatch, UNIT_NONE, "number of the dispatch in the run", NULLABLE),
	COLUMN(input, clock_mhz, UNIT_MHZ, "frequency of the clock that cycles are counted in",
		.digits = 3),
	COLUMN(input, tracks, UNIT_COUNT, "waves or pipes that were traced"),
	COLUMN(input, notes, UNIT_COUNT, "number of notes from reading the capture"),
	MAP(input, labels, &label_record, "labels that the producer gave the trace", OPTIONAL),
};
static const struct record input_record = RECORD_OF(input, RECORD_BLOCK, input_columns);

#define MAX_LABELS 64u

static struct rows labels_of(const struct trace *t, struct label out[MAX_LABELS])
{
	const struct named_table *k = trace_find_table(t, ASCEND_TABLE_LABELS);
	struct rows rows = {k ? out : NULL, 0};

	for (uint32_t i = 0; k && i < k->n_rows && rows.n < MAX_LABELS; i++) {
		const char *key = named_table_cell(k, i, "key");

		if (key)
			out[rows.n++] = (struct label){key, named_table_cell(k, i, "value")};
	}
	return rows;
}

void input_json(const struct trace *t, unsigned want, struct json_writer *w)
{
	const struct trace_meta *m = &t->meta;
	struct label labels[MAX_LABELS];
	double mhz = trace_clock_mhz(t);
	struct input x = {.path = m->origin,
		.format = m->format,
		.format_version = m->format_version,
		.vendor = vendor_name(m->vendor),
		.arch = table_name_get(m->arch, t->arch_from, want),
		.kernel = table_name_get(m->kernel, t->kernel_from, want),
		.evidence = evidence_name(m->evidence),
		.agent = m->launch.agent,
		.dispatch = m->launch.dispatch,
		.clock_mhz = mhz > 0 ? mhz : NAN,
		.tracks = t->n_tracks,
		.labels = labels_of(t, labels)};

	for (uint32_t i = 0; i < t->n_notes; i++)
		x.notes += note_is_told(&t->notes[i], want);
	record_json(&input_record, &x, w);
}

const char *evidence_text(const struct trace *t, char buf[EVIDENCE_TEXT])
{
	struct label labels[MAX_LABELS];
	struct rows rows = labels_of(t, labels);
	const char *profile = NULL, *calibration = NULL, *range = NULL;
	const char *name = evidence_name(t->meta.evidence);

	for (size_t i = 0; i < rows.n; i++) {
		if (strcmp(labels[i].key, "profile") == 0)
			profile = labels[i].value;
		else if (strcmp(labels[i].key, "calibration") == 0)
			calibration = labels[i].value;
		else if (strcmp(labels[i].key, "device_range") == 0)
			range = labels[i].value;
	}
	if (!profile)
		return name;
	snprintf(buf, EVIDENCE_TEXT, "%s (%.60s%s%.30s%s%.20s%s)", name, profile,
		calibration ? ", " : "", calibration ? calibration : "",
		range ? ", devices took " : "", range ? range : "", range ? " of it" : "");
	return buf;
}

bool answer_of_code(const struct trace *t, const char *verb, struct incore_error *e)
{
	const struct kind_row *k = kind_row(t);

	return !k->no_code || err_set(e, INCORE_USAGE, "no-instructions", "%s: '%s' is %s", verb,
				      t->meta.origin, k->no_code);
}

/* --- the envelope --- */

void envelope_begin(const char *verb, struct json_writer *w)
{
	char schema[64];

	snprintf(schema, sizeof(schema), "incore.%.*s/1", (int)strcspn(verb, " "), verb);
	json_w_object(w);
	json_w_kv_cstr(w, "schema", schema);
	json_w_kv_cstr(w, "incore", INCORE_VERSION);
	json_w_key(w, "input");
}

void envelope_input(
	const struct trace *const *traces, size_t n, unsigned want, struct json_writer *w)
{
	if (n == 1) {
		input_json(traces[0], want, w);
		return;
	}
	json_w_object(w);
	json_w_kv_array(w, "captures");
	for (size_t i = 0; i < n; i++)
		input_json(traces[i], want, w);
	json_w_end(w);
	json_w_end(w);
}

void answer_json(const struct answer *a, struct json_writer *w)
{
	envelope_begin(a->question->name, w);
	if (a->input_record)
		record_json(a->input_record, a->input, w);
	else
		envelope_input((const struct trace *const *)a->traces.v, a->traces.n, a->want, w);
	json_w_key(w, "data");
	record_json(a->record, a->data, w);
	json_w_kv_array(w, "warnings");
	for (size_t i = 0; i < a->warnings.n; i++)
		json_w_cstr(w, a->warnings.v[i]);
	json_w_end(w);
	json_w_end(w);
}

/* --- its schema --- */

static void put_property(
	struct json_writer *w, const char *name, const char *key, const char *value)
{
	json_w_kv_row_object(w, name);
	json_w_kv_cstr(w, key, value);
	json_w_end(w);
}

static void put_any_of(struct json_writer *w, const struct record *const *records)
{
	json_w_kv_array(w, "anyOf");
	for (; *records; records++)
		record_schema(*records, w);
	json_w_end(w);
}

/* One capture, or several. */
struct inputs {
	struct rows captures;
};
static const struct column inputs_columns[] = {
	LIST(inputs, captures, &input_record, "the captures in the order they were given"),
};
static const struct record inputs_record = RECORD_OF(inputs, RECORD_BLOCK, inputs_columns);
const struct record *const capture_inputs[] = {&input_record, &inputs_record, NULL};

void envelope_schema(const char *name, const struct record *const *inputs,
	const struct record *const *data, struct json_writer *w)
{
	static const char *const members[] = {"schema", "incore", "input", "data", "warnings"};
	char text[64];

	json_w_object(w);
	json_w_kv_cstr(w, "$schema", "http://json-schema.org/draft-07/schema#");
	snprintf(text, sizeof(text), "incore %s --json", name);
	json_w_kv_cstr(w, "title", text);
	json_w_kv_cstr(w, "type", "object");
	json_w_kv_bool(w, "additionalProperties", false);
	json_w_kv_row(w, "required");
	for (unsigned i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		json_w_cstr(w, members[i]);
	json_w_end(w);
	json_w_kv_object(w, "properties");
	snprintf(text, sizeof(text), "incore.%s/1", name);
	put_property(w, "schema", "const", text);
	put_property(w, "incore", "type", "string");
	json_w_kv_object(w, "input");
	put_any_of(w, inputs);
	json_w_end(w);
	json_w_kv_object(w, "data");
	put_any_of(w, data);
	json_w_end(w);
	json_w_kv_object(w, "warnings");
	json_w_kv_cstr(w, "type", "array");
	put_property(w, "items", "type", "string");
	json_w_end(w);
	json_w_end(w);
	json_w_end(w);
}
