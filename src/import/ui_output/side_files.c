/* SPDX-License-Identifier: Apache-2.0 */
/*
 * side_files.c: finds the files that rocprofv3 wrote around a directory (beside it, and in plain
 * folders beside it such as compute/), reads each, and sets machine and launch in the trace.
 * Nothing is taken from a file unless it provably belongs to this capture.
 *
 * Parts: CSV files; results.json; the files around a capture.
 */
#include "import/ui_output/side_files.h"

#include <errno.h>

#include "base/hash.h"
#include "base/search.h"
#include "codec/csv.h"
#include "import/capture_cache.h"

/* --- CSV files -------------------------------------------------------------------------------- */

/*
 * The CSV files around a capture: agent_info (the machine), kernel_trace (the launch) and stats
 * (the producer's totals once more).
 */

/* The field as a non-negative number; NO_VALUE if it is not one. */
static int64_t field_number(const struct csv_reader *c, int column)
{
	uint64_t v;

	if (!ui_decimal(str_trim(csv_field(c, column)), &v) || v > INT64_MAX)
		return NO_VALUE;
	return (int64_t)v;
}

static int64_t side_number_of(const struct csv_reader *c, const char *name)
{
	return field_number(c, csv_column(c, name));
}

static const char *side_text_of(struct ui_build *b, const struct csv_reader *c, const char *name)
{
	struct str s = csv_field(c, csv_column(c, name));

	return s.n ? arena_strndup(&b->trace->arena, s.p, s.n) : NULL;
}

/* --- agent_info.csv --- */

static void read_machine(struct ui_build *b, const struct csv_reader *c, struct side_machine *m)
{
	int64_t kb = side_number_of(c, "Lds_Size_In_Kb");

	*m = side_no_machine();
	m->is_known = true;
	m->node = side_number_of(c, "Node_Id");
	m->m.simds = side_number_of(c, "Simd_Count");
	m->m.cus = side_number_of(c, "Cu_Count");
	m->m.ses = side_number_of(c, "Num_Shader_Banks");
	m->m.xccs = side_number_of(c, "Num_Xcc");
	m->m.max_waves_per_simd = side_number_of(c, "Max_Waves_Per_Simd");
	m->m.lds_bytes_per_cu = kb == NO_VALUE || kb > INT64_MAX / 1024 ? NO_VALUE : kb * 1024;
	m->m.wave_size = side_number_of(c, "Wave_Front_Size");
	m->m.max_clock_mhz = side_number_of(c, "Max_Engine_Clk_Fcompute");
	m->m.product = side_text_of(b, c, "Product_Name");
	m->arch = side_text_of(b, c, "Name");
	m->source = "agent_info";
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_machine(const struct side_machine *a, const struct side_machine *b)
{
	return a->m.simds == b->m.simds && a->m.cus == b->m.cus && a->m.ses == b->m.ses &&
	       a->m.xccs == b->m.xccs && a->m.max_waves_per_simd == b->m.max_waves_per_simd &&
	       a->m.lds_bytes_per_cu == b->m.lds_bytes_per_cu && a->m.wave_size == b->m.wave_size &&
	       a->m.max_clock_mhz == b->m.max_clock_mhz && same_text(a->m.product, b->m.product) &&
	       same_text(a->arch, b->arch);
}

/* The agent of our node if it is known; otherwise any GPU, as long as all are alike. */
bool ui_agent_info_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e)
{
	struct side_reader *s = b->side;
	struct side_machine first = side_no_machine(), one;
	struct csv_reader c;
	bool at_end = false, are_alike = true, ok;

	csv_init(&c, in.p, in.n, in.path);
	ok = csv_header(&c, e);
	while (ok && csv_row(&c, &at_end, e)) {
		if (!str_is(csv_field(&c, csv_column(&c, "Agent_Type")), "GPU"))
			continue;
		read_machine(b, &c, &one);
		if (s->launch.is_known && s->launch.node != NO_VALUE &&
			one.node == s->launch.node) {
			first = one;
			are_alike = true;
			at_end = true;
			break;
		}
		if (!first.is_known)
			first = one;
		else if (!same_machine(&first, &one))
			are_alike = false;
	}
	csv_deinit(&c);
	if (!at_end)
		return false;
	if (first.is_known && are_alike && !s->machine.is_known)
		s->machine = first;
	return true;
}

/* --- kernel_trace.csv --- */

