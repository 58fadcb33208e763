/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.c: size and place of every field of CUPTI that libincore-cuda uses, a line each. Compiled
 * with -DREAL it prints those of the vendor's headers (its output is tests/cuda/layout.txt),
 * without it our own (src/cuda/cupti.h): tests/cuda/run.py compares both.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef REAL
#include <cuda.h>
#include <cupti.h>
#include <cupti_pcsampling.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>
#define FIELD(THEIRS, F, OURS, G) FIELD_OF(THEIRS, F, THEIRS, F)
#define SIZE(THEIRS, OURS) printf("%-44s %4zu\n", #THEIRS, sizeof(THEIRS));
#define VALUE(THEIRS, OURS) printf("%-70s %4d\n", #THEIRS, (int)(THEIRS));
#define SAYS(THEIRS, OURS, LAST) printf("%-70s %4zu\n", #THEIRS, (size_t)(THEIRS));
#else
#include "cuda/cupti.h"
#define FIELD(THEIRS, F, OURS, G) FIELD_OF(THEIRS, F, struct OURS, G)
#define SIZE(THEIRS, OURS) printf("%-44s %4zu\n", #THEIRS, sizeof(struct OURS));
#define VALUE(THEIRS, OURS) printf("%-70s %4d\n", #THEIRS, (int)(OURS));
#define SAYS(THEIRS, OURS, LAST) printf("%-70s %4zu\n", #THEIRS, CUPTI_SIZE(OURS, LAST));
#endif
#define FIELD_OF(NAME, NAMED, T, M)                                                                \
	printf("%-44s %-32s %4zu %4zu\n", #NAME, #NAMED, offsetof(T, M), sizeof(((T *)0)->M));

static void callbacks(void)
{
	FIELD(CUpti_ResourceData, context, cupti_resource, context)
	FIELD(CUpti_ResourceData, resourceDescriptor, cupti_resource, descriptor)
	FIELD(CUpti_ModuleResourceData, moduleId, cupti_module, id)
	FIELD(CUpti_ModuleResourceData, cubinSize, cupti_module, cubin_bytes)
	FIELD(CUpti_ModuleResourceData, pCubin, cupti_module, cubin)
	FIELD(CUpti_CallbackData, callbackSite, cupti_api, site)
	FIELD(CUpti_CallbackData, symbolName, cupti_api, symbol)
	FIELD(CUpti_CallbackData, context, cupti_api, context)
	FIELD(CUpti_CallbackData, correlationId, cupti_api, correlation)
	VALUE(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER)
	VALUE(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_RESOURCE)
	VALUE(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME)
	VALUE(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CONTEXT_CREATED)
	VALUE(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, CUPTI_CONTEXT_ENDS)
	VALUE(CUPTI_CBID_RESOURCE_MODULE_LOADED, CUPTI_MODULE_LOADED)
	VALUE(CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, CUPTI_MODULE_ENDS)
	VALUE(CUPTI_CBID_RESOURCE_MODULE_PROFILED, CUPTI_MODULE_PROFILED)
	VALUE(CUPTI_API_EXIT, CUPTI_AFTER)
	VALUE(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_LAUNCH)
	VALUE(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, CUPTI_LAUNCH_PTSZ)
	VALUE(CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel, CUPTI_LAUNCH_COOPERATIVE)
	VALUE(CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz, CUPTI_LAUNCH_COOPERATIVE_PTSZ)
	VALUE(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, CUPTI_LAUNCH_GRAPH)
	VALUE(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz, CUPTI_LAUNCH_GRAPH_PTSZ)
	VALUE(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, CUPTI_LAUNCH_EX)
	VALUE(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz, CUPTI_LAUNCH_EX_PTSZ)
	VALUE(CUPTI_SUCCESS, CUPTI_OK)
	VALUE(CUPTI_ERROR_OUT_OF_MEMORY, CUPTI_NO_MEMORY)
	VALUE(CUPTI_ERROR_MAX_LIMIT_REACHED, CUPTI_MAX_LIMIT)
	VALUE(CUPTI_ERROR_NOT_SUPPORTED, CUPTI_NOT_SUPPORTED)
	VALUE(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, CUPTI_NO_RIGHTS)
	VALUE(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, CUPTI_BUSY_SUBSCRIBER)
	VALUE(CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES, CUPTI_NO_RIGHTS_VIRTUAL)
}

static void samples(void)
{
	SIZE(CUpti_PCSamplingStallReason, cupti_stall)
	FIELD(CUpti_PCSamplingStallReason, pcSamplingStallReasonIndex, cupti_stall, reason)
	FIELD(CUpti_PCSamplingStallReason, samples, cupti_stall, samples)
	SIZE(CUpti_PCSamplingPCData, cupti_pc)
	FIELD(CUpti_PCSamplingPCData, size, cupti_pc, size)
	FIELD(CUpti_PCSamplingPCData, cubinCrc, cupti_pc, cubin_crc)
	FIELD(CUpti_PCSamplingPCData, pcOffset, cupti_pc, offset)
	FIELD(CUpti_PCSamplingPCData, functionIndex, cupti_pc, function_index)
	FIELD(CUpti_PCSamplingPCData, functionName, cupti_pc, function)
	FIELD(CUpti_PCSamplingPCData, stallReasonCount, cupti_pc, n_stalls)
	FIELD(CUpti_PCSamplingPCData, stallReason, cupti_pc, stalls)
	FIELD(CUpti_PCSamplingPCData, correlationId, cupti_pc, correlation)
	SIZE(CUpti_PCSamplingData, cupti_samples)
	FIELD(CUpti_PCSamplingData, size, cupti_samples, size)
	FIELD(CUpti_PCSamplingData, collectNumPcs, cupti_samples, room)
	FIELD(CUpti_PCSamplingData, totalSamples, cupti_samples, n_samples)
	FIELD(CUpti_PCSamplingData, droppedSamples, cupti_samples, n_dropped)
	FIELD(CUpti_PCSamplingData, totalNumPcs, cupti_samples, n_pcs)
	FIELD(CUpti_PCSamplingData, remainingNumPcs, cupti_samples, n_left)
	FIELD(CUpti_PCSamplingData, pPcData, cupti_samples, pcs)
	FIELD(CUpti_PCSamplingData, nonUsrKernelsTotalSamples, cupti_samples, n_foreign)
	FIELD(CUpti_PCSamplingData, hardwareBufferFull, cupti_samples, is_full)
	SIZE(CUpti_PCSamplingConfigurationInfo, cupti_attribute)
	FIELD(CUpti_PCSamplingConfigurationInfo, attributeType, cupti_attribute, type)
	FIELD(CUpti_PCSamplingConfigurationInfo, attributeStatus, cupti_attribute, status)
	FIELD(CUpti_PCSamplingConfigurationInfo, attributeData.samplingPeriodData.samplingPeriod,
		cupti_attribute, number)
	FIELD(CUpti_PCSamplingConfigurationInfo, attributeData.collectionModeData.collectionMode,
		cupti_attribute, number)
	FIELD(CUpti_PCSamplingConfigurationInfo,
		attributeData.samplingDataBufferData.samplingDataBuffer, cupti_attribute, data)
	SAYS(CUpti_PCSamplingConfigurationInfoParamsSize, cupti_configuration, attributes)
	FIELD(CUpti_PCSamplingConfigurationInfoParams, ctx, cupti_configuration, context)
	FIELD(CUpti_PCSamplingConfigurationInfoParams, numAttributes, cupti_configuration, n)
	FIELD(CUpti_PCSamplingConfigurationInfoParams, pPCSamplingConfigurationInfo,
		cupti_configuration, attributes)
	SAYS(CUpti_PCSamplingEnableParamsSize, cupti_of_context, context)
	FIELD(CUpti_PCSamplingEnableParams, ctx, cupti_of_context, context)
	SAYS(CUpti_PCSamplingDisableParamsSize, cupti_of_context, context)
	FIELD(CUpti_PCSamplingDisableParams, ctx, cupti_of_context, context)
	SAYS(CUpti_PCSamplingGetDataParamsSize, cupti_get_data, data)
	FIELD(CUpti_PCSamplingGetDataParams, ctx, cupti_get_data, context)
	FIELD(CUpti_PCSamplingGetDataParams, pcSamplingData, cupti_get_data, data)
	SAYS(CUpti_PCSamplingGetNumStallReasonsParamsSize, cupti_count_reasons, n)
	FIELD(CUpti_PCSamplingGetNumStallReasonsParams, numStallReasons, cupti_count_reasons, n)
	SAYS(CUpti_PCSamplingGetStallReasonsParamsSize, cupti_get_reasons, names)
	FIELD(CUpti_PCSamplingGetStallReasonsParams, numStallReasons, cupti_get_reasons, n)
	FIELD(CUpti_PCSamplingGetStallReasonsParams, stallReasonIndex, cupti_get_reasons, index)
	FIELD(CUpti_PCSamplingGetStallReasonsParams, stallReasons, cupti_get_reasons, names)
	SAYS(CUpti_GetCubinCrcParamsSize, cupti_cubin_crc, crc)
	FIELD(CUpti_GetCubinCrcParams, cubinSize, cupti_cubin_crc, cubin_bytes)
	FIELD(CUpti_GetCubinCrcParams, cubin, cupti_cubin_crc, cubin)
	FIELD(CUpti_GetCubinCrcParams, cubinCrc, cupti_cubin_crc, crc)
	VALUE(CUPTI_STALL_REASON_STRING_SIZE, CUPTI_REASON_BYTES)
	VALUE(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD, CUPTI_PERIOD)
	VALUE(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE, CUPTI_MODE)
	VALUE(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER, CUPTI_DATA)
	VALUE(CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS, CUPTI_CONTINUOUS)
	VALUE(CUPTI_PC_SAMPLING_COLLECTION_MODE_KERNEL_SERIALIZED, CUPTI_SERIALISED)
}

static void activity(void)
{
	FIELD(CUpti_ActivityKernel10, kind, cupti_kernel, kind)
	FIELD(CUpti_ActivityKernel10, registersPerThread, cupti_kernel, registers)
	FIELD(CUpti_ActivityKernel10, start, cupti_kernel, start_ns)
	FIELD(CUpti_ActivityKernel10, end, cupti_kernel, end_ns)
	FIELD(CUpti_ActivityKernel10, deviceId, cupti_kernel, device)
	FIELD(CUpti_ActivityKernel10, contextId, cupti_kernel, context)
	FIELD(CUpti_ActivityKernel10, streamId, cupti_kernel, stream)
	FIELD(CUpti_ActivityKernel10, gridX, cupti_kernel, grid[0])
	FIELD(CUpti_ActivityKernel10, gridY, cupti_kernel, grid[1])
	FIELD(CUpti_ActivityKernel10, gridZ, cupti_kernel, grid[2])
	FIELD(CUpti_ActivityKernel10, blockX, cupti_kernel, block[0])
	FIELD(CUpti_ActivityKernel10, blockY, cupti_kernel, block[1])
	FIELD(CUpti_ActivityKernel10, blockZ, cupti_kernel, block[2])
	FIELD(CUpti_ActivityKernel10, staticSharedMemory, cupti_kernel, static_shared)
	FIELD(CUpti_ActivityKernel10, dynamicSharedMemory, cupti_kernel, dynamic_shared)
	FIELD(CUpti_ActivityKernel10, localMemoryPerThread, cupti_kernel, local_per_thread)
	FIELD(CUpti_ActivityKernel10, correlationId, cupti_kernel, correlation)
	FIELD(CUpti_ActivityKernel10, name, cupti_kernel, name)
	FIELD(CUpti_ActivityDevice5, kind, cupti_device, kind)
	FIELD(CUpti_ActivityDevice5, numThreadsPerWarp, cupti_device, warp_threads)
	FIELD(CUpti_ActivityDevice5, coreClockRate, cupti_device, clock_khz)
	FIELD(CUpti_ActivityDevice5, numMultiprocessors, cupti_device, sms)
	FIELD(CUpti_ActivityDevice5, maxWarpsPerMultiprocessor, cupti_device, warps_per_sm)
	FIELD(CUpti_ActivityDevice5, maxSharedMemoryPerMultiprocessor, cupti_device, shared_per_sm)
	FIELD(CUpti_ActivityDevice5, computeCapabilityMajor, cupti_device, major)
	FIELD(CUpti_ActivityDevice5, computeCapabilityMinor, cupti_device, minor)
	FIELD(CUpti_ActivityDevice5, id, cupti_device, id)
	FIELD(CUpti_ActivityDevice5, name, cupti_device, name)
	FIELD(CUpti_ActivityDevice5, isMigEnabled, cupti_device, is_mig)
	FIELD(CUpti_ActivityDevice5, gpuInstanceId, cupti_device, gpu_instance)
	FIELD(CUpti_ActivityDevice5, computeInstanceId, cupti_device, compute_instance)
	VALUE(CUPTI_ACTIVITY_KIND_DEVICE, CUPTI_ACTIVITY_DEVICE)
	VALUE(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KERNEL)
}

static void counts(void)
{
	SAYS(CUpti_Profiler_Initialize_Params_STRUCT_SIZE, cupti_profiler_params, priv)
	SAYS(CUpti_Device_GetChipName_Params_STRUCT_SIZE, cupti_chip_name, name)
	FIELD(CUpti_Device_GetChipName_Params, deviceIndex, cupti_chip_name, device)
	FIELD(CUpti_Device_GetChipName_Params, pChipName, cupti_chip_name, name)
	SAYS(CUpti_SassMetrics_GetProperties_Params_STRUCT_SIZE, cupti_find_metric, metric)
	FIELD(CUpti_SassMetrics_GetProperties_Params, pChipName, cupti_find_metric, chip)
	FIELD(CUpti_SassMetrics_GetProperties_Params, pMetricName, cupti_find_metric, name)
	FIELD(CUpti_SassMetrics_GetProperties_Params, metric.metricId, cupti_find_metric, metric.id)
	SIZE(CUpti_SassMetrics_Config, cupti_metric_config)
	FIELD(CUpti_SassMetrics_Config, metricId, cupti_metric_config, id)
	FIELD(CUpti_SassMetrics_Config, outputGranularity, cupti_metric_config, granularity)
	VALUE(CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU, 0)
	SAYS(CUpti_SassMetricsSetConfig_Params_STRUCT_SIZE, cupti_sass_config, device)
	FIELD(CUpti_SassMetricsSetConfig_Params, numOfMetricConfig, cupti_sass_config, n)
	FIELD(CUpti_SassMetricsSetConfig_Params, pConfigs, cupti_sass_config, configs)
	FIELD(CUpti_SassMetricsSetConfig_Params, deviceIndex, cupti_sass_config, device)
	SAYS(CUpti_SassMetricsEnable_Params_STRUCT_SIZE, cupti_sass_enable, is_lazy)
	FIELD(CUpti_SassMetricsEnable_Params, ctx, cupti_sass_enable, context)
	FIELD(CUpti_SassMetricsEnable_Params, enableLazyPatching, cupti_sass_enable, is_lazy)
	SAYS(CUpti_SassMetricsDisable_Params_STRUCT_SIZE, cupti_sass_disable, n_dropped)
	FIELD(CUpti_SassMetricsDisable_Params, numOfDroppedRecords, cupti_sass_disable, n_dropped)
	SAYS(CUpti_SassMetricsGetDataProperties_Params_STRUCT_SIZE, cupti_sass_size, n_instances)
	FIELD(CUpti_SassMetricsGetDataProperties_Params, numOfPatchedInstructionRecords,
		cupti_sass_size, n_records)
	FIELD(CUpti_SassMetricsGetDataProperties_Params, numOfInstances, cupti_sass_size,
		n_instances)
	SIZE(CUpti_SassMetrics_InstanceValue, cupti_sass_value)
	FIELD(CUpti_SassMetrics_InstanceValue, metricId, cupti_sass_value, metric)
	FIELD(CUpti_SassMetrics_InstanceValue, value, cupti_sass_value, value)
	SIZE(CUpti_SassMetrics_Data, cupti_sass_record)
	FIELD(CUpti_SassMetrics_Data, cubinCrc, cupti_sass_record, cubin_crc)
	FIELD(CUpti_SassMetrics_Data, functionName, cupti_sass_record, function)
	FIELD(CUpti_SassMetrics_Data, pcOffset, cupti_sass_record, offset)
	FIELD(CUpti_SassMetrics_Data, pInstanceValues, cupti_sass_record, values)
	SAYS(CUpti_SassMetricsFlushData_Params_STRUCT_SIZE, cupti_sass_flush, n_instances)
	FIELD(CUpti_SassMetricsFlushData_Params, numOfPatchedInstructionRecords, cupti_sass_flush,
		n_records)
	FIELD(CUpti_SassMetricsFlushData_Params, numOfInstances, cupti_sass_flush, n_instances)
	FIELD(CUpti_SassMetricsFlushData_Params, pMetricsData, cupti_sass_flush, records)
}

int main(void)
{
	callbacks();
	samples();
	activity();
	counts();
	return 0;
}
