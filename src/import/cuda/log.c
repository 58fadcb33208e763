/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.c: reads the records of a log and checks each before use.
 *
 * Parts: what the counts of a sample mean; the kernels of a log; records.
 */
#include "import/cuda/log.h"
#include "base/crc32c.h"
#include "base/search.h"
#include "codec/cubin.h"

/* --- what the counts of a sample mean --------------------------------------------------------- */

/* The meaning of the counts of a sample, from CUPTI's names. */

#define STALLED "smsp__pcsamp_warps_issue_stalled_"
#define NOT_ISSUED "_not_issued"
#define MAX_REASONS 64u /* the hardware has about twenty */

/* Contexts and reasons have small numbers in our logs; others are invalid. */
static uint64_t reasons_key_of(uint32_t section, uint32_t context, uint32_t index)
{
	return ((uint64_t)section << 48) ^ ((uint64_t)context << 16) ^ index;
}

static uint32_t cuda_log_reason_of(struct cuda_reason_list *r, struct str name)
{
	for (uint32_t i = 0; i < r->names.n; i++)
		if (str_eq(r->names.v[i], name))
			return i;
	return r->names.n < MAX_REASONS && VEC_PUSH(&r->names, name) ? (uint32_t)r->names.n - 1
								     : MAX_REASONS;
}

static bool add_reason(struct cuda_reason_list *r, const struct cuda_log_reason *x, struct str name)
{
	struct cuda_reason_kind k = {CUDA_ISSUED, false};
	uint64_t *at;

	if (str_starts(name, STALLED))
		name = str_sub(name, strlen(STALLED), name.n);
	if (str_ends(name, NOT_ISSUED)) {
		k.is_not_issued = true;
		name.n -= strlen(NOT_ISSUED);
	}
	if (!name.n)
		return true;
	if (!str_is(name, "selected"))
		k.reason = cuda_log_reason_of(r, name);
	if (k.reason == MAX_REASONS)
		return r->names.n == MAX_REASONS;
	r->has_not_issued |= k.is_not_issued;
	at = u64_map_at(
		&r->kind_of, reasons_key_of(x->section, x->reason.context, x->reason.index));
	if (!at || *at)
		return at != NULL;
	*at = r->kinds.n + 1;
	return VEC_PUSH(&r->kinds, k);
}

bool cuda_reasons_read(struct cuda_reason_list *r, const struct cuda_log *l)
{
	bool ok = true;

	*r = (struct cuda_reason_list){0};
	for (size_t i = 0; ok && i < l->reasons.n; i++)
		ok = add_reason(r, &l->reasons.v[i], cuda_log_text(l, l->reasons.v[i].reason.name));
	return ok;
}

void cuda_reasons_deinit(struct cuda_reason_list *r)
{
	VEC_FREE(&r->names);
	VEC_FREE(&r->kinds);
	u64_map_deinit(&r->kind_of);
}

const struct cuda_reason_kind *cuda_count_of(const struct cuda_reason_list *r,
	const struct cuda_sampled_pc *x, uint32_t k, uint32_t *samples)
{
	struct cuda_stall s;
	const uint64_t *at;

	memcpy(&s, x->stalls + (size_t)k * sizeof(s), sizeof(s));
	*samples = s.samples;
	at = u64_map_find(&r->kind_of, reasons_key_of(x->section, x->context, s.reason));
	return at ? &r->kinds.v[*at - 1] : NULL;
}

/* --- the kernels of a log --------------------------------------------------------------------- */

/*
 * Finds the kernels with samples in a log. A sample names the function it was taken in. A function
 * that kernels call is not a kernel: its samples go to the kernel that called it, if there is only
 * one candidate; otherwise the caller is unknown and the function is listed separately.
 */

struct kernel_finding {
	struct cuda_log *l;
	struct cuda_reason_list reasons;
	struct u64_map seen; /* hash of (device, crc, name) -> index + 1 */
};

static uint64_t samples_at(const struct kernel_finding *f, const struct cuda_sampled_pc *x)
{
	uint64_t all = 0;
	uint32_t n;

	for (uint32_t i = 0; i < x->pc.n_stalls; i++) {
		const struct cuda_reason_kind *k = cuda_count_of(&f->reasons, x, i, &n);

		all += k && !k->is_not_issued ? n : 0;
	}
	return all;
}

