/* SPDX-License-Identifier: Apache-2.0 */
/*
 * details.c: the blocks of an on-device run (types 0x05 to 0x0F) as tables: base info, compute
 * load, memory, occupancy, roofline, cache lines, stall reasons. Numbers and numeric strings are
 * equivalent here, and older files are nested differently; a missing member leaves its cell empty.
 */
#include "codec/insight_blocks.h"
#include "import/ascend/ascend.h"

struct details {
	struct asc_build *b;
	struct str json;
	const char *origin;  /* "DETAILS_MEMORY_GRAPH" */
	struct str row_name; /* name of the memory table's current row */
	bool is_failed;	     /* out of memory */
};

static void put_text(struct details *d, struct asc_table *k, struct str raw)
{
	struct strbuf text = {0};

	if (!raw.p || str_is(raw, "null")) {
		asc_put(d->b, k, (struct str){NULL, 0});
		return;
	}
	trace_event_text(&text, raw);
	k->is_failed |= text.failed;
	asc_put(d->b, k, (struct str){text.p ? text.p : "", text.n});
	sb_free(&text);
}

/* Adds a cell for each name in `cols` ("a|b"), from `inner` if `o` lacks the member. */
static void put_members(
	struct details *d, struct asc_table *k, struct str o, struct str inner, const char *cols)
{
	struct str rest = str_of(cols), name;
	char key[40];

	while (str_cut(&rest, "|", &name)) {
		struct str v;

		if (name.n >= sizeof(key))
			continue;
		memcpy(key, name.p, name.n);
		key[name.n] = '\0';
		v = trace_event_find(o, key);
		put_text(d, k, v.p || !inner.p ? v : trace_event_find(inner, key));
	}
}

static void close_table(struct details *d, struct asc_table *k)
{
	d->is_failed |= !asc_table_close(d->b, k);
}

/* Adds an advice, a string or a list of strings. */
static void put_advice(struct details *d, struct str advice)
{
	struct asc_table k;
	struct str v;
	size_t pos = 0;

	if (!advice.n)
		return;
	asc_table_open(d->b, &k, ASCEND_TABLE_ADVICE, d->origin, "text");
	if (advice.p[0] != '[')
		put_text(d, &k, advice);
	while (trace_event_item(advice, &pos, &v))
		put_text(d, &k, v);
	close_table(d, &k);
}

/* --- 0x05 --- */

static const char *keep_text(struct details *d, struct str raw)
{
	struct strbuf text = {0};
	const char *s = NULL;

	if (raw.n && trace_event_text(&text, raw))
		s = arena_strndup(&d->b->trace->arena, text.p, text.n);
	d->is_failed |= raw.n && !s;
	sb_free(&text);
	return s;
}

static void put_block_detail(struct details *d, struct str o)
{
	struct asc_table k;
	struct str row, cell, heads, rows;
	size_t pos = 0, at;
	bool is_table = o.n && o.p[0] == '{';

	if (!o.n)
		return;
	asc_table_open(d->b, &k, ASCEND_TABLE_BLOCK_DETAIL, d->origin,
		is_table ? "" : "block_id|duration");
	if (is_table)
		k.cols.n = 0;
	heads = trace_event_find(o, "head_name");
	rows = is_table ? trace_event_find(o, "row") : o;
	while (is_table && trace_event_item(heads, &pos, &cell))
		asc_table_column(d->b, &k, cell);
	pos = 0;
	while (trace_event_item(rows, &pos, &row)) {
		struct str values = trace_event_find(row, is_table ? "value" : "duration");
		size_t n = is_table ? 0 : 1;

		if (!is_table)
			put_text(d, &k, trace_event_find(row, "block_id"));
		for (at = 0; n < k.cols.n && trace_event_item(values, &at, &cell); n++)
			put_text(d, &k, cell);
		for (; n < k.cols.n; n++)
			asc_put(d->b, &k, (struct str){NULL, 0});
	}
	close_table(d, &k);
}

