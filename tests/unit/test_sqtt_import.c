/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raw thread traces as files: which belong together, what is missing, what is damaged; each case is
 * a directory with a small gfx9 stream and code object made here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

#include "base/file.h"
#include "codec/varint.h"
#include "import/import.h"
#include "import/sqtt/container.h"
#include "tiny_elf.h"

#define BASE 0x7f0000000000u
#define CODE_AT 0x1600u

/* s_mov_b32 s0, 0; s_nop 0; s_endpgm */
static const uint8_t program[] = {
	0x80, 0x00, 0x80, 0xbe, 0x00, 0x00, 0x80, 0xbf, 0x00, 0x00, 0x81, 0xbf};

struct folder {
	char path[64];
	struct strbuf names; /* of the files made, for removing */
};

static void put_bits(struct strbuf *b, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		bytes_put_u8(b, (uint8_t)(v >> 8 * i));
}

/* One wave on CU 1: s_mov at 104, s_nop, s_endpgm, end. Without an entry its code is unknown. */
static void put_dispatch(struct strbuf *b, uint64_t entry)
{
	uint64_t lo = entry >> 8;

	put_bits(b, 5 | 1u << 7 | 0x0cu << 9 | (lo & 0xffffffff) << 16, 6); /* program, low */
	put_bits(b, 5 | 1u << 7 | 0x0du << 9 | (lo >> 32) << 16, 6);	    /* and high */
	put_bits(b, 0 | 25u << 4, 2);					    /* 100 cycles */
	put_bits(b, 3 | 1u << 6 | 1u << 22, 4);				    /* wave start, slot 0 */
	put_bits(b, 13 | 1u << 4 | 2u << 8, 4);				    /* issue */
	put_bits(b, 10 | 1u << 4 | 1u << 11, 2);			    /* salu */
	put_bits(b, 13 | 1u << 4 | 3u << 8, 4);				    /* immediate */
	put_bits(b, 13 | 1u << 4 | 2u << 8, 4);				    /* issue */
	put_bits(b, 10 | 1u << 4 | 15u << 11, 2);			    /* message */
	put_bits(b, 0 | 25u << 4, 2);
	put_bits(b, 6 | 1u << 6, 2); /* wave end */
}

static void put_stream(struct strbuf *b, uint64_t entry)
{
	put_bits(b, 4u << 13 | 15u << 16 | 1u << 20,
		8); /* header: MI200 or later, all SIMDs, CU 1 */
	put_dispatch(b, entry);
}

static void add_file(struct folder *d, const char *name, const void *p, size_t n)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", d->path, name);
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, n, f), n);
	fclose(f);
	sb_printf(&d->names, "%s\n", path);
}

static void add_stream(struct folder *d, const char *name)
{
	struct strbuf b = {0};

	put_stream(&b, BASE + CODE_AT);
	add_file(d, name, b.p, b.n);
	sb_free(&b);
}

static void add_code(struct folder *d, const char *name, uint32_t flags, size_t cut)
{
	static const struct tiny_symbol symbol = {"kernel_a", CODE_AT, sizeof(program)};
	struct tiny_elf t = {flags, 224, CODE_AT, program, sizeof(program), &symbol, 1};
	struct strbuf b = {0};

	tiny_elf_make(&t, &b);
	add_file(d, name, b.p, cut && cut < b.n ? cut : b.n);
	sb_free(&b);
}

static void add_meta(struct folder *d, uint64_t base)
{
	char text[200];

	snprintf(text, sizeof(text),
		"{\"gfx\":\"gfx950\",\"kernel\":\"kernel_a\",\"load_base\":%llu}",
		(unsigned long long)base);
	add_file(d, "meta.json", text, strlen(text));
}

static void make_folder(struct folder *d)
{
	*d = (struct folder){.path = "/tmp/incore-sqtt-XXXXXX"};
	assert_non_null(mkdtemp(d->path));
}

static void remove_folder(struct folder *d)
{
	struct str rest = {d->names.p, d->names.n}, name;

	while (str_cut(&rest, "\n", &name)) {
		d->names.p[name.p + name.n - d->names.p] = 0;
		unlink(name.p);
	}
	rmdir(d->path);
	sb_free(&d->names);
}

static const struct note *find_note(const struct trace *t, const char *code)
{
	for (uint32_t i = 0; i < t->n_notes; i++)
		if (strcmp(t->notes[i].code, code) == 0)
			return &t->notes[i];
	return NULL;
}

/* The trace of the n-th capture below a path; NULL with the error. */
static struct trace *read_at(const char *path, uint32_t n, struct incore_error *e)
{
	struct import_options o = {.want = IMPORT_ALL, .disasm = "none"};
	struct capture_list list;
	struct trace *t = NULL;

