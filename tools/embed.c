/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed.c: turns files into a table of a C file, NAME_assets (src/base/asset.h says what is in it).
 * Runs while building only. usage: embed OUT.c NAME URL=FILE...
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define MAX_FILES 16

struct asset_in {
	const char *url, *path;
	size_t bytes;
	uint64_t hash;
};

static const char *media_type(const char *url)
{
	static const char *const types[][2] = {
		{".js", "text/javascript; charset=utf-8"},
		{".css", "text/css; charset=utf-8"},
		{".svg", "image/svg+xml"},
		{".html", "text/html; charset=utf-8"},
		{".wasm", "application/wasm"},
	};
	size_t length = strlen(url);

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		size_t n = strlen(types[i][0]);
		if (length >= n && !strcmp(url + length - n, types[i][0]))
			return types[i][1];
	}
	return "text/html; charset=utf-8";
}

/* The bytes as an array; FNV-1a of them, so that a browser can keep what did not change. */
static bool write_bytes(FILE *out, unsigned number, struct asset_in *a)
{
	FILE *in = fopen(a->path, "rb");
	int c;

	if (!in) {
		perror(a->path);
		return false;
	}
	a->hash = 0xcbf29ce484222325u;
	fprintf(out, "static const unsigned char data_%u[] = {", number);
	while ((c = getc(in)) != EOF) {
		fprintf(out, "%s%d,", a->bytes++ % 24 ? "" : "\n", c);
		a->hash = (a->hash ^ (unsigned)c) * 0x100000001b3u;
	}
	fprintf(out, "0};\n");
	bool ok = !ferror(in);
	fclose(in);
	if (!ok)
		fprintf(stderr, "%s: cannot be read\n", a->path);
	return ok;
}

static bool write_all(FILE *out, const char *name, struct asset_in *files, unsigned n)
{
	fprintf(out,
		"#include \"base/asset.h\"\nextern const struct asset %s_assets[];\nextern const size_t %s_n_assets;\n",
		name, name);
	for (unsigned i = 0; i < n; i++)
		if (!write_bytes(out, i, &files[i]))
			return false;
	fprintf(out, "const struct asset %s_assets[] = {\n", name);
	for (unsigned i = 0; i < n; i++)
		fprintf(out, "\t{\"%s\", \"%s\", \"%016" PRIx64 "\", data_%u, %zu},\n",
			files[i].url, media_type(files[i].url), files[i].hash, i, files[i].bytes);
	fprintf(out, "};\nconst size_t %s_n_assets = %u;\n", name, n);
	return !ferror(out);
}

int main(int argc, char **argv)
{
	struct asset_in files[MAX_FILES] = {0};
	unsigned n = 0;

	if (argc < 4 || argc - 3 > MAX_FILES) {
		fprintf(stderr, "usage: embed OUT.c NAME URL=FILE...\n");
		return 2;
	}
	for (int i = 3; i < argc; i++) {
		char *eq = strchr(argv[i], '=');
		if (!eq) {
			fprintf(stderr, "%s: expected URL=FILE\n", argv[i]);
			return 2;
		}
		*eq = 0;
		files[n++] = (struct asset_in){.url = argv[i], .path = eq + 1};
	}
	FILE *out = fopen(argv[1], "w");
	if (!out) {
		perror(argv[1]);
		return 1;
	}
	bool ok = write_all(out, argv[2], files, n);
	if (fclose(out) != 0)
		ok = false;
	if (!ok)
		remove(argv[1]);
	return ok ? 0 : 1;
}
