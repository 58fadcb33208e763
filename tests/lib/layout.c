/* SPDX-License-Identifier: Apache-2.0 */
/* layout.c: sizes and places of what the public headers fix; run.py compares them with abi.txt. */
#include <stdio.h>

#include <incore/incore.h>

#define SIZE(S) printf("size %s %zu\n", #S, sizeof(S))
#define PLACE(S, M) printf("place %s.%s %zu\n", #S, #M, offsetof(S, M))
#define VALUE(V) printf("value %s %d\n", #V, (int)(V))

int main(void)
{
	SIZE(struct incore_error);
	PLACE(struct incore_error, status);
	PLACE(struct incore_error, code);
	PLACE(struct incore_error, message);
	PLACE(struct incore_error, path);
	PLACE(struct incore_error, offset);
	PLACE(struct incore_error, line);
	PLACE(struct incore_error, column);
	PLACE(struct incore_error, cause);
	SIZE(struct incore_column);
	PLACE(struct incore_column, name);
	PLACE(struct incore_column, unit);
	PLACE(struct incore_column, doc);
	PLACE(struct incore_column, type);
	SIZE(struct ArrowSchema);
	SIZE(struct ArrowArray);
	SIZE(struct ArrowArrayStream);
	VALUE(INCORE_NO);
	VALUE(INCORE_USAGE);
	VALUE(INCORE_BAD_INPUT);
	VALUE(INCORE_PARTIAL);
	VALUE(INCORE_MISSING);
	VALUE(INCORE_FAILED);
	VALUE(INCORE_UNSIGNED);
	VALUE(INCORE_SIGNED);
	VALUE(INCORE_REAL);
	VALUE(INCORE_BOOL);
	VALUE(INCORE_TEXT);
	return 0;
}
