/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqtt.c: raw AMD thread traces -> a trace. One stream per shader engine, decoded in parallel; an
 * invalid stream or a missing or damaged code object becomes a note as long as there is something
 * to show.
 */
#include "import/sqtt/sqtt.h"

#include "import/capture_cache.h"
#include "import/sqtt/rgp.h"

static void close_loader(void *ctx)
{
	struct sqtt_loader *l = ctx;

	for (uint32_t i = 0; i < l->n_engines; i++)
		sqtt_engine_free(&l->engines[i]);
	mem_free(l->engines);
	mem_free(l->waves);
	mem_free(l->row_of_slot);
	mem_free(l);
}

static struct sqtt_loader *new_loader(struct trace *t, uint32_t n_engines)
{
	struct sqtt_loader *l = mem_zalloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->engines = mem_zalloc((size_t)n_engines + 1, sizeof(*l->engines));
	if (!l->engines) {
		mem_free(l);
		return NULL;
	}
	l->n_engines = n_engines;
	t->loader.load = sqtt_track_load;
	t->loader.close = close_loader;
	t->loader_ctx = l;
	return l;
}

static bool read_meta(struct sqtt_build *b, struct incore_error *e)
{
	struct incore_error why = {0};
	struct file_data f = {0};
	bool ok;

	b->meta.load_base = SQTT_NO_ADDR;
	b->meta.machine = b->trace->meta.machine;
	if (b->container.rgp)
		rgp_meta(b);
	if (!b->container.meta)
		return true;
	ok = import_load(b->options, &f, b->container.meta, &why) &&
	     sqtt_meta_parse(&b->meta, f.data, f.size, b->container.meta, &b->trace->arena, &why);
	file_unload(&f);
	if (ok) {
		b->trace->meta.machine = b->meta.machine;
		if (b->meta.is_synthetic)
			b->trace->meta.evidence = EVIDENCE_SYNTHETIC;
		return true;
	}
	if (why.status == INCORE_BAD_INPUT &&
		import_note_unread(b->trace, "damaged-file", b->container.meta,
			"is damaged and was left out", &why))
		return true;
	err_move(e, &why);
	return false;
}

bool sqtt_stream_load(struct sqtt_build *b, uint32_t i, struct incore_error *e)
{
	const struct sqtt_stream_file *s = &b->container.streams[i];
	struct file_data *f = &b->loader->engines[i].file;

	if (!s->data)
		return f->data || import_load(b->options, f, s->path, e);
	f->data = s->data;
	f->size = (size_t)s->size;
	return true;
}

struct decode_job {
	struct sqtt_build *b;
	struct sqtt_options options;
};

static bool decode_one(void *ctx, size_t item, unsigned worker, struct incore_error *e)
{
	struct decode_job *j = ctx;

	(void)worker;
	if (!sqtt_engine_decode(&j->b->loader->engines[item], &j->options, j->b->want, e))
		return false;
	progress_add(j->b->options ? j->b->options->progress : NULL, 1);
	return true;
}

static bool decode_all(struct sqtt_build *b, struct incore_error *e)
{
	struct sqtt_loader *l = b->loader;
	struct progress *p = b->options ? b->options->progress : NULL;
	struct decode_job j = {.b = b,
		.options = {b->rules, &b->objects.code, SQTT_TARGET_OF_STREAM,
			b->container.rgp ? &b->objects.places : NULL}};
	bool ok;

	for (uint32_t i = 0; i < l->n_engines; i++) {
		l->engines[i].se = b->container.streams[i].se;
		l->engines[i].at = b->container.streams[i].at;
		l->engines[i].path = arena_strdup(&b->trace->arena, b->container.streams[i].path);
		l->engines[i].objects = &b->objects;
		if (!l->engines[i].path)
			return err_nomem(e);
		/* Loaded here because the cache is for one thread; a failure is reported when it is
		 * decoded. */
		sqtt_stream_load(b, i, &l->engines[i].why);
	}
	progress_begin(p, "shader engines", l->n_engines);
	ok = pool_run(b->options ? b->options->pool : NULL, l->n_engines, 1, decode_one, &j, e);
	progress_end(p);
	return ok;
}

/* Fails if no stream is usable, with the error of the first. */
static bool check_streams(struct sqtt_build *b, struct incore_error *e)
{
	struct sqtt_loader *l = b->loader;
	struct trace_meta *m = &b->trace->meta;

	for (uint32_t i = 0; i < l->n_engines; i++) {
		const struct sqtt_stream *s = &l->engines[i].stream;

		if (l->engines[i].is_bad)
			continue;
		m->gfx_major = s->gfx_major;
		l->gfx_major = s->gfx_major;
		m->clock_quantum = s->gfx_major == 9 ? 4 : 1;
		if (b->objects.gpu && amd_arch_major(b->objects.arch) == s->gfx_major) {
			m->arch = arena_strdup(&b->trace->arena, b->objects.gpu);
			m->arch_source = b->objects.gpu_source;
		} else {
			m->arch = arena_printf(&b->trace->arena, "gfx%u", s->gfx_major);
			m->arch_source = "thread trace header";
		}
		return m->arch || err_nomem(e);
	}
	err_move(e, &l->engines[0].why);
	return err_wrap(e, "none of %u streams of %s is a thread trace", l->n_engines,
		b->container.dir && *b->container.dir ? b->container.dir : ".");
}

