/* SPDX-License-Identifier: Apache-2.0 */
/* manifest_read.c: the top level of a manifest, and the generation that its keys imply. */
#include "dump/read/manifest_read.h"

#include <string.h>

#include "base/file.h"

#define LEAST_RECORD_BYTES 64 /* of JSON: no record is shorter */

bool manifest_name_is_safe(struct str name)
{
	return name.n > 0 && !memchr(name.p, '/', name.n) && !str_is(name, ".") &&
	       !str_is(name, "..");
}

/* A physical layout would be misread, so it is refused. */
static bool read_bin_format(struct manifest_reader *m)
{
	struct str key, s;

	for (json_enter_object(&m->r); json_next_key(&m->r, &key);) {
		bool is_type = str_is(key, "type"), is_order = str_is(key, "byte_order");

		if (!is_type && !is_order) {
			json_skip(&m->r);
			continue;
		}
		if (!json_get_str(&m->r, &s))
			return false;
		if (is_type && !str_is(s, "logical_contiguous"))
			return json_reject(&m->r, "bad-format",
				"bin_format.type: expected logical_contiguous, found '%.*s'",
				(int)(s.n < 40 ? s.n : 40), s.p);
		if (is_order && !str_is(s, "little_endian"))
			return json_reject(&m->r, "bad-format",
				"bin_format.byte_order: expected little_endian, found '%.*s'",
				(int)(s.n < 40 ? s.n : 40), s.p);
	}
	return !m->r.is_failed;
}

static bool read_bin_file(struct manifest_reader *m)
{
	struct str s;

	m->has_bin_file = true;
	if (!json_get_str_or_null(&m->r, &s))
		return false;
	m->is_bin_null = !s.p;
	if (!s.p)
		return true;
	if (!manifest_name_is_safe(s))
		return json_reject(&m->r, "bad-path",
			"bin_file: '%.*s' is not a name inside the dump directory",
			(int)(s.n < 60 ? s.n : 60), s.p);
	m->bin_file = arena_strndup(&m->d->arena, s.p, s.n);
	return m->bin_file || json_reject(&m->r, "no-memory", "out of memory");
}

static bool read_level(struct manifest_reader *m)
{
	uint64_t v;

	m->seen.has_level = true;
	if (!json_get_u64(&m->r, &v))
		return false;
	if (v > 3)
		return json_reject(&m->r, "bad-value",
			"dump_args_level: expected 0 to 3, found %llu", (unsigned long long)v);
	m->d->level = (int)v;
	return true;
}

static bool read_schema(struct manifest_reader *m)
{
	struct str s;

	m->seen.has_schema = true;
	if (!json_get_str(&m->r, &s))
		return false;
	if (!str_starts(s, "incore.args_dump/"))
		return json_reject(&m->r, "bad-format",
			"schema: expected incore.args_dump/1, found '%.*s'",
			(int)(s.n < 40 ? s.n : 40), s.p);
	return true;
}

/* Reserves memory for all records, limited to how many the remaining bytes can hold. */
static bool reserve(struct manifest_reader *m)
{
	uint64_t left = (uint64_t)(m->r.end - m->r.p) / LEAST_RECORD_BYTES;
	uint64_t n = m->d->counters.total < left ? m->d->counters.total : 0;

	return VEC_RESERVE(&m->d->records, m->d->records.n + n + 1) ||
	       json_reject(&m->r, "no-memory", "out of memory");
}

static bool read_array(struct manifest_reader *m, bool is_args)
{
	if (is_args)
		m->seen.has_args = true;
	else
		m->seen.has_tensors = true;
	if (!json_enter_array(&m->r) || !reserve(m))
		return false;
	while (json_next_item(&m->r))
		if (!manifest_record(m))
			return false;
	return !m->r.is_failed;
}

#define COUNTER_BIT 16 /* first counter bit of the keys seen; lower bits: keys of read_key() */

/* Counter keys have two endings: *_tensors up to G7, *_args later, and X1 has both. */
static uint64_t *counter_of(struct dump_counters *c, struct str key, unsigned *bit)
{
	const struct {
		const char *name;
		uint64_t *at;
	} all[] = {
		{"before_dispatch", &c->before},
		{"after_completion", &c->after},
		{"dropped_records", &c->dropped},
		{"dropped_overwrite", &c->overwritten},
		{"total_", &c->total},
		{"input_", &c->input},
		{"output_", &c->output},
		{"inout_", &c->inout},
		{"truncated_", &c->truncated},
	};

	*bit = COUNTER_BIT;
	if (str_ends(key, "_tensors")) {
		key.n -= strlen("tensors");
	} else if (str_ends(key, "_args")) {
		key.n -= strlen("args");
		*bit += sizeof(all) / sizeof(all[0]);
	}
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++, ++*bit)
		if (str_is(key, all[i].name))
			return all[i].at;
	return NULL;
}

