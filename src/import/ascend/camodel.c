/* SPDX-License-Identifier: Apache-2.0 */
/*
 * camodel.c: raw dumps of the simulator (dump/, tmp_dump/): exact cycles. A core's logs may be
 * rotated into several files; all of them are read and sorted by tick.
 */
#include "import/ascend/camodel.h"
#include "base/search.h"
#include "import/capture_cache.h"

/* --- reading the files of one core --- */

/* "XD:X5=0x1,SPR:BLOCKID": the program asks which block it is. */
static void see_block(struct core_dump *c, const struct dump_line *l)
{
	static const char *const words[] = {",SPR:BLOCKID", ",SPR:SUBBLOCKID"};
	uint64_t *const out[] = {&c->block, &c->sub_block};

	if (!str_is(l->opcode, "MOV_XD_SPR"))
		return;
	for (int i = 0; i < 2; i++) {
		ptrdiff_t end = str_find(l->operands, words[i]), eq;
		struct str value;
		uint64_t v;

		if (end < 0)
			continue;
		value = str_sub(l->operands, 0, (size_t)end);
		eq = str_rfind_char(value, '=');
		value = eq < 0 ? STR("") : str_sub(value, (size_t)eq + 1, value.n);
		if (str_to_u64(value, &v) && v < UINT32_MAX)
			*out[i] = v + 1;
	}
}

static bool add_line(struct core_dump *c, struct str line, enum dump_log log)
{
	struct dump_line l;
	struct dump_rec r = {.line = line};

	if (!dump_line_parse(line, &l) || l.tick >= UINT64_C(1) << 53) {
		c->n_bad++;
		return true;
	}
	if (log == DUMP_STARTS && l.is_popped_from_queue)
		return true;
	if (log == DUMP_STARTS)
		see_block(c, &l);
	/* 310B has ids too, but only A5 (with separate vector and cube cores) is joined by them. */
	c->by_id |= l.has_id && str_has(c->name, ".");
	r.key = c->by_id && l.has_id ? l.id : l.pc;
	r.tick = l.tick;
	r.order = log == DUMP_STARTS ? c->starts.n : c->ends.n;
	return log == DUMP_STARTS ? VEC_PUSH(&c->starts, r) : VEC_PUSH(&c->ends, r);
}

static bool add_event(struct core_dump *c, struct str line)
{
	enum dump_event kind;
	struct dump_time t;

	if (!dump_event_parse(line, &kind, &t.tick, &t.address) || t.tick >= UINT64_C(1) << 53)
		return true; /* these logs have many other lines */
	if (kind == DUMP_MISS)
		return VEC_PUSH(&c->misses, t);
	return kind == DUMP_FETCH ? VEC_PUSH(&c->fetches, t) : VEC_PUSH(&c->issues, t);
}

bool core_dump_add(struct core_dump *c, struct str bytes, enum dump_log log)
{
	struct str line;

	c->n_logs += bytes.n != 0;
	while (str_cut(&bytes, "\n", &line)) {
		line = str_trim(line);
		if (line.n == 0)
			continue;
		if (!(log == DUMP_STARTS || log == DUMP_ENDS ? add_line(c, line, log)
							     : add_event(c, line)))
			return false;
	}
	return true;
}

/* --- a directory of them --- */

struct dump_file {
	char *name;
	struct str core;
	enum dump_log log;
};

struct named_core { /* a vector core, named by the ids that its program reads */
	uint64_t block, sub_block;
	const char *unit;
};

struct dump_dir {
	struct asc_build *b;
	const char *dir;
	VEC(struct dump_file) files, mte, summaries;
	VEC(struct named_core) named;
	uint64_t n_other;
};

bool asc_is_dump_name(struct str name)
{
	struct str core;
	enum dump_log log = dump_log_of(name, &core);

	return log == DUMP_STARTS || log == DUMP_ENDS;
}

static void see_program(struct dump_dir *d, const char *name)
{
	char *path;

	if (strcmp(name, "aicore_binary.o") == 0)
		d->b->binary = arena_printf(&d->b->trace->arena, "%s/%s", d->dir, name);
	if (strcmp(name, "pc_start_addr.txt") != 0)
		return;
	path = path_join(d->dir, name);
	if (path)
		asc_read_start_pc(d->b, path);
	mem_free(path);
}

