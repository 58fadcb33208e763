/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes.c: finds the core, unit and pipe of a (pid, tid). Per-run files name both; per-core files
 * number them and name them with M events; cleaned files have sub-lanes, which are merged again.
 */
#include "import/ascend/ascend.h"

static const struct asc_name *find_name(const struct asc_build *b, uint64_t key)
{
	uint64_t *at = u64_map_find(&b->name_at, key);

	return at ? &b->names.v[*at - 1] : NULL;
}

static bool is_number(struct str s)
{
	uint64_t v;

	return str_to_u64(s, &v);
}

/* "MTE2_1" of a per-core file -> MTE2, "WARP_3_1" -> WARP_3 */
static enum ascend_pipe pipe_of_thread(struct str name)
{
	ptrdiff_t cut = str_rfind_char(name, '_');
	enum ascend_pipe p = PIPE_NONE;

	if (cut > 0 && is_number(str_sub(name, (size_t)cut + 1, name.n)))
		p = ascend_pipe_of_lane(str_sub(name, 0, (size_t)cut));
	return p != PIPE_NONE ? p : ascend_pipe_of_lane(name);
}

/* Our chrome export appends more to the unit: "core0.veccore0, kernel, estimate (...)". */
static struct str unit_of_process(struct str name)
{
	ptrdiff_t comma = str_find(name, ", ");
	struct ascend_unit u;

	if (comma > 0 && ascend_unit_of(str_sub(name, 0, (size_t)comma), &u))
		name.n = (size_t)comma;
	return name;
}

/* Finds the name of the lane and the unit it belongs to. */
static void names_of(struct asc_build *b, struct asc_lane *l, struct str *unit, struct str *lane)
{
	const struct asc_name *process, *thread;
	const char *was = b->unit;

	b->unit = l->unit;
	process = find_name(b, asc_name_key(b, l->pid, (struct str){NULL, 0}));
	thread = find_name(b, asc_name_key(b, l->pid, l->tid));
	b->unit = was;
	*unit = l->pid;
	*lane = l->tid;
	if (!is_number(l->pid)) {
		if (thread && is_number(l->tid))
			*lane = thread->name;
		return;
	}
	if (process && pipe_of_thread(process->name) == PIPE_NONE && !process->is_ambiguous)
		*unit = unit_of_process(process->name);
	else
		*unit = l->unit ? str_of(l->unit) : STR("core0");
	/* Lanes without a number share pid 0: a unique thread name decides. */
	if (thread && !thread->is_ambiguous && pipe_of_thread(thread->name) != PIPE_NONE)
		*lane = thread->name;
	else if (process && !process->is_ambiguous && pipe_of_thread(process->name) != PIPE_NONE)
		*lane = process->name;
	else
		*lane = l->pid;
}

static bool is_taken(const struct asc_build *b, uint32_t core, uint32_t unit)
{
	for (size_t i = 0; i < b->units.n; i++)
		if (b->units.v[i].at.core == core && b->units.v[i].at.unit == unit)
			return true;
	return false;
}

/* The number at the end of a name in another form, or 0. */
static uint32_t number_at_end(struct str s)
{
	size_t from = s.n;
	uint64_t v = 0;

	while (from > 0 && s.p[from - 1] >= '0' && s.p[from - 1] <= '9' && s.n - from < 6)
		from--;
	str_to_u64(str_sub(s, from, s.n), &v);
	return (uint32_t)v;
}

static uint32_t find_unit(struct asc_build *b, struct str name)
{
	struct asc_unit u = {.begin = UINT64_MAX};

	for (size_t i = 0; i < b->units.n; i++)
		if (str_is(name, b->units.v[i].name))
			return (uint32_t)i;
	if (!ascend_unit_of(name, &u.at))
		u.at = (struct ascend_unit){number_at_end(name), 0, ASCEND_PLAIN};
	while (is_taken(b, u.at.core, u.at.unit))
		u.at.core++;
	u.name = arena_strndup(&b->trace->arena, name.n ? name.p : "", name.n);
	if (!u.name || !VEC_PUSH(&b->units, u))
		return NO_TRACK;
	return (uint32_t)(b->units.n - 1);
}

static unsigned other_pipe(struct asc_build *b, struct asc_unit *u, struct str lane)
{
	for (uint32_t i = 0; i < u->n_others; i++)
		if (str_eq(lane, u->others[i]))
			return PIPE_OTHER0 + i;
	if (u->n_others == ASCEND_OTHERS) {
		b->counts[ASC_NO_LANE]++;
		return PIPE_OTHER0 + ASCEND_OTHERS - 1;
	}
	u->others[u->n_others] = lane;
	return PIPE_OTHER0 + u->n_others++;
}

bool asc_resolve(struct asc_build *b, struct incore_error *e)
{
	/* More names than this cannot be cores. */
	const size_t max_units = 65536;

	EACH (struct asc_lane, l, b->lanes.v, b->lanes.n) {
		struct str unit, lane;

		l->unit_idx = NO_TRACK;
		if (l->recs.n == 0)
			continue;
		names_of(b, l, &unit, &lane);
		l->unit_idx = find_unit(b, unit);
		if (l->unit_idx == NO_TRACK)
			return err_nomem(e);
		if (b->units.n > max_units)
			return err_file(e, "bad-trace", b->path, INCORE_NO_OFFSET,
				"more than %zu cores", max_units);
		l->pipe = pipe_of_thread(lane);
		if (l->pipe == PIPE_NONE)
			l->pipe = other_pipe(b, &b->units.v[l->unit_idx], lane);
		else if (str_has(lane, "#") || str_has(lane, " ("))
			b->is_cleaned = true;
	}
	return true;
}
