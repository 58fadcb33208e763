/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msprof_host.c: the program that lays out buffers, descriptors, contexts and argument rows as the
 * runtime did, and launches the kernel once. Its tables are the job, its code is fixed.
 */
#include "args/dtype.h"
#include "replay/msprof/msprof.h"

static const char HEAD[] =
	"// Made by incore. Lays the arguments of one dispatch out and launches its kernel.\n"
	"#include <cstdint>\n"
	"#include <cstdio>\n"
	"#include <cstdlib>\n"
	"#include <cstring>\n"
	"#include <vector>\n\n"
	"#include <acl/acl.h>\n\n"
	"extern \"C\" void launch_replay(uint32_t blocks, void *stream, void *aic_rows, void *aiv_rows);\n\n"
	"struct Tensor { // as the kernel reads it\n"
	"\tuint64_t addr, size, owner, start_offset;\n"
	"\tint32_t version;\n"
	"\tuint32_t ndims;\n"
	"\tuint8_t dtype, manual_dep, is_contiguous, address_space;\n"
	"\tuint32_t shapes[5];\n"
	"\tuint64_t extent;\n"
	"\tuint32_t strides[5];\n"
	"\tuint8_t pad[36];\n"
	"};\n"
	"static_assert(sizeof(Tensor) == 128, \"tensor descriptor\");\n\n"
	"struct LocalContext {\n"
	"\tint32_t block_idx, block_num;\n"
	"\tuint64_t completion_count, error_code, entries;\n"
	"\tuint32_t capacity, pad;\n"
	"\tuint64_t task_token;\n"
	"};\n"
	"static_assert(sizeof(LocalContext) == 48, \"local context\");\n\n"
	"struct GlobalContext {\n"
	"\tint32_t sub_block_id, pad;\n"
	"\tuint64_t dma_workspace[2];\n"
	"};\n"
	"static_assert(sizeof(GlobalContext) == 24, \"global context\");\n\n"
	"struct Buffer {\n\tconst char *file; // nullptr: zeros\n\tuint64_t bytes;\n};\n"
	"struct Slot {\n"
	"\tuint32_t block, slot;\n"
	"\tbool is_tensor;\n"
	"\tuint64_t bits; // scalar\n"
	"\tuint32_t buffer;\n"
	"\tuint64_t start_offset, extent;\n"
	"\tuint8_t dtype, is_contiguous;\n"
	"\tuint32_t ndims, shapes[5], strides[5];\n"
	"};\n"
	"struct Block {\n\tint32_t index, count;\n};\n\n"
	"static const uint64_t NONE = ~0ull;\n"
	"static const unsigned SLOTS_A_ROW = 50, LOCAL_CONTEXT = 48, GLOBAL_CONTEXT = 49;\n\n";

