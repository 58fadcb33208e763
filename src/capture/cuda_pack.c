/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_pack.c: turns the logs of processes into packed captures and checks each. */
#include "base/file.h"
#include "capture/cuda.h"
#include "capture/pack.h"
#include "codec/demangle.h"

/* The n-th process of the sampled run and the n-th of the exact run did the same work if both runs
 * have equally many processes. */
static const struct cuda_process *partner_of(
	const struct cuda_processes *samples, const struct cuda_processes *exact, size_t i)
{
	return exact->v.n == samples->v.n ? &exact->v.v[i] : NULL;
}

static uint64_t launches_of(const struct cuda_log *l, uint64_t name, uint32_t device)
{
	uint64_t n = 0;

	EACH (const struct cuda_log_launch, x, l->launches.v, l->launches.n)
		n += x->launch.name == name && x->launch.device == device;
	return n;
}

/* An exact run has no activity records, so the kernels of a graph are not known. */
static bool has_graphs(const struct cuda_log *l)
{
	EACH (const struct cuda_log_launch, x, l->launches.v, l->launches.n) {
		if (!cuda_log_text(l, x->launch.name).n)
			return true;
	}
	return false;
}

/* Writes one log with the samples and the exact counts of one process. */
static bool join(struct cuda *c, const struct cuda_process *a, const struct cuda_process *b,
	const char **path, struct incore_error *e)
{
	struct out_file out = {0};
	bool ok;

	*path = a->path;
	if (!b)
		return true;
	*path = arena_printf(&c->arena, "%s.joined" CUDA_LOG_SUFFIX, a->path);
	if (!*path)
		return err_nomem(e);
	/* data after a damaged record would not be read */
	ok = out_file_open(&out, *path, e) &&
	     (fwrite(a->file.data, 1, a->log.damage ? a->log.damage_at : a->file.size, out.f) ==
			     (a->log.damage ? a->log.damage_at : a->file.size) ||
		     err_write(e)) &&
	     (fwrite(b->file.data, 1, b->file.size, out.f) == b->file.size || err_write(e)) &&
	     out_file_commit(&out, e);
	out_file_abort(&out);
	return ok;
}

static bool pack_kernel(
	struct cuda *c, const char *path, struct cuda_file *f, struct incore_error *e)
{
	struct pack_request r = {
		.path = path, .dir = c->q->dir, .kernel = f->kernel, .drive = &c->q->drive};
	struct pack_result got;

	if (!pack_capture(&r, &c->arena, &got, e))
		return false;
	f->file = got.file;
	f->verdict = got.verdict;
	f->health = got.health;
	f->samples = got.samples;
	f->dropped = got.dropped;
	f->is_exact = got.has_counts;
	c->answer.period_cyc = got.period_cyc;
	return VEC_PUSH(&c->answer.captures, *f) || err_nomem(e);
}

static bool pack_process(struct cuda *c, const struct cuda_process *p,
	const struct cuda_process *partner, size_t number, struct incore_error *e)
{
	const struct cuda_log *l = &p->log;
	const char *path;

	if (!join(c, p, partner, &path, e))
		return false;
	for (uint32_t i = 0; i < l->n_captures; i++) {
		const struct cuda_kernel *k = &l->kernels.v[i];
		struct str name = cuda_log_text(l, k->name);
		const char *mangled = arena_strndup(&c->arena, name.p, name.n);
		const char *part = arena_printf(&c->arena, "%s#%u", path, i);
		struct cuda_file f = {.process = number,
			.device = k->device,
			.launches = launches_of(l, k->name, k->device)};
		bool is_wanted = false;

		if (!mangled || !part || !(f.kernel = demangle(mangled, &c->arena)))
			return err_nomem(e);
		f.kernel = *f.kernel ? f.kernel : mangled;
		if (!cuda_is_wanted(c, mangled, &is_wanted, e))
			return false;
		if (!is_wanted)
			continue;
		if (partner && launches_of(&partner->log, k->name, k->device) != f.launches &&
			!has_graphs(&partner->log) &&
			!cuda_warn(c, e,
				arena_printf(&c->arena,
					"%s: launched %llu times in the run with samples and %llu times in the exact one: counts and samples are of different work",
					f.kernel, (unsigned long long)f.launches,
					(unsigned long long)launches_of(
						&partner->log, k->name, k->device))))
			return false;
		if (!pack_kernel(c, part, &f, e))
			return false;
	}
	return true;
}

bool cuda_pack(struct cuda *c, struct cuda_processes *samples, struct cuda_processes *exact,
	struct incore_error *e)
{
	bool ok = true;

	if (exact->v.n && exact->v.n != samples->v.n)
		ok = cuda_warn(c, e,
			"the exact run had another number of processes: its counts are left out");
	for (size_t i = 0; ok && i < samples->v.n; i++)
		ok = pack_process(c, &samples->v.v[i], partner_of(samples, exact, i), i, e);
	return ok;
}
