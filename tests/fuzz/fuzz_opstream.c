/* SPDX-License-Identifier: Apache-2.0 */
/* Op streams of any bytes, binary or JSON Lines: what is read is written and read again, the same.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "model/stream/opstream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *write_text(const struct opstream_set *set, size_t *n)
{
	char *p = NULL;
	FILE *f = open_memstream(&p, n);

	if (!f)
		abort();
	if (!opstream_write_jsonl(set, f, NULL))
		abort();
	for (size_t i = 0; i < FILE_PAD; i++)
		putc(0, f);
	fclose(f);
	*n -= FILE_PAD;
	return p;
}

static void look(const struct opstream *s)
{
	struct strbuf b = {0};

	for (size_t i = 0; i < s->ops.n && i < 100; i++)
		opstream_text(s, &s->ops.v[i], &b);
	sb_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct opstream_set set, again;
	uint8_t *copy = calloc(1, size + FILE_PAD);
	size_t n;
	char *text;

	if (!copy)
		abort();
	if (size)
		memcpy(copy, data, size);
	opstream_set_init(&set);
	opstream_set_init(&again);
	if (opstream_read(&set, copy, size, "fuzz", NULL)) {
		for (size_t i = 0; i < set.v.n; i++)
			look(&set.v.v[i]);
		text = write_text(&set, &n);
		/* names of any bytes may not survive JSON; their number does */
		if (opstream_read(&again, text, n, "again", NULL) && again.v.n != set.v.n)
			abort();
		free(text);
	}
	opstream_set_deinit(&again);
	opstream_set_deinit(&set);
	free(copy);
	return 0;
}