static const char BODY[] =
	"\nstatic void check(aclError rc, const char *what)\n"
	"{\n"
	"\tif (rc == ACL_SUCCESS)\n"
	"\t\treturn;\n"
	"\tstd::fprintf(stderr, \"replay_host: %s failed: %d\\n\", what, (int)rc);\n"
	"\tstd::exit(1);\n"
	"}\n\n"
	"static std::vector<void *> uploaded; // all of it, to be freed at the end\n\n"
	"static void *upload(const void *bytes, size_t n)\n"
	"{\n"
	"\tvoid *p = nullptr;\n\n"
	"\tcheck(aclrtMalloc(&p, n, ACL_MEM_MALLOC_HUGE_FIRST), \"aclrtMalloc\");\n"
	"\tuploaded.push_back(p);\n"
	"\tcheck(aclrtMemcpy(p, n, bytes, n, ACL_MEMCPY_HOST_TO_DEVICE), \"aclrtMemcpy\");\n"
	"\treturn p;\n"
	"}\n\n"
	"static void *upload_buffer(const Buffer &b)\n"
	"{\n"
	"\tstd::vector<char> bytes(b.bytes ? b.bytes : 1, 0);\n\n"
	"\tif (b.file) {\n"
	"\t\tstd::FILE *f = std::fopen(b.file, \"rb\");\n\n"
	"\t\tif (!f || std::fread(bytes.data(), 1, b.bytes, f) != b.bytes) {\n"
	"\t\t\tstd::fprintf(stderr, \"replay_host: cannot read %llu bytes of %s\\n\",\n"
	"\t\t\t\t(unsigned long long)b.bytes, b.file);\n"
	"\t\t\tstd::exit(1);\n"
	"\t\t}\n"
	"\t\tstd::fclose(f);\n"
	"\t}\n"
	"\treturn upload(bytes.data(), bytes.size());\n"
	"}\n\n"
	"// One row of slots for one core of one block.\n"
	"static void fill_row(int64_t *row, uint32_t block, int32_t lane, const std::vector<void *> &buffers)\n"
	"{\n"
	"\tLocalContext local = {BLOCKS[block].index, BLOCKS[block].count, 0, 0, 0, 0, 0, NONE};\n"
	"\tGlobalContext global = {lane, 0, {0, 0}};\n\n"
	"\tfor (const Slot &s : SLOTS) {\n"
	"\t\tif (s.block != block)\n"
	"\t\t\tcontinue;\n"
	"\t\tif (!s.is_tensor) {\n"
	"\t\t\trow[s.slot] = (int64_t)s.bits;\n"
	"\t\t\tcontinue;\n"
	"\t\t}\n"
	"\t\tTensor t = {};\n\n"
	"\t\tt.addr = (uint64_t)buffers[s.buffer];\n"
	"\t\tt.size = BUFFERS[s.buffer].bytes;\n"
	"\t\tt.owner = NONE;\n"
	"\t\tt.start_offset = s.start_offset;\n"
	"\t\tt.ndims = s.ndims;\n"
	"\t\tt.dtype = s.dtype;\n"
	"\t\tt.is_contiguous = s.is_contiguous;\n"
	"\t\tt.address_space = 1;\n"
	"\t\tt.extent = s.extent;\n"
	"\t\tstd::memcpy(t.shapes, s.shapes, sizeof(t.shapes));\n"
	"\t\tstd::memcpy(t.strides, s.strides, sizeof(t.strides));\n"
	"\t\trow[s.slot] = (int64_t)upload(&t, sizeof(t));\n"
	"\t}\n"
	"\trow[LOCAL_CONTEXT] = (int64_t)upload(&local, sizeof(local));\n"
	"\trow[GLOBAL_CONTEXT] = (int64_t)upload(&global, sizeof(global));\n"
	"}\n\n"
	"static void *upload_rows(uint32_t lanes, const std::vector<void *> &buffers)\n"
	"{\n"
	"\tconst uint32_t blocks = sizeof(BLOCKS) / sizeof(*BLOCKS);\n"
	"\tstd::vector<int64_t> rows((size_t)blocks * lanes * SLOTS_A_ROW, 0);\n\n"
	"\tfor (uint32_t b = 0; b < blocks; b++)\n"
	"\t\tfor (uint32_t lane = 0; lane < lanes; lane++)\n"
	"\t\t\tfill_row(&rows[((size_t)b * lanes + lane) * SLOTS_A_ROW], b, (int32_t)lane, buffers);\n"
	"\treturn upload(rows.data(), rows.size() * sizeof(rows[0]));\n"
	"}\n\n"
	"int main()\n"
	"{\n"
	"\tconst char *stated = std::getenv(\"ACL_DEVICE_ID\");\n"
	"\tint32_t device = stated ? std::atoi(stated) : 0;\n"
	"\taclrtStream stream = nullptr;\n"
	"\tstd::vector<void *> buffers;\n\n"
	"\tcheck(aclInit(nullptr), \"aclInit\");\n"
	"\tcheck(aclrtSetDevice(device), \"aclrtSetDevice\");\n"
	"\tcheck(aclrtCreateStream(&stream), \"aclrtCreateStream\");\n"
	"\tfor (const Buffer &b : BUFFERS)\n"
	"\t\tbuffers.push_back(upload_buffer(b));\n"
	"\tlaunch_replay(sizeof(BLOCKS) / sizeof(*BLOCKS), stream, upload_rows(1, buffers),\n"
	"\t\tupload_rows(VECTOR_LANES, buffers));\n"
	"\tcheck(aclrtSynchronizeStream(stream), \"aclrtSynchronizeStream\");\n"
	"\tfor (void *p : uploaded)\n"
	"\t\tcheck(aclrtFree(p), \"aclrtFree\");\n"
	"\tcheck(aclrtDestroyStream(stream), \"aclrtDestroyStream\");\n"
	"\tcheck(aclrtResetDevice(device), \"aclrtResetDevice\");\n"
	"\tcheck(aclFinalize(), \"aclFinalize\");\n"
	"\treturn 0;\n"
	"}\n";