/* "name", "name.kd", the demangled name, or its bare function name when names were truncated. */
static bool is_our_kernel(const struct ui_build *b, struct str name)
{
	const char *kernel = b->trace->meta.kernel;
	struct str full = str_of(b->kernel_demangled), bare;
	ptrdiff_t paren;

	if (!kernel)
		return true;
	if (str_ends(name, ".kd"))
		name.n -= 3;
	if (str_is(name, kernel))
		return true;
	if (!full.n || str_eq(name, full))
		return full.n > 0;
	paren = str_find(full, "(");
	bare = paren > 0 ? str_sub(full, 0, (size_t)paren) : full;
	paren = str_find(bare, "<");
	if (paren > 0)
		bare = str_sub(bare, 0, (size_t)paren);
	for (ptrdiff_t at; (at = str_find(bare, "::")) >= 0 || (at = str_find(bare, " ")) >= 0;)
		bare = str_sub(bare, (size_t)at + (bare.p[at] == ':' ? 2 : 1), bare.n);
	return bare.n && str_eq(name, bare);
}

/* "Agent 7" */
static int64_t agent_node(struct str s)
{
	uint64_t v;

	return str_starts(s, "Agent ") && ui_decimal(str_sub(s, 6, s.n), &v) && v < INT64_MAX
		       ? (int64_t)v
		       : NO_VALUE;
}

static void side_read_launch(struct side_reader *s, const struct csv_reader *c)
{
	static const char *const workgroup[] = {
		"Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z"};
	static const char *const grid[] = {"Grid_Size_X", "Grid_Size_Y", "Grid_Size_Z"};
	struct side_launch l = side_no_launch();

	l.is_known = true;
	l.node = agent_node(csv_field(c, csv_column(c, "Agent_Id")));
	l.l.kernel_id = side_number_of(c, "Kernel_Id");
	l.l.vgprs = side_number_of(c, "VGPR_Count");
	l.l.accum_vgprs = side_number_of(c, "Accum_VGPR_Count");
	l.l.sgprs = side_number_of(c, "SGPR_Count");
	l.l.lds_bytes = side_number_of(c, "LDS_Block_Size");
	l.l.scratch_bytes = side_number_of(c, "Scratch_Size");
	l.l.start_ns = side_number_of(c, "Start_Timestamp");
	l.l.end_ns = side_number_of(c, "End_Timestamp");
	for (int i = 0; i < 3; i++) {
		l.l.workgroup[i] = side_number_of(c, workgroup[i]);
		l.l.grid[i] = side_number_of(c, grid[i]);
	}
	l.l.is_other_run = s->is_other_run;
	s->launch = l;
}

/* Dispatch ids are process-wide, so at most one row is ours, by id and name. */
static bool is_our_row(const struct side_reader *s, const struct csv_reader *c)
{
	const struct trace_launch *l = &s->b->trace->meta.launch;
	int64_t node = agent_node(csv_field(c, csv_column(c, "Agent_Id")));

	if (side_number_of(c, "Dispatch_Id") != l->dispatch || l->dispatch == NO_VALUE)
		return false;
	if (!is_our_kernel(s->b, csv_field(c, csv_column(c, "Kernel_Name"))))
		return false;
	/* a discovery run may have used another GPU */
	return s->is_other_run || !s->machine.is_known || node == s->machine.node;
}

static bool pass_over(
	struct side_reader *s, struct ui_bytes in, bool is_counting, struct incore_error *e)
{
	struct trace_launch *l = &s->launch.l;
	struct csv_reader c;
	bool at_end = false, ok;

	csv_init(&c, in.p, in.n, in.path);
	ok = csv_header(&c, e);
	while (ok && csv_row(&c, &at_end, e)) {
		if (!is_counting) {
			if (is_our_row(s, &c))
				side_read_launch(s, &c);
		} else if (side_number_of(&c, "Kernel_Id") == l->kernel_id) {
			l->launch_count++;
			l->launch_index += side_number_of(&c, "Dispatch_Id") <=
					   s->b->trace->meta.launch.dispatch;
		}
	}
	csv_deinit(&c);
	return at_end;
}

bool ui_kernel_trace_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e)
{
	struct side_reader *s = b->side;

	if (s->launch.is_known)
		return true;
	if (!pass_over(s, in, false, e))
		return false;
	if (!s->launch.is_known || s->launch.l.kernel_id == NO_VALUE)
		return true;
	s->launch.l.launch_count = 0;
	s->launch.l.launch_index = 0;
	return pass_over(s, in, true, e);
}

/* --- stats_<directory>.csv --- */

static uint64_t side_row_key(uint64_t code_object, uint64_t address)
{
	return hash_mix64(address) ^ hash_mix64(~code_object);
}

static bool side_index_rows(const struct trace *t, struct u64_map *rows)
{
	for (uint32_t i = 0; i < t->n_code; i++) {
		const struct code_row *r = &t->code[i];
		uint64_t *slot;

		if (r->is_label)
			continue;
		slot = u64_map_at(rows, side_row_key(r->code_object, r->address));
		if (!slot)
			return false;
		*slot = (uint64_t)i + 1;
	}
	return true;
}