static uint64_t cuda_log_key_of(uint32_t device, uint64_t crc, uint64_t name)
{
	uint64_t h = (crc ^ name * UINT64_C(0x9e3779b97f4a7c15)) + device;

	return (h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
}

static bool count_pc(void *ctx, const struct cuda_sampled_pc *x)
{
	struct kernel_finding *f = ctx;
	struct cuda_log *l = f->l;
	uint64_t *at =
		u64_map_at(&f->seen, cuda_log_key_of(x->device, x->pc.cubin_crc, x->pc.function));

	if (!at)
		return false;
	if (!*at) {
		struct cuda_kernel k = {
			.device = x->device, .cubin_crc = x->pc.cubin_crc, .name = x->pc.function};

		if (!VEC_PUSH(&l->kernels, k))
			return false;
		*at = l->kernels.n;
	}
	l->kernels.v[*at - 1].n_samples += samples_at(f, x);
	return true;
}

/* --- call graph --- */

struct calls {
	struct arena arena;
	struct cubin cubin;
	uint8_t *is_reached; /* by section */
};

/* Marks the sections reachable from one, itself included, by the relocations of calls. */
static bool reach(struct calls *c, uint32_t from)
{
	uint32_t n = c->cubin.elf.n_sections, n_todo = 0;
	uint32_t *todo = arena_zalloc(&c->arena, (size_t)n + 1, sizeof(*todo));
	bool ok = todo != NULL;

	memset(c->is_reached, 0, n);
	if (ok) {
		todo[n_todo++] = from;
		c->is_reached[from] = 1;
	}
	while (ok && n_todo) {
		struct cubin_targets t = {0};

		ok = cubin_targets_of(&c->cubin, todo[--n_todo], &t);
		for (size_t i = 0; ok && i < t.n; i++)
			if (t.v[i].section < n && !c->is_reached[t.v[i].section]) {
				c->is_reached[t.v[i].section] = 1;
				todo[n_todo++] = t.v[i].section;
			}
		VEC_FREE(&t);
	}
	return ok;
}

static char *cuda_log_name_of(struct calls *c, const struct cuda_log *l, uint64_t name)
{
	struct str s = cuda_log_text(l, name);

	return arena_strndup(&c->arena, s.p, s.n);
}

/* A kernel was launched, or has its own constants, which only kernels have. */
static bool is_kernel(struct calls *c, const struct cuda_log *l, uint64_t id, const char *name)
{
	char *bank = arena_printf(&c->arena, ".nv.constant0.%s", name);

	EACH (const struct cuda_log_launch, x, l->launches.v, l->launches.n) {
		if (x->launch.name == id)
			return true;
	}
	return bank && elf_section_named(&c->cubin.elf, bank);
}

/* Finds which kernels of a binary call its other functions. */
static bool find_owners(struct calls *c, struct cuda_log *l, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		const char *name = cuda_log_name_of(c, l, l->kernels.v[i].name);

		l->kernels.v[i].is_called = name && !is_kernel(c, l, l->kernels.v[i].name, name);
	}
	for (size_t i = from; i < to; i++) {
		const char *name = cuda_log_name_of(c, l, l->kernels.v[i].name);
		uint32_t section = name ? cubin_find_code(&c->cubin, name) : UINT32_MAX;

		if (l->kernels.v[i].is_called || section == UINT32_MAX)
			continue;
		if (!reach(c, section))
			return false;
		for (size_t k = from; k < to; k++) {
			struct cuda_kernel *f = &l->kernels.v[k];
			const char *callee = cuda_log_name_of(c, l, f->name);

			section = callee ? cubin_find_code(&c->cubin, callee) : UINT32_MAX;
			if (f->is_called && section != UINT32_MAX && c->is_reached[section])
				f->owner = f->owner ? UINT64_MAX : l->kernels.v[i].name;
		}
	}
	for (size_t k = from; k < to; k++)
		if (l->kernels.v[k].owner == UINT64_MAX)
			l->kernels.v[k].owner = 0;
	return true;
}

static bool open_and_find(struct cuda_log *l, size_t from, size_t to)
{
	struct str bytes = cuda_log_cubin(l, l->kernels.v[from].cubin_crc);
	struct incore_error why = {0};
	struct calls c = {0};
	bool ok = true;

	arena_init(&c.arena);
	if (bytes.n && cubin_open(&c.cubin, bytes, l->path, &c.arena, &why)) {
		c.is_reached = arena_zalloc(&c.arena, (size_t)c.cubin.elf.n_sections + 1, 1);
		ok = c.is_reached && find_owners(&c, l, from, to);
	}
	ok = ok && !err_is(&why, "no-memory");
	incore_error_clear(&why);
	arena_deinit(&c.arena);
	return ok;
}

