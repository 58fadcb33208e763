/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clean on any text, in both forms: what it writes must be JSON. The first byte chooses: a table of
 * instructions, or events.
 */
#include <stdlib.h>
#include <string.h>

#include "export/clean/clean_write.h"
#include "fuzz_ascend.h"

static void check_json(const char *text, size_t n)
{
	struct json_reader r;
	char *padded = calloc(1, n + JSON_PAD);

	if (!padded)
		abort();
	memcpy(padded, text, n);
	json_init(&r, padded, n, "out", 0);
	if (!json_skip(&r) || !json_finish(&r, NULL))
		abort();
	json_deinit(&r);
	free(padded);
}

static void clean_trace(const struct trace *t, struct str text, bool is_legacy)
{
	struct clean_options o = {.is_legacy = is_legacy, .keep_all = text.n % 2};
	struct clean_about about = {.kernel = "k\"\n", .input = "fuzz"};
	struct file_data file = {.data = (const uint8_t *)text.p, .size = text.n};
	struct incore_error e = {0};
	struct clean c;
	char *out = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&out, &n);
	bool ok;

	if (!f)
		abort();
	clean_init(&c, &o);
	ok = clean_read_trace(&c, t, &file, &e) && clean_layout(&c, &e) && clean_link(&c, &e) &&
	     clean_write_trace(&c, &about, f, &e);
	fclose(f);
	if (ok)
		check_json(out, n);
	free(out);
	clean_deinit(&c);
	incore_error_clear(&e);
}

static void clean_text(struct str text, bool is_legacy)
{
	struct fuzz_ascend f;

	fuzz_ascend_start(&f, (const uint8_t *)text.p, text.n, IMPORT_TEXT);
	if (asc_read_events(&f.build, f.bytes, "fuzz", 0, NULL) && asc_finish(&f.build, NULL) &&
		trace_seal(f.trace, NULL))
		clean_trace(f.trace, f.bytes, is_legacy);
	fuzz_ascend_end(&f, false);
}

static void clean_table(struct str text)
{
	struct clean_metrics m;
	struct incore_error e = {0};
	char *out = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&out, &n);
	bool ok;

	if (!f)
		abort();
	ok = clean_write_metrics(text, "fuzz", 0, f, &m, &e);
	fclose(f);
	if (ok)
		check_json(out, n);
	free(out);
	incore_error_clear(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *p = calloc(1, size + JSON_PAD);
	struct str text = {p, size ? size - 1 : 0};

	if (!p)
		abort();
	if (size) {
		memcpy(p, data + 1, size - 1);
		if (data[0] == 'T')
			clean_table(text);
		else
			clean_text(text, data[0] == 'L');
	}
	free(p);
	return 0;
}
