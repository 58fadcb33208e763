/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocpd_read.c: the tables of rocprofv3's schema, version 3: launches, calls, copies, markers,
 * counters, and the PC samples of our own exports. Names of tables end with the id of their run; a
 * merged database has several sets of tables.
 */
#include <sqlite3.h>
#include <stdio.h>

#include "codec/json_reader.h"
#include "import/timeline/rocpd.h"

#define MAX_RUNS 256u
#define MAX_NAME 200u
#define OUR_TRACK "PC samples"

struct reading {
	struct roctrace *r;
	struct sample_set *samples;
	struct rocpd_db db;
	struct incore_error *e;
	const char *suffix; /* of the run being read */
	struct strbuf text; /* JSON of a cell, with padding */
	bool is_nomem;	    /* latched by functions that return texts */
};

static bool no_memory(struct reading *x)
{
	return err_nomem(x->e);
}

static const char *copied(struct reading *x, struct str s)
{
	return arena_strndup(&x->r->t->arena, s.n ? s.p : "", s.n);
}

/* --- JSON in cells --- */

/* A member of a flat object, as text or number; "": no such member, or not such an object. */
static struct str member_of(struct reading *x, struct str json, const char *name, uint64_t *number)
{
	struct json_reader r;
	struct str key, found = {"", 0}, s;

	sb_reset(&x->text);
	sb_str(&x->text, json);
	if (!sb_reserve(&x->text, JSON_PAD)) {
		x->is_nomem = true;
		return found;
	}
	memset(x->text.p + x->text.n, 0, JSON_PAD);
	json_init(&r, x->text.p, x->text.n, NULL, 0);
	for (json_enter_object(&r); json_next_key(&r, &key);) {
		bool is_it = str_is(key, name);

		if (is_it && json_peek(&r) == JSON_STRING && json_get_str(&r, &s)) {
			found.p = copied(x, s);
			found.n = s.n;
			x->is_nomem |= !found.p;
		} else if (is_it && number && json_peek(&r) == JSON_NUMBER) {
			json_get_u64(&r, number);
		} else {
			json_skip(&r);
		}
	}
	x->is_nomem |= r.is_failed && !strcmp(r.fail_code, "no-memory");
	json_deinit(&r);
	return found.p ? found : (struct str){"", 0};
}

/* --- tables: queries, and the content of rows --- */

enum {
	D_START,
	D_END,
	D_PID,
	D_AGENT,
	D_QUEUE,
	D_DISPATCH,
	D_KERNEL,
	D_EVENT,
	D_STACK,
	D_NAME,
	D_DISPLAY,
	D_EXTRA,
	D_LDS,
	D_SCRATCH,
	D_SGPRS,
	D_VGPRS,
	D_ACCUM,
	D_SIZES
};

/* A size that cannot be 0: 0 means unknown. */
static int64_t size_of(sqlite3_stmt *q, int column)
{
	int64_t v = rocpd_number(q, column);

	return v ? v : NO_VALUE;
}

static struct trace_launch launch_of(sqlite3_stmt *q)
{
	struct trace_launch l = trace_no_launch();

	l.agent = rocpd_number(q, D_AGENT);
	l.dispatch = rocpd_number(q, D_DISPATCH);
	l.kernel_id = rocpd_number(q, D_KERNEL);
	l.start_ns = rocpd_number(q, D_START);
	l.end_ns = rocpd_number(q, D_END);
	l.lds_bytes = rocpd_number(q, D_LDS);
	l.scratch_bytes = rocpd_number(q, D_SCRATCH);
	l.sgprs = size_of(q, D_SGPRS);
	l.vgprs = size_of(q, D_VGPRS);
	l.accum_vgprs = rocpd_number(q, D_ACCUM);
	for (int i = 0; i < 3; i++) {
		l.workgroup[i] = size_of(q, D_SIZES + i);
		l.grid[i] = size_of(q, D_SIZES + 3 + i);
	}
	return l;
}

