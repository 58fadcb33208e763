/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcs_json.c: PC samples of results.json. The data that samples refer to (dispatches, kernels,
 * code objects, texts) may follow them, so the file is read twice: everything but the samples,
 * then the samples.
 */
#include "import/rocprof/results.h"

#include "base/hash.h"
#include "base/search.h"

ORDER(by_address, struct pcs_entry, UP(code_object) UP(address) UP(kernel))

uint64_t results_id(const struct results *x, uint64_t id)
{
	return x->process ? hash_mix64(id ^ x->process << 48) : id;
}

bool results_no_memory(struct results *x)
{
	return json_reject(&x->r, "no-memory", "out of memory");
}

bool results_put(struct results *x, struct u64_map *m, uint64_t key, uint64_t value)
{
	uint64_t *at = u64_map_at(m, key);

	if (!at)
		return results_no_memory(x);
	*at = value;
	return true;
}

/* --- members --- */

static bool get_text(const struct json_member *m)
{
	struct results *x = m->ctx;
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

bool results_get_id(const struct json_member *m)
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
	JSON_FIELD(json_agent, a.name, "name", .get = get_text),
	JSON_FIELD(json_agent, a.product, "product_name", .get = get_text),
};

static void read_agent(struct results *x)
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

static void read_object(struct results *x)
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
	JSON_FIELD(json_symbol, name, "kernel_name", .get = get_text),
	JSON_FIELD(json_symbol, formatted, "formatted_kernel_name", .get = get_text),
};

int64_t results_known(uint64_t v)
{
	return v > INT64_MAX ? NO_VALUE : (int64_t)v;
}

static void read_symbol(struct results *x)
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

bool results_get_record(const struct json_member *m)
{
	memset(m->at, 0xff, sizeof(struct results_record));
	return json_get_fields(m->r, JSON_FIELDS(traced_fields), m->at, m->ctx);
}

bool results_next(struct results *x, struct results_record *d)
{
	return results_get_record(&(struct json_member){.r = &x->r, .at = d, .ctx = x});
}

struct sampled_kernel *results_launch(
	struct results *x, const struct results_record *d, struct trace_launch *l)
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

static void read_dispatch(struct results *x)
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
static uint64_t kernel_of(const struct results *x, const struct json_record *s, bool *is_known)
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

static uint32_t text_at(const struct results *x, const struct u64_map *m, uint64_t index)
{
	const uint64_t *at = u64_map_find(m, results_id(x, index));

	return at ? (uint32_t)*at : 0; /* text 0 is the empty text */
}

static void read_sample(struct results *x, bool is_trap)
{
	struct json_sample s = {.index = UINT64_MAX};
	struct sampled_row row = {0};
	unsigned reason;
	bool is_known;
	uint64_t id;

	if (!json_get_fields(&x->r, JSON_FIELDS(sample_fields), &s, x))
		return;
	id = kernel_of(x, &s.record, &is_known);
	x->p->n_unplaced += !is_known;
	row.kernel = samples_kernel(&x->p->set, id);
	row.code_object = s.record.pc.object;
	row.address = s.record.pc.offset;
	row.text = text_at(x, &x->texts, s.index);
	row.where = text_at(x, &x->where, s.index);
	reason = is_trap	   ? SAMPLE_NOT_TOLD
		 : s.record.issued ? SAMPLE_ISSUED
				   : s.record.snapshot.reason;
	if (row.kernel == UINT32_MAX || !samples_add(&x->p->set, &row, reason, 1))
		results_no_memory(x);
	x->p->set.is_host_trap |= is_trap;
}

static void read_trap(struct results *x)
{
	read_sample(x, true);
}

static void read_stochastic(struct results *x)
{
	read_sample(x, false);
}

/* --- the document --- */

static void read_texts(struct results *x, struct u64_map *to)
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

static void read_strings(struct results *x)
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

static void read_metadata(struct results *x)
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

static void each_item(struct results *x, void (*fn)(struct results *x), bool in_second_walk)
{
	if (x->is_second_walk != in_second_walk) {
		json_skip(&x->r);
		return;
	}
	if (json_enter_array_or_null(&x->r))
		while (json_next_item(&x->r))
			fn(x);
}

static void read_records(struct results *x)
{
	struct str key;

	for (json_enter_object(&x->r); json_next_key(&x->r, &key);) {
		if (str_is(key, "kernel_dispatch"))
			each_item(x, read_dispatch, false);
		else if (str_is(key, "pc_sample_host_trap"))
			each_item(x, read_trap, true);
		else if (str_is(key, "pc_sample_stochastic"))
			each_item(x, read_stochastic, true);
		else
			json_skip(&x->r);
	}
}

static void read_process(struct results *x)
{
	struct str key;

	for (json_enter_object(&x->r); json_next_key(&x->r, &key);) {
		if (str_is(key, "buffer_records"))
			read_records(x);
		else if (str_is(key, "agents"))
			each_item(x, read_agent, false);
		else if (str_is(key, "code_objects"))
			each_item(x, read_object, false);
		else if (str_is(key, "kernel_symbols"))
			each_item(x, read_symbol, false);
		else if (str_is(key, "strings") && !x->is_second_walk)
			read_strings(x);
		else if (str_is(key, "metadata") && !x->is_second_walk)
			read_metadata(x);
		else
			json_skip(&x->r);
	}
}

bool results_walk(struct results *x, const struct file_data *f, const char *path,
	void (*read)(struct results *x), struct incore_error *e)
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
	struct results x = {.p = p};
	bool ok = results_walk(&x, f, path, read_process, e);

	place_entries(p);
	x.is_second_walk = true;
	ok = ok && results_walk(&x, f, path, read_process, e);
	if (ok && p->timeline && !p->set.rows.n)
		ok = results_timeline(&x, f, path, e);
	u64_map_deinit(&x.kernel_of);
	u64_map_deinit(&x.texts);
	u64_map_deinit(&x.where);
	return ok;
}
