/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocpd.c: kernels, launches and samples as a database of rocprofv3's public schema, version 3. See
 * incore-rocpd(7). As in rocprofv3, names of tables end in the identity of the database, and views
 * have the plain names: tools join several databases that way.
 */
#include "base/hash.h"
#include "base/mem.h"
#include "codec/json_writer.h"
#include "export/tables/sqlite_out.h"
#include "export/tables/tabular.h"
#include "export/writer.h"

/* Every table starts with an id; if marked, a guid follows and extdata is the last column. */
enum rocpd_mark { ROCPD_GUID = 1, ROCPD_EXTRA = 2, ROCPD_BOTH = 3 };
static const struct {
	const char *name;
	enum rocpd_mark mark;
	const char *columns;
} tables[] = {
	{"metadata", 0, "tag TEXT NOT NULL, value TEXT NOT NULL"},
	{"string", ROCPD_GUID, "string TEXT NOT NULL UNIQUE"},
	{"info_node", ROCPD_GUID,
		"hash BIGINT NOT NULL UNIQUE, machine_id TEXT NOT NULL UNIQUE, name TEXT, "
		"system_name TEXT, hostname TEXT, release TEXT, version TEXT, hardware_name TEXT, "
		"domain_name TEXT"},
	{"info_process", ROCPD_BOTH,
		"nid INTEGER NOT NULL, ppid INTEGER, pid INTEGER NOT NULL, name TEXT, init BIGINT, "
		"fini BIGINT, start BIGINT, \"end\" BIGINT, command TEXT, "
		"environment JSONB DEFAULT '{}' NOT NULL"},
	{"info_thread", ROCPD_BOTH,
		"nid INTEGER NOT NULL, ppid INTEGER, pid INTEGER NOT NULL, tid INTEGER NOT NULL, "
		"name TEXT, start BIGINT, \"end\" BIGINT"},
	{"info_agent", ROCPD_BOTH,
		"nid INTEGER NOT NULL, pid INTEGER NOT NULL, type TEXT CHECK (type IN ('CPU', 'GPU')), "
		"absolute_index INTEGER, logical_index INTEGER, type_index INTEGER, uuid INTEGER, "
		"name TEXT, generic_name TEXT, model_name TEXT, vendor_name TEXT, product_name TEXT"},
	{"info_queue", ROCPD_BOTH, "nid INTEGER NOT NULL, pid INTEGER NOT NULL, name TEXT"},
	{"info_stream", ROCPD_BOTH, "nid INTEGER NOT NULL, pid INTEGER NOT NULL, name TEXT"},
	{"info_pmc", ROCPD_BOTH,
		"nid INTEGER NOT NULL, pid INTEGER NOT NULL, agent_id INTEGER, target_arch TEXT, "
		"event_code INT, instance_id INTEGER, name TEXT NOT NULL, symbol TEXT NOT NULL, "
		"description TEXT, long_description TEXT DEFAULT '', component TEXT, "
		"units TEXT DEFAULT '', value_type TEXT, block TEXT, expression TEXT, "
		"is_constant INTEGER, is_derived INTEGER"},
	{"info_code_object", ROCPD_BOTH,
		"nid INTEGER NOT NULL, pid INTEGER NOT NULL, agent_id INTEGER, uri TEXT, "
		"load_base BIGINT, load_size BIGINT, load_delta BIGINT, storage_type TEXT"},
	{"info_kernel_symbol", ROCPD_BOTH,
		"nid INTEGER NOT NULL, pid INTEGER NOT NULL, code_object_id INTEGER NOT NULL, "
		"kernel_name TEXT, display_name TEXT, kernel_object INTEGER, "
		"kernarg_segment_size INTEGER, kernarg_segment_alignment INTEGER, "
		"group_segment_size INTEGER, private_segment_size INTEGER, sgpr_count INTEGER, "
		"arch_vgpr_count INTEGER, accum_vgpr_count INTEGER"},
	{"track", ROCPD_BOTH, "nid INTEGER NOT NULL, pid INTEGER, tid INTEGER, name_id INTEGER"},
	{"event", ROCPD_BOTH,
		"category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER, "
		"correlation_id INTEGER, call_stack JSONB DEFAULT '{}' NOT NULL, "
		"line_info JSONB DEFAULT '{}' NOT NULL"},
	{"arg", ROCPD_BOTH,
		"event_id INTEGER NOT NULL, position INTEGER NOT NULL, type TEXT NOT NULL, "
		"name TEXT NOT NULL, value TEXT"},
	{"pmc_event", ROCPD_BOTH,
		"event_id INTEGER, pmc_id INTEGER NOT NULL, value REAL DEFAULT 0.0"},
	{"region", ROCPD_BOTH,
		"nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER NOT NULL, "
		"start BIGINT NOT NULL, \"end\" BIGINT NOT NULL, name_id INTEGER NOT NULL, "
		"event_id INTEGER"},
	{"sample", ROCPD_BOTH,
		"track_id INTEGER NOT NULL, timestamp BIGINT NOT NULL, event_id INTEGER"},
	{"kernel_dispatch", ROCPD_BOTH,
		"nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER, agent_id INTEGER NOT NULL, "
		"kernel_id INTEGER NOT NULL, dispatch_id INTEGER NOT NULL, "
		"queue_id INTEGER NOT NULL, stream_id INTEGER NOT NULL, start BIGINT NOT NULL, "
		"\"end\" BIGINT NOT NULL, private_segment_size INTEGER, group_segment_size INTEGER, "
		"workgroup_size_x INTEGER NOT NULL, workgroup_size_y INTEGER NOT NULL, "
		"workgroup_size_z INTEGER NOT NULL, grid_size_x INTEGER NOT NULL, "
		"grid_size_y INTEGER NOT NULL, grid_size_z INTEGER NOT NULL, "
		"region_name_id INTEGER, event_id INTEGER"},
	{"memory_copy", ROCPD_BOTH,
		"nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER, start BIGINT NOT NULL, "
		"\"end\" BIGINT NOT NULL, name_id INTEGER NOT NULL, dst_agent_id INTEGER, "
		"dst_address INTEGER, src_agent_id INTEGER, src_address INTEGER, "
		"size INTEGER NOT NULL, queue_id INTEGER, stream_id INTEGER, "
		"region_name_id INTEGER, event_id INTEGER"},
	{"memory_allocate", ROCPD_BOTH,
		"nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER, agent_id INTEGER, "
		"type TEXT, level TEXT, start BIGINT NOT NULL, \"end\" BIGINT NOT NULL, "
		"address INTEGER, size INTEGER NOT NULL, queue_id INTEGER, stream_id INTEGER, "
		"event_id INTEGER"},
};