/* Every row of a span begins with start, end, pid, thread or agent. */
static struct roctrace_span span_of(sqlite3_stmt *q, enum roctrace_lane lane)
{
	return (struct roctrace_span){.lane = lane,
		.from_ns = rocpd_number(q, 0),
		.to_ns = rocpd_number(q, 1),
		.pid = rocpd_number(q, 2),
		.of = rocpd_number(q, 3),
		.queue = NO_VALUE,
		.stack = NO_VALUE,
		.event = NO_VALUE};
}

static bool take_dispatch(struct reading *x, sqlite3_stmt *q)
{
	struct roctrace_span s = span_of(q, LANE_QUEUE);
	struct trace_launch l = launch_of(q);

	s.queue = rocpd_number(q, D_QUEUE);
	s.event = rocpd_number(q, D_EVENT);
	s.stack = rocpd_number(q, D_STACK);
	s.name = rocpd_text(q, D_DISPLAY).n ? rocpd_text(q, D_DISPLAY) : rocpd_text(q, D_NAME);
	s.category = STR("KERNEL_DISPATCH");
	if (x->r->launch.launch_count == NO_VALUE)
		x->r->evidence = member_of(x, rocpd_text(q, D_EXTRA), "evidence", NULL).p;
	return roctrace_add_launch(x->r, &s, &l) || no_memory(x);
}

/* start, end, pid, target, name, stack */
static bool take_copy(struct reading *x, sqlite3_stmt *q)
{
	struct roctrace_span s = span_of(q, LANE_COPIES);

	s.name = rocpd_text(q, 4);
	s.category = STR("MEMORY_COPY");
	s.stack = rocpd_number(q, 5);
	return roctrace_add(x->r, &s) || no_memory(x);
}

/* start, end, pid, agent, type, level */
static bool take_memory(struct reading *x, sqlite3_stmt *q)
{
	struct roctrace_span s = span_of(q, LANE_MEMORY);
	char name[64];

	snprintf(name, sizeof(name), "%.*s %.*s", STR_ARG(str_sub(rocpd_text(q, 4), 0, 20)),
		STR_ARG(str_sub(rocpd_text(q, 5), 0, 20)));
	s.name = str_trim(str_of(name));
	s.category = STR("MEMORY_ALLOCATION");
	return roctrace_add(x->r, &s) || no_memory(x);
}

/* start, end, pid, tid, name, category, extdata, stack */
static bool take_region(struct reading *x, sqlite3_stmt *q)
{
	struct roctrace_span s = span_of(q, LANE_THREAD);
	struct str message;

	s.name = rocpd_text(q, 4);
	s.category = rocpd_text(q, 5);
	s.stack = rocpd_number(q, 7);
	if (str_starts(s.category, "MARKER")) {
		message = member_of(x, rocpd_text(q, 6), "message", NULL);
		s.name = message.n ? message : s.name;
		s.lane = LANE_MARKERS;
	}
	return roctrace_add(x->r, &s) || no_memory(x);
}

/* One of our samples: the count of a row for a reason. */
static bool take_our_sample(struct reading *x, struct str extra)
{
	struct sample_set *s = x->samples;
	struct str isa = member_of(x, extra, "isa", NULL),
		   reason = member_of(x, extra, "reason", NULL);
	struct sampled_row row = {.text = intern_add(&s->texts, isa),
		.where = intern_add(&s->texts, member_of(x, extra, "source", NULL)),
		.kernel = samples_kernel(s, 0)};
	uint64_t count = 0;
	unsigned k = 0;

	member_of(x, extra, "address", &row.address);
	member_of(x, extra, "row", &row.number);
	member_of(x, extra, "count", &count);
	while (k < AMD_STALL_REASONS && !str_is(reason, amd_stall_reasons[k]))
		k++;
	if (str_is(reason, "issued")) {
		k = SAMPLE_ISSUED;
	} else if (str_is(reason, "not-told")) {
		k = SAMPLE_NOT_TOLD;
		s->is_host_trap = true;
	} else if (k == AMD_STALL_REASONS) { /* "stalled", or the reason of another vendor */
		x->r->n_damaged += !str_is(reason, "stalled");
		k = 0;
	}
	return (row.text != INTERN_NONE && row.where != INTERN_NONE && row.kernel != UINT32_MAX &&
		       samples_add(s, &row, k, count)) ||
	       no_memory(x);
}