static bool row_agrees(
	const struct trace *t, const struct csv_reader *c, const struct u64_map *rows)
{
	int64_t object = side_number_of(c, "CodeObj"), address = side_number_of(c, "Vaddr");
	const uint64_t *slot =
		u64_map_find(rows, side_row_key((uint64_t)object, (uint64_t)address));
	const struct code_totals *s;

	if (str_starts(csv_field(c, csv_column(c, "Instruction")), ";"))
		return true;
	if (!slot || !*slot || t->code[*slot - 1].address != (uint64_t)address)
		return false;
	s = &t->code[*slot - 1].stated;
	return (uint64_t)side_number_of(c, "Hitcount") == s->hit &&
	       (uint64_t)side_number_of(c, "Latency") == s->latency &&
	       (uint64_t)side_number_of(c, "Stall") == s->stall &&
	       (uint64_t)side_number_of(c, "Idle") == s->idle;
}

bool ui_stats_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e)
{
	struct trace *t = b->trace;
	struct u64_map rows = {0};
	struct csv_reader c;
	uint64_t n_differ = 0, n = 0;
	bool at_end = false, ok;

	csv_init(&c, in.p, in.n, in.path);
	ok = csv_header(&c, e) && (side_index_rows(t, &rows) || err_nomem(e));
	while (ok && csv_row(&c, &at_end, e)) {
		n++;
		n_differ += !row_agrees(t, &c, &rows);
	}
	csv_deinit(&c);
	u64_map_deinit(&rows);
	if (!ok || !at_end)
		return false;
	if (n_differ &&
		!trace_note(t, "stats-csv-differs", in.path, INCORE_NO_OFFSET, n_differ,
			"%llu of %llu rows of %s differ from code.json",
			(unsigned long long)n_differ, (unsigned long long)n, path_base(in.path)))
		return err_nomem(e);
	return true;
}

/* --- results.json ----------------------------------------------------------------------------- */

/*
 * Data of results.json of the same run: the agent by its handle, the kernel's symbol, the command,
 * the list of traced dispatches. Host name and machine id are in it too and are never read.
 */

struct side_results {
	struct side_reader *s;
	struct json_reader r;
	struct side_machine machine; /* of our agent handle */
	struct side_launch symbol;   /* of our kernel; by code object if that matches */
	bool is_symbol_exact, are_symbols_alike;
	struct strbuf command;
	VEC(int64_t) traced; /* dispatches of our agent */
	uint64_t n_att, n_att_ours;
	bool is_nomem;
};

static void side_fail_nomem(struct side_results *x)
{
	x->is_nomem = true;
	json_reject(&x->r, "no-memory", "out of memory");
}

static const char *side_get_text(struct side_results *x)
{
	struct str s;
	const char *p = NULL;

	if (!json_get_str_or_null(&x->r, &s) || !s.n)
		return NULL;
	p = arena_strndup(&x->s->b->trace->arena, s.p, s.n);
	if (!p)
		side_fail_nomem(x);
	return p;
}

/* Reads a number; NO_VALUE for anything else. */
static int64_t side_get_number(struct json_reader *r)
{
	int64_t v = NO_VALUE;

	if (json_peek(r) == JSON_NUMBER)
		json_get_i64(r, &v);
	else
		json_skip(r);
	return v;
}

/* {"handle": 14705} */
static int64_t get_handle(struct json_reader *r)
{
	int64_t v = NO_VALUE;
	struct str key;

	if (!json_enter_object_or_null(r))
		return v;
	while (json_next_key(r, &key)) {
		if (str_is(key, "handle"))
			v = side_get_number(r);
		else
			json_skip(r);
	}
	return v;
}

static void read_agent_key(struct side_results *x, struct str key, struct side_machine *m)
{
	struct json_reader *r = &x->r;
	int64_t kb;

	if (str_is(key, "node_id")) {
		m->node = side_get_number(r);
	} else if (str_is(key, "simd_count")) {
		m->m.simds = side_get_number(r);
	} else if (str_is(key, "cu_count")) {
		m->m.cus = side_get_number(r);
	} else if (str_is(key, "num_shader_banks")) {
		m->m.ses = side_get_number(r);
	} else if (str_is(key, "num_xcc")) {
		m->m.xccs = side_get_number(r);
	} else if (str_is(key, "max_waves_per_simd")) {
		m->m.max_waves_per_simd = side_get_number(r);
	} else if (str_is(key, "lds_size_in_kb")) {
		kb = side_get_number(r);
		m->m.lds_bytes_per_cu = kb < 0 || kb > INT64_MAX / 1024 ? NO_VALUE : kb * 1024;
	} else if (str_is(key, "wave_front_size")) {
		m->m.wave_size = side_get_number(r);
	} else if (str_is(key, "max_engine_clk_fcompute")) {
		m->m.max_clock_mhz = side_get_number(r);
	} else if (str_is(key, "product_name")) {
		m->m.product = side_get_text(x);
	} else if (str_is(key, "name")) {
		m->arch = side_get_text(x);
	} else {
		json_skip(r);
	}
}

