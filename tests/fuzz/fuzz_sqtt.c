/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_sqtt.c: any bytes as a plain run of raw thread traces: two bytes say how many of the rest
 * are the code object, what follows is the stream. An error, or a trace whose tracks load.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_file(const char *dir, const char *name, const void *p, size_t n)
{
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "wb");
	if (!f || fwrite(p, 1, n, f) != n || fclose(f) != 0)
		abort();
}

static void load_all(const char *dir)
{
	struct import_options o = {.want = IMPORT_ALL, .disasm = "none"};
	struct incore_error e = {0};
	struct capture_list list;
	struct track_data d = {0};
	struct trace *t = NULL;

	if (import_find(dir, NULL, &list, &e)) {
		if (import_read(&list.v[0], &o, &t, &e)) {
			for (track_idx i = 0; i < t->n_tracks && i < 64; i++)
				if (!trace_load_track(t, i, TRACK_STATES, &d, &e))
					abort();
			trace_free(t);
		}
		capture_list_deinit(&list);
	}
	track_data_deinit(&d);
	incore_error_clear(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char meta[] =
		"{\"gfx\":\"gfx950\",\"kernel\":\"k\",\"load_base\":35184405667840}";
	static const char *const names[] = {"se0.sqtt", "code.elf", "meta.json"};
	char dir[64], path[96];
	size_t n;

	/* in memory where that is possible: a run is three files */
	snprintf(dir, sizeof(dir), "%s/incore-fuzz-sqtt-XXXXXX",
		access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	if (size < 2 || !mkdtemp(dir))
		return 0;
	n = (size_t)data[0] | (size_t)data[1] << 8;
	n = n < size - 2 ? n : size - 2;
	write_file(dir, "code.elf", data + 2, n);
	write_file(dir, "se0.sqtt", data + 2 + n, size - 2 - n);
	write_file(dir, "meta.json", meta, strlen(meta));
	load_all(dir);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	rmdir(dir);
	return 0;
}
