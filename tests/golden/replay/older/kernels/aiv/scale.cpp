/* SPDX-License-Identifier: Apache-2.0 */
extern "C" void kernel_entry(int64_t *args)
{
	(void)args[0]; /* args[9] */
	(void)args[1], (void)args[2];
}
