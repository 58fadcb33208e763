/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcs_json.c: PC samples of results.json. The data that samples refer to (dispatches, kernels, code
 * objects, texts) may follow them, so the file is read twice: everything but the samples, then the
 * samples.
 *
 * Parts: the samples of results.json; the timeline of results.json.
 */
#include <stdio.h>

#include "base/hash.h"
#include "base/search.h"
#include "codec/json_fields.h"
#include "import/rocprof/pcs.h"

/*
 * Walks results.json of rocprofv3; shared by the readers of samples and of the timeline.
 */

struct results_reading {
	struct pcs *p;
	struct json_reader r;
	uint64_t process;	     /* its number in the file: ids are per process */
	struct u64_map kernel_of;    /* dispatch -> id of its kernel + 1 */
	struct u64_map texts, where; /* (process, index) -> text of the set */
	bool is_second_walk;
	struct lists *lists; /* for the timeline; or NULL */
};

/* Records: a number that is missing in the file stays at the maximum. */
struct size3 {
	uint64_t v[3];
};
struct results_info {
	uint64_t agent, queue, kernel, dispatch, lds, scratch;
	struct size3 workgroup, grid;
};
struct results_record {
	uint64_t kind, operation, thread, start_ns, end_ns, stack, agent;
	struct results_info info; /* of a launch */
};

/* --- the samples of results.json -------------------------------------------------------------- */

static bool results_timeline(struct results_reading *x, const struct file_data *f, const char *path,
	struct incore_error *e);

ORDER(by_address, struct pcs_entry, UP(code_object) UP(address) UP(kernel))

static uint64_t results_id(const struct results_reading *x, uint64_t id)
{
	return x->process ? hash_mix64(id ^ x->process << 48) : id;
}

static bool results_no_memory(struct results_reading *x)
{
	return json_reject(&x->r, "no-memory", "out of memory");
}

static bool results_put(struct results_reading *x, struct u64_map *m, uint64_t key, uint64_t value)
{
	uint64_t *at = u64_map_at(m, key);

	if (!at)
		return results_no_memory(x);
	*at = value;
	return true;
}

/* --- members --- */

static bool pcs_json_get_text(const struct json_member *m)
{
	struct results_reading *x = m->ctx;
	const char **to = m->at;
	struct str s;

	if (!json_get_str_or_null(m->r, &s))
		return false;
	*to = s.n ? arena_strndup(&x->p->set.arena, s.p, s.n) : NULL;
	return !s.n || *to || results_no_memory(x);
}

struct id {
	uint64_t v;
};
static const struct json_field id_fields[] = {
	JSON_FIELD(id, v, "handle"), JSON_FIELD(id, v, "internal")};

static bool results_get_id(const struct json_member *m)
{
	return json_get_fields(m->r, JSON_FIELDS(id_fields), m->at, m->ctx);
}

static const struct json_field size3_fields[] = {
	JSON_FIELD(size3, v[0], "x"), JSON_FIELD(size3, v[1], "y"), JSON_FIELD(size3, v[2], "z")};

static bool get_size3(const struct json_member *m)
{
	return json_get_fields(m->r, JSON_FIELDS(size3_fields), m->at, m->ctx);
}

struct json_agent {
	struct pcs_agent a;
	uint64_t type; /* 2: a GPU */
};
static const struct json_field agent_fields[] = {
	JSON_FIELD(json_agent, a.handle, "id", .get = results_get_id),
	JSON_FIELD(json_agent, type, "type"),
	JSON_FIELD(json_agent, a.node, "node_id"),
	JSON_FIELD(json_agent, a.simds, "simd_count"),
	JSON_FIELD(json_agent, a.cus, "cu_count"),
	JSON_FIELD(json_agent, a.ses, "num_shader_banks"),
	JSON_FIELD(json_agent, a.xccs, "num_xcc"),
	JSON_FIELD(json_agent, a.waves_per_simd, "max_waves_per_simd"),
	JSON_FIELD(json_agent, a.lds_kib, "lds_size_in_kb"),
	JSON_FIELD(json_agent, a.wave_size, "wave_front_size"),
	JSON_FIELD(json_agent, a.mhz, "max_engine_clk_fcompute"),
	JSON_FIELD(json_agent, a.name, "name", .get = pcs_json_get_text),
	JSON_FIELD(json_agent, a.product, "product_name", .get = pcs_json_get_text),
};

