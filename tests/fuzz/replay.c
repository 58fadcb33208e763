/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c: does a fuzz target survive its whole corpus? Runs LLVMFuzzerTestOneInput over every
 * file of the directories given, with any compiler and without libFuzzer.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	long size;
	uint8_t *data;

	if (!f || fseek(f, 0, SEEK_END) != 0 || (size = ftell(f)) < 0) {
		fprintf(stderr, "replay: cannot read %s\n", path);
		if (f)
			fclose(f);
		return 1;
	}
	rewind(f);
	/* An exact allocation, so that ASan sees a read past the end. */
	data = malloc(size > 0 ? (size_t)size : 1);
	if (!data || fread(data, 1, (size_t)size, f) != (size_t)size) {
		fprintf(stderr, "replay: cannot read %s\n", path);
		free(data);
		fclose(f);
		return 1;
	}
	fclose(f);
	LLVMFuzzerTestOneInput(data, (size_t)size);
	free(data);
	return 0;
}

static int run_dir(const char *dir, unsigned *n)
{
	struct dirent **names;
	int count = scandir(dir, &names, NULL, alphasort), status = 0;

	if (count < 0) {
		fprintf(stderr, "replay: no corpus at %s\n", dir);
		return 1;
	}
	for (int i = 0; i < count; i++) {
		char path[4096];

		if (names[i]->d_name[0] != '.') {
			snprintf(path, sizeof(path), "%s/%s", dir, names[i]->d_name);
			status |= run_file(path);
			++*n;
		}
		free(names[i]);
	}
	free(names);
	return status;
}

int main(int argc, char **argv)
{
	unsigned n = 0;
	int status = 0;

	for (int i = 1; i < argc; i++)
		status |= run_dir(argv[i], &n);
	printf("%u inputs replayed\n", n);
	return status || n == 0;
}