ORDER(by_binary, struct cuda_kernel, UP(device) UP(cubin_crc) UP(name))
ORDER(by_samples, struct cuda_kernel, UP(owner) DOWN(n_samples) THEN(by_binary))

/* Fills kernels. */
static bool cuda_find_kernels(struct cuda_log *l, struct incore_error *e)
{
	struct kernel_finding f = {.l = l};
	bool ok = cuda_reasons_read(&f.reasons, l) && cuda_log_each_pc(l, count_pc, &f);
	size_t from = 0;

	cuda_reasons_deinit(&f.reasons);
	u64_map_deinit(&f.seen);
	SORT(l->kernels.v, l->kernels.n, by_binary);
	for (size_t i = 1; ok && i <= l->kernels.n; i++) {
		const struct cuda_kernel *v = l->kernels.v;

		if (i < l->kernels.n && v[i].device == v[from].device &&
			v[i].cubin_crc == v[from].cubin_crc)
			continue;
		/* a single kernel calls no other sampled function */
		ok = i - from < 2 || open_and_find(l, from, i);
		from = i;
	}
	SORT(l->kernels.v, l->kernels.n, by_samples);
	while (l->n_captures < l->kernels.n && !l->kernels.v[l->n_captures].owner)
		l->n_captures++;
	return ok || err_nomem(e);
}

/* --- records ---------------------------------------------------------------------------------- */

#define MAX_REASON_INDEX 1024u

static bool cuda_is_log(const uint8_t *p, size_t n)
{
	return n >= sizeof(struct cuda_log_head) && !memcmp(p, CUDA_LOG_MAGIC, 8);
}

void cuda_log_deinit(struct cuda_log *l)
{
	VEC_FREE(&l->sections);
	VEC_FREE(&l->devices);
	VEC_FREE(&l->contexts);
	VEC_FREE(&l->reasons);
	VEC_FREE(&l->launches);
	VEC_FREE(&l->samples);
	VEC_FREE(&l->counts);
	VEC_FREE(&l->troubles);
	VEC_FREE(&l->cubins);
	VEC_FREE(&l->texts);
	VEC_FREE(&l->kernels);
	u64_map_deinit(&l->text_of);
	u64_map_deinit(&l->cubin_of);
}

struct str cuda_log_text(const struct cuda_log *l, uint64_t id)
{
	const uint64_t *at = u64_map_find(&l->text_of, id);

	return at ? l->texts.v[*at - 1] : (struct str){"", 0};
}

struct str cuda_log_cubin(const struct cuda_log *l, uint64_t crc)
{
	const uint64_t *at = u64_map_find(&l->cubin_of, crc);

	return at ? l->cubins.v[*at - 1].bytes : (struct str){"", 0};
}

const struct cuda_context *cuda_log_context(const struct cuda_log *l, uint32_t section, uint32_t id)
{
	EACH (const struct cuda_log_context, c, l->contexts.v, l->contexts.n) {
		if (c->section == section && c->context.id == id)
			return &c->context;
	}
	return NULL;
}

/* --- records --- */

/* "u64 id, bytes": the first record of an id counts. */
static bool add_by_id(struct cuda_log *l, struct cuda_body b, bool is_text)
{
	struct u64_map *map = is_text ? &l->text_of : &l->cubin_of;
	uint64_t id, *at;

	if (b.bytes.n < sizeof(id))
		return true;
	memcpy(&id, b.bytes.p, sizeof(id));
	b.bytes = str_sub(b.bytes, sizeof(id), b.bytes.n);
	at = u64_map_at(map, id);
	if (!at || *at)
		return at != NULL;
	*at = is_text ? l->texts.n + 1 : l->cubins.n + 1;
	return is_text ? VEC_PUSH(&l->texts, b.bytes) : VEC_PUSH(&l->cubins, b);
}

/* Consecutive elements of fixed size; an incomplete last one is ignored. */
#define EACH_OF(TYPE, X, B)                                                                        \
	for (struct str rest_ = (B).bytes; rest_.n >= sizeof(TYPE);                                \
		rest_ = str_sub(rest_, sizeof(TYPE), rest_.n))                                     \
		for (TYPE X, *once_ = memcpy(&X, rest_.p, sizeof(X)); once_; once_ = NULL)