static void read_agent(struct results_reading *x)
{
	struct json_agent a = {0};

	if (!json_get_fields(&x->r, JSON_FIELDS(agent_fields), &a, x) ||
		!results_put(x, &x->p->node_of, results_id(x, a.a.handle), a.a.node))
		return;
	if (a.type == 2 && !VEC_PUSH(&x->p->agents, a.a))
		results_no_memory(x);
}

struct json_object {
	uint64_t id, base;
};
static const struct json_field object_fields[] = {
	JSON_FIELD(json_object, id, "code_object_id"), JSON_FIELD(json_object, base, "load_base")};

static void pcs_json_read_object(struct results_reading *x)
{
	struct json_object o = {0};

	if (json_get_fields(&x->r, JSON_FIELDS(object_fields), &o, x))
		results_put(x, &x->p->load_base, results_id(x, o.id), o.base);
}

struct json_symbol {
	uint64_t kernel, object, address, sgprs, vgprs, accum_vgprs;
	const char *name, *formatted;
};
static const struct json_field symbol_fields[] = {
	JSON_FIELD(json_symbol, kernel, "kernel_id"),
	JSON_FIELD(json_symbol, object, "code_object_id"),
	JSON_FIELD(json_symbol, address, "kernel_address", .get = results_get_id),
	JSON_FIELD(json_symbol, sgprs, "sgpr_count"),
	JSON_FIELD(json_symbol, vgprs, "arch_vgpr_count"),
	JSON_FIELD(json_symbol, accum_vgprs, "accum_vgpr_count"),
	JSON_FIELD(json_symbol, name, "kernel_name", .get = pcs_json_get_text),
	JSON_FIELD(json_symbol, formatted, "formatted_kernel_name", .get = pcs_json_get_text),
};

/* NO_VALUE for numbers above INT64_MAX. */
static int64_t results_known(uint64_t v)
{
	return v > INT64_MAX ? NO_VALUE : (int64_t)v;
}

static void pcs_json_read_symbol(struct results_reading *x)
{
	struct json_symbol s = {0};
	struct sampled_kernel *k;
	uint32_t i;

	if (!json_get_fields(&x->r, JSON_FIELDS(symbol_fields), &s, x) || !s.object)
		return;
	i = samples_kernel(&x->p->set, results_id(x, s.kernel));
	if (i == UINT32_MAX ||
		(!x->process && !VEC_PUSH(&x->p->entries,
					(struct pcs_entry){s.object, s.address, s.kernel}))) {
		results_no_memory(x);
		return;
	}
	k = &x->p->set.kernels.v[i];
	k->name = s.formatted ? s.formatted : s.name;
	k->launch.kernel_id = results_known(s.kernel);
	k->launch.sgprs = results_known(s.sgprs);
	k->launch.vgprs = results_known(s.vgprs);
	k->launch.accum_vgprs = results_known(s.accum_vgprs);
}

static const struct json_field info_fields[] = {
	JSON_FIELD(results_info, agent, "agent_id", .get = results_get_id),
	JSON_FIELD(results_info, queue, "queue_id", .get = results_get_id),
	JSON_FIELD(results_info, kernel, "kernel_id"),
	JSON_FIELD(results_info, dispatch, "dispatch_id"),
	JSON_FIELD(results_info, lds, "group_segment_size"),
	JSON_FIELD(results_info, scratch, "private_segment_size"),
	JSON_FIELD(results_info, workgroup, "workgroup_size", .get = get_size3),
	JSON_FIELD(results_info, grid, "grid_size", .get = get_size3),
};

static bool get_info(const struct json_member *m)
{
	return json_get_fields(m->r, JSON_FIELDS(info_fields), m->at, m->ctx);
}

static const struct json_field traced_fields[] = {
	JSON_FIELD(results_record, kind, "kind"),
	JSON_FIELD(results_record, operation, "operation"),
	JSON_FIELD(results_record, thread, "thread_id"),
	JSON_FIELD(results_record, start_ns, "start_timestamp"),
	JSON_FIELD(results_record, end_ns, "end_timestamp"),
	JSON_FIELD(results_record, stack, "correlation_id", .get = results_get_id),
	JSON_FIELD(results_record, agent, "agent_id", .get = results_get_id),
	JSON_FIELD(results_record, agent, "dst_agent_id", .get = results_get_id),
	JSON_FIELD(results_record, info, "dispatch_info", .get = get_info),
};