static void read_agents(struct side_results *x)
{
	struct json_reader *r = &x->r;
	int64_t ours = x->s->b->trace->meta.launch.agent;
	struct str key;

	if (!json_enter_array_or_null(r))
		return;
	while (json_next_item(r)) {
		struct side_machine m = side_no_machine();
		int64_t handle = NO_VALUE;

		if (!json_enter_object(r))
			return;
		while (json_next_key(r, &key)) {
			if (str_is(key, "id"))
				handle = get_handle(r);
			else
				read_agent_key(x, key, &m);
		}
		if (handle == NO_VALUE || handle != ours)
			continue;
		x->machine = m;
		x->machine.is_known = true;
		x->machine.source = "results.json";
	}
}

static void side_read_metadata(struct side_results *x)
{
	struct json_reader *r = &x->r;
	struct str key, s;

	if (!json_enter_object_or_null(r))
		return;
	while (json_next_key(r, &key)) {
		if (!str_is(key, "command")) {
			json_skip(r);
			continue;
		}
		if (!json_enter_array_or_null(r))
			continue;
		while (json_next_item(r) && json_get_str(r, &s)) {
			if (x->command.n)
				sb_putc(&x->command, ' ');
			if (!sb_str(&x->command, s))
				side_fail_nomem(x);
		}
	}
}

/* <out>_<agent>_shader_engine_<se>_<dispatch>.att */
static bool parse_att_name(struct str s, int64_t *agent, int64_t *dispatch)
{
	ptrdiff_t at = str_find(s, "_shader_engine_"), under;
	struct str head, tail;
	uint64_t a, d;

	if (at < 0 || !str_ends(s, ".att"))
		return false;
	head = str_sub(s, 0, (size_t)at);
	tail = str_sub(s, (size_t)at + 15, s.n - (size_t)at - 15 - 4);
	under = str_rfind_char(head, '_');
	head = str_sub(head, (size_t)(under + 1), head.n);
	under = str_rfind_char(tail, '_');
	tail = str_sub(tail, (size_t)(under + 1), tail.n);
	if (!ui_decimal(head, &a) || !ui_decimal(tail, &d) || a > INT64_MAX || d > INT64_MAX)
		return false;
	*agent = (int64_t)a;
	*dispatch = (int64_t)d;
	return true;
}

static void add_att(struct side_results *x, struct str name)
{
	const struct trace_launch *l = &x->s->b->trace->meta.launch;
	int64_t agent, dispatch;

	if (!parse_att_name(name, &agent, &dispatch))
		return;
	x->n_att++;
	if (agent != l->agent)
		return;
	x->n_att_ours += dispatch == l->dispatch;
	for (size_t i = 0; i < x->traced.n; i++)
		if (x->traced.v[i] == dispatch)
			return;
	if (x->traced.n < 4096 && !VEC_PUSH(&x->traced, dispatch))
		side_fail_nomem(x);
}

static void side_read_strings(struct side_results *x)
{
	struct json_reader *r = &x->r;
	struct str key, s;

	if (!json_enter_object_or_null(r))
		return;
	while (json_next_key(r, &key)) {
		if (!str_is(key, "att_filenames"))
			json_skip(r);
		else if (json_enter_array_or_null(r))
			while (json_next_item(r) && json_get_str(r, &s))
				add_att(x, s);
	}
}

static bool same_symbol(const struct trace_launch *a, const struct trace_launch *b)
{
	return a->vgprs == b->vgprs && a->accum_vgprs == b->accum_vgprs && a->sgprs == b->sgprs &&
	       a->lds_bytes == b->lds_bytes && a->scratch_bytes == b->scratch_bytes;
}

static void side_read_symbol(struct side_results *x)
{
	const struct ui_build *b = x->s->b;
	struct json_reader *r = &x->r;
	struct side_launch l = side_no_launch();
	int64_t object = NO_VALUE;
	bool is_ours = false;
	struct str key, name;

	if (!json_enter_object(r))
		return;
	while (json_next_key(r, &key)) {
		if (str_is(key, "kernel_name")) {
			if (!json_get_str_or_null(r, &name))
				return;
			if (str_ends(name, ".kd"))
				name.n -= 3;
			is_ours = b->trace->meta.kernel && str_is(name, b->trace->meta.kernel);
		} else if (str_is(key, "kernel_id")) {
			l.l.kernel_id = side_get_number(r);
		} else if (str_is(key, "code_object_id")) {
			object = side_get_number(r);
		} else if (str_is(key, "group_segment_size")) {
			l.l.lds_bytes = side_get_number(r);
		} else if (str_is(key, "private_segment_size")) {
			l.l.scratch_bytes = side_get_number(r);
		} else if (str_is(key, "sgpr_count")) {
			l.l.sgprs = side_get_number(r);
		} else if (str_is(key, "arch_vgpr_count")) {
			l.l.vgprs = side_get_number(r);
		} else if (str_is(key, "accum_vgpr_count")) {
			l.l.accum_vgprs = side_get_number(r);
		} else {
			json_skip(r);
		}
	}
	if (!is_ours || x->is_symbol_exact)
		return;
	l.is_known = true;
	x->is_symbol_exact = b->has_kernel_object && object == (int64_t)b->kernel_object;
	if (!x->symbol.is_known || x->is_symbol_exact) {
		x->symbol = l;
		x->are_symbols_alike = true;
	} else if (!same_symbol(&x->symbol.l, &l.l)) {
		x->are_symbols_alike = false;
	}
}

