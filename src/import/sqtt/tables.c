/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.c: makes the tables of the trace from the records of all shader engines: clocks, tracks,
 * occupancy with kernels by entry address, counters, markers, issue on other SIMDs.
 */
#include "import/sqtt/sqtt.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/search.h"
#include "isa/amd_machine.h"
#include "trace/align.h"

#define DEFAULT_REALTIME_HZ 100000000u
#define SAMPLES_SOURCE "realtime samples of the trace"

/* The symbol at a record's address, or "<object> / 0x<address>"; NULL when out of memory. */
static const char *sqtt_kernel_name(struct sqtt_build *b, uint32_t object, uint64_t pc)
{
	size_t hint = 0;
	uint32_t slot = sqtt_slot_of(&b->objects, object, pc, &hint);

	if (slot != SQTT_NO_SLOT) {
		struct sqtt_place at = sqtt_place_of(&b->objects, slot);
		const struct elf_function *f = elf_function_at(&at.object->elf, at.vaddr);

		if (f)
			return arena_strdup(&b->trace->arena, f->name);
	}
	return arena_printf(&b->trace->arena, "%u / 0x%llx", object, (unsigned long long)pc);
}

/* --- clocks --- */

static bool build_clocks(struct sqtt_build *b)
{
	struct trace *t = b->trace;
	const struct sqtt_loader *l = b->loader;
	uint64_t hz = b->container.realtime_hz;
	uint64_t *first = arena_zalloc(&b->scratch, (size_t)l->n_engines + 1, sizeof(*first));

	t->clocks = arena_zalloc(&t->arena, (size_t)l->n_engines + 1, sizeof(*t->clocks));
	if (!t->clocks || !first)
		return false;
	for (uint32_t i = 0; i < l->n_engines; i++) {
		const struct sqtt_engine *g = &l->engines[i];
		struct clock_domain *c = &t->clocks[i];
		int64_t(*samples)[2] = arena_zalloc(&t->arena, g->realtime.n + 1, sizeof(*samples));

		if (!samples)
			return false;
		c->id = g->se;
		first[i] = g->first_start_cyc;
		for (size_t k = 0; k < g->realtime.n && c->n_samples < UINT32_MAX; k++) {
			int64_t time = g->realtime.v[k].time;
			uint64_t clock = g->realtime.v[k].clock;

			if (time < 0 || time > TRACE_MAX_TIME_CYC || clock > INT64_MAX / 2)
				continue;
			samples[c->n_samples][0] = time;
			samples[c->n_samples++][1] = (int64_t)clock;
		}
		c->samples = (const int64_t(*)[2])samples;
		hz = g->result.rt_frequency_hz ? g->result.rt_frequency_hz : hz;
	}
	t->n_clocks = l->n_engines;
	if (!trace_align_clocks(t, hz ? hz : DEFAULT_REALTIME_HZ, first, SAMPLES_SOURCE))
		return false;
	if (!t->meta.clock_hz_den && b->container.shader_hz) {
		t->meta.clock_hz_num = b->container.shader_hz;
		t->meta.clock_hz_den = 1;
		t->meta.clock_source = "shader clock that the file states";
	}
	return true;
}

/* --- kernels by entry address --- */

struct entries {
	VEC(struct sqtt_entry) v; /* kernel id - 1 */
	struct u64_map by_key;
};

/* Finds or adds the kernel id of an entry address; 0: unknown, UINT32_MAX: out of memory. */
static uint32_t entry_id(struct entries *x, uint32_t object, uint64_t pc)
{
	uint64_t key = hash_mix64(pc) ^ object;

	if (!pc)
		return 0;
	for (;; key++) {
		uint64_t *at = u64_map_at(&x->by_key, key);

		if (!at)
			return UINT32_MAX;
		if (*at == 0) {
			if (!VEC_PUSH(&x->v, (struct sqtt_entry){object, pc, 0, 0}))
				return UINT32_MAX;
			*at = x->v.n;
		}
		if (x->v.v[*at - 1].object == object && x->v.v[*at - 1].pc == pc)
			return (uint32_t)*at;
	}
}

static bool name_entries(struct sqtt_build *b, const struct entries *x)
{
	struct trace *t = b->trace;

	t->kernel_names = arena_zalloc(&t->arena, x->v.n + 1, sizeof(*t->kernel_names));
	if (!t->kernel_names)
		return false;
	for (size_t i = 0; i < x->v.n; i++) {
		const char *name = sqtt_kernel_name(b, x->v.v[i].object, x->v.v[i].pc);

		if (!name)
			return false;
		t->kernel_names[i] = (struct kernel_name){(uint32_t)i + 1, name};
	}
	t->n_kernel_names = (uint32_t)x->v.n;
	for (uint32_t i = 0; i < t->n_dispatch_events; i++)
		if (t->dispatch_events[i].kernel_id)
			t->dispatch_events[i].kernel_name =
				t->kernel_names[t->dispatch_events[i].kernel_id - 1].name;
	return true;
}

/* The kernel with most traced cycles; in a tie one with a name, then most starts. NULL if it has no
 * name. */