static bool results_get_record(const struct json_member *m)
{
	memset(m->at, 0xff, sizeof(struct results_record));
	return json_get_fields(m->r, JSON_FIELDS(traced_fields), m->at, m->ctx);
}

static bool results_next(struct results_reading *x, struct results_record *d)
{
	return results_get_record(&(struct json_member){.r = &x->r, .at = d, .ctx = x});
}

/* Records the size of a launch; returns its kernel, NULL when out of memory. */
static struct sampled_kernel *results_launch(
	struct results_reading *x, const struct results_record *d, struct trace_launch *l)
{
	uint32_t i = samples_kernel(&x->p->set, results_id(x, d->info.kernel));

	if (i == UINT32_MAX) {
		results_no_memory(x);
		return NULL;
	}
	*l = x->p->set.kernels.v[i].launch;
	l->agent = results_known(d->info.agent);
	l->dispatch = results_known(d->info.dispatch);
	l->lds_bytes = results_known(d->info.lds);
	l->scratch_bytes = results_known(d->info.scratch);
	l->start_ns = results_known(d->start_ns);
	l->end_ns = results_known(d->end_ns);
	for (int k = 0; k < 3; k++) {
		l->workgroup[k] = results_known(d->info.workgroup.v[k]);
		l->grid[k] = results_known(d->info.grid.v[k]);
	}
	return &x->p->set.kernels.v[i];
}

static void pcs_json_read_dispatch(struct results_reading *x)
{
	struct results_record d;
	struct sampled_kernel *k;
	struct trace_launch l;

	if (!results_next(x, &d) || !(k = results_launch(x, &d, &l)))
		return;
	x->p->n_dispatches++;
	pcs_add_launch(k, &l);
	results_put(
		x, &x->kernel_of, results_id(x, d.info.dispatch), results_id(x, d.info.kernel) + 1);
}

/* --- samples --- */

struct json_pc {
	uint64_t object, offset;
};
static const struct json_field pc_fields[] = {JSON_FIELD(json_pc, object, "code_object_id"),
	JSON_FIELD(json_pc, offset, "code_object_offset")};

static bool get_pc(const struct json_member *m)
{
	return json_get_fields(m->r, JSON_FIELDS(pc_fields), m->at, m->ctx);
}

static bool get_reason(const struct json_member *m)
{
	unsigned *to = m->at;
	struct str s;

	if (json_peek(m->r) != JSON_STRING)
		return json_skip(m->r);
	if (!json_get_str(m->r, &s))
		return false;
	*to = sample_reason_of(s);
	return true;
}

struct json_snapshot {
	unsigned reason;
};
static const struct json_field snapshot_fields[] = {
	JSON_FIELD(json_snapshot, reason, "stall_reason", .get = get_reason)};

static bool get_snapshot(const struct json_member *m)
{
	return json_get_fields(m->r, JSON_FIELDS(snapshot_fields), m->at, m->ctx);
}

struct json_record {
	struct json_pc pc;
	uint64_t dispatch, issued;
	struct json_snapshot snapshot;
};
static const struct json_field record_fields[] = {
	JSON_FIELD(json_record, pc, "pc", .get = get_pc),
	JSON_FIELD(json_record, dispatch, "dispatch_id"),
	JSON_FIELD(json_record, issued, "wave_issued"),
	JSON_FIELD(json_record, snapshot, "snapshot", .get = get_snapshot),
};

static bool get_record(const struct json_member *m)
{
	return json_get_fields(m->r, JSON_FIELDS(record_fields), m->at, m->ctx);
}

/* -1: no text. */
static bool get_index(const struct json_member *m)
{
	uint64_t *to = m->at;
	int64_t v;

	if (!json_get_i64(m->r, &v))
		return false;
	*to = (uint64_t)v;
	return true;
}

struct json_sample {
	struct json_record record;
	uint64_t index;
};
static const struct json_field sample_fields[] = {
	JSON_FIELD(json_sample, record, "record", .get = get_record),
	JSON_FIELD(json_sample, index, "inst_index", .get = get_index),
};

