// SPDX-License-Identifier: Apache-2.0
// Source of inlined_gfx942.elf: clang-19 -target amdgcn-amd-amdhsa -mcpu=gfx942 -x cl -cl-std=CL2.0 -nogpulib -O2 -g
// -fdebug-compilation-dir=/src -c inlined.cl; ld.lld-19 -shared; see test_dwarf.c for what is expected of it.
inline float helper(float a, float b) {
	return a * b + 1.0f;
}
inline float outer(float a, float b) {
	return helper(a, b) - a;
}
kernel void demo(global float *x, global const float *y, int n) {
	int i = __builtin_amdgcn_workitem_id_x();
	if (i < n)
		x[i] = outer(x[i], y[i]);
}