static const struct sqtt_entry *main_entry(const struct trace *t, const struct entries *x)
{
	const struct sqtt_entry *best = NULL;
	bool best_named = false;

	for (size_t i = 0; i < x->v.n; i++) {
		const struct sqtt_entry *k = &x->v.v[i];
		bool named = !strstr(t->kernel_names[i].name, " / 0x");

		if (!best || k->cycles > best->cycles ||
			(k->cycles == best->cycles &&
				(named > best_named ||
					(named == best_named && k->starts > best->starts)))) {
			best = k;
			best_named = named;
		}
	}
	return best_named ? best : NULL;
}

static void set_launch(struct trace *t, const struct kernel_facts *k)
{
	struct trace_launch *l = &t->meta.launch;
	const struct amd_machine *m = amd_machine_find(t->meta.arch, t->meta.gfx_major);
	int64_t total = k->vgprs;

	/* if accumulation registers share the pool, the count includes both */
	if (total >= 0 && k->agprs > 0 && m && m->has_unified_accum && total >= k->agprs)
		total -= k->agprs;
	l->vgprs = total < 0 ? NO_VALUE : total;
	l->accum_vgprs = k->agprs < 0 ? NO_VALUE : k->agprs;
	l->sgprs = k->sgprs < 0 ? NO_VALUE : k->sgprs;
	l->lds_bytes = k->lds_bytes < 0 ? NO_VALUE : k->lds_bytes;
	l->scratch_bytes = k->scratch_bytes < 0 ? NO_VALUE : k->scratch_bytes;
	for (unsigned i = 0; i < 3; i++)
		if (k->workgroup[i] > 0 && k->workgroup[i] <= 1024)
			l->workgroup[i] = k->workgroup[i];
	if (k->wave_size > 0)
		t->meta.machine.wave_size = k->wave_size;
}

static void name_kernel(struct sqtt_build *b, const struct entries *x)
{
	struct trace *t = b->trace;
	const struct sqtt_entry *main = main_entry(t, x);

	if (main)
		t->meta.kernel = t->kernel_names[main - x->v.v].name;
	else if (b->meta.kernel)
		t->meta.kernel = b->meta.kernel;
	for (size_t i = 0; t->meta.kernel && i < b->objects.v.n; i++) {
		const struct code_facts *f = &b->objects.v.v[i].facts;

		for (uint32_t k = 0; k < f->n_kernels; k++)
			if (strcmp(f->kernels[k].name, t->meta.kernel) == 0) {
				set_launch(t, &f->kernels[k]);
				return;
			}
	}
}

/* --- occupancy --- */

/* Copies an engine's events with the trace's kernel ids instead of its own. */
static bool add_events(
	struct trace *t, const struct sqtt_engine *g, clock_idx clock, struct entries *x)
{
	uint32_t *ids = mem_zalloc(g->entries.n + 1, sizeof(*ids));
	bool ok = ids != NULL;

	for (size_t i = 0; ok && i < g->entries.n; i++) {
		ids[i + 1] = entry_id(x, g->entries.v[i].object, g->entries.v[i].pc);
		ok = ids[i + 1] != UINT32_MAX;
		if (ok && x->v.v)
			x->v.v[ids[i + 1] - 1].starts += g->entries.v[i].starts;
	}
	for (size_t i = 0; ok && i < g->events.n; i++) {
		struct occupancy_event *out = &t->occupancy[t->n_occupancy++];

		*out = g->events.v[i];
		out->clock = clock;
		out->kernel_id = ids[out->kernel_id];
	}
	for (size_t i = 0; ok && i < g->dispatches.n; i++) {
		struct dispatch_event *out = &t->dispatch_events[t->n_dispatch_events++];

		*out = g->dispatches.v[i];
		out->clock = clock;
		out->kernel_id = ids[out->kernel_id];
	}
	mem_free(ids);
	return ok;
}

static bool build_occupancy(struct sqtt_build *b, struct entries *x)
{
	struct trace *t = b->trace;
	const struct sqtt_loader *l = b->loader;
	size_t n = 0, n_dispatches = 0;

	for (uint32_t i = 0; i < l->n_engines; i++) {
		n += l->engines[i].events.n;
		n_dispatches += l->engines[i].dispatches.n;
	}
	t->dispatch_events = arena_zalloc(&t->arena, n_dispatches + 1, sizeof(*t->dispatch_events));
	t->occupancy =
		n < UINT32_MAX ? arena_zalloc(&t->arena, n + 1, sizeof(*t->occupancy)) : NULL;
	if (!t->occupancy || !t->dispatch_events)
		return false;
	for (uint32_t i = 0; i < l->n_engines; i++) {
		if (!add_events(t, &l->engines[i], i, x))
			return false;
		VEC_FREE(&l->engines[i].events);
	}
	return true;
}

/* --- tracks --- */

ORDER(compare_waves, struct sqtt_wave_ref, UP(engine) UP(cu) UP(simd) UP(slot) UP(begin_cyc) UP(at))