struct rocpd_state {
	sqlite3 *db;
	char guid[40], suffix[48]; /* suffix: guid with underscores */
	int64_t start_ns, end_ns;  /* of the launch */
	const struct counter_series *series;
	uint32_t n_series;
	uint64_t n_events;
	struct strbuf text;
};

/* Makes the identity from the capture's origin and code: the same capture always has the same. */
static void make_guid(struct rocpd_state *s, const struct trace *t)
{
	const char *name = t->meta.origin ? t->meta.origin : "";
	uint64_t a = hash_bytes(name, strlen(name), t->meta.code_key),
		 b = hash_mix64(a + t->n_code);

	snprintf(s->guid, sizeof(s->guid), "%08x-%04x-8%03x-8%03x-%012llx", (unsigned)(a >> 32),
		(unsigned)(a >> 16 & 0xffff), (unsigned)(a & 0xfff), (unsigned)(b >> 52),
		(unsigned long long)(b & 0xffffffffffff));
	snprintf(s->suffix, sizeof(s->suffix), "_%s", s->guid);
	for (char *p = s->suffix; *p; p++)
		if (*p == '-')
			*p = '_';
}

static bool create_tables(struct rocpd_state *s, struct incore_error *e)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		const char *name = tables[i].name;
		char guid[80] = "";

		if (tables[i].mark & ROCPD_GUID)
			snprintf(guid, sizeof(guid), "guid TEXT DEFAULT '%s' NOT NULL, ", s->guid);
		if (!sqlite_out_put(s->db, e,
			    "CREATE TABLE rocpd_%s%s (id INTEGER NOT NULL PRIMARY KEY "
			    "AUTOINCREMENT, %s%s%s); CREATE VIEW rocpd_%s AS SELECT * FROM rocpd_%s%s",
			    name, s->suffix, guid, tables[i].columns,
			    tables[i].mark & ROCPD_EXTRA ? ", extdata JSONB DEFAULT '{}' NOT NULL"
							 : "",
			    name, name, s->suffix))
			return false;
	}
	return sqlite_out_put(s->db, e,
		"INSERT INTO rocpd_metadata%s (tag, value) VALUES ('schema_version', '3'), "
		"('uuid', %Q), ('guid', %Q)",
		s->suffix, s->suffix, s->guid);
}