/* time, event, pid, tid, track name, extdata; without a message it belongs to a counter */
static bool take_sample(struct reading *x, sqlite3_stmt *q)
{
	struct roctrace_span s = span_of(q, LANE_MARKERS);

	if (str_starts(rocpd_text(q, 4), OUR_TRACK))
		return take_our_sample(x, rocpd_text(q, 5));
	s.event = rocpd_number(q, 1);
	s.to_ns = s.from_ns;
	s.category = rocpd_text(q, 4);
	s.name = member_of(x, rocpd_text(q, 5), "message", NULL);
	return (s.name.n ? roctrace_add(x->r, &s) : roctrace_know_time(x->r, s.event, s.from_ns)) ||
	       no_memory(x);
}

/* id, name, units */
static bool take_counter(struct reading *x, sqlite3_stmt *q)
{
	return roctrace_add_counter(x->r, rocpd_number(q, 0), rocpd_text(q, 1), rocpd_text(q, 2)) ||
	       no_memory(x);
}

/* event, counter, value */
static bool take_value(struct reading *x, sqlite3_stmt *q)
{
	return roctrace_add_value(
		       x->r, rocpd_number(q, 0), rocpd_number(q, 1), sqlite3_column_double(q, 2)) ||
	       no_memory(x);
}

/* type, name, product */
static bool take_agent(struct reading *x, sqlite3_stmt *q)
{
	if (!str_is(rocpd_text(q, 0), "GPU") || x->r->arch || !rocpd_text(q, 1).n)
		return true;
	x->r->arch = copied(x, rocpd_text(q, 1));
	x->r->product = rocpd_text(q, 2).n ? copied(x, rocpd_text(q, 2)) : NULL;
	return x->r->arch || no_memory(x);
}

static bool take_command(struct reading *x, sqlite3_stmt *q)
{
	struct str command = rocpd_text(q, 0);

	if (!x->r->command && command.n)
		x->r->command = copied(x, command);
	return !command.n || x->r->command || no_memory(x);
}

#define EVENT "LEFT JOIN \"rocpd_event%w\" e ON e.id = "

/* The order matters: calls refer to what they started, counters to the time of their event. */
static const struct {
	const char *sql;
	bool (*take)(struct reading *x, sqlite3_stmt *q);
} tables[] = {
	{"SELECT type, name, product_name FROM \"rocpd_info_agent%w\" ORDER BY id", take_agent},
	{"SELECT command FROM \"rocpd_info_process%w\" ORDER BY id", take_command},
	{"SELECT d.start, d.\"end\", d.pid, d.agent_id, d.queue_id, d.dispatch_id, d.kernel_id, "
	 "d.event_id, e.stack_id, k.kernel_name, k.display_name, d.extdata, d.group_segment_size, "
	 "d.private_segment_size, k.sgpr_count, k.arch_vgpr_count, k.accum_vgpr_count, "
	 "d.workgroup_size_x, d.workgroup_size_y, d.workgroup_size_z, d.grid_size_x, d.grid_size_y, "
	 "d.grid_size_z FROM \"rocpd_kernel_dispatch%w\" d LEFT JOIN \"rocpd_info_kernel_symbol%w\" k "
	 "ON k.id = d.kernel_id " EVENT "d.event_id",
		take_dispatch},
	{"SELECT m.start, m.\"end\", m.pid, m.dst_agent_id, s.string, e.stack_id "
	 "FROM \"rocpd_memory_copy%w\" m LEFT JOIN \"rocpd_string%w\" s ON s.id = m.name_id " EVENT
	 "m.event_id",
		take_copy},
	{"SELECT start, \"end\", pid, agent_id, type, level FROM \"rocpd_memory_allocate%w\"",
		take_memory},
	{"SELECT r.start, r.\"end\", r.pid, r.tid, s.string, c.string, e.extdata, e.stack_id "
	 "FROM \"rocpd_region%w\" r LEFT JOIN \"rocpd_string%w\" s ON s.id = r.name_id " EVENT
	 "r.event_id LEFT JOIN \"rocpd_string%w\" c ON c.id = e.category_id",
		take_region},
	{"SELECT s.timestamp, s.event_id, t.pid, t.tid, n.string, e.extdata "
	 "FROM \"rocpd_sample%w\" s LEFT JOIN \"rocpd_track%w\" t ON t.id = s.track_id LEFT JOIN "
	 "\"rocpd_string%w\" n ON n.id = t.name_id " EVENT "s.event_id",
		take_sample},
	{"SELECT id, name, units FROM \"rocpd_info_pmc%w\" ORDER BY id", take_counter},
	{"SELECT event_id, pmc_id, value FROM \"rocpd_pmc_event%w\"", take_value},
};

