/* SPDX-License-Identifier: Apache-2.0 */
/* insight_bin.c: visualize_data.bin, the container that msprof op and its simulator write. */
#include "codec/insight_blocks.h"
#include "import/ascend/ascend.h"

static bool put_blocks(struct asc_build *b, const struct insight_blocks *k, const char *path)
{
	struct asc_table t;

	asc_table_open(b, &t, ASCEND_TABLE_BLOCKS, path, "offset|type|name|bytes|padding|version");
	EACH (const struct insight_block, v, k->v.v, k->v.n) {
		asc_putf(b, &t, "%llu", (unsigned long long)v->offset);
		asc_putf(b, &t, "%u", v->type);
		asc_put(b, &t, str_of(insight_type_name(v->type)));
		asc_putf(b, &t, "%llu", (unsigned long long)v->size);
		asc_putf(b, &t, "%u", v->padding);
		asc_putf(b, &t, "%u", v->version);
	}
	return asc_table_close(b, &t);
}

static bool note_blocks(struct asc_build *b, const struct insight_blocks *k)
{
	uint64_t n_unknown = 0, n_legacy = 0;

	for (size_t i = 0; i < k->v.n; i++) {
		unsigned type = k->v.v[i].type;

		n_unknown += type == 0 || type == 0x0a || type == 0x0b ||
			     (type >= INSIGHT_FREE && type != INSIGHT_TABLES);
		n_legacy += k->v.v[i].is_legacy;
	}
	if (k->rest_bytes && !trace_note(b->trace, NOTE_DAMAGED, "trailing-bytes", b->path,
				     k->rest_offset, 1, "%llu bytes after the last block: %s",
				     (unsigned long long)k->rest_bytes, k->rest_why))
		return false;
	if (k->n_odd_reserve &&
		!trace_note(b->trace, NOTE_DAMAGED, "odd-reserve", b->path, INCORE_NO_OFFSET,
			k->n_odd_reserve, "%u blocks have a reserve byte other than 0x5a",
			k->n_odd_reserve))
		return false;
	if (n_legacy && !trace_note(b->trace, NOTE_INFO, "legacy-source", b->path, INCORE_NO_OFFSET,
				n_legacy, "legacy SOURCE layout: the size counts the path too"))
		return false;
	return !n_unknown ||
	       trace_note(b->trace, NOTE_INFO, "unknown-blocks", b->path, INCORE_NO_OFFSET,
		       n_unknown, "%llu blocks of a type that is not interpreted",
		       (unsigned long long)n_unknown);
}

/* An unreadable details or API block is a loss, not a failure. */
static bool forgive(struct asc_build *b, const struct insight_block *k, struct incore_error *why)
{
	struct strbuf text = {0};
	bool ok;

	if (why->status != INCORE_BAD_INPUT)
		return false;
	err_format(why, &text);
	ok = !text.failed &&
	     asc_note(b, NOTE_DAMAGED, "bad-block", k->offset, "block %s is not read: %s",
		     insight_type_name(k->type), text.p ? text.p : "");
	sb_free(&text);
	incore_error_clear(why);
	return ok;
}

static bool read_block(struct asc_build *b, const struct insight_block *k, const char *path,
	uint32_t *seen, struct incore_error *e)
{
	uint64_t base = k->offset + INSIGHT_HEADER_BYTES;
	bool is_first = k->type < 32 && !(*seen & 1u << k->type);

	if (k->type < 32)
		*seen |= 1u << k->type;
	if (k->type == INSIGHT_SOURCE)
		return asc_add_source(b, k->path, k->payload) || err_nomem(e);
	if (!is_first && k->type <= INSIGHT_TOP_STALL && k->type != INSIGHT_TRACE)
		return asc_note(b, NOTE_INFO, "second-block", k->offset,
			       "another block %s: only the first is read",
			       insight_type_name(k->type)) ||
		       err_nomem(e);
	switch (k->type) {
	case INSIGHT_TABLES:
		return asc_read_own(b, k->payload, path, base, e);
	case INSIGHT_API_FILE:
		return asc_read_api_file(b, k->payload, path, base, e);
	case INSIGHT_API_INSTR:
		return asc_read_api_instr(b, k->payload, path, base, e);
	case INSIGHT_BASE_INFO:
	case INSIGHT_COMPUTE_GRAPH:
	case INSIGHT_COMPUTE_TABLE:
	case INSIGHT_MEMORY_GRAPH:
	case INSIGHT_MEMORY_TABLE:
	case INSIGHT_OCCUPANCY:
	case INSIGHT_ROOFLINE:
	case INSIGHT_CACHE:
	case INSIGHT_TOP_STALL:
		return asc_read_details(b, k->type, k->payload, path, base, e);
	default:
		return true;
	}
}

