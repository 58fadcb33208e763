/* SPDX-License-Identifier: Apache-2.0 */
/* class.c: how classes and buckets are spelled, everywhere. */
#include "trace/class.h"

static const char *const class_names[CLASS_COUNT] = {
	[CLASS_OTHER] = "OTHER",
	[CLASS_MATRIX] = "MATRIX",
	[CLASS_TRANS] = "TRANS",
	[CLASS_VALU] = "VALU",
	[CLASS_VMEM_LOAD] = "VMEM-load",
	[CLASS_VMEM_STORE] = "VMEM-store",
	[CLASS_VMEM_ATOMIC] = "VMEM-atomic",
	[CLASS_VMEM_TO_LDS] = "VMEM-to-LDS",
	[CLASS_LDS] = "LDS",
	[CLASS_LDS_XLANE] = "LDS-xlane",
	[CLASS_SMEM] = "SMEM",
	[CLASS_SALU] = "SALU",
	[CLASS_BRANCH] = "BRANCH",
	[CLASS_WAIT] = "WAIT",
	[CLASS_NOP] = "NOP",
	[CLASS_BARRIER] = "BARRIER",
	[CLASS_SLEEP] = "SLEEP",
	[CLASS_DRAIN] = "DRAIN",
	[CLASS_MSG] = "MSG",
	[CLASS_TRAP] = "TRAP",
	[CLASS_BVH] = "BVH",
	[CLASS_SCALAR] = "SCALAR",
	[CLASS_FLOWCTRL] = "FLOWCTRL",
	[CLASS_MTE] = "MTE",
	[CLASS_CUBE] = "CUBE",
	[CLASS_FIXP] = "FIXP",
	[CLASS_VECTOR] = "VECTOR",
	[CLASS_SIMT] = "SIMT",
	[CLASS_FLAG_SET] = "FLAG-set",
	[CLASS_FLAG_WAIT] = "FLAG-wait",
	[CLASS_SYNC] = "SYNC",
	[CLASS_CACHE_MISS] = "CACHE-miss",
	[CLASS_USERMARK] = "USERMARK",
};

static const char *const bucket_names[BUCKET_COUNT] = {
	[BUCKET_ISSUE] = "issue",
	[BUCKET_STALL] = "stall",
	[BUCKET_WAIT] = "wait",
	[BUCKET_IDLE] = "idle",
	[BUCKET_DRAIN] = "drain",
};

const char *class_name(enum inst_class c)
{
	return (unsigned)c < CLASS_COUNT ? class_names[c] : "OTHER";
}

const char *bucket_name(enum bucket b)
{
	return (unsigned)b < BUCKET_COUNT ? bucket_names[b] : "unknown";
}