static bool read_counter(struct manifest_reader *m, struct str key, uint64_t *once)
{
	unsigned bit;
	uint64_t *counter = counter_of(&m->d->counters, key, &bit), v;

	if (!counter)
		return json_skip(&m->r);
	if (!json_once(&m->r, once, bit, key) || !json_get_u64(&m->r, &v))
		return false;
	if (*counter == UINT64_MAX)
		*counter = v;
	return true;
}

static bool read_key(struct manifest_reader *m, struct str key, uint64_t *once)
{
	static const char *const names[] = {"args", "tensors", "bin_format", "bin_file",
		"dump_args_level", "schema", "timestamp", "repaired", "losses", "incomplete_tasks"};
	unsigned k = 0;

	while (k < sizeof(names) / sizeof(names[0]) && !str_is(key, names[k]))
		k++;
	if (k < sizeof(names) / sizeof(names[0]) && !json_once(&m->r, once, k, key))
		return false;
	switch (k) {
	case 0:
	case 1:
		return read_array(m, k == 0);
	case 2:
		return read_bin_format(m);
	case 3:
		return read_bin_file(m);
	case 4:
		return read_level(m);
	case 5:
		return read_schema(m);
	case 6:
		m->seen.has_timestamp = true;
		return json_skip(&m->r);
	case 7:
		return json_get_bool(&m->r, &m->d->is_repaired);
	case 8:
		return manifest_losses(m);
	case 9:
		return manifest_incomplete(m);
	}
	if (m->is_dispatches && json_peek(&m->r) == JSON_ARRAY)
		return read_array(m, true);
	return read_counter(m, key, once);
}

static void name_generation(
	struct dump *d, const struct manifest_evidence *s, bool is_bin_null, bool is_dispatches)
{
	enum dump_generation first = DUMP_G4, last = DUMP_G7;

	if (is_dispatches) {
		first = last = DUMP_X2;
	} else if (s->has_args && s->has_tensors) {
		first = last = DUMP_X1;
	} else if (s->has_schema) {
		first = last = DUMP_OWN;
	} else if (s->has_args) {
		first = last = s->has_level	  ? DUMP_G11
			       : s->has_func_list ? DUMP_G10
			       : s->has_func_int  ? DUMP_G9
						  : DUMP_G8;
	} else if (s->has_raw_shape) {
		first = last = s->has_timestamp ? DUMP_G1 : DUMP_G2;
	} else if (s->has_subtask) {
		first = last = DUMP_G3;
	} else {
		first = is_bin_null ? DUMP_G5 : DUMP_G4;
		if (s->has_typed_scalar)
			first = DUMP_G6;
		if (s->has_early_value || s->has_ambiguous)
			first = DUMP_G7;
		else if (s->has_late_value)
			last = DUMP_G6;
	}
	d->gen_first = first;
	d->gen_last = last < first ? first : last;
}

static bool finish(struct manifest_reader *m, struct incore_error *e)
{
	struct dump *d = m->d;

	if (!json_finish(&m->r, e))
		return false;
	if (!m->seen.has_args && !m->seen.has_tensors)
		return err_file(e, "not-a-dump", m->r.path, INCORE_NO_OFFSET,
			"not a dump manifest: neither args nor tensors is in it");
	if (m->seen.has_argument_sets && !m->seen.has_tensors)
		return err_file(e, "not-a-dump", m->r.path, INCORE_NO_OFFSET,
			"argument sets per subtask without tensors: no generation writes this");
	name_generation(d, &m->seen, m->is_bin_null, m->is_dispatches);
	if (!m->seen.has_level && m->is_bin_null) {
		d->level = 3;
		d->is_level_inferred = true;
	}
	d->has_scalar_loss = m->seen.has_inexact;
	return true;
}

bool manifest_read(struct manifest_reader *m, const void *json, size_t size, const char *path,
	struct incore_error *e)
{
	uint64_t once = 0;
	struct str key;
	bool ok = true;

	json_init(&m->r, json, size, path, 0);
	memset(&m->d->counters, 0xff, sizeof(m->d->counters));
	m->d->level = DUMP_LEVEL_UNKNOWN;
	m->d->manifest_bytes = size;
	m->is_dispatches = str_is(str_of(path_base(path)), "kernel_args_dump.json");
	if (m->is_dispatches && json_peek(&m->r) == JSON_ARRAY)
		read_array(m, true);
	else
		for (json_enter_object(&m->r); ok && json_next_key(&m->r, &key);)
			ok = read_key(m, key, &once);
	ok = finish(m, e);
	json_deinit(&m->r);
	return ok;
}
