/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump.h: libincore-dump, the args dump. Records what each kernel dispatch received and produced:
 * tensors, scalars, and what is known about the task. C and C++; libc and pthreads only.
 *
 * Threads. Each recording thread attaches once and uses its own writer; a writer belongs to one
 * thread at a time. Recording takes no lock, and makes no system call but to wake the collector or
 * to wait for room: it copies (or gathers) into the writer's arena and publishes in its ring; one
 * collector thread adds checksums and writes. Marks and incore_dump_flush_all(): any thread.
 *
 * Fork. A dump belongs to the process that opened it. In a child of fork() every call on it returns
 * ECHILD at once and changes nothing, neither here nor in the files; the child leaves it alone, or
 * opens one of its own.
 *
 * Owner. The dump owns its writers; incore_dump_close() frees all. Nothing passed in is kept.
 *
 * Results. 0, or an errno value: EINVAL, EOVERFLOW (a wrong record: incore_dump_why() says what),
 * EAGAIN (dropped: no room within the wait), ENOSPC, EIO ... (a write failed), ETIMEDOUT. A record
 * that is not kept, whatever the reason, is counted per thread and per task in the manifest.
 *
 * Flush guarantee. A flush returns 0 only after write() has returned for every payload byte and,
 * after it, every log record that the thread (or all) made before the call. From then on the death
 * of the process loses nothing that was flushed; power loss is covered with the option `sync`
 * alone, which makes the flush sync the payload file, then the log. Unflushed data may be lost, but
 * is never reported wrongly; it is written when a quarter of a ring or arena is full, or some 100
 * ms later. A failed write is counted as loss, and from then on every flush of that writer fails:
 * some of its records are gone.
 *
 * Repair log. An open dump is args.bin and args.log, both append-only: payload first, then the log
 * record that names it, with its checksum. Close writes args_dump.json whole and removes the log. A
 * log without a manifest is a dump that was not closed: `incore dump repair DIR` makes its manifest
 * and says what is missing.
 *
 * Memory. writers * (ring_bytes + arena_bytes) + 3 MiB; at close sort_bytes, and 100 bytes for each
 * record of the largest task.
 */
#ifndef INCORE_DUMP_H
#define INCORE_DUMP_H

#include <stddef.h>
#include <stdint.h>

#include "incore/dump_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct incore_dump;
struct incore_dump_writer;

/* level full, wait 30 s, flush 30 s, 256 writers, ring 1 MiB, arena 16 MiB, sort 64 MiB */
void incore_dump_options_init(struct incore_dump_options *o);
/* Creates dir if needed (not its parents). EEXIST: it already holds a dump, which is not
 * overwritten. */
int incore_dump_open(
	struct incore_dump **out, const char *dir, const struct incore_dump_options *o);
/* Writes everything, then the manifest. Recording must have ended. Frees the dump even on failure;
 * the log then stays for repair. */
int incore_dump_close(struct incore_dump *d);

int incore_dump_attach(struct incore_dump *d, struct incore_dump_writer **out);
/* The caller no longer uses the writer; its memory is freed once everything is written. */
void incore_dump_detach(struct incore_dump_writer *w);

/* Selects a slot of a task (or all), before it is dispatched. */
int incore_dump_mark(struct incore_dump *d, uint64_t task_id, uint32_t slot);
int incore_dump_put_task(struct incore_dump_writer *w, const struct incore_dump_task *t);
int incore_dump_put_tensor(struct incore_dump_writer *w, const struct incore_dump_tensor *t);
int incore_dump_put_scalar(struct incore_dump_writer *w, const struct incore_dump_scalar *s);
int incore_dump_flush(struct incore_dump_writer *w);
int incore_dump_flush_all(struct incore_dump *d);

/* A value of up to 8 bytes as a slot holds it. */
uint64_t incore_dump_bits(const void *value, size_t bytes);
/* What was wrong with the last record that this writer refused; "" if none. */
const char *incore_dump_why(const struct incore_dump_writer *w);
void incore_dump_get_writer_stats(const struct incore_dump_writer *w, struct incore_dump_stats *s);
void incore_dump_get_stats(struct incore_dump *d, struct incore_dump_stats *s);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
