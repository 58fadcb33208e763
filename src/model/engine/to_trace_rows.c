/* SPDX-License-Identifier: Apache-2.0 */
/* to_trace_rows.c: code rows: what was issued where, as text that the isa tables recognise. */
#include "base/file.h"
#include "base/hash.h"
#include "base/sha256.h"
#include "model/engine/to_trace_internal.h"

#define MAX_SOURCE_BYTES (8u << 20)

unsigned model_lane(unsigned pipe)
{
	static const uint8_t lanes[ENGINE_PIPES] = {PIPE_SCALAR, PIPE_VECTOR, PIPE_MTE1, PIPE_MTE2,
		PIPE_MTE3, PIPE_CUBE, PIPE_ALL, PIPE_FIXP};

	return pipe < ENGINE_PIPES ? lanes[pipe] : PIPE_NONE;
}

bool rows_init(struct timed_rows *r, struct trace *t, const struct opstream_set *set)
{
	*r = (struct timed_rows){.t = t, .set = set};
	intern_init(&r->opcodes);
	intern_init(&r->sources);
	intern_init(&r->keys);
	r->row_at = mem_zalloc(set->v.n + 1, sizeof(*r->row_at));
	return r->row_at != NULL;
}

void rows_deinit(struct timed_rows *r)
{
	for (size_t i = 0; r->row_at && i < r->set->v.n; i++)
		u64_map_deinit(&r->row_at[i]);
	mem_free(r->row_at);
	VEC_FREE(&r->code);
	VEC_FREE(&r->frames);
	intern_deinit(&r->opcodes);
	intern_deinit(&r->sources);
	intern_deinit(&r->keys);
	sb_free(&r->text);
}

/* --- text --- */

static const char *label(unsigned pipe)
{
	return pipe == OPP_V ? "VEC" : op_pipe_name(pipe);
}

static void put_x(struct strbuf *b, const struct opstream *s, bool is_set, unsigned pipe, int id)
{
	bool is_a5 = s->arch == ARCH_A5;

	if (is_set)
		sb_printf(b, "%s PIPE:%s,FLAGID:%d,", is_a5 ? "SET_INTRA_BLOCK" : "SET_CROSS_CORE",
			label(pipe), id);
	else
		sb_printf(b, "%s FLAGID:%d,", is_a5 ? "WAIT_INTRA_BLOCK" : "WAIT_FLAG_DEV", id);
}

/* Omits leading dimensions of 1. */
static void put_shape(struct strbuf *b, const uint32_t shape[5])
{
	unsigned i = 0;

	while (i < 3 && shape[i] == 1)
		i++;
	for (unsigned first = i; i < 5; i++)
		sb_printf(b, "%s%u", i == first ? " " : "x", shape[i]);
}

static void put_operand(struct strbuf *b, const struct op_opnd *o)
{
	switch (o->what) {
	case OPND_TILE:
		sb_printf(b, "%s %s %ux%u", op_loc_name(o->loc), op_dtype_name(o->dtype),
			OPND_VROW(o), OPND_VCOL(o));
		if (OPND_VROW(o) != OPND_ROWS(o) || OPND_VCOL(o) != OPND_COLS(o))
			sb_printf(b, " of %ux%u", OPND_ROWS(o), OPND_COLS(o));
		break;
	case OPND_GM:
		sb_puts(b, "GM ");
		if (o->slot != OPSTREAM_NO_SLOT)
			sb_printf(b, "[%u] ", o->slot);
		if (o->shape[4] == 0 && o->shape[3] == 0) { /* where a FIFO's ring lies */
			sb_puts(b, "ring");
			break;
		}
		sb_puts(b, op_dtype_name(o->dtype));
		put_shape(b, o->shape);
		break;
	default:
		sb_puts(b, op_role_name(o->role));
	}
}

static void put_op(struct strbuf *b, const struct opstream *s, const struct op_form *f)
{
	sb_puts(b, opstream_str(s, f->name));
	for (unsigned i = 0; i < f->n_opnds; i++) {
		sb_puts(b, i ? ", " : " ");
		put_operand(b, &s->opnds.v[f->first_opnd + i]);
	}
}

static void put_text(
	struct strbuf *b, const struct opstream *s, const struct timed_slice *at, unsigned pipe)
{
	const struct op_form *f;

