/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink.h: the two files of an open dump, and what of them is good. Only whole things count: a
 * payload or a log record that was written in part is not behind bin_end or log_end, and the log is
 * cut back before anything is appended again. One thread. Functions return 0 or an errno value.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct sink {
	int dir_fd, bin_fd, log_fd;
	const char *bin_name;
	uint64_t bin_end, log_end;
	bool must_cut; /* a failed write left bytes behind log_end */
};

/* Creates both files in dir; EEXIST when it holds a dump already. */
int sink_open(struct sink *s, const char *dir, bool is_older);
/* Closes what is open. */
void sink_close(struct sink *s);

/* Payload at `at` (>= bin_end). bin_end stays: the caller moves it over what is whole. *done: bytes
 * that were written, from the first on. iov is used up. */
int sink_write_bin(struct sink *s, struct iovec *iov, int n, uint64_t at, uint64_t *done);
/* Whole records. *done: bytes of those that are in the file now, log_end is behind them. */
int sink_write_log(struct sink *s, const uint8_t *p, size_t n, size_t *done);
/* Payload first, then the log. */
int sink_sync(struct sink *s);
/* Cuts what stands behind the ends. */
int sink_trim(struct sink *s);