static void read_tool(struct side_results *x)
{
	struct json_reader *r = &x->r;
	struct str key;

	if (!json_enter_object_or_null(r))
		return;
	while (json_next_key(r, &key)) {
		if (str_is(key, "agents")) {
			read_agents(x);
		} else if (str_is(key, "metadata")) {
			side_read_metadata(x);
		} else if (str_is(key, "strings")) {
			side_read_strings(x);
		} else if (str_is(key, "kernel_symbols")) {
			if (json_enter_array_or_null(r))
				while (json_next_item(r))
					side_read_symbol(x);
		} else {
			json_skip(r);
		}
	}
}

/* Handles change from run to run: both the agent and the traced dispatch must be in it. */
static bool is_our_run(const struct side_results *x)
{
	return x->machine.is_known && (!x->n_att || x->n_att_ours);
}

static bool side_commit(struct side_results *x, const char *path)
{
	struct side_reader *s = x->s;
	const char *base = path_base(path), *end = strstr(base, "_results.json");

	s->run = arena_strndup(&s->b->scratch, base, end ? (size_t)(end - base) : 0);
	if (!s->run)
		return false;
	s->machine = x->machine;
	if (x->symbol.is_known && (x->is_symbol_exact || x->are_symbols_alike)) {
		s->symbol = x->symbol;
		if (!x->is_symbol_exact)
			s->symbol.l.kernel_id = NO_VALUE;
	}
	if (x->command.n) {
		s->command = arena_strndup(&s->b->trace->arena, x->command.p, x->command.n);
		if (!s->command)
			return false;
	}
	for (size_t i = 0; i < x->traced.n; i++)
		if (!VEC_PUSH(&s->traced, x->traced.v[i]))
			return false;
	return true;
}

bool ui_results_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e)
{
	struct side_results x = {
		.s = b->side, .machine = side_no_machine(), .symbol = side_no_launch()};
	struct str key;
	bool ok;

	if (b->side->run)
		return true;
	json_init(&x.r, in.p, in.n, in.path, 0);
	if (json_enter_object(&x.r))
		while (json_next_key(&x.r, &key)) {
			if (!str_is(key, "rocprofiler-sdk-tool"))
				json_skip(&x.r);
			else if (json_enter_array_or_null(&x.r))
				while (json_next_item(&x.r))
					read_tool(&x);
		}
	ok = json_finish(&x.r, e);
	json_deinit(&x.r);
	if (x.is_nomem || (ok && is_our_run(&x) && !side_commit(&x, in.path)))
		ok = err_nomem(e);
	sb_free(&x.command);
	VEC_FREE(&x.traced);
	return ok;
}

/* --- the files around a capture --------------------------------------------------------------- */

#define MAX_FOLDERS 64
#define MAX_STATS 512 /* directory entries that are checked for being folders */

struct side_machine side_no_machine(void)
{
	struct side_machine m = {.node = NO_VALUE};

	m.m = (struct trace_machine){NO_VALUE, NO_VALUE, NO_VALUE, NO_VALUE, NO_VALUE, NO_VALUE,
		NO_VALUE, NO_VALUE, NULL};
	return m;
}

struct side_launch side_no_launch(void)
{
	struct side_launch l = {.node = NO_VALUE};

	l.l = (struct trace_launch){
		.agent = NO_VALUE,
		.dispatch = NO_VALUE,
		.kernel_id = NO_VALUE,
		.launch_index = NO_VALUE,
		.launch_count = NO_VALUE,
		.vgprs = NO_VALUE,
		.accum_vgprs = NO_VALUE,
		.sgprs = NO_VALUE,
		.lds_bytes = NO_VALUE,
		.scratch_bytes = NO_VALUE,
		.workgroup = {NO_VALUE, NO_VALUE, NO_VALUE},
		.grid = {NO_VALUE, NO_VALUE, NO_VALUE},
		.workgroups = NO_VALUE,
		.waves = NO_VALUE,
		.start_ns = NO_VALUE,
		.end_ns = NO_VALUE,
	};
	return l;
}

/* --- finding files --- */

struct side_folder {
	struct side_reader *s;
	const char *path;
	VEC(const char *) names;
};