static bool find_container(struct sqtt_build *b, const char *path, struct incore_error *e)
{
	struct sqtt_container *v;
	uint32_t n;

	if (!sqtt_containers(import_fence(b->options), path, &b->scratch, &v, &n, e))
		return false;
	b->container = v[0];
	if (n < 2)
		return true;
	return trace_note(b->trace, NOTE_INFO, "several-dispatches", path, INCORE_NO_OFFSET, n,
		       "%u dispatches are here; this is the first", n) ||
	       err_nomem(e);
}

static bool read_all(
	struct sqtt_build *b, sqtt_find_fn find, const char *path, struct incore_error *e)
{
	static const char *const levels[TRACK_LEVELS] = {"se", "cu", "simd", "slot", "wave"};
	struct trace *t = b->trace;

	if (!find(b, path, e))
		return false;
	t->meta.vendor = VENDOR_AMD;
	t->meta.evidence = EVIDENCE_HARDWARE_TRACE;
	t->meta.format_version = b->rules == SQTT_RULES_C16 ? "decoder rules 0.1.6" : NULL;
	t->meta.launch.agent = b->container.agent;
	t->meta.launch.dispatch = b->container.dispatch;
	memcpy(t->levels, levels, sizeof(levels));
	b->loader = new_loader(t, b->container.n_streams);
	if (!b->loader)
		return err_nomem(e);
	return read_meta(b, e) && sqtt_objects_load(b, e) && decode_all(b, e) &&
	       check_streams(b, e) && sqtt_rows_build(b, e) && sqtt_tables_build(b, e);
}

static bool choose_rules(struct sqtt_build *b, struct incore_error *e)
{
	const char *compat = b->options ? b->options->decoder_compat : NULL;

	b->rules = SQTT_RULES_RIGHT;
	if (!compat || !*compat)
		return true;
	if (strcmp(compat, "0.1.6") != 0)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"decoder-compat '%s': only the rules of 0.1.6 are known", compat);
	b->rules = SQTT_RULES_C16;
	return true;
}

bool sqtt_read_found(sqtt_find_fn find, const void *from, const char *path,
	const struct import_options *o, struct trace *t, struct incore_error *e)
{
	struct sqtt_build b = {
		.trace = t, .options = o, .from = from, .want = o ? o->want : (unsigned)IMPORT_ALL};
	bool ok;

	arena_init(&b.scratch);
	ok = choose_rules(&b, e) && read_all(&b, find, path, e) && sqtt_notes_build(&b, e);
	sqtt_objects_free(&b.objects);
	for (uint32_t i = 0; b.loader && i < b.loader->n_engines; i++)
		b.loader->engines[i].objects = NULL; /* they are freed */
	if (b.container.rgp)
		rgp_close(b.container.rgp);
	arena_deinit(&b.scratch);
	return ok;
}

static bool sqtt_read(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	return sqtt_read_found(find_container, NULL, path, o, t, e);
}

/* All losses were noted while reading, where the decoder's counts are available. */
static bool sqtt_lost(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	(void)path;
	(void)o;
	(void)t;
	(void)e;
	return true;
}

/* --- recognising --- */

static int sqtt_sniff(const struct probe *p)
{
	if (p->is_dir)
		return sqtt_is_dir(capture_fence(p->cache), p->path) ? 90 : 0;
	return p->is_named && sqtt_is_stream_name(p->path) ? 90 : 0;
}

static void sqtt_split(const char *path, struct capture_cache *cache, struct arena *a,
	const char ***paths, uint32_t *n)
{
	struct sqtt_container *v;
	uint32_t count;

	*n = 0;
	if (!sqtt_containers(capture_fence(cache), path, a, &v, &count, NULL))
		return;
	*paths = arena_zalloc(a, count, sizeof(**paths));
	for (uint32_t i = 0; *paths && i < count; i++)
		(*paths)[(*n)++] = v[i].first;
}

static void sqtt_look(
	const char *path, struct capture_cache *cache, struct arena *a, struct capture *c)
{
	struct sqtt_container *v;
	uint32_t n;

	if (!sqtt_containers(capture_fence(cache), path, a, &v, &n, NULL))
		return;
	c->agent = v[0].agent;
	c->dispatch = v[0].dispatch;
	c->is_empty = v[0].n_bytes == 0;
	c->is_uncounted = true;
	c->n_bytes = v[0].n_bytes;
}

const struct import_ops import_sqtt = {
	.name = "sqtt",
	.summary = "raw AMD thread trace: .att or .sqtt streams with their code objects",
	.looks_for = "raw thread traces (*_shader_engine_*.att, se*.sqtt)",
	.sniff = sqtt_sniff,
	.split = sqtt_split,
	.look = sqtt_look,
	.read = sqtt_read,
	.lost = sqtt_lost,
};
