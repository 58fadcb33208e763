/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ui_capture.h: a tiny ui_output directory on disk, for tests: written file by file, read back.
 * capture_new() writes a good one; a test then replaces what it is about.
 */
#ifndef TEST_UI_CAPTURE_H
#define TEST_UI_CAPTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import/import.h"

extern const struct import_ops import_ui_output;

#define HEADER "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle"
#define MANIFEST(waves)                                                                            \
	"{\"counter_names\":[],\"gfxip\":9,\"gfxv\":\"vega\",\"global_begin_time\":0,"             \
	"\"version\":\"3.0.0\",\"wave_filenames\":" waves "}"
#define ONE_WAVE "{\"0\":{\"0\":{\"0\":{\"0\":[\"se0_sm0_sl0_wv0.json\",100,200]}}}}"
#define CODE(rows) "{\"code\":" rows ",\"header\":\"" HEADER "\",\"version\":\"3.0.0\"}"
#define ROWS                                                                                       \
	"[[\"; kern\",0,0,\"\",4,256,0,0,0,0],"                                                    \
	"[\"s_load_dword s4, s[0:1], 0x0\",0,1,\"/src/k.py:3\",4,256,1,4,0,4],"                    \
	"[\"s_waitcnt lgkmcnt(0)\",0,2,\"/src/k.py:4\",4,264,1,40,40,0],"                          \
	"[\"s_endpgm\",0,3,\"\",4,268,1,52,0,0]]"
#define WAVE(instructions)                                                                         \
	"{\"duration\":100,\"name\":\"SE0\",\"num_insts\":3,\"num_stitched\":3,\"wave\":{"         \
	"\"begin\":100,\"cu\":1,\"end\":200,\"id\":0,\"instructions\":" instructions               \
	",\"simd\":0,\"slot\":0,\"timeline\":[[1,4],[2,4],[3,92]],\"waitcnt\":[[2,[[1,0]]]]}}"
#define RECORDS "[[104,1,0,4,1],[108,9,40,40,2],[148,11,0,52,3]]"
#define OCCUPANCY                                                                                  \
	"{\"0\":[[100,1,0,0,1,1],[200,1,0,0,0,1]],"                                                \
	"\"dispatches\":{\"0\":\"0 / 0x0\",\"1\":\"kern\"},\"version\":\"3.0.0\"}"
#define REALTIME                                                                                   \
	"{\"SE0\":[[1000,5000],[23000,6000]],"                                                     \
	"\"metadata\":{\"descriptor\":\"[gfx_clock, realtime_clock]\",\"frequency\":100000000}}"

struct ui_capture {
	char top[256]; /* temporary directory, holds side files */
	char dir[300];
	struct trace *trace;
	struct incore_error error;
	struct track_data data;
};

static inline void put_at(const char *dir, const char *name, const char *text)
{
	char path[600];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static inline void put(struct ui_capture *c, const char *name, const char *text)
{
	put_at(c->dir, name, text);
}

static inline void drop(struct ui_capture *c, const char *name)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/%s", c->dir, name);
	unlink(path);
}

static inline void capture_new(struct ui_capture *c)
{
	const char *tmp = getenv("TMPDIR");

	memset(c, 0, sizeof(*c));
	snprintf(c->top, sizeof(c->top), "%s/incore-ui-XXXXXX", tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(c->top));
	snprintf(c->dir, sizeof(c->dir), "%s/ui_output_agent_70_dispatch_5", c->top);
	assert_int_equal(mkdir(c->dir, 0777), 0);
	put(c, "filenames.json", MANIFEST(ONE_WAVE));
	put(c, "code.json", CODE(ROWS));
	put(c, "se0_sm0_sl0_wv0.json", WAVE(RECORDS));
	put(c, "occupancy.json", OCCUPANCY);
	put(c, "realtime.json", REALTIME);
}

static inline void capture_close(struct ui_capture *c)
{
	track_data_deinit(&c->data);
	trace_free(c->trace);
	c->trace = NULL;
	incore_error_clear(&c->error);
}

/* Reads all that there is; the result stays in c->trace or c->error. */
static inline bool capture_read(struct ui_capture *c)
{
	struct import_options o = {.want = IMPORT_ALL};
	struct trace *t;

	capture_close(c);
	t = trace_new();
	assert_non_null(t);
	if (import_ui_output.read(c->dir, &o, t, &c->error) &&
		import_ui_output.lost(c->dir, &o, t, &c->error) && trace_seal(t, &c->error)) {
		c->trace = t;
		return true;
	}
	trace_free(t);
	return false;
}

static inline bool capture_load(struct ui_capture *c, track_idx i)
{
	incore_error_clear(&c->error);
	return trace_load_track(
		c->trace, i, TRACK_STATES | TRACK_STATED_WAITS, &c->data, &c->error);
}

static inline int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

static inline void capture_free(struct ui_capture *c)
{
	capture_close(c);
	nftw(c->top, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* The note of that code, or NULL. */
static inline const struct note *find_note(const struct ui_capture *c, const char *code)
{
	for (uint32_t i = 0; i < c->trace->n_notes; i++)
		if (!strcmp(c->trace->notes[i].code, code))
			return &c->trace->notes[i];
	return NULL;
}

#endif