static void read_base(struct details *d)
{
	struct trace_meta *m = &d->b->trace->meta;
	struct asc_table k;
	struct str key, v;
	size_t pos = 0;
	uint64_t n;

	asc_table_open(d->b, &k, ASCEND_TABLE_BASE, d->origin, "key|value");
	while (trace_event_member(d->json, &pos, &key, &v)) {
		if (v.n && (v.p[0] == '{' || v.p[0] == '['))
			continue;
		put_text(d, &k, key);
		put_text(d, &k, v);
	}
	close_table(d, &k);
	if (!d->b->soc)
		d->b->soc = keep_text(d, trace_event_find(d->json, "soc"));
	if (!m->kernel)
		m->kernel = keep_text(d, trace_event_find(d->json, "name"));
	v = trace_event_find(d->json, "block_dim");
	if (v.n && str_to_u64(v, &n) && n < UINT32_MAX)
		m->launch.workgroups = (int64_t)n;
	put_block_detail(d, trace_event_find(d->json, "block_detail"));
	put_block_detail(d, trace_event_find(d->json, "mix_block_detail"));
}

/* --- 0x06 .. 0x09 --- */

static void read_compute(struct details *d, const char *name)
{
	static const char cols[] = "block_id|block_type|name|unit|value|origin_value";
	struct str all = trace_event_find(d->json, "subblock_detail"), o;
	struct asc_table k;
	size_t pos = 0;

	asc_table_open(d->b, &k, name, d->origin, cols);
	while (trace_event_item(all, &pos, &o))
		put_members(d, &k, o, trace_event_find(o, "data_detail"), cols);
	close_table(d, &k);
}

/* memory_path -> source and destination */
static const char *const memory_paths[] = {"HBM->L2", "L2->HBM", "L2->L1", "L1->L2", "GM/L1->L0A",
	"GM/L1->L0B", "L0A->CUBE", "L0B->CUBE", "CUBE->L0C", "L0C->L1", "L0C->L2", "L0C->CUBE",
	"L2->UB", "UB->L2", "UB->VEC", "VEC->UB", "L2->UB (vec1)", "UB->L2 (vec1)",
	"UB->VEC (vec1)", "VEC->UB (vec1)", "L2/UB->L1", "L1->L0A", "L2/L1->L0B", "VEC->L0C",
	"L0C->VEC", "L2/L1->UB", [35] = "GM/L1->L0A", "GM/L1->L0B", "GM/L1->L0A", "GM/L1->L0B",
	"L0C->FIXP", "FIXP->L2", "FIXP->L1", "FIXP->UB", "FIXP->UB (vec1)", "L1->UB",
	"L1->UB (vec1)", "UB->L1", "UB->L1 (vec1)", "L2->Dcache", "L2->Dcache (vec1)", "Dcache->L2",
	"Dcache->L2 (vec1)", "VEC->Dcache", "VEC->Dcache (vec1)", "Dcache->VEC",
	"Dcache->VEC (vec1)"};

static void put_memory_units(struct details *d, struct asc_table *k, struct str core)
{
	struct str units = trace_event_find(core, "memory_unit"), o;
	struct str number = trace_event_find(core, "core_no");
	size_t pos = 0;

	while (trace_event_item(units, &pos, &o)) {
		const size_t n_paths = sizeof(memory_paths) / sizeof(memory_paths[0]);
		uint64_t path = n_paths;

		put_text(d, k, number);
		str_to_u64(trace_event_find(o, "memory_path"), &path);
		put_text(d, k,
			path < n_paths && memory_paths[path] ? str_of(memory_paths[path])
							     : (struct str){NULL, 0});
		put_members(d, k, o, (struct str){NULL, 0},
			"memory_path|request|request_suffix|bandwidth|bandwidth_suffix|peak_ratio|display");
	}
}

static void put_memory_core(struct details *d, struct asc_table *k, struct str core)
{
	struct str key, v, name, value, number = trace_event_find(core, "core_no");
	size_t pos = 0, at;

	while (trace_event_member(core, &pos, &key, &v)) {
		if (!v.n || v.p[0] != '{')
			continue;
		for (at = 0; trace_event_member(v, &at, &name, &value);) {
			put_text(d, k, number);
			put_text(d, k, key);
			put_text(d, k, name);
			put_text(d, k, value);
		}
	}
}