static bool side_add_name(void *ctx, const char *name, struct incore_error *e)
{
	struct side_folder *f = ctx;
	const char *copy;

	if (name[0] == '.')
		return true;
	copy = arena_strdup(&f->s->b->scratch, name);
	return (copy && VEC_PUSH(&f->names, copy)) || err_nomem(e);
}

static const char *side_parent_of(struct arena *a, const char *dir)
{
	const char *base = path_base(dir);

	if (!strcmp(base, ".") || !strcmp(base, ".."))
		return arena_printf(a, "%s/..", dir);
	if (base == dir)
		return arena_strdup(a, ".");
	if (base == dir + 1)
		return arena_strdup(a, "/");
	return arena_strndup(a, dir, (size_t)(base - dir) - 1);
}

static bool is_other(const char *path)
{
	return str_starts(str_of(path_base(path)), "discover");
}

static bool side_take_file(struct side_folder *f, const char *name)
{
	struct side_reader *s = f->s;
	struct str n = str_of(name);
	const char *path;

	if (!str_ends(n, ".csv") && !str_ends(n, ".json") && !str_ends(n, ".yaml") &&
		!str_ends(n, ".yml"))
		return true;
	path = arena_printf(&s->b->scratch, "%s/%s", f->path, name);
	if (!path)
		return false;
	if (str_ends(n, "agent_info.csv"))
		return VEC_PUSH(&s->agent_info, path);
	if (str_ends(n, "kernel_trace.csv"))
		return VEC_PUSH(&s->kernel_trace, path);
	if (str_ends(n, "_results.json"))
		return VEC_PUSH(&s->results, path);
	if (str_starts(n, "input") && !str_ends(n, ".csv") && !str_ends(n, ".json"))
		return VEC_PUSH(&s->inputs, path);
	return true;
}

/* If a folder has its own captures, its side files belong to those. */
static bool belongs_to_captures(const struct side_folder *f)
{
	for (size_t i = 0; i < f->names.n; i++)
		if (str_starts(str_of(f->names.v[i]), "ui_output_") ||
			!strcmp(f->names.v[i], "filenames.json"))
			return true;
	return false;
}

/* False: no names. An unreadable folder becomes a note; *ok is false only when out of memory. */
static bool list_folder(struct side_folder *f, bool *ok)
{
	struct incore_error e = {0};
	bool done = dir_each_in(import_fence(f->s->b->options), f->path, side_add_name, f, &e);

	if (!done && err_is(&e, "no-memory"))
		*ok = false;
	else if (!done)
		*ok = trace_note(f->s->b->trace, "unreadable-folder", f->path, INCORE_NO_OFFSET, 1,
			"cannot look for side files: %s", e.message ? e.message : "unreadable");
	incore_error_clear(&e);
	return done;
}

static bool search_folder(struct side_reader *s, const char *path)
{
	struct side_folder f = {.s = s, .path = path};
	bool ok = true;

	if (!list_folder(&f, &ok) || belongs_to_captures(&f))
		goto out;
	for (size_t i = 0; ok && i < f.names.n; i++)
		ok = side_take_file(&f, f.names.v[i]);
out:
	VEC_FREE(&f.names);
	return ok;
}

static bool search_parent(struct side_reader *s)
{
	struct arena *a = &s->b->scratch;
	struct side_folder f = {.s = s, .path = side_parent_of(a, s->b->dir)};
	const char *stats = arena_printf(a, "stats_%s.csv", path_base(s->b->dir));
	unsigned n_folders = 0, n_asked = 0;
	struct stat st;
	bool ok = f.path && stats;

	s->dir = f.path;
	/* if a fence allows only the capture itself, there are no files beside it */
	if (ok && file_stat_in(import_fence(s->b->options), f.path, &st) == EXDEV)
		return true;
	if (!ok || !list_folder(&f, &ok))
		goto out;
	for (size_t i = 0; ok && i < f.names.n; i++) {
		const char *name = f.names.v[i], *path;

		ok = side_take_file(&f, name);
		if (!ok || str_starts(str_of(name), "ui_output_"))
			continue;
		path = arena_printf(a, "%s/%s", f.path, name);
		if (!path)
			ok = false;
		else if (!strcmp(name, stats))
			s->stats = path;
		else if (!strchr(name, '.') && n_asked++ < MAX_STATS &&
			 file_is_dir_in(import_fence(s->b->options), path) &&
			 n_folders++ < MAX_FOLDERS)
			ok = search_folder(s, path);
	}
out:
	VEC_FREE(&f.names);
	return ok;
}

/* --- input*.yaml --- */

static bool side_add_counter(struct side_reader *s, struct str name)
{
	const char *copy;

	name = str_trim(name);
	if (name.n > 1 && (name.p[0] == '"' || name.p[0] == '\''))
		name = str_sub(name, 1, name.n - 2);
	if (!name.n)
		return true;
	copy = arena_strndup(&s->b->scratch, name.p, name.n);
	return copy && VEC_PUSH(&s->pmc, copy);
}

