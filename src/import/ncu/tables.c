/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.c: tables of data that no analysis here interprets: all metrics, those with values by
 * something other than instruction or time, the sections with their headings, the findings of
 * Nsight Compute's rules, and the session.
 */
#include "import/ncu/ncu.h"

#include "isa/ncu_names.h"

#define MAX_COLS 6

struct filling {
	struct ncu_build *b;
	struct named_table *k;
	VEC(const char *) cells;
	bool is_failed;
	struct str metric; /* metric of the instances being read */
};

static const char *text_of(struct filling *f, struct str s)
{
	const char *text = arena_strndup(&f->b->t->arena, s.n ? s.p : "", s.n);

	f->is_failed |= !text;
	return text;
}

static void put_cell(struct filling *f, const char *cell)
{
	f->is_failed |= !cell || !VEC_PUSH(&f->cells, cell && *cell ? cell : NULL);
}

static void put_value(struct filling *f, const struct ncu_value *v)
{
	put_cell(f, ncu_value_text(v, &f->b->t->arena));
}

static bool begin(struct filling *f, struct ncu_build *b, const char *name, const char *const *cols,
	uint32_t n)
{
	*f = (struct filling){.b = b, .k = &b->t->tables[b->t->n_tables]};
	*f->k = (struct named_table){
		.name = name, .origin = path_base(b->report->path), .cols = cols, .n_cols = n};
	return true;
}

/* Empty tables are left out. */
static bool end(struct filling *f, struct incore_error *e)
{
	struct trace *t = f->b->t;

	f->k->n_rows = (uint32_t)(f->cells.n / f->k->n_cols);
	if (f->k->n_rows && !f->is_failed) {
		f->k->cells = arena_memdup(&t->arena, f->cells.v, f->cells.n * sizeof(*f->cells.v));
		f->is_failed = !f->k->cells;
		t->n_tables++;
	}
	VEC_FREE(&f->cells);
	return !f->is_failed || err_nomem(e);
}

static bool put_metrics(struct ncu_build *b, struct incore_error *e)
{
	static const char *const cols[] = {"name", "value", "instances"};
	struct filling f;

	begin(&f, b, NCU_TABLE_METRICS, cols, 3);
	EACH (const struct ncu_metric, k, b->result->metrics.v, b->result->metrics.n) {
		put_cell(&f, text_of(&f, k->name));
		put_value(&f, &k->value);
		put_cell(&f, arena_printf(&b->t->arena, "%u", k->n_instances));
	}
	return end(&f, e);
}

static bool put_instance(void *ctx, const struct ncu_value *id, const struct ncu_value *value)
{
	struct filling *f = ctx;

	put_cell(f, text_of(f, f->metric));
	put_value(f, id);
	put_value(f, value);
	return !f->is_failed;
}

/* By opcode, register count, block size, ...; a single instance only repeats the value. */
static bool put_instances(struct ncu_build *b, struct incore_error *e)
{
	static const char *const cols[] = {"metric", "of", "value"};
	struct ncu_result *x = b->result;
	struct filling f;
	bool ok = true;

	begin(&f, b, NCU_TABLE_INSTANCES, cols, 3);
	for (size_t i = 0; ok && i < x->metrics.n; i++) {
		const struct ncu_metric *k = &x->metrics.v[i];

		if (k->n_instances < 2 || b->is_by_row[i] || k->is_sampler)
			continue;
		f.metric = k->name;
		ok = ncu_instances(x, k, put_instance, &f, e);
	}
	return end(&f, e) && ok;
}

/* --- sections --- */

static const struct ncu_metric *find_metric(const struct filling *f, struct str name)
{
	char key[256];

	if (!name.n || name.n >= sizeof(key))
		return NULL;
	memcpy(key, name.p, name.n);
	key[name.n] = '\0';
	return ncu_find(f->b->result, key);
}

/*
 * { 1 metric, 2 label, 7 other names of it, repeated { 1 metric } }: each name exists on some
 * hardware generations, and the first collected one is used.
 */
static void put_section_metric(struct filling *f, struct str section, struct str bytes)
{
	struct pb_reader m = pb_of(bytes), other;
	const struct ncu_metric *k = NULL;
	struct str label = {0};
	struct pb_field x, y;

	while (pb_next(&m, &x)) {
		if (x.wire != PB_BYTES)
			continue;
		if (x.number == 2)
			label = x.bytes;
		if (x.number == 1 && !k)
			k = find_metric(f, x.bytes);
		other = x.number == 7 ? pb_of(x.bytes) : (struct pb_reader){0};
		while (!k && x.number == 7 && pb_next(&other, &y))
			if (y.number == 1 && y.wire == PB_BYTES)
				k = find_metric(f, y.bytes);
	}
	if (!k)
		return;
	put_cell(f, text_of(f, section));
	put_cell(f, text_of(f, label.n ? label : k->name));
	put_cell(f, text_of(f, k->name));
	put_value(f, &k->value);
}

