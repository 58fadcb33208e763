/* SPDX-License-Identifier: Apache-2.0 */
/*
 * side_results.c: data of results.json of the same run: the agent by its handle, the kernel's
 * symbol, the command, the list of traced dispatches. Host name and machine id are in it too and
 * are never read.
 */
#include "import/ui_output/side_files.h"

struct results {
	struct side *s;
	struct json_reader r;
	struct side_machine machine; /* of our agent handle */
	struct side_launch symbol;   /* of our kernel; by code object if that matches */
	bool is_symbol_exact, are_symbols_alike;
	struct strbuf command;
	VEC(int64_t) traced; /* dispatches of our agent */
	uint64_t n_att, n_att_ours;
	bool is_nomem;
};

static void fail_nomem(struct results *x)
{
	x->is_nomem = true;
	json_reject(&x->r, "no-memory", "out of memory");
}

static const char *get_text(struct results *x)
{
	struct str s;
	const char *p = NULL;

	if (!json_get_str_or_null(&x->r, &s) || !s.n)
		return NULL;
	p = arena_strndup(&x->s->b->trace->arena, s.p, s.n);
	if (!p)
		fail_nomem(x);
	return p;
}

/* Reads a number; NO_VALUE for anything else. */
static int64_t get_number(struct json_reader *r)
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
			v = get_number(r);
		else
			json_skip(r);
	}
	return v;
}

static void read_agent_key(struct results *x, struct str key, struct side_machine *m)
{
	struct json_reader *r = &x->r;
	int64_t kb;

	if (str_is(key, "node_id")) {
		m->node = get_number(r);
	} else if (str_is(key, "simd_count")) {
		m->m.simds = get_number(r);
	} else if (str_is(key, "cu_count")) {
		m->m.cus = get_number(r);
	} else if (str_is(key, "num_shader_banks")) {
		m->m.ses = get_number(r);
	} else if (str_is(key, "num_xcc")) {
		m->m.xccs = get_number(r);
	} else if (str_is(key, "max_waves_per_simd")) {
		m->m.max_waves_per_simd = get_number(r);
	} else if (str_is(key, "lds_size_in_kb")) {
		kb = get_number(r);
		m->m.lds_bytes_per_cu = kb < 0 || kb > INT64_MAX / 1024 ? NO_VALUE : kb * 1024;
	} else if (str_is(key, "wave_front_size")) {
		m->m.wave_size = get_number(r);
	} else if (str_is(key, "max_engine_clk_fcompute")) {
		m->m.max_clock_mhz = get_number(r);
	} else if (str_is(key, "product_name")) {
		m->m.product = get_text(x);
	} else if (str_is(key, "name")) {
		m->arch = get_text(x);
	} else {
		json_skip(r);
	}
}

static void read_agents(struct results *x)
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

static void read_metadata(struct results *x)
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
				fail_nomem(x);
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

static void add_att(struct results *x, struct str name)
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
		fail_nomem(x);
}

static void read_strings(struct results *x)
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

static void read_symbol(struct results *x)
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
			l.l.kernel_id = get_number(r);
		} else if (str_is(key, "code_object_id")) {
			object = get_number(r);
		} else if (str_is(key, "group_segment_size")) {
			l.l.lds_bytes = get_number(r);
		} else if (str_is(key, "private_segment_size")) {
			l.l.scratch_bytes = get_number(r);
		} else if (str_is(key, "sgpr_count")) {
			l.l.sgprs = get_number(r);
		} else if (str_is(key, "arch_vgpr_count")) {
			l.l.vgprs = get_number(r);
		} else if (str_is(key, "accum_vgpr_count")) {
			l.l.accum_vgprs = get_number(r);
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

static void read_tool(struct results *x)
{
	struct json_reader *r = &x->r;
	struct str key;

	if (!json_enter_object_or_null(r))
		return;
	while (json_next_key(r, &key)) {
		if (str_is(key, "agents")) {
			read_agents(x);
		} else if (str_is(key, "metadata")) {
			read_metadata(x);
		} else if (str_is(key, "strings")) {
			read_strings(x);
		} else if (str_is(key, "kernel_symbols")) {
			if (json_enter_array_or_null(r))
				while (json_next_item(r))
					read_symbol(x);
		} else {
			json_skip(r);
		}
	}
}

/* Handles change from run to run: both the agent and the traced dispatch must be in it. */
static bool is_our_run(const struct results *x)
{
	return x->machine.is_known && (!x->n_att || x->n_att_ours);
}

static bool commit(struct results *x, const char *path)
{
	struct side *s = x->s;
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
	struct results x = {.s = b->side, .machine = side_no_machine(), .symbol = side_no_launch()};
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
	if (x.is_nomem || (ok && is_our_run(&x) && !commit(&x, in.path)))
		ok = err_nomem(e);
	sb_free(&x.command);
	VEC_FREE(&x.traced);
	return ok;
}