/* Reads the number after a key; it may be quoted or hexadecimal. */
static void take_yaml_value(struct str text, const char *key, int64_t *to)
{
	ptrdiff_t at = str_find(text, key);
	struct str rest;
	uint64_t v;

	if (at < 0)
		return;
	rest = str_sub(text, (size_t)at + strlen(key), text.n);
	for (size_t i = 0; i < rest.n; i++)
		if (rest.p[i] == ',' || rest.p[i] == '}')
			rest.n = i;
	rest = str_trim(rest);
	if (rest.n > 1 && (rest.p[0] == '"' || rest.p[0] == '\''))
		rest = str_sub(rest, 1, rest.n - 2);
	if (str_to_u64(rest, &v) && v < 65536)
		*to = (int64_t)v;
}

static bool take_yaml_line(struct side_reader *s, struct str line, bool *in_pmc)
{
	struct str text = str_trim(line), rest, part;

	if (!text.n || text.p[0] == '#')
		return true;
	take_yaml_value(text, "att_target_cu:", &s->yaml_cu);
	take_yaml_value(text, "att_simd_select:", &s->yaml_simds);
	if (line.p[0] != ' ' && line.p[0] != '\t' && line.p[0] != '-')
		*in_pmc = str_starts(line, "pmc:");
	else if (*in_pmc && text.p[0] == '-')
		return side_add_counter(s, str_sub(text, 1, text.n));
	if (!*in_pmc || !str_starts(line, "pmc:"))
		return true;
	rest = str_trim(str_sub(line, 4, line.n));
	if (rest.n >= 2 && rest.p[0] == '[' && rest.p[rest.n - 1] == ']')
		rest = str_sub(rest, 1, rest.n - 2);
	while (str_cut(&rest, ",", &part))
		if (!side_add_counter(s, part))
			return false;
	return true;
}

bool ui_input_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e)
{
	struct str text = {in.p, in.n}, line;
	bool in_pmc = false;

	if (b->side->pmc.n) /* one file is enough */
		return true;
	while (str_cut(&text, "\n", &line))
		if (line.n && !take_yaml_line(b->side, line, &in_pmc))
			return err_nomem(e);
	return true;
}

/* --- filling the trace --- */

static bool read_each(struct side_reader *s, bool is_other_pass, struct incore_error *e)
{
	struct ui_build *b = s->b;

	for (size_t i = 0; i < s->kernel_trace.n; i++) {
		const char *path = s->kernel_trace.v[i], *base = path_base(path);

		if (is_other(path) != is_other_pass)
			continue;
		s->is_other_run =
			is_other(path) || (s->run && strncmp(base, s->run, strlen(s->run)) != 0);
		if (!ui_optional_path(b, path, ui_kernel_trace_parse, e))
			return false;
	}
	return true;
}

static bool read_files(struct side_reader *s, struct incore_error *e)
{
	struct ui_build *b = s->b;

	for (size_t i = 0; i < s->results.n; i++)
		if (!ui_optional_path(b, s->results.v[i], ui_results_parse, e))
			return false;
	if (!read_each(s, false, e) || !read_each(s, true, e))
		return false;
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < s->agent_info.n && !s->machine.is_known; i++)
			if (is_other(s->agent_info.v[i]) == (pass == 1) &&
				!ui_optional_path(b, s->agent_info.v[i], ui_agent_info_parse, e))
				return false;
	for (size_t i = 0; i < s->inputs.n; i++)
		if (!ui_optional_path(b, s->inputs.v[i], ui_input_parse, e))
			return false;
	return !s->stats || ui_optional_path(b, s->stats, ui_stats_parse, e);
}

/* Major of "gfx950" is 9, of "gfx1100" 11: two digits or letters follow it. */
static unsigned arch_major(const char *arch)
{
	size_t n = strlen(arch);
	uint64_t v;

	if (n < 6 || strncmp(arch, "gfx", 3) != 0 ||
		!ui_decimal((struct str){arch + 3, n - 5}, &v) || v > 99)
		return 0;
	return (unsigned)v;
}

static bool state_machine(struct side_reader *s)
{
	struct trace *t = s->b->trace;
	const struct side_machine *m = &s->machine;

	if (m->is_known && m->arch && t->meta.gfx_major && arch_major(m->arch) != t->meta.gfx_major)
		return trace_note(t, "other-machine", NULL, INCORE_NO_OFFSET, 1,
			"%s names %s, but the capture is of gfx%u: not used", m->source, m->arch,
			t->meta.gfx_major);
	if (m->is_known) {
		t->meta.machine = m->m;
		if (m->arch) {
			t->arch_from = (struct table_name){IMPORT_SIDE_FILES, t->meta.arch};
			t->meta.arch = m->arch;
			t->meta.arch_source = m->source;
		}
	}
	if (t->meta.machine.wave_size == NO_VALUE && t->meta.gfx_major == 9)
		t->meta.machine.wave_size = 64; /* the only size it has */
	return true;
}