	if (!import_find(path, NULL, &list, e))
		return NULL;
	assert_true(n < list.n);
	import_read(&list.v[n], &o, &t, e);
	capture_list_deinit(&list);
	return t;
}

static void test_sqtt_names(void **state)
{
	struct sqtt_att_name n;

	(void)state;
	assert_true(sqtt_att_name("a_b_1234_shader_engine_3_17.att", &n));
	assert_int_equal(n.se, 3);
	assert_int_equal(n.dispatch, 17);
	assert_int_equal(n.agent, 1234);
	assert_true(sqtt_att_name("x_shader_engine_9_1_shader_engine_0_2.att", &n));
	assert_int_equal(n.dispatch, 2);
	assert_false(sqtt_att_name("a_shader_engine_3.att", &n));
	assert_false(sqtt_att_name("a_shader_engine_x_1.att", &n));
	assert_false(sqtt_att_name("a_shader_engine_99999_1.att", &n));
	assert_false(sqtt_att_name("a_shader_engine_1_1.txt", &n));
	assert_false(sqtt_att_name("a_shader_engine_1_-1.att", &n));
}

static void test_sqtt_plain_run(void **state)
{
	struct incore_error e = {0};
	struct track_data d = {0};
	struct folder dir;
	struct trace *t;

	(void)state;
	make_folder(&dir);
	add_stream(&dir, "se0.sqtt");
	add_code(&dir, "code.elf", 0x4f, 0);
	add_meta(&dir, BASE);
	t = read_at(dir.path, 0, &e);
	assert_non_null(t);
	assert_string_equal(t->meta.kernel, "kernel_a");
	assert_string_equal(t->meta.arch, "gfx950");
	assert_int_equal(t->n_code, 4);
	assert_string_equal(t->code[0].text, "; kernel_a");
	assert_string_equal(t->code[2].text, "s_nop 0");
	assert_string_equal(t->code[3].text, "s_endpgm");
	assert_int_equal(t->n_tracks, 1);
	assert_true(trace_load_track(t, 0, TRACK_STATES, &d, &e));
	assert_int_equal(d.n, 3);
	assert_int_equal(d.n_unknown_code, 0);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(d.code[i], i + 1);
		assert_int_equal(t->code[i + 1].stated.hit, 1);
		assert_int_equal(t->code[i + 1].stated.latency, d.dur_cyc[i]);
	}
	assert_int_equal(d.inst_class[2], CLASS_DRAIN);
	assert_int_equal(t->n_occupancy, 2);
	assert_int_equal(t->occupancy[0].kernel_id, 1);
	assert_string_equal(t->kernel_names[0].name, "kernel_a");
	track_data_deinit(&d);
	trace_free(t);
	remove_folder(&dir);
}

/* Consecutive kernels in one stream: each wave has the code and the kernel of its own dispatch. */
static void test_sqtt_consecutive_kernels(void **state)
{
	static const struct tiny_symbol symbols[] = {{"kernel_a", CODE_AT, sizeof(program)},
		{"kernel_b", CODE_AT + 0x100, sizeof(program)}};
	uint8_t code[0x100 + sizeof(program)] = {0};
	struct tiny_elf elf = {0x4f, 224, CODE_AT, code, sizeof(code), symbols, 2};
	static const char *const kernels[] = {"kernel_a", "kernel_b", "kernel_a"};
	struct strbuf stream = {0}, object = {0};
	struct incore_error e = {0};
	struct track_data d = {0};
	struct folder dir;
	struct trace *t;

	(void)state;
	memcpy(code, program, sizeof(program));
	memcpy(code + 0x100, program, sizeof(program));
	make_folder(&dir);
	tiny_elf_make(&elf, &object);
	put_stream(&stream, BASE + CODE_AT);
	put_dispatch(&stream, BASE + CODE_AT + 0x100);
	put_dispatch(&stream, BASE + CODE_AT);
	add_file(&dir, "se0.sqtt", stream.p, stream.n);
	add_file(&dir, "code.elf", object.p, object.n);
	add_meta(&dir, BASE);
	t = read_at(dir.path, 0, &e);
	assert_non_null(t);
	assert_int_equal(t->n_tracks, 3);
	assert_int_equal(t->n_kernel_names, 2);
	for (track_idx i = 0; i < 3; i++) {
		const struct track *k = &t->tracks[i];

		assert_true(k->kernel_id == 1 || k->kernel_id == 2);
		assert_string_equal(t->kernel_names[k->kernel_id - 1].name, kernels[i]);
		assert_true(trace_load_track(t, i, 0, &d, &e));
		assert_int_equal(d.n, 3);
		assert_int_equal(d.n_unknown_code, 0);
		assert_int_equal(t->code[d.code[0]].address, CODE_AT + (i == 1 ? 0x100 : 0));
	}
	track_data_deinit(&d);
	trace_free(t);
	remove_folder(&dir);
	sb_free(&stream);
	sb_free(&object);
}