const struct pcs_entry *pcs_entry_at(const struct pcs *p, uint64_t object, uint64_t offset)
{
	size_t lo = 0, hi = p->entries.n;

	BISECT(lo, hi, i,
		p->entries.v[i].code_object < object || (p->entries.v[i].code_object == object &&
								p->entries.v[i].address <= offset));
	return lo > 0 && p->entries.v[lo - 1].code_object == object ? &p->entries.v[lo - 1] : NULL;
}

/* Finds the kernel by the dispatch; if that is not listed, the last kernel that begins at or before
 * the pc. */
static uint64_t pcs_json_kernel_of(
	const struct results_reading *x, const struct json_record *s, bool *is_known)
{
	const uint64_t *at = u64_map_find(&x->kernel_of, results_id(x, s->dispatch));
	const struct pcs_entry *k = NULL;

	if (!at && !x->process)
		k = pcs_entry_at(x->p, s->pc.object, s->pc.offset);
	*is_known = at || k;
	if (at)
		return *at - 1;
	return k ? k->kernel : UINT64_MAX;
}

static uint32_t pcs_json_text_at(
	const struct results_reading *x, const struct u64_map *m, uint64_t index)
{
	const uint64_t *at = u64_map_find(m, results_id(x, index));

	return at ? (uint32_t)*at : 0; /* text 0 is the empty text */
}

static void pcs_json_read_sample(struct results_reading *x, bool is_trap)
{
	struct json_sample s = {.index = UINT64_MAX};
	struct sampled_row row = {0};
	unsigned reason;
	bool is_known;
	uint64_t id;

	if (!json_get_fields(&x->r, JSON_FIELDS(sample_fields), &s, x))
		return;
	id = pcs_json_kernel_of(x, &s.record, &is_known);
	x->p->n_unplaced += !is_known;
	row.kernel = samples_kernel(&x->p->set, id);
	row.code_object = s.record.pc.object;
	row.address = s.record.pc.offset;
	row.text = pcs_json_text_at(x, &x->texts, s.index);
	row.where = pcs_json_text_at(x, &x->where, s.index);
	reason = is_trap	   ? SAMPLE_NOT_TOLD
		 : s.record.issued ? SAMPLE_ISSUED
				   : s.record.snapshot.reason;
	if (row.kernel == UINT32_MAX || !samples_add(&x->p->set, &row, reason, 1))
		results_no_memory(x);
	x->p->set.is_host_trap |= is_trap;
}

static void read_trap(struct results_reading *x)
{
	pcs_json_read_sample(x, true);
}

static void read_stochastic(struct results_reading *x)
{
	pcs_json_read_sample(x, false);
}

/* --- the document --- */

static void read_texts(struct results_reading *x, struct u64_map *to)
{
	struct str s;

	if (!json_enter_array_or_null(&x->r))
		return;
	for (uint64_t i = 0; json_next_item(&x->r) && json_get_str_or_null(&x->r, &s); i++) {
		uint32_t text = intern_add(&x->p->set.texts, s);

		if (text == INTERN_NONE)
			results_no_memory(x);
		else
			results_put(x, to, results_id(x, i), text);
	}
}

static void pcs_json_read_strings(struct results_reading *x)
{
	struct str key;

	for (json_enter_object(&x->r); json_next_key(&x->r, &key);) {
		if (str_is(key, "pc_sample_instructions"))
			read_texts(x, &x->texts);
		else if (str_is(key, "pc_sample_comments"))
			read_texts(x, &x->where);
		else
			json_skip(&x->r);
	}
}

static void pcs_json_read_metadata(struct results_reading *x)
{
	struct strbuf command = {0};
	struct str key, s;
	uint64_t pid;

	for (json_enter_object(&x->r); json_next_key(&x->r, &key);) {
		if (str_is(key, "pid")) {
			if (json_get_u64(&x->r, &pid))
				results_put(x, &x->p->pid_of, x->process, pid);
			continue;
		}
		if (!str_is(key, "command")) {
			if (str_is(key, "incore_synthetic"))
				x->p->set.is_synthetic = true;
			json_skip(&x->r);
			continue;
		}
		for (json_enter_array_or_null(&x->r);
			json_next_item(&x->r) && json_get_str(&x->r, &s);)
			sb_printf(&command, "%s%.*s", command.n ? " " : "", STR_ARG(s));
	}
	if (command.n)
		x->p->command = arena_strndup(&x->p->set.arena, command.p, command.n);
	if (command.failed || (command.n && !x->p->command))
		results_no_memory(x);
	sb_free(&command);
}