static bool read_table(struct reading *x, unsigned i)
{
	const char *s = x->suffix;
	sqlite3_stmt *q;
	bool at_end = false, ok = true;

	/* no query names more than four tables */
	if (!rocpd_db_prepare(&x->db, &q, x->e, tables[i].sql, s, s, s, s))
		return false;
	while (ok && rocpd_db_step(&x->db, &q, &at_end, x->e))
		ok = tables[i].take(x, q) && (!x->is_nomem || no_memory(x));
	sqlite3_finalize(q);
	return ok && at_end;
}

static bool read_version(struct reading *x)
{
	const char **to = &x->r->version;
	bool at_end = false;
	sqlite3_stmt *q;

	if (!rocpd_db_prepare(
		    &x->db, &q, x->e, "SELECT tag, value FROM \"rocpd_metadata%w\"", x->suffix))
		return false;
	while (rocpd_db_step(&x->db, &q, &at_end, x->e))
		if (str_is(rocpd_text(q, 0), "schema_version"))
			*to = copied(x, rocpd_text(q, 1));
	if (!at_end)
		return false;
	if (!*to || (strcmp(*to, "3") != 0 && strncmp(*to, "3.", 2) != 0))
		return err_file(x->e, "unknown-version", x->db.path, INCORE_NO_OFFSET,
			"its schema is of version %s; 3 is what is read", *to ? *to : "(none)");
	return true;
}

static bool read_run(struct reading *x)
{
	if (!read_version(x))
		return false;
	for (unsigned i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (!read_table(x, i))
			return err_wrap(x->e, "reading the database of rocprofv3");
	return roctrace_end_run(x->r) || no_memory(x);
}

/* Finds the runs of the database: the suffixes of tables named "rocpd_metadata...". */
static bool find_runs(struct reading *x, const char **suffixes, uint32_t *n)
{
	bool at_end = false;
	sqlite3_stmt *q;

	if (!rocpd_db_prepare(&x->db, &q, x->e, "SELECT type, name FROM sqlite_master"))
		return false;
	while (rocpd_db_step(&x->db, &q, &at_end, x->e)) {
		struct str name = rocpd_text(q, 1);

		if (!str_is(rocpd_text(q, 0), "table") || !str_starts(name, "rocpd_metadata") ||
			name.n > MAX_NAME || *n == MAX_RUNS)
			continue;
		suffixes[*n] = copied(x, str_sub(name, strlen("rocpd_metadata"), name.n));
		if (!suffixes[(*n)++]) {
			sqlite3_finalize(q);
			return no_memory(x);
		}
	}
	return at_end;
}

static bool read_runs(struct reading *x)
{
	const char *suffixes[MAX_RUNS];
	uint32_t n = 0;

	if (!find_runs(x, suffixes, &n))
		return false;
	if (!n)
		return err_file(x->e, "not-rocpd", x->db.path, INCORE_NO_OFFSET,
			"the database has no tables of rocprofv3");
	for (x->r->number = 0; x->r->number < n; x->r->number++) {
		x->suffix = suffixes[x->r->number];
		if (!read_run(x))
			return false;
	}
	return true;
}

bool rocpd_load(
	struct rocpd *r, const void *data, size_t size, const char *path, struct incore_error *e)
{
	struct reading x = {.r = &r->run, .samples = &r->samples, .e = e};
	bool ok = rocpd_db_open(&x.db, data, size, path, e) && read_runs(&x);

	ok = ok && (samples_finish(&r->samples) || err_nomem(e));
	rocpd_db_close(&x.db);
	sb_free(&x.text);
	return ok;
}
