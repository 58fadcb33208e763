/* SPDX-License-Identifier: Apache-2.0 */
/*
 * side_csv.c: the CSV files around a capture: agent_info (the machine), kernel_trace (the launch)
 * and stats (the producer's totals once more).
 */
#include "import/ui_output/side_files.h"

#include "base/hash.h"
#include "codec/csv.h"

/* The field as a non-negative number; NO_VALUE if it is not one. */
static int64_t field_number(const struct csv_reader *c, int column)
{
	uint64_t v;

	if (!ui_decimal(str_trim(csv_field(c, column)), &v) || v > INT64_MAX)
		return NO_VALUE;
	return (int64_t)v;
}

static int64_t number_of(const struct csv_reader *c, const char *name)
{
	return field_number(c, csv_column(c, name));
}

static const char *text_of(struct ui_build *b, const struct csv_reader *c, const char *name)
{
	struct str s = csv_field(c, csv_column(c, name));

	return s.n ? arena_strndup(&b->trace->arena, s.p, s.n) : NULL;
}

/* --- agent_info.csv --- */

static void read_machine(struct ui_build *b, const struct csv_reader *c, struct side_machine *m)
{
	int64_t kb = number_of(c, "Lds_Size_In_Kb");

	*m = side_no_machine();
	m->is_known = true;
	m->node = number_of(c, "Node_Id");
	m->m.simds = number_of(c, "Simd_Count");
	m->m.cus = number_of(c, "Cu_Count");
	m->m.ses = number_of(c, "Num_Shader_Banks");
	m->m.xccs = number_of(c, "Num_Xcc");
	m->m.max_waves_per_simd = number_of(c, "Max_Waves_Per_Simd");
	m->m.lds_bytes_per_cu = kb == NO_VALUE || kb > INT64_MAX / 1024 ? NO_VALUE : kb * 1024;
	m->m.wave_size = number_of(c, "Wave_Front_Size");
	m->m.max_clock_mhz = number_of(c, "Max_Engine_Clk_Fcompute");
	m->m.product = text_of(b, c, "Product_Name");
	m->arch = text_of(b, c, "Name");
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
	struct side *s = b->side;
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

static void read_launch(struct side *s, const struct csv_reader *c)
{
	static const char *const workgroup[] = {
		"Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z"};
	static const char *const grid[] = {"Grid_Size_X", "Grid_Size_Y", "Grid_Size_Z"};
	struct side_launch l = side_no_launch();

	l.is_known = true;
	l.node = agent_node(csv_field(c, csv_column(c, "Agent_Id")));
	l.l.kernel_id = number_of(c, "Kernel_Id");
	l.l.vgprs = number_of(c, "VGPR_Count");
	l.l.accum_vgprs = number_of(c, "Accum_VGPR_Count");
	l.l.sgprs = number_of(c, "SGPR_Count");
	l.l.lds_bytes = number_of(c, "LDS_Block_Size");
	l.l.scratch_bytes = number_of(c, "Scratch_Size");
	l.l.start_ns = number_of(c, "Start_Timestamp");
	l.l.end_ns = number_of(c, "End_Timestamp");
	for (int i = 0; i < 3; i++) {
		l.l.workgroup[i] = number_of(c, workgroup[i]);
		l.l.grid[i] = number_of(c, grid[i]);
	}
	l.l.is_other_run = s->is_other_run;
	s->launch = l;
}

/* Dispatch ids are process-wide, so at most one row is ours, by id and name. */
static bool is_our_row(const struct side *s, const struct csv_reader *c)
{
	const struct trace_launch *l = &s->b->trace->meta.launch;
	int64_t node = agent_node(csv_field(c, csv_column(c, "Agent_Id")));

	if (number_of(c, "Dispatch_Id") != l->dispatch || l->dispatch == NO_VALUE)
		return false;
	if (!is_our_kernel(s->b, csv_field(c, csv_column(c, "Kernel_Name"))))
		return false;
	/* a discovery run may have used another GPU */
	return s->is_other_run || !s->machine.is_known || node == s->machine.node;
}

static bool pass_over(struct side *s, struct ui_bytes in, bool is_counting, struct incore_error *e)
{
	struct trace_launch *l = &s->launch.l;
	struct csv_reader c;
	bool at_end = false, ok;

	csv_init(&c, in.p, in.n, in.path);
	ok = csv_header(&c, e);
	while (ok && csv_row(&c, &at_end, e)) {
		if (!is_counting) {
			if (is_our_row(s, &c))
				read_launch(s, &c);
		} else if (number_of(&c, "Kernel_Id") == l->kernel_id) {
			l->launch_count++;
			l->launch_index +=
				number_of(&c, "Dispatch_Id") <= s->b->trace->meta.launch.dispatch;
		}
	}
	csv_deinit(&c);
	return at_end;
}

bool ui_kernel_trace_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e)
{
	struct side *s = b->side;

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

static uint64_t row_key(uint64_t code_object, uint64_t address)
{
	return hash_mix64(address) ^ hash_mix64(~code_object);
}

static bool index_rows(const struct trace *t, struct u64_map *rows)
{
	for (uint32_t i = 0; i < t->n_code; i++) {
		const struct code_row *r = &t->code[i];
		uint64_t *slot;

		if (r->is_label)
			continue;
		slot = u64_map_at(rows, row_key(r->code_object, r->address));
		if (!slot)
			return false;
		*slot = (uint64_t)i + 1;
	}
	return true;
}

static bool row_agrees(
	const struct trace *t, const struct csv_reader *c, const struct u64_map *rows)
{
	int64_t object = number_of(c, "CodeObj"), address = number_of(c, "Vaddr");
	const uint64_t *slot = u64_map_find(rows, row_key((uint64_t)object, (uint64_t)address));
	const struct code_totals *s;

	if (str_starts(csv_field(c, csv_column(c, "Instruction")), ";"))
		return true;
	if (!slot || !*slot || t->code[*slot - 1].address != (uint64_t)address)
		return false;
	s = &t->code[*slot - 1].stated;
	return (uint64_t)number_of(c, "Hitcount") == s->hit &&
	       (uint64_t)number_of(c, "Latency") == s->latency &&
	       (uint64_t)number_of(c, "Stall") == s->stall &&
	       (uint64_t)number_of(c, "Idle") == s->idle;
}

bool ui_stats_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e)
{
	struct trace *t = b->trace;
	struct u64_map rows = {0};
	struct csv_reader c;
	uint64_t n_differ = 0, n = 0;
	bool at_end = false, ok;

	csv_init(&c, in.p, in.n, in.path);
	ok = csv_header(&c, e) && (index_rows(t, &rows) || err_nomem(e));
	while (ok && csv_row(&c, &at_end, e)) {
		n++;
		n_differ += !row_agrees(t, &c, &rows);
	}
	csv_deinit(&c);
	u64_map_deinit(&rows);
	if (!ok || !at_end)
		return false;
	if (n_differ &&
		!trace_note(t, NOTE_CONTRADICTORY, "stats-csv-differs", in.path, INCORE_NO_OFFSET,
			n_differ, "%llu of %llu rows of %s differ from code.json",
			(unsigned long long)n_differ, (unsigned long long)n, path_base(in.path)))
		return err_nomem(e);
	return true;
}