static void each_item(
	struct results_reading *x, void (*fn)(struct results_reading *x), bool in_second_walk)
{
	if (x->is_second_walk != in_second_walk) {
		json_skip(&x->r);
		return;
	}
	if (json_enter_array_or_null(&x->r))
		while (json_next_item(&x->r))
			fn(x);
}

static void pcs_json_read_records(struct results_reading *x)
{
	struct str key;

	for (json_enter_object(&x->r); json_next_key(&x->r, &key);) {
		if (str_is(key, "kernel_dispatch"))
			each_item(x, pcs_json_read_dispatch, false);
		else if (str_is(key, "pc_sample_host_trap"))
			each_item(x, read_trap, true);
		else if (str_is(key, "pc_sample_stochastic"))
			each_item(x, read_stochastic, true);
		else
			json_skip(&x->r);
	}
}

static void pcs_json_read_process(struct results_reading *x)
{
	struct str key;

	for (json_enter_object(&x->r); json_next_key(&x->r, &key);) {
		if (str_is(key, "buffer_records"))
			pcs_json_read_records(x);
		else if (str_is(key, "agents"))
			each_item(x, read_agent, false);
		else if (str_is(key, "code_objects"))
			each_item(x, pcs_json_read_object, false);
		else if (str_is(key, "kernel_symbols"))
			each_item(x, pcs_json_read_symbol, false);
		else if (str_is(key, "strings") && !x->is_second_walk)
			pcs_json_read_strings(x);
		else if (str_is(key, "metadata") && !x->is_second_walk)
			pcs_json_read_metadata(x);
		else
			json_skip(&x->r);
	}
}

/* Reads every process of the file. */
static bool results_walk(struct results_reading *x, const struct file_data *f, const char *path,
	void (*read)(struct results_reading *x), struct incore_error *e)
{
	struct str key;
	bool ok;

	x->process = 0;
	json_init(&x->r, f->data, f->size, path, 0);
	for (json_enter_object(&x->r); json_next_key(&x->r, &key);) {
		if (!str_is(key, "rocprofiler-sdk-tool"))
			json_skip(&x->r);
		else if (json_enter_array_or_null(&x->r))
			for (; json_next_item(&x->r); x->process++)
				read(x);
	}
	ok = json_finish(&x->r, e);
	json_deinit(&x->r);
	return ok;
}

/* Addresses of kernels are those in memory; samples have the offset in the code object. */
static void place_entries(struct pcs *p)
{
	for (size_t i = 0; i < p->entries.n; i++) {
		const uint64_t *base = u64_map_find(&p->load_base, p->entries.v[i].code_object);

		p->entries.v[i].address -= base ? *base : 0;
	}
	SORT(p->entries.v, p->entries.n, by_address);
}

bool pcs_read_json(
	struct pcs *p, const struct file_data *f, const char *path, struct incore_error *e)
{
	struct results_reading x = {.p = p};
	bool ok = results_walk(&x, f, path, pcs_json_read_process, e);

	place_entries(p);
	x.is_second_walk = true;
	ok = ok && results_walk(&x, f, path, pcs_json_read_process, e);
	if (ok && p->timeline && !p->set.rows.n)
		ok = results_timeline(&x, f, path, e);
	u64_map_deinit(&x.kernel_of);
	u64_map_deinit(&x.texts);
	u64_map_deinit(&x.where);
	return ok;
}

/* --- the timeline of results.json ------------------------------------------------------------- */

/*
 * Results.json of rocprofv3 as the same timeline as its database (timeline/rocpd_read.c). The data
 * that a record refers to, and what a call started, may follow it, so the file is read in several
 * passes.
 */

enum walk { WALK_NAMES, WALK_DEVICE, WALK_VALUES, WALK_CALLS, WALKS };
enum text { TEXT_KIND, TEXT_OPERATION, TEXT_MARKER }; /* kinds of keys of texts */

struct counted {
	uint64_t counter;
	double value;
};