static void read_memory(struct details *d)
{
	struct str all = trace_event_find(d->json, "core_memory_map"), core;
	struct asc_table units, cores;
	size_t pos = 0;

	asc_table_open(d->b, &units, ASCEND_TABLE_MEMORY, d->origin,
		"core_no|path|memory_path|request|request_suffix|bandwidth|bandwidth_suffix|peak_ratio|display");
	asc_table_open(
		d->b, &cores, ASCEND_TABLE_MEMORY_CORE, d->origin, "core_no|unit|name|value");
	while (trace_event_item(all, &pos, &core)) {
		put_memory_units(d, &units, core);
		put_memory_core(d, &cores, core);
		put_advice(d, trace_event_find(core, "advice"));
	}
	close_table(d, &units);
	close_table(d, &cores);
}

/* The cells of one row; header_name begins with the row's own column. */
static void put_memory_row(struct details *d, struct asc_table *k, const struct str at[4])
{
	struct str value, head = {NULL, 0};
	size_t pos = 0, head_pos = 0;

	trace_event_item(at[3], &head_pos, &head);
	while (trace_event_item(at[2], &pos, &value)) {
		if (!trace_event_item(at[3], &head_pos, &head))
			head = (struct str){NULL, 0};
		put_text(d, k, at[0]);
		put_text(d, k, at[1]);
		put_text(d, k, d->row_name);
		put_text(d, k, head);
		put_text(d, k, value);
	}
}

static void put_memory_table(struct details *d, struct asc_table *k, struct str block, struct str t)
{
	struct str rows = trace_event_find(t, "row"), row;
	struct str at[4] = {block, trace_event_find(t, "table_name"), {NULL, 0},
		trace_event_find(t, "header_name")};
	size_t pos = 0;

	while (trace_event_item(rows, &pos, &row)) {
		d->row_name = trace_event_find(row, "name");
		at[2] = trace_event_find(row, "value");
		put_memory_row(d, k, at);
	}
}

static void read_memory_tables(struct details *d)
{
	struct str all = trace_event_find(d->json, "table_per_block"), block, t;
	struct asc_table k;
	size_t pos = 0, at;

	asc_table_open(
		d->b, &k, ASCEND_TABLE_MEMORY_ALL, d->origin, "block_id|table|row|column|value");
	while (trace_event_item(all, &pos, &block)) {
		struct str tables = trace_event_find(block, "table_detail");
		struct str id = trace_event_find(block, "block_id");

		for (at = 0; trace_event_item(tables, &at, &t);)
			put_memory_table(d, &k, id, t);
		put_advice(d, trace_event_find(block, "advice"));
	}
	close_table(d, &k);
}

/* --- 0x0C .. 0x0F --- */

static void read_occupancy(struct details *d)
{
	struct str all = trace_event_find(d->json, "op_detail"), core, sub;
	struct asc_table k;
	size_t pos = 0, at;

	asc_table_open(d->b, &k, ASCEND_TABLE_OCCUPANCY, d->origin,
		"core_id|subcore_id|subcore_type|cycles|throughput|L2cache_hit_rate|instructions|instruction_per_cycle");
	while (trace_event_item(all, &pos, &core)) {
		struct str subs = trace_event_find(core, "core_detail");
		struct str id = trace_event_find(core, "core_id");

		for (at = 0; trace_event_item(subs, &at, &sub);) {
			put_text(d, &k, id);
			put_members(d, &k, sub, trace_event_find(sub, "simt_vf_instructions"),
				"subcore_id|subcore_type|cycles|throughput|L2cache_hit_rate|instructions|instruction_per_cycle");
		}
	}
	close_table(d, &k);
	if (!d->b->soc)
		d->b->soc = keep_text(d, trace_event_find(d->json, "soc"));
}