static bool same_slot(const struct sqtt_wave_ref *a, const struct sqtt_wave_ref *b)
{
	return a->engine == b->engine && a->cu == b->cu && a->simd == b->simd && a->slot == b->slot;
}

static bool gather_waves(struct sqtt_build *b, size_t *n)
{
	struct sqtt_loader *l = b->loader;
	size_t at = 0;

	*n = 0;
	for (uint32_t i = 0; i < l->n_engines; i++)
		*n += l->engines[i].waves.n;
	l->waves = *n < UINT32_MAX ? mem_zalloc(*n + 1, sizeof(*l->waves)) : NULL;
	if (!l->waves)
		return false;
	for (uint32_t i = 0; i < l->n_engines; i++) {
		struct sqtt_engine *g = &l->engines[i];

		for (size_t k = 0; k < g->waves.n; k++) {
			l->waves[at] = g->waves.v[k];
			l->waves[at++].engine = i;
		}
		VEC_FREE(&g->waves);
	}
	SORT(l->waves, *n, compare_waves);
	return true;
}

static bool build_tracks(struct sqtt_build *b, struct entries *x)
{
	struct trace *t = b->trace;
	const struct sqtt_loader *l = b->loader;
	uint32_t wave = 0;
	size_t n;

	if (!gather_waves(b, &n))
		return false;
	t->tracks = arena_zalloc(&t->arena, n + 1, sizeof(*t->tracks));
	if (!t->tracks)
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct sqtt_wave_ref *w = &l->waves[i];
		uint32_t se = l->engines[w->engine].se;
		uint32_t id = entry_id(x, w->entry_object, w->entry_pc);

		wave = i && same_slot(w - 1, w) ? wave + 1 : 0;
		t->tracks[i] = (struct track){.coord = {se, w->cu, w->simd, w->slot, wave},
			.clock = w->engine,
			.n_slices = w->n_insts,
			.begin_cyc = w->begin_cyc,
			.end_cyc = w->end_cyc,
			.kernel_id = id,
			.workgroup = NO_VALUE};
		t->tracks[i].name =
			arena_printf(&t->arena, "se%u_sm%u_sl%u_wv%u", se, w->simd, w->slot, wave);
		if (id == UINT32_MAX || !t->tracks[i].name)
			return false;
		if (id)
			x->v.v[id - 1].cycles += w->end_cyc - w->begin_cyc;
	}
	t->n_tracks = (uint32_t)n;
	return true;
}

/* The traced CU: that of the first traced wave, else from the first header. */
static void choose_target_cu(struct sqtt_build *b)
{
	struct trace *t = b->trace;

	if (t->n_tracks) {
		t->meta.target_cu = t->tracks[0].coord[1];
		return;
	}
	for (uint32_t i = 0; i < b->loader->n_engines; i++)
		if (!b->loader->engines[i].is_bad) {
			t->meta.target_cu = b->loader->engines[i].stream.target_cu;
			return;
		}
}

/* --- side tables --- */

static uint64_t side_time(int64_t time)
{
	return time < 0 ? 0 : time > TRACE_MAX_TIME_CYC ? TRACE_MAX_TIME_CYC : (uint64_t)time;
}

static bool build_markers(struct sqtt_build *b)
{
	struct trace *t = b->trace;
	const struct sqtt_loader *l = b->loader;
	size_t n = 0, m = 0;

	for (uint32_t i = 0; i < l->n_engines; i++) {
		n += l->engines[i].shaderdata.n;
		m += l->engines[i].other_simd.n;
	}
	if (n >= UINT32_MAX || m >= UINT32_MAX)
		return false;
	t->markers = arena_zalloc(&t->arena, n + 1, sizeof(*t->markers));
	t->other_issues = arena_zalloc(&t->arena, m + 1, sizeof(*t->other_issues));
	if (!t->markers || !t->other_issues)
		return false;
	for (uint32_t i = 0; i < l->n_engines; i++) {
		struct sqtt_engine *g = &l->engines[i];

		EACH (const struct sqtt_shaderdata, s, g->shaderdata.v, g->shaderdata.n) {
			t->markers[t->n_markers++] = (struct marker){
				side_time(s->time), s->value, i, s->cu, s->simd, s->slot, s->flags};
		}
		EACH (const struct sqtt_other_simd, s, g->other_simd.v, g->other_simd.n) {
			t->other_issues[t->n_other_issues++] =
				(struct other_issue){side_time(s->time), s->cycles, s->category, i};
		}
		VEC_FREE(&g->shaderdata);
		VEC_FREE(&g->other_simd);
	}
	return true;
}

bool sqtt_tables_build(struct sqtt_build *b, struct incore_error *e)
{
	struct entries x = {0};
	bool ok = build_clocks(b) && build_occupancy(b, &x) && build_tracks(b, &x) &&
		  build_markers(b) && sqtt_counters_build(b) && name_entries(b, &x);

	if (ok) {
		choose_target_cu(b);
		name_kernel(b, &x);
	}
	VEC_FREE(&x.v);
	u64_map_deinit(&x.by_key);
	return ok || err_nomem(e);
}