static bool read_others(struct asc_build *b, const struct insight_blocks *k, const char *path,
	struct incore_error *e)
{
	uint32_t seen = 0;

	for (size_t i = 0; i < k->v.n; i++) {
		struct incore_error why = {0};

		if (k->v.v[i].type != INSIGHT_TRACE &&
			!read_block(b, &k->v.v[i], path, &seen, &why) &&
			!forgive(b, &k->v.v[i], &why)) {
			err_move(e, &why);
			return false;
		}
	}
	return true;
}

static bool read_traces(struct asc_build *b, const struct insight_blocks *k, const char *path,
	bool with_trace, struct incore_error *e)
{
	size_t n = 0;

	EACH (const struct insight_block, v, k->v.v, k->v.n) {
		if (v->type != INSIGHT_TRACE)
			continue;
		b->trace_text = n++ ? (struct str){NULL, 0} : v->payload;
		if (with_trace &&
			!asc_read_events(b, v->payload, path, v->offset + INSIGHT_HEADER_BYTES, e))
			return err_wrap(
				e, "block TRACE at byte %llu", (unsigned long long)v->offset);
	}
	if (n == 0) {
		b->has_trace = false;
		return true;
	}
	b->has_trace = true;
	return b->has_api ||
	       asc_note(b, NOTE_MISSING, "no-api-instr", INCORE_NO_OFFSET,
		       "no API_INSTR: nothing is stated per instruction") ||
	       err_nomem(e);
}

bool asc_read_bin(struct asc_build *b, const struct file_data *f, const char *path, bool with_trace,
	struct incore_error *e)
{
	struct insight_blocks k = {0};
	bool ok;

	b->path = path;
	b->file = f;
	ok = insight_blocks_read(&k, f->data, f->size, path, e);
	if (ok && (!put_blocks(b, &k, path) || !note_blocks(b, &k)))
		ok = err_nomem(e);
	ok = ok && read_others(b, &k, path, e) && read_traces(b, &k, path, with_trace, e);
	insight_blocks_deinit(&k);
	b->file = NULL;
	return ok;
}

/* --- ops --- */

static int insight_bin_sniff(const struct probe *p)
{
	const char *base = path_base(p->path);

	if (p->is_dir)
		return 0;
	if (insight_is_head(p->head, p->head_size))
		return str_ends(str_of(base), ".bin") ? 90 : 60;
	/* A damaged file is accepted so that its error is reported. */
	return strcmp(base, "visualize_data.bin") == 0 ? 30 : 0;
}

static bool read_file(
	struct asc_build *b, struct file_data *f, const char *path, struct incore_error *e)
{
	if (!import_load(b->options, f, path, e) || !asc_read_bin(b, f, path, true, e))
		return false;
	/* An on-device run has details but no trace; its counters are sampled. */
	if (!b->has_trace)
		b->trace->meta.evidence = EVIDENCE_HARDWARE_SAMPLE;
	return asc_finish(b, e);
}

static bool insight_bin_read(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	struct asc_build b;
	struct file_data f = {0};
	bool ok = asc_init(&b, t, o, e) && read_file(&b, &f, path, e);

	asc_deinit(&b);
	file_unload(&f);
	return ok;
}

const struct import_ops import_insight_bin = {
	.name = "insight_bin",
	.summary = "Ascend visualize_data.bin, of msprof op and msprof op simulator",
	.looks_for = "a visualize_data.bin",
	.sniff = insight_bin_sniff,
	.look = asc_look,
	.read = insight_bin_read,
	.lost = import_lost_noted,
};
