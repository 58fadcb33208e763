/* SPDX-License-Identifier: Apache-2.0 */
/* Textures and surfaces. */
extern "C" __global__ void textures(cudaTextureObject_t t, cudaTextureObject_t h, float *o, int n)
{
	int i = threadIdx.x;
	float x = o[i], y = o[i + 32], z = o[i + 64];

	o[i] = tex1D<float>(t, x) + tex2D<float>(t, x, y) + tex3D<float>(t, x, y, z) + tex1Dfetch<float>(t, n);
	o[i + 32] = tex2DLod<float>(h, x, y, z) + tex2DLayered<float>(t, x, y, n) + texCubemap<float>(t, x, y, z);
	float4 v = tex2D<float4>(h, x, y), g = tex2Dgather<float4>(h, y, z, 1);
	o[i + 64] = v.x + v.w + g.y + tex2DGrad<float>(t, x, y, make_float2(z, x), make_float2(y, z));
}

extern "C" __global__ void surfaces(cudaSurfaceObject_t s, int *o)
{
	int i = threadIdx.x;

	o[i] = surf2Dread<int>(s, i * 4, 3) + surf1Dread<int>(s, i * 4, cudaBoundaryModeClamp);
	surf2Dwrite(make_int4(i, 1, 2, 3), s, i * 16, 5), surf3Dwrite(i, s, i * 4, 2, 7, cudaBoundaryModeZero);
}