static void read_roofline(struct details *d)
{
	struct str all = trace_event_find(d->json, "multiple_rooflines"), group, o, v;
	struct asc_table k;
	size_t pos = 0, at;

	asc_table_open(d->b, &k, ASCEND_TABLE_ROOFLINE, d->origin,
		"title|x|y|bw|bw_name|computility|computility_name|ratio");
	while (trace_event_item(all, &pos, &group)) {
		struct str lines = trace_event_find(group, "rooflines");
		struct str title = trace_event_find(group, "title");

		for (at = 0; trace_event_item(lines, &at, &o);) {
			struct str point = trace_event_find(o, "point");
			size_t p = 0;

			put_text(d, &k, title);
			for (int i = 0; i < 2; i++)
				put_text(d, &k,
					trace_event_item(point, &p, &v) ? v
									: (struct str){NULL, 0});
			put_members(d, &k, o, (struct str){NULL, 0},
				"bw|bw_name|computility|computility_name|ratio");
		}
	}
	close_table(d, &k);
}

static void read_cache(struct details *d)
{
	struct str all = trace_event_find(d->json, "Cacheline Records"), o, key, v, cell;
	struct asc_table k;
	size_t pos = 0, at;

	asc_table_open(d->b, &k, ASCEND_TABLE_CACHE, d->origin, "line|event|count|ratio|ranges");
	while (trace_event_item(all, &pos, &o)) {
		struct str id = trace_event_find(o, "Cacheline Id");

		for (at = 0; trace_event_member(o, &at, &key, &v);) {
			struct str pair = trace_event_find(v, "Value");
			size_t p = 0;

			if (!pair.p)
				continue;
			put_text(d, &k, id);
			put_text(d, &k, key);
			for (int i = 0; i < 2; i++)
				put_text(d, &k,
					trace_event_item(pair, &p, &cell) ? cell
									  : (struct str){NULL, 0});
			put_text(d, &k, trace_event_find(v, "Address Range"));
		}
	}
	close_table(d, &k);
}

static void read_stalls(struct details *d)
{
	struct str all = trace_event_find(d->json, "top_stall_reason_table"), key, v;
	struct asc_table k;
	size_t pos = 0;

	asc_table_open(d->b, &k, ASCEND_TABLE_STALL, d->origin, "reason|count");
	while (trace_event_member(all, &pos, &key, &v)) {
		put_text(d, &k, key);
		put_text(d, &k, v);
	}
	close_table(d, &k);
}

static void read_type(struct details *d, unsigned type)
{
	switch (type) {
	case INSIGHT_BASE_INFO:
		read_base(d);
		break;
	case INSIGHT_COMPUTE_GRAPH:
		read_compute(d, ASCEND_TABLE_COMPUTE);
		break;
	case INSIGHT_COMPUTE_TABLE:
		read_compute(d, ASCEND_TABLE_COMPUTE_ALL);
		break;
	case INSIGHT_MEMORY_GRAPH:
		read_memory(d);
		break;
	case INSIGHT_MEMORY_TABLE:
		read_memory_tables(d);
		break;
	case INSIGHT_OCCUPANCY:
		read_occupancy(d);
		break;
	case INSIGHT_ROOFLINE:
		read_roofline(d);
		break;
	case INSIGHT_CACHE:
		read_cache(d);
		break;
	default:
		read_stalls(d);
		break;
	}
}

bool asc_read_details(struct asc_build *b, unsigned type, struct str json, const char *path,
	uint64_t base, struct incore_error *e)
{
	struct details d = {.b = b, .json = str_trim(json), .origin = insight_type_name(type)};
	struct json_reader r;
	bool ok;

	/* Validates with the strict reader, so that the scans below can rely on the syntax. */
	json_init(&r, json.p, json.n, path, 0);
	if (json_peek(&r) == JSON_OBJECT)
		json_skip(&r);
	else
		json_enter_object(&r);
	ok = json_finish(&r, e);
	if (!ok)
		asc_error_at(e, base);
	json_deinit(&r);
	if (!ok)
		return false;
	d.is_failed = !VEC_PUSH(&b->details, (struct asc_detail){type, d.json});
	read_type(&d, type);
	put_advice(&d, trace_event_find(d.json, "advice"));
	return d.is_failed ? err_nomem(e) : true;
}
