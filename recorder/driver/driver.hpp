/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.hpp: the program around a kernel. It reads a job from descriptor 3 and payloads from 4,
 * runs the kernel once per core instance, writes the op streams to 5 and, where that fails, why
 * to 6. One thread.
 */
#pragma once

#include <string>
#include <vector>

#include "incore/fifo.hpp"
#include "incore/intrinsics.hpp"
#include "incore/opstream_types.h"

extern "C" void kernel_entry(int64_t *args);

namespace incore
{
enum { FD_JOB = 3, FD_PAYLOAD = 4, FD_STREAM = 5, FD_REPORT = 6 };
enum { EXIT_STOPPED = 10 };

struct slot {
	op_slot rec;
	bool is_given = false; /* the job has it */
	bool has_data = false; /* bytes of a file */
	int fill = 0;	       /* 0 zero, 1 random, 2 value, 3 none */
	uint64_t seed = 0, data_off = 0, data_bytes = 0;
	double value = 0;
	std::string name;
	uint8_t *start = nullptr; /* where its buffer begins; never followed by ops */
	uint64_t touched = 0;	  /* end of the farthest touch, in bytes */
	int owner = -1;		  /* the slot whose buffer this is, too; -1: its own */
	bool is_shared = false;	  /* by this slot and others */
	bool is_mapped = false;	  /* the kernel may follow it */
	bool is_guarded = false;  /* every touch is looked at */
	bool is_blank = false;	  /* nobody supplied it; scalar code has stored to it */
};

struct instance {
	uint32_t block_idx, block_num, lane;
	uint32_t mixed; /* 0, or the vector lanes of a kernel of several cores */
};

struct job {
	uint8_t arch = 0, core = 0, origin = 0;
	uint64_t max_ops = 0;
	unsigned seconds = 0;
	std::string kernel, sha256;
	slot slots[OPSTREAM_SLOTS];
	std::vector<instance> runs;
};

/* One op being recorded. */
struct op_record {
	op_form form;
	op_opnd opnd[OPSTREAM_MAX_OPNDS];
	uint64_t word[OPSTREAM_MAX_OPNDS];
	unsigned n = 0;
	uint32_t aux = 0;
	const char *name;
	site where;

	op_record(op_kind kind, op_pipe pipe, const char *op_name, site s);
	op_opnd &add(op_what what, op_role role, uint64_t w);
};

extern job the_job;
extern instance the_run;

/* memory.cpp */
void map_slots();
int64_t *make_args();
void set_contexts();
void fill_slots();
/* Which slot an address belongs to (its window, not only its bytes), or nullptr; byte offset from
 * the slot's start, which may be negative. */
slot *slot_of(const void *p, int64_t *offset);
/* A tile op stores this view: its values are the device's from now on. */
void device_wrote(const op_opnd &view, int64_t offset);
/* Bytes of a slot that were supplied and not stored to since; false where that is not so. */
bool slot_bytes(slot &s, int64_t offset, unsigned n, void *out);
/* The scalar cache gives the line of an address up. */
void forget_lines(const void *p);
void install_handlers();
bool was_read(unsigned slot_index);

/* emit.cpp */
void reset_counters();
/* Scalar code loads or stores in global memory; a load of a line that it has not touched waits. */
void scalar_access(const slot &s, int64_t offset, unsigned bytes, bool is_store, bool is_first);

/* values.cpp */
void values_begin();
void values_op(const op_record &op, bool is_load);
void values_set(const op_opnd &tile, uint64_t at, uint64_t value);
/* The element at an address of the vector buffer; nullptr, or why it is not known. */
const char *values_get(uint64_t at, unsigned bytes, void *out);

/* stream.cpp */
void stream_begin();
void stream_push(const op_record &op);
void stream_write();
/* "TADD at k.cpp:12", for messages */
const char *last_op();

/* Says why to the report and ends the process. */
[[noreturn]] void stop(const char *code, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* "file:line" of a site, without the folders */
std::string place(site s);
} // namespace incore
