# SPDX-License-Identifier: Apache-2.0
"""What a made report says besides its code: names of metrics and reasons, the device, a launch, sections, rules."""
from wire import block, double, number, value

REASONS = ("barrier branch_resolving dispatch_stall drain imc_miss lg_throttle long_scoreboard math_pipe_throttle membar mio_throttle misc "
           "no_instructions not_selected selected short_scoreboard sleeping tex_throttle wait warpgroup_arrive").split()
STALL = "smsp__pcsamp_warps_issue_stalled_"
SM_COUNT, CLOCK_KHZ = 132, 1980000
DEVICE = {
    "device__attribute_architecture": 384, "device__attribute_compute_capability_major": 9, "device__attribute_compute_capability_minor": 0,
    "device__attribute_display_name": "NVIDIA H200", "device__attribute_multiprocessor_count": SM_COUNT,
    "device__attribute_limits_max_cta_per_sm": 32, "device__attribute_max_gpu_frequency_khz": CLOCK_KHZ,
    "device__attribute_max_warps_per_multiprocessor": 64, "device__attribute_max_registers_per_multiprocessor": 65536,
    "device__attribute_max_shared_memory_per_multiprocessor": 233472, "device__attribute_warp_size": 32,
    "device__attribute_max_threads_per_multiprocessor": 2048, "device__attribute_clock_rate": CLOCK_KHZ,
}


def launch_facts(result, functions, addresses):
    """Metrics of one launch, without those of its instructions."""
    grid, threads, kernel = result.grid, result.block, functions[0]
    size = threads[0] * threads[1] * threads[2]
    blocks = grid[0] * grid[1] * grid[2]
    warps = -(-size // 32)
    return {
        "launch__grid_size": blocks, "launch__grid_dim_x": grid[0], "launch__grid_dim_y": grid[1], "launch__grid_dim_z": grid[2],
        "launch__block_size": size, "launch__block_dim_x": threads[0], "launch__block_dim_y": threads[1], "launch__block_dim_z": threads[2],
        "launch__registers_per_thread": kernel.regs, "launch__registers_per_thread_allocated": float(-(-kernel.regs // 8) * 8),
        "launch__shared_mem_per_block_static": kernel.shared, "launch__shared_mem_per_block_dynamic": 0,
        "launch__shared_mem_per_block_driver": 1024, "launch__shared_mem_per_block": kernel.shared + 1024,
        "launch__thread_count": blocks * size, "launch__sm_count": SM_COUNT, "launch__stream_id": 7, "launch__context_id": 1,
        "launch__waves_per_multiprocessor": blocks / SM_COUNT / 8, "launch__cluster_size": 0,
        "launch__occupancy_limit_registers": float(65536 // (-(-kernel.regs // 8) * 8 * 32 * warps)), "launch__occupancy_limit_blocks": 32.0,
        "launch__occupancy_limit_shared_mem": float(233472 // (kernel.shared + 1024)), "launch__occupancy_limit_warps": float(64 // warps),
        "gpu__time_duration.sum": result.duration_ns, "sm__cycles_elapsed.max": result.cycles, "smsp__cycles_active.avg": result.cycles * 0.9,
        "sm__throughput.avg.pct_of_peak_sustained_elapsed": 41.5, "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed": 66.25,
        "dram__throughput.avg.pct_of_peak_sustained_elapsed": 66.25, "sm__warps_active.avg.pct_of_peak_sustained_active": 74.5,
        "smsp__issue_active.avg.per_cycle_active": 0.375, "sm__cycles_elapsed.avg.per_second": CLOCK_KHZ * 1000.0,
        "profiler__replayer_passes": 38.0,
    }


def sampling_facts(result):
    return {"smsp__pcsamp_interval": 6.0, "smsp__pcsamp_interval_cycles": 2048.0, "smsp__pcsamp_dropped_bytes": result.dropped_bytes,
            "smsp__pcsamp_buffer_size_bytes": 33554432, "smsp__pcsamp_aggregated_passes": 2,
            "group:smsp__pcsamp_warp_stall_reasons": ",".join(STALL + r for r in REASONS),
            "group:smsp__pcsamp_warp_stall_reasons_not_issued": ",".join(STALL + r + "_not_issued" for r in REASONS)}


def section(identifier, title, order, metrics, description=""):
    """metrics: [(metric, label)] of its head table."""
    head = b"".join(block(2, block(1, name) + block(2, label)) for name, label in metrics)
    return block(1, identifier) + block(2, title) + number(3, order) + block(4, head) + block(7, description) + block(8, block(1, "full"))


def sections():
    return [
        section("SpeedOfLight", "GPU Speed Of Light Throughput", 10, [
            ("sm__throughput.avg.pct_of_peak_sustained_elapsed", "Compute (SM) Throughput"),
            ("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "Memory Throughput"), ("gpu__time_duration.sum", "Duration"),
            ("sm__cycles_elapsed.max", "Elapsed Cycles"), ("not__collected.sum", "Not Collected")], "How busy the large parts were."),
        section("LaunchStats", "Launch Statistics", 60, [
            ("launch__grid_size", "Grid Size"), ("launch__block_size", "Block Size"), ("launch__registers_per_thread", "Registers Per Thread")]),
        section("Occupancy", "Occupancy", 70, [("sm__warps_active.avg.pct_of_peak_sustained_active", "Achieved Occupancy")]),
    ]


def rules(result):
    """One with a speed-up and a metric, one with marks at the code alone, one that had nothing to say."""
    first = block(1, block(1, "Memory is used more than compute: see @section:MemoryWorkloadAnalysis:Memory Workload@.") + number(2, 4) +
                  number(3, 1) + block(4, "High Memory Throughput"))
    metric = number(1, 1) + block(2, "dram__throughput.avg.pct_of_peak_sustained_elapsed") + double(3, 66.25) + number(4, 2) + block(5, "raise it")
    first += block(8, metric) + block(10, number(1, 2) + double(2, 25.5))
    mark = number(1, 0) + number(3, result.address + 0x60) + block(4, "This line waits.") + number(5, 2) + block(6, "")
    note = block(1, block(1, "Plain words.") + number(2, 1) + number(3, 1))
    return [block(1, "SOLBottleneck") + block(2, "Bottleneck") + block(3, block(1, first)) + block(4, "SpeedOfLight"),
            block(1, "CPIStall") + block(2, "Warp Stalls") + block(3, block(1, note)) + block(4, "WarpStateStats") + block(5, mark),
            block(1, "Quiet") + block(2, "Nothing") + block(4, "Occupancy")]


def session(version):
    """Parts of the session, each for a block of its own."""
    system = block(1, "Linux") + block(2, "#1 SMP") + block(3, "CPU") + block(4, "x86_64") + block(5, "host") + number(6, 2)
    attributes = b"".join(block(3, block(1, name) + block(2, value(x))) for name, x in DEVICE.items())
    versions = {"CUDA Version": "13.0", "PerfWorks": "0.1.0", "Nsight Compute Target": version}
    return [number(2, 1794782094) + block(3, system), block(6, number(1, 0) + block(2, "NVIDIA H200") + attributes),
            *[block(8, block(1, name) + block(2, text)) for name, text in versions.items()], block(4, system), block(11, "ncu --set full k")]
