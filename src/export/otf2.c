/* SPDX-License-Identifier: Apache-2.0 */
/*
 * otf2.c: an OTF2 archive, for Vampir, Score-P's tools and others. See incore-otf2(7). A location
 * is a wave; its lifetime and within it the instructions are regions, each with the cycles
 * account.h attributes to it. For pipes a location is a row of slices without overlap, and flags
 * are messages between separate locations. Counters are metrics. Events are written as tracks are
 * read, the definitions at the end.
 */
#include <otf2/otf2.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/search.h"
#include "export/lanes.h"
#include "export/writer.h"

#define EVENT_CHUNK (1u << 20)
#define DEFINITION_CHUNK (4u << 20)
#define FLAG_LOCATIONS ((uint64_t)1 << 40) /* locations of messages, by rank */

enum own_region { REGION_UNKNOWN, REGION_WAVE, REGIONS_OWN }; /* numbered after the code rows */

struct location {
	uint64_t id, n_events;
	const char *name; /* in the arena */
	uint8_t type;
	uint32_t group, metric;
	const struct counter_series *series; /* of a metric; NULL: number of running waves */
};

struct otf2_lane {
	OTF2_EvtWriter *writer;
	struct location location;
};

struct message {
	uint64_t at, id;
	uint32_t other; /* rank */
	bool is_received;
};

struct otf2_state {
	struct out_dir dir;
	OTF2_Archive *archive;
	OTF2_GlobalDefWriter *defs;
	OTF2_AttributeList *attributes;
	struct arena arena;
	struct intern strings; /* written on first use */
	VEC(struct location) locations;
	VEC(const char *) groups;
	VEC(struct otf2_lane) lanes; /* of the current track: one, or one per row of a pipe */
	VEC(struct message) messages;
	uint32_t *rank_of; /* by track, for pipes with links */
	uint32_t n_ranks;
	struct lanes layout;
	struct strbuf text; /* a name that is put together */
	struct lane_flows flows;
	int64_t end_cyc;
	uint64_t last; /* latest time of all events */
	const struct counter_series *series;
	clock_idx running_clock;
	uint64_t n_notes;
	uint32_t n_metrics;
	OTF2_ErrorCode failed; /* latched */
};

static OTF2_ErrorCode be_quiet(void *ctx, const char *file, uint64_t line, const char *function,
	OTF2_ErrorCode code, const char *format, va_list va)
{
	(void)ctx, (void)file, (void)line, (void)function, (void)format, (void)va;
	return code;
}

static OTF2_FlushType before_flush(
	void *ctx, OTF2_FileType type, OTF2_LocationRef l, void *caller, bool is_final)
{
	(void)ctx, (void)type, (void)l, (void)caller, (void)is_final;
	return OTF2_FLUSH;
}

static void latch_code(struct otf2_state *s, OTF2_ErrorCode code)
{
	if (code != OTF2_SUCCESS && s->failed == OTF2_SUCCESS)
		s->failed = code;
}

static bool otf2_latched(const struct otf2_state *s, struct incore_error *e)
{
	if (s->failed == OTF2_SUCCESS)
		return true;
	if (s->failed == OTF2_ERROR_MEM_ALLOC_FAILED || s->failed == OTF2_ERROR_ENOMEM)
		return err_nomem(e);
	return err_set(e, INCORE_FAILED, "write-failed", "%s: OTF2: %s", s->dir.path,
		OTF2_Error_GetDescription(s->failed));
}

static bool make_ranks(struct otf2_state *s, struct export *x, struct incore_error *e)
{
	s->rank_of = mem_zalloc((size_t)x->trace->n_tracks + 1, sizeof(*s->rank_of));
	if (!s->rank_of)
		return err_nomem(e);
	if (!flows_of_selected(&s->flows, x, e))
		return false;
	for (size_t i = 0; i < s->flows.ends.n; i++)
		if (!i || s->flows.ends.v[i].track != s->flows.ends.v[i - 1].track)
			s->rank_of[s->flows.ends.v[i].track] = s->n_ranks++;
	return true;
}