static int64_t rocpd_ns_of(const struct trace *t, int64_t cyc)
{
	const struct trace_meta *m = &t->meta;

	if (!m->clock_hz_num || cyc < 0)
		return cyc;
	return (int64_t)((unsigned __int128)cyc * m->clock_hz_den * 1000000000u / m->clock_hz_num);
}

/* Finds the times of the launch: from the kernel trace, otherwise 0 and the tracks' lifetime. */
static void find_times(struct rocpd_state *s, const struct export *x)
{
	const struct trace *t = x->trace;
	const struct trace_launch *l = &t->meta.launch;
	int64_t last = 0;

	for (track_idx i = 0; i < t->n_tracks; i++) {
		int64_t end =
			trace_aligned(t, t->tracks[i].clock, t->tracks[i].end_cyc) - x->origin_cyc;

		last = end > last ? end : last;
	}
	s->end_ns = rocpd_ns_of(t, last);
	if (l->start_ns == NO_VALUE || l->end_ns == NO_VALUE)
		return;
	s->start_ns = l->start_ns;
	s->end_ns = l->end_ns;
}

static int64_t rocpd_known(int64_t v, int64_t otherwise)
{
	return v == NO_VALUE ? otherwise : v;
}

/* JSON text of the data that the schema has no columns for. */
static const char *extra_text(struct rocpd_state *s, const struct trace *t)
{
	struct json_writer w;

	sb_reset(&s->text);
	json_w_buf(&w, &s->text, 0);
	json_w_object(&w);
	json_w_kv_cstr(&w, "evidence", evidence_name(t->meta.evidence));
	json_w_kv_cstr(&w, "time",
		t->meta.launch.start_ns != NO_VALUE ? "kernel trace"
		: t->meta.clock_hz_num		    ? "trace clock, from 0"
						    : "cycles, from 0");
	json_w_kv_cstr(&w, "exporter", "incore " INCORE_VERSION);
	json_w_end(&w);
	return s->text.failed ? "{}" : s->text.p;
}

static bool rocpd_put_machine(struct rocpd_state *s, const struct trace *t, struct incore_error *e)
{
	const struct trace_launch *l = &t->meta.launch;
	const struct trace_machine *m = &t->meta.machine;

	return sqlite_out_put(s->db, e,
		       "INSERT INTO rocpd_info_node%s (id, hash, machine_id) VALUES (1, 0, %Q);"
		       "INSERT INTO rocpd_info_process%s (id, nid, pid, command) VALUES (1, 1, 0, %Q);"
		       "INSERT INTO rocpd_info_queue%s (id, nid, pid) VALUES (1, 1, 1);"
		       "INSERT INTO rocpd_info_stream%s (id, nid, pid) VALUES (1, 1, 1)",
		       s->suffix, s->guid, s->suffix, l->command, s->suffix, s->suffix) &&
	       sqlite_out_put(s->db, e,
		       "INSERT INTO rocpd_info_agent%s (id, nid, pid, type, absolute_index, name, "
		       "vendor_name, product_name) VALUES (1, 1, 1, 'GPU', %lld, %Q, %Q, %Q);"
		       "INSERT INTO rocpd_info_code_object%s (id, nid, pid, agent_id) "
		       "VALUES (1, 1, 1, 1)",
		       s->suffix, rocpd_known(l->agent, 0), t->meta.arch,
		       vendor_name(t->meta.vendor), m->product, s->suffix);
}