/* Workgroups and waves of the whole grid; left unknown if a number is missing or implausible. */
static void count_waves(struct trace_launch *l, int64_t wave_size)
{
	int64_t groups = 1, items = 1;

	for (int i = 0; i < 3; i++) {
		int64_t size = l->workgroup[i], grid = l->grid[i];

		if (size <= 0 || grid <= 0 || grid > INT64_MAX - size ||
			__builtin_mul_overflow(groups, (grid + size - 1) / size, &groups) ||
			__builtin_mul_overflow(items, size, &items))
			return;
	}
	l->workgroups = groups;
	if (wave_size <= 0 || items > INT64_MAX - wave_size ||
		__builtin_mul_overflow(groups, (items + wave_size - 1) / wave_size, &l->waves))
		l->waves = NO_VALUE;
}

static void state_launch(struct side_reader *s)
{
	struct trace_meta *m = &s->b->trace->meta;
	int64_t agent = m->launch.agent, dispatch = m->launch.dispatch;

	if (s->launch.is_known)
		m->launch = s->launch.l;
	else if (s->symbol.is_known)
		m->launch = s->symbol.l;
	m->launch.agent = agent;
	m->launch.dispatch = dispatch;
	m->launch.command = s->command;
	count_waves(&m->launch, m->machine.wave_size);
	if (m->target_cu == NO_VALUE)
		m->target_cu = s->yaml_cu;
}

static int compare_ids(const void *pa, const void *pb)
{
	const int64_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

static bool note_traced(struct side_reader *s)
{
	struct strbuf text = {0};
	bool ok;

	if (s->traced.n < 2)
		return true;
	SORT(s->traced.v, s->traced.n, compare_ids);
	for (size_t i = 0; i < s->traced.n && i < 32; i++)
		sb_printf(&text, "%s%lld", i ? ", " : "", (long long)s->traced.v[i]);
	if (s->traced.n > 32)
		sb_printf(&text, " and %zu more", s->traced.n - 32);
	ok = !text.failed &&
	     trace_note(s->b->trace, "traced-dispatches", NULL, INCORE_NO_OFFSET, s->traced.n,
		     "the run traced %zu dispatches on this agent: %s", s->traced.n, text.p);
	sb_free(&text);
	return ok;
}

static bool note_pmc(struct side_reader *s)
{
	struct strbuf text = {0};
	bool ok;

	if (!s->pmc.n)
		return true;
	for (size_t i = 0; i < s->pmc.n && i < 8; i++)
		sb_printf(&text, "%s%s", i ? ", " : "", s->pmc.v[i]);
	if (s->pmc.n > 8)
		sb_printf(&text, " and %zu more", s->pmc.n - 8);
	ok = !text.failed &&
	     trace_note(s->b->trace, "pmc-outside-jobs", NULL, INCORE_NO_OFFSET, s->pmc.n,
		     "the input file asks for %zu counters outside its jobs, where rocprofv3 ignores them: %s",
		     s->pmc.n, text.p);
	sb_free(&text);
	return ok;
}

/* gfx9 traces all four SIMDs by default; one setting means a mask there, later one SIMD. */
static bool note_simds(struct side_reader *s)
{
	struct trace *t = s->b->trace;
	int64_t v = s->yaml_simds;
	uint64_t mask = t->meta.gfx_major >= 10 ? UINT64_C(1) << (v & 3) : (uint64_t)v & 15;

	if (v == NO_VALUE || !mask || mask == 15)
		return true;
	return trace_note(t, "traced-simds", NULL, INCORE_NO_OFFSET, mask,
		"the capture was to trace instructions of SIMDs by mask 0x%llx only",
		(unsigned long long)mask);
}

bool ui_side_files_read(struct ui_build *b, struct incore_error *e)
{
	struct side_reader s = {.b = b,
		.machine = side_no_machine(),
		.launch = side_no_launch(),
		.symbol = side_no_launch(),
		.yaml_cu = NO_VALUE,
		.yaml_simds = NO_VALUE};
	bool ok;

	b->side = &s;
	ok = search_parent(&s) || err_nomem(e);
	ok = ok && read_files(&s, e);
	if (ok) {
		ok = state_machine(&s) || err_nomem(e);
		state_launch(&s);
	}
	if (ok && (!note_traced(&s) || !note_pmc(&s) || !note_simds(&s)))
		ok = err_nomem(e);
	b->side = NULL;
	VEC_FREE(&s.agent_info);
	VEC_FREE(&s.kernel_trace);
	VEC_FREE(&s.results);
	VEC_FREE(&s.inputs);
	VEC_FREE(&s.traced);
	VEC_FREE(&s.pmc);
	return ok;
}
