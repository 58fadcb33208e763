/* SPDX-License-Identifier: Apache-2.0 */
/* ui_extra.c: occupancy, counters, markers, other SIMDs, and the files that the profiler puts
 * beside a ui_output directory. */
#include "ui_extra.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define INT(v) ((int64_t)(v))

/* --- occupancy.json --- */

struct event {
	uint64_t time;
	unsigned cu, simd, slot, start, workgroup;
	unsigned order;
};

static int by_event(const void *pa, const void *pb)
{
	const struct event *a = pa, *b = pb;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static size_t add_wave(
	struct event *v, size_t n, struct event e, uint64_t begin, uint64_t end, bool has_end)
{
	e.order = (unsigned)n;
	e.time = begin;
	e.start = 1;
	v[n++] = e;
	if (has_end) {
		e.order = (unsigned)n;
		e.time = end;
		e.start = 0;
		v[n++] = e;
	}
	return n;
}

/* Waves of the target CU as traced; the other CUs run the same at other times. */
static size_t events_of(const struct ui_capture *c, unsigned se, struct event *v)
{
	size_t n = 0;

	for (size_t i = 0; i < c->sim.n_waves; i++) {
		const struct sim_wave *w = &c->sim.waves[i];
		struct event e = {0, w->cu, w->simd, w->slot, 0, w->workgroup, 0};
		bool has_end = !(c->flags & UI_OPEN_END) || !w->cut_after;

		if (w->se != se)
			continue;
		if (!(c->flags & UI_MISS_TARGET))
			n = add_wave(
				v, n, e, ui_time(c, se, w->begin), ui_time(c, se, w->end), has_end);
		for (unsigned k = 0; k < c->n_other_cus; k++) {
			for (unsigned s = 0; s < c->other_waves_per_simd; s++) {
				uint64_t late =
					4 * (sim_random(c->sim.seed, i * 97 + k * 7 + s, 40) + 2);

				if (w->slot != 0 || w->number != 0)
					continue;
				e.cu = c->other_cus[k];
				e.slot = s;
				e.workgroup = w->workgroup + 1 + k + s * c->n_other_cus;
				n = add_wave(v, n, e, ui_time(c, se, w->begin + late),
					ui_time(c, se, w->end + 2 * late), has_end);
			}
		}
	}
	qsort(v, n, sizeof(*v), by_event);
	return n;
}

static unsigned kernel_id(const struct ui_capture *c, unsigned se)
{
	return se > 0 && c->second_kernel ? 2 : 1;
}

static void put_events(struct json_writer *w, const struct ui_capture *c, unsigned se,
	const struct event *v, size_t n)
{
	unsigned id = kernel_id(c, se);

	json_w_array(w);
	for (size_t i = 0; i < n; i++) {
		const struct event *e = &v[i];

		if (c->flags & UI_NEW_COLUMNS)
			ui_ints(w, 11, INT(e->time), INT(e->cu), INT(e->simd), INT(e->slot),
				INT(e->start), INT(id), INT(1), INT(0), INT(0),
				INT(e->workgroup & 127), INT(0));
		else
			ui_ints(w, 6, INT(e->time), INT(e->cu), INT(e->simd), INT(e->slot),
				INT(e->start), INT(id));
	}
	json_w_end(w);
}

static void put_dispatch(struct json_writer *w, const struct ui_capture *c, unsigned se)
{
	json_w_object(w);
	json_w_kv_u64(w, "byte_offset", 4096);
	json_w_kv_u64(w, "dispatch_pkt_addr", 140000000);
	json_w_key(w, "entry_point");
	json_w_object(w);
	json_w_kv_u64(w, "address", c->program->vaddr);
	json_w_kv_u64(w, "code_object_id", 3);
	json_w_end(w);
	json_w_kv_u64(w, "flags", 0);
	json_w_kv_u64(w, "kernel_id", kernel_id(c, se));
	json_w_kv_cstr(
		w, "kernel_name", kernel_id(c, se) == 2 ? c->second_kernel : c->program->kernel);
	json_w_kv_cstr(w, "kind", "dispatch");
	json_w_kv_u64(w, "lds_size", c->lds_bytes);
	json_w_kv_u64(w, "me_id", 1);
	json_w_kv_u64(w, "pipe_id", 0);
	json_w_kv_u64(w, "sgprs", c->kernel_sgprs);
	json_w_kv_u64(w, "thread_dim_x", c->workgroup_size);
	json_w_kv_u64(w, "thread_dim_y", 1);
	json_w_kv_u64(w, "thread_dim_z", 1);
	json_w_kv_u64(w, "time", ui_time(c, se, 19000));
	json_w_kv_u64(w, "user_sgprs", 6);
	json_w_kv_u64(w, "vgprs", c->kernel_vgprs);
	json_w_end(w);
}

static void put_event(struct json_writer *w, uint64_t time, unsigned type, unsigned flags)
{
	json_w_object(w);
	json_w_kv_u64(w, "byte_offset", 8192);
	json_w_kv_u64(w, "flags", flags);
	json_w_kv_cstr(w, "kind", "event");
	json_w_kv_u64(w, "me_id", 1);
	json_w_kv_u64(w, "payload", 0);
	json_w_kv_u64(w, "pipe_id", 0);
	json_w_kv_u64(w, "time", time);
	json_w_kv_u64(w, "type", type);
	json_w_end(w);
}

static void put_new_events(struct json_writer *w, const struct ui_capture *c)
{
	static const char *const fields[] = {"time", "cu", "simd", "wave_id", "start", "kernel_id",
		"me_id", "pipe_id", "is_ext", "workgroup_id", "cluster_id"};
	char key[16];

	json_w_key(w, "events");
	json_w_object(w);
	for (unsigned se = 0; se < c->n_se; se++) {
		snprintf(key, sizeof(key), "%u", se);
		json_w_key_str(w, str_of(key));
		json_w_array(w);
		put_dispatch(w, c, se);
		put_event(w, ui_time(c, se, 26000), 4, 2);
		json_w_end(w);
	}
	json_w_end(w);
	json_w_key(w, "occupancy_fields");
	json_w_row(w);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		json_w_cstr(w, fields[i]);
	json_w_end(w);
}

bool ui_write_occupancy(const struct ui_capture *c, const char *dir)
{
	FILE *f = ui_create(dir, "occupancy.json");
	struct event *v = calloc(2 * c->sim.n_waves * 32 + 1, sizeof(*v));
	struct json_writer w;
	char key[16];

	if (!f || !v) {
		if (f)
			fclose(f);
		free(v);
		return false;
	}
	json_w_file(&w, f, 0);
	json_w_object(&w);
	for (unsigned se = 0; se < c->n_se && !(c->flags & (UI_NO_EVENTS | UI_PC_SAMPLING)); se++) {
		size_t n = events_of(c, se, v);

		if (!n)
			continue;
		snprintf(key, sizeof(key), "%u", se);
		json_w_key_str(&w, str_of(key));
		put_events(&w, c, se, v, n);
	}
	json_w_key(&w, "dispatches");
	json_w_object(&w);
	json_w_kv_cstr(&w, "0", "0 / 0x0");
	json_w_kv_cstr(&w, "1", c->program->kernel);
	if (c->second_kernel)
		json_w_kv_cstr(&w, "2", c->second_kernel);
	json_w_end(&w);
	if (c->flags & UI_NEW_COLUMNS)
		put_new_events(&w, c);
	json_w_kv_cstr(&w, "version", c->flags & UI_NEW_COLUMNS ? "3.1.0" : "3.0.0");
	json_w_end(&w);
	free(v);
	return ui_finish(&w, f);
}

/* --- counters, markers, other SIMDs, spm --- */

void ui_put_counter_names(struct json_writer *w, const struct ui_capture *c)
{
	static const char *const names[] = {"SQ_BUSY_CU_CYCLES", "SQ_VALU_MFMA_BUSY_CYCLES",
		"SQ_ACTIVE_INST_VALU", "SQ_ACTIVE_INST_LDS", "SQ_INSTS_SALU:1"};

	json_w_row(w);
	for (size_t i = 0; c->flags & UI_NEW_COLUMNS && i < sizeof(names) / sizeof(names[0]); i++)
		json_w_cstr(w, names[i]);
	json_w_end(w);
}

static void put_file_list(struct json_writer *w, const struct ui_capture *c, const char *prefix)
{
	char text[64];

	json_w_object(w);
	json_w_key(w, "0");
	json_w_array(w);
	json_w_row(w);
	snprintf(text, sizeof(text), "%s0_0.json", prefix);
	json_w_cstr(w, text);
	json_w_u64(w, ui_time(c, 0, 20000));
	json_w_u64(w, ui_time(c, 0, 22000));
	json_w_end(w);
	json_w_end(w);
	json_w_end(w);
}

void ui_put_extra_names(struct json_writer *w, const struct ui_capture *c)
{
	json_w_key(w, "other_simd_filenames");
	put_file_list(w, c, "other_simd_se");
	json_w_key(w, "shaderdata_filenames");
	put_file_list(w, c, "shaderdata_");
}

static bool write_counters(const struct ui_capture *c, const char *dir)
{
	FILE *f = ui_create(dir, "se0_perfcounter.json");
	struct json_writer w;

	if (!f)
		return false;
	json_w_file(&w, f, 0);
	json_w_object(&w);
	json_w_key(&w, "data");
	json_w_array(&w);
	for (unsigned i = 0; i < 12; i++) {
		uint64_t t = ui_time(c, 0, 20000 + 160 * (i / 2));
		bool is_second = i % 2;

		ui_ints(&w, 7, INT(t), INT(is_second ? 40 + i : 160),
			INT(is_second ? 0 : 16 * (i / 2)), INT(is_second ? 0 : 24),
			INT(is_second ? 0 : 8), INT(1), INT(is_second));
	}
	json_w_end(&w);
	json_w_end(&w);
	return ui_finish(&w, f);
}

static bool write_markers(const struct ui_capture *c, const char *dir)
{
	FILE *f = ui_create(dir, "shaderdata_0_0.json");
	struct json_writer w;

	if (!f)
		return false;
	json_w_file(&w, f, 0);
	json_w_object(&w);
	json_w_key(&w, "records");
	json_w_array(&w);
	for (unsigned i = 0; i < 3; i++)
		ui_ints(&w, 6, INT(ui_time(c, 0, 20100 + 400 * i)), INT(17 + i), INT(1), INT(0),
			INT(0), INT(i & 1));
	json_w_end(&w);
	json_w_kv_u64(&w, "records_count", 3);
	json_w_end(&w);
	return ui_finish(&w, f);
}

static bool write_other_simd(const struct ui_capture *c, const char *dir)
{
	FILE *f = ui_create(dir, "other_simd_se0_0.json");
	struct json_writer w;

	if (!f)
		return false;
	json_w_file(&w, f, 0);
	json_w_object(&w);
	json_w_kv_u64(&w, "begin_time", ui_time(c, 0, 20000));
	json_w_kv_u64(&w, "end_time", ui_time(c, 0, 22000));
	json_w_key(&w, "instructions");
	json_w_array(&w);
	for (unsigned i = 0; i < 4; i++)
		ui_ints(&w, 3, INT(ui_time(c, 0, 20200 + 100 * i)), INT(4 + 4 * i),
			INT(i == 3 ? 3 : 6));
	json_w_end(&w);
	json_w_kv_u64(&w, "instructions_count", 4);
	json_w_key(&w, "instructions_schema");
	json_w_row(&w);
	json_w_cstr(&w, "time");
	json_w_cstr(&w, "duration");
	json_w_cstr(&w, "category");
	json_w_end(&w);
	json_w_kv_cstr(&w, "type", "OTHER_SIMD_INSTRUCTIONS");
	json_w_kv_u64(&w, "wgp", 1);
	json_w_end(&w);
	return ui_finish(&w, f);
}

static bool write_spm(const char *dir)
{
	FILE *f = ui_create(dir, "spm.json");

	if (!f)
		return false;
	fputs("{\"TCC_HIT\":{\"dimensions\":[\"XCC\",\"INSTANCE\"],\"values\":{\"0\":{\"0\":"
	      "[[1000,12],[64,7],[64,0],[128,3]]}}}}",
		f);
	return fclose(f) == 0;
}

bool ui_write_extra(const struct ui_capture *c, const char *dir)
{
	return write_counters(c, dir) && write_markers(c, dir) && write_other_simd(c, dir) &&
	       write_spm(dir);
}

/* --- side files --- */

static bool write_agents(const struct ui_capture *c, const char *dir)
{
	FILE *f = ui_create(dir, "out_agent_info.csv");

	if (!f)
		return false;
	fputs("\"Node_Id\",\"Agent_Type\",\"Simd_Count\",\"Max_Waves_Per_Simd\",\"Lds_Size_In_Kb\","
	      "\"Wave_Front_Size\",\"Num_Xcc\",\"Cu_Count\",\"Num_Shader_Banks\",\"Simd_Per_Cu\","
	      "\"Gfx_Target_Version\",\"Max_Engine_Clk_Fcompute\",\"Cu_Per_Engine\","
	      "\"Max_Waves_Per_Cu\",\"Name\",\"Product_Name\"\n",
		f);
	fputs("0,\"CPU\",0,0,0,0,1,64,0,0,0,0,0,0,\"A processor\",\"A processor\"\n", f);
	fprintf(f, "2,\"GPU\",1024,8,160,64,8,256,32,4,90500,2200,8,32,\"%s\",\"Example GPU\"\n",
		c->arch);
	return fclose(f) == 0;
}

static bool write_trace(const struct ui_capture *c, const char *dir)
{
	FILE *f = ui_create(dir, "out_kernel_trace.csv");
	uint64_t ns = 2365494733249094;

	if (!f)
		return false;
	fputs("\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\","
	      "\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\","
	      "\"End_Timestamp\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\","
	      "\"Accum_VGPR_Count\",\"SGPR_Count\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\","
	      "\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n",
		f);
	for (unsigned i = 0; i < 8; i++) {
		unsigned kernel = i % 4 == 3;

		fprintf(f,
			"\"KERNEL_DISPATCH\",\"Agent 2\",1,0,4242,%u,%u,\"%s\",%u,%" PRIu64
			",%" PRIu64 ",%u,0,%u,%u,%u,%u,1,1,%u,1,1\n",
			i + 1, kernel ? 12 : 11,
			kernel ? "void fill<float, 4>(float*)" : c->program->kernel, i + 1,
			ns + i * 40000, ns + i * 40000 + 9120 + i * 8, kernel ? 0 : c->lds_bytes,
			kernel ? 8 : c->kernel_vgprs, kernel ? 0 : c->kernel_accum, c->kernel_sgprs,
			c->workgroup_size, c->workgroups * c->workgroup_size);
	}
	return fclose(f) == 0;
}

static void put_agent(struct json_writer *w, const struct ui_capture *c)
{
	json_w_object(w);
	json_w_key(w, "id");
	json_w_object(w);
	json_w_kv_u64(w, "handle", c->agent);
	json_w_end(w);
	json_w_kv_u64(w, "type", 2);
	json_w_kv_u64(w, "simd_count", 1024);
	json_w_kv_u64(w, "max_waves_per_simd", 8);
	json_w_kv_u64(w, "lds_size_in_kb", 160);
	json_w_kv_u64(w, "wave_front_size", 64);
	json_w_kv_u64(w, "num_xcc", 8);
	json_w_kv_u64(w, "cu_count", 256);
	json_w_kv_u64(w, "num_shader_banks", 32);
	json_w_kv_u64(w, "simd_per_cu", 4);
	json_w_kv_u64(w, "gfx_target_version", 90500);
	json_w_kv_u64(w, "max_engine_clk_fcompute", 2200);
	json_w_kv_u64(w, "cu_per_engine", 8);
	json_w_kv_u64(w, "max_waves_per_cu", 32);
	json_w_kv_cstr(w, "name", c->arch);
	json_w_kv_cstr(w, "product_name", "Example GPU");
	json_w_kv_u64(w, "node_id", 2);
	json_w_end(w);
}

static void put_symbol(struct json_writer *w, const struct ui_capture *c)
{
	char name[160];

	snprintf(name, sizeof(name), "%s.kd", c->program->kernel);
	json_w_object(w);
	json_w_kv_u64(w, "kernel_id", 11);
	json_w_kv_u64(w, "code_object_id", 3);
	json_w_kv_cstr(w, "kernel_name", name);
	json_w_kv_u64(w, "group_segment_size", c->lds_bytes);
	json_w_kv_u64(w, "private_segment_size", 0);
	json_w_kv_u64(w, "sgpr_count", c->kernel_sgprs);
	json_w_kv_u64(w, "arch_vgpr_count", c->kernel_vgprs);
	json_w_kv_u64(w, "accum_vgpr_count", c->kernel_accum);
	json_w_end(w);
}

static bool write_results(const struct ui_capture *c, const char *dir)
{
	FILE *f = ui_create(dir, "out_results.json");
	struct json_writer w;
	char name[96];

	if (!f)
		return false;
	json_w_file(&w, f, 0);
	json_w_object(&w);
	json_w_key(&w, "rocprofiler-sdk-tool");
	json_w_array(&w);
	json_w_object(&w);
	json_w_key(&w, "metadata");
	json_w_object(&w);
	json_w_kv_u64(&w, "pid", 4242);
	json_w_key(&w, "command");
	json_w_row(&w);
	json_w_cstr(&w, "python");
	json_w_cstr(&w, "gemm.py");
	json_w_end(&w);
	json_w_end(&w);
	json_w_key(&w, "agents");
	json_w_array(&w);
	put_agent(&w, c);
	json_w_end(&w);
	json_w_key(&w, "strings");
	json_w_object(&w);
	json_w_key(&w, "att_filenames");
	json_w_array(&w);
	for (unsigned se = 0; se < c->n_se; se++) {
		snprintf(name, sizeof(name), "out_%" PRIu64 "_shader_engine_%u_%" PRIu64 ".att",
			c->agent, se, c->dispatch);
		json_w_cstr(&w, name);
	}
	json_w_end(&w);
	json_w_end(&w);
	json_w_key(&w, "kernel_symbols");
	json_w_array(&w);
	put_symbol(&w, c);
	json_w_end(&w);
	for (int i = 0; i < 3; i++)
		json_w_end(&w);
	return ui_finish(&w, f);
}

bool ui_write_side_files(const struct ui_capture *c, const char *dir)
{
	return write_agents(c, dir) && write_trace(c, dir) && write_results(c, dir);
}