static bool rocpd_put_launch(struct rocpd_state *s, const struct trace *t, struct incore_error *e)
{
	const struct trace_launch *l = &t->meta.launch;
	const char *kernel = t->meta.kernel ? t->meta.kernel : "kernel";
	int64_t lds = rocpd_known(l->lds_bytes, 0), scratch = rocpd_known(l->scratch_bytes, 0);

	return sqlite_out_put(s->db, e,
		       "INSERT INTO rocpd_info_kernel_symbol%s (id, nid, pid, code_object_id, "
		       "kernel_name, display_name, group_segment_size, private_segment_size, "
		       "sgpr_count, arch_vgpr_count, accum_vgpr_count) "
		       "VALUES (1, 1, 1, 1, %Q, %Q, %lld, %lld, %lld, %lld, %lld)",
		       s->suffix, kernel, kernel, lds, scratch, rocpd_known(l->sgprs, 0),
		       rocpd_known(l->vgprs, 0), rocpd_known(l->accum_vgprs, 0)) &&
	       sqlite_out_put(s->db, e,
		       "INSERT INTO rocpd_kernel_dispatch%s (nid, pid, agent_id, kernel_id, "
		       "dispatch_id, queue_id, stream_id, start, \"end\", private_segment_size, "
		       "group_segment_size, workgroup_size_x, workgroup_size_y, workgroup_size_z, "
		       "grid_size_x, grid_size_y, grid_size_z, extdata) VALUES (1, 1, 1, 1, %lld, 1, "
		       "1, %lld, %lld, %lld, %lld, %lld, %lld, %lld, %lld, %lld, %lld, %Q)",
		       s->suffix, rocpd_known(l->dispatch, 0), s->start_ns, s->end_ns, scratch, lds,
		       rocpd_known(l->workgroup[0], 0), rocpd_known(l->workgroup[1], 0),
		       rocpd_known(l->workgroup[2], 0), rocpd_known(l->grid[0], 0),
		       rocpd_known(l->grid[1], 0), rocpd_known(l->grid[2], 0), extra_text(s, t));
}

/* Adds a sample on a track: an event and its time. */
static bool rocpd_put_sample(struct rocpd_state *s, uint32_t track, int64_t at_ns,
	const char *extra, struct incore_error *e)
{
	s->n_events++;
	return sqlite_out_put(s->db, e,
		"INSERT INTO rocpd_event%s (id, category_id, extdata) VALUES (%llu, %u, %Q);"
		"INSERT INTO rocpd_sample%s (track_id, timestamp, event_id) VALUES (%u, %lld, %llu)",
		s->suffix, (unsigned long long)s->n_events, track, extra, s->suffix, track,
		(long long)at_ns, (unsigned long long)s->n_events);
}

static bool rocpd_put_track(struct rocpd_state *s, const char *name, struct incore_error *e)
{
	s->n_series++;
	return sqlite_out_put(s->db, e,
		"INSERT INTO rocpd_string%s (id, string) VALUES (%u, %Q || ' ' || %u);"
		"INSERT INTO rocpd_track%s (id, nid, pid, name_id) VALUES (%u, 1, 1, %u)",
		s->suffix, s->n_series, name, s->n_series, s->suffix, s->n_series, s->n_series);
}

/* Adds PC samples, which are counts by row: one sample per row and reason, with its count. */
static bool put_row_sample(struct rocpd_state *s, const struct code_row *r, const char *reason,
	uint64_t count, struct incore_error *e)
{
	struct json_writer w;

	if (!count)
		return true;
	sb_reset(&s->text);
	json_w_buf(&w, &s->text, 0);
	json_w_object(&w);
	json_w_kv_i64(&w, "row", r->number);
	json_w_kv_u64(&w, "address", r->address);
	json_w_kv_str(&w, "isa", (struct str){r->text, r->text_len});
	if (r->source && r->source[0])
		json_w_kv_cstr(&w, "source", r->source);
	json_w_kv_cstr(&w, "reason", reason);
	json_w_kv_u64(&w, "count", count);
	json_w_end(&w);
	return s->text.failed ? err_nomem(e)
			      : rocpd_put_sample(s, s->n_series, s->start_ns, s->text.p, e);
}