	if (at->part == PART_ISSUE || at->part == PART_END) {
		sb_puts(b, at->part == PART_ISSUE ? "ISSUE ops handed to pipes"
						  : "BAR PIPE:ALL,end of the kernel");
		return;
	}
	f = &s->forms.v[s->ops.v[at->op].form];
	if (at->part == PART_XSET || at->part == PART_XWAIT) {
		put_x(b, s, at->part == PART_XSET, pipe, f->fifo_flag_id);
		sb_printf(b, "of %s", opstream_str(s, f->name));
		return;
	}
	switch (f->kind) {
	case OPK_SET:
	case OPK_WAIT:
		sb_printf(b, "%s PIPE:%s,TRIGGERPIPE:%s,FLAGID:%d,",
			f->kind == OPK_SET ? "SET_FLAG" : "WAIT_FLAG", label(f->flag_src),
			label(f->flag_dst), f->flag_id);
		break;
	case OPK_BARRIER:
		sb_printf(b, "BAR PIPE:%s", label(f->pipe));
		break;
	case OPK_XSET:
	case OPK_XWAIT:
		put_x(b, s, f->kind == OPK_XSET, f->flag_src, f->flag_id);
		break;
	default:
		put_op(b, s, f);
	}
}

/* --- rows --- */

static bool add_frame(struct timed_rows *r, const struct opstream *s, const struct timed_slice *at,
	struct code_row *c)
{
	const struct op_site *site;
	const char *file;
	uint32_t source;

	c->first_frame = (uint32_t)r->frames.n;
	c->source = "";
	if (at->op == NO_OP)
		return true;
	site = &s->sites.v[s->ops.v[at->op].site];
	file = opstream_str(s, site->file);
	if (!*file || site->line == 0)
		return true;
	source = intern_add(&r->sources, str_of(file));
	if (source == INTERN_NONE || !VEC_PUSH(&r->frames, (struct frame){source, site->line}))
		return false;
	c->n_frames = 1;
	c->source = arena_printf(&r->t->arena, "%s:%u", file, site->line);
	return c->source != NULL;
}

/* r->text is the row's text, followed by whatever else distinguishes rows. */
static code_idx new_row(struct timed_rows *r, const struct opstream *s,
	const struct timed_slice *at, unsigned pipe, size_t text_len)
{
	struct str text = {r->text.p, text_len};
	ptrdiff_t blank = str_find(text, " ");
	struct str opcode = blank > 0 ? str_sub(text, 0, (size_t)blank) : text;
	struct code_row c = {.number = (int64_t)r->code.n,
		.address = (uint64_t)r->code.n * 4,
		.code_object = s->core == CORE_AIC ? ASCEND_CUBE : ASCEND_VEC,
		.text_len = (uint32_t)text_len};

	c.text = arena_strndup(&r->t->arena, text.p, text.n);
	c.opcode = intern_add(&r->opcodes, opcode);
	c.inst_class = (uint8_t)ascend_class(model_lane(pipe), opcode);
	if (!c.text || c.opcode == INTERN_NONE || !add_frame(r, s, at, &c) ||
		r->code.n >= NO_CODE || !VEC_PUSH(&r->code, c))
		return NO_CODE;
	return (code_idx)(r->code.n - 1);
}

/* Lanes and blocks share rows because they run the same source. */
static code_idx find_row(
	struct timed_rows *r, const struct opstream *s, const struct timed_slice *at, unsigned pipe)
{
	uint32_t key, n_before = r->keys.n;
	size_t text_len;

	sb_reset(&r->text);
	put_text(&r->text, s, at, pipe);
	text_len = r->text.n;
	sb_printf(&r->text, "|%u", s->core * ENGINE_PIPES + pipe);
	if (at->op != NO_OP) {
		const struct op_site *site = &s->sites.v[s->ops.v[at->op].site];

		sb_printf(&r->text, ":%u:%s", site->line, opstream_str(s, site->file));
	}
	if (r->text.failed)
		return NO_CODE;
	key = intern_add(&r->keys, (struct str){r->text.p, r->text.n});
	if (key == INTERN_NONE)
		return NO_CODE;
	return key < n_before ? key : new_row(r, s, at, pipe, text_len);
}