struct lists {
	struct results_reading *x;
	enum walk walk;
	uint64_t index;		     /* of the item being read */
	struct u64_map text_at;	     /* -> text of the set */
	VEC(struct counted) counted; /* of the record being read */
};

static struct roctrace *pcs_json_run_of(const struct lists *s)
{
	return s->x->p->timeline;
}

/* --- names --- */

static uint64_t text_key(const struct lists *s, enum text by, uint64_t a, uint64_t b)
{
	uint64_t parts[] = {s->x->process, by, a, b};

	return hash_bytes(parts, sizeof(parts), 0);
}

static struct str pcs_json_text_of(const struct lists *s, enum text by, uint64_t a, uint64_t b)
{
	const uint64_t *at = u64_map_find(&s->text_at, text_key(s, by, a, b));

	return s->x->p->set.texts.strs[at ? *at : 0]; /* text 0 is the empty text */
}

static bool results_get_text(const struct json_member *m)
{
	struct lists *s = m->ctx;
	uint32_t *to = m->at;
	struct str text;

	if (!json_get_str_or_null(m->r, &text))
		return false;
	*to = intern_add(&s->x->p->set.texts, text);
	return *to != INTERN_NONE || results_no_memory(s->x);
}

static bool get_operations(const struct json_member *m)
{
	struct lists *s = m->ctx;
	uint32_t text = 0;

	json_enter_array_or_null(m->r);
	for (uint64_t i = 0; json_next_item(m->r); i++)
		if (results_get_text(&(struct json_member){.r = m->r, .at = &text, .ctx = s}))
			results_put(
				s->x, &s->text_at, text_key(s, TEXT_OPERATION, s->index, i), text);
	return !m->r->is_failed;
}

struct named {
	uint64_t id;
	uint32_t text;
};
static const struct json_field kind_fields[] = {
	JSON_FIELD(named, text, "kind", .get = results_get_text),
	JSON_FIELD(named, id, "operations", .get = get_operations),
};
static const struct json_field message_fields[] = {
	JSON_FIELD(named, id, "key"), JSON_FIELD(named, text, "value", .get = results_get_text)};
static const struct json_field counter_fields[] = {
	JSON_FIELD(named, id, "id", .get = results_get_id),
	JSON_FIELD(named, text, "name", .get = results_get_text),
};

static void read_kind(struct lists *s)
{
	struct named k = {0};

	if (json_get_fields(&s->x->r, JSON_FIELDS(kind_fields), &k, s))
		results_put(s->x, &s->text_at, text_key(s, TEXT_KIND, s->index, 0), k.text);
}

static void pcs_json_read_message(struct lists *s)
{
	struct named m = {0};

	if (json_get_fields(&s->x->r, JSON_FIELDS(message_fields), &m, s))
		results_put(s->x, &s->text_at, text_key(s, TEXT_MARKER, m.id, 0), m.text);
}

static void pcs_json_read_counter(struct lists *s)
{
	struct named c = {.id = UINT64_MAX};

	if (json_get_fields(&s->x->r, JSON_FIELDS(counter_fields), &c, s) &&
		!roctrace_add_counter(pcs_json_run_of(s), results_known(c.id),
			s->x->p->set.texts.strs[c.text], STR("")))
		results_no_memory(s->x);
}

/* --- records --- */

/* The number of an agent, by node as in databases. */
static int64_t node_of(const struct lists *s, uint64_t handle)
{
	const uint64_t *at = u64_map_find(&s->x->p->node_of, results_id(s->x, handle));

	return at ? results_known(*at) : NO_VALUE;
}

static struct roctrace_span pcs_json_span_of(
	const struct lists *s, const struct results_record *v, enum roctrace_lane lane)
{
	const uint64_t *pid = u64_map_find(&s->x->p->pid_of, s->x->process);

	return (struct roctrace_span){.lane = lane,
		.pid = pid ? results_known(*pid) : 0,
		.of = lane == LANE_THREAD ? results_known(v->thread) : node_of(s, v->agent),
		.queue = NO_VALUE,
		.from_ns = results_known(v->start_ns),
		.to_ns = results_known(v->end_ns),
		.stack = results_known(v->stack),
		.event = NO_VALUE,
		.name = pcs_json_text_of(s, TEXT_OPERATION, v->kind, v->operation),
		.category = pcs_json_text_of(s, TEXT_KIND, v->kind, 0)};
}

