/* SPDX-License-Identifier: Apache-2.0 */
/* log.c: reads the records of a log and checks each before use. */
#include "import/cuda/log.h"
#include "base/crc32c.h"
#include "base/search.h"

#define MAX_REASON_INDEX 1024u

bool cuda_is_log(const uint8_t *p, size_t n)
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

static bool add_lists(struct cuda_log *l, uint32_t type, struct cuda_body b)
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

static bool add_record(struct cuda_log *l, uint32_t type, struct cuda_body b)
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
		return add_lists(l, type, b);
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
static bool read_head(struct cuda_log *l, size_t *at, struct incore_error *e)
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

static bool read_records(struct cuda_log *l, struct incore_error *e)
{
	size_t at = 0, n = l->bytes.n;
	uint32_t seq = 0;

	while (at < n) {
		struct cuda_record r;
		struct cuda_body b;
		const char *p = l->bytes.p + at;

		if (n - at >= sizeof(struct cuda_log_head) && !memcmp(p, CUDA_LOG_MAGIC, 8)) {
			if (!read_head(l, &at, e))
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
		if (!add_record(l, r.type, b))
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
static bool set_has(struct str set, uint64_t n)
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

	return !set.n || set_has(set, x->ordinal);
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
	if (!read_records(l, e))
		return false;
	number_launches(l);
	return cuda_find_kernels(l, e);
}