/* { 2 name, 4 heading { 2 metrics } } */
static void put_section(struct filling *f, struct str bytes)
{
	struct pb_reader m = pb_of(bytes), heading;
	struct str name = {0};
	struct pb_field x, y;

	while (pb_next(&m, &x)) {
		if (x.number == 2 && x.wire == PB_BYTES)
			name = x.bytes;
		if (x.number != 4 || x.wire != PB_BYTES)
			continue;
		heading = pb_of(x.bytes);
		while (pb_next(&heading, &y))
			if (y.number == 2 && y.wire == PB_BYTES)
				put_section_metric(f, name, y.bytes);
	}
}

static bool put_sections(struct ncu_build *b, struct incore_error *e)
{
	static const char *const cols[] = {"section", "label", "metric", "value"};
	struct filling f;

	begin(&f, b, NCU_TABLE_SECTIONS, cols, 4);
	for (size_t i = 0; i < b->result->sections.n; i++)
		put_section(&f, b->result->sections.v[i]);
	return end(&f, e);
}

/* --- rules --- */

struct rule {
	struct str id, name, section;
};

static const char *word_of(uint64_t i, const char *const *words, size_t n)
{
	return i < n ? words[i] : "";
}

/* One finding of a rule: { 1 message { 1 text, 2 kind }, 10 speedup { 1 kind, 2 per cent } } */
static void put_rule_item(struct filling *f, const struct rule *r, struct str bytes)
{
	static const char *const kinds[] = {"none", "ok", "warning", "error", "optimization"};
	static const char *const speedups[] = {"", "local", "global"};
	struct pb_reader m = pb_of(bytes), inner;
	struct str text = {0};
	uint64_t kind = 0, speedup = 0;
	struct ncu_value gain = {0};
	struct pb_field x, y;

	while (pb_next(&m, &x)) {
		inner = x.wire == PB_BYTES ? pb_of(x.bytes) : (struct pb_reader){0};
		while (x.wire == PB_BYTES && pb_next(&inner, &y)) {
			if (x.number == 1 && y.number == 1 && y.wire == PB_BYTES)
				text = y.bytes;
			else if (x.number == 1 && y.number == 2)
				kind = y.value;
			else if (x.number == 10 && y.number == 1)
				speedup = y.value;
			else if (x.number == 10 && y.number == 2)
				gain = (struct ncu_value){.kind = NCU_REAL, .real = pb_float(&y)};
		}
	}
	if (!text.n)
		return;
	put_cell(f, text_of(f, r->id));
	put_cell(f, text_of(f, r->section));
	put_cell(f, word_of(kind, kinds, sizeof(kinds) / sizeof(kinds[0])));
	put_cell(f, text_of(f, text));
	put_cell(f, word_of(speedup, speedups, sizeof(speedups) / sizeof(speedups[0])));
	put_value(f, &gain);
}

/* { 1 id, 2 name, 3 body { 1 items }, 4 section } */
static void put_rule(struct filling *f, struct str bytes)
{
	struct pb_reader m = pb_of(bytes), body;
	struct str items = {0};
	struct rule r = {0};
	struct pb_field x;

	while (pb_next(&m, &x)) {
		struct str *to = x.number == 1	 ? &r.id
				 : x.number == 2 ? &r.name
				 : x.number == 3 ? &items
				 : x.number == 4 ? &r.section
						 : NULL;

		if (to && x.wire == PB_BYTES)
			*to = x.bytes;
	}
	body = pb_of(items);
	while (pb_next(&body, &x))
		if (x.number == 1 && x.wire == PB_BYTES)
			put_rule_item(f, &r, x.bytes);
}

static bool put_rules(struct ncu_build *b, struct incore_error *e)
{
	static const char *const cols[] = {
		"rule", "section", "kind", "message", "speedup", "speedup_pct"};
	struct filling f;

	begin(&f, b, NCU_TABLE_RULES, cols, MAX_COLS);
	for (size_t i = 0; i < b->result->rules.n; i++)
		put_rule(&f, b->result->rules.v[i]);
	return end(&f, e);
}

bool ncu_build_tables(struct ncu_build *b, struct incore_error *e)
{
	struct trace *t = b->t;

	t->tables = arena_zalloc(&t->arena, 8, sizeof(*t->tables));
	if (!t->tables)
		return err_nomem(e);
	return put_sections(b, e) && put_rules(b, e) && put_metrics(b, e) && put_instances(b, e);
}