static void pcs_json_add(struct lists *s, const struct roctrace_span *span)
{
	if (!roctrace_add(pcs_json_run_of(s), span))
		results_no_memory(s->x);
}

static void pcs_json_add_launch(struct lists *s, const struct results_record *v)
{
	struct roctrace_span span = pcs_json_span_of(s, v, LANE_QUEUE);
	struct trace_launch l;
	const struct sampled_kernel *k = results_launch(s->x, v, &l);

	span.of = l.agent = node_of(s, v->info.agent);
	span.queue = results_known(v->info.queue);
	span.event = l.dispatch;
	span.name = str_of(k && k->name ? k->name : "");
	span.category = STR("KERNEL_DISPATCH");
	if (k && !roctrace_add_launch(pcs_json_run_of(s), &span, &l))
		results_no_memory(s->x);
}

static void results_read_dispatch(struct lists *s)
{
	struct results_record v;

	if (results_next(s->x, &v))
		pcs_json_add_launch(s, &v);
}

static void read_copy(struct lists *s)
{
	struct results_record v;
	struct roctrace_span span;

	if (!results_next(s->x, &v))
		return;
	span = pcs_json_span_of(s, &v, LANE_COPIES);
	span.category = STR("MEMORY_COPY");
	pcs_json_add(s, &span);
}

/* Uses the words of the database: "MEMORY_ALLOCATION_VMEM_FREE" is "FREE VIRTUAL". */
static void pcs_json_read_memory(struct lists *s)
{
	static const char *const levels[][2] = {{"MEMORY_ALLOCATION_VMEM_", "VIRTUAL"},
		{"MEMORY_ALLOCATION_", "REAL"}, {"SCRATCH_MEMORY_", "SCRATCH"}};
	struct results_record v;
	struct roctrace_span span;
	char name[64];

	if (!results_next(s->x, &v))
		return;
	span = pcs_json_span_of(s, &v, LANE_MEMORY);
	span.category = STR("MEMORY_ALLOCATION");
	for (unsigned i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		struct str type = str_sub(span.name, strlen(levels[i][0]), 20);

		if (!str_starts(span.name, levels[i][0]))
			continue;
		snprintf(name, sizeof(name), "%.*s %s",
			STR_ARG(str_is(type, "ALLOCATE") ? STR("ALLOC") : type), levels[i][1]);
		span.name = str_of(name);
		break;
	}
	pcs_json_add(s, &span);
}

static void pcs_json_read_call(struct lists *s)
{
	struct results_record v;
	struct roctrace_span span;
	struct str message;

	if (!results_next(s->x, &v))
		return;
	span = pcs_json_span_of(s, &v, LANE_THREAD);
	if (str_starts(span.category, "MARKER")) {
		message = pcs_json_text_of(s, TEXT_MARKER, v.stack, 0);
		span.name = message.n ? message : span.name;
		span.lane = LANE_MARKERS;
	}
	pcs_json_add(s, &span);
}

/* --- counters of launches --- */

static bool pcs_json_get_value(const struct json_member *m)
{
	return json_get_double(m->r, m->at);
}

static const struct json_field counted_fields[] = {
	JSON_FIELD(counted, counter, "counter_id", .get = results_get_id),
	JSON_FIELD(counted, value, "value", .get = pcs_json_get_value),
};

static bool get_counted(const struct json_member *m)
{
	struct lists *s = m->ctx;

	for (json_enter_array_or_null(m->r); json_next_item(m->r);) {
		struct counted c = {.counter = UINT64_MAX};

		if (json_get_fields(m->r, JSON_FIELDS(counted_fields), &c, s) &&
			!VEC_PUSH(&s->counted, c))
			results_no_memory(s->x);
	}
	return !m->r->is_failed;
}

struct results_counting {
	struct results_record launch;
	uint32_t n;
};
static const struct json_field counting_fields[] = {
	JSON_FIELD(results_counting, launch, "dispatch_data", .get = results_get_record),
	JSON_FIELD(results_counting, n, "records", .get = get_counted),
};

