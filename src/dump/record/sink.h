/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink.h: the two files of an open dump, and how much of them is valid. Only whole items count:
 * bin_end and log_end never include a partly written payload or log record, and the log is
 * truncated before anything else is appended. One thread. Functions return 0 or an errno value.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct dump_sink {
	int dir_fd, bin_fd, log_fd;
	const char *bin_name;
	uint64_t bin_end, log_end;
	bool must_cut; /* a failed write left bytes after log_end */
};

/* Creates both files in dir; EEXIST if it already holds a dump. */
int sink_open(struct dump_sink *s, const char *dir, bool is_older);
/* Closes what is open. */
void sink_close(struct dump_sink *s);

/* Writes payload at `at` (>= bin_end). bin_end does not change: the caller advances it over whole
 * payloads. *done: bytes that were written, from the first on. iov is modified. */
int sink_write_bin(struct dump_sink *s, struct iovec *iov, int n, uint64_t at, uint64_t *done);
/* Appends whole records. *done: bytes of those that are now in the file; log_end is after them. */
int sink_write_log(struct dump_sink *s, const uint8_t *p, size_t n, size_t *done);
/* Syncs the payload first, then the log. */
int sink_sync(struct dump_sink *s);
/* Truncates both files to their valid ends. */
int sink_trim(struct dump_sink *s);
