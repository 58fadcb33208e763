/* SPDX-License-Identifier: Apache-2.0 */
/* advise_words.c: texts of the rules: the finding, and the change in terms of the kernel's
 * language. */
#include <string.h>

#include "analysis/advise/advise.h"

/* clang-format off: one string per line */
const struct advise_rule advise_rules[ADVISE_RULES] =
	{
		[ADVISE_LATE_LOAD] = {"late-load",
			"loads are waited for soon after they are issued",
			{[WORLD_HIP] = "load the next step's values into registers of their own before this step's arithmetic (software prefetch)",
				[WORLD_TRITON] =
					"raise num_stages of the loop, or move tl.load of the next step above this step's arithmetic",
				[WORLD_FLYDSL] =
					"issue the buffer_load of the next tile before the compute of this one and carry it in loop arguments",
				[WORLD_CUDA] =
					"load the next step's values into registers before this step's arithmetic, or copy them ahead with cp.async or TMA into shared memory"},
			"the wait falls by the cycles of the work between; the latency of the load stays",
			"registers for one more step: see that occupancy stays"},
		[ADVISE_START_LOAD] = {"start-load",
			"a wave has nothing else to do until its first loads come back",
			{[WORLD_HIP] = "give a wave more elements: issue the loads of all of them before the first is used, or loop and load one step ahead",
				[WORLD_TRITON] =
					"a larger block a program, or a loop over blocks (persistent) with num_stages",
				[WORLD_FLYDSL] =
					"several tiles a wave: issue all their loads before the first is used",
				[WORLD_CUDA] =
					"give a thread more elements: issue the loads of all of them before the first is used, or loop and load one step ahead"},
			"fewer waves wait as long each: the waiting of the whole kernel falls",
			"fewer waves in all: keep the device full"},
		[ADVISE_LATE_COPY] = {"late-copy",
			"copies into LDS are waited for soon after they are issued",
			{[WORLD_HIP] = "add one LDS stage and wait for all but the newest stage (relax vmcnt by the copies of a stage)",
				[WORLD_TRITON] = "raise num_stages by one",
				[WORLD_FLYDSL] =
					"add one LDS stage to the pipeline and relax the wait by the copies of a stage",
				[WORLD_CUDA] =
					"add one stage to the pipeline of asynchronous copies and wait for all but the newest (cp.async.wait_group 1, one more mbarrier)"},
			"the wait falls by the cycles of one stage",
			"LDS or shared memory grows by a stage: see that occupancy stays"},
		[ADVISE_LATE_LDS] = {"late-lds", "values read from LDS are waited for at once",
			{[WORLD_HIP] = "read the next step's operands from LDS before this step's arithmetic, and wait with the lgkmcnt that is needed instead of 0",
				[WORLD_TRITON] =
					"give the compiler room to hoist local loads: num_stages, smaller tiles a step, fewer conversions of layout between load and dot",
				[WORLD_FLYDSL] =
					"read the LDS fragments of the next k-step before the MFMA of this one (two register buffers)",
				[WORLD_CUDA] =
					"read the next fragment from shared memory before this step's arithmetic (two register buffers)"},
			"the wait falls to its floor; if its latency stays above 64 cycles, look for bank conflicts",
			"registers for one more fragment"},
		[ADVISE_LDS_WRITE] = {"lds-write",
			"writes to LDS are waited for at once, mostly for a barrier",
			{[WORLD_HIP] = "two LDS buffers: write the next tile right after the barrier and wait for it only at the next one",
				[WORLD_TRITON] =
					"raise num_stages, so that local stores of the next step overlap with this one",
				[WORLD_FLYDSL] =
					"two LDS buffers: ds_write the next tile right after gpu.barrier(), wait before the next one",
				[WORLD_CUDA] =
					"two buffers in shared memory: store the next tile right after __syncthreads()"},
			"the wait falls to its floor",
			"LDS for a second buffer: see that occupancy stays"},
		[ADVISE_LATE_SCALAR] = {"late-scalar", "scalar loads are waited for at once",
			{[WORLD_HIP] = "load kernel arguments and uniform values at the very start, merge them into wider loads, put independent work before their use, or have them preloaded (-mllvm -amdgpu-kernarg-preload-count=16 on gfx940 and later)",
				[WORLD_TRITON] =
					"hoist loads of uniform values out of the loop, or pass them as arguments",
				[WORLD_FLYDSL] =
					"hoist scalar loads to the top of the kernel, before the address arithmetic",
				[WORLD_CUDA] =
					"load constants once before the loop, or pass them as parameters"},
			"the wait shrinks by the work that stands between; the latency stays",
			"a few scalar registers"},
		[ADVISE_CROSS_LANE] = {"cross-lane",
			"exchanges between lanes go through LDS and are waited for",
			{[WORLD_HIP] = "use DPP (row_shr, row_bcast) or v_permlane for the steps that allow it: __builtin_amdgcn_update_dpp instead of __shfl",
				[WORLD_TRITON] =
					"reduce along the axis that lies within a thread first: a layout with more elements a thread on the reduced axis",
				[WORLD_FLYDSL] =
					"replace ds_bpermute steps of the reduction by DPP moves",
				[WORLD_CUDA] =
					"put independent work between a shuffle and its use, or reduce two values at once"},
			"its wait goes with it",
			"DPP has fixed patterns: the order of a reduction changes, and so does its rounding"},
		[ADVISE_STORE_IN_WAIT] = {"store-in-wait",
			"a wait that needs loads also waits for stores",
			{[WORLD_HIP] = "issue the loads of the next step before the stores of this one, so that vmcnt can leave the stores out",
				[WORLD_TRITON] = "move tl.store after the loads of the next step",
				[WORLD_FLYDSL] =
					"issue buffer_store after the next tile's buffer_load and relax vmcnt by the stores",
				[WORLD_CUDA] =
					"move the fence away from the stores that it waits for"},
			"the wait names loads alone",
			"stores become visible later: keep what other waves rely on"},
		[ADVISE_EMPTY_WAIT] = {"empty-wait", "waits are executed with nothing outstanding",
			{[WORLD_HIP] = "remove the wait: what it names was already waited for (inline assembly, __builtin_amdgcn_s_waitcnt, a fence too many)",
				[WORLD_FLYDSL] = "remove the wait from the schedule"},
			"4 cycles less an execution", "none while nothing new is issued before it"},
		[ADVISE_UNEVEN_BARRIER] = {"uneven-barrier",
			"waves wait for each other at a barrier",
			{[WORLD_HIP] = "give the waves of a workgroup equal work before it, or split it into arrive and wait (s_barrier_signal, s_barrier_wait) with work between",
				[WORLD_TRITON] =
					"use fewer warps a program, or a tile whose work divides evenly among them",
				[WORLD_FLYDSL] =
					"balance what each wave does before gpu.barrier(), or use one barrier for two stages",
				[WORLD_CUDA] =
					"give the warps of a block equal work before __syncthreads(), use smaller blocks, or an mbarrier with arrive and wait apart"},
			"its mean falls towards the floor of a barrier",
			"a barrier that is removed must not have ordered memory"},
		[ADVISE_NOP_PADDING] = {"nop-padding", "the compiler pads hazards with s_nop",
			{[WORLD_HIP] = "put independent instructions between the padded pair: unroll by two, interleave two accumulators",
				[WORLD_TRITON] =
					"larger tiles a program, so that the compiler has independent work to put there",
				[WORLD_FLYDSL] =
					"interleave a second accumulator between the pair that is padded"},
			"the s_nop goes from the listing", "registers for the second accumulator"},
		[ADVISE_DEPENDENT_CHAIN] = {"dependent-chain",
			"each instruction waits for the result of the one before",
			{[WORLD_HIP] = "use more independent accumulators, or unroll",
				[WORLD_CUDA] =
					"use more independent accumulators a thread, or unroll the loop (#pragma unroll); more warps hide it too"},
			"wait samples of the row turn into issued ones",
			"registers; sums are added in another order"},
		[ADVISE_MATRIX_CHAIN] = {"matrix-chain",
			"matrix instructions wait for the accumulator of the one before",
			{[WORLD_HIP] = "interleave a second, independent accumulator between dependent matrix instructions",
				[WORLD_TRITON] =
					"larger tiles a warp, so that several accumulators take turns",
				[WORLD_FLYDSL] =
					"order the MFMA of a k-step by accumulator: all tiles of k, then k+1"},
			"stall an execution falls; issue stays", "accumulation registers"},
		[ADVISE_NARROW_ACCESS] = {"narrow-access",
			"memory is moved in narrow pieces and their queue is full",
			{[WORLD_HIP] = "load and store 16 bytes a lane (float4, dwordx4)",
				[WORLD_TRITON] =
					"let each thread hold 16 adjacent bytes: tl.multiple_of and tl.max_contiguous hints, a larger block on the contiguous axis",
				[WORLD_FLYDSL] = "use dwordx4 buffer loads and stores",
				[WORLD_CUDA] =
					"load and store 16 bytes a thread (float4), aligned"},
			"fewer of these rows are executed, and each stalls less",
			"needs 16-byte alignment and a tail"},
		[ADVISE_UNCOALESCED] =
			{"uncoalesced",
				"a warp's accesses fall into more sectors than they need", {[WORLD_HIP] = "let neighbouring lanes touch neighbouring addresses", [WORLD_TRITON] = "order the block so that the contiguous axis is the fastest (order, strides), or transpose through shared memory", [WORLD_CUDA] = "let neighbouring threads touch neighbouring addresses: exchange the loops or the layout (array of structures to structure of arrays), or go through shared memory"},
				"memory_l2_theoretical_sectors_global falls to its ideal",
				"another layout must be made by whoever writes the data"},
		[ADVISE_BANK_CONFLICTS] =
			{"bank-conflicts", "accesses to shared memory take several passes",
				{[WORLD_HIP] = "pad rows of the LDS tile by one bank, or swizzle the column by the row",
					[WORLD_TRITON] =
						"another shared layout: swizzled (the default of dot operands) or padded",
					[WORLD_CUDA] =
						"pad rows of the tile by 4 bytes ([32][33]), or swizzle the column by the row"},
				"memory_l1_wavefronts_shared falls to its ideal",
				"padding costs shared memory; TMA and ldmatrix need their own swizzle"},
		[ADVISE_SPILL] =
			{"spill",
				"registers are spilled to memory, or an array in registers is indexed",
				{[WORLD_HIP] = "fewer live values: smaller tiles, __launch_bounds__ with fewer waves, no runtime index into a local array",
					[WORLD_TRITON] =
						"smaller block sizes, or more warps a program",
					[WORLD_FLYDSL] = "smaller tiles a wave",
					[WORLD_CUDA] =
						"fewer live values: smaller tiles, a looser __launch_bounds__ or maxrregcount, unrolled loops over local arrays"},
				"its rows go from the listing",
				"more registers a thread may lower occupancy"},
		[ADVISE_ATOMICS] =
			{"atomics",
				"atomics are waited for: many go to the same place, or their results are used at once",
				{[WORLD_HIP] = "reduce within the wave and the workgroup first, then one atomic each; do not use the old value",
					[WORLD_TRITON] =
						"tl.sum or tl.reduce before tl.atomic_add, or a second kernel that adds partial results",
					[WORLD_CUDA] =
						"reduce within the warp (__reduce_add_sync, __shfl_down_sync) and the block first, then one atomic each; do not use the old value (RED instead of ATOM)"},
				"as many times fewer atomics are executed; the row no longer waits",
				"floating-point sums are added in another order"},
		[ADVISE_FENCE] =
			{"fence", "memory fences wait for stores",
				{[WORLD_HIP] = "a fence of a narrower scope (workgroup), or one after the last store instead of one each",
					[WORLD_CUDA] =
						"a fence of a narrower scope (__threadfence_block()), or one after the last store instead of one each"},
				"membar samples fall", "readers in other blocks need the wide one"},
		[ADVISE_FETCH] =
			{"fetch", "the next instructions are not in the cache",
				{[WORLD_HIP] = "make the code of the loop smaller: unroll less, call what is inlined many times",
					[WORLD_TRITON] = "less tl.static_range, smaller blocks",
					[WORLD_CUDA] =
						"make the code of the loop smaller: #pragma unroll 1 or a small factor, __noinline__ for what is inlined many times"},
				"no_instructions samples fall",
				"loops pay for their branches again"},
		[ADVISE_SPECIAL] = {"special-functions", "special functions fill their pipe",
			{[WORLD_HIP] = "fewer of them: fold factors so that exp becomes exp2, share reciprocals, use a polynomial for some",
				[WORLD_CUDA] =
					"fewer of them: exp2f with the factor folded in, one reciprocal for several divisions, a polynomial on the FMA pipe for some"},
			"throttle samples of these rows fall", "another rounding"},
		[ADVISE_FEW_LANES] = {"few-lanes", "most instructions run with few lanes on",
			{[WORLD_HIP] = "make branches the same for the lanes of a wave: sort or regroup the work",
				[WORLD_CUDA] =
					"make branches the same for the threads of a warp: regroup the work, move the branch outwards, or use a select"},
			"fewer instructions are executed for the same work",
			"regrouping costs time of its own"},
		[ADVISE_FEW_WAVES] = {"few-waves", "few waves fit, and nothing else issues while they wait", {[WORLD_HIP] = "use fewer registers or less LDS a wave until one more fits: __launch_bounds__, amdgpu_waves_per_eu, smaller tiles", [WORLD_TRITON] = "waves_per_eu, smaller blocks, or fewer stages", [WORLD_FLYDSL] = "smaller tiles or fewer stages, until one more wave fits", [WORLD_CUDA] = "use fewer registers or less shared memory a block until one more fits: __launch_bounds__, smaller tiles"},
			"more of the waiting is hidden",
			"fewer registers may spill; caches are shared by more"},
		[ADVISE_SHORT_LOOP] = {"short-loop",
			"a small loop pays for its branch every time round",
			{[WORLD_HIP] = "unroll it (#pragma unroll 4)",
				[WORLD_TRITON] = "tl.static_range, or a larger block a step",
				[WORLD_FLYDSL] = "unroll it (range_constexpr)",
				[WORLD_CUDA] = "unroll it (#pragma unroll 4)"},
			"a fraction of the taken branches, and of these gaps",
			"code grows: it must stay within the instruction cache"},
		[ADVISE_END_DRAIN] = {"end-drain",
			"waves stay at their end until their stores are done",
			{[WORLD_HIP] = "store earlier or in wider pieces; let a wave do several tiles, so that the stores of one overlap with the next",
				[WORLD_TRITON] =
					"store earlier, or a persistent kernel that does several tiles a program",
				[WORLD_FLYDSL] = "store earlier, or do several tiles a workgroup",
				[WORLD_CUDA] =
					"store earlier or in wider pieces; let a block do several tiles"},
			"the mean of the last instruction falls",
			"a persistent kernel needs a scheduler of its own"},
		[ADVISE_SERIAL_PIPES] = {"serial-pipes",
			"moving data and computing take turns instead of overlapping",
			{[WORLD_PTO] = "use two buffers for the tile and alternate flags (double buffering), so that TLOAD of the next tile runs while this one is computed"},
			"both pipes are busy at the same time; the kernel takes about as long as the longer of them",
			"two tiles must fit into UB or L1"},
		[ADVISE_SMALL_MOVES] = {"small-moves",
			"data is moved in pieces that cost more to start than to move",
			{[WORLD_PTO] = "move larger tiles: more rows a TLOAD or TSTORE, contiguous where the layout allows it"},
			"fewer moves, each longer; the pipe moves more bytes a cycle",
			"larger tiles must fit into the buffer"},
};
/* clang-format on */