/* If launches were not traced, only the counted ones are known. */
static void read_counting(struct lists *s)
{
	struct results_counting c;
	int64_t event;

	memset(&c, 0xff, sizeof(c));
	s->counted.n = 0;
	if (!json_get_fields(&s->x->r, JSON_FIELDS(counting_fields), &c, s))
		return;
	event = results_known(c.launch.info.dispatch);
	if (!roctrace_knows_time(pcs_json_run_of(s), event))
		pcs_json_add_launch(s, &c.launch);
	EACH (const struct counted, v, s->counted.v, s->counted.n)
		if (!roctrace_add_value(
			    pcs_json_run_of(s), event, results_known(v->counter), v->value))
			results_no_memory(s->x);
}

/* --- the document --- */

static const struct list {
	const char *in, *ends; /* in: the parent key, "": the process; ends: the end of the key */
	enum walk walk;
	void (*read)(struct lists *s);
} all_lists[] = {
	{"", "counters", WALK_NAMES, pcs_json_read_counter},
	{"strings", "buffer_records", WALK_NAMES, read_kind},
	{"strings", "marker_api", WALK_NAMES, pcs_json_read_message},
	{"buffer_records", "kernel_dispatch", WALK_DEVICE, results_read_dispatch},
	{"buffer_records", "memory_copy", WALK_DEVICE, read_copy},
	{"buffer_records", "memory_allocation", WALK_DEVICE, pcs_json_read_memory},
	{"buffer_records", "scratch_memory", WALK_DEVICE, pcs_json_read_memory},
	{"callback_records", "counter_collection", WALK_VALUES, read_counting},
	{"buffer_records", "_api", WALK_CALLS, pcs_json_read_call},
};

static void pcs_json_read_list(struct lists *s, const char *in, struct str key)
{
	const struct list *l = NULL;

	for (unsigned i = 0; i < sizeof(all_lists) / sizeof(all_lists[0]); i++)
		if (all_lists[i].walk == s->walk && !strcmp(all_lists[i].in, in) &&
			str_ends(key, all_lists[i].ends))
			l = &all_lists[i];
	if (!l || json_peek(&s->x->r) != JSON_ARRAY) {
		json_skip(&s->x->r);
		return;
	}
	s->index = 0;
	for (json_enter_array(&s->x->r); json_next_item(&s->x->r); s->index++)
		l->read(s);
}

static void results_read_process(struct results_reading *x)
{
	struct lists *s = x->lists;
	struct str key, inner;

	pcs_json_run_of(s)->number = (uint32_t)x->process;
	for (json_enter_object(&x->r); json_next_key(&x->r, &key);) {
		const char *in = str_is(key, "strings")		   ? "strings"
				 : str_is(key, "buffer_records")   ? "buffer_records"
				 : str_is(key, "callback_records") ? "callback_records"
								   : NULL;

		if (!in)
			pcs_json_read_list(s, "", key);
		else
			for (json_enter_object(&x->r); json_next_key(&x->r, &inner);)
				pcs_json_read_list(s, in, inner);
	}
	if (s->walk == WALK_VALUES && !roctrace_end_run(pcs_json_run_of(s)))
		results_no_memory(x);
}

static bool put_about(const struct pcs *p, struct roctrace *r)
{
	const struct pcs_agent *a = p->agents.n ? &p->agents.v[0] : &(struct pcs_agent){0};
	struct arena *to = &r->t->arena;

	r->arch = a->name ? arena_strdup(to, a->name) : NULL;
	r->product = a->product ? arena_strdup(to, a->product) : NULL;
	r->arch_source = "agents";
	r->command = p->command ? arena_strdup(to, p->command) : NULL;
	r->evidence = p->set.is_synthetic ? "synthetic" : NULL;
	return !a->name == !r->arch && !a->product == !r->product && !p->command == !r->command &&
	       roctrace_put_meta(r);
}

/* Fills the timeline of x->p, whose kernels, agents and processes are known. */
static bool results_timeline(struct results_reading *x, const struct file_data *f, const char *path,
	struct incore_error *e)
{
	struct lists s = {.x = x};
	bool ok = roctrace_init(pcs_json_run_of(&s), pcs_json_run_of(&s)->t, path) || err_nomem(e);

	x->lists = &s;
	for (; ok && s.walk < WALKS; s.walk++)
		ok = results_walk(x, f, path, results_read_process, e);
	x->lists = NULL;
	u64_map_deinit(&s.text_at);
	VEC_FREE(&s.counted);
	return ok && (put_about(x->p, x->p->timeline) || err_nomem(e));
}