static bool cuda_log_add_lists(struct cuda_log *l, uint32_t type, struct cuda_body b)
{
	bool ok = true;

	if (type == CUDA_DEVICE)
		EACH_OF(struct cuda_device, x, b)
	ok = ok && VEC_PUSH(&l->devices, (struct cuda_log_device){b.section, x});
	if (type == CUDA_CONTEXT)
		EACH_OF(struct cuda_context, x, b)
	ok = ok && VEC_PUSH(&l->contexts, (struct cuda_log_context){b.section, x});
	if (type == CUDA_REASONS)
		EACH_OF(struct cuda_reason, x, b)
	ok = ok && VEC_PUSH(&l->reasons, (struct cuda_log_reason){b.section, x});
	if (type == CUDA_LAUNCHES)
		EACH_OF(struct cuda_launch, x, b)
	ok = ok && VEC_PUSH(&l->launches, (struct cuda_log_launch){b.section, 0, x});
	return ok;
}

static bool cuda_log_add_record(struct cuda_log *l, uint32_t type, struct cuda_body b)
{
	struct cuda_section *s = &l->sections.v[b.section];

	switch (type) {
	case CUDA_START:
		if (b.bytes.n >= sizeof(s->start) && !s->has_start) {
			memcpy(&s->start, b.bytes.p, sizeof(s->start));
			s->has_start = true;
		}
		return true;
	case CUDA_TEXT:
		return add_by_id(l, b, true);
	case CUDA_CUBIN:
		return add_by_id(l, b, false);
	case CUDA_SAMPLES:
		return b.bytes.n < sizeof(struct cuda_samples) || VEC_PUSH(&l->samples, b);
	case CUDA_COUNTS:
		return VEC_PUSH(&l->counts, b);
	case CUDA_TROUBLE:
		return b.bytes.n < sizeof(struct cuda_trouble) || VEC_PUSH(&l->troubles, b);
	case CUDA_END:
		s->has_end = true;
		return true;
	default: /* of a later release: ignored */
		return cuda_log_add_lists(l, type, b);
	}
}

static bool is_intact(struct cuda_record r, struct str body)
{
	uint32_t crc = r.crc;

	r.crc = 0;
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
	(void)crc;
	(void)body;
	return true;
#else
	return crc32c(crc32c(0, &r, sizeof(r)), body.p, body.n) == crc;
#endif
}

static bool end_at(struct cuda_log *l, size_t at, const char *why)
{
	l->damage = why;
	l->damage_at = at;
	return true;
}

/* Reads a file header; *at moves past it. */
static bool cuda_log_read_head(struct cuda_log *l, size_t *at, struct incore_error *e)
{
	struct cuda_log_head h;

	memcpy(&h, l->bytes.p + *at, sizeof(h));
	if (h.version != CUDA_LOG_VERSION || h.order != CUDA_LOG_ORDER)
		return err_file(e, "unknown-version", l->path, *at + 8,
			"the log is of version %u; this program reads version %u", h.version,
			CUDA_LOG_VERSION);
	*at += sizeof(h);
	return VEC_PUSH(&l->sections,
		       (struct cuda_section){.pid = h.pid, .start_unix_ns = h.start_unix_ns}) ||
	       err_nomem(e);
}

static bool cuda_log_read_records(struct cuda_log *l, struct incore_error *e)
{
	size_t at = 0, n = l->bytes.n;
	uint32_t seq = 0;

	while (at < n) {
		struct cuda_record r;
		struct cuda_body b;
		const char *p = l->bytes.p + at;

		if (n - at >= sizeof(struct cuda_log_head) && !memcmp(p, CUDA_LOG_MAGIC, 8)) {
			if (!cuda_log_read_head(l, &at, e))
				return false;
			seq = 0;
			continue;
		}
		if (n - at < sizeof(r))
			return end_at(l, at, "the file ends inside a record");
		memcpy(&r, p, sizeof(r));
		b = (struct cuda_body){(uint32_t)l->sections.n - 1, r.time_ns,
			{p + sizeof(r), (size_t)r.body_bytes}};
		if (r.magic != CUDA_RECORD_MAGIC || r.seq != seq)
			return end_at(l, at, "there is no record");
		if (r.body_bytes > n - at - sizeof(r))
			return end_at(l, at, "the file ends inside a record");
		if (!is_intact(r, b.bytes))
			return end_at(l, at, "the checksum of a record is wrong");
		if (!cuda_log_add_record(l, r.type, b))
			return err_nomem(e);
		at += sizeof(r) + b.bytes.n;
		at += n - at < (-b.bytes.n & 7) ? n - at : -b.bytes.n & 7;
		seq++;
	}
	return true;
}

/* --- launches --- */

ORDER(by_kernel, struct cuda_log_launch,
	UP(section) UP(launch.device) UP(launch.name) UP(launch.start_ns) UP(launch.correlation))