static bool put_pc_samples(struct rocpd_state *s, const struct trace *t, struct incore_error *e)
{
	if (!t->samples)
		return true;
	if (!rocpd_put_track(s, "PC samples", e))
		return false;
	for (code_idx i = 0; i < t->n_code; i++) {
		const struct reason_count *r = trace_reasons_of(t, i);
		uint64_t left = t->samples[i].stalled;

		if (t->code[i].is_label)
			continue; /* not counted by any verb */
		if (!put_row_sample(s, &t->code[i], "issued", t->samples[i].issued, e))
			return false;
		for (uint32_t k = 0; k < t->n_reasons; k++) {
			uint64_t n = r[k].all < left ? r[k].all : left;

			left -= n;
			if (!put_row_sample(s, &t->code[i], t->reasons[k], n, e))
				return false;
		}
		if (!put_row_sample(s, &t->code[i], "stalled", left, e))
			return false;
	}
	return true;
}

static bool rocpd_begin(struct export *x, struct incore_error *e)
{
	struct rocpd_state *s = mem_zalloc(1, sizeof(*s));
	const struct trace *t = x->trace;

	if (!s)
		return err_nomem(e);
	x->state = s;
	make_guid(s, t);
	find_times(s, x);
	return sqlite_out_open(x, "", &s->db, e) && create_tables(s, e) &&
	       rocpd_put_machine(s, t, e) && rocpd_put_launch(s, t, e) &&
	       (!s->text.failed || err_nomem(e)) && put_pc_samples(s, t, e) &&
	       export_cut(x, "waves with their instructions", "this format has no place for them",
		       t->n_tracks, e);
}

static bool rocpd_counter(struct export *x, const struct export_sample *v, struct incore_error *e)
{
	struct rocpd_state *s = x->state;
	const struct counter_series *c = v->series;
	double value = export_level(c, v->value);

	if (c != s->series) {
		s->series = c;
		if (!rocpd_put_track(s, c->name, e) ||
			!sqlite_out_put(s->db, e,
				"INSERT INTO rocpd_info_pmc%s (id, nid, pid, agent_id, target_arch, "
				"name, symbol, units, value_type, instance_id) "
				"VALUES (%u, 1, 1, 1, 'GPU', %Q, %Q, %Q, %Q, %u)",
				s->suffix, s->n_series, c->name, c->name, c->unit ? c->unit : "",
				c->unit ? "ABS" : "RELATIVE", c->clock))
			return false;
	}
	return rocpd_put_sample(
		       s, s->n_series, s->start_ns + rocpd_ns_of(x->trace, v->time_cyc), "{}", e) &&
	       sqlite_out_put(s->db, e,
		       "INSERT INTO rocpd_pmc_event%s (event_id, pmc_id, value) "
		       "VALUES (%llu, %u, %!.17g)",
		       s->suffix, (unsigned long long)s->n_events, s->n_series, value);
}

static bool rocpd_end(struct export *x, struct incore_error *e)
{
	return sqlite_out_close(&((struct rocpd_state *)x->state)->db, e);
}

static void rocpd_free_state(struct export *x)
{
	struct rocpd_state *s = x->state;

	if (!s)
		return;
	sqlite3_close(s->db);
	sb_free(&s->text);
	mem_free(s);
	x->state = NULL;
}

const struct export_ops export_rocpd = {
	.name = "rocpd",
	.suffix = ".db",
	.media_type = "application/vnd.sqlite3",
	.summary = "kernel, launch and samples as rocprofv3's database",
	.holds = EXPORT_COUNTERS | EXPORT_SAMPLES,
	.takes_sums = true,
	.needs_name = true,
	.begin = rocpd_begin,
	.counter = rocpd_counter,
	.lost = export_note_told,
	.truncated = export_note_told,
	.end = rocpd_end,
	.abort = rocpd_free_state,
};