static bool see_name(void *ctx, const char *name, struct incore_error *e)
{
	struct dump_dir *d = ctx;
	struct dump_file f = {.name = mem_strndup(name, strlen(name))};

	if (!f.name)
		return err_nomem(e);
	f.log = dump_log_of(str_of(f.name), &f.core);
	if (f.log == DUMP_MTE || asc_is_summary_name(str_of(name))) {
		if (f.log == DUMP_MTE ? VEC_PUSH(&d->mte, f) : VEC_PUSH(&d->summaries, f))
			return true;
		mem_free(f.name);
		return err_nomem(e);
	}
	see_program(d, name);
	if (f.log == DUMP_NONE || f.log == DUMP_OTHER) {
		d->n_other += f.log == DUMP_OTHER;
		mem_free(f.name);
		return true;
	}
	if (VEC_PUSH(&d->files, f))
		return true;
	mem_free(f.name);
	return err_nomem(e);
}

static int file_cmp(const void *pa, const void *pb)
{
	const struct dump_file *a = pa, *c = pb;
	int by_core = str_cmp(a->core, c->core);

	return by_core ? by_core : strcmp(a->name, c->name);
}

void core_dump_deinit(struct core_dump *c)
{
	VEC_FREE(&c->starts);
	VEC_FREE(&c->ends);
	VEC_FREE(&c->misses);
	VEC_FREE(&c->fetches);
	VEC_FREE(&c->issues);
	sb_free(&c->alone[0]);
	sb_free(&c->alone[1]);
}

static bool load_core(struct dump_dir *d, struct core_dump *c, size_t from, size_t end,
	struct file_data *bytes, struct incore_error *e)
{
	for (size_t i = from; i < end; i++) {
		struct file_data *f = &bytes[i - from];
		char *path = path_join(d->dir, d->files.v[i].name);
		bool ok = path ? import_load(d->b->options, f, path, e) : err_nomem(e);

		mem_free(path);
		if (!ok)
			return false;
		if (!core_dump_add(
			    c, (struct str){(const char *)f->data, f->size}, d->files.v[i].log))
			return err_nomem(e);
	}
	return true;
}

/* The simulator's own export merges two vector cores that read the same ids and keeps the last;
 * here each has its physical name. */
static bool name_core(struct dump_dir *d, const struct core_dump *c)
{
	struct named_core k = {c->block, c->sub_block, c->unit};
	struct ascend_unit u;

	if (!c->block || !c->sub_block || !ascend_unit_of(str_of(c->unit), &u) ||
		u.kind != ASCEND_VEC)
		return true;
	for (size_t i = 0; i < d->named.n; i++)
		if (d->named.v[i].block == k.block && d->named.v[i].sub_block == k.sub_block)
			return asc_note(d->b, NOTE_CONTRADICTORY, "core-name-collision",
				INCORE_NO_OFFSET,
				"%s and %s are both sub-block %llu of block %llu: other exports keep one of them",
				d->named.v[i].unit, k.unit, (unsigned long long)k.sub_block - 1,
				(unsigned long long)k.block - 1);
	return VEC_PUSH(&d->named, k);
}

static bool read_core(
	struct dump_dir *d, size_t from, size_t end, uint32_t *n_cores, struct incore_error *e)
{
	struct core_dump c = {.b = d->b, .name = d->files.v[from].core};
	struct file_data *bytes = mem_zalloc(end - from, sizeof(*bytes));
	bool ok = true;

	c.unit = arena_strndup(&d->b->trace->arena, c.name.p, c.name.n);
	if (!bytes || !c.unit)
		ok = err_nomem(e);
	ok = ok && load_core(d, &c, from, end, bytes, e);
	if (ok && c.n_logs < 2)
		ok = asc_note(d->b, NOTE_LOST, "core-without-logs", INCORE_NO_OFFSET,
			     "%s: fewer than two logs with something in them; not read", c.unit) ||
		     err_nomem(e);
	else if (ok && (!core_dump_join(&c) || !name_core(d, &c)))
		ok = err_nomem(e);
	else
		*n_cores += ok;
	core_dump_deinit(&c);
	for (size_t i = 0; bytes && i < end - from; i++)
		file_unload(&bytes[i]);
	mem_free(bytes);
	return ok;
}