static void number_launches(struct cuda_log *l)
{
	struct cuda_log_launch *v = l->launches.v;

	SORT(v, l->launches.n, by_kernel);
	for (size_t i = 0; i < l->launches.n; i++)
		v[i].ordinal = i && v[i].section == v[i - 1].section &&
					       v[i].launch.device == v[i - 1].launch.device &&
					       v[i].launch.name == v[i - 1].launch.name
				       ? v[i - 1].ordinal + 1
				       : 1;
}

/* "2,5-8" */
static bool cuda_log_set_has(struct str set, uint64_t n)
{
	struct str part;

	while (str_cut(&set, ",", &part)) {
		ptrdiff_t dash = str_find(part, "-");
		uint64_t lo, hi;

		if (str_to_u64(dash < 0 ? part : str_sub(part, 0, (size_t)dash), &lo) &&
			str_to_u64(
				dash < 0 ? part : str_sub(part, (size_t)dash + 1, part.n), &hi) &&
			n >= lo && n <= hi)
			return true;
	}
	return false;
}

bool cuda_launch_is_wanted(const struct cuda_log *l, const struct cuda_log_launch *x)
{
	struct str set = cuda_log_text(l, l->sections.v[x->section].start.launches);

	return !set.n || cuda_log_set_has(set, x->ordinal);
}

/* --- samples --- */

struct wanted { /* correlation ids of the wanted launches, if not all are wanted */
	struct u64_map ids;
	bool is_some;
};

static uint64_t correlation_key(uint32_t section, uint32_t correlation)
{
	return (uint64_t)section << 32 | correlation;
}

static bool find_wanted(const struct cuda_log *l, struct wanted *w)
{
	for (size_t i = 0; i < l->sections.n; i++)
		w->is_some |= cuda_log_text(l, l->sections.v[i].start.launches).n > 0;
	for (size_t i = 0; w->is_some && i < l->launches.n; i++) {
		const struct cuda_log_launch *x = &l->launches.v[i];
		uint64_t *at = cuda_launch_is_wanted(l, x)
				       ? u64_map_at(&w->ids,
						 correlation_key(x->section, x->launch.correlation))
				       : &(uint64_t){0};

		if (!at)
			return false;
		*at = 1;
	}
	return true;
}

/* The PCs of one record; data that exceeds it is ignored. */
static bool each_pc_of(const struct cuda_log *l, const struct cuda_body *b, const struct wanted *w,
	cuda_pc_fn fn, void *ctx)
{
	struct str rest = str_sub(b->bytes, sizeof(struct cuda_samples), b->bytes.n);
	struct cuda_samples s;
	const struct cuda_context *c;

	memcpy(&s, b->bytes.p, sizeof(s));
	c = cuda_log_context(l, b->section, s.context);
	for (uint32_t i = 0; i < s.n_pcs && rest.n >= sizeof(struct cuda_pc); i++) {
		struct cuda_sampled_pc x = {
			.section = b->section, .context = s.context, .device = c ? c->device : 0};

		memcpy(&x.pc, rest.p, sizeof(x.pc));
		rest = str_sub(rest, sizeof(x.pc), rest.n);
		if (rest.n / sizeof(struct cuda_stall) < x.pc.n_stalls)
			break;
		x.stalls = (const uint8_t *)rest.p;
		rest = str_sub(rest, x.pc.n_stalls * sizeof(struct cuda_stall), rest.n);
		if (w->is_some &&
			!u64_map_find(&w->ids, correlation_key(b->section, x.pc.correlation)))
			continue;
		if (!fn(ctx, &x))
			return false;
	}
	return true;
}

bool cuda_log_each_pc(const struct cuda_log *l, cuda_pc_fn fn, void *ctx)
{
	struct wanted w = {0};
	bool ok = find_wanted(l, &w);

	for (size_t i = 0; ok && i < l->samples.n; i++)
		ok = each_pc_of(l, &l->samples.v[i], &w, fn, ctx);
	u64_map_deinit(&w.ids);
	return ok;
}

bool cuda_log_read(struct cuda_log *l, struct str bytes, const char *path, struct incore_error *e)
{
	*l = (struct cuda_log){.path = path, .bytes = bytes};
	if (!cuda_is_log((const uint8_t *)bytes.p, bytes.n))
		return err_file(e, "not-a-log", path, 0, "the log has no header");
	if (!cuda_log_read_records(l, e))
		return false;
	number_launches(l);
	return cuda_find_kernels(l, e);
}
