/* SPDX-License-Identifier: Apache-2.0 */
/*
 * container.h: finds the files of one capture of raw thread traces, and reads meta.json. Owner:
 * everything is in the caller's arena.
 */
#pragma once

#include "base/arena.h"
#include "base/file_fence.h"
#include "base/str.h"
#include "trace/trace.h"

#define SQTT_MAX_SE 4096u

struct sqtt_stream_file {
	uint32_t se;
	const char *path;
	int64_t size;
	const uint8_t *data; /* a part of the file at path; NULL: the whole file */
	uint64_t at;	     /* where that part begins */
};

struct sqtt_object_file {
	uint32_t id; /* from its name; 0: the only one of a plain run */
	const char *path;
	struct str bytes; /* a part of another file; empty: the file at path */
};

struct sqtt_container { /* one dispatch; strings in the caller's arena */
	const char *dir;
	int64_t agent, dispatch; /* NO_VALUE for a plain run */
	const char *first;	 /* path of the stream with the lowest shader engine */
	const char *meta;	 /* path of meta.json, or NULL */
	const char *code_json;	 /* path, or NULL */
	const char *snapshots;	 /* path of snapshots.json, or NULL */
	struct sqtt_stream_file *streams;
	uint32_t n_streams;
	struct sqtt_object_file *objects;
	uint32_t n_objects;
	uint64_t n_bytes;		 /* of all streams */
	uint64_t shader_hz, realtime_hz; /* as stated by the container; 0: not stated */
	struct rgp_file *rgp;		 /* the file that has the streams and objects, or NULL */
};

/* Splits "<prefix>_<agent>_shader_engine_<SE>_<dispatch>.att"; false for other names. */
struct sqtt_att_name {
	struct str prefix; /* with the agent: equal for captures of one process and agent */
	int64_t agent;	   /* NO_VALUE if it is not a number */
	uint32_t se;
	int64_t dispatch;
};
bool sqtt_att_name(const char *name, struct sqtt_att_name *out);

/* The number N in "<prefix>_code_object_id_<N>.out". */
bool sqtt_object_name(const char *name, uint32_t *id);

/* Lists all captures of a directory; for a file, the one it belongs to. */
bool sqtt_containers(const struct file_fence *f, const char *path, struct arena *a,
	struct sqtt_container **out, uint32_t *n, struct incore_error *e);
/* Does the directory hold streams (and no decoded ui_output directories)? */
bool sqtt_is_dir(const struct file_fence *f, const char *path);
bool sqtt_is_stream_name(const char *path);

/* What meta.json says, which a plain run has. */
struct sqtt_meta {
	const char *gfx, *kernel; /* or NULL */
	uint64_t load_base;	  /* SQTT_NO_ADDR if not given */
	struct trace_machine machine;
	bool is_synthetic; /* a generator wrote the streams */
};