uint64_t rows_bytes(const struct timed_rows *r, uint32_t stream, const struct timed_slice *s)
{
	const struct opstream *o = &r->set->v.v[stream];

	if (s->op == NO_OP || (s->part != PART_OP && s->part != PART_MOVE))
		return 0;
	return o->derived.v[o->ops.v[s->op].form].bytes;
}

code_idx rows_of(struct timed_rows *r, uint32_t stream, const struct timed_slice *s, unsigned pipe)
{
	const struct opstream *o = &r->set->v.v[stream];
	struct op_exec x = {0};
	uint64_t key = UINT64_MAX, *at;
	code_idx row;

	if (s->op != NO_OP) {
		x = o->ops.v[s->op];
		key = hash_mix64((uint64_t)x.form << 32 | x.site);
	}
	at = u64_map_at(&r->row_at[stream], key ^ ((uint64_t)s->part << 56 | pipe << 3));
	if (!at)
		return NO_CODE;
	if (!*at) {
		row = find_row(r, o, s, pipe);
		if (row == NO_CODE)
			return NO_CODE;
		*at = (uint64_t)row + 1;
	}
	row = (code_idx)(*at - 1);
	r->code.v[row].bytes += rows_bytes(r, stream, s);
	return row;
}

/* --- finishing --- */

static uint32_t count_lines(const char *p, size_t n)
{
	uint32_t lines = 0;

	for (size_t i = 0; i < n; i++)
		lines += p[i] == '\n';
	return lines + (n && p[n - 1] != '\n');
}

/* Includes the text of a source file if it is still the one that was recorded. */
static bool add_text(struct timed_rows *r, struct source_file *f)
{
	struct file_data d = {0};
	struct sha256 h;
	char hex[65];
	bool is_same = false, ok = true;

	if (file_size(f->path) < 0 || file_size(f->path) > MAX_SOURCE_BYTES ||
		!file_load(&d, f->path, NULL))
		return true;
	sha256_init(&h);
	sha256_add(&h, d.data, d.size);
	sha256_hex(&h, hex);
	for (size_t i = 0; i < r->set->v.n; i++)
		is_same = is_same ||
			  strcmp(opstream_str(&r->set->v.v[i], r->set->v.v[i].source_sha256),
				  hex) == 0;
	if (is_same) {
		f->text = arena_strndup(&r->t->arena, (const char *)d.data, d.size);
		f->text_len = d.size;
		f->n_lines = count_lines((const char *)d.data, d.size);
		f->snapshot = path_base(f->path);
		ok = f->text != NULL;
	}
	file_unload(&d);
	return ok;
}

static bool put_sources(struct timed_rows *r)
{
	struct trace *t = r->t;

	t->sources = arena_zalloc(&t->arena, r->sources.n + 1, sizeof(*t->sources));
	if (!t->sources)
		return false;
	for (uint32_t i = 0; i < r->sources.n; i++) {
		t->sources[i].path =
			arena_strndup(&t->arena, r->sources.strs[i].p, r->sources.strs[i].n);
		if (!t->sources[i].path || !add_text(r, &t->sources[i]))
			return false;
	}
	t->n_sources = r->sources.n;
	return true;
}

bool rows_finish(struct timed_rows *r, struct incore_error *e)
{
	struct trace *t = r->t;

	t->code = arena_memdup(&t->arena, r->code.v, r->code.n * sizeof(*r->code.v));
	t->frames = arena_memdup(&t->arena, r->frames.v, r->frames.n * sizeof(*r->frames.v));
	t->opcodes = arena_zalloc(&t->arena, r->opcodes.n + 1, sizeof(*t->opcodes));
	if ((r->code.n && !t->code) || (r->frames.n && !t->frames) || !t->opcodes)
		return err_nomem(e);
	for (uint32_t i = 0; i < r->opcodes.n; i++) {
		t->opcodes[i] =
			arena_strndup(&t->arena, r->opcodes.strs[i].p, r->opcodes.strs[i].n);
		if (!t->opcodes[i])
			return err_nomem(e);
	}
	t->n_code = (uint32_t)r->code.n;
	t->n_frames = (uint32_t)r->frames.n;
	t->n_opcodes = r->opcodes.n;
	return put_sources(r) || err_nomem(e);
}
