/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_opprof_manifest.c: a list of runs of any bytes over a folder with two runs in it and one
 * beside it: what comes out are folders inside, whatever paths the list has.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import/ascend/opprof.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char above[] = P_tmpdir "/incore-fuzz-XXXXXX", dir[64], real_dir[128];
static const char *const folders[] = {
	"/in", "/in/funcs", "/in/funcs/a", "/in/funcs/a/simulator", "/in/funcs/b", "/out"};
static const char *const files[] = {"/in/funcs/a/simulator/visualize_data.bin",
	"/in/funcs/b/visualize_data.bin", "/out/visualize_data.bin"};

static const char *below(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s%s", above, name);
	return path;
}

static void clear(void)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		unlink(below(files[i]));
	for (size_t i = sizeof(folders) / sizeof(folders[0]); i-- > 0;)
		rmdir(below(folders[i]));
	rmdir(above);
}

static void make(void)
{
	char *real;

	if (!mkdtemp(above))
		abort();
	atexit(clear);
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (mkdir(below(folders[i]), 0700) != 0)
			abort();
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		int fd = open(below(files[i]), O_WRONLY | O_CREAT | O_EXCL, 0600);

		if (fd < 0 || close(fd) != 0)
			abort();
	}
	snprintf(dir, sizeof(dir), "%s/in", above);
	real = realpath(dir, NULL);
	if (!real || strlen(real) >= sizeof(real_dir))
		abort();
	strcpy(real_dir, real);
	free(real);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = calloc(1, size + 1);
	const char **paths;
	struct arena a;
	uint32_t n;

	if (!*dir)
		make();
	if (!copy)
		abort();
	if (size)
		memcpy(copy, data, size);
	arena_init(&a);
	opprof_manifest_runs(NULL, dir, (struct str){copy, size}, &a, &paths, &n);
	for (uint32_t i = 0; i < n; i++) {
		char *real = realpath(paths[i], NULL);

		if (!real || strncmp(real, real_dir, strlen(real_dir)) != 0 ||
			real[strlen(real_dir)] != '/')
			abort();
		free(real);
	}
	arena_deinit(&a);
	free(copy);
	return 0;
}