static bool open_archive(struct otf2_state *s, struct incore_error *e)
{
	static const OTF2_FlushCallbacks flush = {.otf2_pre_flush = before_flush};

	OTF2_Error_RegisterCallback(be_quiet, NULL);
	s->archive = OTF2_Archive_Open(s->dir.tmp_path, "traces", OTF2_FILEMODE_WRITE, EVENT_CHUNK,
		DEFINITION_CHUNK, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
	s->attributes = OTF2_AttributeList_New();
	if (!s->archive || !s->attributes)
		return err_set(e, INCORE_FAILED, "write-failed",
			"%s: the OTF2 library cannot make an archive", s->dir.path);
	latch_code(s, OTF2_Archive_SetFlushCallbacks(s->archive, &flush, NULL));
	latch_code(s, OTF2_Archive_SetSerialCollectiveCallbacks(s->archive));
	latch_code(s, OTF2_Archive_SetCreator(s->archive, "incore " INCORE_VERSION));
	latch_code(s, OTF2_Archive_OpenEvtFiles(s->archive));
	return otf2_latched(s, e);
}

static bool otf2_begin(struct export *x, struct incore_error *e)
{
	struct otf2_state *s = mem_zalloc(1, sizeof(*s));

	if (!s)
		return err_nomem(e);
	x->state = s;
	arena_init(&s->arena);
	intern_init(&s->strings);
	lanes_init(&s->layout, x);
	s->running_clock = NO_CLOCK;
	if (!x->path || strcmp(x->path, "-") == 0)
		return err_set(e, INCORE_USAGE, "missing-option",
			"--to otf2 needs -o DIR: it is a directory");
	return out_dir_open(&s->dir, x->path, 0666, e) && open_archive(s, e) &&
	       (!s->layout.has_rows || make_ranks(s, x, e));
}

/* --- locations --- */

static uint64_t otf2_time_of(struct otf2_state *s, int64_t cyc)
{
	uint64_t at = cyc < 0 ? 0 : (uint64_t)cyc;

	s->last = at > s->last ? at : s->last;
	return at;
}

static bool otf2_open_lane(struct otf2_state *s, struct location l, struct incore_error *e)
{
	struct otf2_lane k = {.location = l};

	if (!l.name)
		return err_nomem(e);
	k.writer = OTF2_Archive_GetEvtWriter(s->archive, l.id);
	if (!k.writer)
		latch_code(s, OTF2_ERROR_MEM_ALLOC_FAILED);
	return otf2_latched(s, e) && (VEC_PUSH(&s->lanes, k) || err_nomem(e));
}

static bool close_lanes(struct otf2_state *s, struct incore_error *e)
{
	for (size_t i = 0; i < s->lanes.n; i++) {
		struct otf2_lane *k = &s->lanes.v[i];

		latch_code(s, OTF2_EvtWriter_GetNumberOfEvents(k->writer, &k->location.n_events));
		latch_code(s, OTF2_Archive_CloseEvtWriter(s->archive, k->writer));
		if (!VEC_PUSH(&s->locations, k->location))
			latch_code(s, OTF2_ERROR_MEM_ALLOC_FAILED);
	}
	s->lanes.n = 0;
	return otf2_latched(s, e);
}

static bool open_group(struct otf2_state *s, const char *name, struct incore_error *e)
{
	return (name && VEC_PUSH(&s->groups, name)) || err_nomem(e);
}

/* Keeps the text that was put together; NULL on lack of memory. */
static const char *otf2_keep_text(struct otf2_state *s)
{
	const char *kept = s->text.failed ? NULL : arena_strndup(&s->arena, s->text.p, s->text.n);

	sb_reset(&s->text);
	return kept;
}

/* Opens the location of a row of the current track. */
static bool open_row(struct otf2_state *s, struct incore_error *e)
{
	struct location l = {.id = s->locations.n + s->lanes.n,
		.type = OTF2_LOCATION_TYPE_ACCELERATOR_STREAM,
		.group = (uint32_t)s->groups.n - 1};

	lanes_put_name(&s->layout, (uint32_t)s->lanes.n, &s->text);
	l.name = otf2_keep_text(s);
	return otf2_open_lane(s, l, e);
}

static bool otf2_track(struct export *x, const struct export_track *k, struct incore_error *e)
{
	struct otf2_state *s = x->state;

	if (lanes_begin(&s->layout, k->track)) {
		lanes_put_group(&s->layout, &s->text);
		if (!open_group(s, otf2_keep_text(s), e))
			return false;
	}
	s->end_cyc = k->to_cyc;
	s->messages.n = 0;
	if (s->layout.has_rows)
		return true;
	if (!open_row(s, e))
		return false;
	latch_code(s, OTF2_EvtWriter_Enter(s->lanes.v[0].writer, NULL, otf2_time_of(s, k->from_cyc),
			      x->trace->n_code + REGION_WAVE));
	return otf2_latched(s, e);
}

/* --- slices --- */

/* Records messages: a flag is sent and received when its slice ends. */
static bool keep_messages(
	struct otf2_state *s, const struct export_slice *v, struct incore_error *e)
{
	size_t n;
	const struct flow_end *f = flows_at(&s->flows, v->track, v->index, &n);
	uint64_t at = otf2_time_of(s, v->start_cyc + v->dur_cyc);

	for (size_t i = 0; i < n; i++)
		if (!VEC_PUSH(&s->messages,
			    (struct message){at, f[i].id, s->rank_of[f[i].other], f[i].is_end}))
			return err_nomem(e);
	return true;
}

static bool otf2_slice(struct export *x, const struct export_slice *v, struct incore_error *e)
{
	struct otf2_state *s = x->state;
	uint32_t region = v->code < x->trace->n_code ? v->code : x->trace->n_code + REGION_UNKNOWN;
	struct lanes_span a = lanes_span_of(&s->layout, v);
	OTF2_EvtWriter *w;
	uint32_t row = 0;

	if (s->layout.has_rows && (!lanes_row(&s->layout, v->start_cyc, v->dur_cyc, &row, e) ||
					  !keep_messages(s, v, e)))
		return false;
	while (row >= s->lanes.n)
		if (!open_row(s, e))
			return false;
	w = s->lanes.v[row].writer;
	if (a.stall_cyc)
		latch_code(s, OTF2_AttributeList_AddUint64(s->attributes, 0, a.stall_cyc));
	latch_code(s, OTF2_EvtWriter_Enter(w, a.stall_cyc ? s->attributes : NULL,
			      otf2_time_of(s, a.from_cyc), region));
	latch_code(s, OTF2_EvtWriter_Leave(w, NULL, otf2_time_of(s, a.to_cyc), region));
	return otf2_latched(s, e);
}

ORDER(by_time, struct message, UP(at) UP(is_received) UP(id))

static bool write_messages(struct otf2_state *s, uint32_t rank, struct incore_error *e)
{
	struct location l = {.id = FLAG_LOCATIONS + rank,
		.type = OTF2_LOCATION_TYPE_ACCELERATOR_STREAM,
		.group = (uint32_t)s->groups.n - 1};

	if (!s->messages.n)
		return true;
	lanes_put_name(&s->layout, 0, &s->text);
	sb_puts(&s->text, " flags");
	l.name = otf2_keep_text(s);
	SORT(s->messages.v, s->messages.n, by_time);
	if (!otf2_open_lane(s, l, e))
		return false;
	EACH (const struct message, m, s->messages.v, s->messages.n) {
		OTF2_EvtWriter *w = s->lanes.v[0].writer;

		latch_code(s, m->is_received ? OTF2_EvtWriter_MpiRecv(w, NULL, m->at, m->other, 0,
						       (uint32_t)m->id, 0)
					     : OTF2_EvtWriter_MpiSend(w, NULL, m->at, m->other, 0,
						       (uint32_t)m->id, 0));
	}
	return close_lanes(s, e);
}

static bool otf2_track_end(struct export *x, struct incore_error *e)
{
	struct otf2_state *s = x->state;

	if (!s->layout.has_rows)
		latch_code(s, OTF2_EvtWriter_Leave(s->lanes.v[0].writer, NULL,
				      otf2_time_of(s, s->end_cyc), x->trace->n_code + REGION_WAVE));
	return close_lanes(s, e) &&
	       (!s->layout.has_rows ||
		       write_messages(s, s->rank_of[s->layout.track - x->trace->tracks], e));
}

/* --- counters: a location and a metric each --- */

static bool open_metric(struct export *x, const char *name, const struct counter_series *c,
	clock_idx clock, struct incore_error *e)
{
	struct otf2_state *s = x->state;
	struct location l = {.type = OTF2_LOCATION_TYPE_METRIC, .series = c};

	if (!close_lanes(s, e))
		return false;
	l.id = s->locations.n;
	l.metric = s->n_metrics++;
	l.name = arena_printf(&s->arena, "%s (clock %u)", name,
		clock < x->trace->n_clocks ? x->trace->clocks[clock].id : 0);
	return (s->groups.n || open_group(s, "counters", e)) && otf2_open_lane(s, l, e);
}

static void write_metric(struct otf2_state *s, int64_t time, OTF2_Type type, OTF2_MetricValue v)
{
	struct otf2_lane *k = &s->lanes.v[0];

	latch_code(s, OTF2_EvtWriter_Metric(k->writer, NULL, otf2_time_of(s, time),
			      k->location.metric, 1, &type, &v));
}

static bool otf2_counter(struct export *x, const struct export_sample *v, struct incore_error *e)
{
	struct otf2_state *s = x->state;
	const struct counter_series *c = v->series;

	if (!export_has_clock(x, c->clock))
		return true;
	if (c != s->series && !open_metric(x, c->name, c, c->clock, e))
		return false;
	s->series = c;
	if (export_is_level(c))
		write_metric(s, v->time_cyc, OTF2_TYPE_DOUBLE,
			(OTF2_MetricValue){.floating_point = export_level(c, v->value)});
	else
		write_metric(s, v->time_cyc, OTF2_TYPE_UINT64,
			(OTF2_MetricValue){.unsigned_int = v->value});
	return otf2_latched(s, e);
}

static void otf2_put_running(struct export *x, clock_idx clock, int64_t time, uint64_t running)
{
	struct otf2_state *s = x->state;
	struct incore_error ignored = {0}; /* the error is latched elsewhere */

	if (clock != s->running_clock && !open_metric(x, "running waves", NULL, clock, &ignored))
		latch_code(s, OTF2_ERROR_MEM_ALLOC_FAILED);
	incore_error_clear(&ignored);
	s->running_clock = clock;
	if (s->lanes.n)
		write_metric(
			s, time, OTF2_TYPE_UINT64, (OTF2_MetricValue){.unsigned_int = running});
}

/* --- losses: properties of the archive --- */

static bool otf2_put_property(struct otf2_state *s, const char *kind, const char *text,
	uint64_t count, struct incore_error *e)
{
	char name[48];
	struct strbuf value = {0};

	snprintf(name, sizeof(name), "INCORE::NOTE_%llu", (unsigned long long)++s->n_notes);
	sb_printf(&value, "%s: %s (%llu)", kind, text, (unsigned long long)count);
	latch_code(s, value.failed ? OTF2_ERROR_MEM_ALLOC_FAILED
				   : OTF2_Archive_SetProperty(s->archive, name, value.p, true));
	sb_free(&value);
	return otf2_latched(s, e);
}

static bool otf2_lost(struct export *x, const struct note *n, struct incore_error *e)
{
	return otf2_put_property(x->state, note_kind_name(n->kind), n->message, n->count, e);
}

static bool otf2_truncated(struct export *x, const struct note *c, struct incore_error *e)
{
	return otf2_put_property(x->state, "left-out", c->code, c->count, e);
}

/* --- definitions --- */

static OTF2_StringRef otf2_string_of(struct otf2_state *s, const char *text)
{
	uint32_t before = s->strings.n, at = intern_add(&s->strings, str_of(text ? text : ""));

	if (at == INTERN_NONE)
		latch_code(s, OTF2_ERROR_MEM_ALLOC_FAILED);
	else if (at == before)
		latch_code(s, OTF2_GlobalDefWriter_WriteString(s->defs, at, s->strings.strs[at].p));
	return at;
}

static void define_region(struct otf2_state *s, const struct trace *t, uint32_t i)
{
	const struct code_row *r = i < t->n_code ? &t->code[i] : NULL;
	const struct frame *f = r && r->n_frames ? &t->frames[r->first_frame] : NULL;
	const char *path = f && f->source < t->n_sources ? t->sources[f->source].path : "";
	OTF2_StringRef name = otf2_string_of(s, r			       ? r->text
						: i - t->n_code == REGION_WAVE ? "wave"
									       : "(unknown)");
	OTF2_StringRef about =
		otf2_string_of(s, r ? class_name((enum inst_class)r->inst_class) : "");
	OTF2_StringRef file = otf2_string_of(s, path);

	latch_code(s, OTF2_GlobalDefWriter_WriteRegion(s->defs, i, name, name, about,
			      OTF2_REGION_ROLE_CODE, OTF2_PARADIGM_HARDWARE, OTF2_REGION_FLAG_NONE,
			      file, f ? f->line : 0, f ? f->line : 0));
}

static void define_metric(struct otf2_state *s, const struct location *l)
{
	OTF2_MetricMemberRef member = l->metric;
	OTF2_StringRef name = otf2_string_of(s, l->name), none = otf2_string_of(s, "");
	bool is_level = l->series && export_is_level(l->series);
	OTF2_StringRef unit = otf2_string_of(s, is_level ? l->series->unit : "#");

	latch_code(s, OTF2_GlobalDefWriter_WriteMetricMember(s->defs, member, name, none,
			      OTF2_METRIC_TYPE_OTHER, OTF2_METRIC_ABSOLUTE_POINT,
			      is_level ? OTF2_TYPE_DOUBLE : OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0,
			      unit));
	latch_code(s, OTF2_GlobalDefWriter_WriteMetricClass(s->defs, l->metric, 1, &member,
			      OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_ABSTRACT));
}

static void define_locations(struct otf2_state *s, const char *machine)
{
	OTF2_StringRef name = otf2_string_of(s, machine), class = otf2_string_of(s, "accelerator");

	latch_code(s, OTF2_GlobalDefWriter_WriteSystemTreeNode(
			      s->defs, 0, name, class, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
	for (uint32_t i = 0; i < s->groups.n; i++) {
		OTF2_StringRef group = otf2_string_of(s, s->groups.v[i]);

		latch_code(s, OTF2_GlobalDefWriter_WriteLocationGroup(s->defs, i, group,
				      OTF2_LOCATION_GROUP_TYPE_ACCELERATOR, 0,
				      OTF2_UNDEFINED_LOCATION_GROUP));
	}
	EACH (const struct location, l, s->locations.v, s->locations.n) {
		OTF2_StringRef text = otf2_string_of(s, l->name);

		if (l->type == OTF2_LOCATION_TYPE_METRIC)
			define_metric(s, l);
		latch_code(s, OTF2_GlobalDefWriter_WriteLocation(
				      s->defs, l->id, text, l->type, l->n_events, l->group));
	}
}

/* Defines the ranks of messages: a rank is a pipe's location for flags. */
static void define_ranks(struct otf2_state *s)
{
	uint64_t *members = mem_alloc((size_t)s->n_ranks * 2 * sizeof(*members));
	OTF2_StringRef name = otf2_string_of(s, "flags");

	if (!members) {
		latch_code(s, OTF2_ERROR_MEM_ALLOC_FAILED);
		return;
	}
	for (uint32_t i = 0; i < s->n_ranks; i++) {
		members[i] = FLAG_LOCATIONS + i;
		members[s->n_ranks + i] = i;
	}
	latch_code(
		s, OTF2_GlobalDefWriter_WriteGroup(s->defs, 0, name, OTF2_GROUP_TYPE_COMM_LOCATIONS,
			   OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, s->n_ranks, members));
	latch_code(s,
		OTF2_GlobalDefWriter_WriteGroup(s->defs, 1, name, OTF2_GROUP_TYPE_COMM_GROUP,
			OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, s->n_ranks, members + s->n_ranks));
	latch_code(s, OTF2_GlobalDefWriter_WriteComm(
			      s->defs, 0, name, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
	mem_free(members);
}

static void write_definitions(struct export *x)
{
	struct otf2_state *s = x->state;
	const struct trace *t = x->trace;
	uint64_t hz = t->meta.clock_hz_den ? t->meta.clock_hz_num / t->meta.clock_hz_den : 0;
	OTF2_StringRef stall, about;

	latch_code(s, OTF2_Archive_OpenDefFiles(s->archive));
	for (size_t i = 0; i < s->locations.n; i++) {
		OTF2_DefWriter *d = OTF2_Archive_GetDefWriter(s->archive, s->locations.v[i].id);

		latch_code(s, d ? OTF2_Archive_CloseDefWriter(s->archive, d)
				: OTF2_ERROR_MEM_ALLOC_FAILED);
	}
	latch_code(s, OTF2_Archive_CloseDefFiles(s->archive));
	s->defs = OTF2_Archive_GetGlobalDefWriter(s->archive);
	if (!s->defs) {
		latch_code(s, OTF2_ERROR_MEM_ALLOC_FAILED);
		return;
	}
	latch_code(s, OTF2_GlobalDefWriter_WriteClockProperties(s->defs, hz ? hz : 1000000000u, 0,
			      s->last + 1, OTF2_UNDEFINED_TIMESTAMP));
	stall = otf2_string_of(s, "stall");
	about = otf2_string_of(s, "cycles before issue");
	latch_code(
		s, OTF2_GlobalDefWriter_WriteAttribute(s->defs, 0, stall, about, OTF2_TYPE_UINT64));
	for (uint32_t i = 0; i < t->n_code + REGIONS_OWN; i++)
		define_region(s, t, i);
	define_locations(s, t->meta.arch ? t->meta.arch : "machine");
	if (s->n_ranks)
		define_ranks(s);
	latch_code(s, OTF2_Archive_CloseGlobalDefWriter(s->archive, s->defs));
}

static bool count_bytes(void *ctx, const char *name, struct incore_error *e)
{
	struct otf2_state *s = ctx;
	char *path = path_join(s->dir.tmp_path, name);
	int64_t n = path ? file_size(path) : 0;

	(void)e;
	s->dir.bytes += n > 0 ? (uint64_t)n : 0;
	mem_free(path);
	return true;
}

static bool otf2_end(struct export *x, struct incore_error *e)
{
	struct otf2_state *s = x->state;
	const struct trace_meta *m = &x->trace->meta;
	OTF2_ErrorCode code;

	export_each_running(x, otf2_put_running);
	if (!close_lanes(s, e))
		return false;
	latch_code(s, OTF2_Archive_SetProperty(
			      s->archive, "INCORE::EVIDENCE", evidence_name(m->evidence), true));
	if (m->kernel)
		latch_code(
			s, OTF2_Archive_SetProperty(s->archive, "INCORE::KERNEL", m->kernel, true));
	latch_code(s, OTF2_Archive_CloseEvtFiles(s->archive));
	write_definitions(x);
	code = OTF2_Archive_Close(s->archive);
	s->archive = NULL;
	latch_code(s, code);
	if (!otf2_latched(s, e) || !dir_each(s->dir.tmp_path, count_bytes, s, e))
		return false;
	x->result->bytes = s->dir.bytes;
	return true;
}

static bool otf2_commit(struct export *x, struct incore_error *e)
{
	return out_dir_commit(&((struct otf2_state *)x->state)->dir, e);
}

static void otf2_free_state(struct export *x)
{
	struct otf2_state *s = x->state;

	if (!s)
		return;
	if (s->archive)
		OTF2_Archive_Close(s->archive);
	if (s->attributes)
		OTF2_AttributeList_Delete(s->attributes);
	out_dir_abort(&s->dir);
	arena_deinit(&s->arena);
	intern_deinit(&s->strings);
	lanes_deinit(&s->layout);
	sb_free(&s->text);
	flows_deinit(&s->flows);
	VEC_FREE(&s->locations);
	VEC_FREE(&s->groups);
	VEC_FREE(&s->lanes);
	VEC_FREE(&s->messages);
	mem_free(s->rank_of);
	mem_free(s);
	x->state = NULL;
}

const struct export_ops export_otf2 = {
	.name = "otf2",
	.suffix = "/",
	.media_type = "application/octet-stream",
	.summary = "OTF2 archive (Vampir, Score-P's tools)",
	.holds = EXPORT_SLICES | EXPORT_COUNTERS | EXPORT_CYCLES | EXPORT_STALLS | EXPORT_NOTES |
		 EXPORT_OCCUPANCY | EXPORT_TRACK_LINKS,
	.is_directory = true,
	EXPORT_WRITER(otf2),
	.slice = otf2_slice,
	.track_end = otf2_track_end,
	.commit = otf2_commit,
};
