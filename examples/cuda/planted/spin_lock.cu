/* SPDX-License-Identifier: Apache-2.0 */
/* One lock for everybody; who does not get it sleeps and asks again. */
#include "../run.h"

__global__ void spin_lock(int *lock, float *box, int rounds)
{
	for (int r = 0; r < rounds; r++) {
		if (threadIdx.x % 32 == 0) {
			while (atomicCAS(lock, 0, 1)) // GUILTY
				__nanosleep(200);
			*(volatile float *)box += 1.0f;
			__threadfence();
			atomicExch(lock, 0);
		}
		__syncwarp();
	}
}

RUN(spin_lock)
{
	static int *lock = device_zeros<int>(1);
	static float *box = device_zeros<float>(1);

	spin_lock<<<132, 64>>>(lock, box, 2);
}