static bool read_cores(struct dump_dir *d, uint32_t *n_cores, struct incore_error *e)
{
	SORT(d->files.v, d->files.n, file_cmp);
	for (size_t i = 0; i < d->files.n;) {
		size_t end = i;

		while (end < d->files.n && str_eq(d->files.v[end].core, d->files.v[i].core))
			end++;
		if (!read_core(d, i, end, n_cores, e))
			return false;
		i = end;
	}
	if (d->n_other &&
		!trace_note(d->b->trace, NOTE_INFO, "other-dumps", d->dir, INCORE_NO_OFFSET,
			d->n_other, "%llu logs of other kinds are not read",
			(unsigned long long)d->n_other))
		return err_nomem(e);
	return true;
}

/* Reads files on which no core's time depends: an unreadable one is only a loss. */
static bool read_side(
	struct dump_dir *d, const struct dump_file *k, bool is_mte, struct incore_error *e)
{
	char *path = path_join(d->dir, k->name);
	struct incore_error why = {0};
	struct file_data f = {0};
	struct str bytes;
	bool ok;

	if (!path)
		return err_nomem(e);
	ok = import_load(d->b->options, &f, path, &why);
	bytes = (struct str){(const char *)f.data, f.size};
	if (!ok && err_is(&why, "link-outside"))
		ok = import_note_unread(d->b->trace, NULL, path, NULL, &why) || err_nomem(e);
	else if (!ok)
		ok = trace_note(d->b->trace, NOTE_LOST, "unreadable-part", path, INCORE_NO_OFFSET,
			     1, "not read") ||
		     err_nomem(e);
	else if (is_mte)
		ok = asc_read_mte_log(d->b, bytes, k->core) || err_nomem(e);
	else
		ok = asc_read_summary(d->b, bytes, path, e);
	incore_error_clear(&why);
	file_unload(&f);
	mem_free(path);
	d->b->path = d->dir;
	return ok;
}

static bool read_sides(struct dump_dir *d, struct incore_error *e)
{
	for (size_t i = 0; i < d->mte.n; i++)
		if (!read_side(d, &d->mte.v[i], true, e))
			return false;
	for (size_t i = 0; i < d->summaries.n; i++)
		if (!read_side(d, &d->summaries.v[i], false, e))
			return false;
	return true;
}

static void free_names(struct dump_file *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		mem_free(v[i].name);
	mem_free(v);
}

bool asc_read_dumps(struct asc_build *b, const char *dir, uint32_t *n_cores, struct incore_error *e)
{
	struct dump_dir d = {.b = b, .dir = dir};
	bool ok;

	*n_cores = 0;
	b->path = dir;
	b->is_ticks = true;
	ok = dir_each_in(import_fence(b->options), dir, see_name, &d, e) &&
	     read_cores(&d, n_cores, e) && read_sides(&d, e);
	VEC_FREE(&d.named);
	free_names(d.files.v, d.files.n);
	free_names(d.mte.v, d.mte.n);
	free_names(d.summaries.v, d.summaries.n);
	return ok;
}

/* --- ops --- */

static bool has_dumps(void *ctx, const char *name, struct incore_error *e)
{
	int *n = ctx;

	(void)e;
	*n += asc_is_dump_name(str_of(name));
	return *n < 2; /* two are enough to know */
}

static int camodel_sniff(const struct probe *p)
{
	struct incore_error e = {0};
	int n = 0;

	if (!p->is_dir)
		return 0;
	dir_each_in(capture_fence(p->cache), p->path, has_dumps, &n, &e);
	incore_error_clear(&e);
	return n >= 2 ? 50 : 0;
}

static bool camodel_read(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	struct asc_build b;
	uint32_t n_cores = 0;
	bool ok = asc_init(&b, t, o, e) && asc_read_dumps(&b, path, &n_cores, e);

	if (ok && n_cores == 0)
		ok = err_file(e, "no-dumps", path, INCORE_NO_OFFSET,
			"no core has both a popped log and an instruction log");
	ok = ok && asc_finish(&b, e);
	asc_deinit(&b);
	return ok;
}

const struct import_ops import_camodel = {
	.name = "camodel",
	.summary = "Ascend raw simulator dumps (instr_log, instr_popped_log), cycle-exact",
	.looks_for = "a dump directory of the Ascend simulator (core*.instr_log.dump)",
	.sniff = camodel_sniff,
	.look = asc_look,
	.read = camodel_read,
	.lost = import_lost_noted,
};