const char *advise_change(enum advise_rule_id rule, enum advise_world w)
{
	const char *const *v = advise_rules[rule].change;

	while (w > 0 && !v[w])
		w = (enum advise_world)(w - 1);
	for (unsigned i = 0; i < WORLDS && !v[w]; i++)
		w = (enum advise_world)i;
	return v[w];
}

const char *advise_world_name(enum advise_world w)
{
	static const char *const names[] = {"hip", "triton", "flydsl", "cuda", "pto"};

	return names[w];
}

static bool has_source(const struct trace *t, const char *part)
{
	for (uint32_t i = 0; i < t->n_sources; i++)
		if (strstr(t->sources[i].path, part))
			return true;
	return false;
}

enum advise_world advise_world_of(const struct trace *t)
{
	if (t->meta.vendor == VENDOR_ASCEND)
		return WORLD_PTO;
	if (t->meta.vendor == VENDOR_AMD && (has_source(t, "flydsl") || has_source(t, "FlyDSL")))
		return WORLD_FLYDSL;
	if (has_source(t, ".py"))
		return WORLD_TRITON;
	return t->meta.vendor == VENDOR_NVIDIA ? WORLD_CUDA : WORLD_HIP;
}

const char *advise_change_of(const struct trace *t, enum advise_rule_id rule)
{
	enum advise_world w = advise_world_of(t);

	if (t->meta.vendor == VENDOR_NVIDIA && w == WORLD_TRITON && rule == ADVISE_FEW_WAVES)
		return "fewer registers (maxnreg), smaller blocks, or fewer stages";
	return advise_change(rule, w);
}