/* What the trace says when its code is not right; the wave itself is always there. */
static void check_without_code(struct folder *dir, const char *note)
{
	struct incore_error e = {0};
	struct track_data d = {0};
	struct trace *t = read_at(dir->path, 0, &e);

	assert_non_null(t);
	if (!find_note(t, note))
		fail_msg("no note %s", note);
	assert_int_equal(t->n_tracks, 1);
	assert_true(trace_load_track(t, 0, 0, &d, &e));
	assert_int_equal(d.n, 3);
	assert_int_equal(d.n_unknown_code, 3);
	track_data_deinit(&d);
	trace_free(t);
	remove_folder(dir);
}

static void test_sqtt_code_missing_or_damaged(void **state)
{
	struct folder dir;

	(void)state;
	make_folder(&dir);
	add_stream(&dir, "se0.sqtt");
	check_without_code(&dir, "no-code-object");
	make_folder(&dir);
	add_stream(&dir, "se0.sqtt");
	add_code(&dir, "code.elf", 0x4f, 100);
	add_meta(&dir, BASE);
	check_without_code(&dir, "damaged-code-object");
	make_folder(&dir);
	add_stream(&dir, "se0.sqtt");
	add_code(&dir, "code.elf", 0x41, 0); /* gfx1100 */
	add_meta(&dir, BASE);
	check_without_code(&dir, "wrong-architecture");
	make_folder(&dir);
	add_stream(&dir, "se0.sqtt");
	add_code(&dir, "code.elf", 0x4f, 0);
	add_meta(&dir, BASE + 0x100000);
	check_without_code(&dir, "no-known-code");
	make_folder(&dir);
	add_stream(&dir, "se0.sqtt");
	add_code(&dir, "code.elf", 0x4f, 0);
	add_file(&dir, "meta.json", "{\"load_base\":", 13);
	check_without_code(&dir, "damaged-file");
}

static void test_sqtt_several_dispatches(void **state)
{
	struct incore_error e = {0};
	struct capture_list list;
	struct folder dir;
	struct trace *t;
	char path[256];

	(void)state;
	make_folder(&dir);
	add_stream(&dir, "out_77_shader_engine_0_5.att");
	add_stream(&dir, "out_77_shader_engine_1_5.att");
	add_stream(&dir, "out_77_shader_engine_0_9.att");
	add_code(&dir, "out_gfx950_code_object_id_1.out", 0x4f, 0);
	assert_true(import_find(dir.path, NULL, &list, &e));
	assert_int_equal(list.n, 2);
	assert_int_equal(list.v[0].dispatch, 5);
	assert_int_equal(list.v[0].agent, 77);
	assert_int_equal(list.v[1].dispatch, 9);
	assert_ptr_equal(capture_choose(&list), &list.v[0]); /* more bytes */
	capture_list_deinit(&list);
	t = read_at(dir.path, 0, &e);
	assert_int_equal(t->n_clocks, 2);
	assert_int_equal(t->n_tracks, 2);
	assert_int_equal(t->meta.launch.dispatch, 5);
	trace_free(t);
	/* any stream stands for its dispatch */
	snprintf(path, sizeof(path), "%s/out_77_shader_engine_1_5.att", dir.path);
	t = read_at(path, 0, &e);
	assert_int_equal(t->n_clocks, 2);
	trace_free(t);
	assert_true(import_siblings(path, NULL, &list, &e));
	assert_int_equal(list.n, 2);
	capture_list_deinit(&list);
	remove_folder(&dir);
}

static void test_sqtt_garbage(void **state)
{
	struct incore_error e = {0};
	struct folder dir;
	struct trace *t;

	(void)state;
	make_folder(&dir);
	add_file(&dir, "se0.sqtt", "\0\0\0\0\0\0\0\0garbage", 15);
	assert_null(read_at(dir.path, 0, &e));
	assert_int_equal(e.status, INCORE_BAD_INPUT);
	incore_error_clear(&e);
	add_file(&dir, "se1.sqtt", "", 0);
	assert_null(read_at(dir.path, 0, &e));
	assert_int_equal(e.status, INCORE_BAD_INPUT);
	incore_error_clear(&e);
	add_stream(&dir, "se2.sqtt");
	t = read_at(dir.path, 0, &e); /* one good stream of three */
	assert_non_null(t);
	assert_non_null(find_note(t, "damaged-stream"));
	assert_int_equal(t->n_tracks, 1);
	trace_free(t);
	remove_folder(&dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sqtt_names),
		cmocka_unit_test(test_sqtt_plain_run),
		cmocka_unit_test(test_sqtt_consecutive_kernels),
		cmocka_unit_test(test_sqtt_code_missing_or_damaged),
		cmocka_unit_test(test_sqtt_several_dispatches),
		cmocka_unit_test(test_sqtt_garbage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