static void put_dims(struct strbuf *out, const uint64_t *v, uint32_t n)
{
	sb_puts(out, "{");
	for (uint32_t i = 0; i < ARG_DESCRIPTOR_DIMS; i++)
		sb_printf(out, "%s%llu", i ? ", " : "", i < n ? (unsigned long long)v[i] : 0);
	sb_puts(out, "}");
}

static void put_slot(
	struct strbuf *out, uint32_t block, uint32_t slot, const struct arg *s, uint64_t bits)
{
	sb_printf(out, "\t{%u, %u, %s, 0x%016llxull, %u, %llu, %llu, %u, %u, %u, ", block, slot,
		s->is_tensor ? "true" : "false", (unsigned long long)bits, s->buffer,
		(unsigned long long)s->start_offset, (unsigned long long)s->extent, s->dtype,
		s->is_contiguous, s->n_dims);
	put_dims(out, s->shape, s->n_dims);
	sb_puts(out, ", ");
	put_dims(out, s->strides, s->n_dims);
	sb_puts(out, "},");
	if (s->is_tensor)
		sb_printf(out, " // %s", dtype_name(s->dtype));
	sb_putc(out, '\n');
}

static void put_tables(const struct args *a, struct strbuf *out)
{
	sb_puts(out, "static const Buffer BUFFERS[] = {\n");
	EACH (const struct arg_buffer, b, a->buffers.v, a->buffers.n) {
		sb_printf(out, "\t{%s%s%s, %llu},\n", b->file ? "\"" : "",
			b->file ? b->file : "nullptr", b->file ? "\"" : "",
			(unsigned long long)b->n);
	}
	if (!a->buffers.n)
		sb_puts(out, "\t{nullptr, 0},\n");
	sb_puts(out, "};\nstatic const Block BLOCKS[] = {\n");
	for (uint32_t b = 0; b < a->rows.n; b++)
		sb_printf(out, "\t{%u, %u},\n", a->first_block + b, a->block_count);
	sb_puts(out, "};\nstatic const Slot SLOTS[] = {\n");
	for (uint32_t b = 0; b < a->rows.n; b++)
		for (uint32_t i = 0; i < ARG_CONTEXT_SLOT; i++)
			if (a->slots[i].is_used)
				put_slot(out, b, i, &a->slots[i], args_bits(a, b, i));
	/* C++ has no empty arrays: add a slot that no block uses */
	put_slot(out, UINT32_MAX, 0, &(struct arg){0}, 0);
	sb_puts(out, "};\n");
}

bool msprof_host_text(const struct replay_job *job, struct strbuf *out, struct incore_error *e)
{
	for (size_t i = 0; i < job->args->buffers.n; i++) {
		const char *file = job->args->buffers.v[i].file;

		if (file && !msprof_check_path(file, e))
			return false;
	}
	sb_puts(out, HEAD);
	sb_printf(out, "static const uint32_t VECTOR_LANES = %u;\n", msprof_lanes(job));
	put_tables(job->args, out);
	sb_puts(out, BODY);
	return !out->failed || err_nomem(e);
}
