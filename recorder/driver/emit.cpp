/* SPDX-License-Identifier: Apache-2.0 */
/* emit.cpp: from a call in the kernel to a record: roles, the pipe it runs on, bounds. */
#include "driver/driver.hpp"

namespace incore
{
namespace
{
enum pipe_rule {
	RULE_S,
	RULE_V,
	RULE_MTE1,
	RULE_M,
	RULE_FIX,
	RULE_NONE,
	RULE_LOAD,
	RULE_STORE,
	RULE_EXTRACT,
	RULE_MOVE,
	RULE_V_OR_MAT,
	RULE_TCI,
	RULE_PUSH,
	RULE_POP,
	RULE_PUT,
};

struct op_entry {
	const char *name;
	pipe_rule rule;
	op_kind kind;
	const char *roles;
};

const op_entry OPS[OP_COUNT] = {
#define INCORE_OP(NAME, PIPE, KIND, ROLES) {#NAME, RULE_##PIPE, OPK_##KIND, ROLES},
#include "incore/ops.inc"
#undef INCORE_OP
	{"TASSIGN", RULE_NONE, OPK_OP, "d"},
	{"TMRGSORT", RULE_V, OPK_OP, "ds"},
	{"TPUSH", RULE_PUSH, OPK_PUSH, "s"},
	{"TPOP", RULE_POP, OPK_POP, "d"},
	{"TFREE", RULE_S, OPK_FREE, "v"},
	{"TALLOC", RULE_S, OPK_SCALAR, "v"},
	{"TNOTIFY", RULE_S, OPK_EXT, "v"},
	{"TWAIT", RULE_S, OPK_EXT, "v"},
	{"TPUT", RULE_PUT, OPK_EXT, "dst"},
	{"TPUT_ASYNC", RULE_S, OPK_EXT, "dst"},
};

op_role role_of(char c)
{
	switch (c) {
	case 'd':
		return ROLE_DST;
	case 's':
		return ROLE_SRC;
	case 't':
		return ROLE_TMP;
	case 'i':
		return ROLE_IDX;
	case 'r':
		return ROLE_ROW;
	case 'c':
		return ROLE_COL;
	default:
		return ROLE_VALUE;
	}
}

const char *loc_name(unsigned loc)
{
	static const char *const NAMES[LOC_COUNT] = {"Vec", "Mat", "Left", "Right", "Acc", "Bias",
		"Scaling", "ScaleLeft", "ScaleRight", "Ctrl"};

	return loc < LOC_COUNT ? NAMES[loc] : "?";
}

/* Bytes of the buffers; 0 where no size is published. */
uint64_t buffer_bytes(unsigned loc)
{
	const bool is_a5 = the_job.arch == ARCH_A5;

	switch (loc) {
	case LOC_VEC:
		return (is_a5 ? 256 : 192) << 10;
	case LOC_MAT:
		return 512 << 10;
	case LOC_LEFT:
	case LOC_RIGHT:
		return 64 << 10;
	case LOC_ACC:
		return (is_a5 ? 256 : 128) << 10;
	default:
		return 0;
	}
}

/* End of what the valid part of a tile can touch, in bytes from its start. */
uint64_t tile_extent(const op_opnd &o)
{
	uint64_t rows = OPND_VROW(&o), cols = OPND_VCOL(&o), elems;

	if (rows == 0 || cols == 0)
		return 0;
	if (o.slayout != SL_NONE_BOX)
		elems = uint64_t(OPND_ROWS(&o)) * OPND_COLS(&o);
	else if (o.blayout == BL_ROW_MAJOR)
		elems = (rows - 1) * OPND_COLS(&o) + cols;
	else
		elems = (cols - 1) * OPND_ROWS(&o) + rows;
	return (elems * o.bits + 7) / 8;
}

void check_tile(const op_record &op, const op_opnd &o, uint64_t addr)
{
	uint64_t size = buffer_bytes(o.loc), end = tile_extent(o);

	if (size && end && (addr > size || end > size - addr))
		stop("out-of-bounds",
			"%s at %s: %s tile of %ux%u at 0x%llx ends at 0x%llx, its buffer has "
			"0x%llx bytes",
			op.name, place(op.where).c_str(), loc_name(o.loc), OPND_ROWS(&o),
			OPND_COLS(&o), static_cast<unsigned long long>(addr),
			static_cast<unsigned long long>(addr + end),
			static_cast<unsigned long long>(size));
}

uint32_t checked_valid(
	const op_record &op, const tile_base &t, int32_t v, uint32_t max, const char *what)
{
	if (v < 0 || static_cast<uint32_t>(v) > max)
		stop("bad-shape", "%s at %s: %d valid %s of a %s tile of %ux%u", op.name,
			place(op.where).c_str(), v, what, loc_name(t.form->loc), t.form->rows,
			t.form->cols);
	return static_cast<uint32_t>(v);
}

void add_tile(op_record &op, const tile_base &t, op_role role)
{
	op_opnd &o = op.add(OPND_TILE, role, t.addr);
	const tile_form &f = *t.form;

	o.dtype = f.dtype;
	o.bits = f.bits;
	o.loc = f.loc;
	o.blayout = f.blayout;
	o.slayout = f.slayout;
	o.pad = f.pad;
	o.compact = f.compact;
	o.fractal = f.fractal;
	o.shape[0] = f.rows;
	o.shape[1] = f.cols;
	o.shape[2] = checked_valid(op, t, t.vrow, f.rows, "rows");
	o.shape[3] = checked_valid(op, t, t.vcol, f.cols, "columns");
}

void add_gm(op_record &op, const gm_base &v, op_role role)
{
	int64_t offset = 0;
	slot *s = slot_of(v.ptr, &offset);
	op_opnd &o = op.add(OPND_GM, role, static_cast<uint64_t>(offset));

	o.dtype = v.dtype;
	o.bits = v.bits;
	o.layout = v.layout < LAYOUT_OTHER ? v.layout : static_cast<uint8_t>(LAYOUT_OTHER);
	o.slot = s ? s->rec.slot : OPSTREAM_NO_SLOT;
	for (int i = 0; i < 5; i++) {
		if (v.shape[i] < 0 || v.shape[i] > UINT32_MAX)
			stop("bad-shape", "%s at %s: dimension %d of the global view is %lld",
				op.name, place(op.where).c_str(), i,
				static_cast<long long>(v.shape[i]));
		o.shape[i] = static_cast<uint32_t>(v.shape[i]);
		o.stride[i] = v.stride[i];
	}
}

/* Adds what an argument is; `letter` is its role. False: not an operand, takes no role. */
bool add_arg(op_record &op, const arg &a, char letter)
{
	switch (a.what) {
	case arg::TILE: {
		const tile_base &t = *static_cast<const tile_base *>(a.p);

		/* scales of a quantisation are read, whichever place they stand in */
		add_tile(op, t,
			t.form->loc == LOC_SCALING && letter != 'd' && letter != 'v'
				? ROLE_SRC
				: role_of(letter));
		return true;
	}
	case arg::GM:
		add_gm(op, *static_cast<const gm_base *>(a.p), role_of(letter));
		return true;
	case arg::SCALAR: {
		op_opnd &o = op.add(OPND_SCALAR,
			letter == 'r' || letter == 'c' ? role_of(letter) : ROLE_VALUE, a.value);
		o.dtype = a.dtype;
		o.bits = a.bits;
		return true;
	}
	case arg::ROUND:
		op.form.round = static_cast<uint8_t>(a.value);
		return false;
	case arg::SAT:
		op.form.sat = static_cast<uint8_t>(a.value);
		return false;
	case arg::CMP:
	case arg::RELU:
		op.form.mode = static_cast<uint8_t>(a.value);
		return false;
	case arg::ATOMIC:
		op.form.atomic = static_cast<uint8_t>(a.value);
		return false;
	case arg::PHASE:
		op.form.phase = static_cast<uint8_t>(a.value);
		return false;
	case arg::MASK:
		op.form.mask = static_cast<uint8_t>(a.value);
		return false;
	case arg::SPLIT:
		op.form.split = static_cast<uint8_t>(a.value);
		return false;
	case arg::POINTER:
		return true; /* a place in a role, nothing to record */
	default:
		return false;
	}
}

const op_opnd *find(const op_record &op, op_what what)
{
	for (unsigned i = 0; i < op.n; i++)
		if (op.opnd[i].what == what)
			return &op.opnd[i];
	return nullptr;
}

const op_opnd *find_role(const op_record &op, op_role role)
{
	for (unsigned i = 0; i < op.n; i++)
		if (op.opnd[i].what == OPND_TILE && op.opnd[i].role == role)
			return &op.opnd[i];
	return nullptr;
}

op_pipe move_pipe(const op_record &op)
{
	const op_opnd *d = find_role(op, ROLE_DST), *s = find_role(op, ROLE_SRC);
	unsigned dst = d ? d->loc : unsigned(LOC_VEC), src = s ? s->loc : unsigned(LOC_VEC);

	if (dst == LOC_LEFT || dst == LOC_RIGHT || dst == LOC_BIAS || dst == LOC_SCALE_LEFT ||
		dst == LOC_SCALE_RIGHT)
		return OPP_MTE1;
	if (dst == LOC_SCALING || src == LOC_ACC || dst == LOC_MAT)
		return OPP_FIX;
	return src == LOC_MAT ? OPP_MTE1 : OPP_V;
}

op_pipe pipe_of(pipe_rule rule, const op_record &op, const pipe_base *fifo)
{
	const op_opnd *dst = find_role(op, ROLE_DST), *src = find_role(op, ROLE_SRC);

	switch (rule) {
	case RULE_V:
		return OPP_V;
	case RULE_MTE1:
		return OPP_MTE1;
	case RULE_M:
		return OPP_M;
	case RULE_FIX:
		return OPP_FIX;
	case RULE_NONE:
		return OPP_NONE;
	case RULE_LOAD:
	case RULE_PUT:
		return OPP_MTE2;
	case RULE_STORE:
	case RULE_PUSH:
		return src && src->loc == LOC_ACC ? OPP_FIX : OPP_MTE3;
	case RULE_EXTRACT:
	case RULE_MOVE:
		return move_pipe(op);
	case RULE_V_OR_MAT:
		return dst && dst->loc == LOC_MAT ? OPP_MTE2 : OPP_V;
	case RULE_TCI:
		return find_role(op, ROLE_TMP) ? OPP_V : OPP_S;
	case RULE_POP:
		if (the_job.arch == ARCH_A5 && fifo && fifo->dir < DIR_C2V_GM)
			return the_job.core == CORE_AIV ? OPP_V : OPP_MTE1;
		return OPP_MTE2;
	default:
		return OPP_S;
	}
}

/* What a load or store moves is the smaller of the view and the tile's valid part. */
void clip_view(op_record &op)
{
	op_opnd *gm = const_cast<op_opnd *>(find(op, OPND_GM));
	const op_opnd *t = find(op, OPND_TILE);
	bool is_flat;

	if (!gm || !t)
		return;
	is_flat = gm->shape[0] == 1 && gm->shape[1] == 1 && gm->shape[2] == 1;
	if (OPND_VROW(t) == 0 || OPND_VCOL(t) == 0) {
		gm->shape[3] = gm->shape[4] = 0;
	} else if (is_flat && (gm->layout == LAYOUT_ND || gm->layout == LAYOUT_DN)) {
		gm->shape[3] = OPND_VROW(t) < gm->shape[3] ? OPND_VROW(t) : gm->shape[3];
		gm->shape[4] = OPND_VCOL(t) < gm->shape[4] ? OPND_VCOL(t) : gm->shape[4];
	}
}

void check_gm(const op_record &op, const op_opnd &o, int64_t offset)
{
	int64_t low = 0, high = 0, from, to;
	slot *s;

	for (int i = 0; i < 5; i++) {
		if (o.shape[i] == 0)
			return;
		int64_t span = static_cast<int64_t>(o.shape[i] - 1) * o.stride[i];

		(span < 0 ? low : high) += span;
	}
	if (o.slot == OPSTREAM_NO_SLOT)
		stop("out-of-bounds", "%s at %s: its global address belongs to no slot", op.name,
			place(op.where).c_str());
	s = &the_job.slots[o.slot];
	from = offset + low * o.bits / 8;
	to = offset + (high * o.bits + o.bits + 7) / 8;
	if (from < 0 ||
		((s->rec.flags & SLOT_SIZE_KNOWN) && to > static_cast<int64_t>(s->rec.bytes)))
		stop("out-of-bounds",
			"%s at %s: bytes %lld to %lld of slot %u%s%s, whose buffer has %llu bytes",
			op.name, place(op.where).c_str(), static_cast<long long>(from),
			static_cast<long long>(to - 1), o.slot, s->name.empty() ? "" : " ",
			s->name.c_str(), static_cast<unsigned long long>(s->rec.bytes));
	s->touched =
		static_cast<uint64_t>(to) > s->touched ? static_cast<uint64_t>(to) : s->touched;
}

void check_bounds(const op_record &op)
{
	if (op.form.kind == OPK_EXT || op.form.pipe == OPP_NONE)
		return;
	for (unsigned i = 0; i < op.n; i++) {
		const op_opnd &o = op.opnd[i];

		if (o.role == ROLE_VALUE)
			continue;
		if (o.what == OPND_TILE)
			check_tile(op, o, op.word[i]);
		else if (o.what == OPND_GM)
			check_gm(op, o, static_cast<int64_t>(op.word[i]));
	}
}

/* A cube core has no vector unit; a vector core neither multiplies matrices nor has their buffers. */
void check_core(const op_record &op)
{
	const bool is_vector = the_job.core == CORE_AIV;
	const op_opnd *src = find_role(op, ROLE_SRC);
	const unsigned pipe = op.form.pipe;
	const bool is_cube = pipe == OPP_M || pipe == OPP_MTE1 ||
			     (pipe == OPP_FIX && src && src->loc == LOC_ACC);

	if (op.form.kind == OPK_OP && (is_vector ? is_cube : pipe == OPP_V))
		stop("wrong-core",
			"%s at %s is an op of the %s core, and this is the %s core: --core says "
			"where a source runs",
			op.name, place(op.where).c_str(), is_vector ? "cube" : "vector",
			is_vector ? "vector" : "cube");
}

void describe_fifo(op_record &op, const pipe_base &p)
{
	int64_t offset = 0;
	slot *s = slot_of(p.gm, &offset);

	op.form.fifo_flag_id = p.flag_id;
	op.form.fifo_dir = p.dir;
	op.form.fifo_flags = p.flags;
	op.form.fifo_slot_size = p.slot_size;
	op.form.fifo_slot_num = p.slot_num;
	op.form.fifo_local_num = p.local_num;
	op.form.fifo_object = p.object;
	/* where the ring lies in global memory: no access of its own, the transfers have that */
	op_opnd &o = op.add(OPND_GM, ROLE_VALUE, s ? static_cast<uint64_t>(offset) : 0);
	o.slot = s ? s->rec.slot : OPSTREAM_NO_SLOT;
	o.dtype = DT_U8;
	o.bits = 8;
}

/* A pop says where its tile is; a push and a free only count. */
void step_fifo(op_record &op, pipe_base &p, const arg *tile)
{
	bool is_direct = the_job.arch == ARCH_A5 && p.dir < DIR_C2V_GM;

	switch (op.form.kind) {
	case OPK_PUSH:
		op.aux = p.n_push++;
		p.prod.tile_id++;
		break;
	case OPK_FREE:
		op.aux = p.n_free++;
		break;
	case OPK_POP: {
		uint32_t ring = is_direct ? p.slot_num : p.local_num;
		uint64_t at = uint64_t(ring ? p.cons.tile_id % ring : 0) * p.slot_size;

		op.aux = p.n_pop++;
		p.cons.tile_id++;
		if (tile && tile->what == arg::TILE)
			const_cast<tile_base *>(static_cast<const tile_base *>(tile->p))->addr =
				(the_job.core == CORE_AIV ? p.c2v_addr : p.v2c_addr) + at;
		break;
	}
	default:
		break;
	}
}

void record_fifo(op_record &op, const op_entry &entry, const arg *v, unsigned n)
{
	pipe_base *p = nullptr;
	const arg *tile = nullptr;

	for (unsigned i = 0; i < n; i++) {
		if (v[i].what == arg::PIPE)
			p = const_cast<pipe_base *>(static_cast<const pipe_base *>(v[i].p));
		else if (v[i].what == arg::TILE || v[i].what == arg::GM)
			tile = &v[i];
	}
	if (p)
		step_fifo(op, *p, tile);
	for (unsigned i = 0; i < n; i++)
		add_arg(op, v[i], entry.roles[0]);
	if (p)
		describe_fifo(op, *p);
	else if (entry.kind != OPK_SCALAR)
		stop("bad-operand", "%s at %s: no TPipe among its operands", op.name,
			place(op.where).c_str());
	op.form.pipe = pipe_of(entry.rule, op, p);
	for (unsigned i = 0; i < op.n; i++)
		if (op.opnd[i].what == OPND_TILE && op.opnd[i].role != ROLE_VALUE)
			check_tile(op, op.opnd[i], op.word[i]);
	stream_push(op);
	values_op(op, false);
}

uint16_t n_pipes;
} // namespace

void record(int id, site s, const arg *v, unsigned n)
{
	const op_entry &entry = OPS[id];
	const char *roles = entry.roles;
	op_record op(entry.kind, OPP_S, entry.name, s);

	if (id == OP_TPUSH || id == OP_TPOP || id == OP_TFREE || id == OP_TALLOC) {
		record_fifo(op, entry, v, n);
		return;
	}
	for (unsigned i = 0; id == OP_TMRGSORT && i < n; i++) {
		if (v[i].what == arg::LIST)
			roles = "dts";
		else if (v[i].what == arg::FLAG)
			op.form.exhausted = static_cast<uint8_t>(v[i].value);
	}
	for (unsigned i = 0; i < n; i++)
		if (v[i].what != arg::NONE && add_arg(op, v[i], *roles) && roles[1])
			roles++;
	if (id == OP_TRESHAPE || id == OP_TSUBVIEW) {
		assign(v[0], v[1], s);
		if (id == OP_TRESHAPE)
			op.word[0] = op.word[1];
	}
	op.form.pipe = pipe_of(entry.rule, op, nullptr);
	check_core(op);
	if (entry.rule == RULE_LOAD || entry.rule == RULE_STORE || id == OP_TSTORE_FP)
		clip_view(op);
	check_bounds(op);
	stream_push(op);
	if (op.form.kind == OPK_OP && op.form.pipe != OPP_NONE)
		values_op(op, id == OP_TLOAD);
}

void assign(const arg &what, const arg &where, site s)
{
	if (what.what == arg::TILE) {
		tile_base *t = const_cast<tile_base *>(static_cast<const tile_base *>(what.p));

		t->addr = where.what == arg::TILE ? static_cast<const tile_base *>(where.p)->addr
						  : where.value;
		if (where.what == arg::TILE)
			return; /* an alias: the op that makes it is recorded by its own name */
		op_record op(OPK_OP, OPP_NONE, "TASSIGN", s);
		add_tile(op, *t, ROLE_DST);
		stream_push(op);
	} else if (what.what == arg::GM && where.what == arg::POINTER) {
		const_cast<gm_base *>(static_cast<const gm_base *>(what.p))->ptr =
			reinterpret_cast<void *>(where.value);
	}
}

void set_value(const tile_base &t, uint64_t index, const arg &v, site s)
{
	op_record op(OPK_SETV, OPP_S, "SetValue", s);

	add_tile(op, t, ROLE_DST);
	op.add(OPND_SCALAR, ROLE_COL, index).bits = 64;
	add_arg(op, v, 'v');
	check_tile(op, op.opnd[0], op.word[0]);
	stream_push(op);
	if (v.what == arg::SCALAR)
		values_set(op.opnd[0], t.addr + index * t.form->bits / 8, v.value);
}

void get_value(const tile_base &t, uint64_t index, void *out, site s)
{
	op_record op(OPK_GETV, OPP_S, "GetValue", s);

	add_tile(op, t, ROLE_SRC);
	op.add(OPND_SCALAR, ROLE_COL, index).bits = 64;
	stream_push(op);
	const char *why =
		t.form->loc == LOC_VEC && t.form->bits >= 8
			? values_get(t.addr + index * t.form->bits / 8, t.form->bits / 8, out)
			: "is computed on the device";
	if (why)
		stop("no-value",
			"GetValue at %s: element %llu of the %s tile of %ux%u at 0x%llx %s; this "
			"model computes "
			"no tile values",
			place(s).c_str(), static_cast<unsigned long long>(index),
			loc_name(t.form->loc), t.form->rows, t.form->cols,
			static_cast<unsigned long long>(t.addr), why);
}

void pipe_begin(pipe_base &p)
{
	p.object = n_pipes++;
}

void pipe_end_of_life(pipe_base &p)
{
	op_record op(OPK_FIFO_END, OPP_S, "TPIPE_END", p.where);

	describe_fifo(op, p);
	op.aux = p.n_push;
	stream_push(op);
}

void scalar_access(const slot &s, int64_t offset, unsigned bytes, bool is_store, bool is_first)
{
	static const uint8_t TYPES[] = {DT_U8, DT_U16, DT_U32, DT_U64};
	op_record op(is_store ? OPK_GMWRITE : OPK_GMREAD, OPP_S,
		is_store ? "scalar_store" : "scalar_load", site());
	op_opnd &o = op.add(OPND_GM, is_store ? ROLE_DST : ROLE_SRC, static_cast<uint64_t>(offset));

	o.slot = s.rec.slot;
	o.dtype = TYPES[bytes >= 8 ? 3 : bytes >> 1];
	o.bits = static_cast<uint8_t>(bytes >= 8 ? 64 : 8 * bytes);
	for (int i = 0; i < 5; i++)
		o.shape[i] = o.stride[i] = 1;
	o.shape[4] = bytes > 8 ? bytes / 8 : 1;
	op.form.mode = is_first;
	stream_push(op);
}

void reset_counters()
{
	n_pipes = 0;
}
} // namespace incore
